"""Linearity and independence per edge, outlying rows, and the numbers of scatter plots."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f as f_distribution

from golem import Golem, Knowledge
from golem.diagnostics import diagnose, edge_assumptions, edge_scatters, outlying_rows
from golem.simulate import simulate

PAIR = np.array([[0, 1], [0, 0]], dtype=bool)
FORK = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)


def levels(X, *names):
    diagnosis = diagnose(Golem("nv").fit(X), X, refit=False)
    return [diagnosis[name].level for name in names]


def test_the_curvature_is_that_of_a_larger_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 2] += X[:, 0] + 0.2 * X[:, 0] ** 2 - X[:, 1]
    v = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    lines = np.column_stack([np.ones(200), X[:, :2]])
    curves = np.column_stack([lines, np.log(np.cosh(v)), np.tanh(v)])
    small, large = (np.sum((X[:, 2] - Z @ np.linalg.lstsq(Z, X[:, 2])[0]) ** 2) for Z in (curves, lines))
    F = (large - small) / 2 / (small / 195)
    edge = edge_assumptions(FORK, X)[0]
    assert edge.curvature_p == pytest.approx(f_distribution.sf(F, 2, 195))
    assert edge.curvature == pytest.approx(1 - small / 195 / (large / 197))


@pytest.mark.parametrize("noise", ["normal", "laplace", "exponential", "uniform"])
def test_linear_models_with_independent_noise_have_no_finding(noise):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1000, 1))
    X = np.column_stack([x, x + getattr(rng, noise)(size=(1000, 1))])
    assert levels(X, "linearity", "independence", "outliers") == ["ok"] * 3


@pytest.mark.parametrize(
    ("effect", "name"),
    [
        (lambda x, e: x + 0.5 * x**2 + e, "linearity"),
        (lambda x, e: np.tanh(2 * x) + 0.3 * e, "linearity"),
        (lambda x, e: x + (0.5 + np.abs(x)) * e, "independence"),
    ],
)
def test_violations_are_found_at_their_edge(effect, name):
    x, noise, other = np.random.default_rng(2).normal(size=(3, 1000))
    X = np.column_stack([x, effect(x, noise), other, other + np.random.default_rng(3).normal(size=1000)])
    model = Golem("nv").fit(X)
    found = diagnose(model, X, refit=False)[name]
    assert found.level != "ok"
    assert found.finding.startswith(("1 of 2", "In 1 of 2"))
    assert "'x0'" in found.finding
    assert found.remedy


def test_a_small_curve_in_many_rows_is_significant_but_no_finding():
    x, noise = np.random.default_rng(4).normal(size=(2, 100_000))
    X = np.column_stack([x, x + 0.03 * x**2 + noise])
    (edge,) = edge_assumptions(PAIR, X)
    assert edge.curvature_p < 1e-6
    assert levels(X, "linearity") == ["ok"]


def test_effects_do_not_depend_on_units_and_switches_have_no_curve():
    rng = np.random.default_rng(5)
    switch, noise = rng.integers(2, size=300).astype(float), rng.normal(size=300)
    (edge,) = edge_assumptions(PAIR, np.column_stack([switch, switch + noise]))
    assert (edge.curvature, edge.curvature_p) == (0.0, 1.0)
    X = np.column_stack([noise, noise + noise**2 + rng.normal(size=300)])
    (first,), (second,) = (edge_assumptions(PAIR, Y) for Y in (X, X * [1e6, 1e-6] + 3))
    assert first.curvature == pytest.approx(second.curvature)
    assert first.dependence == pytest.approx(second.dependence)


def test_nodes_without_variation_or_rows_are_left_out():
    x = np.random.default_rng(6).normal(size=100)
    assert edge_assumptions(PAIR, np.column_stack([np.ones(100), x])) == []
    assert edge_assumptions(PAIR, np.column_stack([x, 2 * x])) == []
    assert edge_assumptions(PAIR, np.column_stack([x, x**2])[:40]) == []


@pytest.mark.parametrize("noise", ["normal", "laplace", "exponential", "uniform", "gumbel"])
def test_rows_in_the_tail_of_the_noise_are_no_outliers(noise):
    found = [len(outlying_rows(getattr(np.random.default_rng(seed), noise)(size=(1000, 10)))) for seed in range(10)]
    assert sum(count > 0 for count in found) <= 1


def test_outliers_that_change_a_weight_are_a_warning():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(1000, 3))
    X[:, 1] += X[:, 0]
    outside = np.arange(5, 1000, 100)
    X[outside] += 20 * rng.choice([-1.0, 1.0], (10, 3))
    diagnosis = diagnose(Golem("nv", robust="off").fit(X), X, refit=False)
    assert diagnosis["outliers"].level == "warning"
    assert "(6, 106, " in diagnosis["outliers"].finding
    np.testing.assert_array_equal(outlying_rows(X), outside)


def test_columns_with_few_values_have_no_outliers():
    assert not len(outlying_rows(np.random.default_rng(8).integers(2, size=(500, 3)).astype(float) ** 20))
    rare = np.zeros((500, 1))
    rare[3] = 100.0
    assert not len(outlying_rows(rare))


def test_scatter_plots_show_the_partial_regression():
    drawn = simulate(5, 1000, "ER2", random_state=1)
    model = Golem("nv").fit(drawn.data)
    scatters = edge_scatters(model.weights_, model.adjacency_, drawn.data, most=10_000)
    assert len(scatters) == model.adjacency_.sum()
    for edge in scatters:
        # The line through the points is the line of the graph (Frisch, Waugh and Lovell).
        others = np.nonzero(model.adjacency_[:, edge.target])[0]
        Z = np.column_stack([np.ones(1000), drawn.data[:, others]])
        np.testing.assert_allclose(Z.T @ edge.residuals, 0, atol=1e-6 * len(Z) * np.abs(Z).max())
        np.testing.assert_allclose(edge.residuals, edge.y - edge.intercept - edge.slope * edge.x)
    few = edge_scatters(model.weights_, model.adjacency_, drawn.data)
    assert all(len(edge.x) == len(edge.y) == 300 for edge in few)


def test_curved_effects_of_whole_numbers_may_be_those_of_codes():
    rng = np.random.default_rng(2)
    ward, dose = rng.integers(4, size=400), rng.normal(size=400)
    stay = np.array([0, 4, 1, 6])[ward] + dose + np.abs(dose) + rng.normal(size=400)
    X = pd.DataFrame({"ward": ward.astype(float), "dose": dose, "stay": stay})
    knowledge = Knowledge.named(required=[("ward", "stay"), ("dose", "stay")])
    finding = diagnose(Golem("nv", knowledge=knowledge).fit(X), X, refit=False)["linearity"]
    assert finding.level == "warning"
    assert finding.remedy.startswith(
        "If 'ward' is a code of categories, use X.astype({'ward': 'category'}). Otherwise tr"
    )
    X = pd.DataFrame({"answer": ward.astype(float), "stay": 2.0 * ward + dose})
    assert diagnose(Golem("nv").fit(X), X, refit=False)["linearity"].level == "ok"
