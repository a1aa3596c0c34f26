"""Predictions of some variables from observed values of others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Prediction:
    """Conditional means and covariance of variables given observed values of others; see `LinearSEM.predict`.

    Parameters
    ----------
    names : tuple of str
        The k predicted variables.
    mean : ndarray of shape (k,) or (rows, k)
        Conditional means; one row per row of the observed values, if several were given.
    covariance : ndarray of shape (k, k)
        Conditional covariance; it does not depend on the observed values.
    """

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    covariance: Matrix

    @property
    def variance(self) -> Vector:
        """Conditional variances of the predicted variables."""
        return np.diagonal(self.covariance).copy()


def condition(
    weights: Matrix, noise_variances: Vector, away: NDArray[np.float64], given: list[int], hidden: list[int]
) -> tuple[NDArray[np.float64], Matrix]:
    """Return the conditional mean (as a deviation from the mean) and covariance of the hidden variables.

    `away` holds the deviations of the given variables from their means. The hidden part of x - mean minimizes
    |(x - mean) (I - B) Omega^-1/2|^2. Least squares by QR is more precise than the inverse of a covariance, which may
    be nearly singular.
    """
    A = (np.eye(len(weights)) - weights) / np.sqrt(noise_variances)
    Q, R = np.linalg.qr(A[hidden].T)
    back = np.linalg.inv(R)
    return -(away @ A[given] @ Q @ back.T), back @ back.T
