"""Pairs of columns with large correlations, among all pairs: a pass over blocks, on the CPU or on a GPU.

The products of blocks are approximate, in single precision on the CPU and in half precision on a GPU. So the pass keeps
a little more than asked, and correlations in double precision settle what is kept: all devices find the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.runtime.machine import available_cores
from golem.runtime.threads import blas_threads_for, in_chunks
from golem.runtime.types import Indices, Vector

# Errors of products in half precision.
_SLACK = 1e-3
# Rows and columns of a block of products, on the CPU and on a GPU.
_CPU_BLOCK, _GPU_BLOCK = (1024, 8192), (8192, 131072)
# Pairs with the strongest correlations of each node that are kept at most.
MOST_PER_NODE = 64

Columns = NDArray[np.float32]


class Pairs(NamedTuple):
    """Pairs of nodes, with their correlations."""

    one: Indices
    other: Indices
    r: Vector


def threshold_for(n: int, d: int, false_pairs: float) -> float:
    """Return the correlation that independent columns exceed with so many of d others, on average.

    Examples
    --------
    >>> round(threshold_for(1000, 1_000_000, 10.0), 3)
    0.138
    """
    from scipy.special import ndtri

    z = -float(ndtri(min(false_pairs / (2 * max(d, 2)), 0.4)))
    return z / float(np.sqrt(n + z * z))


def screen(
    left: Columns,
    right: Columns,
    threshold: float,
    device: str,
    check: Callable[[float], None] = lambda share: None,
) -> Pairs:
    """Return the pairs of a column of `left` and one of `right` with larger correlations, those of a column once.

    Both are standardized, columns in rows. If they are the same array, each pair is found once. Of columns with very
    many such pairs, those that are among the strongest of one of their ends are kept. `check` is called with the share
    of the work that is done.
    """
    same = left is right
    products = _products_on(device, left, right)
    height, width = _CPU_BLOCK if device == "cpu" else _GPU_BLOCK
    kept = _Strongest(len(left), same)
    tasks = [
        (a, b) for a in range(0, len(left), height) for b in range(0, len(right), width) if not same or b + width > a
    ]
    least = max(threshold - _SLACK, 0.0)

    def block(task: tuple[int, int]) -> Pairs:
        a, b = task
        i, j, r = products(slice(a, a + height), slice(b, b + width), least)
        i, j = i + a, j + b
        found = (i < j) if same else (i != j)
        return Pairs(i[found], j[found], r[found])

    workers = available_cores() if device == "cpu" else 1
    with blas_threads_for(0), ThreadPoolExecutor(workers) as pool:
        for begin in range(0, len(tasks), 4 * workers):
            for found in pool.map(block, tasks[begin : begin + 4 * workers]):
                kept.add(found)
            check(min(1.0, (begin + 4 * workers) / len(tasks)))
    found = kept.pairs()
    exact = exact_correlations(left, right, found.one, found.other)
    large = np.abs(exact) > threshold
    return Pairs(found.one[large], found.other[large], exact[large])


def _products_on(device: str, left: Columns, right: Columns) -> Callable[[slice, slice, float], Any]:
    """Return the function that finds large products of blocks on a device."""
    n = left.shape[1]
    if device == "cpu":

        def on_cpu(rows: slice, columns: slice, least: float) -> Any:
            C = left[rows] @ right[columns].T
            C /= n
            np.abs(C, out=C)
            place = np.flatnonzero((least < C).ravel())
            i, j = np.divmod(place, C.shape[1])
            return i, j, C.ravel()[place]

        return on_cpu
    from golem.runtime.arrays import half_precision, large_products

    scale = float(1 / np.sqrt(n))
    first = half_precision(left, scale, device)
    second = first if left is right else half_precision(right, scale, device)
    return lambda rows, columns, least: large_products(first[rows], second[columns], least)


def exact_correlations(left: Columns, right: Columns, one: Indices, other: Indices) -> Vector:
    """Return the correlations of pairs of standardized columns, in double precision."""
    from golem.search.wide.column_kernels import correlate_pairs

    result = np.empty(len(one))
    in_chunks(lambda a, b: correlate_pairs(left, right, one[a:b], other[a:b], result[a:b]), len(one), 1 << 14)
    return result


class _Strongest:
    """Pairs, of which only the strongest of each node are kept when there are too many."""

    def __init__(self, d: int, both: bool) -> None:
        self._d, self._both, self._found = d, both, [Pairs(np.zeros(0, int), np.zeros(0, int), np.zeros(0))]
        self._least, self._number = np.zeros(d), 0

    def add(self, found: Pairs) -> None:
        least = self._least[found.one]
        if self._both:
            least = np.minimum(least, self._least[found.other])
        strong = found.r >= least
        self._found.append(Pairs(found.one[strong], found.other[strong], np.asarray(found.r[strong], dtype=float)))
        self._number += int(strong.sum())
        if self._number > 4 * MOST_PER_NODE * self._d:
            self._shorten()

    def pairs(self) -> Pairs:
        """Return what was kept."""
        if len(self._found) > 1:
            self._found = [Pairs(*(np.concatenate(parts) for parts in zip(*self._found, strict=True)))]
        return self._found[0]

    def _shorten(self) -> None:
        pairs = self.pairs()
        nodes, r = pairs.one, pairs.r
        if self._both:
            nodes, r = np.append(nodes, pairs.other), np.append(r, r)
        order = np.lexsort((-r, nodes))
        first = np.searchsorted(nodes[order], np.arange(self._d))
        last = np.minimum(first + MOST_PER_NODE - 1, len(order) - 1)
        full = nodes[order[last]] == np.arange(self._d)
        self._least = np.where(full, r[order[last]], self._least)
        least = self._least[pairs.one]
        if self._both:
            least = np.minimum(least, self._least[pairs.other])
        strong = pairs.r >= least
        self._found = [Pairs(pairs.one[strong], pairs.other[strong], pairs.r[strong])]
        self._number = int(strong.sum())
