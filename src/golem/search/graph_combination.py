"""Combine two graphs: the better one of every component in which they differ.

Searches of many nodes from different starts end in graphs that differ in small components, of a few nodes each, and
each of them is better in some. The score is a sum over nodes, so that a graph can take over single components of
another one as long as no cycle arises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from golem.graphs.edges import Edges
from golem.runtime.types import BoolVector, Indices, Vector

# Smaller differences of the cost are rounding errors.
_EQUAL = 1e-2


class CostedGraph(NamedTuple):
    """An order, the edges of a graph, and what each node costs with its parents."""

    order: NDArray[np.int64]
    edges: Edges
    costs: Vector


def take_better_components(own: CostedGraph, other: CostedGraph) -> tuple[CostedGraph, BoolVector]:
    """Take over the components of another graph that cost less.

    These are the connected components of the nodes that have different parents. Returns the graph, which is `own` if no
    component of the other one is better, and the nodes of all components with different costs, shape (d,).

    Examples
    --------
    In one graph 0 -> 1 is missing, in the other one 2 -> 3:

    >>> order = np.arange(4)
    >>> first = CostedGraph(order, Edges(np.array([2]), np.array([3]), 4), np.array([0.0, 0.0, 0.0, -5.0]))
    >>> second = CostedGraph(order, Edges(np.array([0]), np.array([1]), 4), np.array([0.0, -7.0, 0.0, 0.0]))
    >>> combined, differ = take_better_components(first, second)
    >>> float(combined.costs.sum()), differ.tolist()
    (-12.0, [False, True, False, True])
    """
    component, number = _components(own.edges, other.edges)
    inside = component >= 0
    gains = np.bincount(component[inside], weights=(own.costs - other.costs)[inside], minlength=number)
    differ = inside.copy()
    differ[inside] = np.abs(gains[component[inside]]) > _EQUAL
    better = np.argsort(-gains, kind="stable")[: int((gains > _EQUAL).sum())]
    return _take(own, other, component, better), differ


def differing_nodes(one: Edges, other: Edges) -> Indices:
    """Return the nodes that have different parents in two graphs, ascending."""
    keys = np.setxor1d(one.children * one.d + one.causes, other.children * other.d + other.causes, assume_unique=True)
    return np.asarray(np.unique(keys // one.d))


def _take(own: CostedGraph, other: CostedGraph, component: NDArray[np.int64], chosen: Indices) -> CostedGraph:
    """Take over some components, those that gain most first; of components that would close a cycle, only the former.

    All are tried at once, and in halves if there is a cycle, because an order costs as much as reading all edges.
    """
    if not len(chosen):
        return own
    taken = np.isin(component, chosen)
    edges = _joined(own.edges, other.edges, taken)
    try:
        order = edges.order(own.order)
    except ValueError:  # a cycle
        if len(chosen) == 1:
            return own
        half = len(chosen) // 2
        return _take(_take(own, other, component, chosen[:half]), other, component, chosen[half:])
    return CostedGraph(order.astype(np.int64), edges, np.where(taken, other.costs, own.costs))


def _joined(own: Edges, other: Edges, taken: BoolVector) -> Edges:
    """Return the edges of `other` into the nodes taken, and those of `own` into all others, grouped by child."""
    mine, theirs = ~taken[own.children], taken[other.children]
    causes = np.concatenate([own.causes[mine], other.causes[theirs]])
    children = np.concatenate([own.children[mine], other.children[theirs]])
    return Edges(causes, children, own.d).by_child()


def _components(own: Edges, other: Edges) -> tuple[NDArray[np.int64], int]:
    """Return the component of every node, or -1 if it has the same parents in both graphs, and their number."""
    nodes, component = differing_nodes(own, other), np.full(own.d, -1, dtype=np.int64)
    component[nodes] = np.arange(len(nodes))
    children, causes = (
        component[np.concatenate(ends)] for ends in ((own.children, other.children), (own.causes, other.causes))
    )
    both = (children >= 0) & (causes >= 0)
    links = sparse.csr_array((np.ones(both.sum()), (children[both], causes[both])), shape=(len(nodes), len(nodes)))
    number, labels = connected_components(links, directed=False)
    component[nodes] = labels
    return component, number
