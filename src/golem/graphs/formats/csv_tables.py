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
    """Text of a CSV with the columns source, target, weight and whatever else the edges have."""
    _refuse_outer_blanks([*graph.names, *graph.edge_columns])
    edges = graph.edge_list()
    columns = [*(["weight"] if graph.weighted else []), *graph.edge_columns]
    rows = [[source, target, *(attributes.get(name, "") for name in columns)] for source, target, attributes in edges]
    return csv_text([["source", "target", *columns], *rows])


def write_matrix(graph: NamedGraph) -> str:
    """Text of a CSV with a row of weights for each variable, as a cause."""
    _refuse_outer_blanks(graph.names)
    return csv_text([["", *graph.names], *([name, *row] for name, row in zip(graph.names, graph.weights, strict=True))])


def _refuse_outer_blanks(names: Sequence[str]) -> None:
    """Refuse names that `read_csv` would cut, so that two of them could become one."""
    if bad := [name for name in names if name != name.strip()]:
        raise ValueError(
            f"a table in CSV cannot hold the white space around {quoted(bad)}, which is cut where it is read; "
            "rename, or use json"
        )


_ENDS = (("source", "target"), ("from", "to"), ("cause", "effect"))


def read_csv(text: str) -> NamedGraph:
    """Read an edge list, which has the header source,target[,weight,...], or a named weight matrix.

    The two columns of an edge list may also be called from,to or cause,effect. Where semicolons or tabs separate,
    `0,5` is a number.
    """
    rows, separator = _split(text)
    if rows and tuple(name.lower() for name in rows[0][:2]) in _ENDS:
        header = rows[0][2:]
        if lonely := [row[0] for row in rows[1:] if len(row) < 2]:
            raise ValueError(f"the edge from {lonely[0]!r} has no {rows[0][1]}")
        # A file may end its lines early where cells are empty, but not before the target.
        cells = [dict(zip(header, _with_points(row[2:], separator), strict=False)) for row in rows[1:]]
        edges = [(row[0], row[1], attributes) for row, attributes in zip(rows[1:], cells, strict=True)]
        return NamedGraph.from_lists(dict.fromkeys(name for edge in edges for name in edge[:2]), edges)
    names = rows[0][1:]
    if [row[0] for row in rows[1:]] != names:
        raise ValueError("the names of rows and columns differ")
    weights = weight_matrix([_with_points(row[1:], separator) for row in rows[1:]], names)
    return NamedGraph.from_weights(weights, column_names(names, len(names)))


def _split(text: str) -> tuple[list[list[str]], str]:
    """Split a text into rows, at commas or, where the first row has none, at another separator that it has."""
    for separator in ",;\t":
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows = [[field.strip() for field in row] for row in lines if row]
        if rows and len(rows[0]) > 1:
            return rows, separator
    raise ValueError("its first line has a single field")


def _with_points(cells: list[str], separator: str) -> list[str]:
    """Write decimal commas as points, where commas are free for them."""
    if separator == ",":
        return cells
    return [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in cells]
