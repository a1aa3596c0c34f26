"""Missing values: a choice between refusing them, leaving their rows out, and Gaussian EM; and a record of it.

EM (Dempster, Laird and Rubin 1977; for the normal distribution Little and Rubin 2002, section 11.2) maximizes the
likelihood of the values that are there, under the assumption that whether a value is missing depends on observed
values at most (missing at random). Every row adds its conditional mean and covariance given what it has, and the
moments of the rows so completed are the next estimate.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

MissingChoice = Literal["error", "drop", "em"]
CHOICES: tuple[MissingChoice, ...] = get_args(MissingChoice)
# In units of the columns' standard deviations. The error that is left is a few times the last change. Parts and
# resamples of the rows vary by far more than the second.
_TOLERANCE, _TOLERANCE_OF_PARTS, _MOST_ITERATIONS = 1e-8, 1e-5, 5000
_SINGULAR = 1e-10
# Patterns with more rows than this are worked on one by one, others in stacks of so many numbers.
_MANY_ROWS, _STACK = 64, 1 << 21

_Matrix = NDArray[np.float64]
_Vector = NDArray[np.float64]
_Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Missing:
    """What was missing, and what was done about it.

    Parameters
    ----------
    method : {"drop", "em"}
        Rows left out, or Gaussian EM.
    rows : int
        Rows that lack a value.
    cells : int
        Values that are missing.
    rows_read : int
        All rows, complete or not.
    columns : mapping of str to int
        Missing values of the columns that have any.
    rows_used : int, optional
        The number of rows that stands for the precision of moments from EM: the harmonic mean, over pairs of columns,
        of the rows that have both.
    iterations : int
        Steps of EM.
    """

    method: str
    rows: int
    cells: int
    rows_read: int
    columns: Mapping[str, int] = field(default_factory=dict)
    rows_used: int | None = None
    iterations: int = 0

    @classmethod
    def of(cls, method: str, absent: _Mask, names: Sequence[str], **more: Any) -> Missing:
        """Count what is missing in a table."""
        counts = absent.sum(axis=0)
        columns = {name: int(count) for name, count in zip(names, counts, strict=True) if count}
        return cls(method, int(absent.any(axis=1).sum()), int(counts.sum()), len(absent), columns, **more)

    def __add__(self, other: Missing) -> Missing:
        """Record of the rows of both, where rows are left out; EM does not add up."""
        columns = {
            name: self.columns.get(name, 0) + other.columns.get(name, 0) for name in {**self.columns, **other.columns}
        }
        return Missing(
            self.method,
            self.rows + other.rows,
            self.cells + other.cells,
            self.rows_read + other.rows_read,
            columns,
        )

    @property
    def sentence(self) -> str:
        """What was done, for people."""
        if not self.cells:
            return f"No value is missing in {self.rows_read} rows."
        lack = f"{self.rows} of {self.rows_read} rows lack {self.cells} value{'s' if self.cells > 1 else ''}"
        if self.method == "drop":
            return f"{lack}; these rows were left out."
        return (
            f"{lack}; means and covariances were estimated by Gaussian EM ({self.iterations} steps), and the graph "
            f"from these, in two stages, as if from {self.rows_used} complete rows."
        )


@dataclass(frozen=True, eq=False)
class GaussianFit:
    """Maximum likelihood estimates of a normal distribution, and the likelihood on the way there.

    Parameters
    ----------
    mean, covariance : ndarray of shape (d,) and (d, d)
        The estimates.
    log_likelihoods : tuple of float
        Log-likelihood of the observed values before each step, in the units of the standardized columns.
    """

    mean: NDArray[np.float64]
    covariance: _Matrix
    log_likelihoods: tuple[float, ...]


def require_choice(missing: str) -> None:
    """Raise a ValueError for a word that is no choice."""
    if missing not in CHOICES:
        raise ValueError(f"missing must be one of {', '.join(map(repr, CHOICES))}; got {missing!r}")


def rows_in_common(absent: _Mask, names: Sequence[str]) -> int:
    """Return the number of complete rows that would fix covariances as well as these rows do, on average.

    The variance of a correlation goes with one over the number of rows that have both columns, so that this is the
    harmonic mean of these numbers over all pairs. What other columns tell about a missing value is left out: the number
    is on the low side, and penalties per edge that depend on it are on the high side.

    Raises
    ------
    ValueError
        If two columns are never observed together: no data tell how they go together.

    Examples
    --------
    >>> rows_in_common(np.array([[False, False], [False, True], [False, False]]), "ab")
    2
    """
    present = (~absent).astype(float)
    common = present.T @ present
    pairs = np.triu_indices(len(common), 1) if len(common) > 1 else np.diag_indices(1)
    never = np.argwhere(np.triu(common == 0, 1))
    if len(never):
        i, j = never[0]
        more = f" (and {len(never) - 1} other pairs)" if len(never) > 1 else ""
        raise ValueError(f"columns {names[i]!r} and {names[j]!r}{more} are never observed together; leave one out")
    return round(1 / float(np.mean(1 / common[pairs])))


def fit_gaussian(X: _Matrix, names: Sequence[str], start: tuple[_Vector, _Matrix] | None = None) -> GaussianFit:
    """Estimate mean and covariance from rows with missing values (NaN), by EM.

    With K the inverse of the covariance, the values m that a row lacks have, given those it has, the covariance
    inv(K_mm) and the mean -inv(K_mm) K_mo x_o: what is inverted is small where little is missing. Rows that lack the
    same values are worked on together.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows; NaN is missing.
    names : sequence of str
        Columns, for messages.
    start : (mean, covariance), optional
        Where to begin: estimates from all rows, where X is a part or a resample of them. Fewer digits are then asked
        for. By default the columns' own means and variances, without covariances.

    Raises
    ------
    ValueError
        If a column has no values, or the covariance is singular: columns are constant or combinations of others, or
        there are too few rows.
    """
    absent = np.isnan(X)
    n, d = X.shape
    empty = [names[int(j)] for j in np.nonzero(absent.all(axis=0))[0]]
    if empty:
        raise ValueError(
            f"columns {', '.join(map(repr, empty[:8]))} have no values at all; drop them (on the command line --drop)"
        )
    if n <= d:
        raise ValueError(f"missing='em' needs more rows than columns; got {n} rows for {d} columns")
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    flat = scale <= 1e-14 * np.abs(centre)
    if flat.any():
        constant = ", ".join(repr(names[int(j)]) for j in np.nonzero(flat)[0][:8])
        raise ValueError(f"constant columns carry no information: {constant}; drop them (on the command line --drop)")
    first, tolerance = np.vstack([np.zeros(d), np.eye(d)]), _TOLERANCE
    if start is not None:
        first, tolerance = _in_units(*start, centre, scale), _TOLERANCE_OF_PARTS
    point, likelihoods, change = _ascend((X - centre) / scale, absent, first, tolerance)
    converged = change <= tolerance
    if not converged:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"Gaussian EM stopped after {_MOST_ITERATIONS} steps, which still changed the moments by {change:.1e} "
            "standard deviations: very much is missing",
            ConvergenceWarning,
            stacklevel=5,
        )
    mean, covariance = centre + scale * point[0], point[1:] * np.outer(scale, scale)
    return GaussianFit(mean, covariance, tuple(likelihoods))


def observed_log_likelihood(X: _Matrix, mean: _Vector, covariance: _Matrix) -> float:
    """Log-likelihood of the values that rows have (NaN is missing) under a normal distribution.

    The sum over rows of log N(x_o; mean_o, covariance_oo), o what the row has; that is what EM ascends.

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


def _in_units(mean: _Vector, covariance: _Matrix, centre: _Vector, scale: _Vector) -> _Matrix:
    """Return the point, the mean above the covariance, of columns less a centre and divided by a scale."""
    return np.vstack([(mean - centre) / scale, covariance / np.outer(scale, scale)])


def _ascend(X: _Matrix, absent: _Mask, point: _Matrix, tolerance: float) -> tuple[_Matrix, list[float], float]:
    """Take steps of EM, and leaps along them, until nothing changes; return point, likelihoods and last change.

    A point is the mean above the covariance. EM moves by ever smaller steps in nearly one direction where much is
    missing. After two of them, r and r + v, a leap to p - 2 a r + a^2 v with a = -|r| / |v| goes on along them
    (SQUAREM; Varadhan and Roland 2008). It is taken back where the likelihood falls. At the iteration limit the answer
    is the point of the last likelihood, the highest: nothing is known yet about a leap from there.
    """
    stacks = list(_stacks(absent))
    likelihoods: list[float] = []
    before: _Matrix | None = None
    fallback: _Matrix | None = None
    best, change = point, np.inf
    for _ in range(_MOST_ITERATIONS):
        likelihood, following = _step(X, absent, stacks, point)
        if fallback is not None and likelihood < likelihoods[-1]:
            point, before, fallback = fallback, None, None
            continue
        best = point
        likelihoods.append(likelihood)
        change = float(np.abs(following - point).max())
        if change <= tolerance:
            return following, likelihoods, change
        leap = None if before is None else _leap(before, point, following)
        if leap is None:
            point, before, fallback = following, point, None
        else:
            point, before, fallback = leap, None, following
    return best, likelihoods, change


def _leap(first: _Matrix, second: _Matrix, third: _Matrix) -> _Matrix | None:
    """Go on along two steps, where that leads further than they did and to a covariance."""
    r, v = second - first, third - 2 * second + first
    length = -float(np.linalg.norm(r) / np.linalg.norm(v)) if v.any() else -1.0
    leap = first - 2 * length * r + length**2 * v
    return leap if length < -1 and _smallest_root(leap[1:])[0] ** 2 > _SINGULAR else None


def _smallest_root(covariance: _Matrix) -> tuple[float, _Matrix]:
    """Return the smallest number on the diagonal of the Cholesky factor, and that; 0 where there is none."""
    try:
        factor: _Matrix = np.asarray(np.linalg.cholesky(covariance), dtype=float)
    except np.linalg.LinAlgError:
        return 0.0, np.zeros_like(covariance)
    return float(np.diagonal(factor).min()), factor


@dataclass(frozen=True, eq=False)
class _Stack:
    """Patterns with equally many missing values: where these are, and which rows have which pattern."""

    where: NDArray[np.intp]
    counts: NDArray[np.intp]
    rows: NDArray[np.intp]
    pattern: NDArray[np.intp]


def _stacks(absent: _Mask) -> Iterator[_Stack]:
    """Group the incomplete rows by what they lack."""
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


def _step(X: _Matrix, absent: _Mask, stacks: Sequence[_Stack], point: _Matrix) -> tuple[float, _Matrix]:
    """One step of EM: the log-likelihood of what is observed, and the next mean and covariance."""
    n, d = X.shape
    mean, covariance = point[0], point[1:]
    smallest, factor = _smallest_root(covariance)
    if smallest**2 < _SINGULAR:
        raise ValueError(
            "the covariance is singular where values are missing: columns are combinations of others, or too few rows "
            "have them together; leave such columns out, or choose missing='drop'"
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
