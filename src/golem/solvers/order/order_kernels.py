"""Compiled kernels of the order search: parents by grow-shrink, and the best position of one node.

Everything works on a correlation matrix S. A node j with parents P carries, for every other node c, the residual
covariance `g[c] = cov(e_j, x_c | P)` and the residual variance `h[c] = var(x_c | P)`. Adding c to P then lowers the
residual variance r of j by `g[c]^2 / h[c]`: a test costs a few multiplications, and most tests end there. Adding or
dropping a parent updates K = S_PP^-1 in O(|P|^2) and both vectors in O(|P| d), along contiguous rows of S.

In `Problem` the masks are indexed [child, parent], so that one child's candidates lie together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.solvers.order.jit import entry, inlined, kernel

# Residual variances of standardized columns below this are rounding, not signal: such candidates are skipped.
COLLINEAR = 1e-10
# The least residual variance whose logarithm is taken.
TINY = 1e-14
# Score differences below this are rounding: r may be 1e-9 of a column's variance, and n log r amplifies its error.
EPSILON = 1e-3
# From this number of parents on, K is stored between tests: to compute it is O(|P|^3).
STORED = 10
# Typed: a literal -1 would compile every kernel that takes a node a second time.
NOBODY: Any = np.int64(-1)
MIX = np.uint64(0x9E3779B97F4A7C15)


class Problem(NamedTuple):
    """What is given."""

    S: Any
    n: float
    # penalty[k] is the penalty of k parents; one more pays if it lowers r by more than the share threshold[k].
    penalty: Any
    threshold: Any
    allowed: Any
    required: Any
    # A prior on the log residual variances: cost tightness (log r - centre)^2; tightness 0 is pure NV.
    centre: Any
    tightness: float
    most_parents: int
    # blanket[j, c]: c is in the Markov blanket of j, as far as elimination from all others could tell.
    blanket: Any
    # Random 64-bit keys of the nodes, to hash sets of predecessors and of parents.
    keys: Any


class State(NamedTuple):
    """An order, and what belongs to it: parents, costs, residual variances r, and the vectors G[j] and H[j]."""

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
    # touched: rows that changed since they were last copied; active: nodes to be tried again.
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
    """What is remembered from one test to the next."""

    # What the others gain or lose with the node that walks at each position.
    shift: Any
    # Cost of u with or without v, valid while the hash of u's predecessors and parents is the key.
    key: Any
    cost: Any
    # Inverses K of nodes with many parents: a pool of numbers, filled from the front.
    pool: Any
    pool_end: Any
    pool_start: Any
    pool_room: Any
    pool_key: Any


@kernel
def node_cost(problem: Problem, j: int, r: float, k: int) -> Any:
    """Cost of node j with k parents and residual variance r."""
    log_r = np.log(max(r, TINY))
    away = log_r - problem.centre[j]
    return problem.n * log_r + problem.tightness * away * away + problem.penalty[k]


@kernel
def gain_window(problem: Problem, j: int, r: float, k: int) -> Any:
    """Return the shares of r by which an addition to k parents must lower it, at least and at most."""
    if problem.tightness == 0.0:
        return problem.threshold[k], 1.0
    # f(x) = n x + tightness (x - centre)^2 is convex in x = log r: it has fallen far enough between two roots.
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
    """Take the direction z out of the residual covariances g, by beta, and out of the residual variances h."""
    for c in range(z.size):
        g[c] -= beta * z[c]
        h[c] -= weight * z[c] * z[c]


@kernel
def refine(S: Any, P: Any, k: int, K: Any, residual: Any, x: Any) -> None:
    """Improve a solution x of S_PP x = residual by one step: K loses digits as it is updated."""
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
    """Solve S_PP x = S_Pc: the coefficients of c on P."""
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
    # K is downdated by its own row, not the refined one: its errors along the dropped direction leave with it.
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
    # L becomes its own inverse, row by row; K is the Gram matrix of that.
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
    """Fetch the present parents of j into the scratch space."""
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
def keep(problem: Problem, state: State, work: Work, j: int, parents: Any, k: int) -> None:
    """Give j the first k of these parents; r and the vectors are computed afresh, against drift."""
    S, W, G, H, chosen = problem.S, work.W, state.G[j], state.H[j], state.parents[j]
    # Sorted: what follows must not depend on the way that led to the set.
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
    # Rows of W are the whitened parents (Gram-Schmidt on S), the stable way to the same vectors.
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
    """Drop parents while that lowers the cost; tell whether any went."""
    any_dropped = False
    while work.size[0] > 0:
        k = work.size[0]
        weakest, least = NOBODY, np.inf
        for i in range(k):
            loss = work.b[i] * work.b[i] / work.K[i, i]
            if loss < least and not problem.required[j, work.P[i]]:
                weakest, least = i, loss
        if weakest == NOBODY:
            break
        if node_cost(problem, j, work.r[0] + least, k - 1) > node_cost(problem, j, work.r[0], k) - 1e-9:
            break
        delete(problem, work, work.P[weakest])
        any_dropped = True
    return any_dropped


@kernel
def grow_shrink(problem: Problem, order: Any, work: Work, j: int, limit: int, banned: int) -> Any:
    """Add the best of the nodes at positions before `limit`, drop the worst parent, until neither pays."""
    steps = 0
    # The bound on the steps is against cycles that rounding could make.
    while steps <= 4 * problem.S.shape[0]:
        while work.size[0] < problem.most_parents:
            r = work.r[0]
            low, high = gain_window(problem, j, r, work.size[0])
            best, most, top = NOBODY, low * r, high * r
            for q in range(limit):
                c = order[q]
                gain, h = work.g[c] * work.g[c], work.h[c]
                pays_most = gain > most * h and h > COLLINEAR and gain < top * h
                if pays_most and not work.inside[c] and c != banned and c != j and problem.allowed[j, c]:
                    best, most = c, gain / h
            if best == NOBODY:
                break
            insert(problem, work, best)
            steps += 1
        if not shrink(problem, work, j):
            break
    return node_cost(problem, j, work.r[0], work.size[0])


@inlined
def fill_from_blanket(problem: Problem, order: Any, work: Work, j: int, limit: int) -> None:
    """Start j with its required parents and all of its blanket that stands before `limit`."""
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
    """Find parents of j among its predecessors: from the present ones, or the better of nothing and its blanket.

    Growth from nothing misses hubs: each of a hundred parents explains too little while the others are absent.
    Elimination from the Markov blanket starts with all of them present.
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
    cost = grow_shrink(problem, state.order, work, j, limit, NOBODY)
    size = remember(work)
    if not from_present:
        fill_from_blanket(problem, state.order, work, j, limit)
        if grow_shrink(problem, state.order, work, j, limit, NOBODY) < cost - 1e-6:
            size = remember(work)
    keep(problem, state, work, j, work.best, size)


@kernel
def remember(work: Work) -> Any:
    """Note the parents in the scratch space as the best so far; return their number."""
    for i in range(work.size[0]):
        work.best[i] = work.P[i]
    return work.size[0]


@kernel
def has_parent(state: State, u: int, v: int) -> Any:
    """Tell whether v is a parent of u."""
    for i in range(state.count[u]):  # noqa: SIM110 - numba compiles no generators
        if state.parents[u, i] == v:
            return True
    return False


@kernel
def pays(problem: Problem, j: int, c: int, r: float, k: int, g: float, h: float) -> Any:
    """Tell whether c lowers the cost of j, which has k parents and residual variance r; g and h are those of c."""
    if k >= problem.most_parents or h < COLLINEAR or not problem.allowed[j, c]:
        return False
    low, high = gain_window(problem, j, r, k)
    return low * h * r < g * g < high * h * r


@kernel
def exchange(problem: Problem, state: State, cache: Cache, work: Work, u: int, v: int, gains: bool) -> Any:
    """Cost of u with v as a new predecessor, or without its parent v; the parents stay in the scratch space."""
    load(problem, state, cache, work, u)
    if gains:
        insert(problem, work, v)
    else:
        delete(problem, work, v)
    return grow_shrink(problem, state.order, work, u, state.position[u], v)


@inlined
def change(problem: Problem, state: State, cache: Cache, work: Work, u: int, v: int, gains: bool) -> Any:
    """Change of the cost of u when it gains or loses v as a predecessor."""
    if gains:
        if not pays(problem, u, v, state.r[u], state.count[u], state.G[u, v], state.H[u, v]):
            return 0.0
    elif not has_parent(state, u, v):
        return 0.0
    key = (state.before[u] * MIX) ^ state.hashed[u]
    if cache.key[u, v] != key:
        cache.key[u, v] = key
        cache.cost[u, v] = exchange(problem, state, cache, work, u, v, gains)
    difference = cache.cost[u, v] - state.cost[u]
    # A gain within rounding is none: it would wake nodes, and the walk depend on the units of the columns.
    return difference if not gains or difference < -1e-6 else 0.0


@inlined
def best_place(
    problem: Problem, state: State, cache: Cache, work: Work, own: Work, v: int, deep: bool, barrier: float
) -> Any:
    """Find a better position of v with the order of the others fixed; return it and the number of parents there.

    v walks to the right and to the left of where it stands. Passing u to the right, u loses v and v may use u; to
    the left the reverse. `shift[q]` sums up what the others gain or lose with v at position q; the parents of v
    are carried from one position to the next in `own`. A walk ends where the score lies more than `barrier` above
    the present one. `deep` walks once more from the right end to the left, starting with the blanket of v. The parents
    at the best position are left in `own.best`; where v stands best already, the position is NOBODY.
    """
    shift, here, present = cache.shift, state.position[v], state.cost[v]
    best, place, size = present, NOBODY, NOBODY
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
                cost = grow_shrink(problem, state.order, own, v, q, NOBODY)
            elif step > 0 and pays(problem, v, u, own.r[0], own.size[0], own.g[u], own.h[u]):
                insert(problem, own, u)
                cost = grow_shrink(problem, state.order, own, v, q + 1, NOBODY)
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
            # The nodes before v at position q, counted in the order that still has v at `here`.
            limit = q if q < here else q + 1
            if q == last:
                fill_from_blanket(problem, state.order, own, v, limit)
                cost = grow_shrink(problem, state.order, own, v, limit, NOBODY)
            elif own.inside[state.order[limit]]:
                delete(problem, own, state.order[limit])
                cost = grow_shrink(problem, state.order, own, v, limit, NOBODY)
            if cost + shift[q] < best - EPSILON:
                best, place, size = cost + shift[q], q, remember(own)
    return place, size


@kernel
def wake(state: State, v: int) -> None:
    """Mark v and its parents to be tried again."""
    state.active[v] = True
    for i in range(state.count[v]):
        state.active[state.parents[v, i]] = True


@inlined
def move(problem: Problem, state: State, cache: Cache, work: Work, v: int, place: int) -> None:
    """Put v at a position, and let the nodes it passes lose or gain it as a predecessor."""
    here = state.position[v]
    step = 1 if place > here else -1
    for q in range(here + step, place + step, step):
        u = state.order[q]
        # Who loses a parent must find others even where that costs nothing, as among collinear columns.
        if has_parent(state, u, v) if step > 0 else change(problem, state, cache, work, u, v, step < 0) != 0.0:
            exchange(problem, state, cache, work, u, v, step < 0)
            keep(problem, state, work, u, work.P, work.size[0])
            wake(state, u)
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
    wake(state, v)


@entry
def visit(
    problem: Problem, state: State, cache: Cache, work: Work, own: Work, nodes: Any, deep: bool, barrier: float
) -> None:
    """Move those of the nodes that are active to their best positions."""
    for v in nodes:
        if state.active[v]:
            state.active[v] = False
            place, size = best_place(problem, state, cache, work, own, v, deep, barrier)
            if place != NOBODY:
                keep(problem, state, own, v, own.best, size)
                move(problem, state, cache, work, v, place)


@entry
def rearrange(problem: Problem, state: State, work: Work, first: int, segment: Any, afresh: bool) -> None:
    """Write a segment into the order, and find parents for its nodes where they lost or could use some.

    Only the nodes concerned become active. `afresh` finds parents for all of them, from nothing.
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
            if pays(problem, u, c, state.r[u], state.count[u], state.G[u, c], state.H[u, c]):
                concerned = not has_parent(state, u, c)
        if concerned:
            choose_parents(problem, state, work, u, not afresh)
            wake(state, u)


@entry
def copy_touched(source: State, target: State, flags: Any) -> None:
    """Copy a state, of the large arrays only the flagged rows."""
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
    """Fill in the Markov blankets: backward elimination from all others whose squared t-statistic exceeds 4.

    Row j of `ranked` lists the nodes by falling `t2[j]`.
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
