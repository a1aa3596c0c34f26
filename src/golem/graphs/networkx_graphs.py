"""NetworkX: conversion of graphs in both directions, and the file formats that NetworkX reads for us.

NetworkX is imported only where it is used, because importing it takes longer than reading a graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from golem.graphs.named_graph import Attributes, NamedGraph

if TYPE_CHECKING:
    import networkx as nx

# Attributes with the name of a node whose id is only a number: igraph and Cytoscape write `name`, yEd, Gephi and GML
# `label`, and igraph `id` for nodes that it has read from a file.
_NAMING = ("name", "label", "id")


def to_networkx(graph: NamedGraph) -> nx.DiGraph[str]:
    """Return a DiGraph with the attributes of edges and nodes."""
    import networkx as nx

    result: nx.DiGraph[str] = nx.DiGraph()
    result.add_nodes_from(graph.node_list())
    result.add_edges_from(graph.edge_list())
    return result


def from_networkx(graph: nx.Graph[Any], naming: tuple[str, ...] = ()) -> NamedGraph:
    """Return a NetworkX graph as a NamedGraph; an undirected edge becomes an edge in both directions.

    The name of a node is the first of the attributes `naming` that it has, or else the node itself.

    Examples
    --------
    >>> import networkx as nx
    >>> from golem.output import from_networkx
    >>> from_networkx(nx.DiGraph([("a", "b"), ("b", "c")])).edge_list()
    [('a', 'b', {}), ('b', 'c', {})]
    """
    # NetworkX does not apply the default values of a GraphML file.
    node_default, edge_default = (graph.graph.get(key, {}) for key in ("node_default", "edge_default"))
    nodes = {node: node_default | values for node, values in graph.nodes(data=True)}
    names = {node: _name(node, values, naming) for node, values in nodes.items()}
    edges = [(names[source], names[target], edge_default | values) for source, target, values in graph.edges(data=True)]
    if not graph.is_directed():
        edges += [(target, source, values) for source, target, values in edges if source != target]
    return NamedGraph.from_lists(names.values(), edges, list(nodes.values()))


def _name(node: Any, values: Attributes, naming: tuple[str, ...]) -> str:
    given = [str(values[key]) for key in naming if values.get(key) is not None]
    return next((name for name in given if name.strip()), str(node))


def read_with_networkx(parse: Callable[[str], nx.Graph[Any]], text: str) -> NamedGraph:
    """Read a text with a NetworkX parser; raise a ValueError if the parser fails."""
    import networkx as nx

    try:
        with warnings.catch_warnings():
            # NetworkX warns about ports, which only affect drawings, and about attributes without a type.
            warnings.simplefilter("ignore")
            graph = parse(text)
    except (nx.NetworkXError, SyntaxError) as error:  # XML errors are SyntaxErrors
        raise ValueError(str(error)) from None
    return from_networkx(graph, _NAMING)
