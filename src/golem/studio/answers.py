"""What the page asks about a graph: effects as ranges, effects over time, and what to adjust for."""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.data.series import split_lag
from golem.graphs.named_graph import LAG
from golem.output.edge_list import for_json
from golem.output.effects import effects_of
from golem.output.export import named_graph
from golem.output.impulse_responses import impulse_responses
from golem.studio.worker import Learned

# Steps of effects over time.
STEPS = 6


def effects(learned: Learned, source: str) -> list[dict[str, Any]]:
    """Return what changes if a variable is set one unit higher, as ranges over all graphs that the data allow.

    In a series it is one unit higher for one step; each target has `steps`, its effects step by step.
    """
    if not learned.document.lags:
        found = effects_of(learned.model, source, learned.bootstrap)
        return [for_json(effect._asdict(), digits=6) for effect in found]
    variable, _ = split_lag(source, learned.document.names)
    responses = impulse_responses(learned.model, STEPS)
    if variable not in responses.names:
        raise ValueError(f"There is no variable {variable!r} in the graph.")
    own = responses.effects[:, responses.names.index(variable)].T
    order = np.argsort(-np.nan_to_num(np.abs(own), nan=np.inf).max(axis=1), kind="stable")
    changed = [k for k in order.tolist() if responses.names[k] != variable and (own[k] != 0).any()]
    return [{"target": responses.names[k], "steps": for_json(own[k].tolist(), digits=6)} for k in changed]


def adjustment(learned: Learned, cause: str, effect: str) -> dict[str, Any]:
    """Return the variables to adjust for, if the directions that have evidence determine them."""
    graph = named_graph(learned.model)
    if LAG in graph.edge_columns:
        raise ValueError("In a series, adjust for the past of both variables.")
    if cause not in graph.names or effect not in graph.names or cause == effect:
        raise ValueError("The adjustment set needs two different variables of the graph.")
    names, edges, i = graph.names, graph.edges, graph.names.index(cause)
    at_cause = graph.is_link & ((edges.causes == i) | (edges.children == i))
    if at_cause.any():
        ends = sorted({names[k] for side in (edges.causes, edges.children) for k in side[at_cause]} - {cause})
        return {"set": None, "sentence": f"The links between {cause!r} and {', '.join(map(repr, ends))} are open."}
    parents = sorted(names[k] for k in edges.causes[edges.children == i])
    if effect in parents:
        return {"set": None, "sentence": f"{effect!r} is a cause of {cause!r}."}
    return {"set": parents, "sentence": "The causes of the first variable."}
