"""The record of a run: its settings as JSON, as options of `golem fit`, as an estimator; a comparison with it."""

from __future__ import annotations

import csv
import dataclasses
import glob
import io
import math
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from golem.data.knowledge import Knowledge, NamedKnowledge, as_knowledge
from golem.estimator.golem import Golem
from golem.estimator.settings import is_counted
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.graphs.formats import read_graph_document
from golem.graphs.graph_document import GraphDocument, SourceRecord
from golem.runtime.devices import Placement
from golem.runtime.messages import counted, quoted
from golem.runtime.names import column_names
from golem.runtime.problems import Set, Text, placed
from golem.runtime.version import __version__
from golem.score.acyclicity import Expm, LogDet, Polynomial
from golem.score.sparsity import L0
from golem.search.solver import Order

# Types that a settings document may contain.
_TYPES: dict[str, Any] = {kind.__name__: kind for kind in (Order, Adam, LBFGS, Expm, Polynomial, LogDet, L0, Placement)}
# Settings that are options of `golem fit`, with the values that need no option.
_OPTIONS: dict[str, Any] = {
    "noise": "auto", "lambda_sparsity": None, "lambda_dag": None, "threshold": None, "solver": "order", "effort": None,
    "max_iter": None, "time_limit": None, "device": "cpu", "missing": "error", "random_state": 0, "robust": "auto",
    "shape": "auto", "evidence": "auto",
    "intervention": "soft", "intercepts": "separate", "score_function": "auto",
}  # fmt: skip
_NAMES = {"random_state": "--seed", "score_function": "--score"}
_SAME_WEIGHT = 1e-6


# Settings that only graphs of series and panels have.
_OF_SERIES = ("lags", "time", "unit")


def settings(model: Golem) -> dict[str, Any]:
    """Return the parameters of an estimator for JSON; `model_from` is the inverse."""
    known = as_knowledge(model.knowledge)
    if isinstance(known, NamedKnowledge) and hasattr(model, "moments_"):
        known = known.expanded(model.moments_.variables)
    if isinstance(known, Knowledge):
        unnamed = column_names(None, len(known.required))
        names = model.moments_.variables if hasattr(model, "moments_") else unnamed
        known = known.by_name(names[: len(known.required)])
    values = {name: plain(value) for name, value in model.get_params().items() if name != "callback"}
    if values["statistics"] == "auto":  # only a choice is recorded: documents of other versions do not have it
        del values["statistics"]
    values = {name: value for name, value in values.items() if name not in _OF_SERIES or value is not None}
    return values | {"knowledge": known.document() if isinstance(known, NamedKnowledge) else None}


def model_from(values: Mapping[str, Any]) -> Golem:
    """Return an estimator with the given settings.

    Raises
    ------
    ValueError
        If a setting is unknown to this version, or cannot be restored from a file.

    Examples
    --------
    >>> import json
    >>> model = Golem("ev", Adam(max_iter=100), knowledge=Knowledge.named(required=[("a", "b")]))
    >>> model_from(json.loads(json.dumps(settings(model)))).get_params() == model.get_params()
    True
    """
    known = Golem().get_params()
    unknown = [name for name in values if name not in known or name == "callback"]
    if unknown:
        raise ValueError(f"Unknown settings {quoted(unknown)}: golem {__version__} does not have them.")
    parameters = {name: _restored(value) for name, value in values.items()}
    if isinstance(parameters.get("random_state"), str):
        raise ValueError("The run cannot be repeated: its seed was a Generator, whose state is not recorded.")
    if isinstance(parameters.get("init"), list):
        try:
            parameters["init"] = np.array(parameters["init"])
        except ValueError:
            raise ValueError("The rows of the start 'init' have different lengths.") from None
        if parameters["init"].dtype.kind not in "biuf":
            raise ValueError("The start 'init' must contain only numbers.")
    return Golem(**parameters | {"knowledge": as_knowledge(parameters.get("knowledge"))})


def plain(value: Any) -> Any:
    """Convert a parameter to JSON: dataclasses by name and fields, arrays and NumPy numbers to plain Python."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__} | fields
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value if isinstance(value, str | int | float | bool | list | type(None)) else repr(value)


def _restored(value: Any) -> Any:
    """Undo `plain` for settings objects."""
    if not isinstance(value, dict) or "type" not in value:
        return value
    name = str(value["type"])
    if name not in _TYPES:
        raise ValueError(f"Unknown type {name!r} in the settings: golem {__version__} does not have it.")
    unknown = value.keys() - {"type", *(field.name for field in dataclasses.fields(_TYPES[name]))}
    try:
        if unknown:
            raise msgspec.ValidationError(f"unknown {quoted(sorted(unknown))}")
        return msgspec.convert(value, _TYPES[name])
    except msgspec.ValidationError as error:
        raise ValueError(f"The settings of {name!r} are damaged or from another version of golem ({error}).") from None


def versions() -> dict[str, str]:
    """Return the versions of Python, NumPy and SciPy."""
    import scipy

    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}


def fit_words(document: GraphDocument) -> list[str]:
    """Return the words after `golem fit` that give the files and settings of a document, without its knowledge.

    Settings that are not options, such as a solver with parameters of its own, are left out.

    Examples
    --------
    >>> fit_words(GraphDocument(names=["a"], settings={"noise": "nv", "random_state": 0}))
    ['data.csv', '--noise', 'nv']
    """
    source, words = document.data or SourceRecord(), []
    for name, usual in _OPTIONS.items():
        value = (document.settings or {}).get(name, usual)
        if isinstance(value, str | int | float) and value != usual:
            words += [_NAMES.get(name, f"--{name.replace('_', '-')}"), str(value)]
    for name in SourceRecord.__struct_fields__:
        words += [] if name in ("paths", "folder") else _option(name, getattr(source, name))
    return [*(source.paths or ["data.csv"]), *words]


def _option(name: str, value: Any) -> list[str]:
    """Return the words of an option about the files; none if it has its usual value."""
    if value is None or value == [] or (value is False and name != "header"):
        return []
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    if name == "na":
        return [word for marker in value for word in ("--na", marker)]
    if isinstance(value, list):  # names, joined by commas
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(value)
        value = text.getvalue()
    return [f"--{name}", str(value)]


@dataclass(frozen=True)
class Repeat:
    """Comparison of a repeated run with its record.

    `same_data` is None if the record has no hash of the moments. `largest_difference` is that of a weight, or of the
    strength of an edge without one, relative to the largest. `other_versions` has "then, now" for each version that
    differs. `remarks` are sentences about settings that were kept.
    """

    record: str
    same_data: bool | None
    same_graph: bool
    new_edges: int
    lost_edges: int
    largest_difference: float
    other_versions: Mapping[str, str]
    remarks: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in words."""
        data = "the data are the same" if self.same_data else "the data differ"
        if self.same_data is None:
            data = "whether the data are the same is not recorded"
        if not self.same_graph:
            graph = f"the graph differs: {counted(self.new_edges, 'edge')} added, {self.lost_edges} removed"
        elif self.largest_difference > _SAME_WEIGHT:
            share = (
                f"{self.largest_difference:.2g}" if self.largest_difference < 1e-4 else f"{self.largest_difference:.2%}"
            )
            graph = f"the edges are the same, but the weights differ by up to {share} of the largest weight"
        else:
            graph = "the graph is the same"
        changed = ", ".join(f"{name} {pair}" for name, pair in self.other_versions.items())
        versions = f" Versions: {changed}." if changed else ""
        return Text.of_sentences([f"Comparison with {self.record}: {data}; {graph}.{versions}", *self.remarks])


def _size(weight: Any, strength: Any) -> float:
    """Return the weight of an edge, or its strength if an end is a category."""
    return float(strength if weight is None or math.isnan(weight) else weight)


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A run, as recorded in its graph.json."""

    path: Path
    document: GraphDocument

    @classmethod
    def read(cls, path: str | Path) -> RunRecord:
        """Read graph.json; raise a ValueError if the file is not one, or has no settings."""
        document = read_graph_document(path)
        if document.settings is None:
            raise ValueError(f"{path} contains no settings. Use the graph.json that golem fit wrote.")
        if document.variables is None and not document.graph().weighted:
            raise ValueError(f"{path} contains edges without weights. Use the graph.json that golem fit wrote.")
        return cls(Path(path), document)

    def model(self) -> Golem:
        """Return an estimator with the same settings."""
        try:
            return model_from(self.document.settings or {})
        except (ValueError, TypeError) as error:
            raise placed(error, str(self.path)) from None

    @property
    def data(self) -> SourceRecord:
        """Which files were read, and how."""
        return self.document.data or SourceRecord()

    @property
    def targets(self) -> dict[str, list[str]] | None:
        """The targets of each environment, if there were several."""
        found = self.document.environments
        return None if found is None else {one.label: one.targets for one in found}

    def paths(self) -> list[str]:
        """Find the files that were read, from the folder of that run, from here, or next to the record."""
        if not self.data.paths:
            raise ValueError(f"{self.path} does not record which files were read. Name the files.")
        if "-" in self.data.paths:
            raise ValueError(f"{self.path}: The table came from standard input. Pipe it in again, and name it '-'.")
        return [self._found(path) for path in self.data.paths]

    def _found(self, path: str) -> str:
        """Find one file, folder or pattern."""
        here = self.path.parent
        folders = [*([] if self.data.folder is None else [here / self.data.folder]), Path(), here]
        places = [str(os.path.normpath(folder / path)) for folder in folders]
        for place in places:
            if os.path.exists(place) or (glob.has_magic(place) and glob.glob(place, recursive=True)):
                return place
        tried = ", ".join(dict.fromkeys(places))
        raise ValueError(f"{self.path}: The data {path} were not found (tried {tried}). Name the files as well.")

    @property
    def resamples(self) -> int | None:
        """The number of bootstrap replicates requested."""
        return None if self.document.bootstrap is None else self.document.bootstrap.requested

    @property
    def seed(self) -> int:
        """The seed of the bootstrap."""
        known = None if self.document.bootstrap is None else self.document.bootstrap.seed
        seed = (self.document.settings or {}).get("random_state") if known is None else known
        return 0 if seed is None else seed

    def compare(self, model: Golem) -> Repeat:
        """Compare a fitted model with the record."""
        now = {(one.source, one.target): _size(one.weight, one.edge_strength) for one in model.edges_}
        then = {
            (str(row["source"]), str(row["target"])): _size(row.get("weight"), row.get("edge_strength"))
            for row in self.document.edge_table
        }
        largest = max(map(abs, then.values()), default=0.0) or 1.0
        difference = max((abs(now.get(ends, 0.0) - then.get(ends, 0.0)) for ends in now | then), default=0.0)
        recorded = self.document.moments_hash
        was = {"golem": self.document.golem, **(self.document.versions or {})}
        here = {"golem": __version__, **versions()}
        return Repeat(
            record=str(self.path),
            same_data=None if recorded is None else recorded == model.table_.fingerprint,
            same_graph=now.keys() == then.keys(),
            new_edges=len(now.keys() - then.keys()),
            lost_edges=len(then.keys() - now.keys()),
            largest_difference=difference / largest,
            other_versions={
                name: f"{was[name]} then, {here[name]} now" for name in here if name in was and was[name] != here[name]
            },
            remarks=tuple(self._remarks(model)),
        )

    def _remarks(self, model: Golem) -> Iterator[str]:
        """Yield remarks on settings that may not suit other data."""
        selection, n = self.document.selection, self.document.n
        if selection:
            chosen, kept = Set("select", selection.method), " was kept. To choose again, fit with "
            yield Text("The choice of ", chosen, kept, Set("select"), ".")
        if is_counted(model) and isinstance(model.lambda_sparsity, int | float) and n and n != model.moments_.n:
            then, now = (2 * rows * model.lambda_sparsity for rows in (n, model.moments_.n))
            yield (
                f"The penalty per edge grows with the number of rows: lambda_sparsity = {model.lambda_sparsity:g} is a "
                f"deviance of {then:.3g} for {n} rows and of {now:.3g} for {model.moments_.n}."
            )
