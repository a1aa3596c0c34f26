"""PC: a skeleton from tests of partial correlations, then colliders and Meek's rules; conservative by default.

No result depends on the order of the columns: neighbours are fixed while sets of one size are tested (Colombo and
Maathuis 2014), all separating sets of that size are used, and edges claimed in both directions stay undirected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from golem.baselines.base import COLLINEAR, Baseline
from golem.data.checks import DataWarning
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.graphs.pdag import Pdag, bits_of, bits_to_columns, column_bits, members
from golem.runtime.messages import quoted, warn_user
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.objective import graph_bic

IntArray = NDArray[np.intp]
# End, middle, end; the first end has the lower number.
Triple = tuple[int, int, int]
# For a pair i < j: the nodes in any of its separating sets and the nodes in all of them, as bits.
Separators = dict[tuple[int, int], tuple[int, int]]
# Size of the largest array of a batch of tests: large enough to hide the cost of a call, small enough for memory.
_BATCH = 2_000_000


@dataclass(eq=False, repr=False)
class PC(Baseline):
    """Learn a Markov equivalence class by tests of conditional independence (Spirtes and Glymour 1991).

    Two columns are joined unless a test accepts that their partial correlation given some set of neighbours of one of
    them is zero. A triple x - y - z with x and z not joined is a collider x -> y <- z if the sets that separate x and z
    do not contain y. Meek's rules then direct the edges that follow. By default a triple is decided only if all sets of
    neighbours of x or of z that separate them agree about y (Ramsey, Spirtes and Zhang 2006, as in the paper);
    otherwise it is ambiguous, and no rule uses it. The result does not depend on the order of the columns.

    On finite samples the tests can contradict each other. An edge that is claimed in both directions, or that would
    close a directed cycle, stays undirected and is listed in `conflicts_`. If no DAG has all the arrows found and no
    further colliders (except at ambiguous triples and edges in conflict), there is a warning and neither `adjacency_`
    nor `bic_`; `cpdag_` is then the result of the tests, but not an equivalence class.

    Parameters
    ----------
    alpha : float
        Level of each test, between 0 and 1: columns count as independent if the p-value is above it. Smaller values
        give fewer edges.
    conservative : bool
        Whether all separating sets of neighbours decide a triple. If False, a triple is a collider unless its middle is
        in a separating set of the size that removed the edge.
    max_conditioning : int, optional
        Largest conditioning set; by default limited only by the neighbours and the rows. The number of tests grows
        exponentially with it if nodes have many neighbours.
    knowledge : Knowledge or NamedKnowledge, optional
        Required and forbidden edges. Pairs that are forbidden in both directions are not joined, required edges are not
        tested, and both direct edges before the tests do.

    Attributes
    ----------
    cpdag_ : ndarray of shape (d, d), bool
        The graph found; an edge in both directions is undirected.
    adjacency_ : ndarray of shape (d, d), bool
        An arbitrary DAG with these arrows; missing if there is none.
    bic_ : float
        BIC of `adjacency_`, -2 log-likelihood + (edges + noise variances + intercepts) log n.
    ambiguous_ : ndarray of shape (m, 3), int
        Ambiguous triples (end, middle, end).
    conflicts_ : ndarray of shape (m, 2), int
        Edges in conflict.
    n_tests_ : int
        Number of tests.
    moments_, knowledge_, n_features_in_, feature_names_in_
        As for `golem.Golem`.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.

    Examples
    --------
    >>> from golem.metrics import shd_c
    >>> from golem.simulate import simulate
    >>> drawn = simulate(6, n=2000, graph="ER1", random_state=3)
    >>> model = PC().fit(drawn.data)
    >>> shd_c(drawn.sem.adjacency, model.adjacency_)
    0.0
    """

    alpha: float = 0.01
    _: KW_ONLY
    conservative: bool = True
    max_conditioning: int | None = None

    def _check_parameters(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha, the level of a test, must be between 0 and 1; got {self.alpha}.")
        if self.max_conditioning is not None and not self.max_conditioning >= 0:
            raise ValueError(f"max_conditioning must be at least 0; got {self.max_conditioning}.")

    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        n = moments.n
        if n < 4:
            raise ValueError(f"PC needs at least 4 rows to test a correlation; got {n}.")
        most = min(moments.d - 2 if self.max_conditioning is None else self.max_conditioning, n - 4)
        test = FisherZ(moments.standardized().covariance, n, self.alpha, moments.names)
        adjacent, separators = find_skeleton(test, knowledge, most)
        if most == n - 4 and adjacent.sum(axis=0).max() > most + 1 and most != self.max_conditioning:
            warn_user(
                f"n = {n} rows allow tests given at most {most} columns, but some columns have more neighbours: expect "
                "false edges. Use more rows, a smaller alpha or a smaller max_conditioning.",
                DataWarning,
            )
        if self.conservative:
            separators = find_separators(test, adjacent, most)
        colliders, ambiguous = decide_triples(adjacent, separators, conservative=self.conservative)
        graph, parents = direct_edges(adjacent, colliders, ambiguous, knowledge)
        self.n_tests_ = test.count
        self.ambiguous_ = np.array(sorted(ambiguous), dtype=np.intp).reshape(-1, 3)
        self.conflicts_ = np.array(graph.conflicts(), dtype=np.intp).reshape(-1, 2)
        self._set_class(graph.matrix(), None if parents is None else bits_to_columns(parents))
        if parents is None:
            warn_user(
                "the tests contradict each other: no directed acyclic graph has all the arrows found and no further "
                "colliders. There is no adjacency_, and cpdag_ is the result of the tests. Try another alpha.",
                DataWarning,
            )
        else:
            self.bic_ = graph_bic(self.adjacency_, moments.covariance, n)


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
            if residual.min() < COLLINEAR:
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
