"""Compiled kernels of the search with local scores: costs of nodes, choice of parents, and the best place of one node.

A node only sees its candidates, the nodes that may become its parents or children, numbered by slots. Every set of
parents that the search meets becomes a record: its cost, the candidates that lower the cost in order of their gain, and
the parent whose removal lowers it. So the choice of parents in any order of the nodes is a walk from record to record
(Andrews et al. 2023 call this a grow-shrink tree), and each cost is computed once. All candidates of a record are
evaluated together: they share the regression on its parents, or the table of its parents' levels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from golem.solvers.order.jit import entry, inlined, kernel

# See `local_scores.COLLINEAR`.
COLLINEAR = 1e-10
# Score differences below this are rounding errors.
EPSILON = 1e-3
# Typed, because a literal -1 would compile every kernel that takes a node a second time.
NO_NODE: Any = np.int64(-1)
ONE: Any = np.int64(1)
INTEGER: Any = np.int64
WITH_MORE: Any = np.bool_(True)
ALONE: Any = np.bool_(False)
MIX = np.uint64(0x9E3779B97F4A7C15)
# A perturbation moves nodes by at most this many of their candidates.
REACH: Any = INTEGER(4)
# Kinds of scores.
GAUSSIAN, BDEU, BIC = 0, 1, 2
# Rows of `Problem.nodes`: columns or levels, the first of a node's own columns in its block, the size of the block.
WIDTH, OWN, STRIDE = 0, 1, 2
# Rows of `Problem.values`.
PER_COEFFICIENT, SIZE, LIMIT, BY_PARENTS = 0, 1, 2, 3
# Rows of `Candidates.slots`, and bits of its kinds.
NODE, BACK, START, KIND, RANKED = 0, 1, 2, 3, 4
ALLOWED, REQUIRED, LIKELY = 1, 2, 4
# Columns of `Memo.records`: where its parents begin in the pool, and how many there are; where its additions begin, and
# how many there are; the slot to remove, and the record without it.
PARENTS, COUNT, ADDITIONS, GAINS, REMOVAL, WITHOUT = 0, 1, 2, 3, 4, 5
NOTHING, UNKNOWN = -1, -2
# Entries of `Memo.used`.
RECORDS, POOL, VALUES = 0, 1, 2
# What may be left over at the end of each, so that a step of a walk fits.
ROOM = 1024
# Rows of `State`, of `Agenda.lists`, and entries of `Agenda.counts`.
ORDER, POSITION, RECORD = 0, 1, 2
QUEUE, IS_ACTIVE = 0, 1
HEAD, WAITING, FULL, DONE = 0, 1, 2, 3
# Rows of `Work.slots` and of `Work.vectors`.
SET, OTHER, SORTED = 0, 1, 2
COSTS, VARIANCE, FIRST_COVARIANCE = 0, 1, 2


class Problem(NamedTuple):
    """The score; what one of its kinds does not need is empty."""

    kind: int
    nodes: Any
    values: Any
    # Gaussian: the terms of node j are term_first[j], ..., the block of each begins at its corner of `blocks`.
    term_first: Any
    corner: Any
    rows: Any
    blocks: Any
    # Counts: codes of shape (d, n), how often each row occurs, and the equivalent sample size.
    codes: Any
    weight: Any
    prior: float


class Candidates(NamedTuple):
    """The candidates of node j are `slots[:, first[j] : first[j + 1]]`; see the names of the rows above.

    BACK is the slot of j among the candidates of the candidate, START its first column in the block of j, KIND whether
    the edge to j is allowed and required. RANKED are the slots by position.
    """

    first: Any
    slots: Any
    # Random 64-bit keys of the nodes as parents, as children, and as members of sets.
    keys: Any


class Memo(NamedTuple):
    """All records, with hash tables to find them, and the values of sets of categories."""

    records: Any
    cost: Any
    pool: Any
    key: Any
    place: Any
    value_key: Any
    value: Any
    used: Any


class Work(NamedTuple):
    """Scratch space: lists of slots, vectors along slots and columns, whitened parents V, a small matrix A, tables."""

    slots: Any
    vectors: Any
    V: Any
    A: Any
    combination: Any
    table: Any


class Agenda(NamedTuple):
    """Nodes to visit, counts, and the state of the random numbers."""

    lists: Any
    counts: Any
    random: Any


@kernel
def add_multiple(y: Any, factor: float, x: Any) -> None:
    """Add a multiple of x to y."""
    for c in range(x.size):
        y[c] += factor * x[c]


@kernel
def residual_logdet(A: Any, floor: Any, m: int, last: int) -> Any:
    """Return the log determinant of the last columns of A given those before them; A is lower and is overwritten."""
    total = 0.0
    for i in range(m):
        pivot = A[i, i]
        skipped = pivot <= floor[i]
        if i >= m - last and floor[i] > 0.0:
            total += np.log(max(pivot, floor[i]))
        for a in range(i + 1, m):
            if not skipped:
                share = A[a, i] / pivot
                for b in range(i + 1, a + 1):
                    A[a, b] -= share * A[b, i]
    return total


@kernel
def whiten(R: Any, V: Any, col: int, rank: int) -> Any:
    """Orthogonalize a column to the first rows of V, and add it as a row, unless they determine it; return the rank."""
    row = V[rank, : R.shape[0]]
    for q in range(R.shape[0]):
        row[q] = R[col, q]
    for a in range(rank):
        add_multiple(row, -V[a, col], V[a, : R.shape[0]])
    if row[col] <= COLLINEAR * R[col, col]:
        return rank
    scale = 1.0 / np.sqrt(row[col])
    for q in range(R.shape[0]):
        row[q] *= scale
    return rank + 1


@kernel
def residuals(R: Any, V: Any, rank: int, own: int, w: int, vectors: Any) -> None:
    """Compute residual variances of all columns of a block, and residual covariances with those of the node itself."""
    m = R.shape[0]
    variance = vectors[VARIANCE, :m]
    for q in range(m):
        variance[q] = R[q, q]
    for i in range(rank):
        for q in range(m):
            variance[q] -= V[i, q] * V[i, q]
    for b in range(w):
        covariance = vectors[FIRST_COVARIANCE + b, :m]
        for q in range(m):
            covariance[q] = R[own + b, q]
        for i in range(rank):
            add_multiple(covariance, -V[i, own + b], V[i, :m])


@kernel
def block_cost(R: Any, V: Any, rank: int, own: int, w: int, start: int, wc: int, vectors: Any, A: Any) -> Any:
    """Return the log determinant of the residual block of a node with one more parent of `wc` columns."""
    floor, m = vectors[FIRST_COVARIANCE + w], wc + w
    for a in range(m):
        p = start + a if a < wc else own + a - wc
        floor[a] = COLLINEAR * R[p, p]
        for b in range(a + 1):
            q = start + b if b < wc else own + b - wc
            if a >= wc:
                A[a, b] = vectors[FIRST_COVARIANCE + a - wc, q]
            elif a == b:
                A[a, b] = vectors[VARIANCE, p]
            else:
                A[a, b] = R[p, q]
                for i in range(rank):
                    A[a, b] -= V[i, p] * V[i, q]
    return residual_logdet(A, floor, m, w)


@inlined
def gaussian_costs(problem: Problem, candidates: Candidates, work: Work, j: int, P: Any, k: int) -> Any:
    """Return the cost of j with the first k slots of P as parents; add the costs with one more to finite entries.

    Penalties are not included.
    """
    first, m = candidates.first[j], candidates.first[j + 1] - candidates.first[j]
    own, w, stride = problem.nodes[OWN, j], problem.nodes[WIDTH, j], problem.nodes[STRIDE, j]
    costs, V, total = work.vectors[COSTS], work.V, 0.0
    for t in range(problem.term_first[j], problem.term_first[j + 1]):
        R = problem.blocks[problem.corner[t] : problem.corner[t] + stride * stride].reshape((stride, stride))
        rank = ONE - 1
        for i in range(k):
            start = candidates.slots[START, first + P[i]]
            for col in range(start, start + problem.nodes[WIDTH, candidates.slots[NODE, first + P[i]]]):
                rank = whiten(R, V, col, rank)
        residuals(R, V, rank, own, w, work.vectors)
        for c in range(-1, m):
            if c < 0 or costs[c] < np.inf:
                start, wc = own, ONE - 1
                if c >= 0:
                    start = candidates.slots[START, first + c]
                    wc = problem.nodes[WIDTH, candidates.slots[NODE, first + c]]
                cost = problem.rows[t] * block_cost(R, V, rank, own, w, start, wc, work.vectors, work.A)
                if c < 0:
                    total += cost
                else:
                    costs[c] += cost
    return total


@kernel
def find_value(memo: Memo, key: Any) -> Any:
    """Return where the value of a set is, or belongs, in its hash table."""
    mask = np.uint64(memo.value_key.size - 1)
    at = (key * MIX) >> np.uint64(20) & mask
    while memo.value_key[at] != key and memo.value_key[at] != np.uint64(0):
        at = at + np.uint64(1) & mask
    return at


@kernel
def store_value(memo: Memo, key: Any, value: float) -> None:
    """Store the value of a set."""
    at = find_value(memo, key)
    if memo.value_key[at] != key:
        memo.value_key[at] = key
        memo.used[VALUES] += 1
    memo.value[at] = value


@kernel
def combine(codes: Any, levels: Any, nodes: Any, k: int, combination: Any, table: Any) -> Any:
    """Count the combinations of levels of some nodes that occur, and give each row the number of its combination."""
    n, q = codes.shape[1], ONE
    for r in range(n):
        combination[r] = 0
    for i in range(k):
        column, factor = codes[nodes[i]], np.int32(levels[nodes[i]])
        for r in range(n):
            combination[r] = combination[r] * factor + column[r]
        q *= factor
        if q > 256:
            for a in range(q):
                table[a] = -1
            q = ONE - 1
            for r in range(n):
                if table[combination[r]] < 0:
                    table[combination[r]] = q
                    q += 1
                combination[r] = table[combination[r]]
    return q


@kernel
def cell_value(kind: int, count: int, share: float, least: float) -> Any:
    """Return what a cell of a contingency table adds to the value of its set."""
    if kind == BIC:
        return -2.0 * count * np.log(count)
    if count == 1:
        return -2.0 * np.log(share)
    return 2.0 * (least - math.lgamma(count + share))


@kernel
def tabulate(
    problem: Problem, memo: Memo, work: Work, q: int, cells: float, key: Any, margin_key: Any, c: int, j: int
) -> None:
    """Store the values of the set of parents, candidate c (or NO_NODE) and j, and of the same set without j.

    The parents are combined and have q combinations. The larger set has `cells` combinations of levels in all.
    """
    table, combination, own, r = work.table, work.combination, problem.codes[j], problem.nodes[WIDTH, j]
    levels = ONE if c == NO_NODE else problem.nodes[WIDTH, c]
    for a in range(q * levels * r):
        table[a] = 0
    if c == NO_NODE:
        for i in range(own.size):
            table[combination[i] * r + own[i]] += problem.weight[i]
    else:
        other = problem.codes[c]
        for i in range(own.size):
            table[(combination[i] * levels + other[i]) * r + own[i]] += problem.weight[i]
    share, value, margin = problem.prior / cells, 0.0, 0.0
    least, least_margin = math.lgamma(share), math.lgamma(share * r)
    for a in range(q * levels):
        total = ONE - 1
        for b in range(a * r, a * r + r):
            if table[b] > 0:
                total += table[b]
                value += cell_value(problem.kind, INTEGER(table[b]), share, least)
        if total > 0:
            margin += cell_value(problem.kind, total, share * r, least_margin)
    store_value(memo, key, value)
    store_value(memo, margin_key, margin)


@inlined
def count_costs(problem: Problem, candidates: Candidates, memo: Memo, work: Work, j: int, P: Any, k: int) -> Any:
    """Do the same as `gaussian_costs` for categories."""
    first, m = candidates.first[j], candidates.first[j + 1] - candidates.first[j]
    costs, levels, keys, nodes = work.vectors[COSTS], problem.nodes[WIDTH], candidates.keys[2], work.slots[OTHER]
    # The empty set has the key 1, because 0 marks free places of the table.
    base, cells, q, total = np.uint64(1), 1.0 * levels[j], NO_NODE, 0.0
    for i in range(k):
        nodes[i] = candidates.slots[NODE, first + P[i]]
        base += keys[nodes[i]]
        cells *= levels[nodes[i]]
    for slot in range(-1, m):
        if slot < 0 or costs[slot] < np.inf:
            c = candidates.slots[NODE, first + slot] if slot >= 0 else NO_NODE
            margin_key = base + keys[c] if slot >= 0 else base
            key = margin_key + keys[j]
            at, margin_at = find_value(memo, key), find_value(memo, margin_key)
            if memo.value_key[at] != key or memo.value_key[margin_at] != margin_key:
                if q == NO_NODE:
                    q = combine(problem.codes, levels, nodes, k, work.combination, work.table)
                tabulate(problem, memo, work, q, cells * (levels[c] if slot >= 0 else 1), key, margin_key, c, j)
                at, margin_at = find_value(memo, key), find_value(memo, margin_key)
            cost = memo.value[at] - memo.value[margin_at]
            if slot < 0:
                total = cost
            else:
                costs[slot] += cost
    return total


@kernel
def evaluate(
    problem: Problem, candidates: Candidates, memo: Memo, work: Work, j: int, P: Any, k: int, more: bool
) -> Any:
    """Return the cost of j with the first k slots of P as parents; with `more`, compute the costs with one more.

    `work.vectors[COSTS]` gets the latter, infinite where a parent is not possible.
    """
    first, m, costs = candidates.first[j], candidates.first[j + 1] - candidates.first[j], work.vectors[COSTS]
    kind, width, weight = problem.kind, problem.nodes[WIDTH], problem.values[PER_COEFFICIENT, j]
    size, number = 0.0, 0.0 if kind == GAUSSIAN else 1.0
    for i in range(k):
        u = candidates.slots[NODE, first + P[i]]
        size += problem.values[SIZE, u]
        number = number + width[u] if kind == GAUSSIAN else number * width[u]
    weight *= width[j] if kind == GAUSSIAN else width[j] - 1
    for c in range(m):
        u = candidates.slots[NODE, first + c]
        costs[c] = np.inf
        fits = size + problem.values[SIZE, u] <= problem.values[LIMIT, j]
        if more and fits and candidates.slots[KIND, first + c] & ALLOWED:
            total = number + width[u] if kind == GAUSSIAN else number * width[u]
            costs[c] = weight * total + problem.values[BY_PARENTS, k + 1]
    for i in range(k):
        costs[P[i]] = np.inf
    if kind == GAUSSIAN:
        fit = gaussian_costs(problem, candidates, work, j, P, k)
    else:
        fit = count_costs(problem, candidates, memo, work, j, P, k)
    return fit + weight * number + problem.values[BY_PARENTS, k]


@kernel
def find_record(memo: Memo, key: Any) -> Any:
    """Return where a record is, or belongs, in the hash table."""
    mask = np.uint64(memo.key.size - 1)
    at = (key * MIX) >> np.uint64(20) & mask
    while memo.key[at] != key and memo.key[at] != np.uint64(0):
        at = at + np.uint64(1) & mask
    return at


@kernel
def key_of(candidates: Candidates, j: int, P: Any, k: int) -> Any:
    """Return the key of node j with the first k slots of P as parents."""
    key = candidates.keys[1, j]
    for i in range(k):
        key += candidates.keys[0, candidates.slots[NODE, candidates.first[j] + P[i]]]
    return key


@inlined
def record_of(problem: Problem, candidates: Candidates, memo: Memo, work: Work, j: int, k: int) -> Any:
    """Return the record of j with the first k entries of `work.slots[SET]` as parents; make it if it is new."""
    P, ranked, costs, used = work.slots[SET], work.slots[SORTED], work.vectors[COSTS], memo.used
    key = key_of(candidates, j, P, k)
    at = find_record(memo, key)
    if memo.key[at] == key:
        return INTEGER(memo.place[at])
    # Sorted, so that rounding does not depend on the way to the set.
    for i in range(1, k):
        slot, a = P[i], i
        while a > 0 and P[a - 1] > slot:
            P[a] = P[a - 1]
            a -= 1
        P[a] = slot
    new = used[RECORDS]
    cost = evaluate(problem, candidates, memo, work, j, P, k, WITH_MORE)
    gains = 0
    for c in range(candidates.first[j + 1] - candidates.first[j]):
        if costs[c] < cost - 1e-6:
            a = gains
            while a > 0 and costs[ranked[a - 1]] > costs[c] + 1e-9:
                ranked[a] = ranked[a - 1]
                a -= 1
            ranked[a] = c
            gains += 1
    pool, start = memo.pool, used[POOL]
    for i in range(k):
        pool[start + i] = P[i]
    for a in range(gains):
        pool[start + k + a] = ranked[a]
        pool[start + k + gains + a] = NOTHING  # the record with this addition
    record = memo.records[new]
    record[PARENTS], record[COUNT], record[ADDITIONS], record[GAINS] = start, k, start + k, gains
    record[REMOVAL], record[WITHOUT] = UNKNOWN, NOTHING
    memo.cost[new] = cost
    memo.key[at], memo.place[at] = key, new
    used[RECORDS] += 1
    used[POOL] += k + 2 * gains
    return new


@kernel
def parents_but(memo: Memo, record: int, slot: int, work: Work) -> Any:
    """Copy the parents of a record without one slot to `work.slots[SET]`; return their number."""
    start, k = memo.records[record, PARENTS], ONE - 1
    for i in range(memo.records[record, COUNT]):
        if memo.pool[start + i] != slot:
            work.slots[SET, k] = memo.pool[start + i]
            k += 1
    return k


@inlined
def find_removal(problem: Problem, candidates: Candidates, memo: Memo, work: Work, j: int, record: int) -> None:
    """Find the parent whose removal lowers the cost most."""
    data, least, best = memo.records[record], memo.cost[record] - 1e-6, NOTHING
    for i in range(data[COUNT]):
        slot = INTEGER(memo.pool[data[PARENTS] + i])
        if candidates.slots[KIND, candidates.first[j] + slot] & REQUIRED == 0:
            k = parents_but(memo, record, slot, work)
            key = key_of(candidates, j, work.slots[SET], k)
            at = find_record(memo, key)
            if memo.key[at] == key:
                cost = memo.cost[memo.place[at]]
            else:
                cost = evaluate(problem, candidates, memo, work, j, work.slots[SET], k, ALONE)
            if cost < least:
                least, best = cost, slot
    data[REMOVAL] = best


@kernel
def settle(
    problem: Problem,
    candidates: Candidates,
    memo: Memo,
    work: Work,
    position: Any,
    j: int,
    record: int,
    k: int,
    limit: int,
    extra: int,
    excluded: int,
) -> Any:
    """Add and remove parents of j until that does not lower the cost; return the record.

    Parents can be the nodes before a position, and an extra one, but not the excluded one. If the record is NO_NODE,
    the first k entries of `work.slots[SET]` are the parents to begin with.
    """
    first, before, link, added = candidates.first[j], NO_NODE, NO_NODE, False
    while True:
        if record == NO_NODE:
            record = record_of(problem, candidates, memo, work, j, k)
            if before != NO_NODE and added:
                memo.pool[link] = record
            elif before != NO_NODE:
                memo.records[before, WITHOUT] = record
        data, found = memo.records[record], NO_NODE
        for a in range(data[GAINS]):
            slot = INTEGER(memo.pool[data[ADDITIONS] + a])
            u = candidates.slots[NODE, first + slot]
            if (position[u] < limit or u == extra) and u != excluded:
                found, link = slot, INTEGER(data[ADDITIONS] + data[GAINS] + a)
                break
        added = found != NO_NODE
        if not added:
            if data[REMOVAL] == UNKNOWN:
                find_removal(problem, candidates, memo, work, j, record)
            if data[REMOVAL] == NOTHING:
                return record
        before, record = record, INTEGER(memo.pool[link] if added else data[WITHOUT])
        if record == NO_NODE:
            k = parents_but(memo, before, NO_NODE if added else INTEGER(data[REMOVAL]), work)
            if added:
                work.slots[SET, k] = found
                k += 1


@kernel
def has_parent(memo: Memo, record: int, slot: int) -> Any:
    """Return whether a slot is among the parents of a record."""
    start, found = memo.records[record, PARENTS], False
    for i in range(memo.records[record, COUNT]):
        found = found or memo.pool[start + i] == slot
    return found


@kernel
def changed(
    problem: Problem,
    candidates: Candidates,
    memo: Memo,
    work: Work,
    position: Any,
    j: int,
    record: int,
    slot: int,
    gains: bool,
    limit: int,
) -> Any:
    """Return the record of j if the candidate in a slot becomes, or is no longer, a possible parent."""
    v = candidates.slots[NODE, candidates.first[j] + slot]
    k, extra, excluded = NO_NODE, v, NO_NODE
    if not gains:
        if not has_parent(memo, record, slot):
            return record
        k = parents_but(memo, record, slot, work)
        record, extra, excluded = NO_NODE, NO_NODE, v
    return settle(problem, candidates, memo, work, position, j, record, k, limit, extra, excluded)


@kernel
def parents_of_kind(candidates: Candidates, work: Work, position: Any, j: int, kind: int, limit: int) -> Any:
    """Copy the required parents of j, and those of a kind before a position, to `work.slots[SET]`; count them."""
    first, k = candidates.first[j], ONE - 1
    for slot in range(candidates.first[j + 1] - first):
        known = candidates.slots[KIND, first + slot]
        likely = known & kind and known & ALLOWED and position[candidates.slots[NODE, first + slot]] < limit
        if likely or known & REQUIRED:
            work.slots[SET, k] = slot
            k += 1
    return k


@inlined
def choose(
    problem: Problem, candidates: Candidates, memo: Memo, work: Work, state: Any, number: Any, given: Any
) -> None:
    """Choose parents of every node j with number[j] >= NO_NODE among those before it in the order.

    The choice begins with the first `number[j]` of the slots `given[first[j] : first[j + 1]]`, or with the required
    parents for NO_NODE.
    """
    position = state[POSITION]
    for j in range(number.size):
        if number[j] >= NO_NODE:
            k = number[j]
            if k == NO_NODE:
                k = parents_of_kind(candidates, work, position, j, INTEGER(REQUIRED), position[j])
            for i in range(number[j]):
                work.slots[SET, i] = given[candidates.first[j] + i]
            state[RECORD, j] = settle(
                problem, candidates, memo, work, position, j, NO_NODE, k, position[j], NO_NODE, NO_NODE
            )


@kernel
def activate(lists: Any, counts: Any, v: int) -> None:
    """Put v into the queue of nodes to visit."""
    if lists[IS_ACTIVE, v] == 0:
        lists[IS_ACTIVE, v] = 1
        lists[QUEUE, (counts[HEAD] + counts[WAITING]) % lists.shape[1]] = v
        counts[WAITING] += 1


@kernel
def set_record(candidates: Candidates, memo: Memo, state: Any, agenda: Agenda, j: int, record: int) -> None:
    """Give j another record; it becomes active with its parents."""
    if state[RECORD, j] != record:
        state[RECORD, j] = record
        activate(agenda.lists, agenda.counts, j)
        for i in range(memo.records[record, COUNT]):
            slot = memo.pool[memo.records[record, PARENTS] + i]
            activate(agenda.lists, agenda.counts, candidates.slots[NODE, candidates.first[j] + slot])


@kernel
def rank_candidates(position: Any, nodes: Any, ranked: Any, v: int) -> Any:
    """Sort the candidates of v by position; return how many precede v."""
    before = 0
    # Insertion sort: the order has changed little since the last visit.
    for i in range(nodes.size):
        slot = ranked[i]
        place, a = position[nodes[slot]], i
        while a > 0 and position[nodes[ranked[a - 1]]] > place:
            ranked[a] = ranked[a - 1]
            a -= 1
        ranked[a] = slot
        before += place < position[v]
    return before


@kernel
def is_full(memo: Memo, most: int) -> Any:
    """Return whether the memo has no room for a step of a walk; records have at most so many candidates."""
    used = memo.used
    return (
        used[RECORDS] + ROOM > memo.cost.size
        or used[POOL] + ROOM * (2 * most + 8) > memo.pool.size
        or (used[VALUES] > 0 and 2 * (used[VALUES] + ROOM * most) > memo.value.size)
    )


@inlined
def best_place(
    problem: Problem,
    candidates: Candidates,
    memo: Memo,
    state: Any,
    agenda: Agenda,
    work: Work,
    v: int,
    deep: bool,
    barrier: float,
) -> Any:
    """Find a better position of v with the order of the others fixed; return it and the record of v there.

    v walks to the right and to the left past its candidates, one at a time. If it passes u to the right, u loses v, and
    v may use u. To the left it is the reverse. A walk ends if the score exceeds the current one by more than `barrier`.
    `deep` also tries parents of v at each place that are chosen beginning with its likely ones. If the current position
    is best, NO_NODE is returned.
    """
    first, m, position = candidates.first[v], candidates.first[v + 1] - candidates.first[v], state[POSITION]
    nodes, ranked = candidates.slots[NODE, first : first + m], candidates.slots[RANKED, first : first + m]
    here = rank_candidates(position, nodes, ranked, v)
    present = memo.cost[state[RECORD, v]]
    best, place, record = present, NO_NODE, state[RECORD, v]
    for walk in range(2):
        own, at, shift = state[RECORD, v], here, 0.0
        while at != (m if walk == 0 else 0) and not is_full(memo, work.slots.shape[1]):
            c = ranked[at if walk == 0 else at - 1]
            u, back = nodes[c], candidates.slots[BACK, first + c]
            kind = candidates.slots[KIND, candidates.first[u] + back if walk == 0 else first + c]
            if kind & REQUIRED:
                break
            before = state[RECORD, u]
            after = changed(problem, candidates, memo, work, position, u, before, back, walk == 1, position[u])
            shift += memo.cost[after] - memo.cost[before]
            limit = position[u] + 1 if walk == 0 else position[u]
            own = changed(problem, candidates, memo, work, position, v, own, c, walk == 0, limit)
            if deep:
                k = parents_of_kind(candidates, work, position, v, INTEGER(LIKELY), limit)
                other = settle(problem, candidates, memo, work, position, v, NO_NODE, k, limit, NO_NODE, NO_NODE)
                if memo.cost[other] < memo.cost[own] - EPSILON:
                    own = other
            at += 1 if walk == 0 else -1
            total = memo.cost[own] + shift
            if total < best - EPSILON:
                best, place, record = total, position[u], own
            elif total > present + barrier:
                break
    return place, record


@inlined
def move(
    problem: Problem, candidates: Candidates, memo: Memo, state: Any, agenda: Agenda, work: Work, v: int, place: int
) -> None:
    """Move v to a position, and update the nodes that lose or gain it as a predecessor; its candidates are ranked."""
    order, position, counts = state[ORDER], state[POSITION], agenda.counts
    first, m, here = candidates.first[v], candidates.first[v + 1] - candidates.first[v], position[v]
    gains = place < here
    for i in range(m):
        c = candidates.slots[RANKED, first + (m - 1 - i if gains else i)]
        u, back = candidates.slots[NODE, first + c], candidates.slots[BACK, first + c]
        if min(here, place) <= position[u] <= max(here, place):
            record = changed(problem, candidates, memo, work, position, u, state[RECORD, u], back, gains, position[u])
            set_record(candidates, memo, state, agenda, u, record)
            activate(agenda.lists, counts, u)
    step = -1 if gains else 1
    for q in range(here, place, step):
        u = order[q + step]
        order[q] = u
        position[u] = q
    order[place] = v
    position[v] = place


@kernel
def draw(random: Any, below: int) -> Any:
    """Return a random number from 0 to below - 1 (splitmix64)."""
    random[0] += MIX
    x = random[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return INTEGER((x ^ (x >> np.uint64(31))) >> np.uint64(1)) % below


@kernel
def draw_near(candidates: Candidates, position: Any, random: Any, v: int) -> Any:
    """Return v itself, or one of its candidates that are closest to it in the order."""
    first, m = candidates.first[v], candidates.first[v + 1] - candidates.first[v]
    nodes, ranked = candidates.slots[NODE, first : first + m], candidates.slots[RANKED, first : first + m]
    before = rank_candidates(position, nodes, ranked, v)
    at = before + draw(random, REACH + REACH + 1) - REACH
    if m == 0 or at == before:
        return v
    return nodes[ranked[min(max(at - (at > before), 0), m - 1)]]


@inlined
def draw_move(candidates: Candidates, memo: Memo, state: Any, random: Any, v: int, kicks: int) -> Any:
    """Draw a node to move and one that it passes: to reverse an edge into v, or, with kicks, to move a node near v."""
    if kicks == 0:
        data, first = memo.records[state[RECORD, v]], candidates.first[v]
        slot = memo.pool[data[PARENTS] + draw(random, INTEGER(data[COUNT]))]
        parent = candidates.slots[NODE, first + slot]
        return (v, parent) if draw(random, ONE + 1) == 0 else (parent, v)
    u = draw_near(candidates, state[POSITION], random, v)
    return u, draw_near(candidates, state[POSITION], random, u)


@inlined
def forced_record(
    problem: Problem, candidates: Candidates, memo: Memo, state: Any, work: Work, v: int, past: int
) -> Any:
    """Return the position of another node and the record of v there; NO_NODE if a required edge prevents the move."""
    first, position = candidates.first[v], state[POSITION]
    m = candidates.first[v + 1] - first
    rank_candidates(position, candidates.slots[NODE, first : first + m], candidates.slots[RANKED, first : first + m], v)
    here, place = position[v], position[past]
    record, k = state[RECORD, v], ONE - 1
    limit = place + 1 if place > here else place
    for c in range(m):
        u = candidates.slots[NODE, first + c]
        if here < position[u] < limit:
            kind = candidates.slots[KIND, candidates.first[u] + candidates.slots[BACK, first + c]]
        elif limit <= position[u] < here:
            kind = candidates.slots[KIND, first + c]
        else:
            continue
        if kind & REQUIRED:
            place = NO_NODE
            break
    if place == NO_NODE:
        return place, record
    for i in range(memo.records[record, COUNT]):
        slot = INTEGER(memo.pool[memo.records[record, PARENTS] + i])
        if position[candidates.slots[NODE, first + slot]] < limit:
            work.slots[SET, k] = slot
            k += 1
    return place, settle(problem, candidates, memo, work, position, v, NO_NODE, k, limit, NO_NODE, NO_NODE)


@kernel
def total_cost(memo: Memo, state: Any) -> Any:
    """Return the sum of the costs of all nodes."""
    total = 0.0
    for j in range(state.shape[1]):
        total += memo.cost[state[RECORD, j]]
    return total


@kernel
def copy_state(source: Any, target: Any) -> None:
    """Copy a state."""
    for row in range(3):
        for j in range(source.shape[1]):
            target[row, j] = source[row, j]


@entry
def advance(
    problem: Problem,
    candidates: Candidates,
    memo: Memo,
    state: Any,
    best: Any,
    agenda: Agenda,
    work: Work,
    number: Any,
    given: Any,
    perturbations: int,
    visits: int,
    barrier: float,
) -> None:
    """Perturb the order some times, or visit some nodes of the queue with deep walks; keep the better state.

    If both numbers are zero, only parents are chosen, see `choose`; this is one kernel to save compile time.
    A perturbation reverses one edge, by moving one of its nodes past the other, or moves a few neighbouring nodes. Then
    the nodes in the queue are visited. They move to their best positions until none is better. If the memo is full,
    the work ends early, and the entry FULL of the counts is 1.
    """
    counts, random, v, left = agenda.counts, agenda.random, NO_NODE, visits
    deep, kicks = perturbations == 0, NO_NODE
    most, d = work.slots.shape[1], state.shape[1]
    if perturbations + visits == 0:
        choose(problem, candidates, memo, work, state, number, given)
        return
    for _ in range(max(perturbations, 1)):
        if not deep:
            v, left, kicks = draw(random, INTEGER(d)), visits, ONE - 1
            if memo.records[state[RECORD, v], COUNT] == 0 or draw(random, ONE + 1) == 0:
                kicks = 2 + draw(random, ONE + 2)
        kick = 0
        while left > 0 and not is_full(memo, most):
            if not deep and kick < max(kicks, 1):
                kick += 1
                u, past = draw_move(candidates, memo, state, random, v, kicks)
                if u == past:
                    continue
                place, record = forced_record(problem, candidates, memo, state, work, u, past)
            elif counts[WAITING] > 0:
                left -= 1
                u = agenda.lists[QUEUE, counts[HEAD]]
                counts[HEAD] = (counts[HEAD] + 1) % d
                counts[WAITING] -= 1
                agenda.lists[IS_ACTIVE, u] = 0
                place, record = best_place(problem, candidates, memo, state, agenda, work, u, deep, barrier)
            else:
                break
            if place != NO_NODE:
                move(problem, candidates, memo, state, agenda, work, u, place)
                set_record(candidates, memo, state, agenda, u, record)
        # Equal scores are kept: the search may move through an equivalence class.
        if total_cost(memo, state) < total_cost(memo, best) + EPSILON:
            copy_state(state, best)
        else:
            copy_state(best, state)
        while not deep and counts[WAITING] > 0:
            counts[WAITING] -= 1
            agenda.lists[IS_ACTIVE, agenda.lists[QUEUE, (counts[HEAD] + counts[WAITING]) % d]] = 0
        counts[DONE] += not deep
        if is_full(memo, most):
            counts[FULL] = 1
            break
