"""GraphML: XML that NetworkX, igraph, Cytoscape and Gephi read (Brandes et al. 2002)."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from golem.graphs.named_graph import FLAGS, NamedGraph
from golem.runtime.messages import quoted

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
# XML 1.0 has no way to write these, not even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_graphml(graph: NamedGraph) -> str:
    """Text of a GraphML file; the names are the ids of the nodes."""
    if bad := [name for name in (*graph.names, *graph.edge_columns) if _FORBIDDEN.search(name)]:
        raise ValueError(f"GraphML cannot hold the control characters in {quoted(bad)}; rename, or use gml or json")
    nodes, edges = graph.node_list(), graph.edge_list()
    # The ids must be plain words, which the names of columns need not be.
    keys = {("node", name): f"n{k}" for k, name in enumerate(nodes[0][1] if nodes else ())}
    columns = dict.fromkeys(name for _, _, attributes in edges for name in attributes)
    keys |= {("edge", name): f"e{k}" for k, name in enumerate(columns)}
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<graphml xmlns="{_NAMESPACE}">']
    for (kind, name), key in keys.items():
        type_ = "boolean" if name in FLAGS else "double"
        lines.append(f'  <key id="{key}" for="{kind}" attr.name="{_escaped(name)}" attr.type="{type_}"/>')
    lines.append('  <graph edgedefault="directed">')
    for node, attributes in nodes:
        lines += [f'    <node id="{_escaped(node)}">', *_data(attributes, keys, "node"), "    </node>"]
    for source, target, values in edges:
        lines.append(f'    <edge source="{_escaped(source)}" target="{_escaped(target)}">')
        lines += [*_data(values, keys, "edge"), "    </edge>"]
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _data(attributes: dict[str, Any], keys: dict[tuple[str, str], str], kind: str) -> list[str]:
    """Lines of the attributes of a node or an edge."""
    return [
        f'      <data key="{keys[kind, name]}">{str(value).lower() if name in FLAGS else repr(value)}</data>'
        for name, value in attributes.items()
    ]


def _escaped(text: str) -> str:
    """Escape what has a meaning in an attribute, white space too: a reader makes plain blanks of it otherwise."""
    return re.sub(r"[&<>\"\t\n\r\x7f-\x9f\u2028]", lambda found: f"&#{ord(found[0])};", text)


def read_graphml(text: str) -> NamedGraph:
    """Read the first graph of a GraphML file; an undirected edge stands for both directions."""
    try:
        root = ElementTree.fromstring(text.encode("utf-8"))
    except ElementTree.ParseError as error:
        raise ValueError(f"the XML is damaged: {error}") from None
    graph = root.find("{*}graph")
    if graph is None:
        raise ValueError("there is no graph in it")
    # The names of the attributes by the ids of their keys, and the values of those elements that do not say.
    names: dict[str, str] = {}
    defaults: dict[str, dict[str, str | None]] = {"node": {}, "edge": {}}
    for key in root.findall("{*}key"):
        name = key.get("attr.name", key.get("id", ""))
        names[key.get("id", "")] = name
        default = key.find("{*}default")
        for kind in ("node", "edge"):
            if default is not None and key.get("for") in (kind, "all"):
                defaults[kind][name] = default.text

    def attributes(element: ElementTree.Element, kind: str) -> dict[str, str | None]:
        given = ((data.get("key", ""), data.text) for data in element.findall("{*}data"))
        return defaults[kind] | {names.get(key, key): value for key, value in given}

    nodes = graph.findall("{*}node")
    edges = []
    for edge in graph.findall("{*}edge"):
        source, target = edge.get("source", ""), edge.get("target", "")
        edges.append((source, target, attributes(edge, "edge")))
        if edge.get("directed", str(graph.get("edgedefault") != "undirected").lower()) != "true":
            edges.append((target, source, attributes(edge, "edge")))
    return NamedGraph.from_lists(
        [node.get("id", "") for node in nodes], edges, [attributes(node, "node") for node in nodes]
    )
