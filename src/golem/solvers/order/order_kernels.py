"""Compiled kernels of the order search: parents by grow-shrink, and the best position of one node.

All kernels use a correlation matrix S. For a node j with parents P, and for every other node c, they store the residual
covariance `g[c] = cov(e_j, x_c | P)` and the residual variance `h[c] = var(x_c | P)`. Adding c to P lowers the residual
variance r of j by `g[c]^2 / h[c]`, so that a test costs a few multiplications. Most tests end there. Adding or dropping
a parent updates K = S_PP^-1 in O(|P|^2) and both vectors in O(|P| d), along contiguous rows of S.

In `Problem` the masks are indexed [child, parent], so that the candidates of a child are contiguous.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.solvers.order.jit import entry, inlined, kernel

# Residual variances of standardized columns below this are rounding errors. Such candidates are skipped.
COLLINEAR = 1e-10
# Lower bound of residual variances in logarithms.
TINY = 1e-14
# Score differences below this are rounding errors: r may be 1e-9 of a column's variance, and n log r amplifies errors.
EPSILON = 1e-3
# From this number of parents on, K is stored between tests, because computing it takes O(|P|^3).
STORED = 10
# Typed, because a literal -1 would compile every kernel that takes a node a second time.
NO_NODE: Any = np.int64(-1)
MIX = np.uint64(0x9E3779B97F4A7C15)


class Problem(NamedTuple):
    """The problem."""

    S: Any
    n: float
    # penalty[k] is the penalty of k parents. One more is worth it if it lowers r by a larger share than threshold[k].
    penalty: Any
    threshold: Any
    allowed: Any
    required: Any
    # A prior on the log residual variances adds the cost tightness (log r - centre)^2. Tightness 0 is likelihood-NV.
    centre: Any
    tightness: float
    most_parents: int
    # blanket[j, c]: c is in the Markov blanket of j, as estimated by backward elimination.
    blanket: Any
    # Random 64-bit keys of the nodes, to hash sets of predecessors and of parents.
    keys: Any


class State(NamedTuple):
    """An order with its parents, costs, residual variances r, and the vectors G[j] and H[j]."""

    order: Any
    position: Any
    parents: Any
    count: Any
    cost: Any
    r: Any
    G: Any
    H: Any
    # Hashes of the predecessors and of the parents of every node.
    before: Any
    hashed: Any
    # touched: rows changed since they were last copied; active: nodes to visit again.
    touched: Any
    active: Any


class Work(NamedTuple):
    """Scratch space for one node: its parents P, K, coefficients b, r, g and h."""

    P: Any
    size: Any
    inside: Any
    K: Any
    b: Any
    r: Any
    g: Any
    h: Any
    t: Any
    residual: Any
    z: Any
    W: Any
    best: Any


class Cache(NamedTuple):
    """Values that are kept from one test to the next."""

    # Change of the cost of all other nodes if the moving node is at each position.
    shift: Any
    # Cost of u with or without v, valid while the hash of u's predecessors and parents is the key.
    key: Any
    cost: Any
    # Inverses K of nodes with many parents, in one array that is filled from the front.
    pool: Any
    pool_end: Any
    pool_start: Any
    pool_room: Any
    pool_key: Any


@kernel
def node_cost(problem: Problem, j: int, r: float, k: int) -> Any:
    """Return the cost of node j with k parents and residual variance r."""
    log_r = np.log(max(r, TINY))
    away = log_r - problem.centre[j]
    return problem.n * log_r + problem.tightness * away * away + problem.penalty[k]


@kernel
def gain_window(problem: Problem, j: int, r: float, k: int) -> Any:
    """Return the least and the largest share of r by which one more parent than k must lower it."""
    if problem.tightness == 0.0:
        return problem.threshold[k], 1.0
    # f(x) = n x + tightness (x - centre)^2 is convex in x = log r, so that it is low enough between two roots.
    slope = problem.n + 2.0 * problem.tightness * (np.log(max(r, TINY)) - problem.centre[j])
    step = problem.penalty[k + 1] - problem.penalty[k]
    discriminant = slope * slope - 4.0 * problem.tightness * step
    if slope <= 0.0 or discriminant < 0.0:
        return 1.0, 1.0
    both = slope + np.sqrt(discriminant)
    return 1.0 - np.exp(-2.0 * step / both), 1.0 - np.exp(-both / (2.0 * problem.tightness))


@kernel
def add_multiple(y: Any, factor: float, x: Any) -> None:
    """Add a multiple of x to y."""
    for c in range(y.size):
        y[c] += factor * x[c]


@kernel
def add_outer(K: Any, x: Any, y: Any, k: int) -> None:
    """Add the outer product of the first k entries of x and y to K."""
    for i in range(k):
        for a in range(k):
            K[i, a] += x[i] * y[a]


@kernel
def take_out(z: Any, beta: float, weight: float, g: Any, h: Any) -> None:
    """Remove the direction z from the residual covariances g and the residual variances h."""
    for c in range(z.size):
        g[c] -= beta * z[c]
        h[c] -= weight * z[c] * z[c]


@kernel
def refine(S: Any, P: Any, k: int, K: Any, residual: Any, x: Any) -> None:
    """Improve a solution x of S_PP x = residual by one step, because updates cost K some digits."""
    for i in range(k):
        row = S[P[i]]
        s = residual[i]
        for a in range(k):
            s -= row[P[a]] * x[a]
        residual[i] = s
    for i in range(k):
        s = 0.0
        for a in range(k):
            s += K[i, a] * residual[a]
        x[i] += s


@kernel
def solve(S: Any, P: Any, k: int, K: Any, c: int, residual: Any, x: Any) -> None:
    """Solve S_PP x = S_Pc for the coefficients x of c on P."""
    for i in range(k):
        residual[i] = S[c, P[i]]
    for i in range(k):
        s = 0.0
        for a in range(k):
            s += K[i, a] * residual[a]
        x[i] = s
    refine(S, P, k, K, residual, x)


@kernel
def clear(problem: Problem, work: Work, j: int) -> None:
    """Start node j without parents."""
    S = problem.S
    for i in range(work.size[0]):
        work.inside[work.P[i]] = False
    work.size[0] = 0
    work.r[0] = 1.0
    for c in range(S.shape[0]):
        work.g[c] = S[j, c]
        work.h[c] = 1.0


@kernel
def insert(problem: Problem, work: Work, c: int) -> None:
    """Add c to the parents."""
    S, K, P, b, t, z = problem.S, work.K, work.P, work.b, work.t, work.z
    k = work.size[0]
    solve(S, P, k, K, c, work.residual, t)
    variance = max(work.h[c], TINY)
    covariance = work.g[c]
    beta, inverse = covariance / variance, 1.0 / variance
    for q in range(z.size):
        z[q] = S[c, q]
    for i in range(k):
        add_multiple(z, -t[i], S[P[i]])
    take_out(z, beta, inverse, work.g, work.h)
    scaled = work.residual
    for i in range(k):
        scaled[i] = t[i] * inverse
        K[i, k] = -scaled[i]
        K[k, i] = -scaled[i]
        b[i] -= beta * t[i]
    add_outer(K, scaled, t, k)
    K[k, k] = inverse
    b[k] = beta
    P[k] = c
    work.inside[c] = True
    work.size[0] = k + 1
    work.r[0] = max(work.r[0] - covariance * beta, TINY)


@kernel
def delete(problem: Problem, work: Work, c: int) -> None:
    """Drop the parent c; the last parent takes its place."""
    S, K, P, b, t, z = problem.S, work.K, work.P, work.b, work.t, work.z
    k, i = work.size[0], 0
    while P[i] != c:
        i += 1
    for a in range(k):
        t[a] = K[i, a]
        work.residual[a] = 0.0
    work.residual[i] = 1.0
    refine(S, P, k, K, work.residual, t)
    pivot, beta = t[i], b[i]
    for q in range(z.size):
        z[q] = 0.0
    for a in range(k):
        share = t[a] / pivot
        add_multiple(z, share, S[P[a]])
        b[a] -= share * beta
    take_out(z, -beta, -pivot, work.g, work.h)
    work.r[0] += beta * beta / pivot
    # K is downdated by its own row, not the refined one. This removes its errors along the dropped direction.
    for a in range(k):
        t[a] = K[i, a]
    pivot, scaled = K[i, i], work.residual
    for a in range(k):
        scaled[a] = -t[a] / pivot
    add_outer(K, scaled, t, k)
    last = k - 1
    for a in range(k):
        K[i, a] = K[last, a]
    for a in range(k):
        K[a, i] = K[a, last]
    P[i] = P[last]
    b[i] = b[last]
    work.inside[c] = False
    work.size[0] = last


@entry
def invert(S: Any, P: Any, k: int, K: Any, L: Any, row: Any) -> None:
    """Compute K = S_PP^-1 for the first k of P by Cholesky; L and row are scratch space."""
    for i in range(k):
        for a in range(i + 1):
            s = S[P[i], P[a]]
            for m in range(a):
                s -= L[i, m] * L[a, m]
            L[i, a] = s / L[a, a] if a < i else np.sqrt(max(s, TINY))
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


@kernel
def load(problem: Problem, state: State, cache: Cache, work: Work, j: int) -> None:
    """Load the current parents of j into the scratch space."""
    S, K, P, k, pool = problem.S, work.K, work.P, state.count[j], cache.pool
    for i in range(work.size[0]):
        work.inside[P[i]] = False
    for i in range(k):
        P[i] = state.parents[j, i]
        work.inside[P[i]] = True
    work.size[0] = k
    start = cache.pool_start[j]
    if k >= STORED and cache.pool_key[j] == state.hashed[j]:
        for i in range(k):
            for a in range(k):
                K[i, a] = pool[start + i * k + a]
    else:
        invert(S, P, k, K, work.W, work.t)
        if k >= STORED:
            if k * k > cache.pool_room[j]:
                room = (k + 8) * (k + 8)
                if cache.pool_end[0] + room > pool.size:
                    cache.pool_end[0] = 0
                    for c in range(S.shape[0]):
                        cache.pool_room[c] = 0
                        cache.pool_key[c] = 0
                if room <= pool.size:
                    cache.pool_start[j] = cache.pool_end[0]
                    cache.pool_room[j] = room
                    cache.pool_end[0] += room
            if k * k <= cache.pool_room[j]:
                start = cache.pool_start[j]
                cache.pool_key[j] = state.hashed[j]
                for i in range(k):
                    for a in range(k):
                        pool[start + i * k + a] = K[i, a]
    solve(S, P, k, K, j, work.residual, work.b)
    work.r[0] = state.r[j]
    for c in range(S.shape[0]):
        work.g[c] = state.G[j, c]
        work.h[c] = state.H[j, c]


@kernel
def set_parents(problem: Problem, state: State, work: Work, j: int, parents: Any, k: int) -> None:
    """Give j the first k of these parents, and recompute r and the vectors, so that errors do not accumulate."""
    S, W, G, H, chosen = problem.S, work.W, state.G[j], state.H[j], state.parents[j]
    # Sorted, so that the result depends only on the set.
    for i in range(k):
        m = i
        while m > 0 and chosen[m - 1] > parents[i]:
            chosen[m] = chosen[m - 1]
            m -= 1
        chosen[m] = parents[i]
    d = S.shape[0]
    signature = np.uint64(0)
    for c in range(d):
        G[c] = S[j, c]
        H[c] = 1.0
    r = 1.0
    # Rows of W are the whitened parents (Gram-Schmidt on S), which is numerically stable.
    for i in range(k):
        p, w = chosen[i], W[i]
        for c in range(d):
            w[c] = S[p, c]
        for a in range(i):
            add_multiple(w, -W[a, p], W[a])
        scale = 1.0 / np.sqrt(max(w[p], TINY))
        for c in range(d):
            w[c] *= scale
        x = w[j]
        take_out(w, x, 1.0, G, H)
        r -= x * x
        signature = signature * MIX + problem.keys[1, p]
    state.count[j] = k
    state.hashed[j] = signature
    state.r[j] = max(r, TINY)
    state.cost[j] = node_cost(problem, j, state.r[j], k)
    state.touched[j] = True


@kernel
def shrink(problem: Problem, work: Work, j: int) -> Any:
    """Drop parents while that lowers the cost; return whether any were dropped."""
    any_dropped = False
    while work.size[0] > 0:
        k = work.size[0]
        weakest, least = NO_NODE, np.inf
        for i in range(k):
            loss = work.b[i] * work.b[i] / work.K[i, i]
            if loss < least and not problem.required[j, work.P[i]]:
                weakest, least = i, loss
        if weakest == NO_NODE:
            break
        if node_cost(problem, j, work.r[0] + least, k - 1) > node_cost(problem, j, work.r[0], k) - 1e-9:
            break
        delete(problem, work, work.P[weakest])
        any_dropped = True
    return any_dropped


@kernel
def grow_shrink(problem: Problem, order: Any, work: Work, j: int, limit: int, banned: int) -> Any:
    """Add the best node before position `limit` and drop the worst parent, until neither lowers the cost."""
    steps = 0
    # The bound prevents infinite loops through rounding.
    while steps <= 4 * problem.S.shape[0]:
        while work.size[0] < problem.most_parents:
            r = work.r[0]
            low, high = gain_window(problem, j, r, work.size[0])
            best, most, top = NO_NODE, low * r, high * r
            for q in range(limit):
                c = order[q]
                gain, h = work.g[c] * work.g[c], work.h[c]
                lowers_most = gain > most * h and h > COLLINEAR and gain < top * h
                if lowers_most and not work.inside[c] and c != banned and c != j and problem.allowed[j, c]:
                    best, most = c, gain / h
            if best == NO_NODE:
                break
            insert(problem, work, best)
            steps += 1
        if not shrink(problem, work, j):
            break
    return node_cost(problem, j, work.r[0], work.size[0])


@inlined
def fill_from_blanket(problem: Problem, order: Any, work: Work, j: int, limit: int) -> None:
    """Start j with its required parents and the nodes of its blanket before position `limit`."""
    clear(problem, work, j)
    for turn in range(2):
        for q in range(limit):
            c = order[q]
            required = problem.required[j, c]
            wanted = problem.blanket[j, c] and problem.allowed[j, c] and work.h[c] > COLLINEAR and not required
            if (required if turn == 0 else wanted) and work.size[0] < problem.most_parents:
                insert(problem, work, c)
    shrink(problem, work, j)


@inlined
def choose_parents(problem: Problem, state: State, work: Work, j: int, from_present: bool) -> None:
    """Find parents of j among its predecessors, from the current parents, or from none and from its blanket.

    Growth from no parents misses hubs: each of a hundred parents explains too little without the others. Elimination
    from the Markov blanket starts with all of them.
    """
    limit = state.position[j]
    clear(problem, work, j)
    for c in range(problem.S.shape[0]):
        if problem.required[j, c]:
            insert(problem, work, c)
    if from_present:
        for i in range(state.count[j]):
            c = state.parents[j, i]
            if state.position[c] < limit and not work.inside[c]:
                insert(problem, work, c)
    cost = grow_shrink(problem, state.order, work, j, limit, NO_NODE)
    size = remember(work)
    if not from_present:
        fill_from_blanket(problem, state.order, work, j, limit)
        if grow_shrink(problem, state.order, work, j, limit, NO_NODE) < cost - 1e-6:
            size = remember(work)
    set_parents(problem, state, work, j, work.best, size)


@kernel
def remember(work: Work) -> Any:
    """Save the parents in the scratch space as the best so far; return their number."""
    for i in range(work.size[0]):
        work.best[i] = work.P[i]
    return work.size[0]


@kernel
def has_parent(state: State, u: int, v: int) -> Any:
    """Return whether v is a parent of u."""
    for i in range(state.count[u]):  # noqa: SIM110 - numba does not compile generators
        if state.parents[u, i] == v:
            return True
    return False


@kernel
def lowers_cost(problem: Problem, j: int, c: int, r: float, k: int, g: float, h: float) -> Any:
    """Return whether c lowers the cost of j, which has k parents and residual variance r; g and h belong to c."""
    if k >= problem.most_parents or h < COLLINEAR or not problem.allowed[j, c]:
        return False
    low, high = gain_window(problem, j, r, k)
    return low * h * r < g * g < high * h * r


@kernel
def exchange(problem: Problem, state: State, cache: Cache, work: Work, u: int, v: int, gains: bool) -> Any:
    """Return the cost of u with the new predecessor v, or without its parent v; leave the parents in `work`."""
    load(problem, state, cache, work, u)
    if gains:
        insert(problem, work, v)
    else:
        delete(problem, work, v)
    return grow_shrink(problem, state.order, work, u, state.position[u], v)


@inlined
def change(problem: Problem, state: State, cache: Cache, work: Work, u: int, v: int, gains: bool) -> Any:
    """Return the change of the cost of u if it gains or loses v as a predecessor."""
    if gains:
        if not lowers_cost(problem, u, v, state.r[u], state.count[u], state.G[u, v], state.H[u, v]):
            return 0.0
    elif not has_parent(state, u, v):
        return 0.0
    key = (state.before[u] * MIX) ^ state.hashed[u]
    if cache.key[u, v] != key:
        cache.key[u, v] = key
        cache.cost[u, v] = exchange(problem, state, cache, work, u, v, gains)
    difference = cache.cost[u, v] - state.cost[u]
    # Gains within rounding are ignored. They would activate nodes and make the search depend on the units.
    return difference if not gains or difference < -1e-6 else 0.0


@inlined
def best_place(
    problem: Problem, state: State, cache: Cache, work: Work, own: Work, v: int, deep: bool, barrier: float
) -> Any:
    """Find a better position of v with the order of the others fixed; return it and the number of parents there.

    v walks to the right and to the left of its position. If it passes u to the right, u loses v, and v may use u. To
    the left it is the reverse. `shift[q]` is the change of the other nodes' cost with v at position q. The parents of v
    are updated in `own` from one position to the next. A walk ends if the score exceeds the current one by more than
    `barrier`. `deep` adds a walk from the right end to the left that starts with the blanket of v. `own.best` has the
    parents at the best position. If the current position is best, NO_NODE is returned.
    """
    shift, here, present = cache.shift, state.position[v], state.cost[v]
    best, place, size = present, NO_NODE, NO_NODE
    shift[here] = 0.0
    ends = (here, here)
    for side in range(2):
        step = 1 - 2 * side
        q = here + step
        cost = present
        load(problem, state, cache, own, v)
        while 0 <= q < state.order.size:
            u = state.order[q]
            if problem.required[u, v] if step > 0 else problem.required[v, u]:
                break
            shift[q] = shift[q - step] + change(problem, state, cache, work, u, v, step < 0)
            if step < 0 and own.inside[u]:
                delete(problem, own, u)
                cost = grow_shrink(problem, state.order, own, v, q, NO_NODE)
            elif step > 0 and lowers_cost(problem, v, u, own.r[0], own.size[0], own.g[u], own.h[u]):
                insert(problem, own, u)
                cost = grow_shrink(problem, state.order, own, v, q + 1, NO_NODE)
            ends = (ends[0], q) if step > 0 else (q, ends[1])
            total = cost + shift[q]
            if total < best - EPSILON:
                best, place, size = total, q, remember(own)
            elif total > present + barrier:
                break
            q += step
    if deep:
        first, last = ends
        for q in range(last, first - 1, -1):
            # Number of nodes before v at position q, in the order that still has v at `here`.
            limit = q if q < here else q + 1
            if q == last:
                fill_from_blanket(problem, state.order, own, v, limit)
                cost = grow_shrink(problem, state.order, own, v, limit, NO_NODE)
            elif own.inside[state.order[limit]]:
                delete(problem, own, state.order[limit])
                cost = grow_shrink(problem, state.order, own, v, limit, NO_NODE)
            if cost + shift[q] < best - EPSILON:
                best, place, size = cost + shift[q], q, remember(own)
    return place, size


@kernel
def activate(state: State, v: int) -> None:
    """Mark v and its parents to be visited again."""
    state.active[v] = True
    for i in range(state.count[v]):
        state.active[state.parents[v, i]] = True


@inlined
def move(problem: Problem, state: State, cache: Cache, work: Work, v: int, place: int) -> None:
    """Move v to a position, and update the nodes that lose or gain it as a predecessor."""
    here = state.position[v]
    step = 1 if place > here else -1
    for q in range(here + step, place + step, step):
        u = state.order[q]
        # A node that loses a parent needs others even if that costs nothing, as with collinear columns.
        if has_parent(state, u, v) if step > 0 else change(problem, state, cache, work, u, v, step < 0) != 0.0:
            exchange(problem, state, cache, work, u, v, step < 0)
            set_parents(problem, state, work, u, work.P, work.size[0])
            activate(state, u)
        state.active[u] = True
    for q in range(here, place, step):
        u = state.order[q + step]
        state.order[q] = u
        state.position[u] = q
        if step > 0:
            state.before[u] -= problem.keys[0, v]
            state.before[v] += problem.keys[0, u]
        else:
            state.before[u] += problem.keys[0, v]
            state.before[v] -= problem.keys[0, u]
    state.order[place] = v
    state.position[v] = place
    activate(state, v)


@entry
def visit(
    problem: Problem, state: State, cache: Cache, work: Work, own: Work, nodes: Any, deep: bool, barrier: float
) -> None:
    """Move the active ones of the nodes to their best positions."""
    for v in nodes:
        if state.active[v]:
            state.active[v] = False
            place, size = best_place(problem, state, cache, work, own, v, deep, barrier)
            if place != NO_NODE:
                set_parents(problem, state, own, v, own.best, size)
                move(problem, state, cache, work, v, place)


@entry
def rearrange(problem: Problem, state: State, work: Work, first: int, segment: Any, afresh: bool) -> None:
    """Write a segment into the order, and find parents for its nodes that lost one or can use a new one.

    Only these nodes become active. With `afresh`, parents are found for all nodes of the segment, from none.
    """
    running = np.uint64(0)
    for q in range(first):
        running += problem.keys[0, state.order[q]]
    for i in range(segment.size):
        u = segment[i]
        state.order[first + i] = u
        state.position[u] = first + i
        state.before[u] = running
        running += problem.keys[0, u]
    for j in range(state.order.size):
        state.active[j] = False
    for u in segment:
        concerned = afresh
        limit = state.position[u]
        for i in range(state.count[u]):
            concerned = concerned or state.position[state.parents[u, i]] > limit
        for q in range(limit):
            c = state.order[q]
            if concerned:
                break
            if lowers_cost(problem, u, c, state.r[u], state.count[u], state.G[u, c], state.H[u, c]):
                concerned = not has_parent(state, u, c)
        if concerned:
            choose_parents(problem, state, work, u, not afresh)
            activate(state, u)


@entry
def copy_touched(source: State, target: State, flags: Any) -> None:
    """Copy a state; of the large arrays only the flagged rows."""
    for j in range(source.order.size):
        target.order[j] = source.order[j]
        target.position[j] = source.position[j]
        target.before[j] = source.before[j]
        if flags[j]:
            target.count[j] = source.count[j]
            target.cost[j] = source.cost[j]
            target.r[j] = source.r[j]
            target.hashed[j] = source.hashed[j]
            for i in range(source.count[j]):
                target.parents[j, i] = source.parents[j, i]
            for c in range(source.order.size):
                target.G[j, c] = source.G[j, c]
                target.H[j, c] = source.H[j, c]


@entry
def find_blankets(problem: Problem, work: Work, t2: Any, ranked: Any) -> None:
    """Estimate the Markov blankets by backward elimination from all nodes with a squared t-statistic above 4.

    Row j of `ranked` lists the nodes by decreasing `t2[j]`.
    """
    for j in range(t2.shape[0]):
        clear(problem, work, j)
        for c in ranked[j]:
            if t2[j, c] <= 4.0 or work.size[0] >= problem.most_parents:
                break
            if work.h[c] > COLLINEAR:
                insert(problem, work, c)
        shrink(problem, work, j)
        for i in range(work.size[0]):
            problem.blanket[j, work.P[i]] = True
