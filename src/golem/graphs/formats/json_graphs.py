"""JSON: graph.json, which `golem fit` writes, and the models of pgmpy, distinguished by their keys."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from golem.graphs.graph_document import GraphDocument, document_of, parse_json
from golem.graphs.named_graph import NamedGraph

_INTERCEPT = "(Intercept)"


def write_json(graph: NamedGraph) -> str:
    """Return the text of a graph.json that contains only the graph."""
    return GraphDocument.of_graph(graph).text()


def read_json(text: str) -> NamedGraph:
    """Read a graph.json, any JSON object with `names` and `weights`, or a pgmpy model."""
    content = parse_json(text)
    if isinstance(content, dict) and "cpds" in content:
        try:
            return from_pgmpy(content)
        except LookupError as error:
            raise ValueError(f"The pgmpy model has no entry {error}.") from None
    return document_of(content).graph()


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
