"""Combine two graphs: the better one of every part in which they differ.

Searches of many nodes from different starts end in graphs that differ in small parts, of a few nodes each, and each of
them is better in some parts. The score is a sum over nodes, so that a graph can take over single parts of another one
as long as no cycle arises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from golem.graphs.edges import Edges
from golem.runtime.types import BoolVector, Vector

# Smaller differences of the cost are rounding errors.
_EQUAL = 1e-2


class CostedGraph(NamedTuple):
    """An order, the parents of every node, and what each node costs with them."""

    order: NDArray[np.int64]
    parents: Sequence[NDArray[np.int64]]
    costs: Vector


def take_better_parts(own: CostedGraph, other: CostedGraph) -> tuple[CostedGraph, BoolVector]:
    """Take over the parts of another graph that cost less.

    A part is a connected component of the nodes that have different parents. Returns the graph, which is `own` if no
    part of the other one is better, and the nodes of all parts with different costs, shape (d,).

    Examples
    --------
    In one graph 0 -> 1 is missing, in the other one 2 -> 3:

    >>> none, zero, two = (np.array(nodes, dtype=np.int64) for nodes in ([], [0], [2]))
    >>> order = np.arange(4)
    >>> first = CostedGraph(order, [none, none, none, two], np.array([0.0, 0.0, 0.0, -5.0]))
    >>> second = CostedGraph(order, [none, zero, none, none], np.array([0.0, -7.0, 0.0, 0.0]))
    >>> combined, differ = take_better_parts(first, second)
    >>> float(combined.costs.sum()), differ.tolist()
    (-12.0, [False, True, False, True])
    """
    part, number = _parts(own, other)
    inside = part >= 0
    gains = np.bincount(part[inside], weights=(own.costs - other.costs)[inside], minlength=number)
    differ = inside.copy()
    differ[inside] = np.abs(gains[part[inside]]) > _EQUAL
    for chosen in np.argsort(-gains, kind="stable"):
        if gains[chosen] <= _EQUAL:
            break
        taken = part == chosen
        parents = [
            theirs if take else mine for mine, theirs, take in zip(own.parents, other.parents, taken, strict=True)
        ]
        children = np.repeat(np.arange(len(parents)), [len(nodes) for nodes in parents])
        try:
            order = Edges(np.concatenate(parents), children, len(parents)).order(own.order)
        except ValueError:
            continue  # a cycle
        own = CostedGraph(order.astype(np.int64), parents, np.where(taken, other.costs, own.costs))
    return own, differ


def _parts(own: CostedGraph, other: CostedGraph) -> tuple[NDArray[np.int64], int]:
    """Return the part of every node, or -1 if its parents are the same in both graphs, and the number of parts."""
    pairs = zip(own.parents, other.parents, strict=True)
    differ = np.array([set(mine.tolist()) != set(theirs.tolist()) for mine, theirs in pairs])
    linked = [
        np.concatenate([mine, theirs]) if different else mine[:0]
        for mine, theirs, different in zip(own.parents, other.parents, differ, strict=True)
    ]
    ends = np.cumsum([0, *map(len, linked)])
    links = sparse.csr_array((np.ones(ends[-1]), np.concatenate(linked), ends), shape=(len(differ), len(differ)))
    nodes = np.flatnonzero(differ)
    number, labels = connected_components(links[nodes][:, nodes], directed=False)
    part = np.full(len(differ), -1, dtype=np.int64)
    part[nodes] = labels
    return part, number
