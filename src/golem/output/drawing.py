"""A graph as data for `report/assets/golem_graph.js`, the graph component of report, notebooks and studio.

The component draws and moves; names, widths and places are computed here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from golem.graphs.dag import as_adjacency
from golem.output.layout import Layout, rightward_layout, tiered_layout
from golem.runtime.types import BoolMatrix

LONGEST_LABEL = 18
# A larger graph has one layout: it does not fit the screen either way.
LARGEST_TURNED_GRAPH = 120


def component() -> tuple[str, str]:
    """Return the script, which defines `golemGraph`, and the style of the graph component."""
    folder = files("golem.output.report") / "assets"
    script, style = ((folder / name).read_text(encoding="utf-8") for name in ("golem_graph.js", "golem_graph.css"))
    return script, style


def layouts(
    matrix: ArrayLike,
    widths: Sequence[float],
    tiers: Sequence[Sequence[int]] = (),
    turned: bool | None = None,
    labels: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the layouts of a graph, with causes above their effects, and with causes left of them.

    Parameters
    ----------
    matrix : array of shape (d, d)
        Edges or weights, [i, j] for i -> j. Links count in the direction of the matrix.
    widths : sequence of float
        The widths of the nodes, from `node_widths`.
    tiers : sequence of sequences of int
        Groups of nodes, one after the other.
    turned : bool, optional
        Whether there is a layout from left to right; by default up to 120 nodes.
    labels : sequence of str
        Names of the groups; by default their numbers.

    Returns
    -------
    list of dict
        `orientation`, "down" or "right"; `places`, [x, y] per node; `bends`, [source, target, points] of edges over
        several layers; `bands`, the name of each tier and where it begins.

    Examples
    --------
    >>> down, right = layouts([[0, 1], [0, 0]], [40, 40])
    >>> down["places"], right["orientation"]
    ([[31.0, 46.0], [31.0, 138.0]], 'right')
    """
    adjacency = as_adjacency(matrix)
    filled = {number: tier for number, tier in enumerate(tiers, start=1) if tier}
    groups = list(filled.values())
    found = {"down": tiered_layout(adjacency, widths, groups)}
    if turned or (turned is None and len(adjacency) <= LARGEST_TURNED_GRAPH):
        found["right"] = rightward_layout(adjacency, widths, groups)
    labels = [labels[number - 1] if labels else f"tier {number}" for number in filled]
    return [_plain(orientation, layout, labels, begin) for orientation, (layout, begin) in found.items()]


def _plain(orientation: str, layout: Layout, labels: Sequence[str], begin: Sequence[float]) -> dict[str, Any]:
    """Return a layout as plain data."""
    return {
        "orientation": orientation,
        "places": layout.positions.round(1).tolist(),
        "bends": [[i, j, points.round(1).tolist()] for (i, j), points in sorted(layout.bends.items())],
        "bands": [[label, round(place, 1)] for label, place in zip(labels, begin, strict=False)],
    }


def node_widths(labels: Sequence[str], adjacency: BoolMatrix | None = None) -> list[float]:
    """Return the widths of nodes, with room for their labels and, given the edges, for their ends on one side."""
    ends = np.zeros(len(labels), dtype=int)
    if adjacency is not None:
        ends = np.maximum(adjacency.sum(axis=0), adjacency.sum(axis=1))
    return [
        min(max(46.0, 7.3 * columns_of(label) + 20, 8.0 * count + 14), 164.0)
        for label, count in zip(labels, ends.tolist(), strict=True)
    ]


def node_label(name: str) -> str:
    """Shorten a long name for its box; the page shows the full name elsewhere.

    Examples
    --------
    >>> node_label("PIP3"), node_label("a very long name of a column")
    ('PIP3', 'a very lo…a column')
    """
    if columns_of(name) <= LONGEST_LABEL:
        return name
    kept = LONGEST_LABEL - 1 if columns_of(name) == len(name) else LONGEST_LABEL // 2 - 1
    return name[: kept - kept // 2] + "…" + name[len(name) - kept // 2 :]


def columns_of(text: str) -> int:
    """Return the width of a text in letters; wide East Asian letters count twice."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
