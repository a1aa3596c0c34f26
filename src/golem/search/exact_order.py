"""The exact minimum over all DAGs on a few nodes, by dynamic programming over sets of nodes.

A score gives the cost of every node with every set of parents. Recursion yields the lowest cost of parents within every
set, and then the best last node of every set (Silander and Myllymäki 2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.gaussian_columns import GaussianColumns
from golem.score.solution import TIE

LARGEST_EXACT = 12
# With one covariance, one column per node and one prior; see `exact_columns`.
LARGEST_EXACT_COLUMNS = 20
# More problems at once take more memory and are not faster.
_AT_ONCE = 16


def exact_seconds(d: int) -> float:
    """Return how long an exact search of columns takes on a slow machine."""
    return 1e-6 * 2.0**d


class Subsets:
    """All sets of d nodes, and the dynamic programming over them. Time and memory grow as 2^d.

    Set number s contains node j if bit j of s is 1. Costs have one row per set of parents and one column per node.
    """

    def __init__(self, d: int) -> None:
        sets = np.arange(1 << d)
        self.bits = 1 << np.arange(d)
        self.members = sets[:, None] & self.bits != 0
        self.sizes = self.members.sum(axis=1)
        # For every size: the sets of that size, their nodes, and what is left of each set without each of its nodes.
        self.levels = []
        for size in range(1, d + 1):
            where = sets[self.sizes == size]
            nodes = np.nonzero(self.members[where])[1].reshape(len(where), size)
            self.levels.append((where, nodes, where[:, None] ^ self.bits[nodes]))

    def forbid(self, cost: Matrix, allowed: BoolMatrix | None, required: BoolMatrix | None) -> None:
        """Set costs to infinity where a node would be its own parent or the masks do not allow the parents."""
        cost[self.members] = np.inf
        for j in range(len(self.bits)):
            if allowed is not None:
                cost[(self.members & ~allowed[:, j]).any(axis=1), j] = np.inf
            if required is not None:
                cost[(~self.members & required[:, j]).any(axis=1), j] = np.inf

    def best_dags(self, cost: NDArray[np.float64], tolerance: float) -> tuple[BoolMatrix, Vector]:
        """Return the best DAGs of m problems, (m, d, d), and their costs, (m,).

        Costs have the shape (2^d, d, m), in C order, and are overwritten. Differences up to the tolerance are ties.
        """
        d, m = cost.shape[1:]
        for bit in self.bits:  # the lowest cost over the subsets of every set
            pairs = cost.reshape(-1, 2, bit * d * m)  # axis 1 is 1 if the set contains the bit
            np.minimum(pairs[:, 0], pairs[:, 1], out=pairs[:, 1])
        total = np.zeros((1 << d, m))
        for where, nodes, rests in self.levels:  # the last node of a set has its parents among the others
            total[where] = (total[rests] + cost[rests, nodes]).min(axis=1)
        if np.isinf(total[-1]).any():
            raise ValueError("No acyclic graph satisfies the required and forbidden edges. Remove some of them.")
        return self._trace_back(cost, total, tolerance), total[-1].copy()

    def _trace_back(self, lowest: NDArray[np.float64], total: Matrix, tolerance: float) -> BoolMatrix:
        """Return the DAGs that attain the minima; of equal ones, that with later nodes last and fewer parents."""
        d, m = lowest.shape[1:]
        problem = np.arange(m)
        graphs = np.zeros((m, d, d), dtype=bool)
        left = np.full(m, (1 << d) - 1)
        for _ in range(d):
            rests = left[:, None] & ~self.bits
            options = total[rests, problem[:, None]] + lowest[rests, np.arange(d), problem[:, None]]
            options[~self.members[left]] = np.inf
            best = options <= options.min(axis=1, keepdims=True) + tolerance
            j = d - 1 - best[:, ::-1].argmax(axis=1)
            left = left & ~self.bits[j]
            parents, bound = left, lowest[left, j, problem] + tolerance
            for bit in self.bits[::-1]:
                fewer = parents & ~bit
                parents = np.where(lowest[fewer, j, problem] <= bound, fewer, parents)
            graphs[problem, :, j] = self.members[parents]
        return graphs


class ExactOrders:
    """Log residual variances of all nodes given all sets of nodes.

    Problems that differ only in the prior on the noise variances are solved together.
    """

    def __init__(self, score: GaussianColumns) -> None:
        self.n, self.penalty, self.subsets = score.n, score.penalty, Subsets(score.d)
        self.log_r = score.log_residuals(self.subsets.members)

    def minima(
        self,
        allowed: BoolMatrix | None = None,
        required: BoolMatrix | None = None,
        most_parents: int | None = None,
        centres: Matrix | None = None,
        spreads: Vector | None = None,
    ) -> tuple[BoolMatrix, Vector]:
        """Return DAGs that minimize sum_j n log r_j + penalty[k_j] among those the masks allow, and the minima.

        Each row of `centres` (m, d) with an entry of `spreads` (m,) is a prior on the noise variances: it adds
        (log r_j - centre_j)^2 / spread per node, with r_j in the units of R. There is one DAG per prior; the shapes are
        (m, d, d) and (m,). By default there is one problem, without a prior.

        Examples
        --------
        >>> R = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
        >>> ExactOrders(GaussianColumns(R, 1000, np.arange(3) * 7.0)).minima()[0][0].astype(int)
        array([[0, 0, 1],
               [0, 0, 1],
               [0, 0, 0]])
        """
        free = self._costs(allowed, required, most_parents)
        if centres is None or spreads is None:
            return self.subsets.best_dags(free[:, :, None], TIE * self.n)
        parts = []
        for start in range(0, len(spreads), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            cost = np.empty((*free.shape, len(spreads[some])))  # in C order, as `best_dags` needs
            np.subtract(self.log_r[:, :, None], centres[some].T, out=cost)
            cost *= cost
            cost /= spreads[some]
            cost += free[:, :, None]
            parts.append(self.subsets.best_dags(cost, TIE * self.n))
        graphs, scores = zip(*parts, strict=True)
        return np.concatenate(graphs), np.concatenate(scores)

    def _costs(self, allowed: BoolMatrix | None, required: BoolMatrix | None, most_parents: int | None) -> Matrix:
        """Return the cost of every node (columns) with every set of parents (rows), infinite where not allowed."""
        sizes, d = self.subsets.sizes, self.log_r.shape[1]
        cost: Matrix = self.n * self.log_r + self.penalty[np.minimum(sizes, d - 1)][:, None]
        self.subsets.forbid(cost, allowed, required)
        if most_parents is not None and most_parents < d - 1:
            needed = np.zeros(d, dtype=int) if required is None else required.sum(axis=0)
            cost[sizes[:, None] > np.maximum(most_parents, needed)] = np.inf
        return cost
