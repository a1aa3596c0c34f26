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
