"""The members of an equivalence class, one undirected component of its CPDAG at a time.

The components are independent of each other: directing one does not restrict another. All nodes of a component have the
same parents outside it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from golem.directions.equivalence_class import connected_edges
from golem.graphs.edges import Edges
from golem.graphs.pdag import members
from golem.runtime.types import BoolMatrix, BoolVector, Indices

# Components that are not trees can have more members; then those with the highest scores are visited first.
MOST_MEMBERS = 300
# The parents of each node within the component, as bits.
Member = tuple[int, ...]
# A node and its parents within the component, as bits.
Family = tuple[int, int]
# The parents of each node within the component.
Parents = list[list[int]]


@dataclass(frozen=True, eq=False)
class Component:
    """A connected component of the undirected edges of a CPDAG.

    Parameters
    ----------
    nodes : ndarray of shape (m,)
        Its nodes.
    outside : ndarray of shape (k,)
        The parents outside the component, the same for all its nodes.
    lines : ndarray of shape (m, m), bool
        Its undirected edges. Symmetric.
    start : tuple of int
        A member: bit i of `start[j]` says whether i -> j.
    known : tuple of (int, int)
        Edges i -> j that are known.
    """

    nodes: Indices
    outside: Indices
    lines: BoolMatrix
    start: Member
    known: tuple[tuple[int, int], ...] = ()

    @property
    def edges(self) -> Indices:
        """The undirected edges i - j with i < j, of shape (e, 2)."""
        return np.argwhere(np.triu(self.lines))

    @property
    def is_tree(self) -> bool:
        """Whether there is one path between any two nodes."""
        return len(self.edges) == len(self.nodes) - 1

    def members(self, score: Callable[[int, int], float]) -> list[Member]:
        """Return the members with the known edges; `score(j, parents)` is the score of one node.

        A tree has one member per root, with all edges pointing away from it. Otherwise, members are found from one
        another by reversing covered edges (i -> j where the parents of j are i and the parents of i; Chickering 1995),
        from the highest score down; of very many, only the first `MOST_MEMBERS` are visited.
        """
        found = map(self._away_from, range(len(self.nodes))) if self.is_tree else self._search(score)
        return [member for member in found if all(member[j] >> i & 1 for i, j in self.known)]

    def _away_from(self, root: int) -> Member:
        """Return the member of a tree with this root."""
        parents, waiting = [0] * len(self.nodes), [root]
        while waiting:
            i = waiting.pop()
            for j in np.flatnonzero(self.lines[i]):
                if not parents[i] >> int(j) & 1:
                    parents[j] = 1 << i
                    waiting.append(int(j))
        return tuple(parents)

    def _search(self, score: Callable[[int, int], float]) -> list[Member]:
        """Visit members by reversing covered edges, the highest score first."""

        def total(member: Member) -> float:
            # Rounded, because rounding errors must not decide which members are visited.
            return round(-sum(score(j, parents) for j, parents in enumerate(member)), 6)

        seen: set[Member] = {self.start}
        visited: list[Member] = []
        waiting = [(total(self.start), self.start)]
        while waiting and len(visited) < MOST_MEMBERS:
            _, member = heapq.heappop(waiting)
            visited.append(member)
            for turned in _neighbours(member):
                if turned not in seen:
                    seen.add(turned)
                    heapq.heappush(waiting, (total(turned), turned))
        return visited


def _neighbours(member: Member) -> Iterator[Member]:
    """Yield the members that differ by the reversal of one covered edge."""
    for j, parents in enumerate(member):
        for i in places(parents):
            if parents == member[i] | 1 << i:
                turned = list(member)
                turned[j], turned[i] = member[i], member[i] | 1 << j
                yield tuple(turned)


def places(bits: int) -> list[int]:
    """Return the places of the bits that are set, in ascending order.

    Examples
    --------
    >>> places(0b1101)
    [0, 2, 3]
    """
    return list(members(bits))


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
    >>> whole.members(lambda j, parents: 0.0)
    [(0, 1, 2), (2, 0, 2), (2, 4, 0)]
    """
    parents = parent_lists(edges)
    fixed = set(zip(edges.causes[known].tolist(), edges.children[known].tolist(), strict=True))
    found = []
    for pairs in connected_edges(edges.causes[reversible], edges.children[reversible], rank):
        nodes = sorted({node for pair in pairs for node in pair}, key=rank.__getitem__)
        place = {node: k for k, node in enumerate(nodes)}
        lines, start = np.zeros((len(nodes), len(nodes)), dtype=bool), [0] * len(nodes)
        for i, j in pairs:
            lines[place[i], place[j]] = lines[place[j], place[i]] = True
            start[place[j]] |= 1 << place[i]
        outside = sorted(set(parents[nodes[0]]) - set(nodes), key=rank.__getitem__)
        given = tuple((place[i], place[j]) for i, j in pairs if (i, j) in fixed)
        found.append(Component(np.array(nodes), np.array(outside, dtype=np.intp), lines, tuple(start), given))
    return found


def parent_lists(edges: Edges) -> list[list[int]]:
    """Return the parents of every node."""
    parents: list[list[int]] = [[] for _ in range(edges.d)]
    for cause, child in zip(edges.causes.tolist(), edges.children.tolist(), strict=True):
        parents[child].append(cause)
    return parents
