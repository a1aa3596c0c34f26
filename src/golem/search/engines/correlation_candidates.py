"""Candidates of the order search: the nodes that may become parents or children of each node.

With free noise variances, the edges of every good graph connect nodes that are in each other's Markov blankets. So a
search needs to look at no other pairs. The blankets are estimated by forward selection and, if there are enough rows,
by backward elimination, which also finds hubs. The search adds candidates that these missed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from golem.graphs.edges import Edges
from golem.runtime.machine import available_cores
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import BoolMatrix, BoolVector, Matrix, Vector
from golem.search.engines import correlation_kernel_arrays as arrays
from golem.search.engines import correlation_parent_kernels
from golem.search.order_kernel_arrays import ALLOWED, LIKELY, NODE, REQUIRED, REQUIRED_BACK

# Up to this number of nodes, all nodes are candidates of each other.
_FEW = 64
# The correlations of candidates are stored for every node, up to this times d^2 numbers, or 240 MB. The nodes with the
# longest lists then have all nodes as candidates, and share one matrix. That makes all lists longer, so it is rare.
_MOST_NUMBERS = 16.0
_FEW_NUMBERS = 3e7
# From this number of nodes on, threads share the regressions.
_THREADS_PAY_FROM = 100
_LEAST_T_SQUARED = 4.0
# With few rows: the ridge, and the number of nodes with which backward elimination begins.
_RIDGE = 0.1
_RANKED = 40
# Rows that are treated at a time, so that they stay in the CPU cache.
_PANEL = 128
# Candidates of each node by their correlation with it.
_CORRELATED = 20


def markov_blankets(problem: arrays.CorrelationProblem) -> tuple[BoolMatrix, Vector]:
    """Estimate the Markov blankets: whether c is in that of j (entry [j, c]), and the R2 of every node given its own.

    Backward elimination begins with the nodes that have large partial correlations given all others, and also finds
    hubs. Forward selection among all nodes follows, and begins with what is left.
    """
    d = len(problem.S)
    chosen, _ = choose_parents(problem, _largest_partial_correlations(problem), True)
    chosen, r = choose_parents(problem, chosen, False)
    likely = np.zeros((d, d), dtype=bool)
    likely[chosen.children, chosen.causes] = True
    return likely, 1 - r


def _largest_partial_correlations(problem: arrays.CorrelationProblem) -> Edges:
    """Return edges from the nodes with large partial correlations to each node, strong ones first."""
    d, n, R = len(problem.S), problem.n, problem.S
    # Regressions on all others need more rows than columns. With few rows, a ridge is enough to rank the nodes.
    enough = n >= 1.2 * d + 10
    rho2 = _inverse(R, 1e-12 if enough else _RIDGE)
    scale = 1 / np.sqrt(np.abs(np.diagonal(rho2)))
    rho2 *= scale
    rho2 *= scale[:, None]
    rho2 *= rho2
    np.fill_diagonal(rho2, 0.0)
    if enough:
        # t^2 = (n - d) rho^2 / (1 - rho^2)
        large = rho2 > _LEAST_T_SQUARED / (n - d + _LEAST_T_SQUARED)
    else:
        large = _largest(rho2, int(min(_RANKED, n // 4)))
    children, causes = np.nonzero(large)
    strongest = np.lexsort((-rho2[children, causes], children))
    return Edges(causes[strongest], children, d)


def _inverse(R: Matrix, ridge: float) -> Matrix:
    """Return the inverse of a correlation matrix with a ridge, by Cholesky, which needs half as much work as LU."""
    from scipy.linalg.lapack import dpotrf, dpotri

    shifted = R + 0.0
    np.fill_diagonal(shifted, 1 + ridge)
    factor, fails = dpotrf(shifted.T, lower=True, overwrite_a=True, clean=False)
    if fails:  # nearly collinear columns
        np.copyto(shifted, R)
        np.fill_diagonal(shifted, 1 + ridge)
        return np.asarray(np.linalg.inv(shifted))
    with blas_threads_for(0):  # its threads wait for each other so much that one is faster on a busy machine
        inverse, _ = dpotri(factor, lower=True, overwrite_c=True)
    # The result is in the lower triangle, in Fortran order: in the upper one of its transpose.
    half: Matrix = inverse.T
    for start in range(0, len(R), _PANEL):
        stop = min(start + _PANEL, len(R))
        half[stop:, start:stop] = half[start:stop, stop:].T
        corner = np.triu(half[start:stop, start:stop])
        half[start:stop, start:stop] = corner + np.triu(corner, 1).T
    return half


def _largest(values: Matrix, number: int) -> BoolMatrix:
    """Return where the largest values of each row are; of equal ones, all are."""
    d = len(values)
    number, large = min(number, d - 1), np.zeros(values.shape, dtype=bool)
    for start in range(0, d if number > 0 else 0, _PANEL):
        rows = values[start : start + _PANEL]
        large[start : start + _PANEL] = rows >= np.partition(rows, d - number, axis=1)[:, d - number, None]
    return large


def most_correlated(S: Matrix) -> BoolMatrix:
    """Return the nodes (columns) that have the largest correlations with each node (rows).

    In an order that is far from the best one, nodes that are not in the blanket stand in for those that are. Without
    them such an order would have so high a score that the search could not leave it step by step.
    """
    strength = np.abs(S)
    np.fill_diagonal(strength, -1.0)
    return _largest(strength, _CORRELATED)


def choose_parents(
    problem: arrays.CorrelationProblem,
    starts: Edges,
    within: bool,
    position: NDArray[np.int64] | None = None,
    known: NDArray[np.uint8] | None = None,
) -> tuple[Edges, Vector]:
    """Choose parents of every node, from the given ones, either within them or among all (preceding) nodes.

    Edges are grouped by child. Row j of `known` has the kinds of the edges to j, by default all allowed. Returns the
    edges and the residual variances.
    """
    d, most = len(problem.S), problem.most_parents
    place = np.zeros(0, dtype=np.int64) if position is None else position
    kinds = np.zeros((0, 0), dtype=np.uint8) if known is None else known
    workers = min(available_cores(), d) if d >= _THREADS_PAY_FROM else 1
    number = np.bincount(starts.children, minlength=d)
    longest = int(number.max(initial=0))

    def choose(k: int) -> tuple[NDArray[np.int32], Vector]:
        nodes = np.arange(k, d, workers)
        first = np.append(0, np.cumsum(number[nodes]))
        work = scratch(longest if within else d, most)
        rows, r = np.full((len(nodes), most), -1, dtype=np.int32), np.ones(len(nodes))
        correlation_parent_kernels.choose_parents(
            problem,
            work,
            nodes,
            first,
            starts.causes[starts.children % workers == k],
            within,
            place,
            kinds,
            np.arange(d),
            np.full(d, ALLOWED),
            rows,
            r,
            np.zeros(longest**2 if within else 0),
        )
        return rows, r

    chosen, residuals = np.empty((d, most), dtype=np.int32), np.empty(d)
    with ThreadPoolExecutor(workers) as pool:
        # Starting a thread takes longer than the regressions of few nodes.
        parts = (pool.map if workers > 1 else map)(choose, range(workers))
        for k, (rows, r) in enumerate(parts):
            chosen[k::workers], residuals[k::workers] = rows, r
    children, places = np.nonzero(chosen >= 0)
    return Edges(chosen[children, places].astype(np.int64), children, d), residuals


def candidate_lists(
    S: Matrix,
    connected: BoolMatrix,
    likely: BoolMatrix,
    known: NDArray[np.uint8] | None,
    before: arrays.Candidates | None = None,
) -> arrays.Candidates:
    """Return the candidates of every node: those connected to it, in either direction.

    Correlations of nodes with the same candidates as `before`, if that is given, are copied from it.
    """
    d = len(S)
    nodes, others, complete = _pairs(connected)
    first = np.append(0, np.cumsum(np.bincount(nodes, minlength=d)))
    # Pairs are sorted by node and candidate, so that the reverse of a pair is found by bisection.
    back = np.searchsorted(nodes * d + others, others * d + nodes) - first[others]
    ranked = np.arange(len(nodes)) - first[nodes]
    # The rank of a node itself is not used. It is moved to the end of its list.
    for j in np.flatnonzero(complete):
        ranked[first[j] : first[j + 1]] = np.append(np.delete(np.arange(d), j), j)
    kinds = np.full(len(nodes), ALLOWED) if known is None else known[nodes, others].astype(np.int64)
    kinds[nodes == others] = 0
    kinds[likely[nodes, others]] |= LIKELY
    if known is not None:
        kinds[known[others, nodes] & REQUIRED > 0] |= REQUIRED_BACK
    blocks, corner = _blocks(S, first, others, complete, before)
    return arrays.Candidates(
        first=first,
        slots=np.stack([others, back, ranked, kinds]),
        targets=S[nodes, others],
        corner=corner,
        blocks=blocks,
        keys=np.random.default_rng(0).integers(1, 2**63, size=(2, d), dtype=np.uint64),
    )


def _pairs(connected: BoolMatrix) -> tuple[NDArray[np.int64], NDArray[np.int64], BoolVector]:
    """Return the pairs of candidates in both directions, sorted, and which nodes have all nodes as candidates."""
    d = len(connected)
    complete, everyone = np.full(d, d <= _FEW), np.arange(d)
    one, other = np.nonzero(connected)
    keys = np.concatenate([one * d + other, other * d + one])[np.tile(one != other, 2)]
    while True:
        hubs = np.flatnonzero(complete)
        keys = np.concatenate(
            [keys, np.add.outer(hubs * d, everyone).ravel(), np.add.outer(everyone * d, hubs).ravel()]
        )
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) > 0]
        number = np.bincount(keys // d, minlength=d)
        by_number = np.argsort(number + d * complete, kind="stable")
        small = np.cumsum(number[by_number].astype(float) ** 2) <= max(_MOST_NUMBERS * d**2, _FEW_NUMBERS)
        if np.all(small | complete[by_number]):
            return keys // d, keys % d, complete
        complete[by_number[~small]] = True


def _blocks(
    S: Matrix,
    first: NDArray[np.int64],
    others: NDArray[np.int64],
    complete: BoolVector,
    before: arrays.Candidates | None,
) -> tuple[Vector, NDArray[np.int64]]:
    """Return the correlations of the candidates of all nodes, and where those of each node begin."""
    shared = len(S) ** 2 if complete.any() else 0
    sizes = np.where(complete, 0, np.diff(first) ** 2)
    corner = np.where(complete, 0, shared + np.cumsum(sizes) - sizes)
    blocks = np.empty(shared + int(sizes.sum()))
    blocks[:shared] = S.ravel()[:shared]
    new = ~complete
    if before is not None and not shared:
        new = _changed(first, others, before)
        # The blocks of neighbouring nodes lie next to each other.
        for start, stop in np.flatnonzero(np.diff(np.concatenate([[True], new, [True]]))).reshape(-1, 2):
            width, old = int(sizes[start:stop].sum()), before.corner[start]
            blocks[corner[start] : corner[start] + width] = before.blocks[old : old + width]
    correlation_parent_kernels.fill_blocks(S, first, others, corner, np.flatnonzero(new), blocks)
    return blocks, corner


def _changed(first: NDArray[np.int64], others: NDArray[np.int64], before: arrays.Candidates) -> BoolVector:
    """Return which nodes have other candidates than before, when no node had all nodes as candidates."""
    d, same = len(first) - 1, np.diff(first) == np.diff(before.first)
    owners = np.repeat(np.arange(d), np.diff(first))
    known = same[owners]
    places = (np.arange(len(others)) - first[owners] + before.first[owners])[known]
    differs = before.slots[NODE, places] != others[known]
    return np.asarray(~same | (np.bincount(owners[known], weights=differs, minlength=d) > 0))


def scratch(m: int, most_parents: int) -> arrays.Work:
    """Allocate scratch space for nodes with at most m candidates."""
    most = min(m, most_parents) + 1
    return arrays.Work(
        nodes=np.zeros((5, 2 * m + 2), dtype=np.int64),
        vectors=np.zeros((8, m + 3)),
        K=np.zeros((most, most)),
        W=np.zeros((most, m + 1)),
    )


def empty_state(d: int, total: int) -> arrays.State:
    """Allocate the state of d nodes with so many candidates in all."""
    return arrays.State(
        nodes=np.zeros((3, d), dtype=np.int64),
        values=np.zeros((2, d)),
        hashes=np.zeros((2, d), dtype=np.uint64),
        parents=np.zeros(total, dtype=np.int64),
        vectors=np.zeros((2, total)),
        marks=np.zeros(total, dtype=np.uint8),
    )
