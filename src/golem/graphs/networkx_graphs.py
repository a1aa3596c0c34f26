"""Graphs of NetworkX: ours as its objects, its objects as ours, and the files that it reads for us.

NetworkX is imported where it is used: it takes longer to load than a graph to read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from golem.graphs.named_graph import Attributes, NamedGraph

if TYPE_CHECKING:
    import networkx as nx

# What a node is called where its id is a mere number: by igraph and Cytoscape, by yEd, Gephi and GML, by igraph again
# for the ids of a file that it read.
_NAMING = ("name", "label", "id")


def to_networkx(graph: NamedGraph) -> nx.DiGraph[str]:
    """Return a DiGraph with the attributes of edges and nodes."""
    import networkx as nx

    result: nx.DiGraph[str] = nx.DiGraph()
    result.add_nodes_from(graph.node_list())
    result.add_edges_from(graph.edge_list())
    return result


def from_networkx(graph: nx.Graph[Any], naming: tuple[str, ...] = ()) -> NamedGraph:
    """Return the graph of a NetworkX graph; edges of an undirected one stand for both directions.

    Parameters
    ----------
    graph : networkx.Graph
        Any of its kinds.
    naming : tuple of str
        Attributes that name a node, of which the first that it has counts. The others are named by themselves.
    """
    # Of a GraphML file, whose defaults NetworkX leaves to the caller.
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
    """Read a text with a parser of NetworkX's.

    Raises
    ------
    ValueError
        If the parser refuses the text.
    """
    import networkx as nx

    try:
        with warnings.catch_warnings():
            # It warns of ports, which are drawings, and of attributes without a type, which stay text.
            warnings.simplefilter("ignore")
            graph = parse(text)
    except (nx.NetworkXError, SyntaxError) as error:  # of XML, the errors are SyntaxErrors
        raise ValueError(str(error)) from None
    return from_networkx(graph, _NAMING)
