"""The exact minimum over all DAGs with up to 20 columns of one covariance: the recursion of `exact_order`, compiled.

All log determinants come from one sweep through the sets, which costs a few operations per set. The costs of a node
with all sets of parents follow from them. Time and memory double with each column: 35 milliseconds and 20 MB with 18,
0.2 seconds and 90 MB with 20. That is about what the search over orders takes, which may end in another graph.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from golem.runtime.machine import available_cores
from golem.runtime.types import BoolMatrix, BoolVector, Matrix, Vector
from golem.score.gaussian_columns import GaussianColumns
from golem.score.solution import TIE
from golem.search import exact_kernels

# From this number of nodes on, threads share them.
_THREADS_PAY_FROM = 16


class ExactColumns:
    """Log determinants of the correlations of all sets of columns, which problems with different priors share."""

    def __init__(self, score: GaussianColumns) -> None:
        self.score, d = score, score.d
        scale = 1 / np.sqrt(score.variances)
        swept = np.zeros((d + 1, d, d))
        swept[d] = score.covariance * np.outer(scale, scale)
        swept[d, np.arange(d), np.arange(d)] = 1.0
        self._logdet = np.empty(1 << d)
        exact_kernels.fill_log_determinants(swept, self._logdet)

    def minimum(
        self,
        allowed: BoolMatrix | None = None,
        required: BoolMatrix | None = None,
        most_parents: int | None = None,
        centre: float = 0.0,
        spread: float = np.inf,
    ) -> tuple[BoolMatrix, float]:
        """Return a DAG that minimizes sum_j n log r_j + penalty[k_j] among those the masks allow, and its score.

        A prior on the noise variances adds (log r_j - centre)^2 / spread, with r_j in the units of the data.

        Examples
        --------
        >>> R = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
        >>> ExactColumns(GaussianColumns(R, 1000, np.arange(3) * 7.0)).minimum()[0].astype(int)
        array([[0, 0, 1],
               [0, 0, 1],
               [0, 0, 0]])
        """
        d, score, bits = self.score.d, self.score, 1 << np.arange(self.score.d)
        may = np.full(d, (1 << d) - 1) if allowed is None else bits @ allowed
        must = np.zeros(d, dtype=np.int64) if required is None else bits @ required
        is_root = (may == 0) & (must == 0)  # as the past of a series
        centres = centre - np.log(score.variances)
        lowest = np.empty((d, 1 << d - 1))

        def fill(j: int) -> None:
            penalty = score.penalty.astype(float)
            if most_parents is not None:
                penalty[max(most_parents, int(must[j]).bit_count()) + 1 :] = np.inf
            exact_kernels.fill_lowest_costs(
                self._logdet, j, float(score.n), penalty, centres[j], 1 / spread, int(may[j]), int(must[j]), lowest[j]
            )

        workers = available_cores() if d >= _THREADS_PAY_FROM else 1
        with ThreadPoolExecutor(workers) as pool:
            list((pool.map if workers > 1 else map)(fill, np.flatnonzero(~is_root).tolist()))
        totals, roots = np.empty(1 << d), int(bits @ is_root)
        totals[roots] = is_root.sum() * score.penalty[0] + np.sum(centres[is_root] ** 2) / spread
        exact_kernels.fill_totals(lowest, roots, totals)
        if np.isinf(totals[-1]):
            raise ValueError("No acyclic graph satisfies the required and forbidden edges. Remove some of them.")
        return self._trace_back(lowest, totals, is_root), float(totals[-1])

    def _trace_back(self, lowest: Matrix, totals: Vector, is_root: BoolVector) -> BoolMatrix:
        """Return the DAG of the minimum; of equal ones, that with later nodes last and fewer parents."""
        d, tolerance = self.score.d, TIE * self.score.n
        graph, left = np.zeros((d, d), dtype=bool), (1 << d) - 1
        for _ in range(d - int(is_root.sum())):
            inside = [j for j in range(d) if left >> j & 1]
            last = [j for j in inside if not is_root[j]]
            options = [totals[left ^ 1 << j] + lowest[j, _without(left, j)] for j in last]
            j = max(j for j, option in zip(last, options, strict=True) if option <= min(options) + tolerance)
            left ^= 1 << j
            parents = left
            for i in reversed(inside):
                fewer = parents & ~(1 << i)
                if lowest[j, _without(fewer, j)] <= lowest[j, _without(left, j)] + tolerance:
                    parents = fewer
            graph[:, j] = [parents >> i & 1 for i in range(d)]
        return graph


def _without(nodes: int, j: int) -> int:
    """Return the number of a set among the sets of the nodes other than j."""
    return nodes & ((1 << j) - 1) | nodes >> (j + 1) << j
