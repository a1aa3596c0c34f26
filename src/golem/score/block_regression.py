"""Regression of the columns of a node on the columns of its parents, by least squares from a covariance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from golem.data.patterns import Patterns
from golem.runtime.types import Indices, Matrix
from golem.score.incomplete import family_rows

# Eigenvalues of the correlations of the parents below this are zero: columns that others determine.
_LEAST_EIGENVALUE = 1e-9


class BlockRegression(NamedTuple):
    """The regression of k columns on q others.

    `coefficients` and `standard_errors` have shape (q, k), the covariance of the `residual` (k, k). Where the q columns
    determine each other, the coefficients have the smallest norm, and the standard errors are NaN. The same holds for a
    column that does not vary.
    """

    coefficients: Matrix
    standard_errors: Matrix
    residual: Matrix


def regress_block(
    S: Matrix, n: int, columns: Indices, parents: Indices, patterns: Patterns | None = None
) -> BlockRegression:
    """Regress some columns of a covariance S of n rows on others; `patterns` are those of rows with missing values.

    Examples
    --------
    >>> S = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> regress_block(S, 100, np.array([1]), np.array([0])).coefficients
    array([[2.]])
    """
    target, cross = S[np.ix_(columns, columns)], S[np.ix_(parents, columns)]
    if not len(parents):
        return BlockRegression(cross, cross.copy(), target)
    varies = np.diagonal(S)[parents] > 0
    if not varies.all():  # levels that do not occur in these rows
        some = regress_block(S, n, columns, parents[varies], patterns)
        coefficients, errors = np.zeros(cross.shape), np.full(cross.shape, np.nan)
        coefficients[varies], errors[varies] = some.coefficients, some.standard_errors
        return BlockRegression(coefficients, errors, some.residual)
    scale = np.sqrt(np.diagonal(S)[parents])
    values, vectors = np.linalg.eigh(S[np.ix_(parents, parents)] / np.outer(scale, scale))
    kept = values > _LEAST_EIGENVALUE * values[-1]
    vectors, values = vectors[:, kept], values[kept]
    inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
    coefficients = inverse @ cross
    residual = target - cross.T @ coefficients
    if not kept.all():
        return BlockRegression(coefficients, np.full_like(coefficients, np.nan), residual)
    rows = np.full(coefficients.shape, float(n))
    if patterns is not None:
        families = [np.append(j, parents) for j in columns]
        rows = np.column_stack([family_rows(S[np.ix_(own, own)], patterns.selected(own)).weights for own in families])
    freedom = np.where(rows - 1 - len(parents) >= 1, rows - 1 - len(parents), np.nan)
    spread = np.maximum(np.diagonal(residual), 0)
    return BlockRegression(coefficients, np.sqrt(np.outer(np.diagonal(inverse), spread) / freedom), residual)
