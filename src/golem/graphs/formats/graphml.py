"""GraphML: XML that NetworkX, igraph, Cytoscape and Gephi read (Brandes et al. 2002)."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from golem.graphs.named_graph import NamedGraph
from golem.graphs.networkx_graphs import read_with_networkx, to_networkx
from golem.runtime.messages import quoted

# XML 1.0 has no way to write these, not even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_graphml(graph: NamedGraph) -> str:
    """Text of a GraphML file; the names are the ids of the nodes."""
    import networkx as nx

    if bad := [name for name in (*graph.names, *graph.edge_columns) if _FORBIDDEN.search(name)]:
        raise ValueError(f"GraphML cannot hold the control characters in {quoted(bad)}; rename, or use gml or json")
    return "\n".join(nx.generate_graphml(to_networkx(graph))) + "\n"


def read_graphml(text: str) -> NamedGraph:
    """Read the first graph of a GraphML file; an undirected edge stands for both directions."""
    import networkx as nx

    # A few lines of them can stand for gigabytes, or for another file.
    if "<!ENTITY" in text:
        raise ValueError("it declares XML entities, which a graph does not need; remove them")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"the XML is damaged: {error}") from None
    # NetworkX would make up a node for an end of an edge that is none.
    nodes = {node.get("id") for node in root.findall(".//{*}node")}
    ends = {edge.get(end) for edge in root.findall(".//{*}edge") for end in ("source", "target")}
    if None in nodes | ends:
        raise ValueError("a node has no id, or an edge no source or target")
    if strangers := sorted(str(end) for end in ends - nodes):
        raise ValueError(f"an edge names {quoted(strangers)}, which is none of the nodes")
    return read_with_networkx(nx.parse_graphml, text)
