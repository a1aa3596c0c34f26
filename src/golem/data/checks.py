"""Checks that a graph can be learned from moments: errors and warnings."""

from __future__ import annotations

import warnings

import numpy as np

from golem.data.moments import Moments
from golem.data.unusable import COLLINEAR, is_constant, unusable_columns, unusable_error
from golem.runtime.messages import quoted
from golem.runtime.types import Matrix

_WIDEST_SCALES = 1e8
_FEW_ROWS = 1.5


class DataWarning(UserWarning):
    """The data can be used, but parts of the result may not be reliable."""


def require_learnable(moments: Moments, *, uses_scale: bool, stacklevel: int = 4) -> None:
    """Raise a ValueError if no graph can be learned; warn if there are few rows.

    Parameters
    ----------
    moments : Moments
        The data.
    uses_scale : bool
        Whether the result of the method depends on the units of the columns.
    stacklevel : int
        Number of calls between a warning and the user's line.
    """
    if moments.d < 2:
        raise ValueError(f"A graph needs at least 2 columns; got n_features = {moments.d}: {quoted(moments.names)}.")
    if moments.n <= 2:
        raise ValueError(f"At least 3 rows are needed, better 10 per column; got {moments.n}.")
    _require_variation(moments)
    scale = np.sqrt(moments.variances)
    R = moments.covariance / np.outer(scale, scale)
    _require_distinct(R, moments)
    if moments.n > moments.d:
        _require_independent(R, moments)
    _warn_of_few_rows(moments, stacklevel)
    if uses_scale and scale.max() > _WIDEST_SCALES * scale.min():
        low, high = moments.names[int(scale.argmin())], moments.names[int(scale.argmax())]
        raise ValueError(
            f"The scales of the columns differ by a factor of {scale.max() / scale.min():.1e} (smallest {low!r}, "
            f"largest {high!r}), too much for one penalty on all weights. Use comparable units, or standardize."
        )


def warn_of_equal_scales(
    moments: Moments, method: str = "noise='ev'", instead: str = "noise='nv'", stacklevel: int = 3
) -> None:
    """Warn if all columns have the same variance: `method` infers directions from the scales of the columns."""
    variances = moments.variances
    if variances.max() <= variances.min() * (1 + 1e-6):
        warnings.warn(
            f"All columns have the same variance, but {method} infers directions from the scales of the columns. Use "
            f"the original units, or {instead}.",
            DataWarning,
            stacklevel=stacklevel,
        )


def _warn_of_few_rows(moments: Moments, stacklevel: int) -> None:
    """Warn if there are fewer rows than columns, or not many more."""
    n, d = moments.n, moments.d
    if n >= _FEW_ROWS * d:
        return
    reason = (
        "a graph can fit them perfectly, and some edges may be strong by chance"
        if n <= d
        else "weak edges and directions are uncertain"
    )
    warnings.warn(
        f"n = {n} rows for d = {d} columns: {reason}. Trust only edges that are frequent in a bootstrap, and "
        "conclude little from missing edges. Use more rows or fewer columns.",
        DataWarning,
        stacklevel=stacklevel,
    )


def _require_variation(moments: Moments) -> None:
    """Raise a ValueError for constant columns."""
    if is_constant(moments).any():
        raise unusable_error(unusable_columns(moments))


def _require_distinct(R: Matrix, moments: Moments) -> None:
    """Raise a ValueError for pairs of columns that are equal up to shift and scale."""
    if np.triu(np.abs(R) >= 1 - COLLINEAR, k=1).any():
        raise unusable_error(unusable_columns(moments))


def _require_independent(R: Matrix, moments: Moments) -> None:
    """Raise a ValueError if a column is a linear combination of others."""
    from scipy.linalg import lapack

    _, _, rank, _ = lapack.dpstrf(R, tol=COLLINEAR)
    if rank < moments.d:
        raise unusable_error(unusable_columns(moments))
