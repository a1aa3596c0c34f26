"""Tests of residuals: whether they are independent of the parents, as in a linear model, and whether they are normal.

`scipy.stats` has a test of normality as well, but takes a third of a second to import.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from golem.runtime.types import Matrix, Vector

# Directions of a basis with a smaller share of the variance are rounding errors.
_RANK_TOLERANCE = 1e-9


class ResidualDependence(NamedTuple):
    """The dependence of a residual on each of k regressors.

    Parameters
    ----------
    p_values : ndarray of shape (k,)
        p-values of the tests of independence.
    effects : ndarray of shape (k,)
        Root of the sum of squared correlations between functions of both, corrected for sampling errors: about 0 under
        independence, whatever the number of rows.
    """

    p_values: Vector
    effects: Vector


def residual_dependence(residual: Vector, regressors: Matrix, n: float | None = None) -> ResidualDependence:
    """Test whether the residual of a least-squares regression is independent of each regressor.

    A residual is never correlated with its regressors, but functions of the two are correlated if the linear model is
    wrong: if the effect is not linear, the noise depends on the regressor, both have a hidden common cause, or the
    direction is wrong and the noise not Gaussian. With u the residual and v a regressor, both standardized, the
    functions are u, log cosh u, tanh u and v, log cosh v, tanh v. The statistic is n times the sum of their squared
    correlations. It is close to chi squared if u is the residual of the true parents and independent of them.

    That u was estimated matters only for two kinds of terms, and both are made insensitive to it: functions of v are
    replaced by their residuals on all regressors; and for v itself, f(u) is replaced by f(u) - mean(f'(u)) u.

    Parameters
    ----------
    residual : ndarray of shape (rows,)
        Residual of the regression on all `regressors` and an intercept.
    regressors : ndarray of shape (rows, k)
        The parents of the node.
    n : float, optional
        How many independent rows they are worth, by default their number: a bootstrap resample counts as half its rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.laplace(size=(2, 1000))
    >>> effect = cause + noise
    >>> slope, back = np.polyfit(cause, effect, 1)[0], np.polyfit(effect, cause, 1)[0]
    >>> bool(residual_dependence(effect - slope * cause, cause[:, None]).p_values[0] > 0.05)
    True
    >>> bool(residual_dependence(cause - back * effect, effect[:, None]).p_values[0] < 1e-6)
    True
    """
    from scipy.special import gammaincc

    rows, k = regressors.shape
    n = rows if n is None else n
    u, V = _standardized(residual[:, None])[:, 0], _standardized(regressors)
    bends = _bends(u)
    slopes = np.array([np.tanh(u).mean(), 1 - np.mean(np.tanh(u) ** 2)])
    insensitive, all_functions = _basis(bends - np.outer(u, slopes)), _basis(np.column_stack([u, bends]))
    onto = _basis(V)
    statistics, freedom = np.zeros(k), np.zeros(k)
    for i, v in enumerate(V.T):
        bent = _bends(v)
        bent = _basis(bent - onto @ (onto.T @ bent))
        linear, curved = insensitive.T @ v / np.sqrt(rows), all_functions.T @ bent
        statistics[i] = n * (np.sum(linear**2) + np.sum(curved**2))
        freedom[i] = max(len(linear) + curved.size, 1)
    p_values = gammaincc(freedom / 2, statistics / 2)  # the upper tail of chi squared
    return ResidualDependence(p_values, np.sqrt(np.maximum(statistics - freedom, 0) / n))


def _standardized(columns: Matrix) -> Matrix:
    """Return columns with mean 0 and variance 1; a constant column becomes 0."""
    centred = columns - columns.mean(axis=0)
    scale = centred.std(axis=0)
    return np.asarray(centred / np.where(scale > 0, scale, 1.0))


def _bends(u: Vector) -> Matrix:
    """Return log cosh u and tanh u, centred, of shape (n, 2)."""
    size = np.abs(u)
    # Up to a constant, log cosh u without overflow.
    bends = np.column_stack([size + np.log1p(np.exp(-2 * size)), np.tanh(u)])
    return np.asarray(bends - bends.mean(axis=0))


def _basis(columns: Matrix) -> Matrix:
    """Return orthonormal columns with the same span."""
    values, vectors = np.linalg.eigh(columns.T @ columns)
    kept = values > _RANK_TOLERANCE * len(columns)
    return np.asarray(columns @ (vectors[:, kept] / np.sqrt(values[kept])))


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
