"""Compiled correlations of standardized columns, and the Markov blankets that they give.

Row j of `Z` is the standardized column j, in single precision. All sums are in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from golem.search.engines.correlation_kernel_arrays import (
    OPEN,
    PARENTS,
    REST,
    ROLE,
    SIZE,
    TARGET,
    B,
    CorrelationProblem,
    Work,
)
from golem.search.engines.correlation_parent_kernels import adjust, begin
from golem.search.jit import entry, kernel
from golem.search.order_kernel_arrays import NO_NODE, ONE

# Rows that are treated at a time, so that they stay in the CPU cache; four of them share the loads of a product.
TILE = 64


@kernel
def correlate(Z: Any, rows: Any, nodes: Any, m: int, tile: Any, sums: Any, R: Any) -> None:
    """Compute the correlations of the first m of some nodes in some rows."""
    for a in range(m):
        sums[a] = 0.0
        for b in range(a + 1):
            R[a, b] = 0.0
    n = rows.size
    for start in range(0, n, TILE):
        for c in range(m):
            z = Z[nodes[c]]
            for s in range(TILE):
                tile[s, c] = z[rows[start + s]] if start + s < n else 0.0
        for s in range(0, TILE, 4):
            x0, x1, x2, x3 = tile[s], tile[s + 1], tile[s + 2], tile[s + 3]
            for a in range(m):
                v0, v1, v2, v3, row = x0[a], x1[a], x2[a], x3[a], R[a]
                sums[a] += v0 + v1 + v2 + v3
                for b in range(a + 1):
                    row[b] += v0 * x0[b] + v1 * x1[b] + v2 * x2[b] + v3 * x3[b]
    for a in range(m):
        for b in range(a):
            R[a, b] -= sums[a] * sums[b] / n
    for a in range(m):
        sums[a] = 1.0 / np.sqrt(max(R[a, a] - sums[a] * sums[a] / n, 1e-300))
    for a in range(m):
        for b in range(a):
            R[a, b] *= sums[a] * sums[b]
            R[b, a] = R[a, b]
        R[a, a] = 1.0


@entry
def fill_correlations(
    Z: Any,
    rows: Any,
    first: Any,
    others: Any,
    corner: Any,
    start: int,
    stop: int,
    ids: Any,
    tile: Any,
    sums: Any,
    R: Any,
    targets: Any,
    blocks: Any,
) -> None:
    """Compute the correlations of the candidates of some nodes with them and with each other."""
    for j in range(start, stop):
        begins, m = first[j], first[j + 1] - first[j]
        for c in range(m):
            ids[c] = others[begins + c]
        ids[m] = j
        correlate(Z, rows, ids, m + 1, tile, sums, R)
        place = corner[j]
        for a in range(m):
            targets[begins + a] = R[m, a]
            for b in range(m):
                blocks[place] = R[a, b]
                place += 1


@entry
def find_blankets(
    problem: CorrelationProblem,
    work: Work,
    Z: Any,
    rows: Any,
    first: Any,
    others: Any,
    nodes: Any,
    kinds: Any,
    ids: Any,
    tile: Any,
    sums: Any,
    R: Any,
    block: Any,
    chosen: Any,
    weights: Any,
    r: Any,
) -> None:
    """Choose the Markov blankets of some nodes among their candidates by forward and backward selection.

    Row j of `chosen` gets the blanket, followed by -1, row j of `weights` the coefficients, and r[j] the residual
    variance.
    """
    for i in range(nodes.size):
        j = nodes[i]
        begins, m = first[j], first[j + 1] - first[j]
        for c in range(m):
            ids[c] = others[begins + c]
        ids[m] = j
        correlate(Z, rows, ids, m + 1, tile, sums, R)
        square = block[: m * m].reshape((m, m))
        for a in range(m):
            work.vectors[TARGET, a] = R[m, a]
            for b in range(m):
                square[a, b] = R[a, b]
        begin(work.vectors[TARGET, :m], work)
        for c in range(m):
            work.nodes[ROLE, c] = OPEN
        adjust(problem, kinds, square, work, j, ONE - 1, NO_NODE)
        size = work.nodes[SIZE, 0]
        for q in range(chosen.shape[1]):
            chosen[j, q] = ids[work.nodes[PARENTS, q]] if q < size else -1
            weights[j, q] = work.vectors[B, q] if q < size else 0.0
        r[j] = work.vectors[REST, 0]


@kernel
def dot(x: Any, z: Any) -> Any:
    """Return the inner product, with eight sums side by side."""
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = x.size - x.size % 8
    for s in range(0, whole, 8):
        s0 += np.float64(x[s]) * z[s]
        s1 += np.float64(x[s + 1]) * z[s + 1]
        s2 += np.float64(x[s + 2]) * z[s + 2]
        s3 += np.float64(x[s + 3]) * z[s + 3]
        s4 += np.float64(x[s + 4]) * z[s + 4]
        s5 += np.float64(x[s + 5]) * z[s + 5]
        s6 += np.float64(x[s + 6]) * z[s + 6]
        s7 += np.float64(x[s + 7]) * z[s + 7]
    for s in range(whole, x.size):
        s0 += np.float64(x[s]) * z[s]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@kernel
def residual(Z: Any, chosen: Any, weights: Any, j: int, e: Any) -> None:
    """Compute what the blanket leaves of column j."""
    z = Z[j]
    for s in range(e.size):
        e[s] = z[s]
    for q in range(chosen.shape[1]):
        if chosen[j, q] >= 0:
            z, b = Z[chosen[j, q]], weights[j, q]
            for s in range(e.size):
                e[s] -= b * z[s]


@entry
def fill_residuals(
    Z: Any, first: Any, causes: Any, weights: Any, r: Any, start: int, stop: int, e: Any, E: Any
) -> None:
    """Compute what the parents leave of some columns, standardized; those of j begin at `first[j]` of `causes`."""
    for j in range(start, stop):
        z = Z[j]
        for s in range(e.size):
            e[s] = z[s]
        for q in range(first[j], first[j + 1]):
            z, b = Z[causes[q]], weights[q]
            for s in range(e.size):
                e[s] -= b * z[s]
        scale = 1.0 / np.sqrt(max(r[j], 1e-12))
        for s in range(e.size):
            E[j, s] = e[s] * scale


@entry
def find_indirect(
    Z: Any,
    first: Any,
    others: Any,
    chosen: Any,
    weights: Any,
    r: Any,
    share: float,
    start: int,
    stop: int,
    e: Any,
    seen: Any,
    found: Any,
) -> int:
    """Find candidates of the blanket of each node that explain more than a share of what the blanket leaves.

    `seen` is scratch space of d numbers, all -1 at first. Rows of `found` get the pairs. Returns their number, or one
    more than there is room for.
    """
    number, n = 0, e.size
    for j in range(start, stop):
        if chosen[j, 0] < 0:
            continue
        residual(Z, chosen, weights, j, e)
        seen[j] = j
        for q in range(first[j], first[j + 1]):
            seen[others[q]] = j
        for q in range(chosen.shape[1]):
            p = chosen[j, q]
            if p < 0:
                break
            for slot in range(first[p], first[p + 1]):
                u = others[slot]
                if seen[u] != j:
                    seen[u] = j
                    g = dot(e, Z[u]) / n
                    if g * g > share * r[j]:
                        if number == found.shape[0]:
                            return number + 1
                        found[number, 0], found[number, 1] = j, u
                        number += 1
    return number


@entry
def correlate_pairs(left: Any, right: Any, one: Any, other: Any, r: Any) -> None:
    """Compute the mean products of pairs of columns."""
    for i in range(one.size):
        r[i] = dot(left[one[i]], right[other[i]]) / left.shape[1]
