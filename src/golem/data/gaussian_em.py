"""Gaussian EM: means and covariances from rows with missing values.

EM (Dempster, Laird and Rubin 1977; for the normal distribution Little and Rubin 2002, section 11.2) maximizes the
likelihood of the observed values. It assumes that whether a value is missing depends only on observed values (missing
at random). A step replaces each row by its conditional mean and covariance given its observed values, and computes the
moments of the completed rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.data.table_errors import MissingValuesError, empty_columns
from golem.data.unusable import Unusable, unusable_error
from golem.runtime.messages import warn_user
from golem.runtime.problems import DROP_DEPENDENT, ProblemError, Set, Text
from golem.runtime.types import BoolMatrix, Matrix, Vector

# In standard deviations of the columns. The remaining error is a few times the last change. The second tolerance is for
# parts and resamples of the rows, which vary by far more.
_TOLERANCE, _TOLERANCE_OF_PARTS, _MOST_ITERATIONS = 1e-8, 1e-5, 5000
_SINGULAR = 1e-10
# EM has stalled if so many steps improve the log-likelihood by less than this: far less than any edge is worth.
_STALLED_STEPS, _STALLED_GAIN = 100, 1e-5
# Patterns with more rows than this are processed one by one, others in stacks of at most this many numbers.
_MANY_ROWS, _STACK = 64, 1 << 21


@dataclass(frozen=True, eq=False)
class GaussianFit:
    """Maximum likelihood estimates of a normal distribution.

    Parameters
    ----------
    mean, covariance : ndarray of shape (d,) and (d, d)
        The estimates.
    log_likelihoods : tuple of float
        Log-likelihood of the observed values of the standardized columns before each step.
    """

    mean: Vector
    covariance: Matrix
    log_likelihoods: tuple[float, ...]


def fit_gaussian(
    X: Matrix,
    names: Sequence[str],
    start: tuple[Vector, Matrix] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GaussianFit:
    """Estimate mean and covariance from rows with missing values (NaN) by EM.

    Let K be the inverse of the covariance. Given the observed values x_o, the missing values m of a row have covariance
    inv(K_mm) and mean -inv(K_mm) K_mo x_o. The inverted blocks are small if few values are missing. Rows with the same
    missing columns are processed together.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows; NaN is missing.
    names : sequence of str
        Column names, for messages.
    start : (mean, covariance), optional
        Estimates from all rows, if X is a part or a resample of them; the tolerance is then larger. By default EM
        starts from the means and variances of the columns, without covariances.
    progress : callable, optional
        Called with the number of steps and their maximum.

    Raises
    ------
    ValueError
        If a column has no values, or the covariance is singular: columns are constant or linear combinations of
        others, or there are too few rows.
    """
    absent = np.isnan(X)
    n, d = X.shape
    empty = [names[int(j)] for j in np.nonzero(absent.all(axis=0))[0]]
    if empty:
        raise empty_columns(empty)
    if n <= d:
        needs = f" needs more rows than columns; got {n} rows for {d} columns."
        raise MissingValuesError(Set("missing", "em"), needs)
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    flat = scale <= 1e-14 * np.abs(centre)
    if flat.any():
        raise unusable_error([Unusable("constant", (names[int(j)],)) for j in np.nonzero(flat)[0]])
    first, tolerance = np.vstack([np.zeros(d), np.eye(d)]), _TOLERANCE
    if start is not None:
        first, tolerance = _in_units(*start, centre, scale), _TOLERANCE_OF_PARTS
    point, likelihoods, change = _ascend((X - centre) / scale, absent, first, tolerance, progress)
    if change > tolerance:
        _warn_of_no_convergence(likelihoods, change)
    mean, covariance = centre + scale * point[0], point[1:] * np.outer(scale, scale)
    return GaussianFit(mean, covariance, tuple(likelihoods))


def _warn_of_no_convergence(likelihoods: Sequence[float], change: float) -> None:
    """Warn that EM has stalled or reached the limit of its steps."""
    from sklearn.exceptions import ConvergenceWarning

    how = (
        f"stalled: its last {_STALLED_STEPS} steps improved the log-likelihood by less than {_STALLED_GAIN:g}"
        if _has_stalled(likelihoods)
        else f"stopped after {_MOST_ITERATIONS} steps without convergence"
    )
    said = Text.of(
        "Gaussian EM {how}, and the last one changed the moments by {change:.1e} standard deviations. The "
        "observed values say little about some covariances. Drop columns with many missing values, or use "
        "{missing='drop'}.",
        how=how,
        change=change,
    )
    warn_user(said, ConvergenceWarning)


def _has_stalled(likelihoods: Sequence[float]) -> bool:
    """Return whether the last steps of EM have hardly improved the log-likelihood."""
    return len(likelihoods) > _STALLED_STEPS and likelihoods[-1] - likelihoods[-1 - _STALLED_STEPS] < _STALLED_GAIN


def observed_log_likelihood(X: Matrix, mean: Vector, covariance: Matrix) -> float:
    """Return the log-likelihood of the observed values (NaN is missing) under a normal distribution.

    This is the sum over rows of log N(x_o; mean_o, covariance_oo), o the observed columns of the row; EM maximizes it.

    Examples
    --------
    >>> rows = np.array([[0.0, np.nan], [np.nan, 0.0]])
    >>> bool(np.isclose(observed_log_likelihood(rows, np.zeros(2), np.eye(2)), -np.log(2 * np.pi)))
    True
    """
    absent, scale = np.isnan(X), np.sqrt(np.diagonal(covariance))
    point = _in_units(mean, covariance, mean, scale)
    likelihood, _ = _step((X - mean) / scale, absent, list(_stacks(absent)), point)
    return likelihood - float((~absent).sum(axis=0) @ np.log(scale))


def _in_units(mean: Vector, covariance: Matrix, centre: Vector, scale: Vector) -> Matrix:
    """Return mean and covariance, stacked, of columns minus `centre` and divided by `scale`; shape (1 + d, d)."""
    return np.vstack([(mean - centre) / scale, covariance / np.outer(scale, scale)])


def _ascend(
    X: Matrix, absent: BoolMatrix, point: Matrix, tolerance: float, progress: Callable[[int, int], None] | None
) -> tuple[Matrix, list[float], float]:
    """Iterate EM, accelerated by extrapolation; return the last point, the likelihoods and the last change.

    A point is the mean stacked on the covariance. If many values are missing, EM makes ever smaller steps in nearly
    the same direction. After two steps, r and r + v, from p, SQUAREM (Varadhan and Roland 2008) extrapolates to
    p - 2 a r + a^2 v with a = -|r| / |v|. The extrapolation is undone if the likelihood falls. If EM stalls, and at the
    limit of the steps, the result is the point with the highest likelihood, because the next extrapolation has not been
    evaluated.
    """
    stacks = list(_stacks(absent))
    likelihoods: list[float] = []
    before: Matrix | None = None
    fallback: Matrix | None = None
    best, change = point, np.inf
    for number in range(_MOST_ITERATIONS):
        if progress is not None:
            progress(number, _MOST_ITERATIONS)
        likelihood, following = _step(X, absent, stacks, point)
        if fallback is not None and likelihood < likelihoods[-1]:
            point, before, fallback = fallback, None, None
            continue
        best = point
        likelihoods.append(likelihood)
        change = float(np.abs(following - point).max())
        if change <= tolerance:
            return following, likelihoods, change
        if _has_stalled(likelihoods):
            break
        further = None if before is None else _extrapolated(before, point, following)
        if further is None:
            point, before, fallback = following, point, None
        else:
            point, before, fallback = further, None, following
    return best, likelihoods, change


def _extrapolated(first: Matrix, second: Matrix, third: Matrix) -> Matrix | None:
    """Extrapolate two steps; None unless that goes beyond them and gives a positive definite covariance."""
    r, v = second - first, third - 2 * second + first
    length = -float(np.linalg.norm(r) / np.linalg.norm(v)) if v.any() else -1.0
    point = first - 2 * length * r + length**2 * v
    return point if length < -1 and _smallest_root(point[1:])[0] ** 2 > _SINGULAR else None


def _smallest_root(covariance: Matrix) -> tuple[float, Matrix]:
    """Return the smallest diagonal entry of the Cholesky factor, and the factor; zeros if there is none."""
    try:
        factor: Matrix = np.asarray(np.linalg.cholesky(covariance), dtype=float)
    except np.linalg.LinAlgError:
        return 0.0, np.zeros_like(covariance)
    return float(np.diagonal(factor).min()), factor


@dataclass(frozen=True, eq=False)
class _Stack:
    """Patterns with the same number of missing values: their columns, their row counts, and the rows of each."""

    where: NDArray[np.intp]
    counts: NDArray[np.intp]
    rows: NDArray[np.intp]
    pattern: NDArray[np.intp]


def _stacks(absent: BoolMatrix) -> Iterator[_Stack]:
    """Group the incomplete rows by their missing columns."""
    incomplete = np.nonzero(absent.any(axis=1))[0]
    if not len(incomplete):
        return
    packed = np.packbits(absent[incomplete], axis=1)
    _, first, label, counts = np.unique(packed, axis=0, return_index=True, return_inverse=True, return_counts=True)
    patterns = absent[incomplete[first]]
    sizes = patterns.sum(axis=1)
    rows_by_pattern = np.split(incomplete[np.argsort(label.ravel(), kind="stable")], np.cumsum(counts)[:-1])

    def stacked(chosen: NDArray[np.intp]) -> _Stack:
        where = np.nonzero(patterns[chosen])[1].reshape(len(chosen), -1)
        number = np.repeat(np.arange(len(chosen)), counts[chosen])
        return _Stack(where, counts[chosen], np.concatenate([rows_by_pattern[k] for k in chosen]), number)

    for size in np.unique(sizes):
        alike = np.nonzero(sizes == size)[0]
        many = counts[alike] > _MANY_ROWS
        for k in alike[many]:
            yield stacked(np.array([k]))
        few = alike[~many]
        numbers = np.cumsum(counts[few]) * size**2
        for part in np.split(few, np.nonzero(np.diff(numbers // _STACK))[0] + 1):
            if len(part):
                yield stacked(part)


def _step(X: Matrix, absent: BoolMatrix, stacks: Sequence[_Stack], point: Matrix) -> tuple[float, Matrix]:
    """Return the log-likelihood of the observed values, and the next mean and covariance of EM."""
    n, d = X.shape
    mean, covariance = point[0], point[1:]
    smallest, factor = _smallest_root(covariance)
    if smallest**2 < _SINGULAR:
        raise ProblemError.of(
            "The covariance is singular in EM: columns are linear combinations of others, or too few rows have "
            "them together. Drop such columns, let golem choose them: {DROP_DEPENDENT}, or use "
            "{missing='drop'}.",
            DROP_DEPENDENT=DROP_DEPENDENT,
        )
    inverse = np.linalg.inv(factor)
    K = inverse.T @ inverse
    Z = np.where(absent, 0.0, X - mean)
    gradient = Z @ K
    squares, spread = float(np.sum(Z * gradient)), np.zeros(d * d)
    # log|S_oo| = log|S| + log|K_mm|, row by row.
    log_det = 2 * n * float(np.log(np.diagonal(factor)).sum())
    for stack in stacks:
        where = stack.where
        block = K[where[:, :, None], where[:, None, :]]
        conditional = np.linalg.inv(block)
        columns = where[stack.pattern]
        g = gradient[stack.rows[:, None], columns]
        one = len(where) == 1
        filled = -g @ conditional[0] if one else -(conditional[stack.pattern] @ g[..., None])[..., 0]
        Z[stack.rows[:, None], columns] = filled
        cells = (where[:, :, None] * d + where[:, None, :]).ravel()
        spread += np.bincount(cells, (stack.counts[:, None, None] * conditional).ravel(), d * d)
        squares += float(np.sum(g * filled))
        roots = np.diagonal(np.linalg.cholesky(block), axis1=1, axis2=2)
        log_det += 2 * float(stack.counts @ np.log(roots).sum(axis=1))
    observed = absent.size - int(absent.sum())
    likelihood = -0.5 * (observed * float(np.log(2 * np.pi)) + log_det + squares)
    offset = Z.mean(axis=0)
    following = (Z.T @ Z + spread.reshape(d, d)) / n - np.outer(offset, offset)
    return likelihood, np.vstack([mean + offset, (following + following.T) / 2])
