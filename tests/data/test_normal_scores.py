"""Normal scores: against scipy's quantiles, against raw moments of normal columns, and in resamples."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

from golem import Golem, Moments
from golem.data.normal_scores import normal_scores
from golem.data.table_reading import read_table
from golem.data.variables import Coding
from golem.simulate import simulate


def scores_of(X):
    return normal_scores(X, Coding.numeric([f"x{j}" for j in range(X.shape[1])]))


def correlations(table):
    S = table.moments().covariance
    return S / np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))


def test_monotone_functions_of_columns_have_the_same_correlations():
    X = np.random.default_rng(0).laplace(size=(400, 3)) @ np.array([[1, 0.5, 0], [0, 1, 2], [0, 0, 1]])
    bent = np.column_stack([np.exp(3 * X[:, 0]), X[:, 1] ** 3, -X[:, 2]])
    found, expected = (correlations(read_table(one).with_ranks()) for one in (bent, X))
    sign = np.array([1, 1, -1])
    np.testing.assert_allclose(found, expected * np.outer(sign, sign), atol=1e-12)


def test_scores_are_quantiles_of_average_ranks_in_the_units_of_the_column():
    column = np.array([3.0, 1.0, 1.0, 8.0, 4.0, 1.0, 9.0])
    found = scores_of(column[:, None])[:, 0]
    expected = stats.norm.ppf((stats.rankdata(column) - 3 / 8) / (7 + 1 / 4))
    np.testing.assert_allclose(stats.zscore(found), stats.zscore(expected), rtol=1e-12)
    np.testing.assert_allclose([found.mean(), found.std()], [column.mean(), column.std()], rtol=1e-12)


def test_a_normal_column_keeps_all_values_that_are_not_wild():
    X = simulate(6, 2000, "ER2", random_state=1).data
    np.testing.assert_array_equal(scores_of(X), X)
    wild = X.copy()
    wild[7, 2] = 1e9
    changed = scores_of(wild) != wild
    assert np.argwhere(changed).tolist() == [[7, 2]]
    others, rest = np.delete(X, 2, axis=1), np.delete(np.arange(2000), 7)
    fitted = LinearRegression().fit(others[rest], X[rest, 2])
    assert scores_of(wild)[7, 2] == pytest.approx(fitted.predict(others[[7]])[0])


def test_auto_uses_ranks_if_values_are_related_and_ranks_are_not():
    heavy = np.random.default_rng(5).standard_t(2, (200, 30))
    assert read_table(heavy, robust="auto").is_ranked
    following = heavy.copy()
    following[:, 15:] += following[:, :15]  # extreme values follow a linear model
    assert not read_table(following, robust="auto").is_ranked


def test_scores_of_other_columns_have_the_same_mean_and_deviation_and_are_monotone():
    X = np.random.default_rng(9).exponential(size=(500, 1))
    X = X[X[:, 0] < 3]  # without wild values
    found = scores_of(X)
    np.testing.assert_allclose([found.mean(), found.std()], [X.mean(), X.std()], rtol=1e-12)
    assert (np.argsort(found[:, 0]) == np.argsort(X[:, 0])).all()
    assert stats.normaltest(found[:, 0]).pvalue > 0.5


def test_wild_values_change_neither_correlations_nor_scales():
    X = np.random.default_rng(2).normal(size=(1000, 2)) @ np.array([[1.0, 1.0], [0.0, 1.0]])
    wild = X.copy()
    wild[:5, 0], wild[5:10, 1] = 1e6, -1e6
    clean, found = (read_table(one).with_ranks().moments().covariance for one in (X, wild))
    np.testing.assert_allclose(found, clean, rtol=0.05)


def test_columns_that_do_not_vary_and_columns_with_a_frequent_value_keep_their_scale():
    spike = np.where(np.arange(100) < 80, 0.0, np.arange(100.0))
    X = np.column_stack([np.full(100, 7.0), spike])
    np.testing.assert_allclose(scores_of(X).std(axis=0), X.std(axis=0))


def test_missing_values_stay_and_em_uses_the_scores():
    X = np.random.default_rng(3).normal(size=(400, 3)) @ np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    X[:60, 1] = np.nan
    table = read_table(X, missing="em").with_ranks()
    expected = Moments.from_rows(scores_of(X), table.names, missing="em")
    assert np.isnan(scores_of(X)).sum() == 60
    np.testing.assert_allclose(table.moments().covariance, expected.covariance)
    assert table.n == expected.n
    assert table.missing == read_table(X, missing="em").missing
    dropped = read_table(X, missing="drop").with_ranks()
    np.testing.assert_allclose(dropped.moments().covariance, read_table(X[60:]).with_ranks().moments().covariance)


def test_only_the_numbers_of_a_mixed_table_change():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"a": rng.lognormal(size=90), "g": rng.choice(list("xyz"), 90)})
    raw, ranked = (one.moments() for one in (read_table(table), read_table(table).with_ranks()))
    np.testing.assert_allclose(ranked.covariance[1:, 1:], raw.covariance[1:, 1:])
    assert abs(ranked.covariance[0, 1] - raw.covariance[0, 1]) > 1e-3


def test_environments_have_scores_of_their_own():
    X = np.random.default_rng(5).normal(size=(200, 2))
    labels = np.repeat(["control", "ko"], 100)
    both = read_table(X, environments=labels, targets={"control": [], "ko": ["x1"]}).with_ranks()
    for part, rows in zip(both.parts, (X[:100], X[100:]), strict=True):
        np.testing.assert_allclose(part.moments.covariance, read_table(rows).with_ranks().moments().covariance)


@pytest.mark.parametrize("missing", ["error", "em"])
def test_resamples_have_moments_of_the_same_scores_and_raw_rows(missing):
    X = np.random.default_rng(6).lognormal(size=(80, 3))
    X[:10, 2] = np.nan if missing == "em" else X[:10, 2]
    ranked, scored = read_table(X, missing=missing).with_ranks(), read_table(scores_of(X), missing=missing)
    drawn, expected = (one.draw(np.random.default_rng(0)) for one in (ranked, scored))
    np.testing.assert_allclose(drawn.moments().covariance, expected.moments().covariance)
    assert set(drawn.values[:, 0]) <= set(X[:, 0])
    assert drawn.is_ranked
    for one, other in zip(*(table.halves(1, np.random.default_rng(1)) for table in (ranked, scored)), strict=True):
        np.testing.assert_allclose(one.moments().covariance, other.moments().covariance)
        assert one.is_ranked
        assert one.with_ranks().moments() is one.moments()
    folds = zip(*(table.folds(4, np.random.default_rng(2)) for table in (ranked, scored)), strict=True)
    model = Golem("nv", shape="off").fit(ranked).sem_
    for (train, test), (train_scores, test_scores) in folds:
        np.testing.assert_allclose(train.moments().covariance, train_scores.moments().covariance)
        np.testing.assert_allclose(test.log_likelihood(model), test_scores.log_likelihood(model))


def test_reordered_and_selected_tables_stay_ranked():
    X = np.random.default_rng(8).lognormal(size=(50, 3))
    table = read_table(X).with_ranks()
    other = table.reordered(["x2", "x0", "x1"]).selected([0, 1])
    np.testing.assert_allclose(
        other.draw(np.random.default_rng(0)).moments().covariance,
        table.draw(np.random.default_rng(0)).moments().covariance[np.ix_([2, 0], [2, 0])],
    )


def test_moments_and_shards_have_no_ranks():
    shards = [Moments.from_rows(np.random.default_rng(k).normal(size=(20, 2))) for k in range(2)]
    for given in (shards[0], shards):
        with pytest.raises(ValueError, match="needs all rows in memory"):
            read_table(given).with_ranks()
