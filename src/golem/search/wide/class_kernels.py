"""Compiled topological orders, and labels of edges that all members of a class direct alike (Chickering 1995)."""

from __future__ import annotations

from typing import Any

from golem.search.jit import entry


@entry
def sort_nodes(first: Any, children: Any, waiting: Any, order: Any) -> int:
    """Write a topological order of the nodes of a DAG; return how many are in it.

    The children of node i are `children[first[i] : first[i + 1]]`, and `waiting` has the numbers of parents.
    """
    size = 0
    for j in range(waiting.size):
        if waiting[j] == 0:
            order[size] = j
            size += 1
    done = size - size
    while done < size:
        i = order[done]
        done += 1
        for e in range(first[i], first[i + 1]):
            waiting[children[e]] -= 1
            if waiting[children[e]] == 0:
                order[size] = children[e]
                size += 1
    return size


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
