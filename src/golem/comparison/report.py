"""The page and the figure of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.comparison.result import Comparison
from golem.graphs.edges import Edges
from golem.output.figures import NEGATIVE, NODE_EDGE, POSITIVE, TEXT
from golem.output.report import write_page
from golem.output.report.content import drawing, graph_entry, numbered_knowledge, plain_rows, rounded
from golem.output.report.page import render
from golem.runtime.types import BoolMatrix
from golem.runtime.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report_comparison(comparison: Comparison, path: str | Path, *, title: str = "Methods compared") -> Path:
    """Write a page that compares the graphs of the methods with the truth and with each other.

    Raises
    ------
    ValueError
        If every method failed.
    """
    if not comparison.estimates:
        raise ValueError("Every method failed, so there is nothing to draw. See the status of each method.")
    content = comparison_content(comparison)
    page = render("comparison.html", content, title=title, comparison=comparison, version=__version__)
    return write_page(Path(path), page)


def comparison_content(comparison: Comparison) -> dict[str, Any]:
    """Return the data of the page."""
    names = comparison.names
    graphs = [
        graph_entry(method, plain_rows(estimate.graph, names, estimate.weights, estimate.direction_from), names)
        for method, estimate in comparison.estimates.items()
    ]
    if comparison.truth is not None:
        graphs.append(graph_entry("truth", plain_rows(comparison.truth, names), names))
    labels, distances = comparison.distances()
    knowledge = comparison.settings.get("knowledge")
    return (
        drawing(names, Edges.from_matrix(_common_graph(comparison)), knowledge)
        | numbered_knowledge(knowledge, names)
        | {
            "kind": "comparison",
            "graphs": graphs,
            "truth": len(graphs) - 1 if comparison.truth is not None else None,
            "candidates": [],
            "chosen": 0.0,
            "measure": "weight",
            "methods": rounded([vars(row) for row in comparison.rows]),
            "distances": {"names": labels, "values": distances.tolist()},
            "agreement": comparison.agreement(),
        }
    )


def _common_graph(comparison: Comparison) -> BoolMatrix:
    """Return the graph that determines the layout: the truth, or the edges of at least half of the methods."""
    d = len(comparison.names)
    if comparison.truth is not None:
        return comparison.truth
    learned = np.array([estimate.graph for estimate in comparison.estimates.values()]).reshape(-1, d, d)
    joined = (learned | learned.transpose(0, 2, 1)).sum(axis=0) * 2 >= max(1, len(learned))
    votes = learned.sum(axis=0)
    forward = (votes > votes.T) | ((votes == votes.T) & np.triu(np.ones((d, d), dtype=bool)))
    return np.asarray(joined & forward & (votes > 0))


def plot_comparison(comparison: Comparison) -> Figure:
    """Draw the errors (or the numbers of edges, without a truth), the times, and the pairwise SHD.

    Examples
    --------
    >>> from golem.comparison import Comparison
    >>> from golem.plots import plot_comparison
    >>> len(plot_comparison(Comparison(("a", "b"), (), {}, None, {})).axes)
    3
    """
    from matplotlib.figure import Figure

    rows = [row for row in comparison.rows if row.edges is not None][::-1]
    names, distances = comparison.distances()
    figure = Figure(figsize=(13, max(3.2, 0.34 * len(names) + 1.8)), layout="constrained")
    errors, times, pairs = figure.subplots(1, 3, width_ratios=[1, 1, 1.3])
    places = np.arange(len(rows))
    if comparison.truth is None:
        errors.barh(places, [row.edges for row in rows], color=POSITIVE)
        errors.set_xlabel("edges")
    else:
        bars = (("SHD", "shd", POSITIVE, 0.2), ("SHD-C", "shd_c", NEGATIVE, -0.2))
        for label, key, colour, offset in bars:
            values = [np.nan if getattr(row, key) is None else getattr(row, key) for row in rows]
            errors.barh(places + offset, values, height=0.4, color=colour, label=label)
        errors.legend(frameon=False, fontsize=8)
        errors.set_xlabel("errors compared with the truth")
    errors.set_yticks(places, [row.method for row in rows], fontsize=8)
    times.barh(places, [row.seconds for row in rows], color=NODE_EDGE)
    times.set_yticks(places, [""] * len(rows))
    times.set_xlabel("seconds")
    if rows:
        times.set_xscale("log")
    if names:
        pairs.imshow(distances, cmap="Blues", interpolation="nearest", aspect="auto")
    pairs.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    pairs.set_yticks(range(len(names)), names, fontsize=7)
    middle = distances.max(initial=0) / 2
    for (a, b), value in np.ndenumerate(distances):
        pairs.text(b, a, str(value), ha="center", va="center", fontsize=6, color="white" if value > middle else TEXT)
    pairs.set_title("number of different edges, for each pair of methods", fontsize=9)
    for axes in (errors, times):
        axes.spines[["top", "right"]].set_visible(False)
    return figure
