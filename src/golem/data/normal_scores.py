"""Normal scores: the columns of a table as monotone functions of themselves that are normal, in the same units.

The moments of normal scores have the correlations R of ranks (the nonparanormal of Liu, Lafferty and Wasserman 2009)
and the scales D of the columns, S = D R D. A wild value is then only the largest of its column. A column that is normal
apart from wild values keeps its other values: their scores differ from them only by the noise of ranks, which would add
edges where parents explain nearly all of the variance. For the same reason its wild values are replaced by what the
other columns predict.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from golem.data.variables import Coding
from golem.runtime.types import BoolMatrix, BoolVector, Matrix, Vector

# Values farther from the median, in deviations of a normal column, are wild. A normal column of a million values has
# about one, so its scores have the usual mean and standard deviation.
_FARTHEST = 5.0
_DEVIATIONS_PER_MAD = 1.482602218505602
# Probability that any column of a normal table is taken for one that is not normal, and the fewest rows of the test.
_LEVEL, _FEWEST_ROWS = 0.01, 20
# Rows without wild values that a regression on all other columns needs, per column.
_ROWS_PER_COLUMN = 3


def normal_scores(rows: Matrix, coding: Coding) -> Matrix:
    """Return coded rows with the normal scores of the numbers; categories and missing values (NaN) stay.

    The score of the value with rank r among n is the quantile of (r - 3/8) / (n + 1/4), about the expected value of
    this order statistic (Blom 1958); equal values have their average rank. Scores are then shifted and scaled so that
    they and the column have the same mean and standard deviation, not counting wild values, those more than five
    deviations from the median. Of a column that is normal without them (`is_normal`), only wild values change: to what
    the other columns predict, if there are enough rows without wild values.

    Examples
    --------
    >>> column = np.append(np.random.default_rng(0).normal(size=999), 1e6)
    >>> scores = normal_scores(column[:, None], Coding.numeric(["a"]))
    >>> bool(np.abs(scores[:-1, 0] - column[:-1]).mean() < 0.1), bool(scores[-1, 0] < 4)
    (True, True)
    """
    found, wild = np.array(rows, dtype=float), np.zeros(np.shape(rows), dtype=bool)
    numbers = np.flatnonzero(coding.levels == 0)
    present = ~np.isnan(found)
    columns = [found[present[:, j], j] for j in numbers]
    for j, column, normal in zip(numbers, columns, normal_columns(columns, found.shape[1]), strict=True):
        found[present[:, j], j], wild[present[:, j], j] = _scores(column, normal)
    found[:, numbers] = _predicted(found[:, numbers], wild[:, numbers])
    return found


def _predicted(scores: Matrix, wild: BoolMatrix) -> Matrix:
    """Return scores in which the regression on the other columns, in rows without wild values, predicts wild ones."""
    sound = scores[~wild.any(axis=1) & ~np.isnan(scores).any(axis=1)]
    if not wild.any() or len(sound) < _ROWS_PER_COLUMN * scores.shape[1]:
        return scores
    mean, S = sound.mean(axis=0), np.cov(sound.T).reshape(scores.shape[1], -1)
    found = scores.copy()
    for i in np.flatnonzero(wild.any(axis=1)):
        known = ~wild[i] & ~np.isnan(scores[i])
        weights = np.linalg.lstsq(S[np.ix_(known, known)], (scores[i] - mean)[known], rcond=None)[0]
        found[i, wild[i]] = mean[wild[i]] + S[np.ix_(wild[i], known)] @ weights
    return found


def scores_of_columns(columns: Matrix, number: int) -> Matrix:
    """Return the normal scores of complete columns, in rows, of a table with so many columns; see `normal_scores`.

    Columns that stay as they are, being normal without wild values, are found together. Other columns predict nothing:
    there are too many of them.
    """
    from scipy.stats import normaltest

    away = np.abs(columns - np.median(columns, axis=1)[:, None])
    wild = away.max(axis=1) > _FARTHEST * _DEVIATIONS_PER_MAD * np.median(away, axis=1)
    stays = ~wild & (np.ptp(columns, axis=1) > 0) & (columns.shape[1] >= _FEWEST_ROWS)
    if stays.any():
        stays[stays] = normaltest(columns[stays], axis=1).pvalue > _LEVEL / number
    found = columns.copy()
    for j in np.flatnonzero(~stays):
        found[j] = _scores(columns[j], is_normal(columns[j], number))[0]
    return found


def normal_quantiles(column: Vector) -> Vector:
    """Return the normal quantiles of the ranks of a column without missing values."""
    from scipy.special import ndtri

    ordered = np.sort(column)
    # Twice the average rank of equal values, counted from 1, without scipy.stats, whose import is slow.
    doubled = np.searchsorted(ordered, column) + np.searchsorted(ordered, column, side="right") + 1
    return np.asarray(ndtri((doubled / 2 - 0.375) / (len(column) + 0.25)))


def is_normal(column: Vector, columns: int) -> bool:
    """Return whether a column, one of so many, is compatible with a normal distribution apart from wild values."""
    return bool(normal_columns([column], columns)[0])


def normal_columns(columns: Sequence[Vector], number: int) -> BoolVector:
    """Return which columns, of so many, are compatible with a normal distribution apart from wild values.

    The test is that of D'Agostino and Pearson (1973), with Bonferroni's correction.
    """
    from scipy.stats import normaltest

    usual = [column[_is_usual(column)] for column in columns]
    lengths, found = np.array([len(one) for one in usual], dtype=int), np.zeros(len(usual), dtype=bool)
    for length in np.unique(lengths[lengths >= _FEWEST_ROWS]):  # columns of one length together, as calls are slow
        which = np.flatnonzero(lengths == length)
        values = np.stack([usual[j] for j in which])
        varies = np.ptp(values, axis=1) > 0
        if varies.any():
            found[which[varies]] = normaltest(values[varies], axis=1).pvalue > _LEVEL / number
    return found


def _is_usual(column: Vector) -> BoolVector:
    """Return which values are not wild."""
    away = np.abs(column - np.median(column))
    reach = _FARTHEST * _DEVIATIONS_PER_MAD * np.median(away)
    return np.asarray(away <= reach if reach > 0 else away >= 0)  # more than half of the values may be equal


def _scores(column: Vector, normal: bool) -> tuple[Vector, BoolVector]:
    """Return the normal scores of a column without missing values, and which values of a normal one are wild.

    A column that does not vary stays.
    """
    scores, usual = normal_quantiles(column), _is_usual(column)
    deviation = scores[usual].std()
    if not deviation > 0:
        return column, np.zeros(len(column), dtype=bool)
    scores = column[usual].mean() + (scores - scores[usual].mean()) * (column[usual].std() / deviation)
    if normal:
        return np.where(usual, column, scores), ~usual
    return np.asarray(scores), np.zeros(len(column), dtype=bool)
