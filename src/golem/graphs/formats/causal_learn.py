"""The text format of causal-learn and Tetrad, written by `str(graph)` and read by `txt2generalgraph`."""

from __future__ import annotations

import re

from golem.graphs.named_graph import NamedGraph
from golem.runtime.messages import quoted

_NUMBERED = re.compile(r"\d+\.\s")
_EDGE = re.compile(r"\d+\.\s+(\S.*?)\s+([-<o]-[->o])\s+(\S.*)")


def write_causal_learn(graph: NamedGraph) -> str:
    """Return the text of a graph; links, and pairs with edges in both directions, are undirected."""
    # causal-learn splits lines at blanks and lists of nodes at semicolons, without a way to quote.
    # A list of one node with a comma would be two nodes.
    marks = ";" if len(graph.names) > 1 else ";,"
    if bad := [name for name in graph.names if any(mark in name for mark in marks) or name.split() != [name]]:
        raise ValueError(
            f"The format of causal-learn cannot store names with blanks or semicolons: {quoted(bad)}. Rename them, or "
            "use golem.output.to_causal_learn, which returns a graph object."
        )
    graph = graph.partially_directed()
    directed = {(source, target) for source, target, _ in graph.edge_list()}
    lines = ["Graph Nodes:", ";".join(graph.names), "", "Graph Edges:"]
    where = {name: position for position, name in enumerate(graph.names)}
    for source, target, _ in graph.edge_list():
        undirected = (target, source) in directed
        if not undirected or where[source] < where[target]:
            lines.append(f"{len(lines) - 3}. {source} {'---' if undirected else '-->'} {target}")
    return "\n".join(lines) + "\n"


def read_causal_learn(text: str) -> NamedGraph:
    """Read directed and undirected edges; refuse marks of hidden common causes (<->, o->).

    Tetrad separates nodes by commas in older versions, and adds properties such as `dd nl` after edges in newer ones.
    Names may have blanks.
    """
    lines = [line.strip() for line in text.splitlines()]
    begin = lines.index("Graph Edges:") if "Graph Edges:" in lines else len(lines)
    listed = lines[lines.index("Graph Nodes:") + 1]
    nodes = [name.strip() for name in listed.split(";" if ";" in listed else ",")]
    edges: list[tuple[str, str, dict[str, float]]] = []
    for line in lines[begin:]:
        if _NUMBERED.match(line) is None:
            continue
        found = _EDGE.fullmatch(line)
        if found is None:
            raise ValueError(f"The edge {line!r} cannot be read.")
        first, ends, rest = found.groups()
        if ends not in ("-->", "<--", "---"):
            raise ValueError(f"The edge {line!r} marks a hidden common cause, which a DAG cannot have.")
        second = _beginning(rest, nodes)
        edges += [(first, second, {})] if ends != "<--" else []
        edges += [(second, first, {})] if ends != "-->" else []
    return NamedGraph.from_lists(nodes, edges)


def _beginning(text: str, nodes: list[str]) -> str:
    """Return the longest name of a node with which a text begins, or its first word."""
    fitting = [node for node in nodes if text == node or text.startswith(f"{node} ")]
    return max(fitting, key=len) if fitting else text.split(maxsplit=1)[0]
