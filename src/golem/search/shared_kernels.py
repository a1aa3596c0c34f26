"""Compiled kernels of both searches over orders, `order_kernels` and `local_kernels`.

They draw random numbers and nodes, and rank the candidates of a node by position.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.jit import kernel

# Score differences below this are rounding errors: r may be 1e-9 of a column's variance, and n log r amplifies errors.
EPSILON = 1e-3
# Typed, because a literal -1 would compile every kernel that takes a node a second time.
NO_NODE: Any = np.int64(-1)
ONE: Any = np.int64(1)
# Odd and without a pattern: the increment of splitmix64, which also mixes hashes.
MIX = np.uint64(0x9E3779B97F4A7C15)
# A perturbation moves nodes by at most this many of their candidates.
REACH: Any = np.int64(4)


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
