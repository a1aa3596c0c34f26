"""The parents of each node along an order, under a score that counts edges (compiled with numba).

Import this module only where a search runs, as it brings numba with it. `place[i]` is the place of node i in
the order, and row j of `parents`, `allowed`, `required` and `weights` speaks of the parents of node j. The
score is

    scale * log R + sum_j price[k_j],    R = sum of the residual variances, k_j = number of parents of j.

With the other nodes held, an edge that changes R by delta is worth its price when delta / R reaches a bound
that depends on k alone: `drop_below[k]` for leaving k parents, `add_above[k]` for reaching k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = Any

# A node whose variance is explained to all but this share by the parents already there is not added to them:
# the regression would be singular.
COLLINEAR = 1e-11
# What is added must pay by more than rounding, so that nothing is added and dropped for ever.
_MARGIN = 1 + 1e-9


@njit(cache=True, nogil=True)
def project(S: Array, p: int, chosen: Array, H: Array, m: int, u: Array) -> float:
    """Regress node p on the chosen ones: coefficients into u, its residual variance returned."""
    v = S[p, p]
    for i in range(m):
        u[i] = 0.0
    for i in range(m):
        s = S[p, chosen[i]]
        for k in range(m):
            u[k] += s * H[i, k]
    for i in range(m):
        v -= u[i] * S[p, chosen[i]]
    return float(v)


@njit(cache=True, nogil=True)
def enter(S: Array, j: int, p: int, v: float, chosen: Array, H: Array, b: Array, m: int, u: Array) -> float:
    """Add p, projected to (u, v), to the regression of j by bordering the inverse Gram; return the gain."""
    c = S[j, p]
    for i in range(m):
        c -= b[i] * S[p, chosen[i]]
    weight = c / v
    for i in range(m):
        b[i] -= u[i] * weight
        scaled = u[i] / v
        for k in range(m):
            H[i, k] += scaled * u[k]
        H[i, m] = H[m, i] = -scaled
    H[m, m] = 1 / v
    b[m] = weight
    chosen[m] = p
    return float(c * weight)


@njit(cache=True, nogil=True)
def leave(i: int, chosen: Array, H: Array, b: Array, m: int) -> None:
    """Drop the i-th of m parents by a rank-one downdate of the inverse Gram; the last one takes its place."""
    last = m - 1
    if i != last:
        chosen[i], chosen[last] = chosen[last], chosen[i]
        b[i], b[last] = b[last], b[i]
        for k in range(m):
            H[i, k], H[last, k] = H[last, k], H[i, k]
        for k in range(m):
            H[k, i], H[k, last] = H[k, last], H[k, i]
    pivot = H[last, last]
    for k in range(last):
        ratio = H[k, last] / pivot
        b[k] -= ratio * b[last]
        for q in range(last):
            H[k, q] -= ratio * H[last, q]


@njit(cache=True, nogil=True)
def improve(
    S: Array,
    j: int,
    place: Array,
    parents: Array,
    allowed: Array,
    required: Array,
    precision: Array,
    weights: Array,
    drop_below: Array,
    add_above: Array,
    others: float,
    grow: bool,
) -> tuple[float, int]:
    """Shrink and, if asked, grow the parents of j; return its residual variance and their number.

    `parents` (start and answer), `allowed`, `required` and `weights` (answer) are the rows of j; `others` is
    the sum of the other nodes' residual variances.
    """
    d = len(S)
    capacity = 8
    for p in range(d):
        capacity += parents[p] or required[p]
    H = np.empty((capacity, capacity))
    b, u = np.empty(capacity), np.empty(capacity)
    chosen = np.empty(capacity, dtype=np.int64)
    c = np.empty(d)
    r = S[j, j]
    m = 0
    for p in range(d):
        if required[p] or (parents[p] and allowed[p]):
            v = project(S, p, chosen, H, m, u)
            if v > COLLINEAR * S[p, p]:
                r -= enter(S, j, p, v, chosen, H, b, m, u)
                m += 1
    # Every round adds one parent and lowers the score; the limit is for rounding in a nearly singular S.
    for _ in range(d + 1):
        while m > 0:  # shrink
            weakest, loss = -1, np.inf
            for i in range(m):
                if not required[chosen[i]] and b[i] * b[i] < loss * H[i, i]:
                    weakest, loss = i, b[i] * b[i] / H[i, i]
            if weakest < 0 or loss >= (others + r) * drop_below[m]:
                break
            leave(weakest, chosen, H, b, m)
            r += loss
            m -= 1
        if not grow:
            break
        residual_covariances(S, j, chosen, b, m, c)
        best, gain = -1, (others + r) * add_above[m + 1] * _MARGIN
        for p in range(d):  # grow; the bound by the precision spares most projections
            if c[p] * c[p] * precision[p] > gain and place[p] < place[j] and allowed[p]:
                v = project(S, p, chosen, H, m, u)
                if v > COLLINEAR * S[p, p] and c[p] * c[p] > gain * v:
                    best, gain = p, c[p] * c[p] / v
        if best < 0:
            break
        if m == capacity:
            capacity *= 2
            narrow = H, b, chosen
            H = np.empty((capacity, capacity))
            b, u = np.empty(capacity), np.empty(capacity)
            chosen = np.empty(capacity, dtype=np.int64)
            for i in range(m):
                b[i], chosen[i] = narrow[1][i], narrow[2][i]
                for q in range(m):
                    H[i, q] = narrow[0][i, q]
        v = project(S, best, chosen, H, m, u)
        r -= enter(S, j, best, v, chosen, H, b, m, u)
        m += 1
    for p in range(d):
        parents[p] = False
        weights[p] = 0.0
    for i in range(m):
        parents[chosen[i]] = True
        weights[chosen[i]] = b[i]
    return r, m


@njit(cache=True, nogil=True)
def residual_covariances(S: Array, j: int, chosen: Array, b: Array, m: int, c: Array) -> None:
    """Write into c the covariance of each node with the residual of j, zero for its parents."""
    for p in range(len(S)):
        c[p] = S[j, p]
    for i in range(m):
        q, weight = chosen[i], b[i]
        for p in range(len(S)):
            c[p] -= weight * S[q, p]
    for i in range(m):
        c[chosen[i]] = 0.0


@njit(cache=True, nogil=True)
def select_parents(
    S: Array,
    nodes: Array,
    place: Array,
    parents: Array,
    allowed: Array,
    required: Array,
    precision: Array,
    weights: Array,
    residuals: Array,
    drop_below: Array,
    add_above: Array,
    total: float,
) -> int:
    """Improve the parents of some nodes until no edge added or dropped lowers the score; count the changed.

    Parameters
    ----------
    S : ndarray of shape (d, d)
        Covariance.
    nodes : ndarray of int
        Nodes to treat.
    place : ndarray of shape (d,), int
        Place of each node in the order.
    parents : ndarray of shape (d, d), bool
        The start, overwritten by the answer.
    allowed, required : ndarray of shape (d, d), bool
        Parents that a node may have, and must have.
    precision : ndarray of shape (d,)
        Upper bounds on 1 / (variance of a node given any others); infinity where none is known.
    weights, residuals : ndarray of shape (d, d) and (d,)
        Written: least-squares weights of the parents, and residual variances.
    drop_below, add_above : ndarray of shape (d + 1,)
        Bounds on delta / R.
    total : float
        R at the start; given, as other threads are writing their residuals.
    """
    d = len(S)
    before = np.empty(d, dtype=np.bool_)
    changed = 0
    for j in nodes:
        for p in range(d):
            before[p] = parents[j, p]
        residuals[j], _ = improve(
            S, j, place, parents[j], allowed[j], required[j], precision, weights[j],
            drop_below, add_above, total - residuals[j], True,
        )  # fmt: skip
        for p in range(d):
            if before[p] != parents[j, p]:
                changed += 1
                break
    return changed
