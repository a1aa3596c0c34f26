"""Compiled kernels under equal variances: the parents of each node along an order, and moves that turn edges.

Import this module only where a search runs, as it brings numba with it. The score is

    scale * log R + sum_j penalty[k_j],    R = sum of the residual variances, k_j = number of parents of j.

With the other nodes held, an edge that changes R by delta is worth its penalty when delta / R reaches a bound
that depends on k alone: `drop_below[k]` for leaving k parents, `add_above[k]` for reaching k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.solvers.order.jit import entry, inlined, kernel

Array = Any

# A node whose variance is explained to all but this share by the parents already there is not added to them:
# the regression would be singular.
COLLINEAR = 1e-11
# What is added must pay by more than rounding, so that nothing is added and dropped for ever.
_MARGIN = 1 + 1e-9
# A move must pay by more than rounding, so that nothing is done and undone for ever.
_LEAST_GAIN = 1e-6
# R is known to rounding.
_TOSS_UP = 1e-12
# Edges that a node may come to spare when one of its edges is turned; more are not hoped for.
_SPARED = 8
# Typed: literals would compile every kernel that takes them once more.
_NONE: Any = np.int64(0)
_NOBODY: Any = np.int64(-1)
_GROW: Any = np.bool_(True)
_ONLY_SHRINK: Any = np.bool_(False)


class Choice(NamedTuple):
    """The parents of every node along an order, and what their choice depends on.

    The first number[j] entries of row j of `parents` and `weights` are the parents of node j.
    """

    # Covariance, and its diagonal, which lies together here.
    S: Array
    variance: Array
    # Place of each node in the order.
    place: Array
    parents: Array
    number: Array
    # Least-squares weights of the parents, and residual variances.
    weights: Array
    residuals: Array
    # Row j tells which parents node j may have, and must have; without rows where nothing is known.
    allowed: Array
    required: Array
    # Upper bounds on 1 / (variance of a node given any others); infinity where none is known.
    precision: Array
    # Bounds on delta / R.
    drop_below: Array
    add_above: Array
    # Nodes see each other through R alone: the choice of node j stands while R is between these.
    stands_from: Array
    stands_to: Array


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
def project(S: Array, p: int, variance: float, fit: Regression, m: int) -> float:
    """Regress node p, of a variance, on the chosen ones: coefficients into u, its residual variance returned."""
    chosen, H, u = fit.chosen, fit.H, fit.u
    v = variance
    # Of the symmetric S the rows of the chosen are read: they stay in the cache from one p to the next.
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


@inlined
def is_allowed(choice: Choice, j: int, p: int) -> bool:
    """Tell whether p may be a parent of j."""
    return len(choice.allowed) == 0 or choice.allowed[j, p]


@inlined
def is_required(choice: Choice, j: int, p: int) -> bool:
    """Tell whether p must be a parent of j."""
    return len(choice.required) > 0 and choice.required[j, p]


@kernel
def improve(
    choice: Choice, j: int, start: Array, count: int, others: float, grow: bool
) -> tuple[Regression, int, float, float, float]:
    """Shrink and, if asked, grow the parents of j, from the first `count` of `start`.

    `others` is the sum of the other nodes' residual variances. Returns the regression, the number of parents, the
    residual variance, and the least and the largest R for which no single edge more or less would lower the score.
    """
    S, variance, place, precision = choice.S, choice.variance, choice.place, choice.precision
    d = len(S)
    capacity = count + 8
    if len(choice.required):
        for p in range(d):
            capacity += choice.required[j, p]
    fit = allocate(capacity)
    c = np.empty(d)
    r, m = S[j, j], _NONE
    if len(choice.required):
        for p in range(d):
            if choice.required[j, p]:
                v = project(S, p, variance[p], fit, m)
                if v > COLLINEAR * variance[p]:
                    r -= enter(S, j, p, v, fit, m)
                    m += 1
    for i in range(count):
        p = start[i]
        if is_allowed(choice, j, p) and not is_required(choice, j, p):
            v = project(S, p, variance[p], fit, m)
            if v > COLLINEAR * variance[p]:
                r -= enter(S, j, p, v, fit, m)
                m += 1
    loss, refused = np.inf, 0.0
    # Every round adds one parent and lowers the score; the limit is for rounding in a nearly singular S.
    for _ in range(d + 1):
        while True:  # shrink
            weakest, loss = _NOBODY, np.inf
            for i in range(m):
                b = fit.b[i]
                if b * b < loss * fit.H[i, i] and not is_required(choice, j, fit.chosen[i]):
                    weakest, loss = i, b * b / fit.H[i, i]
            if weakest < 0 or loss >= (others + r) * choice.drop_below[m]:
                break
            leave(weakest, fit, m)
            r += loss
            m -= 1
        if not grow:
            break
        residual_covariances(S, j, fit, m, c)
        best, gain, refused = _NOBODY, (others + r) * choice.add_above[m + 1] * _MARGIN, 0.0
        for p in range(d):  # grow; the bound by the precision spares most projections
            if place[p] >= place[j]:
                continue
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
def settle(choice: Choice, j: int, fit: Regression, m: int, residual: float) -> None:
    """Write down the parents of j."""
    for i in range(m):
        choice.parents[j, i] = fit.chosen[i]
        choice.weights[j, i] = fit.b[i]
    choice.number[j] = m
    choice.residuals[j] = residual


@entry
def select_parents(choice: Choice, nodes: Array, total: float) -> int:
    """Improve the parents of some nodes until no edge added or dropped lowers the score.

    `total` is R at the start; it is given, as other threads are writing their residuals. Returns the largest number
    of parents; where there is no room for those of a node, it keeps the old ones.
    """
    room = choice.parents.shape[1]
    most = _NONE
    for j in nodes:
        others = total - choice.residuals[j]
        fit, m, r, least, largest = improve(choice, j, choice.parents[j], choice.number[j], others, _GROW)
        most = max(most, m)
        if m <= room:
            settle(choice, j, fit, m, r)
            choice.stands_from[j], choice.stands_to[j] = least * (1 - _TOSS_UP), largest * (1 + _TOSS_UP)
    return int(most)


@inlined
def last_parents(choice: Choice, last: Array) -> None:
    """Write the place of the last parent of every node, -1 if it has none."""
    for j in range(len(last)):
        last[j] = -1
        for i in range(choice.number[j]):
            last[j] = max(last[j], choice.place[choice.parents[j, i]])


@inlined
def bring_forward(choice: Choice, order: Array, at: int, to: int) -> int:
    """Move the node at `to`, with its ancestors after `at`, before the node u at `at`; return their number.

    0, and nothing moved, where u is an ancestor of one of these ancestors: no order has the edge turned.
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
    """Have the nodes looked at again that may want one of those that have just moved before them as a parent."""
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
                choice.stands_from[x] = np.inf


@kernel
def regress(S: Array, j: int, parents: Array, count: int, room: int) -> Regression:
    """Regress j on its parents, the first `count` of a row, with room for some more."""
    fit = allocate(count + room)
    for m in range(count):
        p = parents[m]
        enter(S, j, p, project(S, p, S[p, p], fit, m), fit, m)
    return fit


@inlined
def turned_variances(
    S: Array, u: int, v: int, fit: Regression, k: int, parents: Array, count: int, residual: float
) -> float:
    """Return the least sum of the residual variances of u and v once u -> v is turned.

    Both may use the parents of both. `fit` is the regression of v on its k parents, `residual` its residual variance;
    the first `count` of `parents` are those of u. O(k^2) for each parent of u, where building the regressions would
    take O(k^3): it matters for hubs.
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
        # Parents that both have leave no variance here.
        if w > COLLINEAR * S[p, p]:
            r -= enter(S, v, p, w, both, m)
            m += 1
    w = project(S, u, S[u, u], both, m)
    c = S[u, v]
    for i in range(m):
        c -= both.b[i] * S[u, both.chosen[i]]
    return float(r + w - c * c / r)


@kernel
def turn(choice: Choice, order: Array, penalty: Array, scale: float, at: int, to: int, total: float) -> float:
    """Make v, at place `to`, a parent of u, at place `at`, if that pays; return the new R."""
    parents, number, residuals = choice.parents, choice.number, choice.residuals
    u, v = order[at], order[to]
    # Either may need the other's parents once their edge is turned. Growing here would spend much on
    # imitating a lost parent by many proxies; what a good move lacks, the next sweep adds.
    shared = np.empty(number[u] + number[v] + 1, dtype=np.int64)
    count = _NONE
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
    settle(choice, u, fit_u, m_u, r_u)
    settle(choice, v, fit_v, m_v, r_v)
    # Both are to be looked at again.
    choice.stands_from[u] = choice.stands_from[v] = np.inf
    reconsider_passed(choice, order, at, moved, to, total)
    return float(rest + r_u + r_v)


@inlined
def by_place(choice: Choice, j: int) -> Array:
    """Places of the parents of j, ascending."""
    places = np.empty(choice.number[j], dtype=np.int64)
    for i in range(len(places)):
        places[i] = choice.place[choice.parents[j, i]]
    places.sort()
    return places


@inlined
def is_parent(choice: Choice, j: int, p: int) -> bool:
    """Tell whether p is a parent of j."""
    found = False
    for i in range(choice.number[j]):
        found = found or choice.parents[j, i] == p
    return found


@kernel
def wanted_parent(choice: Choice, order: Array, last: Array, at: int, after: int, total: float, c: Array) -> int:
    """Return the first place > after of a node that the one at `at` would gain from as a parent, or d.

    All parents of that node precede `at`, so that it can move there at no cost. Under knowledge, which may have led the
    order far astray, it is any but a child: its ancestors then have to move along. c is a work vector.
    """
    S, precision = choice.S, choice.precision
    anywhere = len(choice.allowed) > 0 or len(choice.required) > 0
    u = order[at]
    m = choice.number[u]
    fit = regress(S, u, choice.parents[u], m, _NONE + 1)
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


@entry
def find_wanting(choice: Choice, order: Array, last: Array, nodes: Array, total: float, wanting: Array) -> None:
    """Mark the nodes that would gain from a later one as a parent."""
    c = np.empty(len(order))
    for u in nodes:
        at = choice.place[u]
        wanting[u] = wanted_parent(choice, order, last, at, at, total, c) < len(order)


@entry
def turn_edges(choice: Choice, order: Array, penalty: Array, scale: float, last: Array, wanting: Array) -> int:
    """Turn edges, or make edges into earlier nodes, where that lowers the score; count the changes.

    An edge u -> v can be turned if no other path leads from u to v: v and its ancestors then move before u,
    past nodes that are not their parents, at no loss. Likewise v can become a parent of an earlier u that is `wanting`
    (`wanted_parent`). Only u and v change parents. The graph and the order are updated.
    """
    S, parents, number, residuals = choice.S, choice.parents, choice.number, choice.residuals
    d = len(S)
    moves = 0
    # Every move lowers the score; the limit is for rounding in a nearly singular S.
    most = 10 * d
    total = 0.0
    c = np.empty(d)
    for j in range(d):
        total += residuals[j]
    to = _NONE + 1
    while to < d and moves < most:  # edges, by their child
        v = order[to]
        k_v = number[v]
        fit = regress(S, v, parents[v], k_v, _NONE + 64)
        moved = False
        at = _NONE
        for at in by_place(choice, v):
            u = order[at]
            if is_required(choice, v, u) or not is_allowed(choice, u, v):
                continue
            rest = total - residuals[u] - residuals[v]
            best = rest + turned_variances(S, u, v, fit, k_v, parents[u], number[u], residuals[v])
            # At best u needs none of its old parents any more, and v a few less.
            if scale * np.log(best / total) > penalty[number[u]] + penalty[min(k_v, _SPARED)]:
                continue
            total = turn(choice, order, penalty, scale, at, to, total)
            moved = order[at] != u
            if moved:
                moves += 1
                break
        to = max(at, 1) if moved else to + 1
    last_parents(choice, last)
    at = _NONE
    while at < d and moves < most:  # new edges, by their child
        u = order[at]
        moved = False
        to = at
        while wanting[u] and not moved:
            to = wanted_parent(choice, order, last, at, to, total, c)
            if to == d:
                break
            total = turn(choice, order, penalty, scale, at, to, total)
            moved = order[at] != u
            if moved:
                moves += 1
                last_parents(choice, last)
        # A node that has moved may want to move on.
        at = max(at - 1, 0) if moved else at + 1
    return moves
