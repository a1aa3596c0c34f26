"""Compiled kernels of the search with local scores: the best place of one node, and perturbations of the order.

`local_parent_kernels` chooses parents, `local_cost_kernels` computes costs. `shared_kernels` has what does not depend
on the score.
"""

from __future__ import annotations

from typing import Any

from golem.search.jit import entry, inlined, kernel
from golem.search.local.local_kernel_arrays import (
    BACK,
    COUNT,
    DONE,
    FULL,
    INTEGER,
    KIND,
    LIKELY,
    NODE,
    ORDER,
    PARENTS,
    POOL,
    POSITION,
    RANKED,
    RECORD,
    RECORDS,
    REQUIRED,
    ROOM,
    SET,
    Agenda,
    Candidates,
    Memo,
    Problem,
    Work,
)
from golem.search.local.local_parent_kernels import changed, choose, parents_of_kind, settle
from golem.search.queue_kernels import WAITING, activate, shorten_queue, take_first
from golem.search.shared_kernels import EPSILON, NO_NODE, ONE, draw, draw_near, rank_candidates


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
def is_full(memo: Memo, most: int) -> Any:
    """Return whether the memo has no room for a step of a walk; records have at most so many candidates."""
    used, values = memo.used, memo.value_used[0]
    return (
        used[RECORDS] + ROOM > memo.cost.size
        or used[POOL] + ROOM * (2 * most + 8) > memo.pool.size
        or (values > 0 and 2 * (values + ROOM * most) > memo.value.size)
    )


@inlined
def best_place(
    problem: Problem,
    candidates: Candidates,
    memo: Memo,
    state: Any,
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
    _, here = rank_candidates(position, nodes, ranked, v)
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


@inlined
def draw_move(candidates: Candidates, memo: Memo, state: Any, random: Any, v: int, kicks: int) -> Any:
    """Draw a node to move and one that it passes: to reverse an edge into v, or, with kicks, to move a node near v."""
    if kicks == 0:
        data, first = memo.records[state[RECORD, v]], candidates.first[v]
        slot = memo.pool[data[PARENTS] + draw(random, INTEGER(data[COUNT]))]
        parent = candidates.slots[NODE, first + slot]
        return (v, parent) if draw(random, ONE + 1) == 0 else (parent, v)
    position, slots, a, b = state[POSITION], candidates.slots, candidates.first[v], candidates.first[v + 1]
    u = draw_near(position, slots[NODE, a:b], slots[RANKED, a:b], random, v)
    a, b = candidates.first[u], candidates.first[u + 1]
    return u, draw_near(position, slots[NODE, a:b], slots[RANKED, a:b], random, u)


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
                u = take_first(agenda.lists, counts)
                place, record = best_place(problem, candidates, memo, state, work, u, deep, barrier)
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
        if not deep:
            shorten_queue(agenda.lists, counts, ONE - 1)
        counts[DONE] += not deep
        if is_full(memo, most):
            counts[FULL] = 1
            break
