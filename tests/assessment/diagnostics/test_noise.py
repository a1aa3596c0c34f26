"""Tests of the noise: p-values under the null, planted departures, scipy as the oracle."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from golem import Golem, LinearSEM, Moments
from golem.diagnostics import diagnose, equal_variances_test
from golem.simulate import random_sem, simulate


def test_without_edges_it_is_scipys_bartlett_test():
    X = np.random.default_rng(0).normal(size=(40, 5)) * [1, 1, 1.2, 0.9, 1.3]
    ours = equal_variances_test(np.zeros((5, 5), dtype=bool), Moments.from_rows(X))
    theirs = stats.bartlett(*X.T)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


def p_values(noise, n, repeats, corrected=False):
    sem = random_sem(6, "ER2", noise, random_state=1)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(repeats):
        X = sem.sample(n, rng)
        kurtosis = 0.0
        if corrected:
            residuals = X - X @ sem.weights
            kurtosis = float(stats.kurtosis(residuals, axis=0).mean())
        found.append(equal_variances_test(sem.adjacency, Moments.from_rows(X), kurtosis).p_value)
    return np.array(found)


def test_p_values_are_uniform_when_variances_are_equal():
    assert stats.kstest(p_values("gaussian-ev", 40, 400), "uniform").pvalue > 0.01


def test_heavy_tails_are_corrected_for():
    plain, corrected = (p_values("exponential", 300, 200, corrected) for corrected in (False, True))
    assert (plain < 0.01).mean() > 0.2
    assert (corrected < 0.01).mean() < 0.06


@pytest.mark.parametrize("tau", [0.3, 1.0])
def test_the_factor_is_that_of_a_typical_pair(tau):
    rng = np.random.default_rng(0)
    log_variances = rng.normal(0, tau, 300)
    X = rng.normal(size=(500, 300)) * np.exp(log_variances / 2)
    found = equal_variances_test(np.zeros((300, 300), dtype=bool), Moments.from_rows(X))
    pairs = np.abs(log_variances[:, None] - log_variances)[np.triu_indices(300, 1)]
    assert np.log(found.factor) == pytest.approx(np.median(pairs), rel=0.15)
    assert found.p_value < 1e-10


def test_too_few_rows_for_the_parents_is_an_error():
    graph = np.triu(np.ones((4, 4), dtype=bool), 1)
    with pytest.raises(ValueError, match="no degrees of freedom"):
        equal_variances_test(graph, Moments.from_rows(np.random.default_rng(0).normal(size=(4, 4))))


@pytest.mark.parametrize("seed", range(4))
def test_unequal_variances_are_a_warning_where_they_were_taken_as_equal(seed):
    X = simulate(10, 500, "ER1", noise_std=(0.3, 3.0), random_state=seed).data
    finding = diagnose(Golem("ev").fit(X), X)["equal-variances"]
    assert finding.level == "warning"
    assert "noise='auto' or noise='nv'" in finding.remedy
    assert diagnose(Golem("nv").fit(X), X)["equal-variances"].level == "ok"


@pytest.mark.parametrize("noise", ["gaussian-ev", "exponential"])
def test_equal_variances_are_credible_where_they_are(noise):
    levels = []
    for seed in range(8):
        X = simulate(10, 500, "ER1", noise, random_state=seed).data
        levels.append(diagnose(Golem("ev").fit(X), X)["equal-variances"].level)
    assert levels.count("ok") >= 7


def test_a_slight_inequality_at_many_rows_is_a_note():
    variances = [1.0, 1.05, 1.0, 0.95]
    X = LinearSEM(np.zeros((4, 4)), variances).sample(50_000, random_state=0)
    assert diagnose(Golem("ev").fit(X), X)["equal-variances"].level == "note"


def test_normal_residuals_pass_and_others_are_named():
    clean = [
        diagnose(Golem().fit(X), X)["normal-residuals"].level
        for X in (simulate(8, 500, "ER1", random_state=s).data for s in range(12))
    ]
    assert clean.count("ok") >= 11
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    X[:, 2] = X[:, 1] + rng.laplace(size=500)
    finding = diagnose(Golem().fit(pd.DataFrame(X, columns=list("abcd"))), X)["normal-residuals"]
    assert finding.level == "note"
    assert "1 of 4" in finding.finding
    assert "can settle directions" in finding.remedy
    assert "ogarithm" not in finding.remedy


def test_logarithms_are_advised_where_they_mend_a_tail():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": np.exp(rng.normal(size=800)), "b": rng.exponential(size=800), "c": rng.normal(size=800)})
    remedy = diagnose(Golem().fit(table), table)["normal-residuals"].remedy
    assert "logarithms of 'a', which" in remedy
    logs = table.assign(a=np.log(table["a"]))
    assert "ogarithm" not in diagnose(Golem().fit(logs), logs)["normal-residuals"].remedy


def test_few_rows_say_nothing_of_normality():
    X = np.random.default_rng(0).normal(size=(15, 2))
    assert "needs 20 rows" in diagnose(Golem().fit(X), X)["normal-residuals"].finding


def test_codes_for_missing_values_and_other_extremes_are_a_warning():
    X = simulate(5, 500, "ER1", random_state=0).data
    assert diagnose(Golem("nv").fit(X), X)["normal-residuals"].level == "ok"
    X[:4, 2] = -999
    finding = diagnose(Golem("nv", robust="off").fit(X), X)["normal-residuals"]
    assert finding.level == "warning"
    assert "-999" in finding.finding
    assert "'x2'" in finding.finding


def test_columns_that_do_not_vary_in_the_complete_rows_give_no_verdict():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[100:, 0] = np.nan  # complete are the first 100 rows, in which the last column is constant
    X[:100, 3] = 1.0
    findings = {one.name: one for one in diagnose(Golem("ev", missing="em").fit(X), X).findings}
    assert "nan" not in str(findings["equal-variances"])
    assert "nan" not in str(findings["normal-residuals"])
    assert "1 do not vary" in str(findings["normal-residuals"])


def test_normality_does_not_depend_on_units():
    X = np.random.default_rng(0).standard_exponential(size=(400, 3))
    for unit in (1.0, 1e-100, 1e100):
        finding = {one.name: one for one in diagnose(Golem("nv").fit(X * unit), X * unit).findings}["normal-residuals"]
        assert "are not normal" in str(finding)


@pytest.mark.parametrize("reason", ["residuals depend on parents", "rows are dependent"])
@pytest.mark.filterwarnings("ignore:Neighbouring rows depend")
def test_shapes_are_not_advised_where_they_cannot_be_used(reason):
    rng = np.random.default_rng(0)
    cause, is_dependent = rng.exponential(size=800), reason == "rows are dependent"
    noise = rng.laplace(size=800) if is_dependent else (0.2 + cause) * rng.normal(size=800)
    if is_dependent:
        cause = cause + np.roll(cause, 1)
    table = pd.DataFrame({"a": cause, "b": cause + noise})
    found = diagnose(Golem("nv").fit(table), table)
    assert (found["independence"].level == "ok") == is_dependent
    assert found["normal-residuals"].level == "note"
    assert "shape" not in found["normal-residuals"].remedy
