"""Compiled choice of the parents of a node among the nodes before it.

A node only sees its candidates, the nodes that may become its parents or children, numbered by slots. Every set of
parents that the search meets becomes a record: its cost, the candidates that lower the cost in order of their gain, and
the parent whose removal lowers it. So the choice of parents in any order of the nodes is a walk from record to record
(Andrews et al. 2023 call this a grow-shrink tree), and each cost is computed once.
"""

from __future__ import annotations

from typing import Any

from golem.search.jit import inlined, kernel
from golem.search.local.local_cost_kernels import evaluate
from golem.search.local.local_count_kernels import find_key
from golem.search.local.local_kernel_arrays import (
    ADDITIONS,
    ALLOWED,
    ALONE,
    COSTS,
    COUNT,
    GAINS,
    INTEGER,
    KIND,
    NODE,
    NOTHING,
    PARENTS,
    POOL,
    POSITION,
    RECORD,
    RECORDS,
    REMOVAL,
    REQUIRED,
    SET,
    SORTED,
    UNKNOWN,
    WITH_MORE,
    WITHOUT,
    Candidates,
    Memo,
    Problem,
    Work,
)
from golem.search.shared_kernels import NO_NODE, ONE


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
            at = find_key(memo.key, key)
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
