"""Compiled costs of categories given their parents, from tables of counts.

The value of a set of categories is a sum over the cells of its table, and the cost of a node is the difference of the
values of two sets. Values are stored, as sets occur again. Small tables are counted by intersecting sets of rows, which
are bits of 64-bit words; large ones by going through the rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from golem.search.engines.record_kernel_arrays import (
    BIC,
    COSTS,
    INTEGER,
    OTHER,
    OWN,
    TALLIED,
    UNSIGNED,
    WIDTH,
    CountArrays,
    Memo,
)
from golem.search.engines.record_parent_kernels import (
    coefficients_without_parents,
    count_coefficients,
    find_key,
    fit_costs,
)
from golem.search.jit import implements, kernel
from golem.search.order_kernel_arrays import NO_NODE, NODE, ONE

# Up to this number of intersections of sets of rows, they are faster than going through the rows.
_MOST_INTERSECTIONS = 192
_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
# Every second bit, pair of bits, four bits, and one bit of every byte.
_ODD_BITS, _PAIRS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_HALF_BYTES, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


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
    x = count + share
    if count < TALLIED:
        return 2.0 * (least - math.lgamma(x))
    # Stirling's series, with an error below 1e-12 for such numbers, is several times faster.
    series = (1.0 / 12.0 - 1.0 / (360.0 * x * x)) / x
    return 2.0 * (least - ((x - 0.5) * np.log(x) - x + _HALF_LOG_2_PI + series))


@kernel
def count_cells(table: Any, pair: Any, other: Any, weight: Any, step: int, size: int) -> None:
    """Count how often the pairs occur with each level of another node; a level has `step` cells of the table.

    If the table is small, the second half of the rows has a table of its own: to count in one cell twice in a row takes
    longer, as the second time waits for the first.
    """
    half, factor = pair.size // 2, UNSIGNED(step)
    # An odd row is counted with the first half; if rows have weights, so are all of them.
    middle = pair.size - half if weight.size == 0 else pair.size
    half = pair.size - middle
    apart = size if 4 * size <= half else size - size
    for a in range(size + apart):
        table[a] = 0
    second, later_pair, later_other = table[apart : apart + size], pair[middle:], other[middle:]
    for i in range(half):
        table[UNSIGNED(other[i]) * factor + UNSIGNED(pair[i])] += 1
        second[UNSIGNED(later_other[i]) * factor + UNSIGNED(later_pair[i])] += 1
    for i in range(half, middle):
        table[UNSIGNED(other[i]) * factor + UNSIGNED(pair[i])] += weight[i] if weight.size else 1
    for a in range(apart):
        table[a] += second[a]


@kernel
def intersect(a: Any, b: Any, both: Any) -> None:
    """Intersect two sets of rows."""
    for i in range(a.size):
        both[i] = a[i] & b[i]


@kernel
def rows_in_common(a: Any, b: Any) -> Any:
    """Return the number of rows in the intersection of two sets; LLVM has one instruction for these sums of bits."""
    total = INTEGER(0)
    for i in range(a.size):
        x = a[i] & b[i]
        x -= x >> np.uint64(1) & _ODD_BITS
        x = (x & _PAIRS) + (x >> np.uint64(2) & _PAIRS)
        x = x + (x >> np.uint64(4)) & _HALF_BYTES
        total += INTEGER(x * _BYTES >> np.uint64(56))
    return total


@kernel
def split_rows(bits: Any, own: Any, levels: Any, nodes: Any, k: int, sets: Any, sizes: Any) -> Any:
    """Find the sets of rows of all combinations of levels of k nodes; return the number of those with rows."""
    q, used = ONE, ONE - 1
    for i in range(sets.shape[1]):
        sets[0, i] = ~np.uint64(0)
    for i in range(k):
        r = levels[nodes[i]]
        # From the last one, so that no set is overwritten before it is split.
        for a in range(q * r - 1, -1, -1):
            intersect(sets[a // r], bits[own[nodes[i]] + a % r], sets[a])
        q *= r
    for a in range(q):
        sizes[a] = rows_in_common(sets[a], sets[a])
        used += sizes[a] > 0
    return used


@kernel
def count_in_sets(table: Any, sets: Any, sizes: Any, bits: Any, first: int, levels: int, step: int) -> None:
    """Count how often each level of another node occurs in each set; a level has `step` cells of the table."""
    for a in range(step):
        rest = INTEGER(sizes[a])
        for level in range(1, levels):
            count = ONE - 1
            if rest > 0:
                count = rows_in_common(sets[a], bits[first + level])
            table[level * step + a] = count
            rest -= count
        table[a] = rest


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
def tabulate(e: CountArrays, q: int, cells: float, key: Any, margin_key: Any, c: int, j: int, by_sets: bool) -> None:
    """Store the values of the set of parents, candidate c (or NO_NODE) and j, and of the same set without j.

    The parents have q combinations, which are combined with j, as numbers of rows or `by_sets` of them. The larger set
    has `cells` combinations of levels in all.
    """
    problem, work, memo = e.problem, e.work, e.work.memo
    table, tally, kind, r = work.table, work.tally, problem.kind, problem.nodes[WIDTH, j]
    levels, first, step, other = ONE, NO_NODE, ONE - 1, problem.codes[j]
    if c != NO_NODE:
        levels, first, step, other = problem.nodes[WIDTH, c], problem.nodes[OWN, c], q * r, problem.codes[c]
    if by_sets:
        count_in_sets(table, work.sets, work.sizes, problem.bits, first, levels, q * r)
    else:
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


@implements(fit_costs, CountArrays)
def count_costs(e: CountArrays, j: int, P: Any, k: int) -> Any:
    """Return the cost of j with the first k slots of P as parents; add the costs with one more to finite entries.

    Penalties are not included.
    """
    problem, candidates, work, memo = e.problem, e.candidates, e.work, e.work.memo
    first, m = candidates.first[j], candidates.first[j + 1] - candidates.first[j]
    costs, levels, keys, nodes = work.vectors[COSTS], problem.nodes[WIDTH], candidates.keys[2], work.slots[OTHER]
    # The empty set has the key 1, because 0 marks free places of the table.
    base, cells, total = np.uint64(1), 1.0 * levels[j], 0.0
    # Combinations of the parents, and sets of rows; NO_NODE if not known.
    q, used, most = NO_NODE, NO_NODE, work.sets.shape[0]
    for i in range(k):
        nodes[i] = candidates.slots[NODE, first + P[i]]
        base += keys[nodes[i]]
        cells *= levels[nodes[i]]
    nodes[k] = j
    for slot in range(-1, m):
        if slot < 0 or costs[slot] < np.inf:
            c = candidates.slots[NODE, first + slot] if slot >= 0 else NO_NODE
            more = levels[c] if slot >= 0 else ONE
            margin_key = base + keys[c] if slot >= 0 else base
            key = margin_key + keys[j]
            at, margin_at = find_key(memo.value_key, key), find_key(memo.value_key, margin_key)
            if memo.value_key[at] != key or memo.value_key[margin_at] != margin_key:
                if used == NO_NODE and cells <= most:
                    used = split_rows(problem.bits, problem.nodes[OWN], levels, nodes, k + 1, work.sets, work.sizes)
                by_sets = cells <= most and used * (more - 1) <= _MOST_INTERSECTIONS
                if not by_sets and q == NO_NODE:
                    q = combine(problem.codes, levels, nodes, k, work.combination, work.table)
                    pair, own = work.combination, problem.codes[j]
                    for i in range(pair.size):
                        pair[i] = pair[i] * np.uint32(levels[j]) + own[i]
                of_parents = INTEGER(cells) // levels[j] if by_sets else q
                tabulate(e, of_parents, cells * more, key, margin_key, c, j, by_sets)
                at, margin_at = find_key(memo.value_key, key), find_key(memo.value_key, margin_key)
            cost = memo.value[at] - memo.value[margin_at]
            if slot < 0:
                total = cost
            else:
                costs[slot] += cost
    return total


@implements(count_coefficients, CountArrays)
def multiply_coefficients(e: CountArrays, number: float, width: int) -> Any:
    """Return the number of combinations of levels of the parents with one more."""
    return number * width


@implements(coefficients_without_parents, CountArrays)
def one_distribution(e: CountArrays) -> Any:
    """Return one: a category has a distribution without parents. The probabilities of its levels add up to one."""
    return 1.0
