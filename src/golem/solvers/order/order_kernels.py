"""Compiled kernels of the order search: parents by grow-shrink, and the best position of one node.

All kernels use a correlation matrix. A node only sees its candidates: the nodes that may become its parents or
children. They are numbered by slots, and R is the correlation matrix of the candidates of one node. For a node j with
parents P, and for every candidate c, the kernels store the residual covariance `g[c] = cov(e_j, x_c | P)` and the
residual variance `h[c] = var(x_c | P)`. Adding c to P lowers the residual variance r of j by `g[c]^2 / h[c]`, so that a
test costs a few multiplications. Most tests end there. Adding or dropping a parent updates K = R_PP^-1 in O(|P|^2) and
both vectors in O(|P| m), where m is the number of candidates, along contiguous rows of R.

Vectors of the same kind are rows of one array, because numba takes longer to compile calls with many arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.solvers.order.jit import entry, inlined, kernel

# Residual variances of standardized columns below this are rounding errors. Such candidates are skipped.
COLLINEAR = 1e-10
# Lower bound of residual variances in logarithms.
TINY = 1e-14
# Updated factors are computed afresh if they change r by more than this share.
DRIFT = 1e-6
MOST_REFRESHES = 8
# Score differences below this are rounding errors: r may be 1e-9 of a column's variance, and n log r amplifies errors.
EPSILON = 1e-3
# Typed, because a literal -1 would compile every kernel that takes a node a second time.
NO_NODE: Any = np.int64(-1)
ONE: Any = np.int64(1)
TRY: Any = np.bool_(False)
DO: Any = np.bool_(True)
MIX = np.uint64(0x9E3779B97F4A7C15)
# A perturbation moves nodes by at most this many of their candidates.
REACH: Any = np.int64(4)

# Rows of `Candidates.slots`, and bits of its kinds.
NODE, BACK, RANKED, KIND = 0, 1, 2, 3
ALLOWED, REQUIRED, LIKELY = 1, 2, 4
# Rows of `State.nodes`, `State.values`, `State.hashes` and `State.vectors`.
ORDER, POSITION, COUNT = 0, 1, 2
COST, RESIDUAL = 0, 1
BEFORE, CHOSEN = 0, 1
G, H = 0, 1
# Rows of `Agenda.lists`, and entries of `Agenda.counts`.
QUEUE, TOUCHED, IS_ACTIVE, IS_TOUCHED = 0, 1, 2, 3
HEAD, WAITING, CHANGED, LOW, HIGH, KICKS = 0, 1, 2, 3, 4, 5
# Rows of `Work.nodes`, of which SIZE has one entry, and values of ROLE: whether a candidate can be added, is a parent,
# or neither.
PARENTS, GIVEN, BEST, ROLE, SIZE = 0, 1, 2, 3, 4
CLOSED, OPEN, INSIDE = 0, 1, 2
# Further rows of `Work.vectors`: scratch space, coefficients b on the parents, r, which has one entry, and the
# correlations of the node with its candidates.
Z, B, T, X, REST, TARGET = 2, 3, 4, 5, 6, 7


class Problem(NamedTuple):
    """The score."""

    S: Any
    n: float
    # penalty[k] is the penalty of k parents. One more is worth it if it lowers r by a larger share than threshold[k].
    penalty: Any
    threshold: Any
    # A prior on the log residual variances adds the cost tightness (log r - centre)^2. Tightness 0 is likelihood-NV.
    centre: Any
    tightness: float
    most_parents: int


class Candidates(NamedTuple):
    """The candidates of every node, and their correlations.

    Those of node j are `slots[:, first[j] : first[j + 1]]`: the node in each slot, the slot of j among that node's
    candidates, slots by position, and whether the edge to j is allowed, required and likely. The matrix R of node j
    starts at `corner[j]` of `blocks`. A node with very many candidates has all nodes in its list, itself included, so
    that R is S.
    """

    first: Any
    slots: Any
    corner: Any
    blocks: Any
    # Random 64-bit keys of the nodes, to hash sets of predecessors and of parents.
    keys: Any


class State(NamedTuple):
    """An order with its parents (as slots), costs, residual variances r, and the vectors g and h of every node."""

    nodes: Any
    values: Any
    # Hashes of the preceding candidates and of the parents of every node.
    hashes: Any
    parents: Any
    vectors: Any


class Agenda(NamedTuple):
    """Nodes to visit, nodes that differ from the best state, and values that are kept from one test to the next."""

    lists: Any
    counts: Any
    # Nodes at which perturbations begin; those that occur several times are drawn more often.
    pool: Any
    random: Any
    # Cost of a node with or without a candidate, valid while the hash of its predecessors and parents is the key.
    key: Any
    cost: Any
    # Change of the cost of all other nodes if the moving node has so many candidates before it.
    shift: Any


class Work(NamedTuple):
    """Scratch space for one node: lists of candidates, vectors along the parents or the candidates, K = R_PP^-1.

    W has whitened parents, and R is used for correlations of candidates that are not stored.
    """

    nodes: Any
    vectors: Any
    K: Any
    W: Any
    R: Any


@kernel
def node_cost(problem: Problem, j: int, r: float, k: int) -> Any:
    """Return the cost of node j with k parents and residual variance r."""
    log_r = np.log(max(r, TINY))
    away = log_r - problem.centre[j]
    return problem.n * log_r + problem.tightness * away * away + problem.penalty[k]


@kernel
def gain_window(problem: Problem, j: int, r: float, k: int) -> Any:
    """Return the least and the largest decrease of r for which one more parent than k is worth its penalty."""
    if k >= problem.most_parents:
        return r, r
    if problem.tightness == 0.0:
        return problem.threshold[k] * r, r
    # f(x) = n x + tightness (x - centre)^2 is convex in x = log r, so that it is low enough between two roots.
    slope = problem.n + 2.0 * problem.tightness * (np.log(max(r, TINY)) - problem.centre[j])
    step = problem.penalty[k + 1] - problem.penalty[k]
    discriminant = slope * slope - 4.0 * problem.tightness * step
    if slope <= 0.0 or discriminant < 0.0:
        return r, r
    both = slope + np.sqrt(discriminant)
    return r - r * np.exp(-2.0 * step / both), r - r * np.exp(-both / (2.0 * problem.tightness))


@kernel
def add_multiple(y: Any, factor: float, x: Any) -> None:
    """Add a multiple of x to the beginning of y."""
    for c in range(x.size):
        y[c] += factor * x[c]


@kernel
def add_outer(K: Any, x: Any, y: Any, k: int) -> None:
    """Add the outer product of the first k entries of x and y to K."""
    for i in range(k):
        for a in range(k):
            K[i, a] += x[i] * y[a]


@kernel
def take_out(z: Any, beta: float, weight: float, g: Any, h: Any, m: int) -> None:
    """Remove the direction z from the residual covariances g and the residual variances h."""
    for c in range(m):
        g[c] -= beta * z[c]
        h[c] -= weight * z[c] * z[c]


@kernel
def refine(R: Any, P: Any, k: int, K: Any, residual: Any, x: Any) -> None:
    """Improve a solution x of R_PP x = residual by one step, because updates cost K some digits."""
    for i in range(k):
        row = R[P[i]]
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
def solve(R: Any, P: Any, k: int, K: Any, target: Any, residual: Any, x: Any) -> None:
    """Solve R_PP x = target_P for the coefficients x on P of a node, of which `target` are the correlations."""
    for i in range(k):
        residual[i] = target[P[i]]
        x[i] = 0.0
    for i in range(k):
        for a in range(k):
            x[a] += K[i, a] * residual[i]
    refine(R, P, k, K, residual, x)


@kernel
def cholesky(R: Any, P: Any, k: int, L: Any) -> None:
    """Factor R_PP = L L' for the first k of P."""
    for i in range(k):
        for a in range(i + 1):
            s = R[P[i], P[a]]
            for m in range(a):
                s -= L[i, m] * L[a, m]
            L[i, a] = s / L[a, a] if a < i else np.sqrt(max(s, TINY))


@kernel
def invert(R: Any, P: Any, k: int, K: Any, L: Any, row: Any) -> None:
    """Compute K = R_PP^-1 for the first k of P; L and row are scratch space."""
    cholesky(R, P, k, L)
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
def whiten(R: Any, P: Any, k: int, target: Any, W: Any, x: Any, g: Any, h: Any) -> Any:
    """Compute g and h given the first k of P, for a node with the correlations `target`; return r.

    Rows of W are the whitened parents (Gram-Schmidt on R), which is numerically stable.
    """
    m = R.shape[0]
    for c in range(m):
        g[c] = target[c]
        h[c] = 1.0
    r = 1.0
    for i in range(k):
        p, w = P[i], W[i]
        for c in range(m):
            w[c] = R[p, c]
        x[i] = target[p]
        for a in range(i):
            add_multiple(w, -W[a, p], W[a, :m])
            x[i] -= W[a, p] * x[a]
        scale = 1.0 / np.sqrt(max(w[p], TINY))
        for c in range(m):
            w[c] *= scale
        x[i] *= scale
        take_out(w, x[i], 1.0, g, h, m)
        r -= x[i] * x[i]
    return max(r, TINY)


@kernel
def has_drifted(R: Any, P: Any, k: int, target: Any, L: Any, x: Any, r: float) -> Any:
    """Tell whether the residual variance given the first k of P differs from the updated one, r."""
    cholesky(R, P, k, L)
    fresh = 1.0
    for i in range(k):
        x[i] = target[P[i]]
        for a in range(i):
            x[i] -= L[i, a] * x[a]
        x[i] /= L[i, i]
        fresh -= x[i] * x[i]
    return abs(fresh - r) > DRIFT * r


@inlined
def insert(R: Any, work: Work, c: int) -> None:
    """Add c to the parents."""
    K, P, g, h, z = work.K, work.nodes[PARENTS], work.vectors[G], work.vectors[H], work.vectors[Z]
    b, t, scaled = work.vectors[B], work.vectors[T], work.vectors[X]
    k = work.nodes[SIZE, 0]
    solve(R, P, k, K, R[c], scaled, t)
    variance = max(h[c], TINY)
    covariance = g[c]
    beta, inverse = covariance / variance, 1.0 / variance
    for q in range(R.shape[0]):
        z[q] = R[c, q]
    for i in range(k):
        add_multiple(z, -t[i], R[P[i]])
    take_out(z, beta, inverse, g, h, R.shape[0])
    for i in range(k):
        scaled[i] = t[i] * inverse
        K[i, k] = -scaled[i]
        K[k, i] = -scaled[i]
        b[i] -= beta * t[i]
    add_outer(K, scaled, t, k)
    K[k, k] = inverse
    b[k] = beta
    P[k] = c
    work.nodes[ROLE, c] = INSIDE
    work.nodes[SIZE, 0] = k + 1
    work.vectors[REST, 0] = max(work.vectors[REST, 0] - covariance * beta, TINY)


@inlined
def delete(R: Any, work: Work, i: int) -> None:
    """Drop the i-th parent, which stays open; the last parent takes its place."""
    K, P, z = work.K, work.nodes[PARENTS], work.vectors[Z]
    b, t, residual = work.vectors[B], work.vectors[T], work.vectors[X]
    k = work.nodes[SIZE, 0]
    for a in range(k):
        t[a] = K[i, a]
        residual[a] = 0.0
    residual[i] = 1.0
    refine(R, P, k, K, residual, t)
    pivot, beta = t[i], b[i]
    for q in range(R.shape[0]):
        z[q] = 0.0
    for a in range(k):
        share = t[a] / pivot
        add_multiple(z, share, R[P[a]])
        b[a] -= share * beta
    take_out(z, -beta, -pivot, work.vectors[G], work.vectors[H], R.shape[0])
    work.vectors[REST, 0] += beta * beta / pivot
    # K is downdated by its own row, not the refined one. This removes its errors along the dropped direction.
    for a in range(k):
        t[a] = K[i, a]
    pivot = K[i, i]
    for a in range(k):
        residual[a] = -t[a] / pivot
    add_outer(K, residual, t, k)
    last = k - 1
    for a in range(k):
        K[i, a] = K[last, a]
    for a in range(k):
        K[a, i] = K[a, last]
    work.nodes[ROLE, P[i]] = OPEN
    P[i] = P[last]
    b[i] = b[last]
    work.nodes[SIZE, 0] = last


@inlined
def best_addition(problem: Problem, R: Any, work: Work, j: int) -> Any:
    """Return the open candidate that lowers the cost most, or NO_NODE."""
    g, h, role = work.vectors[G], work.vectors[H], work.nodes[ROLE]
    best = NO_NODE
    most, top = gain_window(problem, j, work.vectors[REST, 0], work.nodes[SIZE, 0])
    for c in range(R.shape[0]):
        gain = g[c] * g[c]
        if gain > most * h[c] and h[c] > COLLINEAR and gain < top * h[c] and role[c] == OPEN:
            best, most = c, gain / h[c]
    return best


@inlined
def best_removal(problem: Problem, kinds: Any, work: Work, j: int) -> Any:
    """Return the index of the parent without which the cost is lower, or NO_NODE."""
    k, r, b = work.nodes[SIZE, 0], work.vectors[REST, 0], work.vectors[B]
    weakest, least = NO_NODE, np.inf
    for i in range(k):
        loss = b[i] * b[i] / work.K[i, i]
        if loss < least and kinds[work.nodes[PARENTS, i]] & REQUIRED == 0:
            weakest, least = i, loss
    if weakest != NO_NODE and node_cost(problem, j, r + least, k - 1) > node_cost(problem, j, r, k) - 1e-9:
        weakest = NO_NODE
    return weakest


@kernel
def adjust(problem: Problem, kinds: Any, R: Any, work: Work, j: int, count: int, drop: int) -> Any:
    """Improve the parents of j until no candidate added or dropped lowers the cost; return the cost.

    At first the given candidates, `count` of them, are added, and the parent `drop` is dropped for good unless it is
    NO_NODE.
    """
    P, target, x = work.nodes[PARENTS], work.vectors[TARGET], work.vectors[X]
    fresh, refreshes = True, 0
    # The bound prevents infinite loops through rounding.
    for step in range(count + 8 * R.shape[0] + 8):
        add, out = NO_NODE, NO_NODE
        if step < count:
            c = work.nodes[GIVEN, step]
            sound = work.vectors[H, c] > COLLINEAR or kinds[c] & REQUIRED > 0
            if work.nodes[ROLE, c] == OPEN and sound and work.nodes[SIZE, 0] < problem.most_parents:
                add = c
        elif drop != NO_NODE:
            out = 0
            while work.nodes[PARENTS, out] != drop:
                out += 1
        else:
            add = best_addition(problem, R, work, j)
            if add == NO_NODE:
                out = best_removal(problem, kinds, work, j)
            if add == NO_NODE and out == NO_NODE:
                k = work.nodes[SIZE, 0]
                if fresh or not has_drifted(R, P, k, target, work.W, x, work.vectors[REST, 0]):
                    break
                work.vectors[REST, 0] = whiten(R, P, k, target, work.W, x, work.vectors[G], work.vectors[H])
                invert(R, P, k, work.K, work.W, work.vectors[T])
                solve(R, P, k, work.K, target, x, work.vectors[B])
                fresh, refreshes = True, refreshes + 1
                if refreshes == MOST_REFRESHES:
                    break
        if add != NO_NODE:
            insert(R, work, add)
            fresh = False
        elif out != NO_NODE:
            delete(R, work, out)
            fresh = False
            if drop != NO_NODE:
                work.nodes[ROLE, drop] = CLOSED
                drop = NO_NODE
    return node_cost(problem, j, work.vectors[REST, 0], work.nodes[SIZE, 0])


@kernel
def begin(row: Any, nodes: Any, work: Work) -> None:
    """Start a node with these candidates, without parents; `row` has its correlations with all nodes."""
    g, h, target = work.vectors[G], work.vectors[H], work.vectors[TARGET]
    work.nodes[SIZE, 0] = 0
    work.vectors[REST, 0] = 1.0
    for c in range(nodes.size):
        target[c] = row[nodes[c]]
        g[c] = target[c]
        h[c] = 1.0


@entry
def choose_parents(
    problem: Problem,
    work: Work,
    nodes: Any,
    first: Any,
    listed: Any,
    within: bool,
    position: Any,
    known: Any,
    everyone: Any,
    kinds: Any,
    chosen: Any,
    r: Any,
) -> None:
    """Choose parents of some nodes, the i-th of which begins with the nodes `listed[first[i] : first[i + 1]]`.

    With `within`, parents are only chosen from these. Otherwise they are chosen from all nodes at earlier positions, or
    from all nodes if none has a position. Row j of `known` has the kinds of the edges to j; it has no rows without
    knowledge. `everyone` lists all nodes. `kinds` has the kinds of edges without knowledge, and is scratch space
    otherwise. Row i of `chosen` gets the parents, followed by -1, and r[i] the residual variance.
    """
    S, d = problem.S, problem.S.shape[0]
    for i in range(nodes.size):
        j, start = nodes[i], listed[first[i] : first[i + 1]]
        m = start.size if within else d
        R, others = S, everyone
        if within:
            R, others = work.R[: m * m].reshape((m, m)), start
            for a in range(m):
                for b in range(m):
                    R[a, b] = S[start[a], start[b]]
        begin(S[j], others, work)
        for c in range(m):
            if known.shape[0] > 0:
                kinds[c] = known[j, others[c]]
            precedes = position.size == 0 or position[others[c]] < position[j]
            work.nodes[ROLE, c] = OPEN if precedes and others[c] != j and kinds[c] & ALLOWED else CLOSED
        for q in range(start.size):
            work.nodes[GIVEN, q] = q if within else start[q]
        adjust(problem, kinds, R, work, j, start.size, NO_NODE)
        for q in range(chosen.shape[1]):
            chosen[i, q] = others[work.nodes[PARENTS, q]] if q < work.nodes[SIZE, 0] else -1
        r[i] = work.vectors[REST, 0]


@inlined
def block_of(first: Any, corner: Any, blocks: Any, j: int) -> Any:
    """Return the correlations R of the candidates of j."""
    m = first[j + 1] - first[j]
    return blocks[corner[j] : corner[j] + m * m].reshape((m, m))


@kernel
def load(problem: Problem, candidates: Candidates, state: State, work: Work, j: int) -> None:
    """Load the present parents of j into the scratch space."""
    R = block_of(candidates.first, candidates.corner, candidates.blocks, j)
    P, k, first, m = work.nodes[PARENTS], state.nodes[COUNT, j], candidates.first[j], R.shape[0]
    position, nodes = state.nodes[POSITION], candidates.slots[NODE, first : first + m]
    for c in range(m):
        work.nodes[ROLE, c] = (
            OPEN if position[nodes[c]] < position[j] and candidates.slots[KIND, first + c] & ALLOWED else CLOSED
        )
        work.vectors[G, c] = state.vectors[G, first + c]
        work.vectors[H, c] = state.vectors[H, first + c]
        work.vectors[TARGET, c] = problem.S[j, nodes[c]]
    for i in range(k):
        P[i] = state.parents[first + i]
        work.nodes[ROLE, P[i]] = INSIDE
    work.nodes[SIZE, 0] = k
    work.vectors[REST, 0] = state.values[RESIDUAL, j]
    invert(R, P, k, work.K, work.W, work.vectors[T])
    solve(R, P, k, work.K, work.vectors[TARGET], work.vectors[X], work.vectors[B])


@kernel
def touch(lists: Any, counts: Any, j: int) -> None:
    """Note that j differs from the best state."""
    if lists[IS_TOUCHED, j] == 0:
        lists[IS_TOUCHED, j] = 1
        lists[TOUCHED, counts[CHANGED]] = j
        counts[CHANGED] += 1


@kernel
def activate(lists: Any, counts: Any, v: int) -> None:
    """Put v into the queue of nodes to visit."""
    if lists[IS_ACTIVE, v] == 0:
        lists[IS_ACTIVE, v] = 1
        lists[QUEUE, (counts[HEAD] + counts[WAITING]) % lists.shape[1]] = v
        counts[WAITING] += 1


@kernel
def set_parents(
    problem: Problem, candidates: Candidates, state: State, agenda: Agenda, work: Work, j: int, parents: Any, k: int
) -> None:
    """Give j the first k of these parents, and recompute r and the vectors, so that errors do not accumulate.

    It becomes active with its parents.
    """
    R, first = block_of(candidates.first, candidates.corner, candidates.blocks, j), candidates.first[j]
    m = R.shape[0]
    nodes, chosen = candidates.slots[NODE, first : first + m], state.parents[first : first + m]
    g, h, target = state.vectors[G, first : first + m], state.vectors[H, first : first + m], work.vectors[TARGET]
    for c in range(m):
        target[c] = problem.S[j, nodes[c]]
    # Sorted, so that the result depends only on the set.
    signature = np.uint64(0)
    for i in range(k):
        a = i
        while a > 0 and chosen[a - 1] > parents[i]:
            chosen[a] = chosen[a - 1]
            a -= 1
        chosen[a] = parents[i]
    for i in range(k):
        p = nodes[chosen[i]]
        signature = signature * MIX + candidates.keys[1, p]
        activate(agenda.lists, agenda.counts, p)
    r = whiten(R, chosen, k, target, work.W, work.vectors[X], g, h)
    state.nodes[COUNT, j] = k
    state.hashes[CHOSEN, j] = signature
    state.values[RESIDUAL, j] = r
    state.values[COST, j] = node_cost(problem, j, r, k)
    activate(agenda.lists, agenda.counts, j)
    touch(agenda.lists, agenda.counts, j)


@kernel
def change(
    problem: Problem,
    candidates: Candidates,
    state: State,
    agenda: Agenda,
    work: Work,
    j: int,
    c: int,
    gains: bool,
    carry_out: bool,
) -> Any:
    """Return the change of the cost of j if it gains or loses its candidate c as a predecessor; carry it out or not."""
    first, hashes, k = candidates.first[j], state.hashes, state.nodes[COUNT, j]
    slot = first + c
    is_parent = False
    for i in range(k):
        is_parent = is_parent or state.parents[first + i] == c
    if gains:
        g, h = state.vectors[G, slot], state.vectors[H, slot]
        low, high = gain_window(problem, j, state.values[RESIDUAL, j], k)
        useful = low * h < g * g < high * h and h > COLLINEAR
        if not useful or candidates.slots[KIND, slot] & ALLOWED == 0:
            return 0.0
    elif not is_parent:
        return 0.0
    key = (hashes[BEFORE, j] * MIX) ^ hashes[CHOSEN, j]
    known = agenda.key[slot] == key
    difference = agenda.cost[slot] - state.values[COST, j]
    # A node that loses a parent needs others even if that costs nothing, as with collinear columns. Gains within
    # rounding are ignored. They would activate nodes and make the search depend on the units.
    if not known or (carry_out and (not gains or difference < -1e-6)):
        load(problem, candidates, state, work, j)
        work.nodes[GIVEN, 0] = c
        work.nodes[ROLE, c] = OPEN if gains else INSIDE
        R = block_of(candidates.first, candidates.corner, candidates.blocks, j)
        kinds = candidates.slots[KIND, first : first + R.shape[0]]
        cost = adjust(problem, kinds, R, work, j, ONE if gains else ONE - 1, NO_NODE if gains else c)
        difference = cost - state.values[COST, j]
        agenda.key[slot] = key
        agenda.cost[slot] = cost
        if carry_out and (not gains or difference < -1e-6):
            set_parents(problem, candidates, state, agenda, work, j, work.nodes[PARENTS], work.nodes[SIZE, 0])
    return difference if not gains or difference < -1e-6 else 0.0


@kernel
def rank_candidates(position: Any, nodes: Any, ranked: Any, v: int) -> Any:
    """Sort the candidates of v, other than itself, by position; return their number and how many precede v."""
    others = nodes.size - 1 if nodes.size == position.size else nodes.size
    before = 0
    # Insertion sort: the order has changed little since the last visit.
    for i in range(others):
        slot = ranked[i]
        place, a = position[nodes[slot]], i
        while a > 0 and position[nodes[ranked[a - 1]]] > place:
            ranked[a] = ranked[a - 1]
            a -= 1
        ranked[a] = slot
        before += place < position[v]
    return others, before


@kernel
def remember(work: Work) -> Any:
    """Save the parents in the scratch space as the best so far; return their number."""
    for i in range(work.nodes[SIZE, 0]):
        work.nodes[BEST, i] = work.nodes[PARENTS, i]
    return work.nodes[SIZE, 0]


@kernel
def likely_parents(kinds: Any, work: Work) -> Any:
    """List the open candidates to begin with: required ones, then those in the Markov blanket; return their number."""
    count = 0
    for kind in (REQUIRED, LIKELY):
        for c in range(kinds.size):
            if kinds[c] & kind and (kind == REQUIRED or kinds[c] & REQUIRED == 0) and work.nodes[ROLE, c] != CLOSED:
                work.nodes[ROLE, c] = OPEN
                work.nodes[GIVEN, count] = c
                count += 1
    return count


@inlined
def best_place(
    problem: Problem,
    candidates: Candidates,
    state: State,
    agenda: Agenda,
    work: Work,
    own: Work,
    v: int,
    deep: bool,
    barrier: float,
) -> Any:
    """Find a better position of v with the order of the others fixed; return it and the number of parents there.

    v walks to the right and to the left past its candidates, one at a time. If it passes u to the right, u loses v, and
    v may use u. To the left it is the reverse. `shift[c]` is the change of the other nodes' cost with c candidates
    before v. The parents of v are updated in `own` from one place to the next. A walk ends if the score exceeds the
    current one by more than `barrier`. `deep` adds a walk from the right end to the left that starts with the blanket
    of v. `own.nodes[BEST]` has the parents at the best place. If the current position is best, NO_NODE is returned.
    """
    first, shift, position = candidates.first[v], agenda.shift, state.nodes[POSITION]
    R = block_of(candidates.first, candidates.corner, candidates.blocks, v)
    kinds, nodes = (
        candidates.slots[KIND, first : first + R.shape[0]],
        candidates.slots[NODE, first : first + R.shape[0]],
    )
    ranked = candidates.slots[RANKED, first : first + R.shape[0]]
    others, here = rank_candidates(position, nodes, ranked, v)
    present = state.values[COST, v]
    best, place, size = present, NO_NODE, NO_NODE
    shift[here] = 0.0
    left, right = here, here
    for walk in range(3 if deep else 2):
        step = 1 if walk == 0 else -1
        at, end, cost, count, drop = here, others if walk == 0 else here - here, present, ONE - 1, NO_NODE
        if walk < 2:
            load(problem, candidates, state, own, v)
        else:
            at, end = right, left
            begin(problem.S[v], nodes, own)
            for i in range(others):
                own.nodes[ROLE, ranked[i]] = OPEN if i < right and kinds[ranked[i]] & ALLOWED else CLOSED
            count = likely_parents(kinds, own)
        fresh = walk == 2
        while fresh or at != end:
            if not fresh:
                c = ranked[at if walk == 0 else at - 1]
                u, back = nodes[c], candidates.slots[BACK, first + c]
                if walk < 2:
                    kind = candidates.slots[KIND, candidates.first[u] + back] if walk == 0 else kinds[c]
                    if kind & REQUIRED:
                        break
                    moved = change(problem, candidates, state, agenda, work, u, back, walk == 1, TRY)
                    shift[at + step] = shift[at] + moved
                at += step
                count, drop = ONE - 1, NO_NODE
                if walk == 0 and kinds[c] & ALLOWED:
                    own.nodes[ROLE, c] = OPEN
                    g, h = own.vectors[G, c], own.vectors[H, c]
                    low, high = gain_window(problem, v, own.vectors[REST, 0], own.nodes[SIZE, 0])
                    own.nodes[GIVEN, 0] = c
                    count = ONE if low * h < g * g < high * h and h > COLLINEAR else ONE - 1
                elif walk > 0 and own.nodes[ROLE, c] == INSIDE:
                    drop = c
                elif walk > 0:
                    own.nodes[ROLE, c] = CLOSED
            if fresh or count > 0 or drop != NO_NODE:
                cost = adjust(problem, kinds, R, own, v, count, drop)
            fresh = False
            total = cost + shift[at]
            if total < best - EPSILON:
                best, size = total, remember(own)
                place = position[v] if at == here else position[nodes[ranked[at - 1 if at > here else at]]]
            elif total > present + barrier and walk < 2:
                break
        if walk == 0:
            right = at
        elif walk == 1:
            left = at
    return place, size


@inlined
def move(
    problem: Problem, candidates: Candidates, state: State, agenda: Agenda, work: Work, v: int, place: int
) -> None:
    """Move v to a position, and update the nodes that lose or gain it as a predecessor; its candidates are ranked."""
    order, position, before = state.nodes[ORDER], state.nodes[POSITION], state.hashes[BEFORE]
    first, here, keys, counts = candidates.first[v], position[v], candidates.keys[0], agenda.counts
    gains = place < here
    others = candidates.first[v + 1] - first
    others -= others == order.size
    for i in range(others):
        c = candidates.slots[RANKED, first + (others - 1 - i if gains else i)]
        u, back = candidates.slots[NODE, first + c], candidates.slots[BACK, first + c]
        if min(here, place) <= position[u] <= max(here, place):
            change(problem, candidates, state, agenda, work, u, back, gains, DO)
            activate(agenda.lists, counts, u)
            touch(agenda.lists, counts, u)
            if gains:
                before[u] += keys[v]
                before[v] -= keys[u]
            else:
                before[u] -= keys[v]
                before[v] += keys[u]
    step = -1 if gains else 1
    for q in range(here, place, step):
        u = order[q + step]
        order[q] = u
        position[u] = q
    order[place] = v
    position[v] = place
    counts[LOW] = min(counts[LOW], here, place)
    counts[HIGH] = max(counts[HIGH], here, place)


@kernel
def draw(random: Any, below: int) -> Any:
    """Return a random number from 0 to below - 1 (splitmix64)."""
    random[0] += MIX
    x = random[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) >> np.uint64(1)) % below


@kernel
def draw_near(position: Any, nodes: Any, ranked: Any, random: Any, v: int) -> Any:
    """Return v itself, or one of its candidates that are closest to it in the order."""
    others, before = rank_candidates(position, nodes, ranked, v)
    at = before + draw(random, REACH + REACH + 1) - REACH
    if others == 0 or at == before:
        return v
    return nodes[ranked[min(max(at - (at > before), 0), others - 1)]]


@inlined
def draw_move(candidates: Candidates, state: State, agenda: Agenda, v: int) -> Any:
    """Draw a node to move and one that it passes, to reverse an edge into v or to move a node near v."""
    nodes, random = state.nodes, agenda.random
    a = candidates.first[v]
    if agenda.counts[KICKS] == 0:
        parent = candidates.slots[NODE, a + state.parents[a + draw(random, nodes[COUNT, v])]]
        return (v, parent) if draw(random, ONE + 1) == 0 else (parent, v)
    slots, b = candidates.slots, candidates.first[v + 1]
    u = draw_near(nodes[POSITION], slots[NODE, a:b], slots[RANKED, a:b], random, v)
    a, b = candidates.first[u], candidates.first[u + 1]
    return u, draw_near(nodes[POSITION], slots[NODE, a:b], slots[RANKED, a:b], random, u)


@inlined
def forced_parents(problem: Problem, candidates: Candidates, state: State, own: Work, v: int, past: int) -> Any:
    """Find parents of v at the position of another node; return that position and their number.

    If a required edge prevents the move, NO_NODE is returned.
    """
    first, position = candidates.first[v], state.nodes[POSITION]
    R = block_of(candidates.first, candidates.corner, candidates.blocks, v)
    kinds, nodes = (
        candidates.slots[KIND, first : first + R.shape[0]],
        candidates.slots[NODE, first : first + R.shape[0]],
    )
    here, place, count = position[v], position[past], ONE - 1
    ranked = candidates.slots[RANKED, first : first + R.shape[0]]
    rank_candidates(position, nodes, ranked, v)
    begin(problem.S[v], nodes, own)
    for c in range(nodes.size):
        u = nodes[c]
        if u != v and min(here, place) <= position[u] <= max(here, place):
            slot = candidates.first[u] + candidates.slots[BACK, first + c] if place > here else first + c
            kind = candidates.slots[KIND, slot]
            if kind & REQUIRED:
                place = NO_NODE
                break
        precedes = position[u] < place or (u == past and place > here)
        own.nodes[ROLE, c] = OPEN if precedes and kinds[c] & ALLOWED else CLOSED
    for i in range(state.nodes[COUNT, v] if place != NO_NODE else 0):
        own.nodes[GIVEN, count] = state.parents[first + i]
        count += 1
    if place != NO_NODE:
        adjust(problem, kinds, R, own, v, count, NO_NODE)
    return place, remember(own)


@kernel
def copy_touched(candidates_first: Any, source: State, target: State, agenda: Agenda) -> None:
    """Copy what differs between the state and the best state, and note that nothing differs any more."""
    counts = agenda.counts
    for q in range(counts[LOW], counts[HIGH] + 1):
        v = source.nodes[ORDER, q]
        target.nodes[ORDER, q] = v
        target.nodes[POSITION, v] = q
    for i in range(counts[CHANGED]):
        v = agenda.lists[TOUCHED, i]
        agenda.lists[IS_TOUCHED, v] = 0
        target.nodes[COUNT, v] = source.nodes[COUNT, v]
        for row in range(2):
            target.values[row, v] = source.values[row, v]
            target.hashes[row, v] = source.hashes[row, v]
        for q in range(candidates_first[v], candidates_first[v + 1]):
            target.parents[q] = source.parents[q]
            target.vectors[G, q] = source.vectors[G, q]
            target.vectors[H, q] = source.vectors[H, q]
    counts[CHANGED] = 0
    counts[LOW] = source.nodes.shape[1]
    counts[HIGH] = -1


@inlined
def keep_better(first: Any, state: State, best: State, agenda: Agenda) -> Any:
    """Copy the state to `best`, or restore the state from `best` if its score rose; return whether it rose.

    Moves are evaluated with updated inverses and carried out with fresh regressions. The two differ in ill-conditioned
    problems, so that a move can raise the score. Equal scores are kept: the search may move through an equivalence
    class.
    """
    rise = 0.0
    for i in range(agenda.counts[CHANGED]):
        v = agenda.lists[TOUCHED, i]
        rise += state.values[COST, v] - best.values[COST, v]
    source, target = state, best
    if rise >= EPSILON:
        source, target = best, state
    copy_touched(first, source, target, agenda)
    return rise >= EPSILON


@kernel
def shorten_queue(lists: Any, counts: Any, length: int) -> None:
    """Remove the last nodes of the queue."""
    while counts[WAITING] > length:
        counts[WAITING] -= 1
        lists[IS_ACTIVE, lists[QUEUE, (counts[HEAD] + counts[WAITING]) % lists.shape[1]]] = 0


@entry
def advance(
    problem: Problem,
    candidates: Candidates,
    state: State,
    best: State,
    agenda: Agenda,
    work: Work,
    own: Work,
    perturbations: int,
    visits: int,
    barrier: float,
) -> None:
    """Perturb the order some times, or visit some nodes of the queue with deep walks; keep the better state.

    If both numbers are zero, costs and vectors are computed for the parents in the state. A perturbation reverses one
    edge, by moving one of its nodes past the other, or moves a few neighbouring nodes. Then the nodes in the queue are
    visited. They move to their best positions until none is better. Without perturbations, every move that raises the
    score is undone.
    """
    counts, v = agenda.counts, NO_NODE
    deep = perturbations == 0
    if perturbations + visits == 0:
        for j in range(state.nodes.shape[1]):
            for i in range(state.nodes[COUNT, j]):
                work.nodes[GIVEN, i] = state.parents[candidates.first[j] + i]
            set_parents(problem, candidates, state, agenda, work, j, work.nodes[GIVEN], state.nodes[COUNT, j])
        return  # the best state is not known yet
    for _ in range(visits if deep else perturbations):
        left, kick, length = ONE if deep else visits, ONE - 1, counts[WAITING] - 1
        if not deep:
            v = agenda.pool[draw(agenda.random, agenda.pool.size)]
            counts[KICKS] = 0
            if state.nodes[COUNT, v] == 0 or draw(agenda.random, ONE + 1) == 0:
                counts[KICKS] = 2 + draw(agenda.random, ONE + 2)
        while left > 0:
            if not deep and kick < max(counts[KICKS], 1):
                kick += 1
                u, past = draw_move(candidates, state, agenda, v)
                if u == past:
                    continue
                place, size = forced_parents(problem, candidates, state, own, u, past)
            elif counts[WAITING] > 0:
                left -= 1
                u = agenda.lists[QUEUE, counts[HEAD]]
                counts[HEAD] = (counts[HEAD] + 1) % agenda.lists.shape[1]
                counts[WAITING] -= 1
                agenda.lists[IS_ACTIVE, u] = 0
                place, size = best_place(problem, candidates, state, agenda, work, own, u, deep, barrier)
            else:
                break
            if place != NO_NODE:
                set_parents(problem, candidates, state, agenda, own, u, own.nodes[BEST], size)
                move(problem, candidates, state, agenda, work, u, place)
        rose = keep_better(candidates.first, state, best, agenda)
        if rose or not deep:
            # A node that would make the same move again must wait until one of its neighbours has moved.
            shorten_queue(agenda.lists, counts, max(length, ONE - 1) if deep else ONE - 1)
