"""The exact minimum over all DAGs for a few nodes, by dynamic programming over sets of nodes.

With free noise variances a node costs n log r_j(P) + price[|P|], and the residual variance of j given P is a ratio of
determinants, r_j(P) = det S[P + j] / det S[P]. The determinants of all 2^d sets give every cost; the best parents
within every set, and then the best last node of every set, follow by recursion (Silander and Myllymäki 2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.graph import BoolMatrix
from golem.moments import Matrix, Vector

LARGEST_EXACT = 12


def exact_minimum(
    R: Matrix,
    n: int,
    prices: Vector,
    allowed: BoolMatrix | None = None,
    required: BoolMatrix | None = None,
    most_parents: int | None = None,
    centre: float | Vector = 0.0,
    spread: float = np.inf,
) -> BoolMatrix:
    """Return a DAG that minimizes sum_j n log r_j + price, over all DAGs that the masks allow.

    Parameters
    ----------
    R : ndarray of shape (d, d)
        Correlation or covariance matrix, d at most about 15: time and memory grow as 2^d.
    n : int
        Number of rows.
    prices : ndarray of shape (d,)
        Price of k parents.
    allowed, required : ndarray of shape (d, d), bool, optional
        Edges that may be, and that must be (acyclic).
    most_parents : int, optional
        Most parents of a node.
    centre, spread : float or array of shape (d,), float
        A prior on the noise variances: node j costs (log r_j - centre_j)^2 / spread more, r_j in the units of R.

    Examples
    --------
    >>> R = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
    >>> exact_minimum(R, 1000, np.arange(3) * 7.0).astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    d = len(R)
    sets = np.arange(1 << d)
    members = (sets[:, None] >> np.arange(d)) & 1 == 1
    sizes = members.sum(axis=1)
    logdet = _logdets(R, members, sizes)
    centres = np.broadcast_to(centre, d)
    best_cost, best_parents = np.empty((d, 1 << d)), np.empty((d, 1 << d), dtype=np.int64)
    for j in range(d):
        without = ~members[:, j]
        cost = np.full(1 << d, np.inf)
        log_r = logdet[sets[without] | 1 << j] - logdet[sets[without]]
        cost[without] = n * log_r + (log_r - centres[j]) ** 2 / spread + prices[sizes[without]]
        forbidden = np.zeros(1 << d, dtype=bool) if allowed is None else (members & ~allowed[:, j]).any(axis=1)
        if required is not None:
            forbidden |= (~members & required[:, j]).any(axis=1)
        if most_parents is not None:
            needed = 0 if required is None else int(required[:, j].sum())
            forbidden |= sizes > max(most_parents, needed)
        cost[forbidden] = np.inf
        best_cost[j], best_parents[j] = _best_subsets(cost, d)
    return _best_dag(best_cost, best_parents, members, sizes)


def _logdets(R: Matrix, members: BoolMatrix, sizes: NDArray[np.intp]) -> Vector:
    """Log det R[P, P] for every set P; -inf is kept away from by rounding up a vanishing determinant."""
    logdet = np.zeros(len(members))
    for size in range(1, len(R) + 1):
        where = np.nonzero(sizes == size)[0]
        nodes = np.nonzero(members[where])[1].reshape(len(where), size)
        blocks = R[nodes[:, :, None], nodes[:, None, :]]
        logdet[where] = np.maximum(np.linalg.slogdet(blocks)[1], -700.0)
    return logdet


def _best_subsets(cost: Vector, d: int) -> tuple[Vector, NDArray[np.int64]]:
    """For every set the cheapest of its subsets, and which that is."""
    best, which = cost.copy(), np.arange(1 << d)
    for bit in range(d):
        # Axis 1 tells whether the bit is in the set.
        pairs, names = best.reshape(-1, 2, 1 << bit), which.reshape(-1, 2, 1 << bit)
        smaller = pairs[:, 0] < pairs[:, 1]
        pairs[:, 1][smaller] = pairs[:, 0][smaller]
        names[:, 1][smaller] = names[:, 0][smaller]
    return best, which


def _best_dag(
    best_cost: Matrix, best_parents: NDArray[np.int64], members: BoolMatrix, sizes: NDArray[np.intp]
) -> BoolMatrix:
    """Recursion over sets by size: the cheapest DAG on a set takes some node last, its parents within the rest."""
    d = len(best_cost)
    total, last = np.zeros(1 << d), np.zeros(1 << d, dtype=np.int64)
    for size in range(1, d + 1):
        where = np.nonzero(sizes == size)[0]
        options = np.full((len(where), d), np.inf)
        for j in range(d):
            has = members[where, j]
            rest = where[has] & ~(1 << j)
            options[has, j] = total[rest] + best_cost[j, rest]
        last[where] = options.argmin(axis=1)
        total[where] = options.min(axis=1)
    graph = np.zeros((d, d), dtype=bool)
    left = (1 << d) - 1
    while left:
        if np.isinf(total[left]):
            raise ValueError("no directed acyclic graph obeys the masks")
        j = int(last[left])
        left &= ~(1 << j)
        graph[:, j] = members[best_parents[j, left]]
    return graph
