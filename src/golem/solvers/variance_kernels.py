"""Compiled kernels under equal variances: the parents of each node along an order, and moves that turn edges.

Import this module only where a search runs, as it brings numba with it. The score is

    scale * log R + sum_j price[k_j],    R = sum of the residual variances, k_j = number of parents of j.

With the other nodes held, an edge that changes R by delta is worth its price when delta / R reaches a bound
that depends on k alone: `drop_below[k]` for leaving k parents, `add_above[k]` for reaching k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.solvers.jit import entry, inlined, kernel

Array = Any

# A node whose variance is explained to all but this share by the parents already there is not added to them:
# the regression would be singular.
COLLINEAR = 1e-11
# What is added must pay by more than rounding, so that nothing is added and dropped for ever.
_MARGIN = 1 + 1e-9
# A move must pay by more than rounding, so that nothing is done and undone for ever.
_LEAST_GAIN = 1e-6
# Edges that a node may come to spare when one of its edges is turned; more are not hoped for.
_SPARED = 8
# Typed: literals would compile every kernel that takes them once more.
_NONE: Any = np.int64(0)
_NOBODY: Any = np.int64(-1)
_GROW: Any = np.bool_(True)
_ONLY_SHRINK: Any = np.bool_(False)


class Choice(NamedTuple):
    """The parents of every node along an order, and what their choice depends on.

    Row j of `parents`, `allowed`, `required` and `weights` speaks of the parents of node j.
    """

    # Covariance.
    S: Array
    # Place of each node in the order.
    place: Array
    parents: Array
    # Parents that a node may have, and must have.
    allowed: Array
    required: Array
    # Upper bounds on 1 / (variance of a node given any others); infinity where none is known.
    precision: Array
    # Least-squares weights of the parents, and residual variances.
    weights: Array
    residuals: Array
    # Bounds on delta / R.
    drop_below: Array
    add_above: Array


class Regression(NamedTuple):
    """A node on the first m of its chosen parents: their inverse Gram H and weights b; u is a work vector."""

    chosen: Array
    H: Array
    b: Array
    u: Array


@kernel
def allocate(capacity: int) -> Regression:
    """Make room for a regression on that many parents."""
    H, b, u = np.empty((capacity, capacity)), np.empty(capacity), np.empty(capacity)
    return Regression(np.empty(capacity, dtype=np.int64), H, b, u)


@kernel
def copied(fit: Regression, m: int, capacity: int) -> Regression:
    """Copy a regression on m parents to where there is room for others."""
    copy = allocate(capacity)
    for i in range(m):
        copy.chosen[i] = fit.chosen[i]
        copy.b[i] = fit.b[i]
        for k in range(m):
            copy.H[i, k] = fit.H[i, k]
    return copy


@kernel
def project(S: Array, p: int, fit: Regression, m: int) -> float:
    """Regress node p on the chosen ones: coefficients into u, its residual variance returned."""
    chosen, H, u = fit.chosen, fit.H, fit.u
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


@kernel
def enter(S: Array, j: int, p: int, v: float, fit: Regression, m: int) -> float:
    """Add p, projected to (u, v), to the regression of j by bordering the inverse Gram; return the gain."""
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
    """Drop the i-th of m parents by a rank-one downdate of the inverse Gram; the last one takes its place."""
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
    """Write into c the covariance of each node with the residual of j, zero for its parents."""
    for p in range(len(S)):
        c[p] = S[j, p]
    for i in range(m):
        q, weight = fit.chosen[i], fit.b[i]
        for p in range(len(S)):
            c[p] -= weight * S[q, p]
    for i in range(m):
        c[fit.chosen[i]] = 0.0


@kernel
def improve(choice: Choice, j: int, parents: Array, weights: Array, others: float, grow: bool) -> tuple[float, int]:
    """Shrink and, if asked, grow the parents of j; return its residual variance and their number.

    `parents` (start and answer) and `weights` (answer) are rows of j; `others` is the sum of the other nodes' residual
    variances.
    """
    S, place, precision = choice.S, choice.place, choice.precision
    allowed, required = choice.allowed[j], choice.required[j]
    d = len(S)
    capacity = _NONE + 8
    for p in range(d):
        capacity += parents[p] or required[p]
    fit = allocate(capacity)
    c = np.empty(d)
    r, m = S[j, j], _NONE
    for p in range(d):
        if required[p] or (parents[p] and allowed[p]):
            v = project(S, p, fit, m)
            if v > COLLINEAR * S[p, p]:
                r -= enter(S, j, p, v, fit, m)
                m += 1
    # Every round adds one parent and lowers the score; the limit is for rounding in a nearly singular S.
    for _ in range(d + 1):
        while m > 0:  # shrink
            weakest, loss = _NOBODY, np.inf
            for i in range(m):
                b = fit.b[i]
                if not required[fit.chosen[i]] and b * b < loss * fit.H[i, i]:
                    weakest, loss = i, b * b / fit.H[i, i]
            if weakest < 0 or loss >= (others + r) * choice.drop_below[m]:
                break
            leave(weakest, fit, m)
            r += loss
            m -= 1
        if not grow:
            break
        residual_covariances(S, j, fit, m, c)
        best, gain = _NOBODY, (others + r) * choice.add_above[m + 1] * _MARGIN
        for p in range(d):  # grow; the bound by the precision spares most projections
            if c[p] * c[p] * precision[p] > gain and place[p] < place[j] and allowed[p]:
                v = project(S, p, fit, m)
                if v > COLLINEAR * S[p, p] and c[p] * c[p] > gain * v:
                    best, gain = p, c[p] * c[p] / v
        if best < 0:
            break
        if m == capacity:
            capacity *= 2
            fit = copied(fit, m, capacity)
        v = project(S, best, fit, m)
        r -= enter(S, j, best, v, fit, m)
        m += 1
    for p in range(d):
        parents[p] = False
        weights[p] = 0.0
    for i in range(m):
        parents[fit.chosen[i]] = True
        weights[fit.chosen[i]] = fit.b[i]
    return r, m


@entry
def select_parents(choice: Choice, nodes: Array, total: float) -> int:
    """Improve the parents of some nodes until no edge added or dropped lowers the score; count the changed.

    `total` is R at the start; it is given, as other threads are writing their residuals.
    """
    parents, residuals = choice.parents, choice.residuals
    d = len(choice.S)
    before = np.empty(d, dtype=np.bool_)
    changed = 0
    for j in nodes:
        for p in range(d):
            before[p] = parents[j, p]
        residuals[j], _ = improve(choice, j, parents[j], choice.weights[j], total - residuals[j], _GROW)
        for p in range(d):
            if before[p] != parents[j, p]:
                changed += 1
                break
    return changed


@inlined
def last_parent(parents: Array, place: Array, j: int) -> int:
    """Place of the last parent of j, -1 if it has none."""
    last = _NOBODY
    for p in range(len(place)):
        if parents[j, p]:
            last = max(last, place[p])
    return int(last)


@inlined
def bring_forward(order: Array, place: Array, parents: Array, at: int, to: int) -> bool:
    """Move the node at `to`, with its ancestors after `at`, before the node u at `at`.

    False, and nothing moved, where u is an ancestor of one of these ancestors: no order has the edge turned.
    """
    u, v = order[at], order[to]
    needed = np.zeros(len(order), dtype=np.bool_)
    needed[v] = True
    for q in range(to, at, -1):
        x = order[q]
        if needed[x]:
            if x != v and parents[x, u]:
                return False
            for p in range(len(order)):
                if parents[x, p] and place[p] > at:
                    needed[p] = True
    passed = np.empty(to - at, dtype=np.int64)
    count = 0
    for q in range(at, to + 1):
        x = order[q]
        if needed[x]:
            order[q - count] = x
            place[x] = q - count
        else:
            passed[count] = x
            count += 1
    for i in range(count):
        order[to + 1 - count + i] = passed[i]
        place[passed[i]] = to + 1 - count + i
    return True


@inlined
def regress(S: Array, j: int, parents: Array, room: int) -> tuple[Regression, int]:
    """Regress j on its parents, with room for some more; return the regression and their number."""
    m = _NONE
    for p in range(len(S)):
        m += parents[p]
    fit = allocate(m + room)
    m = _NONE
    for p in range(len(S)):
        if parents[p]:
            enter(S, j, p, project(S, p, fit, m), fit, m)
            m += 1
    return fit, m


@inlined
def turned_variances(S: Array, u: int, v: int, fit: Regression, k: int, parents: Array, residual: float) -> float:
    """Return the least sum of the residual variances of u and v once u -> v is turned.

    Both may use the parents of both. `fit` is the regression of v on its k parents, `residual` its residual variance,
    `parents` the row of u. O(k^2) for each parent of u, where building the regressions would take O(k^3): it
    matters for hubs.
    """
    both = copied(fit, k, len(fit.b))
    r = residual
    for i in range(k):
        if both.chosen[i] == u:
            r += both.b[i] * both.b[i] / both.H[i, i]
            leave(i, both, k)
            break
    m = k - 1
    for p in range(len(S)):
        if parents[p] and m < len(both.b):
            w = project(S, p, both, m)
            # Parents that both have leave no variance here.
            if w > COLLINEAR * S[p, p]:
                r -= enter(S, v, p, w, both, m)
                m += 1
    w = project(S, u, both, m)
    c = S[u, v]
    for i in range(m):
        c -= both.b[i] * S[u, both.chosen[i]]
    return float(r + w - c * c / r)


@kernel
def turn(choice: Choice, order: Array, price: Array, scale: float, at: int, to: int, total: float) -> float:
    """Make v, at place `to`, a parent of u, at place `at`, if that pays; return the new R."""
    parents, weights, residuals = choice.parents, choice.weights, choice.residuals
    d = len(order)
    u, v = order[at], order[to]
    # Either may need the other's parents once their edge is turned. Growing here would spend much on
    # imitating a lost parent by many proxies; what a good move lacks, the next sweep adds.
    parents_u, parents_v = np.empty(d, dtype=np.bool_), np.empty(d, dtype=np.bool_)
    weights_u, weights_v = np.empty(d), np.empty(d)
    k_u, k_v = 0, 0
    for p in range(d):
        k_u += parents[u, p]
        k_v += parents[v, p]
        parents_u[p] = parents_v[p] = (parents[u, p] or parents[v, p]) and p != u
    parents_u[v] = True
    rest = total - residuals[u] - residuals[v]
    r_v, m_v = improve(choice, v, parents_v, weights_v, rest + residuals[u], _ONLY_SHRINK)
    r_u, m_u = improve(choice, u, parents_u, weights_u, rest + r_v, _ONLY_SHRINK)
    gain = price[k_u] + price[k_v] - price[m_u] - price[m_v]
    gain -= scale * np.log((rest + r_u + r_v) / total)
    if gain <= _LEAST_GAIN or not bring_forward(order, choice.place, parents, at, to):
        return total
    for p in range(d):
        parents[u, p], parents[v, p] = parents_u[p], parents_v[p]
        weights[u, p], weights[v, p] = weights_u[p], weights_v[p]
    residuals[u], residuals[v] = r_u, r_v
    return float(rest + r_u + r_v)


@entry
def turn_edges(choice: Choice, order: Array, price: Array, scale: float) -> int:
    """Turn edges, or make edges into earlier nodes, where that lowers the score; count the changes.

    An edge u -> v can be turned if no other path leads from u to v: v and its ancestors then move before u,
    past nodes that are not their parents, at no loss. Likewise v can become a parent of an earlier u, here if
    all parents of v precede u. Only u and v change parents. The graph and the order are updated.
    """
    S, place, parents, allowed, residuals = choice.S, choice.place, choice.parents, choice.allowed, choice.residuals
    d = len(S)
    moves = 0
    # Every move lowers the score; the limit is for rounding in a nearly singular S.
    most = 10 * d
    total = 0.0
    last = np.empty(d, dtype=np.int64)
    c = np.empty(d)
    for j in range(d):
        total += residuals[j]
    to = _NONE + 1
    while to < d and moves < most:  # edges, by their child
        v = order[to]
        fit, k_v = regress(S, v, parents[v], 64)
        moved = False
        for at in range(to):
            u = order[at]
            if not parents[v, u] or choice.required[v, u] or not allowed[u, v]:
                continue
            k_u = 0
            for p in range(d):
                k_u += parents[u, p]
            rest = total - residuals[u] - residuals[v]
            best = rest + turned_variances(S, u, v, fit, k_v, parents[u], residuals[v])
            # At best u needs none of its old parents any more, and v a few less.
            if scale * np.log(best / total) > price[k_u] + price[min(k_v, _SPARED)]:
                continue
            turned = turn(choice, order, price, scale, at, to, total)
            moved = order[at] != u
            if moved:
                total = turned
                moves += 1
                break
        to = max(at, 1) if moved else to + 1
    for j in range(d):
        last[j] = last_parent(parents, place, j)
    at = _NONE
    while at < d and moves < most:  # new edges, by their child
        u = order[at]
        fit, m = regress(S, u, parents[u], 1)
        residual_covariances(S, u, fit, m, c)
        enough = total * choice.add_above[m + 1]
        moved = False
        for to in range(at + 1, d):
            v = order[to]
            if (
                last[v] >= at
                or c[v] * c[v] * choice.precision[v] <= enough
                or not allowed[u, v]
                or c[v] * c[v] <= enough * project(S, v, fit, m)
            ):
                continue
            turned = turn(choice, order, price, scale, at, to, total)
            moved = order[at] != u
            if moved:
                total = turned
                moves += 1
                for j in range(d):
                    last[j] = last_parent(parents, place, j)
                break
        # A node that has moved may want to move on.
        at = max(at - 1, 0) if moved else at + 1
    return moves
