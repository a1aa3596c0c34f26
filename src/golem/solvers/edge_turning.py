"""Moves of the order that turn edges, under a score that counts edges (compiled with numba).

Names and conventions are those of `parent_selection`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from golem.solvers.parent_selection import COLLINEAR, enter, improve, leave, project, residual_covariances

Array = Any

# A move must pay by more than rounding, so that nothing is done and undone for ever.
_LEAST_GAIN = 1e-6
# Edges that a node may come to spare when one of its edges is turned; more are not hoped for.
_SPARED = 8


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
def _regress(S: Array, j: int, parents: Array, room: int) -> tuple[Array, Array, Array, Array, int]:
    """Regress j on its parents: their list, inverse Gram, weights, a work vector and their number."""
    m = 0
    for p in range(len(S)):
        m += parents[p]
    H = np.empty((m + room, m + room))
    b, u = np.empty(m + room), np.empty(m + room)
    chosen = np.empty(m + room, dtype=np.int64)
    m = 0
    for p in range(len(S)):
        if parents[p]:
            enter(S, j, p, project(S, p, chosen, H, m, u), chosen, H, b, m, u)
            m += 1
    return chosen, H, b, u, m


@njit(cache=True, nogil=True)
def _turned_variances(S: Array, u: int, v: int, fit: Any, parents: Array, residual: float) -> float:
    """Return the least sum of the residual variances of u and v once u -> v is turned.

    Both may use the parents of both. `fit` is the regression of v, `residual` its residual variance,
    `parents` the row of u. O(k^2) for each parent of u, where building the regressions would take O(k^3): it
    matters for hubs.
    """
    k = fit[4]
    chosen, H, b, work = fit[0].copy(), fit[1].copy(), fit[2].copy(), fit[3]
    r, m = residual, k
    for i in range(k):
        if chosen[i] == u:
            r += b[i] * b[i] / H[i, i]
            leave(i, chosen, H, b, m)
            break
    m -= 1
    for p in range(len(S)):
        if parents[p] and m < len(b):
            w = project(S, p, chosen, H, m, work)
            # Parents that both have leave no variance here.
            if w > COLLINEAR * S[p, p]:
                r -= enter(S, v, p, w, chosen, H, b, m, work)
                m += 1
    w = project(S, u, chosen, H, m, work)
    c = S[u, v]
    for i in range(m):
        c -= b[i] * S[u, chosen[i]]
    return float(r + w - c * c / r)


@njit(cache=True, nogil=True)
def _turn(
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
    at: int,
    to: int,
    total: float,
) -> float:
    """Make v, at place `to`, a parent of u, at place `at`, if that pays; return the new R."""
    d = len(S)
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
    r_v, m_v = improve(
        S, v, place, parents_v, allowed[v], required[v], precision, weights_v,
        drop_below, add_above, rest + residuals[u], False,
    )  # fmt: skip
    r_u, m_u = improve(
        S, u, place, parents_u, allowed[u], required[u], precision, weights_u,
        drop_below, add_above, rest + r_v, False,
    )  # fmt: skip
    gain = price[k_u] + price[k_v] - price[m_u] - price[m_v]
    gain -= scale * np.log((rest + r_u + r_v) / total)
    if gain <= _LEAST_GAIN or not _bring_forward(order, place, parents, at, to):
        return total
    for p in range(d):
        parents[u, p] = children[p, u] = parents_u[p]
        parents[v, p] = children[p, v] = parents_v[p]
        weights[u, p], weights[v, p] = weights_u[p], weights_v[p]
    residuals[u], residuals[v] = r_u, r_v
    return float(rest + r_u + r_v)


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

    An edge u -> v can be turned if no other path leads from u to v: v and its ancestors then move before u,
    past nodes that are not their parents, at no loss. Likewise v can become a parent of an earlier u, here if
    all parents of v precede u. Only u and v change parents. The arguments are those of `select_parents` and
    of the score; `children`, the transpose of `parents`, is there for speed. The graph and the order are
    updated.
    """
    d = len(S)
    moves = 0
    # Every move lowers the score; the limit is for rounding in a nearly singular S.
    most = 10 * d
    total = 0.0
    last = np.empty(d, dtype=np.int64)
    c = np.empty(d)
    for j in range(d):
        total += residuals[j]
    to = 1
    while to < d and moves < most:  # edges, by their child
        v = order[to]
        fit = _regress(S, v, parents[v], 64)
        moved = False
        for at in range(to):
            u = order[at]
            if not parents[v, u] or required[v, u] or not allowed[u, v]:
                continue
            k_u = 0
            for p in range(d):
                k_u += parents[u, p]
            rest = total - residuals[u] - residuals[v]
            best = rest + _turned_variances(S, u, v, fit, parents[u], residuals[v])
            # At best u needs none of its old parents any more, and v a few less.
            if scale * np.log(best / total) > price[k_u] + price[min(fit[4], _SPARED)]:
                continue
            turned = _turn(
                S, order, place, parents, allowed, required, precision, weights, residuals,
                drop_below, add_above, children, price, scale, at, to, total,
            )  # fmt: skip
            moved = order[at] != u
            if moved:
                total = turned
                moves += 1
                break
        to = max(at, 1) if moved else to + 1
    for j in range(d):
        last[j] = _last_parent(parents, place, j)
    at = 0
    while at < d and moves < most:  # new edges, by their child
        u = order[at]
        chosen, H, b, work, m = _regress(S, u, parents[u], 1)
        residual_covariances(S, u, chosen, b, m, c)
        enough = total * add_above[m + 1]
        moved = False
        for to in range(at + 1, d):
            v = order[to]
            if (
                last[v] >= at
                or c[v] * c[v] * precision[v] <= enough
                or not allowed[u, v]
                or c[v] * c[v] <= enough * project(S, v, chosen, H, m, work)
            ):
                continue
            turned = _turn(
                S, order, place, parents, allowed, required, precision, weights, residuals,
                drop_below, add_above, children, price, scale, at, to, total,
            )  # fmt: skip
            moved = order[at] != u
            if moved:
                total = turned
                moves += 1
                for j in range(d):
                    last[j] = _last_parent(parents, place, j)
                break
        # A node that has moved may want to move on.
        at = max(at - 1, 0) if moved else at + 1
    return moves
