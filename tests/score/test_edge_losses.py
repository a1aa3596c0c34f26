"""The loss of score without an edge, and edges that too few rows support."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Golem, Knowledge, Moments
from golem.data.checks import DataWarning
from golem.diagnostics import drop_losses
from golem.score.likelihood import GaussianNV
from golem.score.regression import edge_losses, regressions, unsupported_edges
from golem.score.sparsity import L0
from golem.simulate import simulate

pytestmark = pytest.mark.filterwarnings("ignore::golem.data.checks.DataWarning")


def uneven(seed, d=5, n=400):
    """Return the moments of rows in which the first column has few values and the others lack some."""
    rng = np.random.default_rng(seed)
    X = simulate(d, n, "ER2", "gaussian-nv", random_state=seed).data
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(n) < 0.8, 0] = np.nan
    return Moments.from_rows(X, missing="em")


@pytest.mark.parametrize("seed", range(5))
def test_reversing_a_covered_edge_changes_neither_the_score_nor_the_support(seed):
    moments, penalty = uneven(seed), L0()
    before = np.zeros((5, 5), dtype=bool)
    for i, j in ((2, 0), (3, 0), (2, 1), (3, 1), (0, 1), (1, 4), (0, 4)):  # 0 -> 1 is covered by 2 and 3
        before[i, j] = True
    after = before.copy()
    after[0, 1], after[1, 0] = False, True
    losses, scores = [], []
    for graph, edge in ((before, (0, 1)), (after, (1, 0))):
        fit = regressions(graph, moments.covariance)
        listed = fit.edges.matrix(edge_losses(fit, moments, GaussianNV(), penalty))
        losses.append((listed[edge], listed[0, 4], listed[1, 4]))
        penalties = penalty.penalties(moments.n, 5)[fit.number_of_parents].sum()
        scores.append(2 * moments.n * GaussianNV().on_dag(fit.residual_variances) + penalties)
    np.testing.assert_allclose(*losses)
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)


def test_without_missing_values_losses_are_differences_of_scores(rng):
    moments = Moments.from_rows(rng.normal(size=(200, 1)) + rng.normal(size=(200, 3)))
    graph = np.triu(np.ones((3, 3), dtype=bool), 1)
    score = {}
    for edge in (None, (0, 1), (0, 2), (1, 2)):
        less = graph.copy()
        if edge is not None:
            less[edge] = False
        r = regressions(less, moments.covariance)
        penalties = L0().penalties(200, 3)[r.number_of_parents].sum()
        score[edge] = 2 * 200 * GaussianNV().on_dag(r.residual_variances) + penalties
    fit = regressions(graph, moments.covariance)
    listed = fit.edges.matrix(edge_losses(fit, moments, GaussianNV(), L0()))
    for edge in ((0, 1), (0, 2), (1, 2)):
        assert listed[edge] == pytest.approx(score[edge] - score[None])
    assert not len(unsupported_edges(fit, moments, GaussianNV(), L0(), None))


def test_few_values_of_one_column_do_not_become_edges():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 12))
        X[rng.random(400) < 0.85, 3] = np.nan
        found += len(Golem("nv", missing="em").fit(X).graph_)
    assert found <= 0.3 * 20


@pytest.mark.parametrize("noise", ["nv", "ev", "auto"])
def test_every_edge_of_a_result_is_supported(noise):
    for seed in range(4):
        model = Golem(noise).fit(uneven(seed, d=14))
        assert (drop_losses(model)[model.adjacency_] >= 0).all()


def test_required_edges_stay_without_support():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[rng.random(400) < 0.85, 0] = np.nan
    model = Golem("nv", missing="em", knowledge=Knowledge.named(required=[("x0", "x1")])).fit(X)
    assert model.adjacency_[0, 1]
    assert drop_losses(model)[0, 1] < 0


def test_of_unsupported_edges_with_a_common_node_the_weakest_is_named():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    moments = Moments.from_rows(X, missing="em")
    fit = regressions(np.triu(np.ones((6, 6), dtype=bool), 1), moments.covariance)
    weak = unsupported_edges(fit, moments, GaussianNV(), L0(), None)
    losses = edge_losses(fit, moments, GaussianNV(), L0())
    assert weak[0] == losses.argmin()
    ends = np.concatenate([fit.causes[weak], fit.children[weak]])
    assert len(ends) == len(np.unique(ends)) == 6


def test_a_column_with_few_values_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    X[rng.random(400) < 0.85, 3] = np.nan
    values = int((~np.isnan(X[:, 3])).sum())
    with pytest.warns(DataWarning, match=rf"fewer values than the others: 'x3' \({values} values\)"):
        model = Golem(missing="em").fit(X)
    assert model.missing_.sentence.endswith(f", but column 'x3' is worth only about {values} rows.")
    even = np.where(rng.random(X.shape) < 0.3, np.nan, rng.normal(size=X.shape))
    assert Moments.from_rows(even, missing="em").missing.scarce == {}


def test_two_columns_that_are_rarely_known_together_get_few_edges():
    """EM fits such columns perfectly by many parents if nothing limits their number."""
    edges = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 12))
        X[:, [3, 5]] = np.where(rng.random((400, 2)) < 0.85, np.nan, X[:, [3, 5]])
        edges += len(Golem("nv", missing="em").fit(X).graph_)
    assert edges <= 2
