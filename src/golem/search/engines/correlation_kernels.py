"""The compiled correlation engine: what the search over orders needs to know about a node, its parents and its cost.

The cost of a node with one more or one less predecessor is kept until its predecessors or parents change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search import order_kernels
from golem.search.engines.correlation_kernel_arrays import (
    BEFORE,
    BEST,
    CHOSEN,
    CLOSED,
    COLLINEAR,
    GIVEN,
    INSIDE,
    LEAST,
    MOST,
    NEITHER,
    OPEN,
    PARENT,
    PARENTS,
    RESIDUAL,
    REST,
    ROLE,
    SIZE,
    TARGET,
    USEFUL,
    B,
    Candidates,
    CorrelationArrays,
    G,
    H,
    State,
    T,
    Work,
    X,
)
from golem.search.engines.correlation_parent_kernels import adjust, begin, gain_window, node_cost
from golem.search.engines.correlation_regression_kernels import invert, solve, whiten
from golem.search.jit import implements, inlined, kernel
from golem.search.order_kernel_arrays import (
    ALLOWED,
    COST,
    COUNT,
    KIND,
    LIKELY,
    MIX,
    NO_NODE,
    NODE,
    ONE,
    POSITION,
    RANKED,
    REQUIRED,
)
from golem.search.order_kernels import activate, touch


@inlined
def block_of(candidates: Candidates, j: int) -> Any:
    """Return the correlations R of the candidates of j."""
    m, corner = candidates.first[j + 1] - candidates.first[j], candidates.corner[j]
    return candidates.blocks[corner : corner + m * m].reshape((m, m))


@kernel
def load(e: CorrelationArrays, work: Work, j: int) -> None:
    """Load the present parents of j into the scratch space."""
    candidates, state = e.candidates, e.state
    R = block_of(candidates, j)
    P, k, first, m = work.nodes[PARENTS], state.nodes[COUNT, j], candidates.first[j], R.shape[0]
    position, nodes = state.nodes[POSITION], candidates.slots[NODE, first : first + m]
    for c in range(m):
        work.nodes[ROLE, c] = (
            OPEN if position[nodes[c]] < position[j] and candidates.slots[KIND, first + c] & ALLOWED else CLOSED
        )
    copy(work.vectors[G], state.vectors[G, first : first + m])
    copy(work.vectors[H], state.vectors[H, first : first + m])
    copy(work.vectors[TARGET], candidates.targets[first : first + m])
    for i in range(k):
        P[i] = state.parents[first + i]
        work.nodes[ROLE, P[i]] = INSIDE
    work.nodes[SIZE, 0] = k
    work.vectors[REST, 0] = state.values[RESIDUAL, j]
    invert(R, P, k, work.K, work.W, work.vectors[T])
    solve(R, P, k, work.K, work.vectors[TARGET], work.vectors[X], work.vectors[B])


@kernel
def copy(target: Any, source: Any) -> None:
    """Copy a vector to the beginning of another one."""
    for c in range(source.size):
        target[c] = source[c]


@kernel
def mark_useful(g: Any, h: Any, kinds: Any, low: float, high: float, marks: Any) -> None:
    """Mark the candidates that lower r by an amount between `low` and `high`."""
    for c in range(g.size):
        gain, variance = g[c] * g[c], h[c]
        useful = (gain > low * variance) & (gain < high * variance) & (variance > COLLINEAR)
        marks[c] = USEFUL if useful & (kinds[c] & ALLOWED > 0) else NEITHER


@kernel
def set_parents(e: CorrelationArrays, work: Work, j: int, parents: Any, k: int) -> None:
    """Give j the first k of these parents, and recompute r and the vectors, so that errors do not accumulate.

    It becomes active with its parents.
    """
    candidates, state, agenda = e.candidates, e.state, e.agenda
    R, first = block_of(candidates, j), candidates.first[j]
    m = R.shape[0]
    nodes, chosen = candidates.slots[NODE, first : first + m], state.parents[first : first + m]
    g, h, target = state.vectors[G, first : first + m], state.vectors[H, first : first + m], candidates.targets[first:]
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
    state.values[COST, j] = node_cost(e.problem, j, r, k)
    low, high = gain_window(e.problem, j, r, k)
    mark_useful(g, h, candidates.slots[KIND, first:], low, high, state.marks[first:])
    for i in range(k):
        state.marks[first + chosen[i]] = PARENT
    activate(agenda.lists, agenda.counts, j)
    touch(agenda.lists, agenda.counts, j)


@kernel
def exchange(before: Any, keys: Any, v: int, j: int, gains: bool) -> None:
    """Update the hashes of the predecessors of two nodes if v comes to be before j, or after it."""
    first, second = (v, j) if gains else (j, v)
    before[second] += keys[first]
    before[first] -= keys[second]


@implements(order_kernels.change, CorrelationArrays)
def change(e: CorrelationArrays, j: int, c: int, gains: bool, carry_out: bool) -> Any:
    """Return the change of the cost of j if it gains or loses its candidate c as a predecessor; carry it out or not."""
    candidates, state, agenda, work = e.candidates, e.state, e.agenda, e.work
    first, hashes = candidates.first[j], state.hashes
    slot = first + c
    idle = state.marks[slot] != (USEFUL if gains else PARENT)
    if idle and not carry_out:
        return 0.0
    key = (hashes[BEFORE, j] * MIX) ^ hashes[CHOSEN, j]
    if carry_out:
        exchange(hashes[BEFORE], candidates.keys[0], candidates.slots[NODE, slot], j, gains)
    if idle:
        return 0.0
    known = agenda.key[slot] == key
    difference = agenda.cost[slot] - state.values[COST, j]
    # A node that loses a parent needs others even if that costs nothing, as with collinear columns. Gains within
    # rounding are ignored. They would activate nodes and make the search depend on the units.
    if not known or (carry_out and (not gains or difference < -1e-6)):
        load(e, work, j)
        work.nodes[GIVEN, 0] = c
        work.nodes[ROLE, c] = OPEN if gains else INSIDE
        R = block_of(candidates, j)
        kinds = candidates.slots[KIND, first : first + R.shape[0]]
        cost = adjust(e.problem, kinds, R, work, j, ONE if gains else ONE - 1, NO_NODE if gains else c)
        difference = cost - state.values[COST, j]
        agenda.key[slot] = key
        agenda.cost[slot] = cost
        if carry_out and (not gains or difference < -1e-6):
            set_parents(e, work, j, work.nodes[PARENTS], work.nodes[SIZE, 0])
    return difference if not gains or difference < -1e-6 else 0.0


@implements(order_kernels.begin_node, CorrelationArrays)
def begin_node(e: CorrelationArrays, j: int) -> None:
    """Compute the cost of j and its vectors."""
    candidates, state, work = e.candidates, e.state, e.work
    for i in range(state.nodes[COUNT, j]):
        work.nodes[GIVEN, i] = state.parents[candidates.first[j] + i]
    set_parents(e, work, j, work.nodes[GIVEN], state.nodes[COUNT, j])


@implements(order_kernels.load_own, CorrelationArrays)
def load_own(e: CorrelationArrays, v: int) -> Any:
    """Load v with its present parents; return the cost."""
    load(e, e.own, v)
    set_window(e, v)
    return e.state.values[COST, v]


@kernel
def set_window(e: CorrelationArrays, v: int) -> None:
    """Compute the gains for which one more parent is worth its penalty."""
    rest = e.own.vectors[REST]
    rest[LEAST], rest[MOST] = gain_window(e.problem, v, rest[0], e.own.nodes[SIZE, 0])


@implements(order_kernels.load_likely, CorrelationArrays)
def load_likely(e: CorrelationArrays, v: int, before: int) -> Any:
    """Load v with parents that are chosen among its first candidates: required ones, then those in the blanket."""
    candidates, own = e.candidates, e.own
    first, count = candidates.first[v], ONE - 1
    R = block_of(candidates, v)
    m = R.shape[0]
    kinds, ranked = candidates.slots[KIND, first : first + m], candidates.slots[RANKED, first : first + m]
    begin(candidates.targets[first : first + m], own)
    for i in range(m if m < e.state.nodes.shape[1] else m - 1):
        own.nodes[ROLE, ranked[i]] = OPEN if i < before and kinds[ranked[i]] & ALLOWED else CLOSED
    for kind in (REQUIRED, LIKELY):
        for c in range(m):
            if kinds[c] & kind and (kind == REQUIRED or kinds[c] & REQUIRED == 0) and own.nodes[ROLE, c] != CLOSED:
                own.nodes[ROLE, c] = OPEN
                own.nodes[GIVEN, count] = c
                count += 1
    cost = adjust(e.problem, kinds, R, own, v, count, NO_NODE)
    set_window(e, v)
    return cost


@implements(order_kernels.load_forced, CorrelationArrays)
def load_forced(e: CorrelationArrays, v: int, limit: int) -> None:
    """Load v with parents that are chosen, from its present ones, before a position; remember them as the best."""
    candidates, state, own = e.candidates, e.state, e.own
    first, position = candidates.first[v], state.nodes[POSITION]
    R = block_of(candidates, v)
    kinds = candidates.slots[KIND, first : first + R.shape[0]]
    begin(candidates.targets[first : first + R.shape[0]], own)
    for c in range(R.shape[0]):
        precedes = position[candidates.slots[NODE, first + c]] < limit
        own.nodes[ROLE, c] = OPEN if precedes and kinds[c] & ALLOWED else CLOSED
    for i in range(state.nodes[COUNT, v]):
        own.nodes[GIVEN, i] = state.parents[first + i]
    adjust(e.problem, kinds, R, own, v, state.nodes[COUNT, v], NO_NODE)
    remember(own)


@kernel
def remember(own: Work) -> None:
    """Save the parents in the scratch space as the best so far."""
    own.nodes[SIZE, 1] = own.nodes[SIZE, 0]
    for i in range(own.nodes[SIZE, 0]):
        own.nodes[BEST, i] = own.nodes[PARENTS, i]


@implements(order_kernels.remember_own, CorrelationArrays)
def remember_own(e: CorrelationArrays) -> None:
    """Remember the loaded parents as the best so far."""
    remember(e.own)


@implements(order_kernels.pass_own, CorrelationArrays)
def pass_own(e: CorrelationArrays, v: int, slot: int, gains: bool, cost: float) -> Any:
    """Let v gain or lose a candidate as a possible parent; return the new cost, given the old one."""
    candidates, own = e.candidates, e.own
    first, count, drop = candidates.first[v], ONE - 1, NO_NODE
    R = block_of(candidates, v)
    kinds, rest = candidates.slots[KIND, first : first + R.shape[0]], own.vectors[REST]
    if gains and kinds[slot] & ALLOWED:
        own.nodes[ROLE, slot] = OPEN
        own.nodes[GIVEN, 0] = slot
        g, h = own.vectors[G, slot], own.vectors[H, slot]
        count = ONE if rest[LEAST] * h < g * g < rest[MOST] * h and h > COLLINEAR else ONE - 1
    elif not gains and own.nodes[ROLE, slot] == INSIDE:
        drop = slot
    elif not gains:
        own.nodes[ROLE, slot] = CLOSED
    if count > 0 or drop != NO_NODE:
        cost = adjust(e.problem, kinds, R, own, v, count, drop)
        set_window(e, v)
    return cost


@implements(order_kernels.set_own, CorrelationArrays)
def set_own(e: CorrelationArrays, v: int) -> None:
    """Give v the best parents remembered."""
    set_parents(e, e.own, v, e.own.nodes[BEST], e.own.nodes[SIZE, 1])


@implements(order_kernels.copy_node, CorrelationArrays)
def copy_node(e: CorrelationArrays, source: State, target: State, v: int) -> None:
    """Copy all but the position of v from one state to another."""
    target.nodes[COUNT, v] = source.nodes[COUNT, v]
    for row in range(2):
        target.values[row, v] = source.values[row, v]
        target.hashes[row, v] = source.hashes[row, v]
    for q in range(e.candidates.first[v], e.candidates.first[v + 1]):
        target.parents[q] = source.parents[q]
        target.vectors[G, q] = source.vectors[G, q]
        target.vectors[H, q] = source.vectors[H, q]
        target.marks[q] = source.marks[q]


@implements(order_kernels.is_full, CorrelationArrays)
def is_full(e: CorrelationArrays) -> Any:
    """Return False, as all arrays have fixed sizes."""
    return False
