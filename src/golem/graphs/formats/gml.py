"""GML, the Graph Modelling Language (Himsolt 1996), which NetworkX, igraph and DoWhy read."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from golem.graphs.named_graph import FLAGS, NamedGraph
from golem.runtime.messages import quoted

_TOKEN = re.compile(r'#[^\n]*|"[^"]*"|[\[\]"]|[^\s"\[\]]+')


def write_gml(graph: NamedGraph) -> str:
    """Text of a GML file; the names are the labels of the nodes, those of columns are turned into keys of GML."""
    # What falls together with the name of a flag would be read as one.
    names: dict[str, list[str]] = {}
    for name in dict.fromkeys([*FLAGS, *graph.edge_columns]):
        names.setdefault(_key(name), []).append(name)
    if same := next((together for together in names.values() if len(together) > 1), None):
        raise ValueError(
            f"GML cannot hold the columns {quoted(same)} of the edges side by side: its keys are of letters, digits "
            f"and underscores, and each would be {_key(same[0])}; rename, or use graphml or json"
        )
    number = {name: position for position, name in enumerate(graph.names)}
    lines = ["graph [", "  directed 1"]
    for node, attributes in graph.node_list():
        lines += ["  node [", f"    id {number[node]}", f'    label "{_escaped(node)}"', *_pairs(attributes), "  ]"]
    for source, target, values in graph.edge_list():
        lines += ["  edge [", f"    source {number[source]}", f"    target {number[target]}", *_pairs(values), "  ]"]
    return "\n".join([*lines, "]"]) + "\n"


def _pairs(attributes: dict[str, Any]) -> list[str]:
    """Lines of the attributes; GML knows no true and false."""
    return [f"    {_key(name)} {int(value) if name in FLAGS else _real(value)}" for name, value in attributes.items()]


def _key(name: str) -> str:
    """Turn the name of a column into a key of GML: a letter, then letters, digits and underscores, all of ASCII."""
    key = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return key if key[:1].isalpha() else f"x{key}"


def _real(value: float) -> str:
    """Write a number with the decimal point that GML demands of a real."""
    mantissa, mark, exponent = repr(value).partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark.upper()}{exponent}"


def _escaped(text: str) -> str:
    """Escape what is not printable ASCII, and quotes, as GML does: by the references of HTML."""
    return re.sub(r"[^ -~]|[&\"]", lambda found: f"&#{ord(found[0])};", text)


def _unescaped(text: str) -> str:
    """Put characters for the references to them; `html.unescape` would alter those to control characters."""

    def character(found: re.Match[str]) -> str:
        decimal, hexadecimal = found.groups()
        if decimal or hexadecimal:
            return chr(int(decimal) if decimal else int(hexadecimal, 16))
        return html.unescape(found[0])

    return re.sub(r"&#(\d+);|&#x([0-9a-fA-F]+);|&\w+;", character, text)


def read_gml(text: str) -> NamedGraph:
    """Read a GML file; where the graph is not said to be directed, an edge stands for both directions."""
    content = _block(_tokens(text), inner=False)
    graph = _last(content, "graph", [])
    if not isinstance(graph, list) or not graph:
        raise ValueError("there is no graph in it")
    nodes = [dict(block) for key, block in graph if key == "node"]
    names = {str(node.get("id")): str(node.get("label", node.get("id"))) for node in nodes}
    if len(names) < len(nodes):
        raise ValueError("nodes have no id, or one that repeats")
    directed, edges = str(_last(graph, "directed", "0")) == "1", []
    for edge in (dict(block) for key, block in graph if key == "edge"):
        try:
            source, target = names[str(edge["source"])], names[str(edge["target"])]
        except KeyError as error:
            raise ValueError(f"an edge has no source or target among the nodes ({error})") from None
        edges.append((source, target, edge))
        if not directed:
            edges.append((target, source, edge))
    return NamedGraph.from_lists(names.values(), edges, nodes)


def _last(block: list[tuple[str, Any]], key: str, default: Any) -> Any:
    """Return the value of a key of a block."""
    return dict(block).get(key, default)


def _tokens(text: str) -> Iterator[str]:
    """Cut the text into keys, values and brackets, without comments."""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token == '"':
            raise ValueError("a quotation mark is not closed")
        if not token.startswith("#"):
            yield token


def _block(tokens: Iterator[str], inner: bool) -> list[tuple[str, Any]]:
    """Read pairs of keys and values up to the closing bracket; a value in brackets is such a list again."""
    pairs: list[tuple[str, Any]] = []
    for key in tokens:
        if key == "]" and inner:
            return pairs
        value = next(tokens, "]")
        if key in ("[", "]") or key.startswith('"') or value == "]":
            raise ValueError(f"expected a key and its value, and found {key} {value}")
        if value == "[":
            pairs.append((key, _block(tokens, inner=True)))
        else:
            pairs.append((key, _unescaped(value[1:-1]) if value.startswith('"') else value))
    if inner:
        raise ValueError("the file ends before a bracket is closed")
    return pairs
