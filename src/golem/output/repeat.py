"""A run read back from its graph.json, and whether a repetition of it agrees."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from golem.estimator.golem import Golem, is_counted
from golem.graphs.formats import read_graph_document
from golem.graphs.graph_document import GraphDocument, SourceRecord
from golem.graphs.named_graph import NamedGraph
from golem.output.settings_document import model_from, versions
from golem.runtime.version import __version__

_SAME_WEIGHT = 1e-6


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
    document: GraphDocument

    @classmethod
    def read(cls, path: str | Path) -> Run:
        """Read graph.json.

        Raises
        ------
        ValueError
            If the file is none.
        """
        document = read_graph_document(path)
        if document.settings is None:
            raise ValueError(f"{path}: holds no settings; a run is repeated from the graph.json that golem wrote")
        return cls(Path(path), document)

    def model(self) -> Golem:
        """Make the estimator with the same settings."""
        try:
            return model_from(self.document.settings or {})
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.path}: {error}") from None

    @property
    def data(self) -> SourceRecord:
        """Which files were read, and how."""
        return self.document.data or SourceRecord()

    def paths(self) -> list[str]:
        """Find the files that were read: from the folder of that run, from here, or beside the record.

        Raises
        ------
        ValueError
            If the record names none, or one that is in none of these places.
        """
        if not self.data.paths:
            raise ValueError(f"{self.path}: does not say which files it came from; name them")
        if "-" in self.data.paths:
            raise ValueError(f"{self.path}: its table came from standard input; pipe it in again, and name it as -")
        return [self._found(path) for path in self.data.paths]

    def _found(self, path: str) -> str:
        """Find one file, folder or pattern."""
        beside = self.path.parent
        was_in = [] if self.data.folder is None else [beside / str(self.data.folder)]
        places = [str(os.path.normpath(place / path)) for place in (*was_in, Path(), beside)]
        for place in places:
            if os.path.exists(place) or (glob.has_magic(place) and glob.glob(place, recursive=True)):
                return place
        tried = ", ".join(dict.fromkeys(places))
        raise ValueError(f"{self.path}: its data {path} are not there (no {tried}); name the files beside --from")

    @property
    def resamples(self) -> int | None:
        """How many resamples were asked for."""
        return None if self.document.bootstrap is None else self.document.bootstrap.requested

    @property
    def seed(self) -> int:
        """The seed to draw them with."""
        known = None if self.document.bootstrap is None else self.document.bootstrap.seed
        seed = (self.document.settings or {}).get("random_state") if known is None else known
        return 0 if seed is None else seed

    def compare(self, model: Golem) -> Repeat:
        """Compare a fitted model with the record."""
        before, after = self.document.graph(), NamedGraph.from_weights(model.weights_, model.moments_.names)
        then, now = ({ends[:2]: ends[2]["weight"] for ends in graph.edge_list()} for graph in (before, after))
        largest = max(map(abs, then.values()), default=0.0) or 1.0
        difference = max((abs(now.get(ends, 0.0) - then.get(ends, 0.0)) for ends in now | then), default=0.0)
        recorded = self.document.moments_hash
        was = {"golem": self.document.golem, **(self.document.versions or {})}
        here = {"golem": __version__, **versions()}
        return Repeat(
            record=str(self.path),
            same_data=None if recorded is None else recorded == model.moments_.fingerprint,
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
        """Say where settings that were chosen for the old data may not suit the new."""
        selection, n = self.document.selection, self.document.n
        if selection:
            yield (
                f"The choice of --select {selection.method} was taken over, not made again; to choose anew, run "
                "golem fit with --select."
            )
        if is_counted(model) and isinstance(model.lambda_sparsity, int | float) and n and n != model.moments_.n:
            yield (
                f"The penalty per edge grows with the rows: lambda_sparsity = {model.lambda_sparsity:g} is a deviance "
                f"of {2 * n * model.lambda_sparsity:.3g} in {n} rows and of "
                f"{2 * model.moments_.n * model.lambda_sparsity:.3g} in {model.moments_.n}."
            )
