"""Compiled kernels for equal variances: the parents of each node along an order, and their regressions.

Import this module only where a search runs, because it imports numba. The score is

    scale * log R + sum_j penalty[k_j],    R = sum of the residual variances, k_j = number of parents of j.

With the other nodes fixed, an edge that changes R by delta is worth its penalty if delta / R reaches a bound that
depends only on k: `drop_below[k]` for one parent less than k, `add_above[k]` for reaching k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.search.jit import allocating_entry, allocating_kernel, inlined, kernel

Array = Any

# A candidate is not added if the current parents explain all but this share of its variance, as the regression would
# be singular.
COLLINEAR = 1e-11
# Additions must gain more than rounding, so that nothing is added and dropped forever.
_MARGIN = 1 + 1e-9
# Relative rounding error of R.
_ROUNDING_OF_R = 1e-12
_GROW: Any = np.bool_(True)
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


class Choice(NamedTuple):
    """The parents of every node along an order, and the data for choosing them.

    The first number[j] entries of row j of `parents` and `weights` are the parents of node j.
    """

    # Covariance, and a contiguous copy of its diagonal.
    S: Array
    variance: Array
    # Position of each node in the order.
    place: Array
    parents: Array
    number: Array
    # Least-squares weights of the parents, and residual variances.
    weights: Array
    residuals: Array
    # Masks indexed [child, parent]; without rows if there is no knowledge.
    allowed: Array
    required: Array
    # Upper bounds on 1 / (variance of a node given any others); infinite if unknown.
    precision: Array
    # Bounds on delta / R.
    drop_below: Array
    add_above: Array
    # Nodes influence each other only through R. The parents of node j stay best while R is between these.
    stable_from: Array
    stable_to: Array


@inlined
def is_allowed(choice: Choice, j: int, p: int) -> bool:
    """Return whether p may be a parent of j."""
    return len(choice.allowed) == 0 or choice.allowed[j, p]


@inlined
def is_required(choice: Choice, j: int, p: int) -> bool:
    """Return whether p must be a parent of j."""
    return len(choice.required) > 0 and choice.required[j, p]


@inlined
def weakest_parent(choice: Choice, j: int, fit: Regression, m: int) -> tuple[int, float]:
    """Return which of the m parents raises the residual variance of j least if it is dropped, and by how much."""
    weakest, loss = NO_NODE, np.inf
    for i in range(m):
        b = fit.b[i]
        if b * b < loss * fit.H[i, i] and not is_required(choice, j, fit.chosen[i]):
            weakest, loss = i, b * b / fit.H[i, i]
    return weakest, loss


@inlined
def best_addition(choice: Choice, j: int, fit: Regression, m: int, c: Array, least: float) -> tuple[int, float]:
    """Return the node that lowers the residual variance of j most, if by more than `least`; c is scratch space.

    Also return the largest decrease, or an upper bound on it, if there is no such node.
    """
    S, variance, place, precision = choice.S, choice.variance, choice.place, choice.precision
    residual_covariances(S, j, fit, m, c)
    best, gain, refused = NO_NODE, least, 0.0
    for p in range(len(S)):
        if place[p] >= place[j]:
            continue
        # The bound by the precision avoids most projections.
        worth = c[p] * c[p] * precision[p]
        if worth <= refused:
            continue
        if worth > gain and is_allowed(choice, j, p):
            v = project(S, p, variance[p], fit, m)
            worth = c[p] * c[p] / v if v > COLLINEAR * variance[p] else 0.0
            if worth > gain:
                best, gain = p, worth
        if worth > refused and is_allowed(choice, j, p):
            refused = worth
    return best, refused


@allocating_kernel
def improve(
    choice: Choice, j: int, start: Array, count: int, others: float, grow: bool
) -> tuple[Regression, int, float, float, float]:
    """Drop and, with `grow`, add parents of j, from the first `count` of `start`.

    `others` is the sum of the other nodes' residual variances. Returns the regression, the number of parents, the
    residual variance, and the least and largest R for which no single addition or removal would lower the score.
    """
    S, variance, d = choice.S, choice.variance, len(choice.S)
    required = len(choice.required)  # d or, without knowledge, 0
    capacity = count + 8
    for p in range(required):
        capacity += choice.required[j, p]
    fit = allocate(capacity)
    c = np.empty(d)
    r, m = S[j, j], ZERO
    for i in range(required + count):  # required parents first
        p = i if i < required else start[i - required]
        if is_required(choice, j, p) == (i < required) and is_allowed(choice, j, p):
            v = project(S, p, variance[p], fit, m)
            if v > COLLINEAR * variance[p]:
                r -= enter(S, j, p, v, fit, m)
                m += 1
    loss, refused = np.inf, 0.0
    # Every round adds one parent and lowers the score. The limit guards against rounding if S is nearly singular.
    for _ in range(d + 1):
        while True:
            weakest, loss = weakest_parent(choice, j, fit, m)
            if weakest < 0 or loss >= (others + r) * choice.drop_below[m]:
                break
            leave(weakest, fit, m)
            r += loss
            m -= 1
        if not grow:
            break
        best, refused = best_addition(choice, j, fit, m, c, (others + r) * choice.add_above[m + 1] * _MARGIN)
        if best < 0:
            break
        if m == capacity:
            capacity *= 2
            fit = copied(fit, m, capacity)
        v = project(S, best, variance[best], fit, m)
        r -= enter(S, j, best, v, fit, m)
        m += 1
    least = refused / (choice.add_above[m + 1] * _MARGIN) if choice.add_above[m + 1] > 0 else 0.0
    largest = loss / choice.drop_below[m] if choice.drop_below[m] > 0 else np.inf
    return fit, m, r, least, largest


@kernel
def store(choice: Choice, j: int, fit: Regression, m: int, residual: float) -> None:
    """Store the parents of j."""
    for i in range(m):
        choice.parents[j, i] = fit.chosen[i]
        choice.weights[j, i] = fit.b[i]
    choice.number[j] = m
    choice.residuals[j] = residual


@allocating_entry
def select_parents(choice: Choice, nodes: Array, total: float) -> int:
    """Improve the parents of some nodes until no edge added or dropped lowers the score.

    `total` is R at the start, an argument because other threads change the residuals. Returns the largest number of
    parents. A node whose new parents do not fit keeps the old ones.
    """
    room = choice.parents.shape[1]
    most = ZERO
    for j in nodes:
        others = total - choice.residuals[j]
        fit, m, r, least, largest = improve(choice, j, choice.parents[j], choice.number[j], others, _GROW)
        most = max(most, m)
        if m <= room:
            store(choice, j, fit, m, r)
            choice.stable_from[j], choice.stable_to[j] = least * (1 - _ROUNDING_OF_R), largest * (1 + _ROUNDING_OF_R)
    return int(most)
