"""The members of an undirected, connected set of nodes, by their sources.

A member has one source, a node without parents. The source directs edges, by Meek's rules. What it leaves undirected
falls into smaller sets that are independent of each other, and all nodes of such a set have the same parents outside it
(He, Jia and Yu 2015). So the best score of a set is the maximum over its sources of a sum over smaller sets.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from golem.directions.equivalence_class import Family, Parents
from golem.graphs.pdag import bits_of, members
from golem.runtime.types import Indices

# Sets with larger cliques have very many members. Then only one source of a set, that of the given member, leads to all
# choices of the smaller sets. After any other source, a smaller set with so large a clique is as in the given member.
LARGEST_CLIQUE = 7


@dataclass(frozen=True, eq=False)
class SourceChoice:
    """The members with one source.

    Parameters
    ----------
    families : list of int
        The numbers of the families that all of them have.
    parts : list of (RootedSet, list of int)
        The smaller sets that stay undirected, and where the directions of each are among those of the whole.
    settled : list of int
        The directions that the source settles, by their places among those of the whole.
    as_given : list of int
        Smaller sets, as bits, that are as in the given member.
    """

    families: list[int]
    parts: list[tuple[RootedSet, list[int]]]
    settled: list[int]
    as_given: list[int]


@dataclass(eq=False)
class RootedSet:
    """A connected set of nodes with given parents outside it, and its members.

    Parameters
    ----------
    nodes : int
        The nodes, as bits.
    outside : int
        The parents outside, as bits.
    directions : list of int
        Both directions of all its edges, by their numbers in the component.
    arrows : list of (int, int)
        The same by the ends of the edges, as places of bits.
    is_given : list of bool
        Which directions the given member has.
    choices : dict
        The choice of each source; sources that contradict what is known are left out.
    """

    nodes: int
    outside: int
    directions: list[int]
    arrows: list[tuple[int, int]]
    is_given: list[bool]
    choices: dict[int, SourceChoice] = field(default_factory=dict)

    def settled_in(self, choice: SourceChoice) -> Indices:
        """Return the directions that all members of a choice have, by their places."""
        if not choice.as_given:
            return np.array(choice.settled, dtype=np.intp)
        return np.concatenate([choice.settled, *map(self._inside, choice.as_given)]).astype(np.intp)

    def _inside(self, nodes: int) -> Indices:
        """Return the given directions within a set of nodes."""
        places, ends = self._given
        chosen = np.zeros(self.nodes.bit_length(), dtype=bool)
        chosen[list(members(nodes))] = True
        return np.asarray(places[chosen[ends].all(axis=1)])

    @functools.cached_property
    def _given(self) -> tuple[Indices, Indices]:
        """The given directions: their places, and the ends of the edges."""
        places = np.flatnonzero(self.is_given)
        return places, np.array(self.arrows)[places]


@dataclass(eq=False)
class Numbering:
    """The numbers of families and directions in a component, and the directions that contradict what is known."""

    directions: dict[tuple[int, int], int]
    forbidden: set[tuple[int, int]]
    families: dict[Family, int] = field(default_factory=dict)

    def family(self, node: int, parents: tuple[int, ...]) -> int:
        """Return the number of a family."""
        return self.families.setdefault((node, parents), len(self.families))


class RootedSets:
    """The parts of a block: of a set of nodes that stays connected if any one of them is removed.

    The block itself is the first part. Its source can have parents in another block, so its family is left out there.

    Parameters
    ----------
    nodes : list of int
        The nodes of the block, by their numbers in the component; inside this class they have numbers from 0.
    parents : list of list of int
        The parents of all nodes of the component in the given member.
    numbering : Numbering
        The numbers in the component.
    """

    def __init__(self, nodes: list[int], parents: Parents, numbering: Numbering) -> None:
        place = {node: k for k, node in enumerate(nodes)}
        self._nodes, self._numbering = nodes, numbering
        self._given = [bits_of(place[i] for i in parents[j] if i in place) for j in nodes]
        self._adjacent = self._given.copy()
        for j, own in enumerate(self._given):
            for i in members(own):
                self._adjacent[i] |= 1 << j
        self._found: dict[tuple[int, int], RootedSet] = {}
        self._families: dict[tuple[int, int], int] = {}
        self.parts: list[RootedSet] = []
        self._part((1 << len(nodes)) - 1, 0)
        for part in self.parts:  # grows
            where = {direction: k for k, direction in enumerate(part.directions)}
            given = next(j for j in members(part.nodes) if not self._given[j] & part.nodes)
            for source in members(part.nodes):
                choice = self._choice(part, source, where, all_members=source == given)
                if choice is not None:
                    part.choices[nodes[source]] = choice

    def _part(self, nodes: int, outside: int) -> RootedSet:
        """Return a part, whose choices are added later."""
        key = nodes, outside
        if key not in self._found:
            numbers = self._numbering.directions
            arrows = [(i, j) for j in members(nodes) for i in members(self._adjacent[j] & nodes)]
            directions = [numbers[self._nodes[i], self._nodes[j]] for i, j in arrows]
            is_given = [bool(self._given[j] >> i & 1) for i, j in arrows]
            self._found[key] = RootedSet(nodes, outside, directions, arrows, is_given)
            self.parts.append(self._found[key])
        return self._found[key]

    def _choice(self, part: RootedSet, source: int, where: dict[int, int], *, all_members: bool) -> SourceChoice | None:
        """Return the choice of a source; None if it contradicts what is known."""
        families = [] if part is self.parts[0] else [self._family(source, part.outside)]
        settled: list[tuple[int, int]] = []
        parts: list[tuple[RootedSet, list[int]]] = []
        as_given: list[int] = []
        for nodes, above in _rooted(self._adjacent, part.nodes, source):
            outside = part.outside | above
            settled += [(self._nodes[i], self._nodes[j]) for j in members(nodes) for i in members(above)]
            if not nodes & (nodes - 1):
                families.append(self._family(nodes.bit_length() - 1, outside))
            elif all_members or self._has_small_cliques(nodes):
                smaller = self._part(nodes, outside)
                parts.append((smaller, [where[direction] for direction in smaller.directions]))
            else:
                as_given.append(nodes)
                families += [self._family(j, outside | self._given[j] & nodes) for j in members(nodes)]
        if not self._numbering.forbidden.isdisjoint(settled):
            return None
        return SourceChoice(families, parts, [where[self._numbering.directions[arrow]] for arrow in settled], as_given)

    def _family(self, node: int, parents: int) -> int:
        """Return the number of a family."""
        if (node, parents) not in self._families:
            names = tuple(sorted(self._nodes[i] for i in members(parents)))
            self._families[node, parents] = self._numbering.family(self._nodes[node], names)
        return self._families[node, parents]

    def _has_small_cliques(self, nodes: int) -> bool:
        """Return whether no clique is larger than `LARGEST_CLIQUE`: its last node has all others as parents."""
        return all((self._given[j] & nodes).bit_count() < LARGEST_CLIQUE for j in members(nodes))


def _rooted(adjacent: list[int], nodes: int, source: int) -> Iterator[tuple[int, int]]:
    """Yield the sets that stay undirected if a connected set has this source, and the parents of each, as bits.

    This is a lexicographic breadth-first search. Nodes with the same visited neighbours wait together, and what
    is connected among them when the first of them is visited stays undirected (Wienöbst, Bannach and Liśkiewicz 2021).
    """
    waiting, visited, begun = [1 << source, nodes & ~(1 << source)], 0, 1 << source
    while begun != nodes:
        first = waiting[0]
        if not first & begun:
            begun |= first
            while first:
                whole = _connected(adjacent, first)
                yield whole, adjacent[whole.bit_length() - 1] & visited
                first &= ~whole
        lowest = waiting[0] & -waiting[0]
        visited |= lowest
        near = adjacent[lowest.bit_length() - 1]
        split = [half for one in waiting for half in (one & near & ~lowest, one & ~near & ~lowest)]
        waiting = [half for half in split if half]


def _connected(adjacent: list[int], nodes: int) -> int:
    """Return the nodes that are connected to the first one."""
    reached = frontier = nodes & -nodes
    while frontier:
        near = 0
        for j in members(frontier):
            near |= adjacent[j]
        frontier = near & nodes & ~reached
        reached |= frontier
    return reached
