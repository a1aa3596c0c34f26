"""GML, the Graph Modelling Language (Himsolt 1996), which NetworkX, igraph and DoWhy read."""

from __future__ import annotations

import dataclasses
import re

from golem.graphs.named_graph import FLAGS, NamedGraph
from golem.graphs.networkx_graphs import read_with_networkx, to_networkx
from golem.runtime.messages import quoted

# Numbers without a point, such as 1e-05, which igraph writes and NetworkX cannot read; quoted text is not changed.
_POINTLESS = re.compile(r'"[^"]*"|#[^\n]*|(?<![\w.])(\d+)(?=[eE][+-]?\d)')


def write_gml(graph: NamedGraph) -> str:
    """Return the text of a GML file; names become labels of nodes, and column names become valid GML keys."""
    import networkx as nx

    # Flags are included, because a column with the same key would be read as a flag.
    names: dict[str, list[str]] = {}
    for name in dict.fromkeys([*FLAGS, *graph.edge_columns]):
        names.setdefault(_key(name), []).append(name)
    if same := next((together for together in names.values() if len(together) > 1), None):
        raise ValueError(
            f"GML cannot store the edge columns {quoted(same)} together: keys have only letters, digits and "
            f"underscores, and each column would become {_key(same[0])}. Rename them, or use graphml or json."
        )
    columns = {_key(name): column for name, column in graph.edge_columns.items()}
    return "\n".join(nx.generate_gml(to_networkx(dataclasses.replace(graph, edge_columns=columns)))) + "\n"


def _key(name: str) -> str:
    """Return a valid GML key for a column: an ASCII letter, then ASCII letters, digits and underscores."""
    key = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return key if key[:1].isalpha() else f"x{key}"


def read_gml(text: str) -> NamedGraph:
    """Read a GML file; unless it declares a directed graph, edges have both directions."""
    import networkx as nx

    with_points = _POINTLESS.sub(lambda found: f"{found[1]}." if found[1] else found[0], text)
    return read_with_networkx(lambda lines: nx.parse_gml(lines, label="id"), with_points)
