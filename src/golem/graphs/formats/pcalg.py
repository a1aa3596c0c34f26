"""Adjacency matrices of the R package pcalg, of the type amat.cpdag: a 1 in row b and column a means a -> b.

This is the transpose of golem's matrices. The first cell of the file names the type, so that they are not confused.
"""

from __future__ import annotations

from golem.graphs.formats.csv_tables import read_csv, require_csv_names
from golem.graphs.named_graph import NamedGraph
from golem.runtime.files import csv_text

_TYPE = "amat.cpdag"
BEGINS = rf'"?{_TYPE}"?[,;\t]'.replace(".", r"\.")


def write_pcalg(graph: NamedGraph) -> str:
    """Return a CSV text for `as.matrix(read.csv(file, row.names = 1, check.names = FALSE))`."""
    require_csv_names(graph.names)
    rows = ([name, *row] for name, row in zip(graph.names, graph.adjacency.T.astype(int).tolist(), strict=True))
    return csv_text([[_TYPE, *graph.names], *rows])


def read_pcalg(text: str) -> NamedGraph:
    """Read such a matrix; a pair with a 1 in both directions is undirected."""
    return NamedGraph.from_class(read_csv(text).adjacency.T.copy(), read_csv(text).names)
