"""Compiled labelling of the edges that all members of an equivalence class direct alike (Chickering 1995)."""

from __future__ import annotations

from typing import Any

from golem.search.jit import entry


@entry
def label_edges(order: Any, place: Any, first: Any, causes: Any, compelled: Any, seen: Any) -> None:
    """Label the compelled edges of a DAG; those into node j are `causes[first[j] : first[j + 1]]`.

    `place` has the place of each node in the topological order, and `seen` is scratch space of d numbers, all -1. See
    `golem.graphs.edges.Edges.find_reversible`.
    """
    for i in range(order.size):
        y = order[i]
        if first[y] == first[y + 1]:
            continue
        x = causes[first[y]]
        for e in range(first[y], first[y + 1]):
            seen[causes[e]] = y
            if place[causes[e]] > place[x]:
                x = causes[e]
        everything = False
        for e in range(first[x], first[x + 1]):
            if compelled[e] and seen[causes[e]] != y:
                everything = True
        if not everything:
            shared = 0
            for e in range(first[x], first[x + 1]):
                shared += seen[causes[e]] == y
            everything = shared + 1 < first[y + 1] - first[y]
        if everything:
            for e in range(first[y], first[y + 1]):
                compelled[e] = 1
            continue
        for e in range(first[x], first[x + 1]):
            if compelled[e]:
                for f in range(first[y], first[y + 1]):
                    if causes[f] == causes[e]:
                        compelled[f] = 1
