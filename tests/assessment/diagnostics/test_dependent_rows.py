"""Dependent rows: against simulated series with known autocorrelations, and quiet on independent rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assessment.diagnostics.checked import checked_rows
from golem import DataWarning, Golem
from golem.assessment.diagnostics.dependent_rows import (
    effective_rows,
    find_dependence,
    find_dependent_rows,
    find_groups,
)
from golem.data.dependence import _ranks, dependence
from golem.data.moments import Moments
from golem.diagnostics import diagnose
from golem.output.document import Supplement, describe
from golem.output.notebook import model_html

NAMES = tuple("abcd")
# The fit warns as well, which one test below checks.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Neighbouring rows depend"),
    pytest.mark.filterwarnings("ignore:.*has equally spaced values"),
]


def series(rng, a, n, d):
    """Return independent AR(1) series with autocorrelation a."""
    X = rng.normal(size=(n, d))
    for t in range(1, n):
        X[t] = a * X[t - 1] + np.sqrt(1 - a * a) * X[t]
    return X


def checked(names, X):
    return find_dependence(names, X, Moments.from_rows(X))


def test_the_effective_number_of_rows_is_that_of_independent_rows_with_equal_precision(rng):
    n, a, pairs = 300, 0.7, 400
    X = series(rng, a, n, 2 * pairs)
    correlations = [np.corrcoef(X[:, k], X[:, k + pairs])[0, 1] for k in range(pairs)]
    found = dependence(tuple(f"x{j}" for j in range(2 * pairs)), X)
    assert found.columns == 2 * pairs
    # The variance of a correlation of n independent rows is 1 / (n - 1); that of 400 correlations is known to 7%.
    assert found.effective_rows == pytest.approx(1 / np.var(correlations), rel=0.25)
    assert found.effective_rows == pytest.approx(n * (1 - a * a) / (1 + a * a), rel=0.15)


def test_autocorrelation_and_portmanteau_test_against_their_formulas(rng):
    X = series(rng, 0.25, 200, 4)
    found = dependence(NAMES, X)
    ranks = stats.rankdata(X, axis=0) - 100.5
    r = np.array([(ranks[k:] * ranks[: 200 - k]).sum(axis=0) / (ranks**2).sum(axis=0) for k in range(11)])
    assert found.lag1 == pytest.approx(r[1][np.abs(r[1]).argmax()])
    assert found.column == NAMES[np.abs(r[1]).argmax()]
    Q = 200 * 202 * sum(r[k] ** 2 / (200 - k) for k in range(1, 11))
    assert found.p_value == pytest.approx(4 * stats.chi2.sf(Q, 10).min())


@pytest.mark.parametrize("n", [40, 300])
def test_independent_rows_raise_no_alarm(n):
    for seed in range(40):
        X = np.random.default_rng(seed).standard_t(2, size=(n, 8))  # outliers do not matter either
        X[: n // 10] *= 1 if seed % 2 else 0.999
        assert checked(tuple("abcdefgh"), X)[0].level == "ok"


def test_sorting_by_a_column_does_not_make_rows_dependent(rng):
    X = rng.normal(size=(500, 4)) @ np.triu(np.ones((4, 4)))
    X = X[np.argsort(X[:, 1])]
    assert checked(NAMES, X) == checked(NAMES, X[::-1])
    assert checked(NAMES, X)[0].level == "ok"
    # Rows in order of time stay dependent.
    time = np.column_stack([np.arange(500.0), series(rng, 0.8, 500, 3)])
    assert checked(NAMES, time)[0].level == "warning"


def test_dependence_is_the_first_finding_and_the_document_says_that_confidence_is_overstated(rng):
    X = series(rng, 0.9, 300, 4)
    X[rng.random(X.shape) < 0.05] = -999
    model = Golem().fit(X)
    found = diagnose(model, X)
    assert [finding.name for finding in found.findings[:2]] == ["dependent-rows", "odd-values"]
    document = describe(model, Supplement(diagnosis=found))
    assert document.confidence_overstated
    assert document.effective_rows == found.effective_rows < 270
    assert f"as about {found.effective_rows} independent ones" in found.findings[0].finding
    shuffled = rng.permutation(X)
    document = describe(model, Supplement(diagnosis=diagnose(model, shuffled)))
    assert (document.confidence_overstated, document.effective_rows) == (False, None)


def test_with_missing_values_all_messages_count_the_rows_in_the_same_way(rng):
    X = series(rng, 0.8, 400, 4)
    share = dependence(NAMES, X[:300]).effective_rows / 300
    X[300:, 0] = np.nan
    model = Golem(missing="em").fit(X)
    found = diagnose(model, X)
    # The harmonic mean over 3 pairs of columns with 300 rows and 3 pairs with 400 rows.
    assert model.moments_.n == round(6 / (3 / 300 + 3 / 400)) == 343
    assert found.effective_rows == round(343 * share)
    sentence = f"The 400 rows carry at most as much information as about {found.effective_rows} independent ones."
    assert sentence in found["dependent-rows"].finding
    assert found["rows"].finding == "There are 400 rows (about as precise as 343 complete ones) for 4 columns."
    assert "for 400 rows (about as precise as 343 complete ones):" in found["density"].finding
    supplement = Supplement(diagnosis=found)
    document = describe(model, supplement)
    assert document.rows == 400
    assert "343 complete rows. Checks that need rows leave out those" in document.missing["sentence"]
    assert ", from 400 rows" in model_html(model, supplement)
    dropped = Golem(missing="drop").fit(X)
    assert diagnose(dropped, X)["rows"].finding == "There are 300 rows for 4 columns."


def test_shuffling_is_not_the_remedy(rng):
    finding, _ = checked(NAMES, series(rng, 0.8, 300, 4))
    assert "the rank autocorrelation of" in finding.finding
    assert "Shuffling hides the dependence and does not repair it." in finding.remedy


def test_a_weak_dependence_is_only_noted(rng):
    finding, rows = checked(NAMES, series(rng, 0.12, 5000, 4))
    assert finding.level == "note"
    assert "too narrow" not in finding.finding
    assert rows is None
    assert checked(NAMES, rng.normal(size=(20, 4))) == (None, None)
    assert checked(("a",), rng.normal(size=(50, 1))) == (None, None)


def test_ranks_are_those_of_scipy():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 9, size=50), rng.normal(size=50)])
    np.testing.assert_array_equal(_ranks(rows), stats.rankdata(rows, axis=0))


@pytest.mark.filterwarnings("default:Neighbouring rows depend")
@pytest.mark.parametrize("kind", ["array", "frame with a category", "time and one series"])
def test_the_fit_warns_of_dependent_rows(kind):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(300, 4)), axis=0)
    table = {
        "array": X,
        "frame with a category": pd.DataFrame(X, columns=NAMES).assign(kind=rng.choice(["u", "v"], 300)),
        "time and one series": np.column_stack([np.arange(300.0), X[:, 0]]),
    }[kind]
    with pytest.warns(DataWarning, match=r"The 300 rows carry at most as much information as about \d+ independent"):
        Golem().fit(table)


@pytest.mark.filterwarnings("default:.*has equally spaced values")
@pytest.mark.parametrize("column", [np.arange(1871.0, 1971.0), 0.1 * np.arange(100)[::-1] + 7])
def test_the_fit_warns_of_row_numbers_and_time(rng, column):
    table = pd.DataFrame({"a": rng.normal(size=100), "b": rng.normal(size=100), "id": column})
    table.loc[7, "a"] = np.nan
    with pytest.warns(DataWarning, match="^'id' has equally spaced values in the order of the rows"):
        Golem(missing="drop").fit(table)


@pytest.mark.filterwarnings("error:Neighbouring rows depend", "error:.*has equally spaced values")
@pytest.mark.parametrize("n", [100, 5000])
def test_the_fit_does_not_warn_of_independent_rows(n):
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(n, 4)) @ np.triu(np.ones((4, 4)))
    Golem().fit(X)
    Golem().fit(X[np.argsort(X[:, 1])])
    # A treatment that is given in turn does not make the other columns dependent.
    Golem().fit(np.column_stack([X[:, 0], np.arange(n) % 3.0]))


def dependent(rows):
    """Return what the check of all rows finds, and their effective number."""
    numbers = checked_rows(rows, NAMES)
    return find_dependent_rows(numbers), effective_rows(numbers)


def panel(rng, people, each):
    """Return rows of people: two columns that are constant for a person, and two that vary."""
    person = np.repeat(np.arange(people), each)
    fixed = np.round(rng.normal(12, 3, size=(people, 2)), 1)[person]
    return np.column_stack([fixed, np.round(rng.normal(size=(people * each, 2)) + fixed, 1)])


def test_groups_of_rows_are_found_in_any_order(rng):
    X = panel(rng, 210, 4)
    for rows in (X, rng.permutation(X)):
        found, effective = dependent(rows)
        assert found.level == "warning"
        assert effective < 0.5 * 840
    assert effective == len(np.unique(X[:, :2], axis=0))
    assert "rows that have the same 'a' have the same 'b' far more often" in found.finding


@pytest.mark.parametrize("digits", [0, 1])
def test_rounded_columns_and_functions_of_columns_are_not_groups(rng, digits):
    for _ in range(20):
        X = np.round(rng.normal(size=(800, 4)) @ np.triu(np.ones((4, 4))), digits)
        X[:, 3] = np.round(np.exp(X[:, 0] / 3), 2)  # constant where the first column is
        assert find_groups(NAMES, X, Moments.from_rows(X)) is None


def test_few_copies_do_not_claim_that_the_other_rows_are_independent(rng):
    X = rng.normal(size=(300, 4))
    X = np.vstack([X, X[:12]])
    finding, _ = dependent(X)
    assert finding.level == "note"
    assert "The 312 rows carry at most as much information as about 300 independent ones." in finding.finding
