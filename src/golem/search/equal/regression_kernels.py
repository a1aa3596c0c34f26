"""Compiled regressions of a node on its parents that are updated when a parent enters or leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.search.jit import allocating_kernel, kernel

Array = Any

# Typed, because literals would compile every kernel that takes them once more.
ZERO: Any = np.int64(0)
NO_NODE: Any = np.int64(-1)


class Regression(NamedTuple):
    """Regression of a node on its chosen parents: their inverse Gram matrix H and weights b; u is scratch space."""

    chosen: Array
    H: Array
    b: Array
    u: Array


@allocating_kernel
def allocate(capacity: int) -> Regression:
    """Allocate a regression on at most `capacity` parents."""
    H, b, u = np.empty((capacity, capacity)), np.empty(capacity), np.empty(capacity)
    return Regression(np.empty(capacity, dtype=np.int64), H, b, u)


@allocating_kernel
def copied(fit: Regression, m: int, capacity: int) -> Regression:
    """Copy a regression on m parents to one with another capacity."""
    copy = allocate(capacity)
    for i in range(m):
        copy.chosen[i] = fit.chosen[i]
        copy.b[i] = fit.b[i]
        for k in range(m):
            copy.H[i, k] = fit.H[i, k]
    return copy


@kernel
def project(S: Array, p: int, variance: float, fit: Regression, m: int) -> float:
    """Regress node p on the chosen ones; write the coefficients to u and return the residual variance."""
    chosen, H, u = fit.chosen, fit.H, fit.u
    v = variance
    # S is symmetric. The rows of the chosen nodes stay in the CPU cache from one p to the next.
    for i in range(m):
        u[i] = 0.0
    for i in range(m):
        s = S[chosen[i], p]
        for k in range(m):
            u[k] += s * H[i, k]
    for i in range(m):
        v -= u[i] * S[chosen[i], p]
    return float(v)


@kernel
def enter(S: Array, j: int, p: int, v: float, fit: Regression, m: int) -> float:
    """Add p, projected to (u, v), to the regression of j by bordering H; return the decrease of the variance."""
    chosen, H, b, u = fit.chosen, fit.H, fit.b, fit.u
    c = S[j, p]
    for i in range(m):
        c -= b[i] * S[p, chosen[i]]
    weight = c / v
    for i in range(m):
        b[i] -= u[i] * weight
        scaled = u[i] / v
        for k in range(m):
            H[i, k] += scaled * u[k]
        H[i, m] = -scaled
        H[m, i] = -scaled
    H[m, m] = 1 / v
    b[m] = weight
    chosen[m] = p
    return float(c * weight)


@kernel
def leave(i: int, fit: Regression, m: int) -> None:
    """Drop the i-th of m parents by a rank-one downdate of H; the last parent takes its slot."""
    chosen, H, b = fit.chosen, fit.H, fit.b
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


@kernel
def residual_covariances(S: Array, j: int, fit: Regression, m: int, c: Array) -> None:
    """Write the covariance of each node with the residual of j to c; zero for parents of j."""
    for p in range(len(S)):
        c[p] = S[j, p]
    for i in range(m):
        q, weight = fit.chosen[i], fit.b[i]
        for p in range(len(S)):
            c[p] -= weight * S[q, p]
    for i in range(m):
        c[fit.chosen[i]] = 0.0


@allocating_kernel
def regress(S: Array, j: int, parents: Array, count: int, room: int) -> Regression:
    """Regress j on the first `count` of its parents, with room for some more."""
    fit = allocate(count + room)
    for m in range(count):
        p = parents[m]
        enter(S, j, p, project(S, p, S[p, p], fit, m), fit, m)
    return fit
