"""What the page shows of a graph: nodes, edges and layouts for the graph component, from a graph document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from golem.data.series import split_lag
from golem.graphs.graph_document import GraphDocument
from golem.output.drawing import layouts, node_label, node_widths
from golem.output.edge_list import DIRECTIONS, edge_counts, for_json
from golem.runtime.messages import shown as shown_text
from golem.runtime.types import BoolMatrix
from golem.studio.edits import ANY_TIME, State

# Larger graphs are shown by neighbourhoods, which are cut to so many variables.
LARGEST_WHOLE, MOST_WHOLE_EDGES, LARGEST_NEIGHBOURHOOD, HUBS = 99, 400, 60, 15
# Graphs up to this size also have a layout from left to right.
LARGEST_TURNED = 40
# Columns of the table of edges that the page shows.
_SHOWN = (
    "weight", "standardized_weight", "standard_error", "edge_strength", "drop_loss", "direction_from",
    "direction_stability", "adjacency_frequency", "direction_frequency", "weight_low", "weight_high",
)  # fmt: skip


def picture(document: GraphDocument, state: State) -> dict[str, Any]:
    """Return the data of the graph component, and counts of arrows and links in words.

    Large graphs have no nodes and layouts, but `hubs`: variables with many edges, to begin with.
    """
    names, table = document.names, document.edge_table
    degree = Counter(row[end] for row in table for end in ("source", "target"))
    past = {name for name in names if split_lag(name, names)[1]} if document.lags else set[str]()
    shown = [name for name in names if degree[name] or name not in past]
    whole = len(shown) <= LARGEST_WHOLE and len(table) <= MOST_WHOLE_EDGES
    drawn = _drawn(document, state, shown) if whole else {"nodes": [], "layouts": []}
    return {
        **drawn,
        "edges": [_edge(row) for row in table],
        "names": names,
        "hubs": [] if whole else degree.most_common(HUBS),
        "lags": document.lags,
        "counts": edge_counts(row.get("directed") is not False for row in table),
        "rows": document.rows,
    }


def neighbourhood(document: GraphDocument, state: State, name: str, steps: int) -> dict[str, Any]:
    """Return the part of a graph within some steps of a variable; strong edges first, if there are too many."""
    if not 1 <= steps <= 3:
        raise ValueError("The number of steps must be 1, 2 or 3.")
    if name not in document.names:
        raise ValueError(f"There is no variable {shown_text(name)} in the graph.")
    found = {name}
    for _ in range(steps):
        border = found.copy()
        for row in document.edge_table:  # sorted by strength
            ends = {str(row["source"]), str(row["target"])}
            if ends & border and len(found) < LARGEST_NEIGHBOURHOOD:
                found |= ends
    inside = [one for one in document.names if one in found]
    rows = [row for row in document.edge_table if row["source"] in found and row["target"] in found]
    cut = len(found) >= LARGEST_NEIGHBOURHOOD
    return {**_drawn(document, state, inside), "edges": [_edge(row) for row in rows], "cut": cut}


def _drawn(document: GraphDocument, state: State, names: Sequence[str]) -> dict[str, Any]:
    """Return nodes and layouts of some variables."""
    place, labels = {name: k for k, name in enumerate(names)}, [node_label(name) for name in names]
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    for row in document.edge_table:
        if row["source"] in place and row["target"] in place:
            adjacency[place[row["source"]], place[row["target"]]] = True
    widths = node_widths(labels, adjacency)
    kinds = zip(document.names, document.variables or (), strict=False)
    categories = {name for name, one in kinds if one.kind == "category"}
    nodes: list[dict[str, Any]] = [
        {"id": name, "label": label, "text": name, "width": width, "square": name in categories}
        for name, label, width in zip(names, labels, widths, strict=True)
    ]
    for node in nodes:  # it is drawn in a band, but is not in a tier
        if state.places.get(node["id"], state.home) == ANY_TIME:
            node |= {"className": "no-tier", "text": f"{node['id']}, time not known"}
    return {"nodes": nodes, "layouts": _layouts(document, state, names, adjacency, widths)}


def _layouts(
    document: GraphDocument, state: State, names: Sequence[str], adjacency: BoolMatrix, widths: list[float]
) -> list[dict[str, Any]]:
    """Return the layouts, with bands for the steps back and for the user's tiers; one group alone is no order."""
    past = [f"{lag} step{'s' * (lag > 1)} back" for lag in range(document.lags, 0, -1)]
    now = ["Now"] if past and not state.places else state.tiers
    groups: dict[str, list[int]] = {name: [] for name in (*past, *now)}
    for number, name in enumerate(names):
        _, lag = split_lag(name, document.names) if past else (name, 0)
        place = state.places.get(name, state.home)
        if lag:
            groups[past[-lag]].append(number)
        elif place != ANY_TIME:
            groups[now[place] if len(now) > 1 else now[0]].append(number)
    filled = {name: group for name, group in groups.items() if group}
    found = layouts(adjacency, widths, [*filled.values()] if len(filled) > 1 else (), len(names) <= LARGEST_TURNED)
    for layout in found:
        layout["bands"] = [[name, begin] for name, (_, begin) in zip(filled, layout["bands"], strict=False)]
    return found


def _edge(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an edge; its id does not depend on its direction, so that a reversed edge is the same one."""
    ends = row["source"], row["target"]
    weight = row.get("standardized_weight")
    strong = min(1.0, abs(weight)) if isinstance(weight, int | float) else 0.4
    return {
        "id": json.dumps(sorted(ends)),
        "source": ends[0],
        "target": ends[1],
        "directed": row.get("directed") is not False,
        "kind": "neutral" if not isinstance(weight, int | float) else "negative" if weight < 0 else "positive",
        "width": round(1.2 + 4.3 * strong, 2),
        "because": DIRECTIONS.get(row.get("direction_from"), ""),
        "values": {name: for_json(row[name], digits=5) for name in _SHOWN if row.get(name) is not None},
    }


def picture_summary(drawn: Mapping[str, Any], document: GraphDocument) -> dict[str, Any]:
    """Return a picture with what the document says about the graph as a whole."""
    found = document.next_experiment or []
    return {
        **drawn,
        "undecided": document.undecided,
        "levels": {
            name: one.levels
            for name, one in zip(document.names, document.variables or (), strict=False)
            if one.kind == "category"
        },
        "environments": [
            {"label": one.label, "rows": one.rows, "targets": one.targets} for one in document.environments or ()
        ],
        "next_experiment": [{"variable": one.variable, "decided": one.decided, "least": one.least} for one in found],
        "replicates": None if document.bootstrap is None else document.bootstrap.replicates,
        "requested": None if document.bootstrap is None else document.bootstrap.requested,
    }
