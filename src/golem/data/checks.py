"""Checks that a graph can be learned from moments: errors and warnings."""

from __future__ import annotations

import warnings

import numpy as np

from golem.data.moments import Moments
from golem.data.table_errors import constant
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.types import Matrix

# A column counts as a linear combination of others if at most this share of its variance remains given the others.
# Noisy data leave far more (the paper's densest graphs 1e-6), rounding far less.
_COLLINEAR = 1e-11
_CONSTANT = 1e-14
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
    # Rounding leaves a constant column of size c with a variance of about (1e-16 c)^2; below 1e-150 squares underflow.
    flat = moments.variances <= np.maximum(_CONSTANT**2 * moments.mean**2, 1e-300)
    if flat.any():
        raise constant([moments.names[j] for j in np.nonzero(flat)[0]])


def _require_distinct(R: Matrix, moments: Moments) -> None:
    """Raise a ValueError for pairs of columns that are equal up to shift and scale."""
    copies = np.argwhere(np.triu(np.abs(R) >= 1 - _COLLINEAR, k=1))
    if len(copies):
        pairs = [f"{moments.names[i]!r} and {moments.names[j]!r}" for i, j in copies]
        raise ValueError(f"Columns are copies of each other, apart from units: {shortened(pairs)}. Keep one per pair.")


def _require_independent(R: Matrix, moments: Moments) -> None:
    """Raise a ValueError if a column is a linear combination of others."""
    from scipy.linalg import lapack

    factor, pivots, rank, _ = lapack.dpstrf(R, tol=_COLLINEAR)
    if rank == moments.d:
        return
    order = pivots - 1
    L = np.triu(factor).T  # R = L L' in the order of the pivots; LAPACK does not clear the triangle below U
    basis, dependent = order[:rank], int(order[rank])
    coefficients = np.linalg.solve(L[:rank, :rank].T, L[rank, :rank])
    used = [moments.names[basis[k]] for k in np.nonzero(np.abs(coefficients) > 1e-6)[0]]
    others = moments.d - rank - 1
    more = f" ({counted(others, 'further column')} of this kind)" if others else ""
    raise ValueError(
        f"Column {moments.names[dependent]!r} is a linear combination of {quoted(used)}{more}. Drop one of them. A "
        "common cause is a total next to its parts."
    )
