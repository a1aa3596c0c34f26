"""The score of one covariance: the simplest of the scores that are sums over the nodes."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from golem.data.checks import most_parents
from golem.runtime.types import BoolMatrix, Matrix, Vector


@dataclass(frozen=True, eq=False)
class GaussianColumns:
    """Nodes of one column each, scored on the correlations of n rows.

        cost_j(P) = n log(r_j(P) / S_jj) + penalty[|P|] + (log r_j(P) - centre)^2 / spread,

    where r_j(P) is the residual variance of j given its parents P.

    Parameters
    ----------
    covariance : array of shape (d, d)
        The covariance S.
    n : int
        Number of rows.
    penalty : array of shape (d,)
        The penalty of nodes with 0, 1, ..., d - 1 parents.
    centre, spread : float
        A prior on the logarithms of the noise variances, in the units of the data; none by default.
    """

    covariance: Matrix
    n: int
    penalty: Vector
    centre: float = 0.0
    spread: float = np.inf

    @property
    def d(self) -> int:
        """Number of nodes."""
        return len(self.covariance)

    @property
    def sizes(self) -> Vector:
        """Number of columns of every node."""
        return np.ones(self.d)

    @property
    def limits(self) -> Vector:
        """The largest number of parents: near as many as rows, the likelihood is unbounded."""
        return np.full(self.d, float(most_parents(self.n)))

    @functools.cached_property
    def variances(self) -> Vector:
        """Variances of the columns; 1 for constant ones."""
        variances = np.diagonal(self.covariance)
        return np.where(variances > 0, variances, 1.0)

    @property
    def table_seconds(self) -> float:
        """About how long `cost_table` takes on a usual machine, from the sizes alone."""
        return 1e-8 * self.d**2 * 2.0**self.d

    def cost_table(self, members: BoolMatrix) -> Matrix:
        """Return the cost of all nodes with all sets of parents."""
        log_r, number = self.log_residuals(members), np.minimum(members.sum(axis=1), self.d - 1)
        away = log_r + np.log(self.variances) - self.centre
        return np.asarray(self.n * log_r + self.penalty[number][:, None] + away**2 / self.spread)

    def log_residuals(self, members: BoolMatrix) -> Matrix:
        """Return log(r_j(P) / S_jj) for all sets of parents P, rows, and nodes j, columns; any number if j is in P.

        A residual variance is a ratio of determinants, r_j(P) = det S[P + j] / det S[P].
        """
        scale = 1 / np.sqrt(self.variances)
        R = self.covariance * np.outer(scale, scale)
        R[np.diag_indices(self.d)] = 1.0
        sizes, logdet = members.sum(axis=1), np.zeros(len(members))
        for size in range(1, self.d + 1):
            where = np.flatnonzero(sizes == size)
            nodes = np.nonzero(members[where])[1].reshape(len(where), size)
            blocks = R[nodes[:, :, None], nodes[:, None, :]]
            logdet[where] = np.maximum(np.linalg.slogdet(blocks)[1], -700.0)  # finite for singular blocks
        with_node = np.arange(len(members))[:, None] | 1 << np.arange(self.d)
        return np.asarray(logdet[with_node] - logdet[:, None])
