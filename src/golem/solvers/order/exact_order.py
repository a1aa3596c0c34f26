"""The exact minimum over all DAGs on a few nodes, by dynamic programming over sets of nodes.

With free noise variances, node j with parents P costs n log r_j(P) + penalty[|P|]. Its residual variance is a ratio of
determinants, r_j(P) = det S[P + j] / det S[P], so the determinants of all 2^d sets give every cost. Recursion yields
the best parents within every set, and then the best last node of every set (Silander and Myllymäki 2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix, Matrix, Vector

LARGEST_EXACT = 12


class ExactOrders:
    """Log residual variances of all nodes given all sets of nodes, from a covariance R and a number of rows n.

    Time and memory grow as 2^d.
    """

    def __init__(self, R: Matrix, n: int) -> None:
        d = len(R)
        sets = np.arange(1 << d)
        self.n = n
        self.members = (sets[:, None] >> np.arange(d)) & 1 == 1
        self.sizes = self.members.sum(axis=1)
        logdet = _logdets(R, self.members, self.sizes)
        bits = 1 << np.arange(d)
        # log r_j(P) = logdet(P + j) - logdet(P). It is not used where P contains j.
        self.log_r = logdet[sets | bits[:, None]] - logdet[sets]
        self.of_size = [sets[self.sizes == size] for size in range(d + 1)]
        self.rests = [where[:, None] & ~bits for where in self.of_size]

    def minimum(
        self,
        penalties: Vector,
        allowed: BoolMatrix | None = None,
        required: BoolMatrix | None = None,
        most_parents: int | None = None,
        centre: float | Vector = 0.0,
        spread: float = np.inf,
    ) -> tuple[BoolMatrix, float]:
        """Return a DAG that minimizes sum_j n log r_j + penalties[k_j] among those the masks allow, and the minimum.

        A prior on the noise variances adds (log r_j - centre_j)^2 / spread per node, with r_j in the units of R.

        Examples
        --------
        >>> R = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
        >>> ExactOrders(R, 1000).minimum(np.arange(3) * 7.0)[0].astype(int)
        array([[0, 0, 1],
               [0, 0, 1],
               [0, 0, 0]])
        """
        members, sizes = self.members, self.sizes
        d = members.shape[1]
        away = self.log_r - np.broadcast_to(centre, d)[:, None]
        cost = self.n * self.log_r + away**2 / spread + penalties[np.minimum(sizes, d - 1)]
        cost[members.T] = np.inf
        needed = np.zeros(d, dtype=int) if required is None else required.sum(axis=0)
        for j in range(d):
            if allowed is not None:
                cost[j, (members & ~allowed[:, j]).any(axis=1)] = np.inf
            if required is not None:
                cost[j, (~members & required[:, j]).any(axis=1)] = np.inf
            if most_parents is not None and most_parents < d - 1:
                cost[j, sizes > max(most_parents, needed[j])] = np.inf
        return self._best_dag(cost)

    def _best_dag(self, cost: Matrix) -> tuple[BoolMatrix, float]:
        """Build the best DAG by recursion over sets by size: its last node has its parents within the rest."""
        d = len(cost)
        nodes, best_cost = np.arange(d), _best_over_subsets(cost)
        total, last = np.zeros(1 << d), np.zeros(1 << d, dtype=np.int64)
        for where, rest in zip(self.of_size[1:], self.rests[1:], strict=True):
            options = np.where(self.members[where], total[rest] + best_cost[nodes, rest], np.inf)
            last[where] = options.argmin(axis=1)
            total[where] = options.min(axis=1)
        if np.isinf(total[-1]):
            raise ValueError("No acyclic graph satisfies the required and forbidden edges. Remove some of them.")
        graph = np.zeros((d, d), dtype=bool)
        left, sets = (1 << d) - 1, np.arange(1 << d)
        while left:
            j = int(last[left])
            left &= ~(1 << j)
            graph[:, j] = self.members[np.where(sets & ~left, np.inf, cost[j]).argmin()]
        return graph, float(total[-1])


def _logdets(R: Matrix, members: BoolMatrix, sizes: NDArray[np.intp]) -> Vector:
    """Return log det R[P, P] for every set P, with a finite lower bound for singular blocks."""
    logdet = np.zeros(len(members))
    for size in range(1, len(R) + 1):
        where = np.nonzero(sizes == size)[0]
        nodes = np.nonzero(members[where])[1].reshape(len(where), size)
        blocks = R[nodes[:, :, None], nodes[:, None, :]]
        logdet[where] = np.maximum(np.linalg.slogdet(blocks)[1], -700.0)
    return logdet


def _best_over_subsets(cost: Matrix) -> Matrix:
    """Return the lowest cost over the subsets of every set, for every node."""
    d = len(cost)
    best = cost.copy()
    for bit in range(d):
        pairs = best.reshape(d, -1, 2, 1 << bit)  # axis 2 is 1 if the set contains the bit
        np.minimum(pairs[:, :, 0], pairs[:, :, 1], out=pairs[:, :, 1])
    return best
