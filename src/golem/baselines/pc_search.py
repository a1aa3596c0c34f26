"""The parts of PC: tests of partial correlations, the skeleton, colliders, and arrows (Spirtes and Glymour 1991).

No result depends on the order of the columns: neighbours are fixed while sets of one size are tested (Colombo and
Maathuis 2014), all separating sets of that size are used, and edges claimed in both directions stay undirected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from golem.data.knowledge import Knowledge
from golem.graphs.pdag import Pdag, bits_of, column_bits, members
from golem.runtime.messages import quoted
from golem.runtime.types import BoolMatrix, Matrix

IntArray = NDArray[np.intp]
# End, middle, end; the first end has the lower number.
Triple = tuple[int, int, int]
# For a pair i < j: the nodes in any of its separating sets and the nodes in all of them, as bits.
Separators = dict[tuple[int, int], tuple[int, int]]

# A standardized column with a smaller variance than this given others counts as their linear combination.
_COLLINEAR = 1e-10
# Size of the largest array of a batch of tests: large enough to hide the cost of a call, small enough for memory.
_BATCH = 2_000_000


@dataclass
class FisherZ:
    """Fisher's test that a partial correlation is zero, from the correlations R of shape (d, d) of n rows.

    Given l columns, sqrt(n - l - 3) |artanh rho| is compared with the normal quantile at 1 - alpha / 2. `count` is the
    number of tests; the names of the columns are for messages.
    """

    R: Matrix
    n: int
    alpha: float
    names: tuple[str, ...]
    count: int = 0

    def bound(self, size: int) -> float:
        """Return the largest |rho| with which columns count as independent given `size` others."""
        from scipy.special import ndtri

        return float(np.tanh(-ndtri(self.alpha / 2) / np.sqrt(self.n - size - 3)))

    def separate(self, x: int, targets: IntArray, sets: IntArray) -> BoolMatrix:
        """Return which of the sets, in rows, separate x from which targets outside the set; shape (sets, targets)."""
        R = self.R
        size = sets.shape[1]
        inside = (sets[:, :, None] == targets).any(axis=1)
        self.count += int(inside.size - inside.sum())
        if size == 0:
            rho = np.broadcast_to(R[x, targets], inside.shape)
        else:
            columns = np.append(x, targets)
            explained = np.linalg.solve(self._factors(sets), R[sets[:, :, None], columns])
            residual = 1.0 - np.einsum("mij,mij->mj", explained, explained)
            residual[:, 1:][inside] = 1.0
            if residual.min() < _COLLINEAR:
                row, column = np.unravel_index(residual.argmin(), residual.shape)
                self._refuse(int(columns[column]), sets[row])
            covariance = R[x, targets] - np.einsum("mi,mij->mj", explained[:, :, 0], explained[:, :, 1:])
            rho = covariance / np.sqrt(residual[:, :1] * residual[:, 1:])
        return np.asarray((np.abs(rho) <= self.bound(size)) & ~inside)

    def _factors(self, sets: IntArray) -> NDArray[np.float64]:
        """Return the Cholesky factors of the correlations within each set."""
        blocks = self.R[sets[:, :, None], sets[:, None, :]]
        try:
            return np.asarray(np.linalg.cholesky(blocks), dtype=float)
        except np.linalg.LinAlgError:
            worst = int(np.argmin(np.linalg.eigvalsh(blocks)[:, 0]))
            self._refuse(int(sets[worst, -1]), sets[worst, :-1])
            raise

    def _refuse(self, column: int, others: IntArray) -> None:
        """Raise a ValueError, because a partial correlation does not exist."""
        raise ValueError(
            f"Column {self.names[column]!r} is a linear combination of {quoted([self.names[j] for j in others])}, so "
            "partial correlations do not exist. Remove one of these columns, or use more rows."
        )


def subsets(nodes: IntArray, size: int, targets: int) -> Iterator[IntArray]:
    """Iterate over all subsets of one size in batches, one subset per row; more targets give smaller batches."""
    if size == 0:
        yield np.empty((1, 0), dtype=np.intp)
        return
    every = combinations(nodes.tolist(), size)
    together = max(1, _BATCH // (size * (targets + size)))
    while batch := list(islice(every, together)):
        yield np.fromiter(chain.from_iterable(batch), dtype=np.intp, count=size * len(batch)).reshape(-1, size)


def find_skeleton(test: FisherZ, knowledge: Knowledge, most: int) -> tuple[BoolMatrix, Separators]:
    """Remove the edges between columns that some set of neighbours separates, smallest sets first.

    Sets have at most `most` members. Pairs that are forbidden in both directions are never joined, required pairs
    always. For each removed edge, return all separating sets of the size that removed it.
    """
    d = len(test.R)
    adjacent = ~np.eye(d, dtype=bool) & ~(knowledge.forbidden & knowledge.forbidden.T)
    kept = knowledge.required | knowledge.required.T
    separators: Separators = {}
    size = 0
    while size <= most and adjacent.sum(axis=0).max() > size:
        separated = np.zeros_like(adjacent)
        for x in range(d):
            around = np.nonzero(adjacent[x])[0]
            targets = np.nonzero(adjacent[x] & ~kept[x])[0]
            if len(around) <= size or not len(targets):
                continue
            for y in _note_separators(test, separators, x, targets, around, size):
                separated[x, y] = separated[y, x] = True
        adjacent &= ~separated
        size += 1
    return adjacent, separators


def find_separators(test: FisherZ, adjacent: BoolMatrix, most: int) -> Separators:
    """Return all sets of neighbours of one end that separate the ends of an unshielded triple."""
    around = [np.nonzero(row)[0] for row in adjacent]
    ends: dict[int, set[int]] = {}
    for x, _, z in unshielded(adjacent):
        ends.setdefault(x, set()).add(z)
        ends.setdefault(z, set()).add(x)
    separators: Separators = {}
    for x, others in ends.items():
        targets = np.array(sorted(others), dtype=np.intp)
        for size in range(min(len(around[x]), most) + 1):
            _note_separators(test, separators, x, targets, around[x], size)
    return separators


def _note_separators(
    test: FisherZ, separators: Separators, x: int, targets: IntArray, around: IntArray, size: int
) -> set[int]:
    """Add the subsets of `around` of one size that separate x from targets; return those targets."""
    separated = set()
    for sets in subsets(around, size, len(targets)):
        found = test.separate(x, targets, sets)
        for k in np.nonzero(found.any(axis=0))[0]:
            y, rows = int(targets[k]), sets[found[:, k]]
            nodes, counts = np.unique(rows, return_counts=True)
            some, every = bits_of(nodes.tolist()), bits_of(nodes[counts == len(rows)].tolist())
            noted_some, noted_every = separators.get((min(x, y), max(x, y)), (0, -1))
            separators[min(x, y), max(x, y)] = noted_some | some, noted_every & every
            separated.add(y)
    return separated


def unshielded(adjacent: BoolMatrix) -> Iterator[Triple]:
    """Iterate over the triples x - y - z with x < z not adjacent."""
    around = column_bits(adjacent)
    for y, neighbours in enumerate(around):
        for x in members(neighbours):
            for z in members((neighbours & ~around[x]) >> x + 1 << x + 1):
                yield x, y, z


def decide_triples(
    adjacent: BoolMatrix, separators: Separators, *, conservative: bool
) -> tuple[list[Triple], list[Triple]]:
    """Return the unshielded triples that are colliders, and those that are ambiguous.

    A triple is a collider if no separating set of its ends contains the middle. Otherwise it is not a collider, or, if
    `conservative` and only some of the sets contain the middle, ambiguous (Ramsey, Spirtes and Zhang 2006). Without any
    separating set, it is ambiguous too.
    """
    colliders, ambiguous = [], []
    for x, y, z in unshielded(adjacent):
        some, every = separators.get((x, z), (None, 0))
        if some is None or (conservative and (some & ~every) >> y & 1):
            ambiguous.append((x, y, z))
        elif not some >> y & 1:
            colliders.append((x, y, z))
    return colliders, ambiguous


def direct_edges(
    adjacent: BoolMatrix, colliders: list[Triple], ambiguous: list[Triple], knowledge: Knowledge
) -> tuple[Pdag, list[int] | None]:
    """Direct the edges by knowledge, colliders and Meek's rules; return the graph and a directed member, if any.

    Colliders that contradict the knowledge are ignored. An edge that is claimed in both directions, or that would close
    a directed cycle, is in conflict: it stays undirected, and no rule uses it. The member has all arrows, no cycle, and
    no further colliders except at ambiguous triples and edges in conflict.
    """
    graph = Pdag.from_matrix(adjacent)
    never = knowledge.forbidden | knowledge.required.T
    claims = {(int(a), int(b)) for a, b in np.argwhere(adjacent & never.T & ~never)}
    for x, y, z in colliders:
        if not (never[x, y] or never[z, y]):
            claims |= {(x, y), (z, y)}
    for a, b in claims:
        if (b, a) in claims:
            graph.add_conflict(a, b)
        else:
            graph.add_arrow(a, b)
    unknown: dict[tuple[int, int], int] = {}
    for x, y, z in ambiguous:
        _allow(unknown, x, y, z)
    graph.close(ambiguous=unknown, fourth=not knowledge.is_empty)
    free = graph.copy()
    for a, b in graph.conflicts():
        free.add_line(a, b)
        for middle, end in ((a, b), (b, a)):
            for other in members(graph.adjacent[middle]):
                _allow(unknown, end, middle, other)
    return graph, free.extension(unknown)


def _allow(unknown: dict[tuple[int, int], int], x: int, y: int, z: int) -> None:
    """Mark the triple x - y - z as ambiguous."""
    unknown[y, x] = unknown.get((y, x), 0) | 1 << z
    unknown[y, z] = unknown.get((y, z), 0) | 1 << x
