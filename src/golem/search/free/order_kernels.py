"""Compiled kernels of the order search: perturb the order, and visit the nodes that can move to a better position.

`order_move_kernels` moves one node, `order_state_kernels` updates the order and its parents, `order_parent_kernels`
chooses parents, and `order_regression_kernels` updates their regressions. `shared_kernels` has what does not depend on
the score.
"""

from __future__ import annotations

from typing import Any

from golem.search.free.order_kernel_arrays import (
    BEST,
    COUNT,
    GIVEN,
    KICKS,
    NODE,
    POSITION,
    RANKED,
    Agenda,
    Candidates,
    Problem,
    State,
    Work,
)
from golem.search.free.order_move_kernels import best_place, forced_parents, move
from golem.search.free.order_state_kernels import keep_better, set_parents
from golem.search.jit import entry, inlined
from golem.search.queue_kernels import WAITING, shorten_queue, take_first
from golem.search.shared_kernels import NO_NODE, ONE, draw, draw_near


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
                u = take_first(agenda.lists, counts)
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
