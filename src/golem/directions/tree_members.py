"""The members of a component that is a tree, and the best of them on either side of each edge.

A tree has one member per root: all edges point away from it. Moving the root along an edge changes the parents of its
two ends only. So the scores of all m members, and the best members on the two sides of all edges, take O(m) steps.
"""

from __future__ import annotations

import itertools

import numpy as np

from golem.directions.members import Component, Family, Parents
from golem.runtime.types import BoolVector, Indices, Matrix


class TreeMembers:
    """The members of a tree, numbered by their roots; see `SearchedMembers` for the methods.

    Parameters
    ----------
    component : Component
        A component with m nodes and m - 1 edges.
    """

    def __init__(self, component: Component) -> None:
        self._order, self._above = _walk(component)
        self._begin = np.empty(len(self._order), dtype=np.intp)
        self._begin[self._order] = np.arange(len(self._order))
        self._end = self._begin + 1  # the nodes below j, and j, are order[begin[j]:end[j]]
        for j in self._order[:0:-1]:
            self._end[self._above[j]] = max(self._end[self._above[j]], self._end[j])
        self._edges = component.edges
        self._lower = np.array([j if self._above[j] == i else i for i, j in self._edges.tolist()], dtype=np.intp)
        self._is_member = np.ones(len(self._order), dtype=bool)
        for i, j in component.known:
            self._is_member &= ~self._below(j) if self._above[j] == i else self._below(i)
        self.families: list[Family] = []
        for j in self._order.tolist():
            i = int(self._above[j])
            self.families += [(j, 0), *([(j, 1 << i), (i, 1 << j)] if i >= 0 else [])]

    def __len__(self) -> int:
        return int(self._is_member.sum())

    def totals(self, scores: Matrix) -> Matrix:
        """Return the score of each member, up to a constant, for rows of scores of the `families`."""
        first, rest = scores[:, 0], scores[:, 1:].reshape(len(scores), -1, 3)
        alone = np.column_stack([first, rest[:, :, 0]])[:, self._begin]
        total = np.zeros(alone.shape)
        for k, j in enumerate(self._order[1:].tolist()):
            i = self._above[j]
            total[:, j] = total[:, i] + rest[:, k, 2] + alone[:, j] - alone[:, i] - rest[:, k, 1]
        total[:, ~self._is_member] = -np.inf
        return total

    def evidence(self, totals: Matrix) -> Matrix:
        """Return the evidence for i -> j of every edge, of shape (rows, edges)."""
        below = totals.copy()
        for j in self._order[:0:-1].tolist():
            i = self._above[j]
            np.maximum(below[:, i], below[:, j], out=below[:, i])
        walked = np.column_stack([np.full(len(totals), -np.inf), totals[:, self._order]])
        before = np.maximum.accumulate(walked, axis=1)
        after = np.maximum.accumulate(np.roll(walked, -1, axis=1)[:, ::-1], axis=1)[:, ::-1]
        lower = self._lower
        outside = np.maximum(before[:, self._begin[lower]], after[:, self._end[lower]])
        inside = below[:, lower]
        judged = np.isfinite(outside) & np.isfinite(inside)
        downward = np.where(judged, outside, 0.0) - np.where(judged, inside, 0.0)
        return np.asarray(np.where(self._edges[:, 1] == lower, downward, -downward))

    def opponents(self, edge: int, member: int) -> BoolVector:
        """Return which members have an edge the other way than `member`."""
        inside = self._below(int(self._lower[edge]))
        return np.asarray(self._is_member & (inside != inside[member]))

    def parents(self, member: int) -> Parents:
        """Return the parents of every node in a member."""
        found = [[i] if i >= 0 else [] for i in self._above.tolist()]
        for j, i in itertools.pairwise(self._upward(member)):
            found[i] = [j]
        found[member] = []
        return found

    def differing(self, first: int, second: int) -> list[tuple[int, list[int], list[int]]]:
        """Return the nodes whose parents differ between two members, with their parents in both."""
        up, down = self._upward(first), self._upward(second)
        shared = len(set(up) & set(down))  # the ends of both, from the node where they meet on
        path = up[: len(up) - shared + 1] + down[: len(down) - shared][::-1]
        return [(j, path[max(k - 1, 0) : k], path[k + 1 : k + 2]) for k, j in enumerate(path)]

    def _below(self, j: int) -> BoolVector:
        """Return which nodes are j or below it."""
        return np.asarray((self._begin >= self._begin[j]) & (self._begin < self._end[j]))

    def _upward(self, j: int) -> list[int]:
        """Return the nodes from j up to the first one."""
        path = [j]
        while (above := int(self._above[path[-1]])) >= 0:
            path.append(above)
        return path


def _walk(component: Component) -> tuple[Indices, Indices]:
    """Return the nodes of a tree such that those below a node follow it, and the node above each (-1: none)."""
    neighbours = [np.flatnonzero(line).tolist() for line in component.lines]
    above, order, waiting = np.full(len(neighbours), -1), [], [0]
    while waiting:
        i = waiting.pop()
        order.append(i)
        below = [j for j in neighbours[i] if j != above[i]]
        above[below] = i
        waiting += below
    return np.array(order), above
