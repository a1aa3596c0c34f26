"""The members of a component, by their sources and by the blocks of the component.

A component is cut at the nodes that join its blocks. A member has one source. In every block, its directions are those
of a member of the block whose source is the node nearest to that of the whole. Moving the source within a block
therefore changes the directions of this block only. In a tree every edge is a block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.directions.equivalence_class import Component, Family, Parents
from golem.directions.rooted_members import Numbering, RootedSet, RootedSets
from golem.graphs.edges import Edges
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
        Whether all members are among the choices; see `golem.directions.rooted_members.LARGEST_CLIQUE`.
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
