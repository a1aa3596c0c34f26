"""Compiled updates of a state, which is an order with the parents of every node.

A node that gets other parents is put into the queue of nodes to visit, and into the list of nodes that differ from the
best state. Its cost with one more or one less predecessor is kept until its predecessors or parents change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.free.order_kernel_arrays import (
    ALLOWED,
    BEFORE,
    CHANGED,
    CHOSEN,
    CLOSED,
    COLLINEAR,
    COST,
    COUNT,
    GIVEN,
    HIGH,
    INSIDE,
    IS_TOUCHED,
    KIND,
    LOW,
    NEITHER,
    NODE,
    OPEN,
    ORDER,
    PARENT,
    PARENTS,
    POSITION,
    RESIDUAL,
    REST,
    ROLE,
    SIZE,
    TARGET,
    TOUCHED,
    USEFUL,
    Agenda,
    B,
    Candidates,
    G,
    H,
    Problem,
    State,
    T,
    Work,
    X,
)
from golem.search.free.order_parent_kernels import adjust, gain_window, node_cost
from golem.search.free.order_regression_kernels import invert, solve, whiten
from golem.search.jit import inlined, kernel
from golem.search.queue_kernels import activate
from golem.search.shared_kernels import EPSILON, MIX, NO_NODE, ONE


@inlined
def block_of(first: Any, corner: Any, blocks: Any, j: int) -> Any:
    """Return the correlations R of the candidates of j."""
    m = first[j + 1] - first[j]
    return blocks[corner[j] : corner[j] + m * m].reshape((m, m))


@kernel
def load(candidates: Candidates, state: State, work: Work, j: int) -> None:
    """Load the present parents of j into the scratch space."""
    R = block_of(candidates.first, candidates.corner, candidates.blocks, j)
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
def touch(lists: Any, counts: Any, j: int) -> None:
    """Note that j differs from the best state."""
    if lists[IS_TOUCHED, j] == 0:
        lists[IS_TOUCHED, j] = 1
        lists[TOUCHED, counts[CHANGED]] = j
        counts[CHANGED] += 1


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
    state.values[COST, j] = node_cost(problem, j, r, k)
    low, high = gain_window(problem, j, r, k)
    mark_useful(g, h, candidates.slots[KIND, first:], low, high, state.marks[first:])
    for i in range(k):
        state.marks[first + chosen[i]] = PARENT
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
    first, hashes = candidates.first[j], state.hashes
    slot = first + c
    if state.marks[slot] != (USEFUL if gains else PARENT):
        return 0.0
    key = (hashes[BEFORE, j] * MIX) ^ hashes[CHOSEN, j]
    known = agenda.key[slot] == key
    difference = agenda.cost[slot] - state.values[COST, j]
    # A node that loses a parent needs others even if that costs nothing, as with collinear columns. Gains within
    # rounding are ignored. They would activate nodes and make the search depend on the units.
    if not known or (carry_out and (not gains or difference < -1e-6)):
        load(candidates, state, work, j)
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
            target.marks[q] = source.marks[q]
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
