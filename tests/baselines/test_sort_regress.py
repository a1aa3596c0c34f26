"""SortRegress and its regressions: the orders, the adaptive lasso against scikit-learn's, knowledge, bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LassoLarsIC, LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from golem import DataWarning, Knowledge, LinearSEM, Moments
from golem.baselines.sort_regress import SortRegress, adaptive_lasso
from golem.graphs.dag import cpdag
from golem.simulate import simulate


@parametrize_with_checks([SortRegress(), SortRegress("r2")])
def test_scikit_learn_rules(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        check(estimator)


@pytest.fixture(scope="module")
def drawn():
    return simulate(8, 1000, "ER2", "gaussian-ev", random_state=1)


def test_the_columns_are_sorted(drawn):
    X = drawn.data
    np.testing.assert_array_equal(SortRegress().fit(X).order_, np.argsort(X.var(axis=0)))
    r2 = [LinearRegression().fit(np.delete(X, j, 1), X[:, j]).score(np.delete(X, j, 1), X[:, j]) for j in range(8)]
    np.testing.assert_array_equal(SortRegress("r2").fit(X).order_, np.argsort(r2))


def test_a_sortable_graph_is_found():
    chain = np.diag(np.full(5, 1.5), k=1)[::-1, ::-1]
    model = SortRegress().fit(LinearSEM(chain, np.ones(6)).sample(1000, random_state=0))
    np.testing.assert_array_equal(model.order_, [5, 4, 3, 2, 1, 0])
    np.testing.assert_array_equal(model.adjacency_, chain != 0)
    np.testing.assert_array_equal(model.cpdag_, cpdag(chain))


def test_rows_and_moments_give_the_same(drawn):
    expected = SortRegress("r2").fit(drawn.data).weights_
    moments = Moments.from_rows(drawn.data)
    np.testing.assert_allclose(SortRegress("r2").fit(moments).weights_, expected, atol=1e-10)


def test_sorting_by_r2_does_not_see_units(drawn, rng):
    scale = np.exp(rng.normal(size=8))
    model, other = SortRegress("r2").fit(drawn.data), SortRegress("r2").fit(drawn.data * scale)
    np.testing.assert_array_equal(other.order_, model.order_)
    np.testing.assert_allclose(other.weights_ * scale[:, None] / scale, model.weights_, atol=1e-8)


def test_standardized_columns_have_no_variance_to_sort_by(drawn):
    X = drawn.data / drawn.data.std(axis=0)
    with pytest.warns(DataWarning, match=r"sorting by variance .* or by='r2'") as caught:
        SortRegress().fit(X)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("seed", range(8))
def test_the_adaptive_lasso_is_that_of_rows(seed):
    X = simulate(9, 150, "ER2", random_state=seed).data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    predictors, target = np.arange(8), 8
    size = np.abs(LinearRegression().fit(Z[:, predictors], Z[:, target]).coef_)
    expected = LassoLarsIC(criterion="bic").fit(Z[:, predictors] * size, Z[:, target]).coef_ != 0
    found = adaptive_lasso(np.corrcoef(X.T), 150, predictors, target, np.zeros(8, dtype=bool))
    np.testing.assert_array_equal(found, expected)


def test_required_predictors_are_partialled_out(rng):
    X = rng.normal(size=(300, 4))
    X[:, 3] += X[:, 0] + 0.5 * X[:, 1]
    X[:, 2] += X[:, 0]
    required = np.array([False, False, True])
    residuals = X - X[:, [2]] * (X.T @ X[:, 2] / (X[:, 2] @ X[:, 2]))
    found = adaptive_lasso(X.T @ X / 300, 300, np.arange(3), 3, required)
    given = adaptive_lasso(residuals.T @ residuals / 300, 300, np.arange(2), 3, required[:2])
    np.testing.assert_array_equal(found, [*given, True])


def test_knowledge_is_obeyed_where_the_order_allows_it(drawn):
    free = SortRegress().fit(drawn.data)
    i, j = np.argwhere(free.adjacency_)[0]
    k, m = next(
        (a, b)
        for a, b in np.argwhere(~free.adjacency_)
        if free.order_.tolist().index(a) < free.order_.tolist().index(b)
    )
    model = SortRegress(knowledge=Knowledge.of(8, forbidden=[(i, j)], required=[(k, m)])).fit(drawn.data)
    assert not model.adjacency_[i, j]
    assert model.weights_[k, m] != 0
    with pytest.raises(ValueError, match=f"'x{j}' -> 'x{i}' is required, but 'x{i}' comes before"):
        SortRegress(knowledge=Knowledge.of(8, required=[(j, i)])).fit(drawn.data)


def test_bad_input_is_refused(drawn):
    with pytest.raises(ValueError, match="by must be one of 'variance', 'r2'; got 'size'"):
        SortRegress("size").fit(drawn.data)
    with (
        pytest.warns(DataWarning, match="n = 5 rows for d = 8"),
        pytest.raises(ValueError, match="n = 5 rows are too few with d = 8 columns"),
    ):
        SortRegress("r2").fit(drawn.data[:5])
    X = drawn.data.copy()
    X[:, 1] = X[:, 0] - X[:, 2]
    with pytest.raises(ValueError, match="linear combination"):
        SortRegress("r2").fit(X)
