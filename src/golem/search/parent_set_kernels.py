"""Compiled search for the order that allows the best of given parent sets.

The sets of node j are `first[j]` to `first[j + 1] - 1`, the cheapest first. Set s costs `costs[s]` and has the parents
`parents[start[s] : start[s + 1]]`. The nodes that can have v as a parent are `kin[kin_first[v] : kin_first[v + 1]]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.jit import entry, kernel
from golem.search.order_kernel_arrays import EPSILON, NO_NODE, ONE
from golem.search.order_kernels import draw


@kernel
def last_place(parents: Any, position: Any, but: int) -> Any:
    """Return the largest position of some parents, not counting one; -1 if there are none."""
    last = NO_NODE
    for p in parents:
        if p != but:
            last = max(last, position[p])
    return last


@kernel
def lists(parents: Any, v: int) -> Any:
    """Return whether v is among some parents."""
    found = False
    for p in parents:
        found |= p == v
    return found


@kernel
def cheapest(first: Any, start: Any, parents: Any, position: Any, j: int) -> Any:
    """Return the cheapest set of j whose parents precede j, or -1."""
    for s in range(first[j], first[j + 1]):
        if last_place(parents[start[s] : start[s + 1]], position, NO_NODE) < position[j]:
            return s
    return NO_NODE


@kernel
def loss(first: Any, start: Any, parents: Any, costs: Any, position: Any, v: int, u: int) -> Any:
    """Return by how much the cost of u is higher if v comes after u than if it comes before."""
    with_v, without = costs[-1], costs[-1]
    for s in range(first[u], first[u + 1]):
        listed = parents[start[s] : start[s + 1]]
        if last_place(listed, position, v) < position[u]:
            with_v = min(with_v, costs[s])
            if not lists(listed, v):
                without = costs[s]
                break
    return without - with_v


@kernel
def put(order: Any, position: Any, v: int, place: int) -> None:
    """Move v to a place."""
    step = 1 if place > position[v] else -1
    for q in range(position[v], place, step):
        u = order[q + step]
        order[q] = u
        position[u] = q
    order[place] = v
    position[v] = place


@kernel
def sink(
    order: Any,
    position: Any,
    first: Any,
    start: Any,
    parents: Any,
    costs: Any,
    kin_first: Any,
    kin: Any,
    losses: Any,
    v: int,
) -> Any:
    """Move v to its best place, which is right after the parents of one of its sets; return the gain."""
    here, others = position[v], kin[kin_first[v] : kin_first[v + 1]]
    present = costs[-1]
    s = cheapest(first, start, parents, position, v)
    if s != NO_NODE:
        present = costs[s]
    for c in range(others.size):
        losses[c] = loss(first, start, parents, costs, position, v, others[c])
        if position[others[c]] < here:
            present += losses[c]
    best, place = present - EPSILON, NO_NODE
    for s in range(first[v], first[v + 1]):
        after = last_place(parents[start[s] : start[s + 1]], position, NO_NODE)
        total = costs[s]
        for c in range(others.size):
            if position[others[c]] <= after:
                total += losses[c]
        if total < best:
            best, place = total, after if after >= here else after + 1
    if place == NO_NODE:
        return 0.0
    put(order, position, v, place)
    return present - best


@entry
def choose_sets(
    orders: Any,
    first: Any,
    start: Any,
    parents: Any,
    costs: Any,
    kin_first: Any,
    kin: Any,
    losses: Any,
    nodes: Any,
    tries: int,
    random: Any,
    chosen: Any,
) -> None:
    """Improve an order by moving some nodes, and choose a set of every node; repeat from perturbed orders.

    Rows of `orders` have the best order, a place for the present one, and one for its positions. The last entry of
    `costs` is what a node without a set costs.
    """
    best_order, order, position = orders[0], orders[1], orders[2]
    least = np.inf
    for trial in range(tries):
        for q in range(order.size):
            order[q] = best_order[q]
            position[order[q]] = q
        for _ in range(2 + draw(random, ONE + 2) if trial > 0 else 0):  # allow some sets
            j = nodes[draw(random, nodes.size)]
            s = first[j] + draw(random, first[j + 1] - first[j])
            after = last_place(parents[start[s] : start[s + 1]], position, NO_NODE)
            if after > position[j]:
                put(order, position, j, after)
        gain = np.inf
        while gain > EPSILON:
            gain = 0.0
            for i in range(nodes.size - 1, 0, -1):
                k = draw(random, ONE + i)
                nodes[i], nodes[k] = nodes[k], nodes[i]
            for v in nodes:
                gain += sink(order, position, first, start, parents, costs, kin_first, kin, losses, v)
        total = 0.0
        for j in range(order.size):
            s = cheapest(first, start, parents, position, j)
            total += costs[s if s != NO_NODE else costs.size - 1]
        if total < least + EPSILON:
            least = min(total, least)
            for q in range(order.size):
                best_order[q] = order[q]
    for q in range(order.size):
        position[best_order[q]] = q
    for j in range(order.size):
        chosen[j] = cheapest(first, start, parents, position, j)
