"""Compiled costs of a node given its parents, for Gaussian columns and for tables of counts.

All candidates for one more parent are evaluated together: they share the regression on the parents, or the table of the
parents' levels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from golem.solvers.order.jit import inlined, kernel
from golem.solvers.order.local_kernel_arrays import (
    ALLOWED,
    BIC,
    BY_PARENTS,
    COLLINEAR,
    COSTS,
    FIRST_COVARIANCE,
    GAUSSIAN,
    INTEGER,
    KIND,
    LIMIT,
    NODE,
    OTHER,
    OWN,
    PER_COEFFICIENT,
    SIZE,
    START,
    STRIDE,
    UNSIGNED,
    VARIANCE,
    WIDTH,
    Candidates,
    Memo,
    Problem,
    Work,
)
from golem.solvers.order.shared_kernels import MIX, NO_NODE, ONE, add_multiple


@kernel
def residual_logdet(A: Any, floor: Any, m: int, last: int) -> Any:
    """Return the log determinant of the last columns of A given those before them; A is lower and is overwritten."""
    total = 0.0
    for i in range(m):
        pivot = A[i, i]
        skipped = pivot <= floor[i]
        if i >= m - last and floor[i] > 0.0:
            total += np.log(max(pivot, floor[i]))
        for a in range(i + 1, m):
            if not skipped:
                share = A[a, i] / pivot
                for b in range(i + 1, a + 1):
                    A[a, b] -= share * A[b, i]
    return total


@kernel
def whiten(R: Any, V: Any, col: int, rank: int) -> Any:
    """Orthogonalize a column to the first rows of V, and add it as a row, unless they determine it; return the rank."""
    row = V[rank, : R.shape[0]]
    for q in range(R.shape[0]):
        row[q] = R[col, q]
    for a in range(rank):
        add_multiple(row, -V[a, col], V[a, : R.shape[0]])
    if row[col] <= COLLINEAR * R[col, col]:
        return rank
    scale = 1.0 / np.sqrt(row[col])
    for q in range(R.shape[0]):
        row[q] *= scale
    return rank + 1


@kernel
def residuals(R: Any, V: Any, rank: int, own: int, w: int, vectors: Any) -> None:
    """Compute residual variances of all columns of a block, and residual covariances with those of the node itself."""
    m = R.shape[0]
    variance = vectors[VARIANCE, :m]
    for q in range(m):
        variance[q] = R[q, q]
    for i in range(rank):
        for q in range(m):
            variance[q] -= V[i, q] * V[i, q]
    for b in range(w):
        covariance = vectors[FIRST_COVARIANCE + b, :m]
        for q in range(m):
            covariance[q] = R[own + b, q]
        for i in range(rank):
            add_multiple(covariance, -V[i, own + b], V[i, :m])


@kernel
def block_cost(R: Any, V: Any, rank: int, own: int, w: int, start: int, wc: int, vectors: Any, A: Any) -> Any:
    """Return the log determinant of the residual block of a node with one more parent of `wc` columns."""
    floor, m = vectors[FIRST_COVARIANCE + w], wc + w
    for a in range(m):
        p = start + a if a < wc else own + a - wc
        floor[a] = COLLINEAR * R[p, p]
        for b in range(a + 1):
            q = start + b if b < wc else own + b - wc
            if a >= wc:
                A[a, b] = vectors[FIRST_COVARIANCE + a - wc, q]
            elif a == b:
                A[a, b] = vectors[VARIANCE, p]
            else:
                A[a, b] = R[p, q]
                for i in range(rank):
                    A[a, b] -= V[i, p] * V[i, q]
    return residual_logdet(A, floor, m, w)


@inlined
def gaussian_costs(problem: Problem, candidates: Candidates, work: Work, j: int, P: Any, k: int) -> Any:
    """Return the cost of j with the first k slots of P as parents; add the costs with one more to finite entries.

    Penalties are not included.
    """
    first, m = candidates.first[j], candidates.first[j + 1] - candidates.first[j]
    own, w, stride = problem.nodes[OWN, j], problem.nodes[WIDTH, j], problem.nodes[STRIDE, j]
    costs, V, total = work.vectors[COSTS], work.V, 0.0
    for t in range(problem.term_first[j], problem.term_first[j + 1]):
        R = problem.blocks[problem.corner[t] : problem.corner[t] + stride * stride].reshape((stride, stride))
        rank = ONE - 1
        for i in range(k):
            start = candidates.slots[START, first + P[i]]
            for col in range(start, start + problem.nodes[WIDTH, candidates.slots[NODE, first + P[i]]]):
                rank = whiten(R, V, col, rank)
        residuals(R, V, rank, own, w, work.vectors)
        for c in range(-1, m):
            if c < 0 or costs[c] < np.inf:
                start, wc = own, ONE - 1
                if c >= 0:
                    start = candidates.slots[START, first + c]
                    wc = problem.nodes[WIDTH, candidates.slots[NODE, first + c]]
                cost = problem.rows[t] * block_cost(R, V, rank, own, w, start, wc, work.vectors, work.A)
                if c < 0:
                    total += cost
                else:
                    costs[c] += cost
    return total


@kernel
def find_key(keys: Any, key: Any) -> Any:
    """Return where a key is, or belongs, in a hash table."""
    mask = np.uint64(keys.size - 1)
    at = (key * MIX) >> np.uint64(20) & mask
    while keys[at] != key and keys[at] != np.uint64(0):
        at = at + np.uint64(1) & mask
    return at


@kernel
def store_value(memo: Memo, key: Any, value: float) -> None:
    """Store the value of a set."""
    at = find_key(memo.value_key, key)
    if memo.value_key[at] != key:
        memo.value_key[at] = key
        memo.value_used[0] += 1
    memo.value[at] = value


@kernel
def combine(codes: Any, levels: Any, nodes: Any, k: int, combination: Any, table: Any) -> Any:
    """Count the combinations of levels of some nodes that occur, and give each row the number of its combination."""
    n, q = codes.shape[1], ONE
    for r in range(n):
        combination[r] = 0
    for i in range(k):
        column, factor = codes[nodes[i]], np.uint32(levels[nodes[i]])
        for r in range(n):
            combination[r] = combination[r] * factor + column[r]
        q *= factor
        if q > 256:
            for a in range(q):
                table[a] = -1
            q = ONE - 1
            for r in range(n):
                at = UNSIGNED(combination[r])
                if table[at] < 0:
                    table[at] = q
                    q += 1
                combination[r] = table[at]
    return q


@kernel
def cell_value(kind: int, count: int, share: float, least: float) -> Any:
    """Return what a cell of a contingency table adds to the value of its set."""
    if kind == BIC:
        return -2.0 * count * np.log(count)
    if count == 1:
        return -2.0 * np.log(share)
    return 2.0 * (least - math.lgamma(count + share))


@kernel
def count_cells(table: Any, pair: Any, other: Any, weight: Any, step: int, size: int) -> None:
    """Count how often the pairs occur with each level of another node; a level has `step` cells of the table.

    If the table is small, the second half of the rows has a table of its own: to count in one cell twice in a row takes
    longer, as the second time waits for the first.
    """
    half = pair.size // 2
    # An odd row is counted with the first half.
    middle = pair.size - half
    apart, factor = size if 4 * size <= half else size - size, UNSIGNED(step)
    for a in range(size + apart):
        table[a] = 0
    second, later_pair, later_other = table[apart : apart + size], pair[middle:], other[middle:]
    for i in range(half):
        table[UNSIGNED(other[i]) * factor + UNSIGNED(pair[i])] += weight[i]
        second[UNSIGNED(later_other[i]) * factor + UNSIGNED(later_pair[i])] += weight[middle + i]
    for i in range(half, middle):
        table[UNSIGNED(other[i]) * factor + UNSIGNED(pair[i])] += weight[i]
    for a in range(apart):
        table[a] += second[a]


@kernel
def tallied_value(kind: int, tally: Any, share: float, least: float) -> Any:
    """Return what cells with small counts add to the value of their set, and empty the tally."""
    value = 0.0
    for count in range(ONE, tally.size):
        if tally[count] > 0:
            value += tally[count] * cell_value(kind, count, share, least)
            tally[count] = 0
    return value


@kernel
def tabulate(
    problem: Problem, memo: Memo, work: Work, q: int, cells: float, key: Any, margin_key: Any, c: int, j: int
) -> None:
    """Store the values of the set of parents, candidate c (or NO_NODE) and j, and of the same set without j.

    The parents have q combinations, which are combined with j. The larger set has `cells` combinations of levels in
    all.
    """
    table, tally, kind, r = work.table, work.tally, problem.kind, problem.nodes[WIDTH, j]
    levels, step, other = ONE, ONE - 1, problem.codes[j]
    if c != NO_NODE:
        levels, step, other = problem.nodes[WIDTH, c], q * r, problem.codes[c]
    count_cells(table, work.combination, other, problem.weight, step, q * levels * r)
    share, value, margin = problem.prior / cells, 0.0, 0.0
    least, least_margin = math.lgamma(share), math.lgamma(share * r)
    for a in range(q * levels):
        total = ONE - 1
        for b in range(a * r, a * r + r):
            count = INTEGER(table[b])
            total += count
            if count >= tally.shape[1]:
                value += cell_value(kind, count, share, least)
            else:
                tally[0, count] += 1
        if total >= tally.shape[1]:
            margin += cell_value(kind, total, share * r, least_margin)
        else:
            tally[1, total] += 1
    store_value(memo, key, value + tallied_value(kind, tally[0], share, least))
    store_value(memo, margin_key, margin + tallied_value(kind, tally[1], share * r, least_margin))


@inlined
def count_costs(problem: Problem, candidates: Candidates, memo: Memo, work: Work, j: int, P: Any, k: int) -> Any:
    """Do the same as `gaussian_costs` for categories."""
    first, m = candidates.first[j], candidates.first[j + 1] - candidates.first[j]
    costs, levels, keys, nodes = work.vectors[COSTS], problem.nodes[WIDTH], candidates.keys[2], work.slots[OTHER]
    # The empty set has the key 1, because 0 marks free places of the table.
    base, cells, q, total = np.uint64(1), 1.0 * levels[j], NO_NODE, 0.0
    for i in range(k):
        nodes[i] = candidates.slots[NODE, first + P[i]]
        base += keys[nodes[i]]
        cells *= levels[nodes[i]]
    for slot in range(-1, m):
        if slot < 0 or costs[slot] < np.inf:
            c = candidates.slots[NODE, first + slot] if slot >= 0 else NO_NODE
            margin_key = base + keys[c] if slot >= 0 else base
            key = margin_key + keys[j]
            at, margin_at = find_key(memo.value_key, key), find_key(memo.value_key, margin_key)
            if memo.value_key[at] != key or memo.value_key[margin_at] != margin_key:
                if q == NO_NODE:
                    q = combine(problem.codes, levels, nodes, k, work.combination, work.table)
                    pair, own = work.combination, problem.codes[j]
                    for i in range(pair.size):
                        pair[i] = pair[i] * np.uint32(levels[j]) + own[i]
                tabulate(problem, memo, work, q, cells * (levels[c] if slot >= 0 else 1), key, margin_key, c, j)
                at, margin_at = find_key(memo.value_key, key), find_key(memo.value_key, margin_key)
            cost = memo.value[at] - memo.value[margin_at]
            if slot < 0:
                total = cost
            else:
                costs[slot] += cost
    return total


@kernel
def evaluate(
    problem: Problem, candidates: Candidates, memo: Memo, work: Work, j: int, P: Any, k: int, more: bool
) -> Any:
    """Return the cost of j with the first k slots of P as parents; with `more`, compute the costs with one more.

    `work.vectors[COSTS]` gets the latter, infinite where a parent is not possible.
    """
    first, m, costs = candidates.first[j], candidates.first[j + 1] - candidates.first[j], work.vectors[COSTS]
    kind, width, weight = problem.kind, problem.nodes[WIDTH], problem.values[PER_COEFFICIENT, j]
    size, number = 0.0, 0.0 if kind == GAUSSIAN else 1.0
    for i in range(k):
        u = candidates.slots[NODE, first + P[i]]
        size += problem.values[SIZE, u]
        number = number + width[u] if kind == GAUSSIAN else number * width[u]
    weight *= width[j] if kind == GAUSSIAN else width[j] - 1
    for c in range(m):
        u = candidates.slots[NODE, first + c]
        costs[c] = np.inf
        fits = size + problem.values[SIZE, u] <= problem.values[LIMIT, j]
        if more and fits and candidates.slots[KIND, first + c] & ALLOWED:
            total = number + width[u] if kind == GAUSSIAN else number * width[u]
            costs[c] = weight * total + problem.values[BY_PARENTS, k + 1]
    for i in range(k):
        costs[P[i]] = np.inf
    if kind == GAUSSIAN:
        fit = gaussian_costs(problem, candidates, work, j, P, k)
    else:
        fit = count_costs(problem, candidates, memo, work, j, P, k)
    return fit + weight * number + problem.values[BY_PARENTS, k]
