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
    BlockArrays,
    CountArrays,
    State,
)
from golem.search.engines.record_parent_kernels import changed, likely_parents, settle
from golem.search.jit import implements, kernel
from golem.search.order_kernel_arrays import COST, COUNT, NO_NODE, NODE, ONE, POSITION, RANKED
from golem.search.order_kernels import activate, touch


@kernel
def set_record(e: Any, j: int, record: int) -> None:
    """Give j another record; it becomes active with its parents."""
    candidates, state, agenda, memo = e.candidates, e.state, e.agenda, e.work.memo
    first = candidates.first[j]
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


def begin_node(e: Any, j: int) -> None:
    """Choose parents of j among the nodes before it, beginning with those in the state."""
    state, first, work = e.state, e.candidates.first[j], e.work
    for i in range(state.nodes[COUNT, j]):
        work.slots[SET, i] = state.parents[first + i]
    k = state.nodes[COUNT, j]
    state.record[j] = NOTHING
    record = settle(e, j, NO_NODE, k, state.nodes[POSITION, j], NO_NODE, NO_NODE)
    set_record(e, j, record)


def load_own(e: Any, v: int) -> Any:
    """Load v with its present parents; return the cost."""
    e.own.record[PRESENT] = e.state.record[v]
    return e.state.values[COST, v]


def load_likely(e: Any, v: int, before: int) -> Any:
    """Load v with parents that are chosen, from its likely ones, among its first candidates by position."""
    candidates, first, limit = e.candidates, e.candidates.first[v], ONE - 1
    if before > 0:
        limit += (
            e.state.nodes[POSITION, candidates.slots[NODE, first + candidates.slots[RANKED, first + before - 1]]] + 1
        )
    k = likely_parents(e, v, limit)
    record = settle(e, v, NO_NODE, k, limit, NO_NODE, NO_NODE)
    e.own.record[PRESENT] = record
    return e.work.memo.cost[record]


def load_forced(e: Any, v: int, limit: int) -> None:
    """Load v with parents that are chosen, from its present ones, before a position; remember them as the best."""
    state, first, k = e.state, e.candidates.first[v], ONE - 1
    for i in range(state.nodes[COUNT, v]):
        slot = state.parents[first + i]
        if state.nodes[POSITION, e.candidates.slots[NODE, first + slot]] < limit:
            e.work.slots[SET, k] = slot
            k += 1
    e.own.record[BEST] = settle(e, v, NO_NODE, k, limit, NO_NODE, NO_NODE)


def pass_own(e: Any, v: int, slot: int, gains: bool, cost: float) -> Any:
    """Let v gain or lose a candidate as a possible parent; return the new cost."""
    u = e.candidates.slots[NODE, e.candidates.first[v] + slot]
    record = changed(e, v, e.own.record[PRESENT], slot, gains, e.state.nodes[POSITION, u] + gains)
    e.own.record[PRESENT] = record
    return e.work.memo.cost[record]


def remember_own(e: Any) -> None:
    """Remember the loaded parents as the best so far."""
    e.own.record[BEST] = e.own.record[PRESENT]


def set_own(e: Any, v: int) -> None:
    """Give v the best parents remembered."""
    set_record(e, v, e.own.record[BEST])


def change(e: Any, u: int, slot: int, gains: bool, carry_out: bool) -> Any:
    """Return the change of the cost of u if it gains or loses a candidate as a possible parent; carry it out or not."""
    record = changed(e, u, e.state.record[u], slot, gains, e.state.nodes[POSITION, u])
    difference = e.work.memo.cost[record] - e.state.values[COST, u]
    if carry_out:
        set_record(e, u, record)
    return difference


def copy_node(e: Any, source: State, target: State, v: int) -> None:
    """Copy all but the position of v from one state to another."""
    target.record[v] = source.record[v]
    target.values[COST, v] = source.values[COST, v]
    target.nodes[COUNT, v] = source.nodes[COUNT, v]
    for q in range(e.candidates.first[v], e.candidates.first[v] + source.nodes[COUNT, v]):
        target.parents[q] = source.parents[q]


def is_full(e: Any) -> Any:
    """Return whether there is no room for the records of a further step of a walk."""
    memo, most = e.work.memo, e.work.slots.shape[1]
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
    change,
    copy_node,
    is_full,
):
    for _arrays in (BlockArrays, CountArrays):
        implements(getattr(order_kernels, _implementation.__name__), _arrays)(_implementation)
