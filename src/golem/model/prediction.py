"""What observed values of some variables say about the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Prediction:
    """What observed values say about other variables; `LinearSEM.predict` makes it.

    Parameters
    ----------
    names : tuple of str
        The variables predicted, k of them.
    mean : ndarray of shape (k,) or (rows, k)
        Their conditional means, for each row where several were given.
    covariance : ndarray of shape (k, k)
        Their conditional covariance; it does not depend on the values observed.
    """

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    covariance: Matrix

    @property
    def variance(self) -> Vector:
        """Conditional variances of the variables predicted."""
        return np.diagonal(self.covariance).copy()


def condition(
    weights: Matrix, noise_variances: Vector, away: NDArray[np.float64], given: list[int], hidden: list[int]
) -> tuple[NDArray[np.float64], Matrix]:
    """Mean, less the unconditional one, and covariance of hidden variables, when others are `away` from their means.

    The hidden part of x - mean minimizes |(x - mean) (I - B) Omega^-1/2|^2. Least squares by QR keeps the digits that
    the inverse of a covariance of near-duplicates would lose.
    """
    A = (np.eye(len(weights)) - weights) / np.sqrt(noise_variances)
    Q, R = np.linalg.qr(A[hidden].T)
    back = np.linalg.inv(R)
    return -(away @ A[given] @ Q @ back.T), back @ back.T
