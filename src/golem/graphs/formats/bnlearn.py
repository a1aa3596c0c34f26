"""Model strings of the R package bnlearn: `[a][b|a][c|a:b]`, without weights."""

from __future__ import annotations

import re

from golem.graphs.dag import is_dag
from golem.graphs.named_graph import NamedGraph
from golem.runtime.messages import quoted
from golem.runtime.problems import ProblemError

BEGINS = r'(?:\[[^\[\]|"]+(?:\|[^\[\]|"]*)?\]\s*)+\Z'
_NODE = re.compile(r"\[([^\[\]|]+)(?:\|([^\[\]|]*))?\]")


def write_bnlearn(graph: NamedGraph) -> str:
    """Return the model string of a DAG, for model2network."""
    if bad := [name for name in graph.names if re.search(r'[\[\]|:"\n\r]', name) or name != name.strip()]:
        raise ValueError(
            "bnlearn cannot store brackets, bars, colons, quotation marks, line breaks and outer blanks: "
            f"{quoted(bad)}."
        )
    if not is_dag(graph.adjacency):
        raise ProblemError.of(
            "A model string of bnlearn is a DAG. Export without {cpdag=True}, or use dagitty or pcalg."
        )
    parents: dict[str, list[str]] = {name: [] for name in graph.names}
    for source, target, _ in graph.edge_list():
        parents[target].append(source)
    return "".join(f"[{name}{'|' * bool(into)}{':'.join(into)}]" for name, into in parents.items()) + "\n"


def read_bnlearn(text: str) -> NamedGraph:
    """Read a model string."""
    found = [(match[1].strip(), match[2]) for match in _NODE.finditer(text)]
    pairs = [(parent.strip(), name) for name, parents in found for parent in (parents or "").split(":") if parent]
    return NamedGraph.from_lists([name for name, _ in found], [(*pair, {}) for pair in pairs])
