"""Compiled choice of the parents of a node among the nodes before it, which remembers every set of parents.

A node only sees its candidates, the nodes that may become its parents or children, numbered by slots. Every set of
parents that the search meets becomes a record: its cost, the candidates that lower the cost in order of their gain, and
the parent whose removal lowers it. So the choice of parents in any order of the nodes is a walk from record to record
(Andrews et al. 2023 call this a grow-shrink tree), and each cost is computed once. `block_kernels` and `count_kernels`
compute costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.engines.record_kernel_arrays import (
    ADDITIONS,
    ALONE,
    BY_PARENTS,
    COSTS,
    GAINS,
    GROUP,
    INTEGER,
    LIMIT,
    NOTHING,
    NUMBER,
    PARENTS,
    PER_COEFFICIENT,
    POOL,
    RECORDS,
    REMOVAL,
    SET,
    SIZE,
    SORTED,
    UNKNOWN,
    WIDTH,
    WITH_MORE,
    WITHOUT,
    Candidates,
    Memo,
    Work,
)
from golem.search.jit import engine_kernel, inlined, kernel
from golem.search.order_kernel_arrays import ALLOWED, KIND, LIKELY, MIX, NO_NODE, NODE, ONE, POSITION, REQUIRED


@engine_kernel
def fit_costs(e: Any, j: int, P: Any, k: int) -> Any:
    """Return the cost of j with the first k slots of P as parents; add the costs with one more to finite entries.

    Penalties are not included.
    """


@engine_kernel
def count_coefficients(e: Any, number: float, width: int) -> Any:
    """Return the number of coefficients per column of a child with one more parent of this width."""


@engine_kernel
def coefficients_without_parents(e: Any) -> Any:
    """Return the number of coefficients per column of a child without parents."""


@kernel
def find_key(keys: Any, key: Any) -> Any:
    """Return where a key is, or belongs, in a hash table."""
    mask = np.uint64(keys.size - 1)
    at = (key * MIX) >> np.uint64(20) & mask
    while keys[at] != key and keys[at] != np.uint64(0):
        at = at + np.uint64(1) & mask
    return at


@kernel
def cost_of(e: Any, j: int, P: Any, k: int, more: bool) -> Any:
    """Return the cost of j with the first k slots of P as parents; with `more`, compute the costs with one more.

    `work.vectors[COSTS]` gets the latter, infinite where a parent is not possible.
    """
    problem, candidates, work = e.problem, e.candidates, e.work
    first, m, costs = candidates.first[j], candidates.first[j + 1] - candidates.first[j], work.vectors[COSTS]
    width, size, edges, number = problem.nodes[WIDTH], 0.0, 0.0, coefficients_without_parents(e)
    weight = problem.values[PER_COEFFICIENT, j] * (width[j] - number)
    group, by_groups = problem.nodes[GROUP], problem.by_groups[problem.nodes[GROUP, j]]
    for i in range(k):
        u = candidates.slots[NODE, first + P[i]]
        size += problem.values[SIZE, u]
        number = count_coefficients(e, number, width[u])
        edges += by_groups[group[u]]
    for c in range(m):
        u = candidates.slots[NODE, first + c]
        costs[c] = np.inf
        fits = size + problem.values[SIZE, u] <= problem.values[LIMIT, j]
        if more and fits and candidates.slots[KIND, first + c] & ALLOWED:
            total = count_coefficients(e, number, width[u])
            costs[c] = weight * total + problem.values[BY_PARENTS, k + 1] + edges + by_groups[group[u]]
    for i in range(k):
        costs[P[i]] = np.inf
    fit = fit_costs(e, j, P, k)
    return fit + weight * number + problem.values[BY_PARENTS, k] + edges


@kernel
def key_of(candidates: Candidates, j: int, P: Any, k: int) -> Any:
    """Return the key of node j with the first k slots of P as parents."""
    key = candidates.keys[1, j]
    for i in range(k):
        key += candidates.keys[0, candidates.slots[NODE, candidates.first[j] + P[i]]]
    return key


@inlined
def record_of(e: Any, j: int, k: int) -> Any:
    """Return the record of j with the first k entries of `work.slots[SET]` as parents; make it if it is new."""
    candidates, work = e.candidates, e.work
    P, ranked, costs = work.slots[SET], work.slots[SORTED], work.vectors[COSTS]
    memo, used = work.memo, work.memo.used
    key = key_of(candidates, j, P, k)
    at = find_key(memo.key, key)
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
    cost = cost_of(e, j, P, k, WITH_MORE)
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
    record[PARENTS], record[NUMBER], record[ADDITIONS], record[GAINS] = start, k, start + k, gains
    record[REMOVAL], record[WITHOUT] = UNKNOWN, NOTHING
    memo.cost[new] = cost
    memo.key[at], memo.place[at] = key, new
    used[RECORDS] += 1
    used[POOL] += k + 2 * gains
    return new


@kernel
def parents_but(work: Work, record: int, slot: int) -> Any:
    """Copy the parents of a record without one slot to `work.slots[SET]`; return their number."""
    memo = work.memo
    start, k = memo.records[record, PARENTS], ONE - 1
    for i in range(memo.records[record, NUMBER]):
        if memo.pool[start + i] != slot:
            work.slots[SET, k] = memo.pool[start + i]
            k += 1
    return k


@inlined
def find_removal(e: Any, j: int, record: int) -> None:
    """Find the parent whose removal lowers the cost most."""
    candidates, work, memo = e.candidates, e.work, e.work.memo
    data, least, best = memo.records[record], memo.cost[record] - 1e-6, NOTHING
    for i in range(data[NUMBER]):
        slot = INTEGER(memo.pool[data[PARENTS] + i])
        if candidates.slots[KIND, candidates.first[j] + slot] & REQUIRED == 0:
            k = parents_but(work, record, slot)
            key = key_of(candidates, j, work.slots[SET], k)
            at = find_key(memo.key, key)
            cost = memo.cost[memo.place[at]] if memo.key[at] == key else cost_of(e, j, work.slots[SET], k, ALONE)
            if cost < least:
                least, best = cost, slot
    data[REMOVAL] = best


@kernel
def settle(e: Any, j: int, record: int, k: int, limit: int, extra: int, excluded: int) -> Any:
    """Add and remove parents of j until that does not lower the cost; return the record.

    Parents can be the nodes before a position, and an extra one, but not the excluded one. If the record is NO_NODE,
    the first k entries of `work.slots[SET]` are the parents to begin with.
    """
    candidates, work, memo, position = e.candidates, e.work, e.work.memo, e.state.nodes[POSITION]
    first, before, link, added = candidates.first[j], NO_NODE, NO_NODE, False
    while True:
        if record == NO_NODE:
            record = record_of(e, j, k)
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
                find_removal(e, j, record)
            if data[REMOVAL] == NOTHING:
                return record
        before, record = record, INTEGER(memo.pool[link] if added else data[WITHOUT])
        if record == NO_NODE:
            k = parents_but(work, before, NO_NODE if added else INTEGER(data[REMOVAL]))
            if added:
                work.slots[SET, k] = found
                k += 1


@kernel
def has_parent(memo: Memo, record: int, slot: int) -> Any:
    """Return whether a slot is among the parents of a record."""
    start, found = memo.records[record, PARENTS], False
    for i in range(memo.records[record, NUMBER]):
        found = found or memo.pool[start + i] == slot
    return found


@kernel
def changed(e: Any, j: int, record: int, slot: int, gains: bool, limit: int) -> Any:
    """Return the record of j if the candidate in a slot becomes, or is no longer, a possible parent."""
    work, v = e.work, e.candidates.slots[NODE, e.candidates.first[j] + slot]
    k, extra, excluded = NO_NODE, v, NO_NODE
    if not gains:
        if not has_parent(work.memo, record, slot):
            return record
        k = parents_but(work, record, slot)
        record, extra, excluded = NO_NODE, NO_NODE, v
    return settle(e, j, record, k, limit, extra, excluded)


@kernel
def likely_parents(e: Any, j: int, limit: int) -> Any:
    """Copy the required parents of j, and the likely ones before a position, to `work.slots[SET]`; count them."""
    candidates, work, position = e.candidates, e.work, e.state.nodes[POSITION]
    first, k = candidates.first[j], ONE - 1
    for slot in range(candidates.first[j + 1] - first):
        known = candidates.slots[KIND, first + slot]
        likely = known & LIKELY and known & ALLOWED and position[candidates.slots[NODE, first + slot]] < limit
        if likely or known & REQUIRED:
            work.slots[SET, k] = slot
            k += 1
    return k
