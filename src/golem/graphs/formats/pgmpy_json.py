"""The JSON format that pgmpy's LinearGaussianBayesianNetwork saves and loads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from golem.graphs.named_graph import NamedGraph

_INTERCEPT = "(Intercept)"


def write_pgmpy(graph: NamedGraph) -> str:
    """Return the text of the model x_j = intercept + sum of coefficient * parent + noise."""
    graph.require_model()
    if _INTERCEPT in graph.names:
        raise ValueError(f"pgmpy reserves the name {_INTERCEPT!r}. Rename that variable.")
    variances = np.asarray(graph.noise_variances).tolist()
    intercepts = [0.0] * len(graph.names) if graph.intercepts is None else graph.intercepts.tolist()
    parents: dict[str, dict[str, float]] = {name: {} for name in graph.names}
    for source, target, attributes in graph.edge_list():
        parents[target][source] = attributes["weight"]
    document = {
        "nodes": list(graph.names),
        "arcs": [[source, target] for source, target, _ in graph.edge_list()],
        "cpds": {
            name: {
                "coefficients": {_INTERCEPT: [intercept]} | {parent: [weight] for parent, weight in into.items()},
                "variance": [variance],
                "parents": list(into),
            }
            for (name, into), variance, intercept in zip(parents.items(), variances, intercepts, strict=True)
        },
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def from_pgmpy(content: dict[str, Any]) -> NamedGraph:
    """Return the graph of a model that pgmpy or `write_pgmpy` wrote."""
    names, cpds = [str(name) for name in content["nodes"]], content["cpds"]
    edges = []
    for source, target in content["arcs"]:
        coefficients = cpds[target]["coefficients"] if target in cpds else {}
        edges.append((source, target, {"weight": coefficients[source][0]} if source in coefficients else {}))
    nodes = [
        {"noise_variance": cpds[name]["variance"][0], "intercept": cpds[name]["coefficients"][_INTERCEPT][0]}
        if name in cpds
        else {}
        for name in names
    ]
    return NamedGraph.from_lists(names, edges, nodes)
