"""Partially directed graphs as sets of bits: Meek's rules near a change, and a directed member.

A set of nodes is a Python integer whose bit i is node i. A union or intersection takes a few machine words at
d = 1000, and no step visits all pairs of nodes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

import numpy as np

from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, BoolVector

# For a pair (middle, end): the other ends of the unshielded triples that may or may not be colliders.
Ambiguity = Mapping[tuple[int, int], int]


def members(bits: int) -> Iterator[int]:
    """Iterate over the nodes of a set in increasing order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def bits_of(nodes: Iterable[int]) -> int:
    """Return the set of some nodes.

    Examples
    --------
    >>> bits_of([0, 3]), list(members(9))
    (9, [0, 3])
    """
    bits = 0
    for node in nodes:
        bits |= 1 << node
    return bits


def reached(steps: list[int], start: int) -> int:
    """Return the nodes that steps lead to from a node, which is among them only if a cycle leads back to it."""
    seen, waiting = steps[start], list(members(steps[start]))
    while waiting:
        new = steps[waiting.pop()] & ~seen
        seen |= new
        waiting += members(new)
    return seen


class Pdag:
    """A graph with directed and undirected edges, changed in place.

    Attributes
    ----------
    parents, children, neighbours : list of int
        For each node, the nodes with an arrow to it, with an arrow from it, and with an undirected edge to it.
    adjacent : list of int
        All of these, and the nodes joined to it by an edge in conflict (see `add_conflict`).

    Examples
    --------
    A collider directs the edges that follow it (Meek's rule 1):

    >>> graph = Pdag(4)
    >>> for a, b in ((0, 2), (1, 2)):
    ...     graph.add_arrow(a, b)
    >>> graph.add_line(2, 3)
    >>> list(members(graph.close()))
    [2, 3]
    >>> list(members(graph.children[2]))
    [3]
    """

    def __init__(self, d: int) -> None:
        self.parents = [0] * d
        self.children = [0] * d
        self.neighbours = [0] * d
        self.adjacent = [0] * d

    @classmethod
    def from_matrix(cls, matrix: BoolMatrix) -> Self:
        """Read a boolean matrix: i -> j if only [i, j] is set, undirected if [j, i] is set too."""
        graph = cls(len(matrix))
        graph.parents = column_bits(matrix & ~matrix.T)
        graph.children = column_bits((matrix & ~matrix.T).T)
        graph.neighbours = column_bits(matrix & matrix.T)
        graph.adjacent = column_bits(matrix | matrix.T)
        return graph

    @classmethod
    def from_edges(cls, edges: Edges, undirected: BoolVector) -> Self:
        """Return the graph of a list of edges, some of which are undirected."""
        graph = cls(edges.d)
        for (a, b), is_line in zip(edges.pairs(), undirected.tolist(), strict=True):
            if is_line:
                graph.add_line(a, b)
            else:
                graph.add_arrow(a, b)
        return graph

    def matrix(self) -> BoolMatrix:
        """Return the boolean matrix; edges in conflict are undirected there."""
        return bits_to_columns([a & ~c for a, c in zip(self.adjacent, self.children, strict=True)])

    def copy(self) -> Self:
        """Return an independent copy."""
        other = self.__class__(0)
        vars(other).update({name: sets.copy() for name, sets in vars(self).items()})
        return other

    def add_line(self, a: int, b: int) -> None:
        """Join two nodes by an undirected edge, in place of any other edge."""
        self.add_conflict(a, b)
        self.neighbours[a] |= 1 << b
        self.neighbours[b] |= 1 << a

    def add_arrow(self, a: int, b: int) -> None:
        """Join two nodes by a -> b, in place of any other edge."""
        self.add_conflict(a, b)
        self.children[a] |= 1 << b
        self.parents[b] |= 1 << a

    def add_conflict(self, a: int, b: int) -> None:
        """Join two nodes by an edge in conflict, claimed in both directions: no rule reads or directs it."""
        self.remove(a, b)
        self.adjacent[a] |= 1 << b
        self.adjacent[b] |= 1 << a

    def conflicts(self) -> list[tuple[int, int]]:
        """Return the edges a < b that are in conflict."""
        return [
            (a, b)
            for a, adjacent in enumerate(self.adjacent)
            for b in members(adjacent & ~(self.parents[a] | self.children[a] | self.neighbours[a]))
            if a < b
        ]

    def remove(self, a: int, b: int) -> None:
        """Remove the edge between two nodes, if any."""
        for u, v in ((a, b), (b, a)):
            for sets in (self.parents, self.children, self.neighbours, self.adjacent):
                sets[u] &= ~(1 << v)

    def follows(self, a: int, b: int, ambiguous: Ambiguity, *, fourth: bool) -> bool:
        """Return whether one of Meek's (1995) rules directs the undirected edge a - b as a -> b.

        Rules 1, 3 and 4 use an unshielded triple with a in the middle that is not a collider, and skip `ambiguous`
        ones. The `fourth` rule is needed only if some arrows do not follow from colliders.
        """
        adjacent, parents, neighbours = self.adjacent, self.parents, self.neighbours
        apart = ~(adjacent[b] | 1 << b | ambiguous.get((a, b), 0))
        if parents[a] & apart:  # rule 1: c -> a - b, c and b not adjacent
            return True
        if self.children[a] & parents[b]:  # rule 2: a -> c -> b
            return True
        spouses = neighbours[a] & parents[b]  # rule 3: a - c -> b, a - d -> b, c and d not adjacent
        if spouses & (spouses - 1):
            for c in members(spouses):
                if spouses & ~(adjacent[c] | 1 << c | ambiguous.get((a, c), 0)):
                    return True
        middle = parents[b] & adjacent[a] if fourth else 0
        # rule 4: a - c -> d -> b, c and b not adjacent, a and d adjacent
        return bool(middle) and any(self.children[c] & middle for c in members(neighbours[a] & apart))

    def close(self, dirty: int | None = None, ambiguous: Ambiguity | None = None, *, fourth: bool = False) -> int:
        """Direct every undirected edge whose direction follows from the others by Meek's rules.

        Start with the edges at the nodes of `dirty` (default: all), continue with those near newly directed edges, and
        return the ends of all changed edges. All edges that follow from one state are directed together, so the result
        does not depend on the order of the nodes. An edge that follows in both directions becomes a conflict. If
        `ambiguous` is given, the arrows come from tests, and an edge that would close a directed cycle becomes a
        conflict too.
        """
        neighbours, follows = self.neighbours, self.follows
        dirty = (1 << len(neighbours)) - 1 if dirty is None else dirty
        skipped = {} if ambiguous is None else ambiguous
        changed = 0
        while dirty:
            claims = set()
            for a in members(dirty):
                for b in members(neighbours[a]):
                    if follows(a, b, skipped, fourth=fourth):
                        claims.add((a, b))
                    if follows(b, a, skipped, fourth=fourth):
                        claims.add((b, a))
            if ambiguous is not None:
                claims |= {(b, a) for a, b in claims if self.leads_to(b, a)}
            dirty = 0
            for a, b in claims:
                changed |= 1 << a | 1 << b
                if (b, a) in claims:
                    self.add_conflict(a, b)
                    continue
                self.add_arrow(a, b)
                dirty |= 1 << a | 1 << b
                if fourth:  # this rule reads edges two steps away
                    dirty |= neighbours[a] & self.adjacent[b]
        return changed

    def leads_to(self, a: int, b: int) -> bool:
        """Return whether a directed path leads from a to b."""
        return bool(reached(self.children, a) >> b & 1)

    def extension(self, ambiguous: Ambiguity | None = None) -> list[int] | None:
        """Direct the undirected edges without a cycle or a new collider (Dor and Tarsi 1992); return the parents.

        A sink whose undirected neighbours are joined to all its other neighbours may be last in the order. It is
        removed, and the search repeats. A node that may be last stays so when others are removed, so the others are
        checked again only after a neighbour is removed. `ambiguous` triples may become colliders. Return None if no
        such graph is found; without ambiguous triples, none exists.
        """
        d = len(self.adjacent)
        left = (1 << d) - 1
        parents = self.parents.copy()
        free = {} if ambiguous is None else ambiguous

        def may_be_last(x: int) -> bool:
            if self.children[x] & left:
                return False
            around = self.adjacent[x] & left
            return all(
                not around & ~(self.adjacent[y] | 1 << y | free.get((x, y), 0))
                for y in members(self.neighbours[x] & left)
            )

        ready = [x for x in range(d) if may_be_last(x)]
        queued = bits_of(ready)
        while ready:
            x = heapq.heappop(ready)
            left &= ~(1 << x)
            parents[x] |= self.neighbours[x] & left
            for y in members(self.adjacent[x] & left & ~queued):
                if may_be_last(y):
                    heapq.heappush(ready, y)
                    queued |= 1 << y
        return None if left else parents


def column_bits(matrix: BoolMatrix) -> list[int]:
    """Pack each column of a boolean matrix into an integer, row 0 in the lowest bit."""
    packed = np.packbits(matrix.T, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def bits_to_columns(bits: list[int]) -> BoolMatrix:
    """Undo `column_bits` for a square matrix."""
    d = len(bits)
    width = (d + 7) // 8
    packed = np.frombuffer(b"".join(b.to_bytes(width, "little") for b in bits), dtype=np.uint8)
    unpacked = np.unpackbits(packed.reshape(d, width), axis=1, count=d, bitorder="little")
    return unpacked.T.astype(bool)
