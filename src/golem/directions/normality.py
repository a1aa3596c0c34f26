"""A test of normal distributions; `scipy.stats` has it as well but takes half a second to import."""

from __future__ import annotations

import numpy as np

from golem.runtime.types import Matrix, Vector


def standardized_moments(values: Matrix) -> tuple[Vector, Vector]:
    """Return the skewness and excess kurtosis of every column; NaN for a column that does not vary."""
    with np.errstate(invalid="ignore"):
        z = (values - values.mean(axis=0)) / values.std(axis=0)
    square = z * z
    return np.mean(square * z, axis=0), np.mean(square * square, axis=0) - 3


def normality_test(values: Matrix) -> Vector:
    """Return a p-value per column for the hypothesis that it is normal (D'Agostino and Pearson 1973).

    Skewness and kurtosis are transformed to normal scores (D'Agostino 1970, Anscombe and Glynn 1983), whose squares
    sum to chi squared with 2 degrees of freedom. The transformations need about 20 rows.
    """
    n = len(values)
    skewness, excess = standardized_moments(values)
    return np.asarray(np.exp(-(_skewness_score(skewness, n) ** 2 + _kurtosis_score(excess, n) ** 2) / 2))


def _skewness_score(skewness: Vector, n: int) -> Vector:
    """Return the normal score of the skewness."""
    y = skewness * np.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    beta = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    w2 = np.sqrt(2 * (beta - 1)) - 1
    return np.asarray(np.arcsinh(y / np.sqrt(2 / (w2 - 1))) / np.sqrt(0.5 * np.log(w2)))


def _kurtosis_score(excess: Vector, n: int) -> Vector:
    """Return the normal score of the excess kurtosis."""
    mean = -6.0 / (n + 1)
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3.0) * (n + 5))
    x = (excess - mean) / np.sqrt(variance)
    scale = np.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2.0) * (n - 3)))
    root = 6.0 * (n**2 - 5 * n + 2) / ((n + 7.0) * (n + 9)) * scale
    a = 6 + 8 / root * (2 / root + np.sqrt(1 + 4 / root**2))
    ratio = (1 - 2 / a) / (1 + x * np.sqrt(2 / (a - 4)))
    return np.asarray((1 - 2 / (9 * a) - np.cbrt(ratio)) / np.sqrt(2 / (9 * a)))
