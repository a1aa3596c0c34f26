"""SortRegress: sort the columns by variance or R2, then regress (Reisach et al. 2021, 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from golem.baselines.base import Baseline
from golem.baselines.sparse_regression import regress_along, require_more_rows_than_columns
from golem.data.checks import warn_of_equal_scales
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.types import Matrix

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
