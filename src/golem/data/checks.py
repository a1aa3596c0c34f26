"""Checks that a graph can be learned from moments: errors and warnings."""

from __future__ import annotations

import numpy as np

from golem.data.collinearity import COPY, LARGEST_SHARE, correlations, most_determined, rounding_share_of
from golem.data.moments import Moments
from golem.data.table_errors import too_few_columns, too_few_rows
from golem.data.unusable import Unusable, is_constant, switches, unusable_columns, unusable_error
from golem.runtime.messages import counted, quoted, shortened, warn_user
from golem.runtime.problems import Drop, ProblemError, Remedy, Set, Text

EQUAL_VARIANCES, FREE_VARIANCES = Set("noise", "ev"), Set("noise", "nv")
_WIDEST_SCALES = 1e8
_FEW_ROWS = 1.5
# Rows of the covariance that are checked at a time, so that they stay in the CPU cache.
_ROWS = 128
# Share of a remaining variance that may be rounding error from which on there is a warning.
_NEARLY_COLLINEAR = 1e-5


class DataWarning(UserWarning):
    """The data can be used, but parts of the result may not be reliable.

    Examples
    --------
    >>> import warnings
    >>> from golem import DataWarning
    >>> warnings.simplefilter("error", DataWarning)  # to stop at doubtful data
    >>> warnings.simplefilter("default", DataWarning)
    """


def most_parents(n: int) -> int:
    """Return the number of parents that n rows can support. Near n parents the likelihood is unbounded."""
    return max(1, (n - 2) // 2)


def least_rows(d: int) -> int:
    """Return the number of rows from which on golem learns a graph of d columns.

    With fewer, columns of pure noise give edges, and structures that direct them: 20 columns and 10 rows give 6 edges,
    of which 4 are directed. With 20 rows they give less than one (benchmarks/diagnostics.md).
    """
    return min(20, 4 + 2 * d)


def require_rows(moments: Moments) -> None:
    """Raise a ValueError if there are too few rows to tell effects from noise."""
    d, missing = len(moments.variables), moments.missing
    if d > 1 and moments.n < least_rows(d):
        dropped = missing.rows if missing is not None and missing.method == "drop" else 0
        raise too_few_rows(moments.n, dropped, least=least_rows(d), columns=d, got=moments.rows_in_words)


def require_learnable(moments: Moments, *, uses_scale: bool, independent: bool = False, bounded: bool = False) -> None:
    """Raise a ValueError if no graph can be learned; warn if there are few rows or nearly dependent columns.

    Parameters
    ----------
    moments : Moments
        The data.
    uses_scale : bool
        Whether the result of the method depends on the units of the columns.
    independent : bool
        Whether something else will check that no column is a linear combination of others. The check factors the
        covariance, which takes long for thousands of columns.
    bounded : bool
        Whether the method gives no variable more than `most_parents`, which a warning about few rows then says.
    """
    if moments.d < 2:
        raise too_few_columns(moments.names)
    if moments.n <= 2:
        raise too_few_rows(moments.n)
    require_variation(moments)
    scale = np.sqrt(moments.variances)
    if moments.n <= moments.d:
        require_distinct(moments)
    elif not independent and moments.has_scatter:
        require_independent(moments)
    _warn_of_few_rows(moments, bounded)
    warn_of_scarce_columns(moments)
    if uses_scale and scale.max() > _WIDEST_SCALES * scale.min():
        low, high = moments.names[int(scale.argmin())], moments.names[int(scale.argmax())]
        raise ValueError(
            f"The scales of the columns differ by a factor of {scale.max() / scale.min():.1e} (smallest {low!r}, "
            f"largest {high!r}), too much for one penalty on all weights. Use comparable units, or standardize."
        )


def require_numbers(moments: Moments) -> None:
    """Raise a ValueError if some variables are categories."""
    if found := moments.coding.categories:
        what = f"This method needs numbers, but these columns are categories: {quoted(found)}. Drop them: "
        raise ProblemError(what, Drop(found), ".")


def warn_of_equal_scales(
    moments: Moments, method: str | Remedy = EQUAL_VARIANCES, instead: str | Remedy = FREE_VARIANCES
) -> None:
    """Warn if all columns have the same variance: `method` infers directions from the scales of the columns."""
    variances = moments.variances
    if variances.max() <= variances.min() * (1 + 1e-6):
        by_scale = " infers directions from the scales of the columns. Use the original units, or "
        warn_user(Text("All columns have the same variance, but ", method, by_scale, instead, "."), DataWarning)


def _warn_of_few_rows(moments: Moments, bounded: bool) -> None:
    """Warn if there are fewer rows than columns, or not many more."""
    n, d = moments.n, moments.d
    if n >= _FEW_ROWS * d:
        return
    reason = (
        "a graph can fit them perfectly, and some edges may be strong by chance"
        if n <= d
        else "weak edges and directions are uncertain"
    )
    limit = f" With so few rows, a variable can have at most {counted(most_parents(n), 'parent')}." if bounded else ""
    warn_user(
        f"n = {moments.rows_in_words} for d = {d} columns: {reason}.{limit} Trust only edges that are frequent in a "
        "bootstrap, and conclude little from missing edges. Use more rows or fewer columns.",
        DataWarning,
    )


def warn_of_scarce_columns(moments: Moments) -> None:
    """Warn if EM knows some columns far less well than the others."""
    scarce = {} if moments.missing is None else moments.missing.scarce
    if scarce:
        worth = shortened([f"{name!r} ({counted(rows, 'value')})" for name, rows in scarce.items()], 4)
        warn_user(
            f"These columns have far fewer values than the others: {worth}. Their weak edges are not found, and with "
            f"them the average pair of columns is worth only {moments.n} rows. Drop those that are not a common cause "
            "of other columns.",
            DataWarning,
        )


def require_variation(moments: Moments) -> None:
    """Raise a ValueError for constant columns."""
    if is_constant(moments).any():
        raise unusable_error(unusable_columns(moments), switches(moments))


def require_distinct(moments: Moments) -> None:
    """Raise a ValueError for pairs of columns that are equal up to shift and scale."""
    if not moments.has_scatter:  # the search compares all pairs
        return
    S, inverse = moments.covariance, 1 / np.sqrt(moments.variances)
    for start in range(0, moments.d, _ROWS):
        rows = slice(start, start + _ROWS)
        R = np.abs(S[rows, start:] * inverse[start:] * inverse[rows, None])
        if np.triu(R >= 1 - COPY, k=1).any():
            raise unusable_error(unusable_columns(moments), switches(moments))


def require_independent(moments: Moments, share: float | None = None) -> None:
    """Raise a ValueError if a column is a linear combination of others, and warn if one nearly is.

    Parameters
    ----------
    moments : Moments
        The data, with more rows than columns.
    share : float, optional
        Their `golem.data.collinearity.rounding_share`, if it is known.
    """
    share = rounding_share_of(correlations(moments)) if share is None else share
    if share < _NEARLY_COLLINEAR:
        return
    column, others, remaining = most_determined(correlations(moments))
    name, used = moments.names[column], tuple(moments.names[k] for k in others)
    if share >= LARGEST_SHARE:
        raise unusable_error(unusable_columns(moments) or [Unusable.determined(name, used)], switches(moments))
    warn_user(
        f"Column {name!r} is nearly a linear combination of {quoted(used)}: only {remaining:.0e} of its variance "
        "remains given them. Rounding errors may change its edges. Drop one of these columns if they measure the same "
        "thing.",
        DataWarning,
    )
