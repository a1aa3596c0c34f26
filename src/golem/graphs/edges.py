"""Directed graphs as lists of edges: what a graph with few edges needs, without a (d, d) matrix."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.machine import require_memory
from golem.runtime.types import BoolMatrix, BoolVector, Indices


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a directed graph on the nodes 0 to d - 1: edge e leads from `causes[e]` to `children[e]`.

    Examples
    --------
    >>> chain = Edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> chain.order().tolist(), chain.find_reversible().tolist()
    ([0, 1, 2], [True, True])
    """

    causes: Indices
    children: Indices
    d: int

    @classmethod
    def from_matrix(cls, adjacency: BoolMatrix) -> Edges:
        """Return the edges of a matrix, sorted by cause, then child."""
        causes, children = np.nonzero(adjacency)
        return cls(causes, children, len(adjacency))

    def by_child(self) -> Edges:
        """Return the edges grouped by child, otherwise in the same order."""
        order = np.argsort(self.children, kind="stable")
        return Edges(self.causes[order], self.children[order], self.d)

    def __len__(self) -> int:
        return len(self.causes)

    def pairs(self, chosen: BoolVector | None = None) -> list[tuple[int, int]]:
        """Return the edges, or some of them, as pairs of cause and child."""
        some = slice(None) if chosen is None else chosen
        return list(zip(self.causes[some].tolist(), self.children[some].tolist(), strict=True))

    def matrix(self, values: NDArray[Any] | bool = True) -> NDArray[Any]:
        """Return a (d, d) matrix with the values of the edges, or True, at [cause, child], and zero elsewhere."""
        values = np.asarray(values)
        remedy = "Use the list of edges instead (graph_ of a fitted model)."
        require_memory(f"A matrix over {self.d} variables", self.d**2 * values.itemsize, remedy)
        matrix = np.zeros((self.d, self.d), dtype=values.dtype)
        matrix[self.causes, self.children] = values
        return matrix

    def order(self, preferred: NDArray[np.integer] | None = None) -> NDArray[np.intp]:
        """Return an order of the nodes, shape (d,), in which every edge points forward; refuse a graph with a cycle.

        Of the nodes that can come next, the first one in the `preferred` order does; by default the one with the lowest
        index.
        """
        nodes = list(range(self.d)) if preferred is None else np.asarray(preferred).tolist()
        rank = nodes if preferred is None else np.argsort(nodes).tolist()
        unplaced_parents = np.bincount(self.children, minlength=self.d).tolist()
        effects: list[list[int]] = [[] for _ in nodes]
        for cause, child in self.pairs():
            effects[cause].append(child)
        ready = [place for place, node in enumerate(nodes) if unplaced_parents[node] == 0]
        order: list[int] = []
        while ready:
            node = nodes[heapq.heappop(ready)]
            order.append(node)
            for child in effects[node]:
                unplaced_parents[child] -= 1
                if unplaced_parents[child] == 0:
                    heapq.heappush(ready, rank[child])
        if len(order) < self.d:
            raise ValueError("The graph has a directed cycle, so its nodes have no topological order.")
        return np.array(order, dtype=np.intp)

    def find_reversible(self) -> BoolVector:
        """Return for each edge whether members of the equivalence class disagree about its direction.

        This is Chickering's (1995) labelling of compelled edges. Nodes are visited in topological order, and the latest
        parent of a node labels all edges into it, so the cost is that of reading the edges. A graph with a cycle is
        refused.
        """
        order = self.order().tolist()
        place = dict(zip(order, range(self.d), strict=True))
        parents: list[set[int]] = [set() for _ in order]
        ends = self.pairs()
        for cause, child in ends:
            parents[child].add(cause)
        compelled: list[set[int]] = [set()] * self.d
        for y in order:
            if not parents[y]:
                continue
            x = max(parents[y], key=place.__getitem__)
            # With w -> x -> y and w, y not adjacent, or with a collider x -> y <- z, every edge into y is compelled.
            # Otherwise only edges that close a triangle over a compelled edge w -> x are.
            all_compelled = not compelled[x] <= parents[y] or not parents[y] - {x} <= parents[x]
            compelled[y] = parents[y] if all_compelled else compelled[x]
        return np.array([cause not in compelled[child] for cause, child in ends], dtype=bool)
