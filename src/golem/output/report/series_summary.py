"""The summary of a series as a picture: its variables on a circle, one arrow per pair, with lags as labels."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from golem.data.series import split_lag
from golem.graphs.graph_document import GraphDocument
from golem.output.drawing import columns_of, node_label

# A circle of more variables is illegible.
MOST_VARIABLES = 24
_NODE, _LETTER = 6.0, 7.0


def summary_picture(document: GraphDocument) -> Markup:
    """Return the picture as SVG; empty for graphs without lags, without edges and with very many variables."""
    if not document.lags or not document.series:
        return Markup()
    variables, rows = document.series.variables, document.edge_table
    if not rows or len(variables) > MOST_VARIABLES:
        return Markup()
    lags, links = _pairs(document, rows)
    radius = max(120.0, 16.0 * len(variables))
    angles = 2 * np.pi * np.arange(len(variables)) / len(variables) - np.pi / 2
    places = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    margin = _LETTER * max(columns_of(node_label(name)) for name in variables) + 40
    parts = [_edge(places[i], places[j], found, (i, j) in links) for (i, j), found in lags.items() if i != j]
    parts += [_node(places[k], name, lags.get((k, k), [])) for k, name in enumerate(variables)]
    width, height = 2 * (radius + margin), 2 * (radius + 40)
    box = f"{-width / 2:.0f} {-height / 2:.0f} {width:.0f} {height:.0f}"
    return Markup(  # names are escaped
        f'<svg class="summary" viewBox="{box}" width="{width:.0f}" role="img" aria-label="Summary of the lags">'
        '<defs><marker id="summary-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0,0L8,4L0,8z" fill="currentColor"/></marker></defs>' + "".join(parts) + "</svg>"
    )


def _pairs(
    document: GraphDocument, rows: Sequence[Mapping[str, Any]]
) -> tuple[dict[tuple[int, int], list[int]], set[tuple[int, int]]]:
    """Return the lags of each pair of variables by number, and the pairs that only a link joins."""
    assert document.series
    place, known = {name: k for k, name in enumerate(document.series.variables)}, set(document.names)
    lags: dict[tuple[int, int], list[int]] = defaultdict(list)
    links = set()
    for row in rows:
        cause, lag = split_lag(row["source"], known)
        pair = place[cause], place[row["target"]]
        lags[pair].append(lag)
        if row.get("directed") is False:
            links.add(pair)
    return {pair: sorted(found) for pair, found in lags.items()}, {pair for pair in links if lags[pair] == [0]}


def _edge(start: Any, end: Any, lags: Sequence[int], is_link: bool) -> str:
    """Return a curve from one place to another; the way back bends to the other side."""
    away = end - start
    unit = away / np.linalg.norm(away)
    middle = (start + end) / 2 + 0.14 * np.array([-away[1], away[0]])
    first, last = start + (_NODE + 2) * unit, end - (_NODE + 2) * unit
    curve = f"M{first[0]:.1f},{first[1]:.1f}Q{middle[0]:.1f},{middle[1]:.1f} {last[0]:.1f},{last[1]:.1f}"
    look = 'stroke-dasharray="4 3"' if is_link else 'marker-end="url(#summary-head)"'
    label = (first + 2 * middle + last) / 4
    return (
        f'<path d="{curve}" fill="none" stroke="currentColor" {look}/>'
        f'<text class="lag" x="{label[0]:.1f}" y="{label[1]:.1f}" text-anchor="middle">{_listed(lags)}</text>'
    )


def _node(place: Any, name: str, own: Sequence[int]) -> str:
    """Return a variable, with its own lags behind its name."""
    x, y = place + 12 * place / np.linalg.norm(place)
    anchor = "middle" if abs(place[0]) < 1 else "start" if place[0] > 0 else "end"
    y += 4 + (0 if anchor != "middle" else 8 * np.sign(place[1]))
    note = f' <tspan class="lag">({_listed(own)})</tspan>' if own else ""
    return (
        f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{_NODE}" fill="currentColor"/>'
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(node_label(name))}{note}</text>'
    )


def _listed(lags: Sequence[int]) -> str:
    return ", ".join(map(str, lags))
