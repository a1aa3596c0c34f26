"""A model that was saved in plain files, and is read again."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import msgspec

from golem.assessment.diagnostics import Diagnosis, Finding
from golem.estimator.conveniences import GraphQuestions
from golem.graphs.formats import read_graph_document
from golem.graphs.graph_document import GraphDocument
from golem.graphs.named_graph import EdgeRow, NamedGraph
from golem.model.linear_sem import LinearSEM
from golem.output.document import Supplement
from golem.output.screen import Screen, data_title, learned_sentence, learned_sentences
from golem.runtime.types import BoolMatrix, Matrix


@dataclass(frozen=True, eq=False, repr=False)
class SavedModel(GraphQuestions):
    """What graph.json keeps of a fitted model; the rows of the table are not in it.

    Parameters
    ----------
    document : GraphDocument
        The content of graph.json: settings, findings, bootstrap, scores.
    """

    document: GraphDocument

    @functools.cached_property
    def graph(self) -> NamedGraph:
        """The graph with the attributes of its edges."""
        return self.document.graph()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.graph.names

    @property
    def weights_(self) -> Matrix:
        """Weights of the graph, shape (d, d)."""
        return self.graph.weights

    @property
    def adjacency_(self) -> BoolMatrix:
        """Edges of the graph, shape (d, d)."""
        return self.graph.adjacency

    @functools.cached_property
    def edges_(self) -> list[EdgeRow]:
        """The rows of edges.csv."""
        return msgspec.convert(self.document.edge_table, list[EdgeRow])

    @functools.cached_property
    def sem_(self) -> LinearSEM:
        """The linear model; a table with categories has none."""
        return LinearSEM.from_graph(self.graph)

    def summary(self) -> str:
        """Return the graph and the findings as text, as `golem fit` prints them; `print(model)` shows the same."""
        found = self.document.diagnostics
        checked = None if found is None else Diagnosis.of(Finding(**msgspec.structs.asdict(one)) for one in found)
        supplement = Supplement(diagnosis=checked)
        title = data_title("Saved model", self.document, supplement)
        return Screen(title, learned_sentences(self.document), self.document, supplement).text()

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<SavedModel: {learned_sentence(self.document)}>"

    @functools.cached_property
    def effect_intervals(self) -> dict[tuple[str, str], tuple[float, float]]:
        """The intervals of total effects by cause and effect, of the pairs that a bootstrap has joined."""
        rows = [] if self.document.bootstrap is None else self.document.bootstrap.edges
        known = {}
        for row in rows:
            low, high = row.get("effect_low"), row.get("effect_high")
            if isinstance(low, float) and isinstance(high, float):
                known[str(row["source"]), str(row["target"])] = low, high
        return known


def load(path: str | Path) -> SavedModel:
    """Read a model that `model.save` or `golem fit` has written: the folder, or its graph.json, of any version.

    Examples
    --------
    >>> import tempfile, golem
    >>> from golem.simulate import simulate
    >>> model = golem.Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = model.save(folder)
    ...     golem.load(folder).markov_blanket("x2") == model.markov_blanket("x2")
    True
    """
    path = Path(path)
    return SavedModel(read_graph_document(path / "graph.json" if path.is_dir() else path))
