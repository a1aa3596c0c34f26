"""Regression of the columns of a node on the columns of its parents, by least squares from a covariance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from golem.runtime.types import Indices, Matrix

# Eigenvalues of the correlations of the parents below this are zero: columns that others determine.
_LEAST_EIGENVALUE = 1e-9


class BlockRegression(NamedTuple):
    """The regression of k columns on q others.

    `coefficients` and `standard_errors` have shape (q, k), the covariance of the `residual` (k, k). Where the q columns
    determine each other, the coefficients have the smallest norm, and the standard errors are NaN.
    """

    coefficients: Matrix
    standard_errors: Matrix
    residual: Matrix


def regress_block(S: Matrix, n: int, columns: Indices, parents: Indices) -> BlockRegression:
    """Regress some columns of a covariance S of n rows on others.

    Examples
    --------
    >>> S = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> regress_block(S, 100, np.array([1]), np.array([0])).coefficients
    array([[2.]])
    """
    target, cross = S[np.ix_(columns, columns)], S[np.ix_(parents, columns)]
    if not len(parents):
        return BlockRegression(cross, cross.copy(), target)
    scale = np.sqrt(np.diagonal(S)[parents])
    values, vectors = np.linalg.eigh(S[np.ix_(parents, parents)] / np.outer(scale, scale))
    kept = values > _LEAST_EIGENVALUE * values[-1]
    vectors, values = vectors[:, kept], values[kept]
    inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
    coefficients = inverse @ cross
    residual = target - cross.T @ coefficients
    freedom = n - 1 - len(parents)
    if not kept.all() or freedom < 1:
        return BlockRegression(coefficients, np.full_like(coefficients, np.nan), residual)
    spread = np.maximum(np.diagonal(residual), 0) / freedom
    return BlockRegression(coefficients, np.sqrt(np.outer(np.diagonal(inverse), spread)), residual)
