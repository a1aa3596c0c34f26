"""GML, the Graph Modelling Language (Himsolt 1996), which NetworkX, igraph and DoWhy read."""

from __future__ import annotations

import dataclasses
import re

from golem.graphs.named_graph import FLAGS, NamedGraph
from golem.graphs.networkx_graphs import read_with_networkx, to_networkx
from golem.runtime.messages import quoted

# A number such as 1e-05, which igraph writes and NetworkX reads with a point alone; what is quoted is left as it is.
_POINTLESS = re.compile(r'"[^"]*"|#[^\n]*|(?<![\w.])(\d+)(?=[eE][+-]?\d)')


def write_gml(graph: NamedGraph) -> str:
    """Text of a GML file; the names are the labels of the nodes, those of columns are turned into keys of GML."""
    import networkx as nx

    # What falls together with the name of a flag would be read as one.
    names: dict[str, list[str]] = {}
    for name in dict.fromkeys([*FLAGS, *graph.edge_columns]):
        names.setdefault(_key(name), []).append(name)
    if same := next((together for together in names.values() if len(together) > 1), None):
        raise ValueError(
            f"GML cannot hold the columns {quoted(same)} of the edges side by side: its keys are of letters, digits "
            f"and underscores, and each would be {_key(same[0])}; rename, or use graphml or json"
        )
    columns = {_key(name): column for name, column in graph.edge_columns.items()}
    return "\n".join(nx.generate_gml(to_networkx(dataclasses.replace(graph, edge_columns=columns)))) + "\n"


def _key(name: str) -> str:
    """Turn the name of a column into a key of GML: a letter, then letters, digits and underscores, all of ASCII."""
    key = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return key if key[:1].isalpha() else f"x{key}"


def read_gml(text: str) -> NamedGraph:
    """Read a GML file; where the graph is not said to be directed, an edge stands for both directions."""
    import networkx as nx

    with_points = _POINTLESS.sub(lambda found: f"{found[1]}." if found[1] else found[0], text)
    return read_with_networkx(lambda lines: nx.parse_gml(lines, label="id"), with_points)
