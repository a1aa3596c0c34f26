"""The HTML page of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from golem.comparison.result import Comparison
from golem.graphs.edges import Edges
from golem.output.report import write_page
from golem.output.report.content import drawing, graph_entry, known, plain_rows, rounded
from golem.output.report.page import render
from golem.runtime.types import BoolMatrix
from golem.runtime.version import __version__


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
        | known(knowledge, names)
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
