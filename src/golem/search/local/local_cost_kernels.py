"""Compiled costs of a node given its parents, for Gaussian columns. `local_count_kernels` has those of categories.

All candidates for one more parent are evaluated together: they share the regression on the parents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.jit import inlined, kernel
from golem.search.local.local_count_kernels import count_costs
from golem.search.local.local_kernel_arrays import (
    ALLOWED,
    BY_PARENTS,
    COLLINEAR,
    COSTS,
    FIRST_COVARIANCE,
    GAUSSIAN,
    GROUP,
    KIND,
    LIMIT,
    NODE,
    OWN,
    PER_COEFFICIENT,
    SIZE,
    START,
    STRIDE,
    VARIANCE,
    WIDTH,
    Candidates,
    Memo,
    Problem,
    Work,
)
from golem.search.shared_kernels import ONE, add_multiple


@kernel
def residual_logdet(A: Any, floor: Any, m: int, last: int) -> Any:
    """Return the log determinant of the last columns of A given those before them; A is lower and is overwritten."""
    total = 0.0
    for i in range(m):
        pivot = A[i, i]
        skipped = pivot <= floor[i]
        if i >= m - last and floor[i] > 0.0:
            total += np.log(max(pivot, floor[i]))
        for a in range(i + 1, m):
            if not skipped:
                share = A[a, i] / pivot
                for b in range(i + 1, a + 1):
                    A[a, b] -= share * A[b, i]
    return total


@kernel
def whiten(R: Any, V: Any, col: int, rank: int) -> Any:
    """Orthogonalize a column to the first rows of V, and add it as a row, unless they determine it; return the rank."""
    row = V[rank, : R.shape[0]]
    for q in range(R.shape[0]):
        row[q] = R[col, q]
    for a in range(rank):
        add_multiple(row, -V[a, col], V[a, : R.shape[0]])
    if row[col] <= COLLINEAR * R[col, col]:
        return rank
    scale = 1.0 / np.sqrt(row[col])
    for q in range(R.shape[0]):
        row[q] *= scale
    return rank + 1


@kernel
def residuals(R: Any, V: Any, rank: int, own: int, w: int, vectors: Any) -> None:
    """Compute residual variances of all columns of a block, and residual covariances with those of the node itself."""
    m = R.shape[0]
    variance = vectors[VARIANCE, :m]
    for q in range(m):
        variance[q] = R[q, q]
    for i in range(rank):
        for q in range(m):
            variance[q] -= V[i, q] * V[i, q]
    for b in range(w):
        covariance = vectors[FIRST_COVARIANCE + b, :m]
        for q in range(m):
            covariance[q] = R[own + b, q]
        for i in range(rank):
            add_multiple(covariance, -V[i, own + b], V[i, :m])


@kernel
def block_cost(R: Any, V: Any, rank: int, own: int, w: int, start: int, wc: int, vectors: Any, A: Any) -> Any:
    """Return the log determinant of the residual block of a node with one more parent of `wc` columns."""
    floor, m = vectors[FIRST_COVARIANCE + w], wc + w
    for a in range(m):
        p = start + a if a < wc else own + a - wc
        floor[a] = COLLINEAR * R[p, p]
        for b in range(a + 1):
            q = start + b if b < wc else own + b - wc
            if a >= wc:
                A[a, b] = vectors[FIRST_COVARIANCE + a - wc, q]
            elif a == b:
                A[a, b] = vectors[VARIANCE, p]
            else:
                A[a, b] = R[p, q]
                for i in range(rank):
                    A[a, b] -= V[i, p] * V[i, q]
    return residual_logdet(A, floor, m, w)


@inlined
def gaussian_costs(problem: Problem, candidates: Candidates, work: Work, j: int, P: Any, k: int) -> Any:
    """Return the cost of j with the first k slots of P as parents; add the costs with one more to finite entries.

    Penalties are not included.
    """
    first, m = candidates.first[j], candidates.first[j + 1] - candidates.first[j]
    own, w, stride = problem.nodes[OWN, j], problem.nodes[WIDTH, j], problem.nodes[STRIDE, j]
    costs, V, total = work.vectors[COSTS], work.V, 0.0
    for t in range(problem.term_first[j], problem.term_first[j + 1]):
        R = problem.blocks[problem.corner[t] : problem.corner[t] + stride * stride].reshape((stride, stride))
        rank = ONE - 1
        for i in range(k):
            start = candidates.slots[START, first + P[i]]
            for col in range(start, start + problem.nodes[WIDTH, candidates.slots[NODE, first + P[i]]]):
                rank = whiten(R, V, col, rank)
        residuals(R, V, rank, own, w, work.vectors)
        for c in range(-1, m):
            if c < 0 or costs[c] < np.inf:
                start, wc = own, ONE - 1
                if c >= 0:
                    start = candidates.slots[START, first + c]
                    wc = problem.nodes[WIDTH, candidates.slots[NODE, first + c]]
                cost = problem.rows[t] * block_cost(R, V, rank, own, w, start, wc, work.vectors, work.A)
                if c < 0:
                    total += cost
                else:
                    costs[c] += cost
    return total


@kernel
def evaluate(
    problem: Problem, candidates: Candidates, memo: Memo, work: Work, j: int, P: Any, k: int, more: bool
) -> Any:
    """Return the cost of j with the first k slots of P as parents; with `more`, compute the costs with one more.

    `work.vectors[COSTS]` gets the latter, infinite where a parent is not possible.
    """
    first, m, costs = candidates.first[j], candidates.first[j + 1] - candidates.first[j], work.vectors[COSTS]
    kind, width, weight = problem.kind, problem.nodes[WIDTH], problem.values[PER_COEFFICIENT, j]
    size, number, edges = 0.0, 0.0 if kind == GAUSSIAN else 1.0, 0.0
    group, by_groups = problem.nodes[GROUP], problem.by_groups[problem.nodes[GROUP, j]]
    for i in range(k):
        u = candidates.slots[NODE, first + P[i]]
        size += problem.values[SIZE, u]
        number = number + width[u] if kind == GAUSSIAN else number * width[u]
        edges += by_groups[group[u]]
    weight *= width[j] if kind == GAUSSIAN else width[j] - 1
    for c in range(m):
        u = candidates.slots[NODE, first + c]
        costs[c] = np.inf
        fits = size + problem.values[SIZE, u] <= problem.values[LIMIT, j]
        if more and fits and candidates.slots[KIND, first + c] & ALLOWED:
            total = number + width[u] if kind == GAUSSIAN else number * width[u]
            costs[c] = weight * total + problem.values[BY_PARENTS, k + 1] + edges + by_groups[group[u]]
    for i in range(k):
        costs[P[i]] = np.inf
    if kind == GAUSSIAN:
        fit = gaussian_costs(problem, candidates, work, j, P, k)
    else:
        fit = count_costs(problem, candidates, memo, work, j, P, k)
    return fit + weight * number + problem.values[BY_PARENTS, k] + edges
