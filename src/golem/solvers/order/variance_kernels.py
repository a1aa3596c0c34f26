"""Compiled kernels for equal variances: the parents of each node along an order, and moves that reverse edges.

Import this module only where a search runs, because it imports numba. The score is

    scale * log R + sum_j penalty[k_j],    R = sum of the residual variances, k_j = number of parents of j.

With the other nodes fixed, an edge that changes R by delta is worth its penalty if delta / R reaches a bound that
depends only on k: `drop_below[k]` for one parent less than k, `add_above[k]` for reaching k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.solvers.order.jit import allocating_entry, allocating_kernel, inlined, kernel

Array = Any

# A candidate is not added if the current parents explain all but this share of its variance, as the regression would
# be singular.
COLLINEAR = 1e-11
# Additions must gain more than rounding, so that nothing is added and dropped forever.
_MARGIN = 1 + 1e-9
# Moves must gain more than rounding, so that nothing is done and undone forever.
_LEAST_GAIN = 1e-6
# Relative rounding error of R.
_ROUNDING_OF_R = 1e-12
# Largest number of edges that a node is expected to lose when one of its edges is reversed.
_MOST_LOST = 8
# Typed, because literals would compile every kernel that takes them once more.
_ZERO: Any = np.int64(0)
_NO_NODE: Any = np.int64(-1)
_GROW: Any = np.bool_(True)
_ONLY_SHRINK: Any = np.bool_(False)


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


@inlined
def is_allowed(choice: Choice, j: int, p: int) -> bool:
    """Return whether p may be a parent of j."""
    return len(choice.allowed) == 0 or choice.allowed[j, p]


@inlined
def is_required(choice: Choice, j: int, p: int) -> bool:
    """Return whether p must be a parent of j."""
    return len(choice.required) > 0 and choice.required[j, p]


@allocating_kernel
def improve(
    choice: Choice, j: int, start: Array, count: int, others: float, grow: bool
) -> tuple[Regression, int, float, float, float]:
    """Drop and, with `grow`, add parents of j, from the first `count` of `start`.

    `others` is the sum of the other nodes' residual variances. Returns the regression, the number of parents, the
    residual variance, and the least and largest R for which no single addition or removal would lower the score.
    """
    S, variance, place, precision = choice.S, choice.variance, choice.place, choice.precision
    d = len(S)
    required = len(choice.required)  # d or, without knowledge, 0
    capacity = count + 8
    for p in range(required):
        capacity += choice.required[j, p]
    fit = allocate(capacity)
    c = np.empty(d)
    r, m = S[j, j], _ZERO
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
        while True:  # shrink
            weakest, loss = _NO_NODE, np.inf
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
        best, gain, refused = _NO_NODE, (others + r) * choice.add_above[m + 1] * _MARGIN, 0.0
        for p in range(d):  # grow; the bound by the precision avoids most projections
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
    most = _ZERO
    for j in nodes:
        others = total - choice.residuals[j]
        fit, m, r, least, largest = improve(choice, j, choice.parents[j], choice.number[j], others, _GROW)
        most = max(most, m)
        if m <= room:
            store(choice, j, fit, m, r)
            choice.stable_from[j], choice.stable_to[j] = least * (1 - _ROUNDING_OF_R), largest * (1 + _ROUNDING_OF_R)
    return int(most)


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


@allocating_kernel
def regress(S: Array, j: int, parents: Array, count: int, room: int) -> Regression:
    """Regress j on the first `count` of its parents, with room for some more."""
    fit = allocate(count + room)
    for m in range(count):
        p = parents[m]
        enter(S, j, p, project(S, p, S[p, p], fit, m), fit, m)
    return fit


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
    count = _ZERO
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
    fit = regress(S, u, choice.parents[u], m, _ZERO + 1)
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


@allocating_entry
def reverse_edges(choice: Choice, order: Array, penalty: Array, scale: float, last: Array, improvable: Array) -> int:
    """Reverse edges, or add edges into earlier nodes, if that lowers the score; return the number of changes.

    An edge u -> v can be reversed if no other path leads from u to v. Then v and its ancestors move before u, past
    nodes that are not their parents, at no cost. Likewise v can become a parent of an earlier node u that is
    `improvable` (see `useful_parent`). Only u and v change parents. The graph and the order are updated.
    """
    S, parents, number, residuals = choice.S, choice.parents, choice.number, choice.residuals
    d = len(S)
    moves = 0
    # Every move lowers the score. The limit guards against rounding if S is nearly singular.
    most = 10 * d
    total = 0.0
    c, marks = np.empty(d), np.zeros(d, dtype=np.int8)
    for j in range(d):
        total += residuals[j]
    to = _ZERO + 1
    while to < d and moves < most:  # edges, by their child
        v = order[to]
        k_v = number[v]
        # Where regressions on many parents take longer than a look at all ancestors, those edges are left out early
        # that cannot be reversed.
        dense = k_v * k_v * k_v > d
        if dense:
            mark_ancestors(choice, order, to, marks)
        fit = regress(S, v, parents[v], k_v, _ZERO + 64)
        moved = False
        at = _ZERO
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
    last_parents(choice, last)
    at = _ZERO
    while at < d and moves < most:  # new edges, by their child
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
    return moves
