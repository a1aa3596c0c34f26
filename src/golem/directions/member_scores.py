"""The members of a component with each direction of each edge, for scores that are sums over the nodes.

Their scores are joined: by the maximum to find the best member, by `numpy.logaddexp` to sum probabilities. All members
are compared, except in components with cliques of more than `LARGEST_CLIQUE` + 1 nodes. Even there, some members with
each direction are compared, so that no direction seems undecided because members are left out. Sums are not valid there
(`Blocks.is_complete`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from golem.directions.class_members import Blocks, RootedSet, SourceChoice
from golem.directions.equivalence_class import Component, Family, Parents
from golem.runtime.types import Matrix, Vector


class MemberScores:
    """The joined scores of the members of a component, for rows of scores.

    Parameters
    ----------
    blocks : Blocks
        The blocks of a component with m nodes and e edges.
    scores : ndarray of shape (rows, families)
        The score of each family. That of a member is the sum over its nodes.
    join : ufunc
        Joins the scores of several members: `numpy.maximum` or `numpy.logaddexp`.

    Attributes
    ----------
    totals : ndarray of shape (rows, m)
        The joined score of the members with each source; -inf if no member has it.
    """

    def __init__(self, blocks: Blocks, scores: Matrix, join: np.ufunc) -> None:
        self._blocks, self._scores, self._join = blocks, scores, join
        self._values: dict[RootedSet, Vector] = {}
        self._parts: dict[RootedSet, Matrix] = {}
        for part in blocks.parts:
            totals = {source: self._total(choice) for source, choice in part.choices.items()}
            self._values[part] = join.reduce([np.full(len(scores), -np.inf), *totals.values()], axis=0)
            self._parts[part] = self._of_directions(part, totals)
        self.totals = self._of_sources(self._scores_in_blocks())

    @functools.cached_property
    def directions(self) -> Matrix:
        """The joined score of the members with each direction, shape (rows, 2 e); -inf if no member has it."""
        blocks = self._blocks
        found = np.full((len(self._scores), 2 * len(blocks.edges)), -np.inf)
        tops = blocks.slots[blocks.pairs]
        found[:, blocks.pair_directions] = self._sides[:, tops[:, None] + np.arange(2)]
        for b, part in blocks.large.items():
            totals = dict(zip(blocks.nodes[b], self._sides.T[blocks.slots[b] :], strict=False))
            found[:, part.directions] = self._of_directions(part, totals)
        return found

    def _total(self, choice: SourceChoice) -> Vector:
        """Return the joined score of the members with a source, without parents outside the block."""
        own = self._scores[:, choice.families].sum(axis=1)
        return np.asarray(own + sum(self._values[part] for part, _ in choice.parts))

    def _of_directions(self, part: RootedSet, totals: dict[int, Vector]) -> Matrix:
        """Return the joined scores with each direction of a part, given those with each source."""
        found = np.full((len(self._scores), len(part.directions)), -np.inf)
        for source, choice in part.choices.items():
            total = totals[source][:, None]
            if not np.isfinite(total).all():
                continue
            settled = part.settled_in(choice)
            found[:, settled] = self._join(found[:, settled], total)
            for smaller, where in choice.parts:
                rest = total - self._values[smaller][:, None]
                found[:, where] = self._join(found[:, where], rest + self._parts[smaller])
        return found

    def _scores_in_blocks(self) -> Matrix:
        """Return the joined scores in a block with each of its nodes as source, by slots; -inf if no member has it."""
        blocks = self._blocks
        inside = np.full((len(self._scores), blocks.slots[-1]), -np.inf)
        pairs = np.where(blocks.pair_forbidden, -np.inf, self._scores[:, blocks.pair_families])
        inside[:, blocks.slots[blocks.pairs][:, None] + np.arange(2)] = pairs
        for b, part in blocks.large.items():
            for slot, j in enumerate(blocks.nodes[b], blocks.slots[b]):
                if j in part.choices:
                    inside[:, slot] = self._total(part.choices[j])
        return inside

    def _of_sources(self, inside: Matrix) -> Matrix:
        """Return the joined score of the members with each source, in a walk over the blocks."""
        blocks = self._blocks
        # The last row counts the blocks that contradict what is known.
        impossible = np.isneginf(inside[:1])
        inside = np.vstack([np.where(impossible, 0.0, inside), impossible])
        alone = np.vstack([self._scores[:, blocks.alone], np.zeros(len(blocks.order))])
        tops, others = blocks.slots[:-1], blocks.order[1:]
        change = inside[:, blocks.slot_of[others]] - inside[:, tops[blocks.block_of[others]]]
        totals = np.empty(alone.shape).T
        totals[blocks.first] = alone[:, blocks.first] + inside[:, tops].sum(axis=1)
        totals[others] = (alone[:, others] - alone[:, blocks.above[others]] + change).T
        for j in others.tolist():
            totals[j] += totals[blocks.above[j]]
        totals[totals[:, -1] > 0.5] = -np.inf
        return np.asarray(totals.T[:-1])

    @functools.cached_property
    def _sides(self) -> Matrix:
        """The joined score of the members whose source is on the side of a node of a block, by slots."""
        blocks = self._blocks
        beyond = self.totals.T.copy()
        for j in blocks.order[:0:-1].tolist():
            i = blocks.above[j]
            self._join(beyond[i], beyond[j], out=beyond[i])
        walked = np.column_stack([np.full(len(self.totals), -np.inf), self.totals[:, blocks.order]])
        before = self._join.accumulate(walked, axis=1)
        after = self._join.accumulate(np.roll(walked, -1, axis=1)[:, ::-1], axis=1)[:, ::-1]
        sides = np.empty((len(walked), blocks.slots[-1]))
        sides[:, blocks.slot_of] = beyond.T  # the first node has no slot of its own, and is overwritten
        sides[:, blocks.slots[:-1]] = self._join(before[:, blocks.block_begin], after[:, blocks.block_end])
        return sides


class Member(NamedTuple):
    """The best member with a source and, if given, with one direction."""

    source: int
    direction: int | None = None


class BestMembers(MemberScores):
    """The best members of a component for rows of scores; see `MemberScores`."""

    def __init__(self, blocks: Blocks, scores: Matrix) -> None:
        super().__init__(blocks, scores, np.maximum)

    def evidence(self) -> Matrix:
        """Return the evidence for i -> j with i < j of every edge, of shape (rows, e); negative for j -> i.

        This is the score of the best member with i -> j minus that of the best member with j -> i, and 0 if all members
        agree.
        """
        along, against = self.directions[:, ::2], self.directions[:, 1::2]
        judged = np.isfinite(along) & np.isfinite(against)
        return np.asarray(np.where(judged, along, 0.0) - np.where(judged, against, 0.0))

    def best(self) -> Member:
        """Return the member with the highest score in the first row."""
        return Member(int(np.argmax(self.totals[0])))

    def best_with(self, direction: int) -> Member:
        """Return the best member with a direction, in the first row."""
        b = self._blocks.block_of_edge(direction // 2)
        entry = self._blocks.edges[direction // 2][direction % 2]
        if b in self._blocks.large:
            part, slot = self._blocks.large[b], self._blocks.slots[b]
            sides = dict(zip(self._blocks.nodes[b], self._sides[0, slot:], strict=False))
            entry = max(part.choices, key=lambda j: sides[j] + self._loss(part, part.choices[j], direction))
        side = self._blocks.side(b, entry)
        return Member(int(side[np.argmax(self.totals[0, side])]), direction)

    def parents(self, member: Member) -> Parents:
        """Return the parents of every node in a member."""
        found: Parents = [[] for _ in self._blocks.order]
        for b in range(len(self._blocks.nodes)):
            for j, parents in self._families(b, member).items():
                found[j] = list(parents)
        return found

    def differing(self, first: Member, second: Member) -> list[tuple[int, list[int], list[int]]]:
        """Return the nodes whose parents differ between two members, with their parents in both."""
        blocks = dict.fromkeys(self._blocks.crossed(first.source, second.source))
        given = (member.direction for member in (first, second) if member.direction is not None)
        blocks |= dict.fromkeys(self._blocks.block_of_edge(direction // 2) for direction in given)
        ours: dict[int, tuple[int, ...]] = {}
        theirs: dict[int, tuple[int, ...]] = {}
        for b in blocks:
            ours |= self._families(b, first)
            theirs |= self._families(b, second)
        nodes = sorted({*ours, *theirs})
        both = [(j, list(ours.get(j, ())), list(theirs.get(j, ()))) for j in nodes]
        return [(j, one, other) for j, one, other in both if one != other]

    def _loss(self, part: RootedSet, choice: SourceChoice, direction: int | None) -> float:
        """Return the change of a choice's score by the condition that it has a direction, in the first row."""
        if direction is None:
            return 0.0
        place = part.directions.index(direction)
        if place in part.settled_in(choice):
            return 0.0
        for smaller, where in choice.parts:
            if place in where:
                k = where.index(place)
                return float(self._parts[smaller][0, k] - self._values[smaller][0])
        return -np.inf

    def _families(self, b: int, member: Member) -> dict[int, tuple[int, ...]]:
        """Return the nodes of a block that have parents in it in a member, and these parents."""
        entry = self._blocks.entry(b, member.source)
        if b not in self._blocks.large:
            return {j: (entry,) for j in self._blocks.nodes[b] if j != entry}
        part = self._blocks.large[b]
        direction = member.direction if member.direction in part.directions else None
        return self._expanded(part.choices[entry], direction)

    def _expanded(self, choice: SourceChoice, direction: int | None) -> dict[int, tuple[int, ...]]:
        """Return the families of the best member of a choice."""
        found = dict(self._blocks.families[number] for number in choice.families)
        for part, _ in choice.parts:
            wanted = direction if direction in part.directions else None
            losses = [self._total(one)[0] + self._loss(part, one, wanted) for one in part.choices.values()]
            found |= self._expanded(list(part.choices.values())[int(np.argmax(losses))], wanted)
        return found


def cheapest_member(component: Component, costs: Callable[[list[Family]], Vector]) -> list[tuple[int, int]]:
    """Return the edges i -> j of the member of a component with the lowest costs; see `rises_of_cost`."""
    blocks = Blocks(component)
    members = BestMembers(blocks, -costs(global_families(component, blocks))[None])
    nodes = component.nodes.tolist()
    return [(nodes[i], nodes[j]) for j, own in enumerate(members.parents(members.best())) for i in own]


def rises_of_cost(found: Iterable[Component], costs: Callable[[list[Family]], Vector]) -> dict[tuple[int, int], float]:
    """Return for each direction i -> j how much more the best member with it costs than the given one.

    Parameters
    ----------
    found : iterable of Component
        Components of a CPDAG. The rise is inf if no member of a component has the direction.
    costs : callable
        Returns the costs of nodes given all their parents. Nodes have their numbers in the whole graph.
    """
    known = [(component, Blocks(component)) for component in found]
    left = costs([family for component, blocks in known for family in global_families(component, blocks)])
    rises: dict[tuple[int, int], float] = {}
    for component, blocks in known:
        own, left = np.split(left, [len(blocks.families)])
        number = {family: k for k, family in enumerate(blocks.families)}
        given = own[[number[j, tuple(sorted(parents))] for j, parents in enumerate(component.parents)]].sum()
        ways = global_directions(component, blocks)
        rises |= dict(zip(ways, (-BestMembers(blocks, -own[None]).directions[0] - given).tolist(), strict=True))
    return rises


def global_families(component: Component, blocks: Blocks) -> list[Family]:
    """Return the families of the members of a component, with the numbers of the nodes in the whole graph."""
    nodes, outside = component.nodes.tolist(), component.outside.tolist()
    return [(nodes[j], (*outside, *(nodes[i] for i in parents))) for j, parents in blocks.families]


def global_directions(component: Component, blocks: Blocks) -> list[tuple[int, int]]:
    """Return both directions of each edge, in the order of `MemberScores.directions`, by the numbers in the graph."""
    nodes = component.nodes.tolist()
    return [(nodes[i], nodes[j]) for edge in blocks.edges for i, j in (edge, edge[::-1])]
