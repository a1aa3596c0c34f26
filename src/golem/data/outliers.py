"""Rows with values far beyond the tails of the others."""

from __future__ import annotations

import numpy as np

from golem.runtime.types import BoolMatrix, Indices, Matrix

# Tables with more numbers are not looked at, and large files are not kept in memory for checks that need rows.
MOST_NUMBERS = 5_000_000
# The tail of a column is fitted between these quantiles, so that a few outliers do not change it.
_BEGIN, _END = 0.8, 0.95
# Expected number of values of the whole table that are taken for outliers, if all tails are exponential.
_LEVEL = 0.01


def outlying_rows(values: Matrix) -> Indices:
    """Return the numbers of the rows with outliers; see `outlying_values`.

    Examples
    --------
    >>> noise = np.random.default_rng(0).exponential(size=(500, 3))
    >>> noise[[7, 90], 1] = 40
    >>> outlying_rows(noise)
    array([ 7, 90])
    """
    return np.flatnonzero(outlying_values(values).any(axis=1))


def outlying_values(values: Matrix) -> BoolMatrix:
    """Return which values are far beyond what an exponential tail would produce, shape (n, d).

    The tail beyond the 80% quantile of each side of each column is fitted by the 95% quantile. A value is an outlier if
    fewer than 0.01 values of the whole table would be expected so far out. The tails of normal, uniform, Laplace,
    exponential and Gumbel noise are not heavier than exponential, so that these produce few outliers.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Columns, or the residuals of all nodes on their parents; missing values (NaN) are left out.
    """
    quantiles = np.nanquantile if np.isnan(values).any() else np.quantile  # the latter is far faster
    left, low, high, right = quantiles(values, [1 - _END, 1 - _BEGIN, _BEGIN, _END], axis=0)
    # The whole table is expected to have so few values beyond this multiple of the distance between the quantiles.
    far = np.log(2 * values.size * (1 - _BEGIN) / _LEVEL) / np.log((1 - _BEGIN) / (1 - _END))
    # A column with few distinct values may have no tail to fit.
    below = np.where(low > left, low - far * (low - left), -np.inf)
    above = np.where(right > high, high + far * (right - high), np.inf)
    return np.asarray((values < below) | (values > above))
