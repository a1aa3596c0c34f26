"""Compiled search over orders: perturb the order, and move nodes to better positions. It serves all engines.

An engine e is a named tuple of arrays (see `order_kernel_arrays`). Its type chooses, when a kernel is compiled, among
the implementations of the kernels declared here: parents and cost of the moving node, and of the nodes that it passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.jit import engine_kernel, entry, inlined, kernel
from golem.search.order_kernel_arrays import (
    BACK,
    CHANGED,
    COST,
    COUNT,
    DO,
    DONE,
    EPSILON,
    FULL,
    HEAD,
    HIGH,
    IS_ACTIVE,
    IS_TOUCHED,
    KICKS,
    KIND,
    LOW,
    MIX,
    NO_NODE,
    NODE,
    ONE,
    ORDER,
    POSITION,
    QUEUE,
    RANKED,
    REQUIRED,
    REQUIRED_BACK,
    TOUCHED,
    TRY,
    WAITING,
)

# A perturbation moves nodes by at most this many of their candidates.
REACH: Any = np.int64(4)


@engine_kernel
def begin_node(e: Any, j: int) -> None:
    """Compute the cost of j with the parents that it has in the state, or with better ones; j becomes active."""


@engine_kernel
def load_own(e: Any, v: int) -> Any:
    """Load v with its present parents; return the cost."""


@engine_kernel
def load_likely(e: Any, v: int, before: int) -> Any:
    """Load v with parents that are chosen, from its likely ones, among its first candidates; return the cost."""


@engine_kernel
def load_forced(e: Any, v: int, limit: int) -> None:
    """Load v with parents that are chosen, from its present ones, before a position; remember them as the best."""


@engine_kernel
def pass_own(e: Any, v: int, slot: int, gains: bool, cost: float) -> Any:
    """Let v gain or lose a candidate as a possible parent; return the new cost, given the old one."""


@engine_kernel
def remember_own(e: Any) -> None:
    """Remember the loaded parents as the best so far."""


@engine_kernel
def set_own(e: Any, v: int) -> None:
    """Give v the best parents remembered; if they are new, v becomes active with them."""


@engine_kernel
def change(e: Any, u: int, slot: int, gains: bool, carry_out: bool) -> Any:
    """Return the change of the cost of u if it gains or loses a candidate as a possible parent; carry it out or not."""


@engine_kernel
def copy_node(e: Any, source: Any, target: Any, v: int) -> None:
    """Copy all but the position of v from one state to another."""


@engine_kernel
def is_full(e: Any) -> Any:
    """Return whether the engine has no room for a further step."""


@kernel
def activate(lists: Any, counts: Any, v: int) -> None:
    """Put v into the queue of nodes to visit, in which it is at most once."""
    if lists[IS_ACTIVE, v] == 0:
        lists[IS_ACTIVE, v] = 1
        lists[QUEUE, (counts[HEAD] + counts[WAITING]) % lists.shape[1]] = v
        counts[WAITING] += 1


@kernel
def take_first(lists: Any, counts: Any) -> Any:
    """Remove the first node from the queue, and return it."""
    v = lists[QUEUE, counts[HEAD]]
    counts[HEAD] = (counts[HEAD] + 1) % lists.shape[1]
    counts[WAITING] -= 1
    lists[IS_ACTIVE, v] = 0
    return v


@kernel
def shorten_queue(lists: Any, counts: Any, length: int) -> None:
    """Remove the last nodes of the queue."""
    while counts[WAITING] > length:
        counts[WAITING] -= 1
        lists[IS_ACTIVE, lists[QUEUE, (counts[HEAD] + counts[WAITING]) % lists.shape[1]]] = 0


@kernel
def touch(lists: Any, counts: Any, j: int) -> None:
    """Note that j differs from the best state."""
    if lists[IS_TOUCHED, j] == 0:
        lists[IS_TOUCHED, j] = 1
        lists[TOUCHED, counts[CHANGED]] = j
        counts[CHANGED] += 1


@kernel
def add_multiple(y: Any, factor: float, x: Any) -> None:
    """Add a multiple of x to the beginning of y."""
    for c in range(x.size):
        y[c] += factor * x[c]


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
def draw_move(e: Any, v: int) -> Any:
    """Draw a node to move and one that it passes, to reverse an edge into v or to move a node near v."""
    candidates, state, random = e.candidates, e.state, e.agenda.random
    nodes, a = state.nodes, candidates.first[v]
    if e.agenda.counts[KICKS] == 0:
        parent = candidates.slots[NODE, a + state.parents[a + draw(random, nodes[COUNT, v])]]
        return (v, parent) if draw(random, ONE + 1) == 0 else (parent, v)
    slots, b = candidates.slots, candidates.first[v + 1]
    u = draw_near(nodes[POSITION], slots[NODE, a:b], slots[RANKED, a:b], random, v)
    a, b = candidates.first[u], candidates.first[u + 1]
    return u, draw_near(nodes[POSITION], slots[NODE, a:b], slots[RANKED, a:b], random, u)


@inlined
def best_place(e: Any, v: int, deep: bool, barrier: float) -> Any:
    """Find a better position of v with the order of the others fixed, and remember its parents there.

    v walks to the right and to the left past its candidates, one at a time. If it passes u to the right, u loses v, and
    v may use u. To the left it is the reverse. `shift[c]` is the change of the other nodes' cost with c candidates
    before v. A walk ends if the score exceeds the current one by more than `barrier`. `deep` adds a walk from the right
    end to the left that starts with the likely parents of v. If the current position is best, NO_NODE is returned.
    """
    candidates, state, agenda = e.candidates, e.state, e.agenda
    first, m = candidates.first[v], candidates.first[v + 1] - candidates.first[v]
    shift, position = agenda.shift, state.nodes[POSITION]
    kinds, nodes = candidates.slots[KIND, first : first + m], candidates.slots[NODE, first : first + m]
    ranked = candidates.slots[RANKED, first : first + m]
    others, here = rank_candidates(position, nodes, ranked, v)
    present = state.values[COST, v]
    best, place = present, NO_NODE
    shift[here] = 0.0
    left, right = here, here
    for walk in range(3 if deep else 2):
        step = 1 if walk == 0 else -1
        at, end = here, others if walk == 0 else here - here
        if walk < 2:
            cost = load_own(e, v)
        else:
            at, end = right, left
            cost = load_likely(e, v, right)
        while True:
            total = cost + shift[at]
            if total < best - EPSILON:
                best = total
                remember_own(e)
                place = position[v] if at == here else position[nodes[ranked[at - 1 if at > here else at]]]
            elif total > present + barrier and walk < 2:
                break
            if at == end or is_full(e):
                break
            c = ranked[at if walk == 0 else at - 1]
            if walk < 2:
                if kinds[c] & (REQUIRED_BACK if walk == 0 else REQUIRED):
                    break
                back = candidates.slots[BACK, first + c]
                moved = change(e, nodes[c], back, walk == 1, TRY)
                shift[at + step] = shift[at] + moved
            at += step
            cost = pass_own(e, v, c, walk == 0, cost)
        if walk == 0:
            right = at
        elif walk == 1:
            left = at
    return place


@inlined
def forced_place(e: Any, v: int, past: int) -> Any:
    """Return the position of another node, and remember the parents of v there.

    If a required edge prevents the move, NO_NODE is returned.
    """
    candidates, position = e.candidates, e.state.nodes[POSITION]
    first, m = candidates.first[v], candidates.first[v + 1] - candidates.first[v]
    kinds, nodes = candidates.slots[KIND, first : first + m], candidates.slots[NODE, first : first + m]
    rank_candidates(position, nodes, candidates.slots[RANKED, first : first + m], v)
    here, place = position[v], position[past]
    for c in range(m):
        passed = nodes[c] != v and min(here, place) <= position[nodes[c]] <= max(here, place)
        if passed and kinds[c] & (REQUIRED_BACK if place > here else REQUIRED):
            place = NO_NODE
            break
    if place != NO_NODE:
        load_forced(e, v, place + (place > here))
    return place


@inlined
def move(e: Any, v: int, place: int) -> None:
    """Move v to a position, and update the nodes that lose or gain it as a predecessor; its candidates are ranked."""
    candidates, agenda, order, position = e.candidates, e.agenda, e.state.nodes[ORDER], e.state.nodes[POSITION]
    first, here, counts = candidates.first[v], position[v], agenda.counts
    gains = place < here
    others = candidates.first[v + 1] - first
    others -= others == order.size
    for i in range(others):
        c = candidates.slots[RANKED, first + (others - 1 - i if gains else i)]
        u, back = candidates.slots[NODE, first + c], candidates.slots[BACK, first + c]
        if min(here, place) <= position[u] <= max(here, place):
            change(e, u, back, gains, DO)
            activate(agenda.lists, counts, u)
            touch(agenda.lists, counts, u)
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
def copy_touched(e: Any, source: Any, target: Any) -> None:
    """Copy what differs between the state and the best state, and note that nothing differs any more."""
    agenda, counts = e.agenda, e.agenda.counts
    for q in range(counts[LOW], counts[HIGH] + 1):
        v = source.nodes[ORDER, q]
        target.nodes[ORDER, q] = v
        target.nodes[POSITION, v] = q
    for i in range(counts[CHANGED]):
        v = agenda.lists[TOUCHED, i]
        agenda.lists[IS_TOUCHED, v] = 0
        copy_node(e, source, target, v)
    counts[CHANGED] = 0
    counts[LOW] = source.nodes.shape[1]
    counts[HIGH] = -1


@inlined
def keep_better(e: Any, best: Any) -> Any:
    """Copy the state to `best`, or restore the state from `best` if its score rose; return whether it rose.

    Moves may be evaluated with updated inverses and carried out with fresh regressions. The two differ in
    ill-conditioned problems, so that a move can raise the score. Equal scores are kept: the search may move through an
    equivalence class.
    """
    state, agenda, rise = e.state, e.agenda, 0.0
    for i in range(agenda.counts[CHANGED]):
        v = agenda.lists[TOUCHED, i]
        rise += state.values[COST, v] - best.values[COST, v]
    source, target = state, best
    if rise >= EPSILON:
        source, target = best, state
    copy_touched(e, source, target)
    return rise >= EPSILON


@entry
def advance(e: Any, best: Any, perturbations: int, visits: int, barrier: float) -> None:
    """Perturb the order some times, or visit some nodes of the queue with deep walks; keep the better state.

    If both numbers are zero, the nodes of the pool begin with the parents in the state. A perturbation reverses one
    edge, by moving one of its nodes past the other, or moves a few neighbouring nodes. Then the nodes in the queue are
    visited. They move to their best positions until none is better. Without perturbations, every move that raises the
    score is undone.
    """
    state, agenda, counts, v = e.state, e.agenda, e.agenda.counts, NO_NODE
    deep = perturbations == 0
    if perturbations + visits == 0:
        for i in range(agenda.pool.size):
            begin_node(e, agenda.pool[i])
        return  # the best state is not known yet
    for _ in range(visits if deep else perturbations):
        left, kick, length = ONE if deep else visits, ONE - 1, counts[WAITING] - 1
        if not deep:
            v = agenda.pool[draw(agenda.random, agenda.pool.size)]
            counts[KICKS] = 0
            if state.nodes[COUNT, v] == 0 or draw(agenda.random, ONE + 1) == 0:
                counts[KICKS] = 2 + draw(agenda.random, ONE + 2)
        while left > 0 and not is_full(e):
            if not deep and kick < max(counts[KICKS], 1):
                kick += 1
                u, past = draw_move(e, v)
                if u == past:
                    continue
                place = forced_place(e, u, past)
            elif counts[WAITING] > 0:
                left -= 1
                u = take_first(agenda.lists, counts)
                place = best_place(e, u, deep, barrier)
            else:
                break
            if place != NO_NODE:
                set_own(e, u)
                move(e, u, place)
        rose = keep_better(e, best)
        if rose or not deep:
            # A node that would make the same move again must wait until one of its neighbours has moved.
            shorten_queue(agenda.lists, counts, max(length, ONE - 1) if deep else ONE - 1)
        counts[DONE] += not deep
        if is_full(e):
            counts[FULL] = 1
            break
