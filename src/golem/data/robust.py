"""Outliers, and whether a table has the moments of its values or of their ranks because of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from golem.data.normal_scores import is_normal, normal_quantiles
from golem.data.table import Part, Table
from golem.data.unusable import unusable_variables
from golem.runtime.messages import counted
from golem.runtime.problems import ProblemError
from golem.runtime.types import BoolMatrix, Indices, Matrix

RobustChoice = Literal["auto", "ranks", "off"]
ROBUST: tuple[RobustChoice, ...] = get_args(RobustChoice)
# Tables with more numbers are not looked at, and large files are not kept in memory for checks that need rows.
MOST_NUMBERS = 5_000_000
# The tail of a column is fitted between these quantiles, so that a few outliers do not change it.
_BEGIN, _END = 0.8, 0.95
# Expected number of values of the whole table that are taken for outliers, if all tails are exponential.
_EXPECTED = 0.01
# Share of the columns with outliers that may fail a test of normality at 1%: normal columns do so by chance.
_NOT_NORMAL = 0.25
NOT_CHECKED = (
    f"Outliers were not looked for: this needs all rows in memory, and at most {MOST_NUMBERS // 10**6} million values."
)
# Standard errors from which on values are correlated, and below which ranks are unrelated; the probability that
# independent columns have a pair with related ranks; the fewest rows to tell.
_CORRELATED, _UNRELATED, _LEVEL, _FEWEST_ROWS = 3.0, 2.0, 0.01, 20
_RANKS = "correlations are those of ranks (normal scores)"


def robust_table(table: Table, robust: RobustChoice) -> Table:
    """Return a table with the moments of its normal scores: always ("ranks"), or if it has outliers ("auto").

    Where the noise itself has heavy tails, extreme values follow the linear model and say most about it. So "auto" uses
    ranks only if most columns with outliers are normal without them, or if values are correlated and ranks are not, at
    least in most of these pairs: then a few rows make the correlation. This does not depend on the order of the rows. A
    table with columns that cannot be used stays as it is, so that they are named. If columns have the same ranks,
    "auto" keeps the moments of the values.
    """
    if robust == "off" or table.is_ranked:
        return table
    if any(part.unit_means is not None for part in table.parts):
        if robust == "ranks":
            raise ProblemError.of("{robust='ranks'} cannot be used with units. Use {robust='off'}.")
        return table
    reason = f"{_RANKS[0].upper()}{_RANKS[1:]}."
    if robust == "auto":
        found = [_outliers(part) for part in table.parts]
        if None in found:
            return replace(table, robust_note=NOT_CHECKED)
        if not (count := sum(one for one in found if one)):
            return table
        reason = f"{counted(count, 'row')} {'has' if count == 1 else 'have'} outliers, so {_RANKS}."
    if unusable_variables(table.moments()):
        return table
    ranked = replace(table.with_ranks(), robust_note=reason)
    return table if robust == "auto" and unusable_variables(ranked.moments()) else ranked


def _outliers(part: Part) -> int | None:
    """Return the number of rows with outliers, 0 if those belong to the noise; None without all rows."""
    numbers = np.flatnonzero(part.moments.coding.levels == 0)
    if not len(numbers):
        return 0
    rows = part.all_rows() if part.moments.rows * len(numbers) <= MOST_NUMBERS else None
    if rows is None:
        return None
    wild = outlying_values(rows[:, numbers])
    columns = [rows[~np.isnan(rows[:, j]), j] for j in numbers[wild.any(axis=0)]]
    failing = sum(not is_normal(column, 1) for column in columns)
    from_outside = failing <= _NOT_NORMAL * len(columns) or _values_mislead(rows[:, numbers])
    return int(wild.any(axis=1).sum()) if from_outside else 0


def _values_mislead(rows: Matrix) -> bool:
    """Return whether values are correlated, and ranks of no pair are, or not those of most pairs with such values."""
    from scipy.special import ndtri

    rows = rows[~np.isnan(rows).any(axis=1)]
    pairs = np.triu_indices(rows.shape[1], 1)
    if len(rows) < _FEWEST_ROWS or not len(pairs[0]) or not np.all(np.ptp(rows, axis=0) > 0):
        return False
    of_values, of_ranks = (
        np.sqrt(len(rows) - 3)
        * np.abs(np.arctanh(np.clip(np.asarray(np.corrcoef(columns.T))[pairs], -0.999999, 0.999999)))
        for columns in (rows, np.apply_along_axis(normal_quantiles, 0, rows))
    )
    correlated, clear = of_values > _CORRELATED, -ndtri(_LEVEL / (2 * len(of_ranks)))  # Bonferroni's correction
    if not correlated.any():
        return False
    return bool(not np.any(of_ranks > clear) or np.mean(of_ranks[correlated] < _UNRELATED) > 0.5)


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
    far = np.log(2 * values.size * (1 - _BEGIN) / _EXPECTED) / np.log((1 - _BEGIN) / (1 - _END))
    # A column with few distinct values may have no tail to fit.
    below = np.where(low > left, low - far * (low - left), -np.inf)
    above = np.where(right > high, high + far * (right - high), np.inf)
    return np.asarray((values < below) | (values > above))
