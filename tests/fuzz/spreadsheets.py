"""Graphs for spreadsheets: no cell is a formula, and without the apostrophes the text is that of a plain export."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.rules import RefusedError, ViolationError, answer, command
from golem.graphs.named_graph import NamedGraph
from golem.output.export import graph_text

READERS = ["csv", "matrix"]
NAMES = [
    "=1+1",
    "+a",
    "-b",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("http://x","y")',
    "-1",
    "+1e3",
    "a",
    "'=1",
    "1",
    "=",
]
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw the names of a chain."""
    return {"reader": reader, "names": draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))}


def check(case: dict[str, Any]) -> None:
    """Export the chain in Python and on the command line."""
    weights = np.diag([-0.5] * (len(case["names"]) - 1), 1) if len(case["names"]) > 1 else np.zeros((1, 1))
    graph = NamedGraph.from_weights(weights, tuple(case["names"]))
    plain = answer(lambda: graph_text(graph, case["reader"]))
    text = answer(lambda: graph_text(graph, case["reader"], spreadsheet=True))
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    if bad := [cell for cell in cells if cell.startswith(FORMULAS) and not _is_number(cell)]:
        raise ViolationError("a cell is a formula", case["reader"], bad[0])
    before = [cell for row in csv.reader(io.StringIO(plain, newline="")) for cell in row]
    if any(new not in (old, f"'{old}") for new, old in zip(cells, before, strict=True)):
        raise ViolationError("a cell has changed", case["reader"])
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "graph.json"), Path(folder, "out.csv")
        path.write_text(graph_text(graph, "json"), encoding="utf-8")
        result = command("export", path, "--to", case["reader"], "--spreadsheet", "-o", out)
        if result.exit_code:
            raise RefusedError(result.stderr)
        if out.read_bytes().decode() != text:
            raise ViolationError("the command writes another text", case["reader"])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
