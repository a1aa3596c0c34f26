"""The members of an equivalence class, one undirected component of its CPDAG at a time.

The components are independent of each other: directing one does not restrict another. All nodes of a component have the
same parents outside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from golem.directions.equivalence_class import connected_edges
from golem.graphs.edges import Edges
from golem.runtime.types import BoolVector, Indices

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
    fixed = set(zip(edges.causes[known].tolist(), edges.children[known].tolist(), strict=True))
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
    for cause, child in zip(edges.causes.tolist(), edges.children.tolist(), strict=True):
        parents[child].append(cause)
    return parents
