"""The compiled part of engines that remember every set of parents: what the search over orders asks about a node."""

from __future__ import annotations

from typing import Any

from golem.search import order_kernels
from golem.search.engines.record_kernel_arrays import (
    BEST,
    NOTHING,
    NUMBER,
    PARENTS,
    POOL,
    PRESENT,
    RECORDS,
    ROOM,
    SET,
    BlockProblem,
    Candidates,
    CountProblem,
    Own,
    State,
    Work,
)
from golem.search.engines.record_parent_kernels import changed, likely_parents, settle
from golem.search.jit import implements, kernel
from golem.search.order_kernel_arrays import COST, COUNT, NO_NODE, NODE, ONE, POSITION, RANKED, Agenda
from golem.search.order_kernels import activate, touch


@kernel
def set_record(candidates: Candidates, state: State, agenda: Agenda, work: Work, j: int, record: int) -> None:
    """Give j another record; it becomes active with its parents."""
    memo, first = work.memo, candidates.first[j]
    if state.record[j] != record:
        start, k = memo.records[record, PARENTS], memo.records[record, NUMBER]
        state.record[j] = record
        state.values[COST, j] = memo.cost[record]
        state.nodes[COUNT, j] = k
        for i in range(k):
            slot = memo.pool[start + i]
            state.parents[first + i] = slot
            activate(agenda.lists, agenda.counts, candidates.slots[NODE, first + slot])
        activate(agenda.lists, agenda.counts, j)
        touch(agenda.lists, agenda.counts, j)


def begin_node(problem: Any, candidates: Candidates, state: State, agenda: Agenda, work: Work, j: int) -> None:
    """Choose parents of j among the nodes before it, beginning with those in the state."""
    first, position = candidates.first[j], state.nodes[POSITION]
    for i in range(state.nodes[COUNT, j]):
        work.slots[SET, i] = state.parents[first + i]
    k = state.nodes[COUNT, j]
    state.record[j] = NOTHING
    record = settle(problem, candidates, work, position, j, NO_NODE, k, position[j], NO_NODE, NO_NODE)
    set_record(candidates, state, agenda, work, j, record)


def load_own(problem: Any, candidates: Candidates, state: State, work: Work, own: Own, v: int) -> Any:
    """Load v with its present parents; return the cost."""
    own.record[PRESENT] = state.record[v]
    return state.values[COST, v]


def load_likely(problem: Any, candidates: Candidates, state: State, work: Work, own: Own, v: int, before: int) -> Any:
    """Load v with parents that are chosen, from its likely ones, among its first candidates by position."""
    first, position, limit = candidates.first[v], state.nodes[POSITION], ONE - 1
    if before > 0:
        limit += position[candidates.slots[NODE, first + candidates.slots[RANKED, first + before - 1]]] + 1
    k = likely_parents(candidates, work, position, v, limit)
    record = settle(problem, candidates, work, position, v, NO_NODE, k, limit, NO_NODE, NO_NODE)
    own.record[PRESENT] = record
    return work.memo.cost[record]


def load_forced(problem: Any, candidates: Candidates, state: State, work: Work, own: Own, v: int, limit: int) -> None:
    """Load v with parents that are chosen, from its present ones, before a position; remember them as the best."""
    first, position, k = candidates.first[v], state.nodes[POSITION], ONE - 1
    for i in range(state.nodes[COUNT, v]):
        slot = state.parents[first + i]
        if position[candidates.slots[NODE, first + slot]] < limit:
            work.slots[SET, k] = slot
            k += 1
    own.record[BEST] = settle(problem, candidates, work, position, v, NO_NODE, k, limit, NO_NODE, NO_NODE)


def pass_own(
    problem: Any,
    candidates: Candidates,
    state: State,
    work: Work,
    own: Own,
    v: int,
    slot: int,
    gains: bool,
    cost: float,
) -> Any:
    """Let v gain or lose a candidate as a possible parent; return the new cost."""
    position, record = state.nodes[POSITION], own.record[PRESENT]
    limit = position[candidates.slots[NODE, candidates.first[v] + slot]] + gains
    record = changed(problem, candidates, work, position, v, record, slot, gains, limit)
    own.record[PRESENT] = record
    return work.memo.cost[record]


def remember_own(problem: Any, own: Own) -> None:
    """Remember the loaded parents as the best so far."""
    own.record[BEST] = own.record[PRESENT]


def set_own(problem: Any, candidates: Candidates, state: State, agenda: Agenda, work: Work, own: Own, v: int) -> None:
    """Give v the best parents remembered."""
    set_record(candidates, state, agenda, work, v, own.record[BEST])


def changed_cost(
    problem: Any, candidates: Candidates, state: State, agenda: Agenda, work: Work, u: int, slot: int, gains: bool
) -> Any:
    """Return the change of the cost of u if it gains or loses a candidate as a possible parent."""
    position = state.nodes[POSITION]
    record = changed(problem, candidates, work, position, u, state.record[u], slot, gains, position[u])
    return work.memo.cost[record] - state.values[COST, u]


def carry_out(
    problem: Any, candidates: Candidates, state: State, agenda: Agenda, work: Work, u: int, slot: int, gains: bool
) -> None:
    """Let u gain or lose a candidate as a possible parent."""
    position = state.nodes[POSITION]
    record = changed(problem, candidates, work, position, u, state.record[u], slot, gains, position[u])
    set_record(candidates, state, agenda, work, u, record)


def copy_node(problem: Any, first: Any, source: State, target: State, v: int) -> None:
    """Copy all but the position of v from one state to another."""
    target.record[v] = source.record[v]
    target.values[COST, v] = source.values[COST, v]
    target.nodes[COUNT, v] = source.nodes[COUNT, v]
    for q in range(first[v], first[v] + source.nodes[COUNT, v]):
        target.parents[q] = source.parents[q]


def is_full(problem: Any, work: Work) -> Any:
    """Return whether there is no room for the records of a further step of a walk."""
    memo, most = work.memo, work.slots.shape[1]
    used, values = memo.used, memo.value_used[0]
    return (
        used[RECORDS] + ROOM > memo.cost.size
        or used[POOL] + ROOM * (2 * most + 8) > memo.pool.size
        or (values > 0 and 2 * (values + ROOM * most) > memo.value.size)
    )


for _implementation in (
    begin_node,
    load_own,
    load_likely,
    load_forced,
    pass_own,
    remember_own,
    set_own,
    changed_cost,
    carry_out,
    copy_node,
    is_full,
):
    for _problem in (BlockProblem, CountProblem):
        implements(getattr(order_kernels, _implementation.__name__), _problem)(_implementation)
