"""Compiled local searches over an order of very many nodes, which threads share.

A local search begins at one node of a common state, works on a private copy of it, and is undone. What it improves is a
patch: the nodes that changed, with their new places and parents. Patches that do not touch each other are applied
together. So the answer does not depend on the number of threads.

Places in the order are numbers with gaps. A node that moves gets a number between its neighbours among its candidates;
no other node has to be renumbered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.engines.correlation_kernel_arrays import (
    BEFORE,
    CLOSED,
    GIVEN,
    INSIDE,
    OPEN,
    PARENTS,
    ROLE,
    SIZE,
    CorrelationArrays,
    State,
)
from golem.search.engines.correlation_kernels import block_of, load, set_parents
from golem.search.engines.correlation_parent_kernels import adjust, begin
from golem.search.jit import entry, inlined, kernel
from golem.search.order_kernel_arrays import (
    ALLOWED,
    BACK,
    CHANGED,
    COST,
    COUNT,
    DO,
    EPSILON,
    IS_TOUCHED,
    KICKS,
    KIND,
    LIKELY,
    MIX,
    NO_NODE,
    NODE,
    ONE,
    POSITION,
    RANKED,
    REQUIRED,
    REQUIRED_BACK,
    TOUCHED,
    WAITING,
)
from golem.search.order_kernels import (
    activate,
    best_place,
    change,
    copy_node,
    draw,
    draw_move,
    forced_place,
    rank_candidates,
    set_own,
    shorten_queue,
    take_first,
    touch,
)

# Distance between neighbours in a fresh order.
SPACING = 1 << 40
# A node cannot move into a smaller gap before the next renumbering.
LEAST_GAP = 1 << 22
# Rows of a patch's nodes, and of its header.
PLACE, PARENT_COUNT = 1, 2
BODY, BODY_END, LIST = 1, 2, 3
# A local search ends when it has changed so many nodes.
MOST_TOUCHED = 200


@kernel
def hash_before(e: CorrelationArrays, j: int) -> None:
    """Compute the hash of the candidates that precede j."""
    candidates, position, total = e.candidates, e.state.nodes[POSITION], np.uint64(0)
    for slot in range(candidates.first[j], candidates.first[j + 1]):
        u = candidates.slots[NODE, slot]
        if position[u] < position[j]:
            total += candidates.keys[0, u]
    e.state.hashes[BEFORE, j] = total


@entry
def choose_first(e: CorrelationArrays, start: int, stop: int) -> None:
    """Choose the parents of some nodes among the candidates that precede them, from the likely ones."""
    candidates, state, own = e.candidates, e.state, e.own
    position = state.nodes[POSITION]
    for j in range(start, stop):
        first, R, count = candidates.first[j], block_of(candidates, j), ONE - 1
        m = R.shape[0]
        kinds = candidates.slots[KIND, first : first + m]
        begin(candidates.targets[first : first + m], own)
        for c in range(m):
            precedes = position[candidates.slots[NODE, first + c]] < position[j]
            own.nodes[ROLE, c] = OPEN if precedes and kinds[c] & ALLOWED else CLOSED
        for c in range(m):
            if own.nodes[ROLE, c] == OPEN and kinds[c] & (LIKELY | REQUIRED):
                own.nodes[GIVEN, count] = c
                count += 1
        adjust(e.problem, kinds, R, own, j, count, NO_NODE)
        set_parents(e, own, j, own.nodes[PARENTS], own.nodes[SIZE, 0])
        hash_before(e, j)


@inlined
def go_to(e: CorrelationArrays, v: int, place: int) -> None:
    """Move v to the other side of the candidate at a place, and update the nodes that it passes."""
    candidates, agenda, position = e.candidates, e.agenda, e.state.nodes[POSITION]
    first, here, counts = candidates.first[v], position[v], agenda.counts
    m = candidates.first[v + 1] - first
    gains = place < here
    beyond = place - SPACING if gains else place + SPACING
    for i in range(m if place != here else m - m):
        c = candidates.slots[RANKED, first + (m - 1 - i if gains else i)]
        u, back = candidates.slots[NODE, first + c], candidates.slots[BACK, first + c]
        if min(here, place) <= position[u] <= max(here, place):
            change(e, u, back, gains, DO)
            activate(agenda.lists, counts, u)
            touch(agenda.lists, counts, u)
        elif gains and position[u] < place:
            beyond = max(beyond, position[u])
        elif not gains and position[u] > place:
            beyond = min(beyond, position[u])
    if place != here:
        # Between 3/8 and 5/8 of the way, by a hash: if two nodes had the same place, a third could not part them.
        share = np.int64((np.uint64(v) * MIX) >> np.uint64(48))
        position[v] = place + (beyond - place) // (1 << 18) * ((3 << 15) + share)


@kernel
def has_room(e: CorrelationArrays, v: int, place: int) -> Any:
    """Return whether there is a number left beyond a place for v."""
    candidates, position = e.candidates, e.state.nodes[POSITION]
    gains, room = place < position[v], True
    for slot in range(candidates.first[v], candidates.first[v + 1]):
        gap = position[candidates.slots[NODE, slot]] - place
        if gains:
            gap = -gap
        room = room and not 0 < gap < LEAST_GAP
    return room or place == position[v]


@inlined
def settle(e: CorrelationArrays, visits: int, barrier: float, deep: bool) -> None:
    """Visit the nodes in the queue until none moves, or until many have changed."""
    agenda = e.agenda
    for _ in range(visits):
        if agenda.counts[WAITING] == 0 or agenda.counts[CHANGED] > MOST_TOUCHED:
            break
        u = take_first(agenda.lists, agenda.counts)
        place = best_place(e, u, deep, barrier)
        if place != NO_NODE and has_room(e, u, place):
            set_own(e, u)
            go_to(e, u, place)


@kernel
def rise(e: CorrelationArrays, shared: State) -> Any:
    """Return how much the score of the private state exceeds that of the common one."""
    total = 0.0
    for i in range(e.agenda.counts[CHANGED]):
        v = e.agenda.lists[TOUCHED, i]
        total += e.state.values[COST, v] - shared.values[COST, v]
    return total


@kernel
def undo(e: CorrelationArrays, shared: State) -> None:
    """Restore the private state, and empty the queue."""
    agenda = e.agenda
    for i in range(agenda.counts[CHANGED]):
        v = agenda.lists[TOUCHED, i]
        agenda.lists[IS_TOUCHED, v] = 0
        copy_node(e, shared, e.state, v)
        e.state.nodes[POSITION, v] = shared.nodes[POSITION, v]
    agenda.counts[CHANGED] = 0
    shorten_queue(agenda.lists, agenda.counts, ONE - 1)


@entry
def explore(
    e: CorrelationArrays,
    shared: State,
    seeds: Any,
    kicks: bool,
    visits: int,
    barrier: float,
    salt: int,
    header: Any,
    gains: Any,
    body: Any,
    parents: Any,
    used: Any,
) -> Any:
    """Search near each of some nodes, and write patches for what improves; return how many nodes were treated.

    With `kicks`, the nodes near a seed are perturbed first. `used` has the numbers of patches, nodes and parents that
    were written.
    """
    agenda = e.agenda
    for index in range(seeds.size):
        v = seeds[index]
        if kicks:
            agenda.random[0] = np.uint64(v) * MIX + np.uint64(salt)
            agenda.counts[KICKS] = 0
            if e.state.nodes[COUNT, v] == 0 or draw(agenda.random, ONE + 1) == 0:
                agenda.counts[KICKS] = 2 + draw(agenda.random, ONE + 2)
            for _ in range(max(agenda.counts[KICKS], 1)):
                u, past = draw_move(e, v)
                if u != past:
                    place = forced_place(e, u, past)
                    if place != NO_NODE and has_room(e, u, place):
                        set_own(e, u)
                        go_to(e, u, place)
        else:
            activate(agenda.lists, agenda.counts, v)
        settle(e, visits, barrier, not kicks)
        change_of_score = rise(e, shared)
        if change_of_score < -EPSILON:
            size, length = agenda.counts[CHANGED], 0
            for i in range(size):
                length += e.state.nodes[COUNT, agenda.lists[TOUCHED, i]]
            fits = used[1] + size <= body.shape[1] and used[2] + length <= parents.size and used[0] < gains.size
            if not fits and used[0] > 0:
                undo(e, shared)
                return index
            if fits:
                write_patch(e, header, body, parents, used)
                gains[used[0]] = -change_of_score
                header[0, used[0]] = v
                used[0] += 1
        undo(e, shared)
    return seeds.size


@kernel
def write_patch(e: CorrelationArrays, header: Any, body: Any, parents: Any, used: Any) -> None:
    """Write the nodes that differ from the common state."""
    agenda, state, first = e.agenda, e.state, e.candidates.first
    header[BODY, used[0]], header[LIST, used[0]] = used[1], used[2]
    for i in range(agenda.counts[CHANGED]):
        u = agenda.lists[TOUCHED, i]
        body[0, used[1]], body[PLACE, used[1]] = u, state.nodes[POSITION, u]
        body[PARENT_COUNT, used[1]] = state.nodes[COUNT, u]
        used[1] += 1
        for q in range(state.nodes[COUNT, u]):
            parents[used[2]] = state.parents[first[u] + q]
            used[2] += 1
    header[BODY_END, used[0]] = used[1]


@entry
def select_patches(
    first: Any, slots: Any, position: Any, order: Any, header: Any, body: Any, taken: Any, near: Any, accepted: Any
) -> None:
    """Accept patches, the first ones in an order first, that do not touch each other.

    Two patches do if a node changes in both, or if nodes that move in one and in the other are candidates of each
    other. `taken` and `near` are scratch space of d zeros.
    """
    for i in range(order.size):
        p, free = order[i], True
        for q in range(header[BODY, p], header[BODY_END, p]):
            u = body[0, q]
            moves = body[PLACE, q] != position[u]
            free = free and taken[u] == 0 and not (moves and near[u])
        if not free:
            continue
        accepted[p] = 1
        for q in range(header[BODY, p], header[BODY_END, p]):
            u = body[0, q]
            taken[u] = 1
            if body[PLACE, q] != position[u]:
                for slot in range(first[u], first[u + 1]):
                    near[slots[NODE, slot]] = 1


@entry
def apply_patches(e: CorrelationArrays, nodes: Any, counts: Any, where: Any, parents: Any) -> None:
    """Give some nodes of the common state, which e has, their new parents; they and their neighbours become active."""
    for i in range(nodes.size):
        j = nodes[i]
        for q in range(counts[i]):
            e.own.nodes[GIVEN, q] = parents[where[i] + q]
        set_parents(e, e.own, j, e.own.nodes[GIVEN], counts[i])
        hash_before(e, j)


@entry
def forget(e: CorrelationArrays, awake: Any) -> None:
    """Note which nodes are in the queue, and empty it together with the list of changes."""
    agenda = e.agenda
    while agenda.counts[WAITING] > 0:
        awake[take_first(agenda.lists, agenda.counts)] = 1
    for i in range(agenda.counts[CHANGED]):
        agenda.lists[IS_TOUCHED, agenda.lists[TOUCHED, i]] = 0
    agenda.counts[CHANGED] = 0


@entry
def follow(e: CorrelationArrays, shared: State, nodes: Any) -> None:
    """Copy some nodes of the common state to the private one."""
    for i in range(nodes.size):
        copy_node(e, shared, e.state, nodes[i])
        e.state.nodes[POSITION, nodes[i]] = shared.nodes[POSITION, nodes[i]]


@kernel
def slot_of(candidates: Any, j: int, i: int) -> Any:
    """Return the slot of i among the candidates of j, which are sorted; there must be one."""
    low, high = candidates.first[j], candidates.first[j + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if candidates.slots[NODE, middle] < i:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def force_parent(e: CorrelationArrays, i: int, slot: int) -> None:
    """Give i the candidate in a slot as a parent, if it is none."""
    first = e.candidates.first[i]
    R = block_of(e.candidates, i)
    kinds = e.candidates.slots[KIND, first : first + R.shape[0]]
    load(e, e.own, i)
    if e.own.nodes[ROLE, slot - first] != INSIDE:
        e.own.nodes[ROLE, slot - first] = OPEN
        e.own.nodes[GIVEN, 0] = slot - first
        adjust(e.problem, kinds, R, e.own, i, ONE, NO_NODE)
        set_parents(e, e.own, i, e.own.nodes[PARENTS], e.own.nodes[SIZE, 0])


@entry
def reverse_edges(
    e: CorrelationArrays, shared: State, causes: Any, children: Any, visits: int, barrier: float, losses: Any
) -> None:
    """Compute how much the score rises if the reverse of each of some edges is required, by searches near it.

    One begins with the child before the cause, the other one with the cause after the child.
    """
    agenda, candidates = e.agenda, e.candidates
    for index in range(causes.size):
        i, j = causes[index], children[index]
        into, back = slot_of(candidates, i, j), slot_of(candidates, j, i)
        candidates.slots[KIND, into] |= REQUIRED
        candidates.slots[KIND, back] |= REQUIRED_BACK
        losses[index] = np.inf
        for way in range(2):
            v, past = (j, i) if way == 0 else (i, j)
            if e.state.nodes[POSITION, i] < e.state.nodes[POSITION, j]:
                place = forced_place(e, v, past)
                if place == NO_NODE or not has_room(e, v, place):
                    continue
                set_own(e, v)
                go_to(e, v, place)
            force_parent(e, i, into)
            for end in (i, j):
                for slot in range(candidates.first[end], candidates.first[end + 1]):
                    activate(agenda.lists, agenda.counts, candidates.slots[NODE, slot])
            settle(e, visits, barrier, DO)
            losses[index] = min(losses[index], rise(e, shared))
            undo(e, shared)
        candidates.slots[KIND, into] &= ~REQUIRED
        candidates.slots[KIND, back] &= ~REQUIRED_BACK


@entry
def rank_all(e: CorrelationArrays) -> None:
    """Sort the candidates of all nodes by their places."""
    candidates = e.candidates
    for v in range(candidates.first.size - 1):
        a, b = candidates.first[v], candidates.first[v + 1]
        rank_candidates(e.state.nodes[POSITION], candidates.slots[NODE, a:b], candidates.slots[RANKED, a:b], v)
