"""Edge directions that the equivalence class leaves open, its undirected components, and random members.

The components are independent of each other: directing one does not restrict another. All nodes of a component have the
same parents outside it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from golem.data.knowledge import Knowledge
from golem.graphs.dag import member_of_class
from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag
from golem.runtime.types import BoolMatrix, BoolVector, Indices, Vector


def known_edges(edges: Edges, knowledge: Knowledge) -> BoolVector:
    """Return for each edge whether it is required or its reverse is forbidden."""
    if knowledge.is_empty:
        return np.zeros(len(edges), dtype=bool)
    causes, children = edges.causes, edges.children
    return np.asarray(knowledge.required[causes, children] | knowledge.forbidden[children, causes])


def open_edges(edges: Edges, reversible: BoolVector, knowledge: Knowledge) -> BoolVector:
    """Return for each edge whether its direction is decided neither by the equivalence class nor by knowledge."""
    if knowledge.is_empty:
        return reversible
    return open_after(edges, reversible, known_edges(edges, knowledge))


def open_after(edges: Edges, undirected: BoolVector, decided: BoolVector) -> BoolVector:
    """Return which undirected edges stay so if some are decided, with all directions that follow (Meek 1995)."""
    graph = Pdag.from_edges(edges, undirected & ~decided)
    graph.close(fourth=True)
    return np.array([bool(graph.neighbours[i] >> j & 1) for i, j in edges.pairs()], dtype=bool)


def connected_edges(causes: Indices, children: Indices, rank: Indices) -> list[list[tuple[int, int]]]:
    """Return the edges of each connected component, sorted by the ranks of their ends."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(causes):
        return []
    graph = coo_array((np.ones(len(causes), dtype=bool), (causes, children)), shape=(len(rank), len(rank)))
    _, labels = connected_components(graph, directed=False)
    order = np.lexsort((rank[children], rank[causes], labels[causes]))
    begins = np.flatnonzero(np.diff(labels[causes[order]])) + 1
    pairs = list(zip(causes[order].tolist(), children[order].tolist(), strict=True))
    return [pairs[i:j] for i, j in itertools.pairwise([0, *begins.tolist(), len(pairs)])]


def random_member(adjacency: BoolMatrix, undecided: BoolMatrix, rng: np.random.Generator) -> BoolMatrix:
    """Return a random member of the equivalence class: undecided edges point away from a random root.

    If the undecided edges form a tree, all members are equally likely. Otherwise every member can still be drawn.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> members = {random_member(chain, chain, np.random.default_rng(k)).tobytes() for k in range(20)}
    >>> len(members)
    3
    """
    graph = adjacency | undecided.T
    distance = _steps_from_random_roots(undecided | undecided.T, rng)
    # `member_of_class` removes sinks first, the one with the lowest index first: distant nodes get low indices.
    order = np.lexsort((rng.random(len(graph)), -distance))
    block = np.ix_(order, order)
    member = np.zeros_like(graph)
    member[block] = member_of_class(graph[block])
    return member


def _steps_from_random_roots(undirected: BoolMatrix, rng: np.random.Generator) -> Vector:
    """Return the distance of every node to a random root of its component, shape (d,)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    graph, nodes = csr_array(undirected), rng.permutation(len(undirected))
    _, labels = connected_components(graph, directed=False)
    _, first = np.unique(labels[nodes], return_index=True)
    return np.asarray(dijkstra(graph, indices=nodes[first], unweighted=True, min_only=True))


# The parents of each node within a component.
Parents = list[list[int]]
# A node and its parents.
Family = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Component:
    """A connected component of the undirected edges of a CPDAG.

    Parameters
    ----------
    nodes : ndarray of shape (m,)
        Its nodes.
    outside : ndarray of shape (k,)
        The parents outside the component, the same for all its nodes.
    parents : list of list of int
        The parents of each node within the component, in one member of the class.
    known : tuple of (int, int)
        Edges i -> j of this member that are known.
    """

    nodes: Indices
    outside: Indices
    parents: Parents
    known: tuple[tuple[int, int], ...] = ()

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The undirected edges i - j with i < j, sorted."""
        return sorted((min(i, j), max(i, j)) for j, parents in enumerate(self.parents) for i in parents)


def components(edges: Edges, reversible: BoolVector, known: BoolVector, rank: Indices) -> list[Component]:
    """Return the components of the CPDAG of a graph.

    Parameters
    ----------
    edges : Edges
        The edges of a DAG.
    reversible, known : ndarray of shape (e,), bool
        For each edge: whether the class leaves its direction open, and whether it is known nevertheless.
    rank : ndarray of shape (d,)
        The order of the nodes within a component.

    Examples
    --------
    >>> chain, none = Edges(np.array([0, 1]), np.array([1, 2]), 3), np.zeros(2, dtype=bool)
    >>> whole, = components(chain, ~none, none, np.arange(3))
    >>> whole.edges
    [(0, 1), (1, 2)]
    """
    parents = parent_lists(edges)
    fixed = set(edges.pairs(known))
    found = []
    for pairs in connected_edges(edges.causes[reversible], edges.children[reversible], rank):
        nodes = sorted({node for pair in pairs for node in pair}, key=rank.__getitem__)
        place = {node: k for k, node in enumerate(nodes)}
        inside: Parents = [[] for _ in nodes]
        for i, j in pairs:
            inside[place[j]].append(place[i])
        outside = sorted(set(parents[nodes[0]]) - set(nodes), key=rank.__getitem__)
        given = tuple((place[i], place[j]) for i, j in pairs if (i, j) in fixed)
        found.append(Component(np.array(nodes), np.array(outside, dtype=np.intp), inside, given))
    return found


def parent_lists(edges: Edges) -> list[list[int]]:
    """Return the parents of every node."""
    parents: list[list[int]] = [[] for _ in range(edges.d)]
    for cause, child in edges.pairs():
        parents[child].append(cause)
    return parents
