"""What a run needs to be repeated: settings as JSON and back, a hash of the moments, and whether a repeat agrees."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import golem
from golem.data.knowledge import Knowledge, NamedKnowledge
from golem.data.moments import Moments
from golem.data.tables import column_names, quoted
from golem.estimator.golem import Golem, is_counted
from golem.graphs.formats import read_graph
from golem.runtime.arrays import Placement
from golem.score.acyclicity import Expm, LogDet, Polynomial
from golem.score.sparsity import L0
from golem.solvers import LBFGS, Adam, Order

# What settings may be made of; a file names nothing else into being.
_TYPES: dict[str, Any] = {kind.__name__: kind for kind in (Order, Adam, LBFGS, Expm, Polynomial, LogDet, L0, Placement)}
_DIGITS = 8
_SAME_WEIGHT = 1e-6


def settings(model: Golem) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON can hold them; `model_from` makes an estimator of them."""
    values = {name: plain(value) for name, value in model.get_params().items() if name != "callback"}
    return values | {"knowledge": knowledge_by_name(model)}


def knowledge_by_name(model: Golem) -> dict[str, Any] | None:
    """Return an estimator's knowledge by the names of the columns, those of an array before a fit."""
    known = model.knowledge
    if isinstance(known, Knowledge):
        d = len(known.required)
        known = known.by_name(model.moments_.names if hasattr(model, "moments_") else column_names(None, d))
    return known.document() if isinstance(known, NamedKnowledge) else None


def model_from(values: Mapping[str, Any]) -> Golem:
    """Make an estimator of its settings.

    Raises
    ------
    ValueError
        If they hold something that this version does not know, or that no file can hold.

    Examples
    --------
    >>> model = Golem("ev", Adam(max_iter=100), knowledge=Knowledge.named(required=[("a", "b")]))
    >>> model_from(json.loads(json.dumps(settings(model)))).get_params() == model.get_params()
    True
    """
    known = Golem().get_params()
    unknown = [name for name in values if name not in known or name == "callback"]
    if unknown:
        raise ValueError(f"settings {quoted(unknown)} are unknown to golem {golem.__version__}")
    parameters = {name: _restored(value) for name, value in values.items()}
    if isinstance(parameters.get("random_state"), str):
        raise ValueError("the seed was a Generator, whose state is in no file: the run cannot be repeated")
    if isinstance(parameters.get("init"), list):
        parameters["init"] = np.array(parameters["init"])
    if parameters.get("knowledge") is not None:
        parameters["knowledge"] = Knowledge.named(**parameters["knowledge"])
    return Golem(**parameters)


def plain(value: Any) -> Any:
    """Turn a parameter into JSON: settings objects by name and fields, arrays as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__} | fields
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value if isinstance(value, str | int | float | bool | list | type(None)) else repr(value)


def _restored(value: Any) -> Any:
    """Undo `plain` for settings objects."""
    if not isinstance(value, dict) or "type" not in value:
        return value
    fields = {name: _restored(item) for name, item in value.items() if name != "type"}
    if value["type"] not in _TYPES:
        raise ValueError(f"the settings hold a {value['type']}, which golem {golem.__version__} cannot make")
    try:
        return _TYPES[value["type"]](**fields)
    except TypeError as error:
        raise ValueError(f"the settings hold a {value['type']} of another version of golem ({error})") from None


def moments_hash(moments: Moments) -> str:
    """Return a hash of the number of rows, the names, the means and the covariances, to about 8 digits.

    Digits beyond are left out because the order of a sum changes them: rows in memory and rows in a file have the same
    hash, with very few exceptions (numbers at the border of two roundings). It guards against other data, other rows
    or other columns, not against a change of one value among a billion.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> whole, parts = Moments.from_rows(X), Moments.from_rows(X[:20]) + Moments.from_rows(X[20:])
    >>> moments_hash(whole) == moments_hash(parts) != moments_hash(Moments.from_rows(X[1:]))
    True
    """
    deviation = np.sqrt(moments.variances)
    unit = np.outer(deviation, deviation)
    correlation = np.divide(moments.covariance, unit, out=np.zeros_like(unit), where=unit > 0)
    above = correlation[np.triu_indices(moments.d, 1)]
    mean = [_to_digits(m, max(abs(m), s)) for m, s in zip(moments.mean, deviation, strict=True)]
    told = {"n": moments.n, "names": moments.names, "mean": mean, "deviation": [_to_digits(s, s) for s in deviation]}
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    digest.update(np.rint(above * 10.0**_DIGITS).astype("<i8").tobytes())
    return f"sha256:{digest.hexdigest()}"


def _to_digits(value: float, size: float) -> str:
    """Write a number with the digits that count in one of some size."""
    exponent = int(f"{size:.{_DIGITS}e}".partition("e")[2])
    # The sum with 0 turns -0 into 0.
    return f"{round(value / 10.0 ** (exponent - _DIGITS)) + 0}e{exponent}"


def versions() -> dict[str, str]:
    """Return the versions of what makes the numbers."""
    import scipy

    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}


@dataclass(frozen=True)
class Repeat:
    """How a repeated run compares with its record.

    Parameters
    ----------
    record : str
        The file.
    same_data : bool or None
        Whether the moments have the same hash; None where the record has none.
    same_graph : bool
        Whether the edges are the same.
    new_edges, lost_edges : int
        Edges that are in one of the two alone.
    largest_difference : float
        Of a weight, relative to the largest one.
    other_versions : mapping of str to str
        Where a version differs, "then, now".
    remarks : tuple of str
        What else should be known of the settings that were taken over.
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
        """The verdict, for people."""
        data = {
            True: "the data are the same",
            False: "the data are not the same",
            None: "whether the data are the same is not recorded",
        }[self.same_data]
        if not self.same_graph:
            graph = f"the graph is another: edges new {self.new_edges}, gone {self.lost_edges}"
        elif self.largest_difference > _SAME_WEIGHT:
            graph = (
                f"the edges are the same, their weights differ by up to {self.largest_difference:.1e} of the largest"
            )
        else:
            graph = "the graph is the same"
        changed = ", ".join(f"{name} {pair}" for name, pair in self.other_versions.items())
        versions = f" Versions: {changed}." if changed else ""
        return " ".join([f"Compared with {self.record}, {data}; {graph}.{versions}", *self.remarks])


@dataclass(frozen=True, eq=False)
class Run:
    """A run as its graph.json tells it."""

    path: Path
    content: Mapping[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> Run:
        """Read graph.json.

        Raises
        ------
        ValueError
            If the file is none.
        """
        path = Path(path)
        read_graph(path)  # says what is wrong with a file that is no graph
        text = path.read_text(encoding="utf-8-sig")
        content: Any = json.loads(text) if text.lstrip().startswith("{") else None
        if not isinstance(content, dict) or not isinstance(content.get("settings"), dict):
            raise ValueError(f"{path}: holds no settings; a run is repeated from the graph.json that golem wrote")
        return cls(path, content)

    def model(self) -> Golem:
        """Make the estimator with the same settings."""
        try:
            return model_from(self.content["settings"])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.path}: {error}") from None

    @property
    def data(self) -> dict[str, Any]:
        """Which files were read, and how: paths, columns, drop, header, na; and the folder that paths start from."""
        nothing: dict[str, Any] = {"paths": [], "columns": None, "drop": [], "header": None, "na": [], "folder": None}
        return nothing | (self.content.get("data") or {})

    def paths(self) -> list[str]:
        """Find the files that were read: from the folder of that run, from here, or beside the record.

        Raises
        ------
        ValueError
            If the record names none, or one that is in none of these places.
        """
        if not self.data["paths"]:
            raise ValueError(f"{self.path}: does not say which files it came from; name them")
        if "-" in self.data["paths"]:
            raise ValueError(f"{self.path}: its table came from standard input; pipe it in again, and name it as -")
        return [self._found(path) for path in self.data["paths"]]

    def _found(self, path: str) -> str:
        """Find one file, folder or pattern."""
        beside = self.path.parent
        was_in = [] if self.data["folder"] is None else [beside / str(self.data["folder"])]
        places = [str(os.path.normpath(place / path)) for place in (*was_in, Path(), beside)]
        for place in places:
            if os.path.exists(place) or (glob.has_magic(place) and glob.glob(place, recursive=True)):
                return place
        tried = ", ".join(dict.fromkeys(places))
        raise ValueError(f"{self.path}: its data {path} are not there (no {tried}); name the files beside --from")

    @property
    def bootstrap(self) -> dict[str, Any]:
        """How many resamples were asked for, None where none were, and the seed to draw them."""
        seed = self.content["settings"].get("random_state")
        nothing: dict[str, Any] = {"requested": None, "seed": 0 if seed is None else seed}
        return nothing | (self.content.get("bootstrap") or {})

    def compare(self, model: Golem) -> Repeat:
        """Compare a fitted model with the record."""
        before, after = tuple(self.content["names"]), model.moments_.names
        names = tuple(dict.fromkeys(before + after))
        then, now = np.zeros((2, len(names), len(names)))
        for weights, columns, aligned in ((self.content["weights"], before, then), (model.weights_, after, now)):
            index = [names.index(name) for name in columns]
            aligned[np.ix_(index, index)] = weights
        new, lost = int(np.sum((now != 0) & (then == 0))), int(np.sum((now == 0) & (then != 0)))
        recorded = self.content.get("moments_hash")
        was = {"golem": self.content.get("golem"), **(self.content.get("versions") or {})}
        here = {"golem": golem.__version__, **versions()}
        return Repeat(
            record=str(self.path),
            same_data=None if recorded is None else recorded == moments_hash(model.moments_),
            same_graph=not new and not lost,
            new_edges=new,
            lost_edges=lost,
            largest_difference=float(np.abs(now - then).max() / (np.abs(then).max() or 1.0)),
            other_versions={
                name: f"{was[name]} then, {here[name]} now" for name in here if name in was and was[name] != here[name]
            },
            remarks=tuple(self._remarks(model)),
        )

    def _remarks(self, model: Golem) -> Iterator[str]:
        """Say where settings that were chosen for the old data may not suit the new."""
        selection, n = self.content.get("selection"), self.content.get("n")
        if selection:
            yield (
                f"The choice of --select {selection['method']} was taken over, not made again; to choose anew, run "
                "golem fit with --select."
            )
        if is_counted(model) and isinstance(model.lambda_sparsity, int | float) and n and n != model.moments_.n:
            yield (
                f"The price of an edge grows with the rows: lambda_sparsity = {model.lambda_sparsity:g} is a deviance "
                f"of {2 * n * model.lambda_sparsity:.3g} in {n} rows and of "
                f"{2 * model.moments_.n * model.lambda_sparsity:.3g} in {model.moments_.n}."
            )
