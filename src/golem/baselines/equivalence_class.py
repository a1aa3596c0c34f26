"""A Markov equivalence class that changes by one edge at a time, for greedy equivalence search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from golem.graphs.pdag import Pdag, bits_of, members


class EquivalenceClass(Pdag):
    """The CPDAG of a class, with the operators of Chickering (2002) and a completion that works near the change.

    The compelled edges of a class follow from its colliders by Meek's rules 1 to 3. After an operator, the colliders
    are those of the changed graph. Arrows that may no longer follow become undirected, together with the arrows derived
    from them. Then the rules direct the edges that still follow. Both steps stay near the change (the
    delete-and-rederive of incremental deduction) and need no member of the class.

    Examples
    --------
    >>> graph = EquivalenceClass(3)
    >>> changed = graph.insert(0, 1, clique=0), graph.insert(2, 1, clique=0b1)  # 0 becomes a parent of 1
    >>> graph.matrix().astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [0, 1, 0]])
    """

    def insert(self, x: int, y: int, clique: int) -> int:
        """Add x -> y to the members in which y has the parents `clique` among its neighbours.

        This is Insert(x, y, T), where T is the part of the clique that is not adjacent to x. Return the nodes with
        other possible insertions than before. At other nodes, insertions near x and y may have become impossible (see
        `may_insert`).
        """
        turned = clique & ~self.adjacent[x]
        before = self.parents.copy(), self.neighbours.copy()
        self.add_arrow(x, y)
        for t in members(turned):
            self.add_arrow(t, y)
        doubtful = [(x, y)]
        for w in members(self.children[x] & self.children[y]):  # x -> w <- y is no longer a collider
            doubtful += [(x, w), (y, w)]
            doubtful += [(u, w) for u in members(self.parents[w] & self.adjacent[x] & self.adjacent[y])]
        doubtful += [(w, y) for w in members(self.children[x] & self.parents[y])]
        doubtful += [(w, x) for w in members(self.children[y] & self.parents[x])]
        return self._complete(x, y, turned, doubtful, before) | self.neighbours[x] & self.neighbours[y]

    def may_insert(self, x: int, y: int, clique: int) -> bool:
        """Return whether x -> y can be inserted: not adjacent, and all neighbours of y adjacent to x in the clique."""
        return not (self.adjacent[y] >> x & 1 or self.neighbours[y] & self.adjacent[x] & ~clique)

    def delete(self, x: int, y: int, clique: int) -> int:
        """Remove x -> y or x - y from the members in which the nodes of `clique` are parents of y.

        This is Delete(x, y, H), where H is the common neighbours that are not in the clique; they become children of
        both. Return the nodes with other possible deletions than before.
        """
        turned = self.neighbours[y] & self.adjacent[x] & ~clique
        before = self.parents.copy(), self.neighbours.copy()
        doubtful = []
        if self.parents[y] >> x & 1:
            doubtful = [(p, y) for p in members(self.parents[y])] + list(self._dependents(x, y))
        self.remove(x, y)
        for h in members(turned):
            self.add_arrow(y, h)
            self.add_arrow(x, h)
        changed = self._complete(x, y, turned, doubtful, before)
        for u, v in ((x, y), (y, x)):
            changed |= self.neighbours[u] & (self.neighbours[v] | self.children[v])
        return changed

    def open_path(self, y: int, x: int, clique: int) -> list[int]:
        """Return a shortest path from y to x along edges and arrows that avoids the clique, or an empty list.

        If there is one, x -> y would close a cycle in every member in which the clique precedes y.
        """
        children, neighbours = self.children, self.neighbours
        seen = clique | 1 << y
        levels = [1 << y]
        while levels[-1]:
            reached = 0
            for v in members(levels[-1]):
                reached |= children[v] | neighbours[v]
            if reached >> x & 1:
                path = [x]
                for level in reversed(levels):
                    before = level & (self.parents[path[-1]] | neighbours[path[-1]])
                    path.append(before.bit_length() - 1)
                return path[::-1]
            levels.append(reached & ~seen)
            seen |= reached
        return []

    def is_open(self, path: list[int], clique: int) -> bool:
        """Return whether a path still follows edges and arrows and avoids the clique."""
        for a, b in pairwise(path):
            if clique >> a & 1 or not (self.children[a] | self.neighbours[a]) >> b & 1:
                return False
        return True

    def cliques(self, nodes: int, largest: int | None = None) -> Iterator[int]:
        """Iterate over all cliques of a set of nodes, up to a size, including the empty one."""
        yield 0
        if largest == 0:
            return
        rest_size = None if largest is None else largest - 1
        for v in members(nodes):
            nodes &= ~(1 << v)
            for rest in self.cliques(nodes & self.adjacent[v], rest_size):
                yield rest | 1 << v

    def _complete(
        self, x: int, y: int, turned: int, doubtful: list[tuple[int, int]], before: tuple[list[int], list[int]]
    ) -> int:
        """Undirect doubtful arrows, direct what follows; return nodes with changed parents or neighbours."""
        touched = 1 << x | 1 << y | turned
        while doubtful:
            a, b = doubtful.pop()
            # The arrows of a collider do not depend on others.
            if self.parents[b] >> a & 1 and not self.parents[b] & ~(self.adjacent[a] | 1 << a):
                doubtful += self._dependents(a, b)
                self.add_line(a, b)
                touched |= 1 << a | 1 << b
        touched |= self.close(touched | self.adjacent[x] & self.adjacent[y])
        parents, neighbours = before
        return bits_of(
            v for v in members(touched) if parents[v] != self.parents[v] or neighbours[v] != self.neighbours[v]
        )

    def _dependents(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Iterate over the arrows that one of Meek's rules 1 to 3 may have derived from a -> b."""
        for z in members(self.children[b]):  # rule 1, and rule 2 through b
            if not self.adjacent[a] >> z & 1:
                yield b, z
            elif self.children[a] >> z & 1:
                yield a, z
        for c in members(self.parents[b] & self.adjacent[a]):  # rule 2 through a, and rule 3
            yield c, b
