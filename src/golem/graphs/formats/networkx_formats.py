"""NetworkX: conversion of graphs in both directions, and GraphML and GML, which it reads and writes for us.

NetworkX is imported only where it is used, because importing it takes longer than reading a graph.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from golem.graphs.dag import cycle_text, find_cycle
from golem.graphs.named_graph import Attributes, NamedGraph
from golem.runtime.messages import quoted, shortened

if TYPE_CHECKING:
    import networkx as nx


# XML 1.0 has no way to write these, not even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Numbers without a point, such as 1e-05, which igraph writes and NetworkX cannot read; quoted text is not changed.
_POINTLESS = re.compile(r'"[^"]*"|#[^\n]*|(?<![\w.])(\d+)(?=[eE][+-]?\d)')
# Attributes with the name of a node whose id is only a number: igraph and Cytoscape write `name`, yEd, Gephi and GML
# `label`, and igraph `id` for nodes that it has read from a file.
_NAMING = ("name", "label", "id")


def write_graphml(graph: NamedGraph) -> str:
    """Return the text of a GraphML file; the names are the ids of the nodes."""
    import networkx as nx

    if bad := [name for name in (*graph.names, *graph.edge_columns) if _FORBIDDEN.search(name)]:
        raise ValueError(f"GraphML cannot store the control characters in {quoted(bad)}. Rename, or use gml or json.")
    return "\n".join(nx.generate_graphml(to_networkx(graph))) + "\n"


def read_graphml(text: str) -> NamedGraph:
    """Read the first graph of a GraphML file; undirected edges have both directions."""
    import networkx as nx

    # A few lines of entities can expand to gigabytes, or include another file.
    if "<!ENTITY" in text:
        raise ValueError("It declares XML entities, which a graph does not need. Remove them.")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"The XML is damaged: {error}.") from None
    # NetworkX would silently add a node for an unknown end of an edge.
    nodes = {node.get("id") for node in root.findall(".//{*}node")}
    ends = {edge.get(end) for edge in root.findall(".//{*}edge") for end in ("source", "target")}
    if None in nodes | ends:
        raise ValueError("A node has no id, or an edge has no source or target.")
    if unknown := sorted(str(end) for end in ends - nodes):
        raise ValueError(f"An edge has the end {quoted(unknown)}, which is not a node.")
    return read_with_networkx(nx.parse_graphml, text)


def write_gml(graph: NamedGraph) -> str:
    """Return the text of a GML file; names become labels of nodes, and column names become valid GML keys."""
    import networkx as nx

    names: dict[str, list[str]] = {}
    for name in graph.edge_columns:
        names.setdefault(_key(name), []).append(name)
    if same := next((together for together in names.values() if len(together) > 1), None):
        raise ValueError(
            f"GML cannot store the edge columns {quoted(same)} together: keys have only letters, digits and "
            f"underscores, and each column would become {_key(same[0])}. Rename them, or use graphml or json."
        )
    columns = {_key(name): column for name, column in graph.edge_columns.items()}
    return "\n".join(nx.generate_gml(to_networkx(dataclasses.replace(graph, edge_columns=columns)))) + "\n"


def write_dowhy(graph: NamedGraph) -> str:
    """Return the GML text that `dowhy.CausalModel(graph=...)` takes; refuse links, because DoWhy needs directions."""
    open_edges = [f"{one} --- {other}" for one, other in graph.links]
    if open_edges:
        raise ValueError(
            f"DoWhy needs a direction for every edge, but {len(open_edges)} have no evidence for theirs: "
            f"{shortened(open_edges, 4)}. Add what you know, such as tiers, or use the format gml."
        )
    if cycle := find_cycle(graph.adjacency):
        raise ValueError(f"DoWhy needs a graph without cycles; this one has {cycle_text(cycle, graph.names)}.")
    return write_gml(dataclasses.replace(graph, edge_columns={}, noise_variances=None, intercepts=None))


def _key(name: str) -> str:
    """Return a valid GML key for a column: an ASCII letter, then ASCII letters, digits and underscores."""
    key = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return key if key[:1].isalpha() else f"x{key}"


def read_gml(text: str) -> NamedGraph:
    """Read a GML file; unless it declares a directed graph, edges have both directions."""
    import networkx as nx

    with_points = _POINTLESS.sub(lambda found: f"{found[1]}." if found[1] else found[0], text)
    return read_with_networkx(lambda lines: nx.parse_gml(lines, label="id"), with_points)


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
