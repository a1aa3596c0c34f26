"""Missing values: EM against closed forms and full data, dropping against dropping by hand, every kind of table."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import ConvergenceWarning

from golem import Golem, Moments
from golem.data.gaussian_em import fit_gaussian, observed_log_likelihood
from golem.data.missing import Missing, rows_in_common
from golem.output import save
from golem.simulate import simulate


@pytest.fixture
def rows(rng):
    drawn = simulate(6, 500, "ER2", "gaussian-nv", random_state=4)
    return drawn.data + rng.normal(size=6) * 10


def with_holes(rng, X, share):
    return np.where(rng.random(X.shape) < share, np.nan, X)


def test_em_equals_the_closed_form_of_a_monotone_pair(rng):
    x = rng.normal(size=400) * 3 + 50
    y = 2 * x + rng.normal(size=400)
    seen = rng.random(400) < 0.6
    y[~seen] = np.nan
    fit = fit_gaussian(np.column_stack([x, y]), "xy")
    # Anderson (1957): x from all rows, y given x from the complete ones.
    slope, level = np.polyfit(x[seen], y[seen], 1)
    noise = np.mean((y[seen] - slope * x[seen] - level) ** 2)
    variance = x.var()
    np.testing.assert_allclose(fit.mean, [x.mean(), level + slope * x.mean()], rtol=1e-6)
    expected = [[variance, slope * variance], [slope * variance, noise + slope**2 * variance]]
    np.testing.assert_allclose(fit.covariance, expected, rtol=1e-5)


def test_the_likelihood_rises_and_is_that_of_the_observed_values(rng, rows):
    from scipy.stats import multivariate_normal

    X = with_holes(rng, rows, 0.25)
    fit = fit_gaussian(X, "abcdef")
    assert len(fit.log_likelihoods) > 5
    assert np.diff(fit.log_likelihoods).min() > -1e-8 * abs(fit.log_likelihoods[-1])
    scale = np.nanstd(X, axis=0)  # the likelihoods are those of standardized columns
    direct = 0.0
    for row in X:
        seen = ~np.isnan(row)
        if seen.any():
            S = fit.covariance[np.ix_(seen, seen)]
            direct += multivariate_normal(fit.mean[seen], S).logpdf(row[seen]) + np.log(scale[seen]).sum()
    assert fit.log_likelihoods[-1] == pytest.approx(direct, rel=1e-6)
    # A maximum: no direction goes up.
    standardized = (X - fit.mean) / np.sqrt(np.diagonal(fit.covariance))
    again = fit_gaussian(standardized, "abcdef")
    np.testing.assert_allclose(again.mean, 0, atol=1e-5)
    np.testing.assert_allclose(np.diagonal(again.covariance), 1, atol=1e-5)


@pytest.mark.parametrize("most", [*range(1, 25), 5000])
def test_wherever_em_stops_the_answer_has_the_highest_likelihood(rng, rows, monkeypatch, most):
    monkeypatch.setattr("golem.data.gaussian_em._MOST_ITERATIONS", most)
    X = with_holes(rng, rows, 0.4)[:300]
    with contextlib.nullcontext() if most == 5000 else pytest.warns(ConvergenceWarning, match="EM stopped"):
        fit = fit_gaussian(X, "abcdef")
    standardized = float((~np.isnan(X)).sum(axis=0) @ np.log(np.nanstd(X, axis=0)))
    found = observed_log_likelihood(X, fit.mean, fit.covariance) + standardized
    assert found == pytest.approx(fit.log_likelihoods[-1], rel=1e-12)
    assert found == pytest.approx(max(fit.log_likelihoods), rel=1e-12)


def test_a_start_near_the_end_saves_steps_and_changes_next_to_nothing(rng, rows):
    X = with_holes(rng, rows, 0.25)
    whole = fit_gaussian(X, "abcdef")
    part = X[rng.permutation(500)[:300]]
    cold, warm = fit_gaussian(part, "abcdef"), fit_gaussian(part, "abcdef", (whole.mean, whole.covariance))
    assert len(warm.log_likelihoods) < len(cold.log_likelihoods)
    deviation = np.sqrt(np.diagonal(cold.covariance))
    np.testing.assert_allclose(warm.mean / deviation, cold.mean / deviation, atol=1e-4)
    np.testing.assert_allclose(
        warm.covariance / np.outer(deviation, deviation), cold.covariance / np.outer(deviation, deviation), atol=1e-4
    )


def test_the_observed_likelihood_is_the_sum_over_rows(rng, rows):
    from scipy.stats import multivariate_normal

    X = with_holes(rng, rows, 0.25) * 1e3
    X[3] = np.nan  # a row without any value adds nothing
    mean, covariance = np.full(6, 2e3), np.cov((rows * 1e3).T)
    direct = 0.0
    for row in X:
        seen = ~np.isnan(row)
        if seen.any():
            direct += multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).logpdf(row[seen])
    assert observed_log_likelihood(X, mean, covariance) == pytest.approx(direct)


def test_em_equals_a_plain_reference(rng, rows):
    X = with_holes(rng, rows, 0.15)[:80]
    mean, S = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(200):
        filled, spread = X.copy(), np.zeros((6, 6))
        for row in filled:
            m = np.isnan(row)
            if m.any():
                o = ~m
                gain = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
                row[m] = mean[m] + gain @ (row[o] - mean[o])
                spread[np.ix_(m, m)] += S[np.ix_(m, m)] - gain @ S[np.ix_(o, m)]
        mean = filled.mean(axis=0)
        S = (filled - mean).T @ (filled - mean) / len(X) + spread / len(X)
    fit = fit_gaussian(X, "abcdef")
    np.testing.assert_allclose(fit.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(fit.covariance, S, rtol=1e-5, atol=1e-5 * np.abs(S).max())


def test_em_approaches_the_moments_of_full_data_as_less_is_missing(rows):
    full = Moments.from_rows(rows)
    scale = np.sqrt(np.outer(full.variances, full.variances))
    errors = []
    for share in (0.4, 0.1, 0.02, 0.002):
        distances = [
            np.abs(
                Moments.from_rows(with_holes(np.random.default_rng(seed), rows, share), missing="em").covariance
                - full.covariance
            )
            / scale
            for seed in range(5)
        ]
        errors.append(np.mean(distances))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 5
    assert errors[-1] < 3e-3
    whole = Moments.from_rows(rows, missing="em")
    np.testing.assert_array_equal(whole.scatter, full.scatter)
    assert whole.missing.sentence == "No values are missing in 500 rows."


def test_em_uses_what_dropping_loses(rng):
    drawn = simulate(8, 2000, "ER1", random_state=1)
    X = with_holes(rng, drawn.data, 0.1)
    truth = drawn.sem.covariance
    errors = {
        missing: np.abs(Moments.from_rows(X, missing=missing).covariance - truth).mean() for missing in ("em", "drop")
    }
    assert errors["em"] < errors["drop"]


def test_the_number_of_rows_is_the_harmonic_mean_over_pairs(rng):
    absent = rng.random((200, 3)) < 0.3
    counts = [np.sum(~absent[:, i] & ~absent[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert rows_in_common(absent, "abc") == round(3 / sum(1 / count for count in counts))
    absent[:, 0] = ~absent[:, 1]
    with pytest.raises(ValueError, match=r"'a' and 'b' are never observed together.*columns=\['b'\]\)\.$"):
        rows_in_common(absent, "abc")


def test_dropping_the_named_columns_leaves_no_pair_that_is_never_observed(rng):
    # Columns of two surveys without a common person, and two columns that both have.
    absent = np.zeros((100, 7), dtype=bool)
    absent[:50, :2] = absent[50:, 2:5] = True
    with pytest.raises(ValueError, match=r"'a' and 'c' \(and 5 other pairs\) .*columns=\['a', 'b'\]\)\.$"):
        Moments.from_rows(np.where(absent, np.nan, rng.normal(size=absent.shape)), list("abcdefg"), missing="em")
    assert rows_in_common(absent[:, 2:], "cdefg") == round(10 / (9 / 50 + 1 / 100))


def test_em_reports_its_steps_and_stops_when_it_stalls(rng, rows, monkeypatch):
    X = with_holes(rng, rows, 0.3)
    seen = []
    whole = Moments.from_rows(X, missing="em", progress=lambda *step: seen.append(step))
    assert [step for step, _ in seen] == list(range(len(seen)))
    # With an impossible tolerance it would go on; the likelihood then no longer grows.
    monkeypatch.setattr("golem.data.gaussian_em._TOLERANCE", 0.0)
    with pytest.warns(ConvergenceWarning, match="Gaussian EM stalled: its last 100 steps improved"):
        stalled = Moments.from_rows(X, missing="em")
    assert stalled.missing.iterations < 400
    np.testing.assert_allclose(stalled.covariance, whole.covariance, rtol=1e-6)


def test_dropping_equals_dropping_by_hand(rng, rows):
    X = with_holes(rng, rows, 0.05)
    complete = ~np.isnan(X).any(axis=1)
    dropped, by_hand = Moments.from_rows(X, missing="drop"), Moments.from_rows(X[complete])
    assert dropped.n == by_hand.n == complete.sum()
    np.testing.assert_array_equal(dropped.scatter, by_hand.scatter)
    assert dropped.missing.rows == (~complete).sum()
    assert dropped.missing.cells == np.isnan(X).sum()
    assert dropped.missing.columns == {f"x{j}": k for j, k in enumerate(np.isnan(X).sum(axis=0)) if k}
    assert "were dropped" in dropped.missing.sentence
    batches = [Moments.from_columns(list(part.T), by_hand.names, missing="drop") for part in np.array_split(X, 7)]
    total = sum(batches[1:], batches[0])
    assert total.missing == Missing("drop", dropped.missing.rows, dropped.missing.cells, 500, dropped.missing.columns)
    np.testing.assert_allclose(total.covariance, by_hand.covariance)


def test_a_batch_without_a_complete_row_counts_but_adds_nothing(rows):
    nothing = Moments.from_columns(list(np.full((3, 6), np.nan).T), tuple("abcdef"), missing="drop")
    some = Moments.from_columns(list(rows.T), tuple("abcdef"), missing="drop")
    for total in (nothing + some, some + nothing):
        np.testing.assert_array_equal(total.scatter, some.scatter)
        assert total.missing.rows == 3
        assert total.missing.rows_read == 503
    assert (nothing + nothing).n == 0


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_every_kind_of_table_has_its_own_nothing(missing, rows):
    X = np.round(rows, 3)
    X[3, 1] = X[7, 2] = X[7, 1] = np.nan
    names = list("abcdef")
    columns = {name: [None if v != v else v for v in column] for name, column in zip(names, X.T, strict=True)}
    expected = Golem(missing=missing).fit(X)
    tables = [
        pd.DataFrame(X, columns=names),
        pd.DataFrame({name: pd.array(column, dtype="Float64") for name, column in columns.items()}),
        pl.DataFrame(columns),
        pa.table(columns),
    ]
    for table in tables:
        model = Golem(missing=missing).fit(table)
        assert model.missing_.cells == 3
        assert model.missing_.rows == 2
        assert model.missing_.columns == {"b": 2, "c": 1}
        np.testing.assert_allclose(model.weights_, expected.weights_)
        with pytest.raises(
            ValueError, match=r"'b' \(2 values\), 'c' \(1 value\)\. The first is in row 4\. .*missing='drop'"
        ):
            Golem().fit(table)


def test_what_was_done_is_in_the_result(rng, rows, tmp_path):
    X = with_holes(rng, rows, 0.1)
    model = Golem(missing="em").fit(X)
    assert model.moments_.n == model.missing_.rows_used < 500
    save(model, tmp_path)
    content = json.loads((tmp_path / "graph.json").read_text())
    assert content["settings"]["missing"] == "em"
    assert content["missing"]["method"] == "em"
    assert content["missing"]["cells"] == np.isnan(X).sum()
    assert content["missing"]["rows"] == np.isnan(X).any(axis=1).sum()
    assert "is about as precise as" in content["missing"]["sentence"]
    assert Golem().fit(rows).missing_ is None


@pytest.mark.parametrize(
    ("change", "missing", "message"),
    [
        ({"missing": "mean"}, None, "missing must be one of 'error', 'drop', 'em'; got 'mean'"),
        ({}, (slice(None), 0), "Column 'x0' has no values"),
        (
            {},
            (slice(0, 496), 0),
            r"Constant columns: 'x1', .* No row of 500 is complete\. Impute the missing values first",
        ),
        (
            {"missing": "drop"},
            (slice(None, 499), 0),
            r"got 1 row \(n_samples = 1\) after dropping 499 rows with missing values",
        ),
    ],
)
def test_hopeless_tables_are_refused(change, missing, message, rows):
    if missing is not None:
        rows[missing] = np.nan
    if missing == (slice(0, 496), 0):
        rows[1:500, 1:] = np.nan  # four rows of the first column, none of them with another
    with pytest.raises(ValueError, match=message):
        Golem(**({"missing": "em"} | change)).fit(rows)


def test_infinite_and_collinear_values_are_no_missing_ones(rng, rows):
    X = with_holes(rng, rows, 0.05)
    copy = np.column_stack([X, 2 * rows[:, 0] - rows[:, 1]])
    with pytest.raises(
        ValueError, match=r"'x6' is a linear combination of 'x0', 'x1'\.* .*np\.delete\(X, \[6\], axis=1\)\)"
    ):
        Golem(missing="em").fit(copy)
    copy[::3, 2] = copy[1::3, 3] = copy[2::3, 4] = np.nan  # no complete row to find it in
    with pytest.raises(ValueError, match="covariance is singular"):
        Golem(missing="em").fit(copy)
    with pytest.raises(ValueError, match="needs more rows than columns"):
        Golem(missing="em").fit(X[:5])
    constant = X.copy()
    constant[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 7.0)
    with pytest.raises(ValueError, match="Column 'x2' is constant"):
        Golem(missing="em").fit(constant)
    X[0, 0] = np.inf
    for missing in ("drop", "em"):
        with pytest.raises(ValueError, match="Infinite values"):
            Golem(missing=missing).fit(X)


def test_moments_keep_their_record():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[0, 0] = np.nan
    moments = Moments.from_rows(X, missing="drop")
    for same in (moments.standardized(), moments.reordered(("x2", "x0", "x1"))):
        assert same.missing == moments.missing


def test_booleans_and_whole_numbers_may_be_missing():
    given = {"a": [1, None, 3, 4], "b": [True, None, False, True]}
    nullable = pd.DataFrame({"a": pd.array(given["a"], dtype="Int64"), "b": pd.array(given["b"], dtype="boolean")})
    objects = pd.DataFrame({"a": [1, pd.NA, 3, 4], "b": given["b"]}, dtype=object)
    for table in (nullable, objects, pl.DataFrame(given), pa.table(given)):
        moments = Moments.from_table(table, missing="drop")
        assert moments.n == 3
        np.testing.assert_allclose(moments.mean, [8 / 3, 2 / 3])
