"""Compiled copies of correlations: those between the candidates of each node."""

from __future__ import annotations

from typing import Any

from golem.search.jit import entry


@entry
def fill_blocks(S: Any, first: Any, others: Any, corner: Any, nodes: Any, blocks: Any) -> None:
    """Copy the correlations of the candidates of some nodes from S; those of node j begin at `corner[j]`."""
    for i in range(nodes.size):
        start, stop = first[nodes[i]], first[nodes[i] + 1]
        place = corner[nodes[i]]
        for a in range(start, stop):
            row = S[others[a]]
            for b in range(start, stop):
                blocks[place] = row[others[b]]
                place += 1
