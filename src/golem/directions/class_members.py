"""The members of a component, by their sources and by the blocks of the component.

A component is cut at the nodes that join its blocks. A member has one source. In every block, its directions are those
of a member of the block whose source is the node nearest to that of the whole. Moving the source within a block
therefore changes the directions of this block only. In a tree every edge is a block.

Within a block, members are divided by their source, a node without parents. The source directs edges, by Meek's rules.
What it leaves undirected falls into smaller sets that are independent of each other, and all nodes of such a set have
the same parents outside it (He, Jia and Yu 2015). So the best score of a set is the maximum over its sources of a sum
over smaller sets.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from golem.directions.equivalence_class import Component, Family, Parents
from golem.graphs.edges import Edges
from golem.graphs.pdag import bits_of, members
from golem.runtime.types import Indices


class Blocks:
    """The blocks of a component, in a walk from the source of its given member.

    Directions have numbers: of edge e, i -> j with i < j is 2 e, and j -> i is 2 e + 1. A slot is a block and one of
    its nodes. Those of block b begin at `slots[b]`, with the node nearest to the first one of the walk.

    Parameters
    ----------
    component : Component
        The component.

    Attributes
    ----------
    families : list of (int, tuple of int)
        All nodes with all parents that they have in some member.
    alone : ndarray of shape (m,)
        The families without parents.
    pairs, pair_families, pair_directions, pair_forbidden : ndarray of shape (p,) or (p, 2)
        Blocks of one edge; the families, directions and contradictions to what is known with either end as source.
    large : dict
        The other blocks.
    parts : list of RootedSet
        Their parts, the smallest first.
    is_complete : bool
        Whether all members are among the choices; see `golem.directions.class_members.LARGEST_CLIQUE`.
    """

    def __init__(self, component: Component) -> None:
        self.edges = component.edges
        numbers = {pair: 2 * e for e, pair in enumerate(self.edges)}
        numbers |= {(j, i): number + 1 for (i, j), number in numbers.items()}
        numbering = Numbering(numbers, {(j, i) for i, j in component.known})
        self._find_blocks(component.parents)
        self._walk()
        self.alone = np.empty(len(self.order), dtype=np.intp)
        ways: list[list[tuple[int, int]]] = []
        families: list[list[int]] = []
        for j in self.order.tolist():  # families of neighbours get numbers close to each other
            self.alone[j] = numbering.family(j, ())
            nodes = self.nodes[self.block_of[j]]
            if j != self.first and len(nodes) == 2:
                ways.append([(nodes[0], j), (j, nodes[0])])
                families.append([numbering.family(child, (cause,)) for cause, child in ways[-1]])
        self.pairs = _table([self.block_of[pair[0][1]] for pair in ways], 1)
        self.pair_families = _table(families, 2)
        self.pair_directions = _table([[numbers[way] for way in pair] for pair in ways], 2)
        self.pair_forbidden = np.array(
            [[way in numbering.forbidden for way in pair] for pair in ways], dtype=bool
        ).reshape(-1, 2)
        self.large: dict[int, RootedSet] = {}
        self.parts: list[RootedSet] = []
        for b, nodes in enumerate(self.nodes):
            if len(nodes) > 2:
                self.large[b], *smaller = RootedSets(nodes, component.parents, numbering).parts
                self.parts += smaller
        self.parts.sort(key=lambda part: part.nodes.bit_count())
        choices = (choice for part in (*self.large.values(), *self.parts) for choice in part.choices.values())
        self.is_complete = not any(choice.as_given for choice in choices)
        self.families: list[Family] = list(numbering.families)

    def _find_blocks(self, parents: Parents) -> None:
        """Find the blocks: a node with one parent begins one, and a node with several belongs to that of the last one.

        The parents of a node are adjacent to each other, so they are in one block.
        """
        order = _order(parents)
        place = {node: k for k, node in enumerate(order)}
        self.first = order[0]
        self.nodes: list[list[int]] = []
        self.block_of = np.full(len(parents), -1)
        for j in order[1:]:
            if len(parents[j]) == 1:
                self.block_of[j] = len(self.nodes)
                self.nodes.append([parents[j][0]])
            else:
                self.block_of[j] = self.block_of[max(parents[j], key=place.__getitem__)]
            self.nodes[self.block_of[j]].append(j)

    def _walk(self) -> None:
        """Order the nodes such that those beyond a node, seen from the first one, follow it, block by block.

        Node j and those beyond it are `order[begin[j]:end[j]]`. The nodes of block b but its first one, and those
        beyond them, are `order[block_begin[b]:block_end[b]]`.
        """
        m = len(self.block_of)
        self.above = np.array([self.nodes[b][0] if b >= 0 else -1 for b in self.block_of])
        beyond: list[list[int]] = [[] for _ in range(m)]
        for nodes in self.nodes:
            beyond[nodes[0]] += nodes[1:]
        order, waiting = [], [self.first]
        while waiting:
            order.append(waiting.pop())
            waiting += beyond[order[-1]][::-1]
        self.order = np.array(order)
        self.begin = np.empty(m, dtype=np.intp)
        self.begin[self.order] = np.arange(m)
        self.end = self.begin + 1
        for j in order[:0:-1]:
            self.end[self.above[j]] = max(self.end[self.above[j]], self.end[j])
        self.block_begin = np.array([self.begin[nodes[1]] for nodes in self.nodes])
        self.block_end = np.array([self.end[nodes[-1]] for nodes in self.nodes])
        self.slots = np.cumsum([0, *(len(nodes) for nodes in self.nodes)])
        self.slot_of = np.zeros(m, dtype=np.intp)  # of a node in the block through which the walk reaches it
        for slot, nodes in zip(self.slots.tolist(), self.nodes, strict=False):
            self.slot_of[nodes[1:]] = np.arange(slot + 1, slot + len(nodes))

    def block_of_edge(self, edge: int) -> int:
        """Return the block of an edge: that of its end which the walk reaches later."""
        return int(self.block_of[max(self.edges[edge], key=self.begin.__getitem__)])

    def entry(self, block: int, source: int) -> int:
        """Return the node of a block that is nearest to a source."""
        for j in self.nodes[block][1:]:
            if self.begin[j] <= self.begin[source] < self.end[j]:
                return j
        return self.nodes[block][0]

    def side(self, block: int, entry: int) -> Indices:
        """Return the nodes to which this node of a block is the nearest one."""
        if entry != self.nodes[block][0]:
            return self.order[self.begin[entry] : self.end[entry]]
        return np.delete(self.order, slice(self.block_begin[block], self.block_end[block]))

    def crossed(self, first: int, second: int) -> list[int]:
        """Return the blocks on the way from one node to another."""
        paths = []
        for j in (first, second):
            path = [j]
            while path[-1] != self.first:
                path.append(int(self.above[path[-1]]))
            paths.append(path)
        up, down = paths
        shared = len(set(up) & set(down))
        return list(dict.fromkeys(int(self.block_of[j]) for j in up[:-shared] + down[:-shared]))


def _order(parents: Parents) -> list[int]:
    """Return the nodes such that parents precede their children."""
    causes, children = np.array([(i, j) for j, own in enumerate(parents) for i in own], dtype=np.intp).T
    order: list[int] = Edges(causes, children, len(parents)).order().tolist()
    return order


def _table(rows: list[list[int]] | list[int], ndim: int) -> NDArray[np.intp]:
    """Return numbers as an array, also if there are none."""
    return np.array(rows, dtype=np.intp).reshape((-1,) if ndim == 1 else (-1, 2))


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
