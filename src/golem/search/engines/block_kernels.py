"""Compiled costs of a node given its parents, for Gaussian columns.

All candidates for one more parent are evaluated together: they share the regression on the parents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.engines.record_kernel_arrays import (
    COSTS,
    FIRST_COVARIANCE,
    OWN,
    START,
    STRIDE,
    VARIANCE,
    WIDTH,
    BlockArrays,
)
from golem.search.engines.record_parent_kernels import coefficients_without_parents, count_coefficients, fit_costs
from golem.search.jit import implements, kernel
from golem.search.order_kernel_arrays import COLLINEAR, NODE, ONE
from golem.search.order_kernels import add_multiple


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


@implements(fit_costs, BlockArrays)
def gaussian_costs(e: BlockArrays, j: int, P: Any, k: int) -> Any:
    """Return the cost of j with the first k slots of P as parents; add the costs with one more to finite entries.

    Penalties are not included.
    """
    problem, candidates, work = e.problem, e.candidates, e.work
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


@implements(count_coefficients, BlockArrays)
def add_coefficients(e: BlockArrays, number: float, width: int) -> Any:
    """Return the number of columns of the parents with one more."""
    return number + width


@implements(coefficients_without_parents, BlockArrays)
def no_coefficients(e: BlockArrays) -> Any:
    """Return zero: an intercept is not penalized."""
    return 0.0
