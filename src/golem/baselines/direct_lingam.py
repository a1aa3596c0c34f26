"""DirectLiNGAM: directions from non-Gaussian noise (Shimizu et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.baselines.base import Baseline
from golem.baselines.sort_regress import regress_along, require_more_rows_than_columns
from golem.data.checks import DataWarning
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.messages import quoted, warn_user
from golem.runtime.problems import Parameter, ProblemError
from golem.runtime.types import Matrix

# The test of normality needs at least this many rows.
_FEWEST_FOR_A_TEST = 20
_LEVEL = 0.01


@dataclass(eq=False, repr=False)
class DirectLiNGAM(Baseline):
    """Learn a linear DAG with non-Gaussian noise.

    The order is built step by step. The next column is the most likely cause of all remaining ones, by the pairwise
    likelihood ratios of Hyvärinen and Smith (2013); its effect is then removed from them. Finally each column is
    regressed on those before it. Directions come from the shape of the noise, so at most one noise may be Gaussian, and
    the rows are needed. The order does not depend on the units of the columns. The edges depend on them only if there
    is a threshold.

    Parameters
    ----------
    threshold : float, optional
        By default an adaptive lasso with the lowest BIC selects the edges along the order, as in the package lingam.
        With a threshold, columns are regressed on all before them, and edges with smaller absolute weights are dropped.
    knowledge : Knowledge or NamedKnowledge, optional
        Required and forbidden edges, which also restrict the order.

    Attributes
    ----------
    weights_, adjacency_, cpdag_, sem_, moments_, knowledge_, n_features_in_, feature_names_in_
        As for `golem.Golem`. `cpdag_` is the Markov equivalence class; non-Gaussian noise decides directions beyond it.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.
    order_ : ndarray of shape (d,)
        The order of the columns, causes first.
    normality_ : ndarray of shape (d,)
        p-values of D'Agostino and Pearson's test that the noise of a column is Gaussian; NaN with fewer than 20 rows.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(5, n=500, graph="ER1", noise="exponential", random_state=1)
    >>> model = DirectLiNGAM().fit(drawn.data)
    >>> bool((model.adjacency_ == drawn.sem.adjacency).all())
    True
    """

    _needs_rows = True
    threshold: float | None = None

    def _check_parameters(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold < np.inf:
            raise ProblemError(Parameter("threshold"), f" must be at least 0 and finite; got {self.threshold}.")

    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        assert rows is not None  # `fit` refuses Moments
        require_more_rows_than_columns(moments, "DirectLiNGAM")
        self.order_ = lingam_order(rows, knowledge)
        weights = regress_along(self.order_.tolist(), moments, knowledge, select=self.threshold is None)
        if self.threshold is not None:
            weights[(np.abs(weights) < self.threshold) & ~knowledge.required] = 0.0
        self._set_weights(weights)
        self._test_normality(rows - rows @ weights)

    def _test_normality(self, noise: Matrix) -> None:
        """Warn if the noise of two or more columns may be Gaussian."""
        from scipy.stats import normaltest

        n, d = noise.shape
        enough = n >= _FEWEST_FOR_A_TEST
        self.normality_ = np.asarray(normaltest(noise).pvalue) if enough else np.full(d, np.nan)
        suspects = np.nonzero(~(self.normality_ < _LEVEL))[0]
        if len(suspects) < 2:
            return
        names = quoted([self.moments_.names[j] for j in suspects])
        found = (
            f"The noise of {len(suspects)} of {d} columns looks Gaussian (not rejected at level {_LEVEL:.0%}): {names}"
            if enough
            else f"n = {n} rows cannot show that the noise is not Gaussian"
        )
        warn_user(
            f"{found}. Directions between columns with Gaussian noise are not identified by DirectLiNGAM. Golem, FGS "
            "and PC do not need non-Gaussian noise.",
            DataWarning,
        )


def lingam_order(rows: Matrix, knowledge: Knowledge) -> NDArray[np.intp]:
    """Return the order of the columns, causes first."""
    from golem.baselines.pairwise_measure import most_exogenous

    X = np.ascontiguousarray((rows - rows.mean(axis=0)).T)
    left = np.arange(len(X))
    order = []
    while len(left) > 1:
        X /= X.std(axis=1, keepdims=True)
        R = X @ X.T / X.shape[1]
        k = most_exogenous(X, R, _candidates(left, knowledge))
        order.append(left[k])
        X -= np.outer(R[k], X[k])
        X, left = np.delete(X, k, axis=0), np.delete(left, k)
    return np.array([*order, *left], dtype=np.intp)


def _candidates(left: NDArray[np.intp], knowledge: Knowledge) -> NDArray[np.bool_]:
    """Return which of the remaining columns may come next according to the knowledge.

    Some column without a remaining cause is in a strongly connected component of the allowed edges that no edge enters.
    A candidate is in such a component and has no required cause among the remaining columns.
    """
    if knowledge.is_empty:
        return np.ones(len(left), dtype=bool)
    from scipy.sparse.csgraph import connected_components

    allowed = knowledge.allowed[np.ix_(left, left)]
    count, component = connected_components(allowed, directed=True, connection="strong")
    entered = np.zeros(count, dtype=bool)
    causes, effects = np.nonzero(allowed)
    entered[component[effects[component[causes] != component[effects]]]] = True
    caused = entered[component] | np.any(knowledge.required[np.ix_(left, left)], axis=0)
    return np.asarray(~caused, dtype=bool)
