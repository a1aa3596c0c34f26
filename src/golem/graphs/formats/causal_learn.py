"""The text format of causal-learn and Tetrad, written by `str(graph)` and read by `txt2generalgraph`."""

from __future__ import annotations

import re

from golem.graphs.named_graph import NamedGraph
from golem.runtime.messages import quoted

_EDGE = re.compile(r"\d+\. (\S+) ([-<o]-[->o]) (\S+)")


def write_causal_learn(graph: NamedGraph) -> str:
    """Return the text of a graph; a pair with edges in both directions is undirected."""
    # causal-learn splits lines at blanks and lists of nodes at semicolons, without a way to quote.
    if bad := [name for name in graph.names if ";" in name or name.split() != [name]]:
        raise ValueError(
            f"the format of causal-learn cannot store names with blanks or semicolons: {quoted(bad)}. Rename them, or "
            "use golem.output.to_causal_learn, which returns a graph object."
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
    """Read directed and undirected edges; refuse marks of hidden common causes (<->, o->)."""
    lines = [line.strip() for line in text.splitlines()]
    nodes = lines[lines.index("Graph Nodes:") + 1].split(";")
    edges: list[tuple[str, str, dict[str, float]]] = []
    for line in lines:
        found = _EDGE.fullmatch(line)
        if found is None:
            continue
        first, ends, second = found.groups()
        if ends not in ("-->", "<--", "---"):
            raise ValueError(f"the edge {line!r} marks a hidden common cause, which a DAG cannot have")
        edges += [(first, second, {})] if ends != "<--" else []
        edges += [(second, first, {})] if ends != "-->" else []
    return NamedGraph.from_lists(nodes, edges)
