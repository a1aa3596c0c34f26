"""A test of normal distributions, and the moments that it compares."""

from __future__ import annotations

import numpy as np

from golem.runtime.types import Matrix, Vector


def standardized_moments(values: Matrix) -> tuple[Vector, Vector]:
    """Return the skewness and excess kurtosis of every column; NaN for a column that does not vary.

    `scipy.stats` warns of such columns, and warnings cannot be silenced in threads.
    """
    with np.errstate(invalid="ignore"):
        z = (values - values.mean(axis=0)) / values.std(axis=0)
    square = z * z
    return np.mean(square * z, axis=0), np.mean(square * square, axis=0) - 3


def normality_test(values: Matrix) -> Vector:
    """Return a p-value per column for the hypothesis that it is normal (D'Agostino and Pearson 1973).

    NaN for a column that does not vary. At least 20 rows are needed.
    """
    from scipy.stats import normaltest

    p, varies = np.full(values.shape[1], np.nan), np.ptp(values, axis=0) > 0
    centred = values[:, varies] - values[:, varies].mean(axis=0)
    p[varies] = normaltest(centred).pvalue
    return p
