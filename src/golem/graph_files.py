"""Files to graphs: `graph.json`, edge lists and weight matrices, as golem writes them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from golem.moments import Matrix, column_names, quoted


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A weight matrix over named variables."""

    weights: Matrix
    names: tuple[str, ...]

    def aligned(self, names: tuple[str, ...]) -> Matrix:
        """Weights over another list of names that includes all of this graph's; the others are isolated."""
        where = {name: position for position, name in enumerate(names)}
        missing = [name for name in self.names if name not in where]
        if missing:
            raise ValueError(f"variables {quoted(missing)} are not among {quoted(names)}")
        index = [where[name] for name in self.names]
        weights = np.zeros((len(names), len(names)))
        weights[np.ix_(index, index)] = self.weights
        return weights


def read_graph(path: str | Path) -> NamedGraph:
    """Read a graph: `graph.json`, an edge list with columns source, target[, weight], or a named weight matrix.

    Raises
    ------
    ValueError
        If the file holds none of these.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; a graph is a JSON or CSV file") from None
    try:
        if text.lstrip().startswith("{"):
            content = json.loads(text)
            return _named_graph(content["weights"], content["names"])
        rows = [[field.strip() for field in row] for row in csv.reader(io.StringIO(text)) if row]
        if rows and rows[0][:2] == ["source", "target"]:
            return _graph_of_edges(rows[0], rows[1:])
        return _named_graph([row[1:] for row in rows[1:]], rows[0][1:], [row[0] for row in rows[1:]])
    except (KeyError, IndexError, TypeError, json.JSONDecodeError, ValueError) as error:
        raise ValueError(
            f"{path}: not a graph; expected graph.json, an edge list with the header source,target[,weight] or a "
            f"square table of weights with names ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
        ) from None


def _named_graph(weights: Any, names: list[str], row_names: list[str] | None = None) -> NamedGraph:
    B = np.array(weights, dtype=float)
    if B.shape != (len(names), len(names)) or (row_names is not None and row_names != names):
        raise ValueError("the names of rows and columns differ")
    return NamedGraph(B, column_names(names, len(B)))


def _graph_of_edges(header: list[str], rows: list[list[str]]) -> NamedGraph:
    names = tuple(dict.fromkeys(name for row in rows for name in row[:2]))
    where = {name: position for position, name in enumerate(names)}
    weight = header.index("weight") if "weight" in header else None
    B = np.zeros((len(names), len(names)))
    for row in rows:
        # A listed edge is an edge, also where its weight is 0 or left out.
        B[where[row[0]], where[row[1]]] = (float(row[weight] or 1) or 1.0) if weight is not None else 1.0
    return NamedGraph(B, column_names(names, len(names)))
