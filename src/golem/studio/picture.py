"""What the page shows of a graph: nodes, edges and layouts for the graph component, from a graph document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from golem.graphs.graph_document import GraphDocument
from golem.output.drawing import layouts, node_label, node_widths
from golem.output.edge_list import DIRECTIONS, edge_counts, for_json
from golem.studio.edits import ANY_TIME, State

# Larger graphs have no layout that can be read; the page shows the list of edges.
LARGEST_DRAWN_GRAPH, MOST_DRAWN_EDGES = 300, 1500
# Columns of the table of edges that the page shows.
_SHOWN = (
    "weight", "standardized_weight", "standard_error", "edge_strength", "drop_loss", "direction_from",
    "direction_stability", "adjacency_frequency", "direction_frequency", "weight_low", "weight_high",
)  # fmt: skip


def picture(document: GraphDocument, state: State) -> dict[str, Any]:
    """Return the data of the graph component, and counts of arrows and links in words."""
    names, graph = document.names, document.graph()
    labels = [node_label(name) for name in names]
    drawn = len(names) <= LARGEST_DRAWN_GRAPH and len(document.edge_table) <= MOST_DRAWN_EDGES
    adjacency = graph.edges.matrix() if drawn else None
    widths = node_widths(labels, adjacency)
    kinds = [one.kind == "category" for one in document.variables or ()] or [False] * len(names)
    nodes = [
        {"id": name, "label": label, "text": name, "width": width, "square": square}
        for name, label, width, square in zip(names, labels, widths, kinds, strict=True)
    ]
    return {
        "nodes": nodes,
        "edges": [_edge(row) for row in document.edge_table],
        "layouts": [] if adjacency is None else _layouts(document, state, adjacency, widths),
        "counts": edge_counts(row.get("directed") is not False for row in document.edge_table),
        "rows": document.rows,
    }


def _layouts(document: GraphDocument, state: State, adjacency: Any, widths: list[float]) -> list[dict[str, Any]]:
    """Return the layouts, with the names of the user's tiers; one group alone is no order."""
    groups: list[list[int]] = [[] for _ in state.tiers]
    for number, name in enumerate(document.names):
        if (place := state.places.get(name, state.home)) != ANY_TIME:
            groups[place].append(number)
    filled = [name for name, group in zip(state.tiers, groups, strict=True) if group]
    found = layouts(adjacency, widths, [group for group in groups if group] if len(filled) > 1 else ())
    for layout in found:
        layout["bands"] = [[filled[k], begin] for k, (_, begin) in enumerate(layout["bands"])]
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
        "environments": [
            {"label": one.label, "rows": one.rows, "targets": one.targets} for one in document.environments or ()
        ],
        "next_experiment": [{"variable": one.variable, "decided": one.decided, "least": one.least} for one in found],
        "replicates": None if document.bootstrap is None else document.bootstrap.replicates,
        "requested": None if document.bootstrap is None else document.bootstrap.requested,
    }
