"""Tests of whether the mechanism of a variable, its regression on others, is the same in several environments.

The tests hold for noise of any shape. Under the hypothesis, the noise is exchangeable between environments, whose means
may differ. Both statistics are sums over rows with the variances that they have under this hypothesis:

- The scale is compared through log(1 + z^2), where z is the distance of a residual from the center of its environment,
  in robust standard deviations. This is the permutation test of these scores, with a normal approximation: the scores
  have light tails whatever those of the noise are. The center of an environment minimizes its sum of scores, so that
  errors of the center change the sum only to second order, even if the noise is skewed.
- The slopes are compared through sums of (parent x residual), divided by the root of their sum of squares. Heavy tails
  make such sums smaller, not larger. Residuals may depend on the parents, as they do in a wrong direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from golem.runtime.types import Indices, Matrix, Vector

_STEPS_OF_CENTERS = 10
_MAD_OF_NORMAL = 0.6744897501960817


class GroupedRows(NamedTuple):
    """Rows sorted by group: rows begins[k], ..., begins[k + 1] - 1 are those of group k."""

    values: Matrix
    begins: Indices

    @classmethod
    def of(cls, parts: Sequence[Matrix]) -> GroupedRows:
        """Return the rows of some groups."""
        return cls(np.concatenate(parts), np.cumsum([0, *(len(part) for part in parts)]))

    @property
    def sizes(self) -> Vector:
        """Number of rows of each group."""
        return np.diff(self.begins).astype(float)

    def sums(self, values: Matrix) -> Matrix:
        """Return the sums of some values, one per row or a vector per row, over each group."""
        return np.asarray(np.add.reduceat(values, self.begins[:-1], axis=0))

    def spread(self, values: Matrix) -> Matrix:
        """Return one value per group as one per row."""
        return np.repeat(values, np.diff(self.begins), axis=0)


def mechanism_p_values(rows: GroupedRows, groups: Sequence[int], shared: bool = False, worth: float = 1.0) -> Matrix:
    """Test whether a mechanism in single groups is the same as in all other groups taken together.

    Parameters
    ----------
    rows : Rows
        The variable in the first column, its parents in the others. Every group has two rows at least.
    groups : sequence of int
        The groups to compare with all others.
    shared : bool
        Whether the intercepts are equal under the hypothesis; then they are tested with the slopes.
    worth : float
        How many independent rows a row is worth. In a bootstrap resample this is half a row.

    Returns
    -------
    ndarray of shape (groups, 2)
        The p-values of equal slopes and equal scales; 1 where there is nothing to test.
    """
    X, y = _design(rows, shared)
    A = np.array([X[i:j].T @ X[i:j] for i, j in zip(rows.begins, rows.begins[1:], strict=False)])
    inverse = np.linalg.pinv(A.sum(axis=0), hermitian=True)
    residual = y - X @ (inverse @ (X.T @ y))
    leverage = np.einsum("kij,ji->k", A, inverse) + (not shared)
    scales = _scale_z(rows, residual, leverage)
    g = X * residual[:, None]
    u = rows.sums(g)
    W = np.array([g[i:j].T @ g[i:j] for i, j in zip(rows.begins, rows.begins[1:], strict=False)])
    found = [(_slope_p(k, A, inverse, u, W, worth), _two_sided(scales[k] * np.sqrt(worth))) for k in groups]
    return np.array(found).reshape(-1, 2)


def _design(rows: GroupedRows, shared: bool) -> tuple[Matrix, Vector]:
    """Return the parents and the variable, with columns of similar size, centred in each group or with a constant."""
    values = rows.values - rows.values.mean(axis=0)
    scale = np.abs(values).max(axis=0)  # squares of large units would overflow
    values /= np.where(scale > 0, scale, 1.0)
    if shared:
        return np.column_stack([np.ones(len(values)), values[:, 1:]]), values[:, 0]
    values = values - rows.spread(rows.sums(values) / rows.sizes[:, None])
    return values[:, 1:], values[:, 0]


def dependence_p_value(rows: Matrix, worth: float = 1.0) -> float:
    """Test whether the variable in the first column is uncorrelated with all others, in the rows of one environment."""
    X, y = _design(GroupedRows.of([rows]), shared=False)
    g = X * y[:, None]
    return _upper_tail(g.sum(axis=0), g.T @ g, worth)


def _slope_p(k: int, A: Matrix, inverse: Matrix, u: Matrix, W: Matrix, worth: float) -> float:
    """Return the p-value of equal slopes in group k and in the others.

    With the slopes of all rows, the sum over group k of (parent x residual) is a sum over all rows of g_i: (I - M)
    parent x noise in the group and -M parent x noise in the others, M = A_k A^-1. Its variance is estimated by the sum
    of g_i g_i'.
    """
    M = A[k] @ inverse
    rest = np.eye(len(M)) - M
    return _upper_tail(u[k], rest @ W[k] @ rest.T + M @ (W.sum(axis=0) - W[k]) @ M.T, worth)


def _upper_tail(u: Vector, V: Matrix, worth: float) -> float:
    """Return the p-value of worth u' V^-1 u, from chi squared; 1 if V is 0."""
    from scipy.special import chdtrc

    used = np.diagonal(V) > 0
    if not used.any():
        return 1.0
    scale = np.sqrt(np.diagonal(V)[used])
    t, R = u[used] / scale, V[np.ix_(used, used)] / np.outer(scale, scale)
    statistic = worth * float(t @ np.linalg.pinv(R, rcond=1e-8, hermitian=True) @ t)
    return float(chdtrc(len(t), statistic))


def _scale_z(rows: GroupedRows, residual: Vector, leverage: Vector) -> Vector:
    """Return how much larger the scale of the residuals is in each group than in the others, in standard errors.

    For normal noise this is as powerful as a comparison of variances with 88 % of the rows.
    """
    n = rows.sizes
    residual = residual * rows.spread(np.sqrt(n / np.maximum(n - leverage, 0.5)))
    center = np.median(residual)
    deviation = float(np.median(np.abs(residual - center))) / _MAD_OF_NORMAL or float(residual.std()) or 1.0
    z = (residual - center) / deviation
    centers = np.zeros(len(n))
    for _ in range(_STEPS_OF_CENTERS):
        weights = 1.0 / (1.0 + (z - rows.spread(centers)) ** 2)
        centers = rows.sums(weights * z) / rows.sums(weights)
    scores = np.log1p((z - rows.spread(centers)) ** 2)
    total, count = rows.sums(scores), n.sum()
    rest = count - n
    away = total / n - (total.sum() - total) / np.maximum(rest, 1.0)
    error = np.sqrt(scores.var(ddof=1) * (1 / n + 1 / np.maximum(rest, 1.0)))
    return np.where((rest > 0) & (error > 0), away / np.where(error > 0, error, 1.0), 0.0)


def _two_sided(z: float) -> float:
    """Return the p-value of a normal score."""
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(z)))
