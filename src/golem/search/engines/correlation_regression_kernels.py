"""Compiled regressions of a node on its parents, which are updated when one parent is added or dropped.

All kernels use a correlation matrix. A node only sees its candidates: the nodes that may become its parents or
children. They are numbered by slots, and R is the correlation matrix of the candidates of one node. For a node j with
parents P, and for every candidate c, the kernels store the residual covariance `g[c] = cov(e_j, x_c | P)` and the
residual variance `h[c] = var(x_c | P)`. Adding c to P lowers the residual variance r of j by `g[c]^2 / h[c]`, so that a
test costs a few multiplications. Most tests end there. Adding or dropping a parent updates K = R_PP^-1 in O(|P|^2) and
both vectors in O(|P| m), where m is the number of candidates, along contiguous rows of R.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.engines.correlation_kernel_arrays import (
    INSIDE,
    OPEN,
    PARENTS,
    REST,
    ROLE,
    SIZE,
    TINY,
    B,
    G,
    H,
    T,
    Work,
    X,
    Z,
)
from golem.search.jit import inlined, kernel, outlined
from golem.search.order_kernels import add_multiple

# Updated factors are computed afresh if they change r by more than this share.
DRIFT = 1e-6


@kernel
def add_outer(K: Any, x: Any, y: Any, k: int) -> None:
    """Add the outer product of the first k entries of x and y to K."""
    for i in range(k):
        for a in range(k):
            K[i, a] += x[i] * y[a]


@kernel
def take_out(z: Any, beta: float, weight: float, g: Any, h: Any, m: int) -> None:
    """Remove the direction z from the residual covariances g and the residual variances h."""
    for c in range(m):
        g[c] -= beta * z[c]
        h[c] -= weight * z[c] * z[c]


@kernel
def refine(R: Any, P: Any, k: int, K: Any, residual: Any, x: Any) -> None:
    """Improve a solution x of R_PP x = residual by one step, because updates cost K some digits."""
    for i in range(k):
        row = R[P[i]]
        s = residual[i]
        for a in range(k):
            s -= row[P[a]] * x[a]
        residual[i] = s
    for i in range(k):
        s = 0.0
        for a in range(k):
            s += K[i, a] * residual[a]
        x[i] += s


@outlined
def solve(R: Any, P: Any, k: int, K: Any, target: Any, residual: Any, x: Any) -> None:
    """Solve R_PP x = target_P for the coefficients x on P of a node, of which `target` are the correlations."""
    for i in range(k):
        residual[i] = target[P[i]]
        x[i] = 0.0
    for i in range(k):
        for a in range(k):
            x[a] += K[i, a] * residual[i]
    refine(R, P, k, K, residual, x)


@outlined
def cholesky(R: Any, P: Any, k: int, L: Any) -> None:
    """Factor R_PP = L L' for the first k of P."""
    for i in range(k):
        for a in range(i + 1):
            s = R[P[i], P[a]]
            for m in range(a):
                s -= L[i, m] * L[a, m]
            L[i, a] = s / L[a, a] if a < i else np.sqrt(max(s, TINY))


@outlined
def invert(R: Any, P: Any, k: int, K: Any, L: Any, row: Any) -> None:
    """Compute K = R_PP^-1 for the first k of P; L and row are scratch space."""
    cholesky(R, P, k, L)
    # L is inverted in place, row by row. K is the Gram matrix of the inverse.
    for i in range(k):
        for a in range(i):
            row[a] = 0.0
        for m in range(i):
            for a in range(m + 1):
                row[a] -= L[i, m] * L[m, a]
        inverse = 1.0 / L[i, i]
        for a in range(i):
            L[i, a] = row[a] * inverse
        L[i, i] = inverse
    for i in range(k):
        for a in range(k):
            K[i, a] = 0.0
    for m in range(k):
        add_outer(K, L[m], L[m], m + 1)


@outlined
def whiten(R: Any, P: Any, k: int, target: Any, W: Any, x: Any, g: Any, h: Any) -> Any:
    """Compute g and h given the first k of P, for a node with the correlations `target`; return r.

    Rows of W are the whitened parents (Gram-Schmidt on R), which is numerically stable.
    """
    m = R.shape[0]
    for c in range(m):
        g[c] = target[c]
        h[c] = 1.0
    r = 1.0
    for i in range(k):
        p, w = P[i], W[i]
        for c in range(m):
            w[c] = R[p, c]
        x[i] = target[p]
        for a in range(i):
            add_multiple(w, -W[a, p], W[a, :m])
            x[i] -= W[a, p] * x[a]
        scale = 1.0 / np.sqrt(max(w[p], TINY))
        for c in range(m):
            w[c] *= scale
        x[i] *= scale
        take_out(w, x[i], 1.0, g, h, m)
        r -= x[i] * x[i]
    return max(r, TINY)


@outlined
def has_drifted(R: Any, P: Any, k: int, target: Any, L: Any, x: Any, r: float) -> Any:
    """Tell whether the residual variance given the first k of P differs from the updated one, r."""
    cholesky(R, P, k, L)
    fresh = 1.0
    for i in range(k):
        x[i] = target[P[i]]
        for a in range(i):
            x[i] -= L[i, a] * x[a]
        x[i] /= L[i, i]
        fresh -= x[i] * x[i]
    return abs(fresh - r) > DRIFT * r


@inlined
def insert(R: Any, work: Work, c: int) -> None:
    """Add c to the parents."""
    K, P, g, h, z = work.K, work.nodes[PARENTS], work.vectors[G], work.vectors[H], work.vectors[Z]
    b, t, scaled = work.vectors[B], work.vectors[T], work.vectors[X]
    k = work.nodes[SIZE, 0]
    solve(R, P, k, K, R[c], scaled, t)
    variance = max(h[c], TINY)
    covariance = g[c]
    beta, inverse = covariance / variance, 1.0 / variance
    for q in range(R.shape[0]):
        z[q] = R[c, q]
    for i in range(k):
        add_multiple(z, -t[i], R[P[i]])
    take_out(z, beta, inverse, g, h, R.shape[0])
    for i in range(k):
        scaled[i] = t[i] * inverse
        K[i, k] = -scaled[i]
        K[k, i] = -scaled[i]
        b[i] -= beta * t[i]
    add_outer(K, scaled, t, k)
    K[k, k] = inverse
    b[k] = beta
    P[k] = c
    work.nodes[ROLE, c] = INSIDE
    work.nodes[SIZE, 0] = k + 1
    work.vectors[REST, 0] = max(work.vectors[REST, 0] - covariance * beta, TINY)


@inlined
def delete(R: Any, work: Work, i: int) -> None:
    """Drop the i-th parent, which stays open; the last parent takes its place."""
    K, P, z = work.K, work.nodes[PARENTS], work.vectors[Z]
    b, t, residual = work.vectors[B], work.vectors[T], work.vectors[X]
    k = work.nodes[SIZE, 0]
    for a in range(k):
        t[a] = K[i, a]
        residual[a] = 0.0
    residual[i] = 1.0
    refine(R, P, k, K, residual, t)
    pivot, beta = t[i], b[i]
    for q in range(R.shape[0]):
        z[q] = 0.0
    for a in range(k):
        share = t[a] / pivot
        add_multiple(z, share, R[P[a]])
        b[a] -= share * beta
    take_out(z, -beta, -pivot, work.vectors[G], work.vectors[H], R.shape[0])
    work.vectors[REST, 0] += beta * beta / pivot
    # K is downdated by its own row, not the refined one. This removes its errors along the dropped direction.
    for a in range(k):
        t[a] = K[i, a]
    pivot = K[i, i]
    for a in range(k):
        residual[a] = -t[a] / pivot
    add_outer(K, residual, t, k)
    last = k - 1
    for a in range(k):
        K[i, a] = K[last, a]
    for a in range(k):
        K[a, i] = K[a, last]
    work.nodes[ROLE, P[i]] = OPEN
    P[i] = P[last]
    b[i] = b[last]
    work.nodes[SIZE, 0] = last
