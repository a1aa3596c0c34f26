"""Parents along an order, and moves of the order, under a score that counts edges (compiled with numba).

Import this module only where a search runs, as it brings numba with it. `place[i]` is the place of node i in the
order, and row j of `parents`, `allowed`, `required` and `weights` speaks of the parents of node j. The score is

    scale * log R + sum_j price[k_j],    R = sum of the residual variances, k_j = number of parents of j.

With the other nodes held, an edge that changes R by delta is worth its price when delta / R reaches a bound that
depends on k alone: `drop_below[k]` for leaving k parents, `add_above[k]` for reaching k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = Any

# A node whose variance is explained to all but this share by the parents already there is not added to them: the
# regression would be singular.
_COLLINEAR = 1e-11
# What is added, and what is moved, must pay by more than rounding, so that nothing is done and undone for ever.
_MARGIN = 1 + 1e-9
_LEAST_GAIN = 1e-6


@njit(cache=True, nogil=True)
def _project(S: Array, p: int, chosen: Array, H: Array, m: int, u: Array) -> float:
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
def _enter(S: Array, j: int, p: int, v: float, chosen: Array, H: Array, b: Array, m: int, u: Array) -> float:
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
def _leave(i: int, chosen: Array, H: Array, b: Array, m: int) -> None:
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
def _improve(
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

    `parents` (start and answer), `allowed`, `required` and `weights` (answer) are the rows of j; `others` is the
    sum of the other nodes' residual variances.
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
            v = _project(S, p, chosen, H, m, u)
            if v > _COLLINEAR * S[p, p]:
                r -= _enter(S, j, p, v, chosen, H, b, m, u)
                m += 1
    while True:
        while m > 0:  # shrink
            weakest, loss = -1, np.inf
            for i in range(m):
                if not required[chosen[i]] and b[i] * b[i] < loss * H[i, i]:
                    weakest, loss = i, b[i] * b[i] / H[i, i]
            if weakest < 0 or loss >= (others + r) * drop_below[m]:
                break
            _leave(weakest, chosen, H, b, m)
            r += loss
            m -= 1
        if not grow:
            break
        _residual_covariances(S, j, chosen, b, m, c)
        best, gain = -1, (others + r) * add_above[m + 1] * _MARGIN
        for p in range(d):  # grow; the bound by the precision spares most projections
            if c[p] * c[p] * precision[p] > gain and place[p] < place[j] and allowed[p]:
                v = _project(S, p, chosen, H, m, u)
                if v > _COLLINEAR * S[p, p] and c[p] * c[p] > gain * v:
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
        v = _project(S, best, chosen, H, m, u)
        r -= _enter(S, j, best, v, chosen, H, b, m, u)
        m += 1
    for p in range(d):
        parents[p] = False
        weights[p] = 0.0
    for i in range(m):
        parents[chosen[i]] = True
        weights[chosen[i]] = b[i]
    return r, m


@njit(cache=True, nogil=True)
def _residual_covariances(S: Array, j: int, chosen: Array, b: Array, m: int, c: Array) -> None:
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
        residuals[j], _ = _improve(
            S, j, place, parents[j], allowed[j], required[j], precision, weights[j],
            drop_below, add_above, total - residuals[j], True,
        )  # fmt: skip
        for p in range(d):
            if before[p] != parents[j, p]:
                changed += 1
                break
    return changed


@njit(cache=True, nogil=True)
def _last_parent(parents: Array, place: Array, j: int) -> int:
    """Place of the last parent of j, -1 if it has none."""
    last = -1
    for p in range(len(place)):
        if parents[j, p]:
            last = max(last, place[p])
    return last


@njit(cache=True, nogil=True)
def _bring_forward(order: Array, place: Array, parents: Array, at: int, to: int) -> bool:
    """Move the node at `to`, with its ancestors after `at`, before the node u at `at`.

    False, and nothing moved, where u is an ancestor of one of these ancestors: no order has the edge turned.
    """
    u, v = order[at], order[to]
    between = order[at : to + 1].copy()
    needed = np.zeros(len(order), dtype=np.bool_)
    needed[v] = True
    for k in range(to - at, 0, -1):
        x = between[k]
        if needed[x]:
            if x != v and parents[x, u]:
                return False
            for p in range(len(order)):
                if parents[x, p] and place[p] > at:
                    needed[p] = True
    for wanted in (True, False):
        for x in between:
            if needed[x] == wanted:
                order[at] = x
                place[x] = at
                at += 1
    return True


@njit(cache=True, nogil=True)
def turn_edges(
    S: Array,
    order: Array,
    place: Array,
    parents: Array,
    allowed: Array,
    required: Array,
    precision: Array,
    weights: Array,
    residuals: Array,
    drop_below: Array,
    add_above: Array,
    children: Array,
    price: Array,
    scale: float,
) -> int:
    """Turn edges, or make edges into earlier nodes, where that lowers the score; count the changes.

    An edge u -> v can be turned if no other path leads from u to v: v and its ancestors then move before u, past
    nodes that are not their parents, at no loss. Likewise v can become a parent of an earlier u, here if all
    parents of v precede u. Only u and v change parents. The arguments are those of `select_parents` and of the
    score; `children`, the transpose of `parents`, is there for speed. The graph and the order are updated.
    """
    d = len(S)
    moves = 0
    total = 0.0
    last = np.empty(d, dtype=np.int64)
    for j in range(d):
        total += residuals[j]
        last[j] = _last_parent(parents, place, j)
    c = np.empty(d)
    chosen = np.empty(d, dtype=np.int64)
    parents_u, parents_v = np.empty(d, dtype=np.bool_), np.empty(d, dtype=np.bool_)
    weights_u, weights_v = np.empty(d), np.empty(d)
    at = 0
    while at < d:
        u = order[at]
        k_u = 0
        for p in range(d):
            k_u += parents[u, p]
        H = np.empty((k_u + 1, k_u + 1))
        b, projection = np.empty(k_u + 1), np.empty(k_u + 1)
        m = 0
        for p in range(d):
            if parents[u, p]:
                _enter(S, u, p, _project(S, p, chosen, H, m, projection), chosen, H, b, m, projection)
                m += 1
        _residual_covariances(S, u, chosen, b, m, c)
        enough = total * add_above[m + 1]
        moved = False
        for to in range(at + 1, d):
            v = order[to]
            if not children[u, v] and (
                last[v] > at
                or c[v] * c[v] * precision[v] <= enough
                or c[v] * c[v] <= enough * _project(S, v, chosen, H, m, projection)
            ):
                continue
            # Without the edge v -> u a move only takes choices away.
            if required[v, u] or not allowed[u, v]:
                continue
            # Either may need the other's parents once their edge is turned. Growing here would spend much on imitating
            # a lost parent by many proxies; what a good move lacks, the next sweep adds.
            k_v = 0
            for p in range(d):
                k_v += parents[v, p]
                parents_u[p] = parents_v[p] = (parents[u, p] or parents[v, p]) and p != u
            parents_u[v] = True
            rest = total - residuals[u] - residuals[v]
            r_v, m_v = _improve(
                S, v, place, parents_v, allowed[v], required[v], precision, weights_v,
                drop_below, add_above, rest + residuals[u], False,
            )  # fmt: skip
            r_u, m_u = _improve(
                S, u, place, parents_u, allowed[u], required[u], precision, weights_u,
                drop_below, add_above, rest + r_v, False,
            )  # fmt: skip
            gain = price[m] + price[k_v] - price[m_u] - price[m_v]
            gain -= scale * np.log((rest + r_u + r_v) / total)
            if gain <= _LEAST_GAIN or not _bring_forward(order, place, parents, at, to):
                continue
            for p in range(d):
                parents[u, p] = children[p, u] = parents_u[p]
                parents[v, p] = children[p, v] = parents_v[p]
                weights[u, p], weights[v, p] = weights_u[p], weights_v[p]
            residuals[u], residuals[v] = r_u, r_v
            total = rest + r_u + r_v
            for p in range(d):
                last[p] = _last_parent(parents, place, p)
            moves += 1
            moved = True
            break
        # A node that has moved may want to move on.
        at = max(at - 1, 0) if moved else at + 1
    return moves
