"""Edge lists and weight matrices in CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from golem.graphs.named_graph import NamedGraph, weight_matrix
from golem.runtime.files import DECIMAL_COMMA, csv_text
from golem.runtime.messages import quoted
from golem.runtime.names import column_names


def write_edge_list(graph: NamedGraph) -> str:
    """Return a CSV text with the columns source, target, weight and the further columns of the edges."""
    require_csv_names([*graph.names, *graph.edge_columns])
    edges = graph.edge_list()
    columns = [*graph.edge_columns]
    rows = [[source, target, *(attributes.get(name, "") for name in columns)] for source, target, attributes in edges]
    return csv_text([["source", "target", *columns], *rows])


def write_truth(graph: NamedGraph) -> str:
    """Return an edge list that also names the variables without edges, as rows with a source only."""
    width = 3 if graph.weighted else 2
    isolated = [
        name for name, edges in zip(graph.names, graph.adjacency | graph.adjacency.T, strict=True) if not edges.any()
    ]
    return write_edge_list(graph) + csv_text([[name, *[""] * (width - 1)] for name in isolated])


def write_matrix(graph: NamedGraph) -> str:
    """Return a CSV text with one row of weights per variable as the cause; edges without weights have 1.

    If only some edges have weights, the graph is refused, so that a 1 is never mistaken for a weight.
    """
    if "weight" in graph.edge_columns and not graph.weighted:
        raise ValueError(
            "A matrix needs a weight for every edge, but edges with a category have none. Use csv, which leaves their "
            "weights empty, or pcalg for a matrix without weights."
        )
    require_csv_names(graph.names)
    return csv_text([["", *graph.names], *([name, *row] for name, row in zip(graph.names, graph.weights, strict=True))])


def require_csv_names(names: Sequence[str]) -> None:
    """Refuse names that `read_csv` would strip, so that two of them could become one."""
    if bad := [name for name in names if name != name.strip()]:
        raise ValueError(
            f"CSV cannot store the white space around {quoted(bad)}, because readers strip it. Rename, or use json."
        )


_ENDS = (("source", "target"), ("from", "to"), ("cause", "effect"))


def read_csv(text: str) -> NamedGraph:
    """Read an edge list with the header source,target[,weight,...], or a square table of weights with names.

    The first two columns of an edge list can also be called from,to or cause,effect. If the separator is a semicolon or
    a tab, `0,5` is a number. A row with only a source is a variable without edges.
    """
    rows, separator = _split(text)
    if rows and tuple(name.lower() for name in rows[0][:2]) in _ENDS:
        header = rows[0][2:]
        listed = [row for row in rows[1:] if len(row) < 2 or any(row[1:])]
        if incomplete := [row[0] for row in listed if len(row) < 2 or not row[1]]:
            raise ValueError(f"The edge from {incomplete[0]!r} has no {rows[0][1]}.")
        # Empty cells at the end of a line may be missing.
        cells = [dict(zip(header, _with_points(row[2:], separator), strict=False)) for row in listed]
        edges = [(row[0], row[1], attributes) for row, attributes in zip(listed, cells, strict=True)]
        named = dict.fromkeys(name for edge in edges for name in edge[:2])
        isolated = dict.fromkeys(row[0] for row in rows[1:] if len(row) > 1 and not any(row[1:]))
        return NamedGraph.from_lists(named | isolated, edges)
    names = rows[0][1:]
    if [row[0] for row in rows[1:]] != names:
        raise ValueError("The names of rows and columns differ.")
    weights = weight_matrix([_with_points(row[1:], separator) for row in rows[1:]], names)
    return NamedGraph.from_weights(weights, column_names(names, len(names)))


def _split(text: str) -> tuple[list[list[str]], str]:
    """Return the rows of a text and its separator: a comma or, if the first row has none, a semicolon or tab."""
    for separator in ",;\t":
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows = [[field.strip() for field in row] for row in lines if row]
        if rows and len(rows[0]) > 1:
            return rows, separator
    raise ValueError("The first line has only one field.")


def _with_points(cells: list[str], separator: str) -> list[str]:
    """Replace decimal commas by points, unless commas separate the cells."""
    if separator == ",":
        return cells
    return [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in cells]
