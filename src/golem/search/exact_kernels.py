"""Compiled dynamic program over all sets of nodes, for one covariance and one column per node.

Bit j of a set says whether it contains node j. Nodes are also called 0, 1, ... within the other nodes, so that the sets
of the possible parents of a node have d - 1 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.jit import entry, kernel

# Residual variances below this are rounding errors.
TINY = 1e-14
# Sets that are treated at a time, so that their costs stay in the CPU cache.
PANEL = 1 << 12
ZERO: Any = np.int64(0)


@entry
def fill_log_determinants(swept: Any, logdet: Any) -> None:
    """Compute the log determinants of the correlations of all sets of nodes.

    `swept[d]` is the correlation matrix. `swept[t]` gets the residual covariances of nodes 0 to t - 1 given t and the
    later nodes of a set. From one set to the next only the first nodes change, so that a set takes a few operations.
    """
    d = swept.shape[1]
    logdet[0] = 0.0
    for s in range(1, logdet.size):
        t = ZERO
        while s >> t & 1 == 0:
            t += 1
        after = t + 1
        while after < d and s >> after & 1 == 0:
            after += 1
        C, rest = swept[after], swept[t]
        pivot = max(C[t, t], TINY)
        for i in range(t):
            share = C[i, t] / pivot
            for k in range(i + 1):
                rest[i, k] = C[i, k] - share * C[k, t]
                rest[k, i] = rest[i, k]
        logdet[s] = logdet[s & (s - 1)] + np.log(pivot)


@kernel
def lower_to_subsets(cost: Any, first: int, stop: int) -> None:
    """Replace the cost of every set by the lowest one of its subsets, for the bits from `first` to `stop`."""
    bit = first
    while bit < stop:
        for start in range(0, cost.size, 2 * bit):
            without, with_bit = cost[start : start + bit], cost[start + bit : start + 2 * bit]
            for c in range(bit):
                with_bit[c] = min(with_bit[c], without[c])
        bit *= 2


@entry
def fill_lowest_costs(
    logdet: Any, j: int, n: float, penalty: Any, centre: float, tightness: float, may: int, must: int, lowest: Any
) -> None:
    """Compute the lowest cost of node j with parents within every set of other nodes.

    `penalty` has the penalties of 0, 1, ... parents, infinite where there are too many. `may` and `must` are the sets
    of nodes that are allowed as parents, and that are required.
    """
    low, bit = (1 << j) - 1, 1 << j
    for start in range(0, lowest.size, PANEL):
        panel = lowest[start : start + PANEL]
        for c in range(panel.size):
            p = start + c
            s = (p & low) | (p & ~low) << 1
            number = ZERO
            rest = s
            while rest > 0:
                rest &= rest - 1
                number += 1
            log_r = logdet[s | bit] - logdet[s]
            away = log_r - centre
            cost = n * log_r + tightness * away * away + penalty[number]
            panel[c] = cost if s & ~may == 0 and must & ~s == 0 else np.inf
        lower_to_subsets(panel, ZERO + 1, panel.size)
    lower_to_subsets(lowest, min(PANEL, lowest.size), lowest.size)


@entry
def fill_totals(lowest: Any, roots: int, totals: Any) -> None:
    """Compute the lowest score of the nodes of every set, of which the last has its parents among the others.

    `totals[roots]` is given: the score of the nodes that may have no parents. Only sets with all of them are filled.
    """
    d = lowest.shape[0]
    s = ZERO + roots
    while s < totals.size - 1:
        s = (s + 1) | roots
        least = np.inf
        for j in range(d):
            if (s ^ roots) >> j & 1:
                low = (1 << j) - 1
                score = totals[s ^ (1 << j)] + lowest[j, (s & low) | s >> (j + 1) << j]
                least = min(least, score)
        totals[s] = least
