"""The text of causal-learn's graphs (and Tetrad's): `str(graph)` writes it, `txt2generalgraph` reads it."""

from __future__ import annotations

import re

from golem.graphs.named_graph import NamedGraph
from golem.runtime.messages import quoted

_EDGE = re.compile(r"\d+\. (\S+) ([-<o]-[->o]) (\S+)")


def write_causal_learn(graph: NamedGraph) -> str:
    """Text of the nodes and edges; a pair with edges both ways is undirected."""
    # causal-learn cuts lines at blanks and lists of nodes at semicolons, and has no way to quote.
    if bad := [name for name in graph.names if ";" in name or name.split() != [name]]:
        raise ValueError(
            f"causal-learn's text cannot hold blanks or semicolons, as in {quoted(bad)}; rename, or use "
            "golem.output.export.to_causal_learn, which makes the object"
        )
    directed = {(source, target) for source, target, _ in graph.edge_list()}
    lines = ["Graph Nodes:", ";".join(graph.names), "", "Graph Edges:"]
    where = {name: position for position, name in enumerate(graph.names)}
    for source, target, _ in graph.edge_list():
        undirected = (target, source) in directed
        if not undirected or where[source] < where[target]:
            lines.append(f"{len(lines) - 3}. {source} {'---' if undirected else '-->'} {target}")
    return "\n".join(lines) + "\n"


def read_causal_learn(text: str) -> NamedGraph:
    """Read directed and undirected edges; marks of hidden common causes (<->, o->) are refused."""
    lines = [line.strip() for line in text.splitlines()]
    nodes = lines[lines.index("Graph Nodes:") + 1].split(";")
    edges: list[tuple[str, str, dict[str, float]]] = []
    for line in lines:
        found = _EDGE.fullmatch(line)
        if found is None:
            continue
        first, ends, second = found.groups()
        if ends not in ("-->", "<--", "---"):
            raise ValueError(f"the edge {line!r} stands for a hidden common cause, which no linear DAG has")
        edges += [(first, second, {})] if ends != "<--" else []
        edges += [(second, first, {})] if ends != "-->" else []
    return NamedGraph.from_lists(nodes, edges)
