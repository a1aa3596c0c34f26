"""Can a graph be learned from these moments? Clear words where it cannot, a warning where care is needed."""

from __future__ import annotations

import warnings

import numpy as np

from golem.data.moments import Moments
from golem.runtime.messages import quoted, shortened
from golem.runtime.types import Matrix

# A column whose variance given others is below this share of its own is taken as a combination of them: far below
# what noisy data show (the paper's densest graphs go down to 1e-6), well above rounding.
_COLLINEAR = 1e-11
_CONSTANT = 1e-14
_WIDEST_SCALES = 1e8
_FEW_ROWS = 1.5


class DataWarning(UserWarning):
    """The data can be used, but not everything in the answer can be trusted."""


def require_learnable(moments: Moments, *, uses_scale: bool, stacklevel: int = 4) -> None:
    """Raise a ValueError with columns and remedy where no graph can be learned; warn where n is small.

    Parameters
    ----------
    moments : Moments
        The data.
    uses_scale : bool
        Whether the method works on the columns as they are scaled.
    stacklevel : int
        Calls between a warning and the user's line.
    """
    if moments.d < 2:
        raise ValueError(f"a graph needs at least 2 columns; got n_features = {moments.d}: {quoted(moments.names)}")
    if moments.n <= 2:
        raise ValueError(
            f"{moments.n} rows correlate perfectly in all columns; at least 3 are needed, better 10 a column"
        )
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
            f"the columns' scales differ by {scale.max() / scale.min():.1e} (smallest {low!r}, largest {high!r}): "
            "penalties on weights mean nothing across such units; express the columns in comparable units, or "
            "standardize them"
        )


def warn_of_equal_scales(
    moments: Moments, method: str = "noise='ev'", instead: str = "noise='nv'", stacklevel: int = 3
) -> None:
    """Warn where all columns have one variance: methods that read directions from scales then have none."""
    variances = moments.variances
    if variances.max() <= variances.min() * (1 + 1e-6):
        warnings.warn(
            f"all columns have the same variance: with {method} directions come from the scales of the columns, and "
            f"standardized data carry none. Use the original units, or {instead}.",
            DataWarning,
            stacklevel=stacklevel,
        )


def _warn_of_few_rows(moments: Moments, stacklevel: int) -> None:
    """Warn where rows are fewer than columns, or not many more, and say what can be trusted."""
    n, d = moments.n, moments.d
    if n >= _FEW_ROWS * d:
        return
    if n <= d:
        reason = (
            "with n <= d the likelihood has no minimum of its own, and only the penalty per edge (or the penalties) "
            "holds it. Edges can be strong by chance"
        )
    else:
        reason = "regressions on many columns are hardly determined. Weak edges and directions are uncertain"
    warnings.warn(
        f"n = {n} rows for d = {d} columns: {reason}: trust those that come back in a bootstrap. A missing edge says "
        "little. More rows or fewer columns help.",
        DataWarning,
        stacklevel=stacklevel,
    )


def _require_variation(moments: Moments) -> None:
    """Raise for constant columns."""
    # Rounding leaves a constant column of size c with a variance of about (1e-16 c)^2; below 1e-150 squares underflow.
    constant = moments.variances <= np.maximum(_CONSTANT**2 * moments.mean**2, 1e-300)
    if constant.any():
        bad = [moments.names[j] for j in np.nonzero(constant)[0]]
        raise ValueError(
            f"constant columns carry no information: {quoted(bad)}; drop them (on the command line --drop), or rescale "
            "tiny ones"
        )


def _require_distinct(R: Matrix, moments: Moments) -> None:
    """Raise for pairs of columns that are copies of each other up to shift and scale."""
    copies = np.argwhere(np.triu(np.abs(R) >= 1 - _COLLINEAR, k=1))
    if len(copies):
        pairs = [f"{moments.names[i]!r} and {moments.names[j]!r}" for i, j in copies]
        raise ValueError(
            f"columns are copies of each other up to units: {shortened(pairs)}; keep one of each (no data can tell "
            "which one causes the others)"
        )


def _require_independent(R: Matrix, moments: Moments) -> None:
    """Raise where a column is an exact linear combination of others."""
    from scipy.linalg import lapack

    factor, pivots, rank, _ = lapack.dpstrf(R, tol=_COLLINEAR)
    if rank == moments.d:
        return
    order = pivots - 1
    L = np.triu(factor).T  # R = L L' in the order of the pivots; below U LAPACK leaves its input
    basis, dependent = order[:rank], int(order[rank])
    coefficients = np.linalg.solve(L[:rank, :rank].T, L[rank, :rank])
    used = [moments.names[basis[k]] for k in np.nonzero(np.abs(coefficients) > 1e-6)[0]]
    raise ValueError(
        f"column {moments.names[dependent]!r} is a linear combination of {quoted(used)} "
        f"({moments.d - rank} such in all); drop one of them (totals beside their parts are a common cause)"
    )
