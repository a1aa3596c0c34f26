"""Compiled moves for equal variances that reverse edges, or add edges into earlier nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.equal.variance_kernels import (
    COLLINEAR,
    ZERO,
    Choice,
    Regression,
    copied,
    enter,
    improve,
    is_allowed,
    is_required,
    leave,
    project,
    regress,
    residual_covariances,
    store,
)
from golem.search.jit import allocating_entry, allocating_kernel, inlined, kernel

Array = Any

# Moves must gain more than rounding, so that nothing is done and undone forever.
_LEAST_GAIN = 1e-6
# Largest number of edges that a node is expected to lose when one of its edges is reversed.
_MOST_LOST = 8
_ONLY_SHRINK: Any = np.bool_(False)


@inlined
def last_parents(choice: Choice, last: Array) -> None:
    """Write the position of the last parent of every node, or -1, to `last`."""
    for j in range(len(last)):
        last[j] = -1
        for i in range(choice.number[j]):
            last[j] = max(last[j], choice.place[choice.parents[j, i]])


@inlined
def bring_forward(choice: Choice, order: Array, at: int, to: int) -> int:
    """Move the node at `to` and its ancestors after `at` before the node u at `at`; return the number of nodes moved.

    Return 0 and move nothing if u is an ancestor of one of these ancestors, as the edge cannot be reversed then.
    """
    place, parents = choice.place, choice.parents
    u, v = order[at], order[to]
    needed = np.zeros(len(order), dtype=np.bool_)
    needed[v] = True
    for q in range(to, at, -1):
        x = order[q]
        if needed[x]:
            for i in range(choice.number[x]):
                p = parents[x, i]
                if p == u and x != v:
                    return 0
                if place[p] > at:
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
    return to + 1 - at - count


@inlined
def reconsider_passed(choice: Choice, order: Array, at: int, moved: int, to: int, total: float) -> None:
    """Mark the nodes that may gain from a parent among the nodes that have just moved before them."""
    S, parents, weights = choice.S, choice.parents, choice.weights
    for q in range(at + moved, to + 1):
        x = order[q]
        enough = total * choice.add_above[choice.number[x] + 1]
        for k in range(at, at + moved):
            p = order[k]
            c = S[p, x]
            for i in range(choice.number[x]):
                c -= weights[x, i] * S[p, parents[x, i]]
            if c * c * choice.precision[p] > enough:
                choice.stable_from[x] = np.inf


@inlined
def reversed_variances(
    S: Array, u: int, v: int, fit: Regression, k: int, parents: Array, count: int, residual: float
) -> float:
    """Return the least sum of the residual variances of u and v after u -> v is reversed.

    Both may use the parents of both. `fit` is the regression of v on its k parents, `residual` its residual variance,
    and the first `count` of `parents` are the parents of u. This takes O(k^2) per parent of u. New regressions would
    take O(k^3), which matters for hubs.
    """
    both = copied(fit, k, len(fit.b))
    r = residual
    for i in range(k):
        if both.chosen[i] == u:
            r += both.b[i] * both.b[i] / both.H[i, i]
            leave(i, both, k)
            break
    m = k - 1
    for i in range(min(count, len(both.b) - m)):
        p = parents[i]
        w = project(S, p, S[p, p], both, m)
        # Common parents have no variance left here.
        if w > COLLINEAR * S[p, p]:
            r -= enter(S, v, p, w, both, m)
            m += 1
    w = project(S, u, S[u, u], both, m)
    c = S[u, v]
    for i in range(m):
        c -= both.b[i] * S[u, both.chosen[i]]
    return float(r + w - c * c / r)


@allocating_kernel
def reverse(choice: Choice, order: Array, penalty: Array, scale: float, at: int, to: int, total: float) -> float:
    """Make v, at position `to`, a parent of u, at position `at`, if that lowers the score; return the new R."""
    parents, number, residuals = choice.parents, choice.number, choice.residuals
    u, v = order[at], order[to]
    # After the reversal, each may need the other's parents. Growing here would replace a lost parent by many proxies.
    # Parents that a good move lacks are added in the next sweep.
    shared = np.empty(number[u] + number[v] + 1, dtype=np.int64)
    count = ZERO
    for i in range(number[u]):
        shared[count] = parents[u, i]
        count += 1
    for i in range(number[v]):
        p, new = parents[v, i], parents[v, i] != u
        for k in range(number[u]):
            new = new and parents[u, k] != p
        if new:
            shared[count] = p
            count += 1
    rest = total - residuals[u] - residuals[v]
    fit_v, m_v, r_v, _, _ = improve(choice, v, shared, count, rest + residuals[u], _ONLY_SHRINK)
    shared[count] = v
    fit_u, m_u, r_u, _, _ = improve(choice, u, shared, count + 1, rest + r_v, _ONLY_SHRINK)
    gain = penalty[number[u]] + penalty[number[v]] - penalty[m_u] - penalty[m_v]
    gain -= scale * np.log((rest + r_u + r_v) / total)
    if gain <= _LEAST_GAIN or max(m_u, m_v) > parents.shape[1]:
        return total
    moved = bring_forward(choice, order, at, to)
    if moved == 0:
        return total
    store(choice, u, fit_u, m_u, r_u)
    store(choice, v, fit_v, m_v, r_v)
    # Both are improved again in the next sweep.
    choice.stable_from[u] = choice.stable_from[v] = np.inf
    reconsider_passed(choice, order, at, moved, to, total)
    return float(rest + r_u + r_v)


@inlined
def parent_positions(choice: Choice, j: int) -> Array:
    """Return the positions of the parents of j, ascending."""
    places = np.empty(choice.number[j], dtype=np.int64)
    for i in range(len(places)):
        places[i] = choice.place[choice.parents[j, i]]
    places.sort()
    return places


@inlined
def is_parent(choice: Choice, j: int, p: int) -> bool:
    """Return whether p is a parent of j."""
    found = False
    for i in range(choice.number[j]):
        found = found or choice.parents[j, i] == p
    return found


@kernel
def mark_ancestors(choice: Choice, order: Array, to: int, marks: Array) -> None:
    """Mark the parents of the node at position `to` by 1, and nodes with a longer path to it by 2, all others by 0."""
    marks[:] = 0
    v = order[to]
    for i in range(choice.number[v]):
        marks[choice.parents[v, i]] = 1
    for q in range(1, to + 1):
        x = order[to - q]
        if marks[x] > 0:
            for i in range(choice.number[x]):
                marks[choice.parents[x, i]] = 2


@allocating_kernel
def useful_parent(choice: Choice, order: Array, last: Array, at: int, after: int, total: float, c: Array) -> int:
    """Return the first position after `after` of a node that would be a useful parent of the node at `at`, or d.

    All parents of that node precede `at`, so that it can move there at no cost. With knowledge, which can force a poor
    order, it is any node but a child, and its ancestors move with it. c is scratch space.
    """
    S, precision = choice.S, choice.precision
    anywhere = len(choice.allowed) > 0 or len(choice.required) > 0
    u = order[at]
    m = choice.number[u]
    fit = regress(S, u, choice.parents[u], m, ZERO + 1)
    residual_covariances(S, u, fit, m, c)
    enough = total * choice.add_above[m + 1]
    for to in range(after + 1, len(order)):
        v = order[to]
        if (
            (last[v] < at or (anywhere and not is_parent(choice, v, u)))
            and c[v] * c[v] * precision[v] > enough
            and is_allowed(choice, u, v)
            and c[v] * c[v] > enough * project(S, v, S[v, v], fit, m)
        ):
            return int(to)
    return len(order)


@allocating_entry
def find_improvable(choice: Choice, order: Array, last: Array, nodes: Array, total: float, improvable: Array) -> None:
    """Mark the nodes for which a later node would be a useful parent."""
    c = np.empty(len(order))
    for u in nodes:
        at = choice.place[u]
        improvable[u] = useful_parent(choice, order, last, at, at, total, c) < len(order)


@inlined
def reverse_existing(
    choice: Choice, order: Array, penalty: Array, scale: float, total: float, most: int
) -> tuple[int, float]:
    """Reverse at most so many edges; return their number and R."""
    S, parents, number, residuals = choice.S, choice.parents, choice.number, choice.residuals
    d, moves = len(S), ZERO
    marks = np.zeros(d, dtype=np.int8)
    to = ZERO + 1
    while to < d and moves < most:
        v = order[to]
        k_v = number[v]
        # Where regressions on many parents take longer than a look at all ancestors, those edges are left out early
        # that cannot be reversed.
        dense = k_v * k_v * k_v > d
        if dense:
            mark_ancestors(choice, order, to, marks)
        fit = regress(S, v, parents[v], k_v, ZERO + 64)
        moved = False
        at = ZERO
        for at in parent_positions(choice, v):
            u = order[at]
            if is_required(choice, v, u) or not is_allowed(choice, u, v) or (dense and marks[u] == 2):
                continue
            rest = total - residuals[u] - residuals[v]
            best = rest + reversed_variances(S, u, v, fit, k_v, parents[u], number[u], residuals[v])
            # At best u loses all its old parents, and v a few.
            if scale * np.log(best / total) > penalty[number[u]] + penalty[min(k_v, _MOST_LOST)]:
                continue
            total = reverse(choice, order, penalty, scale, at, to, total)
            moved = order[at] != u
            if moved:
                moves += 1
                break
        to = max(at, 1) if moved else to + 1
    return moves, total


@inlined
def add_into_earlier(
    choice: Choice, order: Array, penalty: Array, scale: float, last: Array, improvable: Array, total: float, most: int
) -> int:
    """Add at most so many edges into earlier nodes, from nodes that move before them; return their number."""
    d, moves = len(order), ZERO
    c = np.empty(d)
    last_parents(choice, last)
    at = ZERO
    while at < d and moves < most:
        u = order[at]
        moved = False
        to = at
        while improvable[u] and not moved:
            to = useful_parent(choice, order, last, at, to, total, c)
            if to == d:
                break
            total = reverse(choice, order, penalty, scale, at, to, total)
            moved = order[at] != u
            if moved:
                moves += 1
                last_parents(choice, last)
        # A node that has moved may move further.
        at = max(at - 1, 0) if moved else at + 1
    return int(moves)


@allocating_entry
def reverse_edges(choice: Choice, order: Array, penalty: Array, scale: float, last: Array, improvable: Array) -> int:
    """Reverse edges, or add edges into earlier nodes, if that lowers the score; return the number of changes.

    An edge u -> v can be reversed if no other path leads from u to v. Then v and its ancestors move before u, past
    nodes that are not their parents, at no cost. Likewise v can become a parent of an earlier node u that is
    `improvable` (see `useful_parent`). Only u and v change parents. The graph and the order are updated.
    """
    # Every move lowers the score. The limit guards against rounding if S is nearly singular.
    most = 10 * len(order)
    total = 0.0
    for j in range(len(order)):
        total += choice.residuals[j]
    moves, total = reverse_existing(choice, order, penalty, scale, total, most)
    return moves + add_into_earlier(choice, order, penalty, scale, last, improvable, total, most - moves)
