"""What the page asks about a graph: effects as ranges, effects over time, and what to adjust for."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from golem.data.series import split_lag
from golem.graphs.named_graph import LAG
from golem.output.edge_list import for_json
from golem.output.effects import effects_of
from golem.output.export import named_graph
from golem.output.impulse_responses import impulse_responses
from golem.runtime.messages import quoted, shown
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
    """Return the variables to adjust for: the causes of the first one; `set` is None if links leave them open."""
    graph = named_graph(learned.model)
    if LAG in graph.edge_columns:
        raise ValueError("In a series, adjust for the past of both variables.")
    if cause not in graph.names or effect not in graph.names or cause == effect:
        raise ValueError("The adjustment set needs two different variables of the graph.")
    arrows, ways = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for i, j, is_link in zip(graph.edges.causes, graph.edges.children, graph.is_link, strict=True):
        source, target = graph.names[i], graph.names[j]
        ways[source].add(target)
        if is_link:
            ways[target].add(source)
        else:
            arrows[source].add(target)
    if cause in _reached(effect, arrows):
        return {"set": None, "sentence": f"{shown(effect)} causes {shown(cause)}, not the other way round."}
    if effect not in _reached(cause, ways):
        return {"set": None, "sentence": f"{shown(cause)} does not affect {shown(effect)} in this graph."}
    parents = sorted(name for name in graph.names if cause in arrows[name])
    links = sorted(name for name in ways[cause] if cause in ways[name])
    if not links:
        told = f"Adjust for {quoted(parents)}, the causes of" if parents else "Adjust for nothing: nothing causes"
        return {"set": parents, "sentence": f"{told} {shown(cause)} in this graph."}
    others = [name for name in links if name != effect]
    ends = [quoted(parents)] if parents else []
    ends += [f"those of {quoted(others)} that cause {shown(cause)}"] if len(others) > 1 else []
    ends += [f"{shown(others[0])} if it causes {shown(cause)}"] if len(others) == 1 else []
    sentence = f"Links of {shown(cause)} are open: adjust for {' and for '.join(ends) or 'nothing'}."
    if effect in links:
        sentence += f" If {shown(effect)} causes {shown(cause)}, there is no effect."
    return {"set": None, "sentence": sentence}


def _reached(start: str, ways: dict[str, set[str]]) -> set[str]:
    """Return where ways lead from a variable."""
    found, border = {start}, [start]
    while border:
        new = ways[border.pop()] - found
        found |= new
        border += new
    return found
