"""How a fitted model looks in a notebook: a sentence, the picture, the strongest edges, and the findings.

The HTML is complete in itself: the picture is embedded, and nothing is loaded or executed. So it works in Jupyter, VS
Code and exported pages.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from golem.assessment.diagnostics import Diagnosis, diagnose
from golem.graphs.named_graph import EdgeRow
from golem.output.document import Supplement
from golem.output.edge_list import DIRECTIONS, edge_counts, list_edges
from golem.output.figures import LARGEST_DRAWN_GRAPH, MOST_DRAWN_EDGES, plot_model
from golem.runtime.html_text import MOST_ROWS, Cell, html_table, leveled_list, paragraph
from golem.runtime.messages import counted

if TYPE_CHECKING:
    from golem.estimator.golem import Golem


def model_html(model: Golem, supplement: Supplement | None = None) -> str:
    """Return the HTML of a fitted model; its bootstrap and diagnosis are shown if the supplement has them.

    Without a diagnosis, the checks that need neither rows nor another fit are made.
    """
    supplement = supplement or Supplement()
    edges = list_edges(model, supplement.bootstrap)
    d, rows = model.graph_.d, model.moments_.rows
    counts = edge_counts(edge.directed for edge in edges)
    size = f"{counts} among {counted(d, 'variable')}, from {counted(rows, 'row')}"
    findings = supplement.diagnosis
    parts = [
        paragraph(size, strong=True),
        _picture(model, len(edges)),
        _edge_table(edges),
        _findings(diagnose(model, refit=False) if findings is None else findings),
    ]
    return f"<div>{''.join(parts)}</div>"


def _picture(model: Golem, edges: int) -> str:
    """Return the figure as an embedded image on white, which suits light and dark themes alike."""
    from matplotlib.figure import Figure

    # The heat map of a large graph would be a large SVG.
    kind = "svg" if model.graph_.d <= LARGEST_DRAWN_GRAPH and edges <= MOST_DRAWN_EDGES else "png"
    figure, file = Figure(), io.BytesIO()
    plot_model(model, figure)
    figure.savefig(file, format=kind, facecolor="white")
    mime = {"svg": "image/svg+xml", "png": "image/png"}[kind]
    source = f"data:{mime};base64,{base64.b64encode(file.getvalue()).decode()}"
    return f'<img alt="The learned graph" style="max-width:100%;background:white;border-radius:4px" src="{source}" />'


def _edge_table(edges: list[EdgeRow]) -> str:
    """Return the strongest edges as a table."""
    has_bootstrap = any(edge.adjacency_frequency is not None for edge in edges)
    categories = any(edge.edge_strength is not None for edge in edges)
    sizes = ["strength", "loss of score"] if categories else ["standardized"]
    columns = ["edge", "weight", *sizes, "direction"]
    columns += ["connected", "this direction"] if has_bootstrap else []
    rows: list[list[Cell]] = []
    for edge in edges[:MOST_ROWS]:
        numbers = (edge.edge_strength, edge.drop_loss) if categories else (edge.standardized_weight,)
        weight, frequency = (edge.weight, edge.direction_frequency) if edge.directed else (None, None)
        row: list[Cell] = [edge.text, weight, *numbers, DIRECTIONS[edge.direction_from]]
        rows.append(row + ([edge.adjacency_frequency, frequency] if has_bootstrap else []))
    left = len(edges) - len(rows)
    return html_table(columns, rows, f"and {left} weaker; golem.output.list_edges(model) has all" if left else "")


def _findings(diagnosis: Diagnosis) -> str:
    """Return the warnings and notes."""
    shown = diagnosis.at("warning", "note")
    return leveled_list((one.level, one.name, str(one)) for one in shown)
