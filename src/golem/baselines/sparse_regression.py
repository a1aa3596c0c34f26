"""Sparse regressions of nodes on those before them in an order, from the covariance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.regression import regressions


def require_more_rows_than_columns(moments: Moments, method: str) -> None:
    """Raise a ValueError if there are too few rows to regress a node on all others."""
    if moments.n <= moments.d + 1:
        raise ValueError(
            f"{method} regresses columns on all columns before them, and n = {moments.n} rows are too few with "
            f"d = {moments.d} columns: at least d + 2 are needed. Use more rows, fewer columns, or Golem."
        )


def regress_along(order: Sequence[int], moments: Moments, knowledge: Knowledge, *, select: bool = True) -> Matrix:
    """Return the weights, shape (d, d), of regressions of each node on the allowed nodes before it in an order.

    If `select`, an adaptive lasso selects the predictors. A required edge against the order is refused.
    """
    place = np.empty(moments.d, dtype=int)
    place[list(order)] = np.arange(moments.d)
    backward = np.argwhere(knowledge.required & (place[:, None] > place[None, :]))
    if len(backward):
        cause, effect = (moments.names[k] for k in backward[0])
        raise ValueError(
            f"The edge {cause!r} -> {effect!r} is required, but {effect!r} comes before {cause!r} in the order of this "
            "method, which knowledge cannot change. Remove the edge from the knowledge, or use another method."
        )
    R, scale = moments.standardized().covariance, np.sqrt(moments.variances)
    graph = np.zeros((moments.d, moments.d), dtype=bool)
    for j in order:
        before: Indices = np.nonzero(knowledge.allowed[:, j] & (place < place[j]))[0]
        parents = before
        if select:
            parents = before[adaptive_lasso(R, moments.n, before, j, knowledge.required[before, j])]
        graph[parents, j] = True
    return regressions(graph, R).matrix * scale / scale[:, None]


def adaptive_lasso(
    R: Matrix, n: int, predictors: Indices, target: int, required: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return a mask of the predictors of a target that the adaptive lasso (Zou 2006) with the lowest BIC selects.

    Predictors are weighted by their least squares coefficients. On the lasso path (least angle regression), we take the
    point with the smallest rss / s^2 + k log n, where s^2 is the noise variance of the full regression and k the number
    of coefficients. This needs only the correlations R. Required predictors have no penalty; the others are selected
    given them.

    Examples
    --------
    >>> R = np.array([[1, 0.5, 0.8], [0.5, 1, 0.4], [0.8, 0.4, 1]])  # given 0, 1 and 2 are uncorrelated
    >>> adaptive_lasso(R, 100, np.array([0, 1]), 2, np.array([False, False]))
    array([ True, False])
    """
    from sklearn.linear_model import lars_path_gram

    optional, given = predictors[~required], predictors[required]
    selected = required.copy()
    if not len(optional):
        return selected
    if len(given):
        R = R - R[:, given] @ np.linalg.solve(R[np.ix_(given, given)], R[given])
    gram, products = R[np.ix_(optional, optional)], R[optional, target]
    least_squares: Vector = np.linalg.solve(gram, products)
    size = np.abs(least_squares)
    gram, products = gram * np.outer(size, size), products * size
    with warnings.catch_warnings():
        # The path may end early when the last coefficients are as small as rounding errors; BIC never selects those.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, _, path = lars_path_gram(n * products, n * gram, n_samples=n, method="lasso", alpha_min=0.0)
    rss = n * (R[target, target] - 2 * products @ path + np.sum(path * (gram @ path), axis=0))
    noise_variance = n * (R[target, target] - R[optional, target] @ least_squares) / (n - len(predictors) - 1)
    counts = np.sum(np.abs(path) > np.finfo(float).eps, axis=0)
    best = int(np.argmin(rss / noise_variance + np.log(n) * counts))
    selected[~required] = path[:, best] != 0
    return selected
