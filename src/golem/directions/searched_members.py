"""The members of a component that is not a tree, as far as the search visits them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from golem.directions.members import Component, Family, Parents, places
from golem.runtime.types import BoolVector, Matrix


class SearchedMembers:
    """Some or all members of a component, and sums of the scores of their nodes.

    Parameters
    ----------
    component : Component
        The component.
    score : callable
        `score(j, parents)` is the score of a node; the search visits the members with the highest scores first.

    Attributes
    ----------
    families : list of (int, int)
        A node and its parents, as bits, for each family that some members have and others do not.
    """

    def __init__(self, component: Component, score: Callable[[int, int], float]) -> None:
        self._members = component.members(score)
        changing = [j for j in range(len(component.nodes)) if len({member[j] for member in self._members}) > 1]
        numbers: dict[Family, int] = {}
        self._uses = [[numbers.setdefault((j, one[j]), len(numbers)) for j in changing] for one in self._members]
        self.families = list(numbers)
        edges = component.edges.tolist()
        self._forward = np.array([[one[j] >> i & 1 for i, j in edges] for one in self._members], dtype=bool)

    def __len__(self) -> int:
        return len(self._members)

    def totals(self, scores: Matrix) -> Matrix:
        """Return the score of each member, up to a constant, for rows of scores of the `families`."""
        return np.array([scores[:, uses].sum(axis=1) for uses in self._uses]).T

    def evidence(self, totals: Matrix) -> Matrix:
        """Return, for each row of member scores, the evidence for i -> j of every edge; negative for j -> i.

        This is the score of the best member with i -> j minus that of the best member with j -> i, and 0 if all members
        agree.
        """
        found = np.zeros((len(totals), self._forward.shape[1]))
        for e, forward in enumerate(self._forward.T):
            if forward.any() and not forward.all():
                found[:, e] = totals[:, forward].max(axis=1) - totals[:, ~forward].max(axis=1)
        return found

    def opponents(self, edge: int, member: int) -> BoolVector:
        """Return which members have an edge the other way than `member`."""
        return np.asarray(self._forward[:, edge] != self._forward[member, edge])

    def parents(self, member: int) -> Parents:
        """Return the parents of every node in a member."""
        return [places(parents) for parents in self._members[member]]

    def differing(self, first: int, second: int) -> list[tuple[int, list[int], list[int]]]:
        """Return the nodes whose parents differ between two members, with their parents in both."""
        both = zip(self._members[first], self._members[second], strict=True)
        return [(j, places(ours), places(theirs)) for j, (ours, theirs) in enumerate(both) if ours != theirs]
