"""SortRegress: sort the columns by variance or R2, then regress (Reisach et al. 2021, 2023)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from golem.baselines.base import Baseline
from golem.data.checks import warn_of_equal_scales
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.regression import regressions

Sorting = Literal["variance", "r2"]


@dataclass(eq=False, repr=False)
class SortRegress(Baseline):
    """Order the nodes by variance or by R2, and regress each on those before it.

    This is a sanity check for simulated comparisons, without any search for causes. If it does as well as a structure
    learner, the simulation reveals the order of the causes by its scales (`by="variance"`: effects vary more than their
    causes) or by how well columns are predicted (`by="r2"`, which standardizing does not remove).

    R2 of a column is that of its regression on all others, 1 - 1 / (S_jj (S^-1)_jj). An adaptive lasso with the lowest
    BIC selects the predictors, and least squares on them gives the weights. All of this needs only the covariance.

    Parameters
    ----------
    by : {"variance", "r2"}
        Quantity to sort by, lowest first.
    knowledge : Knowledge or NamedKnowledge, optional
        Required and forbidden edges of the regressions. A required edge against the order is an error.

    Attributes
    ----------
    weights_, adjacency_, cpdag_, sem_, moments_, knowledge_, n_features_in_, feature_names_in_
        As for `golem.Golem`.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.
    order_ : ndarray of shape (d,)
        The order of the columns, causes first.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(5, n=500, graph="ER1", random_state=1)
    >>> SortRegress("variance").fit(drawn.data).order_
    array([2, 1, 0, 3, 4])
    """

    by: Sorting = "variance"

    def _check_parameters(self) -> None:
        if self.by not in get_args(Sorting):
            raise ValueError(f"by must be one of {', '.join(map(repr, get_args(Sorting)))}; got {self.by!r}.")

    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        require_more_rows_than_columns(moments, "SortRegress")
        if self.by == "variance":
            warn_of_equal_scales(moments, "sorting by variance", "by='r2'")
            key = moments.variances
        else:
            # From correlations, because S^-1 loses digits if the units differ widely.
            key = 1 - 1 / np.diagonal(np.linalg.inv(moments.standardized().covariance))
        self.order_ = np.argsort(key, kind="stable")
        self._set_weights(regress_along(self.order_.tolist(), moments, knowledge))


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
