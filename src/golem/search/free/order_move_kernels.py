"""Compiled moves of one node: to the best position with the order of the others fixed, or past another node."""

from __future__ import annotations

from typing import Any

from golem.search.free.order_kernel_arrays import (
    ALLOWED,
    BACK,
    BEFORE,
    BEST,
    CLOSED,
    COLLINEAR,
    COST,
    COUNT,
    DO,
    GIVEN,
    HIGH,
    INSIDE,
    KIND,
    LIKELY,
    LOW,
    NODE,
    OPEN,
    ORDER,
    PARENTS,
    POSITION,
    RANKED,
    REQUIRED,
    REQUIRED_BACK,
    REST,
    ROLE,
    SIZE,
    TRY,
    Agenda,
    Candidates,
    G,
    H,
    Problem,
    State,
    Work,
)
from golem.search.free.order_parent_kernels import adjust, begin, gain_window
from golem.search.free.order_state_kernels import block_of, change, load, touch
from golem.search.jit import inlined, kernel
from golem.search.queue_kernels import activate
from golem.search.shared_kernels import EPSILON, NO_NODE, ONE, rank_candidates


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
    low, high = 0.0, 0.0
    for walk in range(3 if deep else 2):
        step = 1 if walk == 0 else -1
        at, end, cost, count, drop = here, others if walk == 0 else here - here, present, ONE - 1, NO_NODE
        if walk < 2:
            load(candidates, state, own, v)
            low, high = gain_window(problem, v, own.vectors[REST, 0], own.nodes[SIZE, 0])
        else:
            at, end = right, left
            begin(candidates.targets[first : first + R.shape[0]], own)
            for i in range(others):
                own.nodes[ROLE, ranked[i]] = OPEN if i < right and kinds[ranked[i]] & ALLOWED else CLOSED
            count = likely_parents(kinds, own)
        fresh = walk == 2
        while fresh or at != end:
            if not fresh:
                c = ranked[at if walk == 0 else at - 1]
                u, back = nodes[c], candidates.slots[BACK, first + c]
                if walk < 2:
                    if kinds[c] & (REQUIRED_BACK if walk == 0 else REQUIRED):
                        break
                    moved = change(problem, candidates, state, agenda, work, u, back, walk == 1, TRY)
                    shift[at + step] = shift[at] + moved
                at += step
                count, drop = ONE - 1, NO_NODE
                if walk == 0 and kinds[c] & ALLOWED:
                    own.nodes[ROLE, c] = OPEN
                    g, h = own.vectors[G, c], own.vectors[H, c]
                    own.nodes[GIVEN, 0] = c
                    count = ONE if low * h < g * g < high * h and h > COLLINEAR else ONE - 1
                elif walk > 0 and own.nodes[ROLE, c] == INSIDE:
                    drop = c
                elif walk > 0:
                    own.nodes[ROLE, c] = CLOSED
            if fresh or count > 0 or drop != NO_NODE:
                cost = adjust(problem, kinds, R, own, v, count, drop)
                low, high = gain_window(problem, v, own.vectors[REST, 0], own.nodes[SIZE, 0])
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
    begin(candidates.targets[first : first + R.shape[0]], own)
    for c in range(nodes.size):
        u = nodes[c]
        passed = u != v and min(here, place) <= position[u] <= max(here, place)
        if passed and kinds[c] & (REQUIRED_BACK if place > here else REQUIRED):
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
