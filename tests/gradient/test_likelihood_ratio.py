"""Edges by likelihood ratio: against all candidates, in any units, and as a threshold of Golem."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Golem, Knowledge, Moments, metrics
from golem.gradient.rounding import choose_edges, round_to_dag
from golem.graphs.dag import is_dag
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied
from golem.score.regression import regressions, residual_variances
from golem.score.sparsity import L0
from golem.simulate import simulate

LIKELIHOODS = {"ev": GaussianEV(), "nv": GaussianNV(), "auto": GaussianTied(300)}


def deviance_and_penalty(graph, moments, likelihood, penalty):
    """2 n L + penalty, by np.linalg.lstsq on a root of the covariance, for an oracle."""
    root = np.linalg.cholesky(moments.covariance).T
    r = np.array([root[:, j] @ root[:, j] for j in range(moments.d)])
    for j in range(moments.d):
        parents = np.nonzero(graph[:, j])[0]
        if len(parents):
            fit = root[:, parents] @ np.linalg.lstsq(root[:, parents], root[:, j])[0]
            r[j] = np.sum((root[:, j] - fit) ** 2)
    cost = penalty.penalties(moments.n, moments.d)
    return 2 * moments.n * float(likelihood.on_dag(r)) + sum(cost[k] for k in graph.sum(axis=0))


@pytest.fixture(scope="module")
def solved():
    drawn = simulate(8, 300, "ER2", "gaussian-nv", random_state=3)
    moments = Moments.from_rows(drawn.data)
    raw = {noise: Golem(noise, "lbfgs", lambda_sparsity=0.01).fit(moments).raw_weights_ for noise in LIKELIHOODS}
    return drawn, moments, raw


@pytest.mark.parametrize("noise", LIKELIHOODS)
@pytest.mark.parametrize("cycles", ["gentle", "paper"])
def test_the_candidates_are_those_of_all_thresholds(noise, cycles, solved):
    _, moments, raws = solved
    raw, likelihood, penalty = raws[noise], LIKELIHOODS[noise], L0()
    chosen = choose_edges(raw, moments, likelihood, penalty, cycles=cycles)
    sigma = np.sqrt(residual_variances(raw, moments.covariance))
    size = np.abs(raw) * sigma[:, None] / sigma[None, :]
    candidates = [np.zeros((8, 8), dtype=bool)]
    for threshold in np.unique(size[size > 0])[::-1]:
        graph = round_to_dag(size, threshold, cycles=cycles).weights != 0
        if not np.array_equal(graph, candidates[-1]):
            candidates.append(graph)
    scores = [deviance_and_penalty(graph, moments, likelihood, penalty) for graph in candidates]
    np.testing.assert_allclose(chosen.scores, scores, rtol=1e-9)
    best = candidates[int(np.argmin(scores))]
    assert not np.any((chosen.weights != 0) & ~best)


@pytest.mark.parametrize("noise", LIKELIHOODS)
def test_every_edge_is_worth_its_price_and_refitted(noise, solved):
    _, moments, raws = solved
    likelihood, penalty = LIKELIHOODS[noise], L0()
    chosen = choose_edges(raws[noise], moments, likelihood, penalty)
    graph = chosen.weights != 0
    assert is_dag(graph)
    np.testing.assert_allclose(chosen.weights, regressions(graph, moments.covariance).matrix, atol=1e-12)
    score = deviance_and_penalty(graph, moments, likelihood, penalty)
    assert score <= chosen.scores.min() + 1e-8
    for i, j in np.argwhere(graph):
        without = graph.copy()
        without[i, j] = False
        assert deviance_and_penalty(without, moments, likelihood, penalty) > score


@pytest.mark.parametrize("noise", ["nv", "ev"])
def test_units_do_not_matter(noise, solved, rng):
    _, moments, raws = solved
    scale = 10.0 ** rng.uniform(-3, 3, 8) if noise == "nv" else np.full(8, 37.0)
    rescaled = Moments.from_covariance(moments.covariance * np.outer(scale, scale), moments.n)
    before = choose_edges(raws[noise], moments, LIKELIHOODS[noise], L0())
    after = choose_edges(raws[noise] * scale[None, :] / scale[:, None], rescaled, LIKELIHOODS[noise], L0())
    np.testing.assert_array_equal(after.weights != 0, before.weights != 0)
    np.testing.assert_allclose(after.weights * scale[:, None] / scale[None, :], before.weights, atol=1e-8)


def test_small_effects_are_kept_where_a_fixed_threshold_drops_them():
    drawn = simulate(8, 2000, "ER1", "gaussian-ev", weight_scale=0.25, random_state=0)
    fixed, ratio = (Golem("ev", "lbfgs", threshold=threshold).fit(drawn.data) for threshold in (None, "lr"))
    truth = drawn.sem.adjacency
    assert metrics.shd(truth, ratio.weights_) == 0 < metrics.shd(truth, fixed.weights_)
    assert 0 < ratio.threshold_ < fixed.threshold_ == 0.3
    assert np.all(np.abs(ratio.raw_weights_[ratio.adjacency_]) >= ratio.threshold_)
    np.testing.assert_allclose(ratio.weights_, regressions(truth, ratio.moments_.covariance).matrix, atol=1e-12)


def test_fewer_rows_than_columns_give_a_sparse_graph():
    drawn = simulate(30, 20, "ER1", "gaussian-ev", random_state=0)
    raw = np.random.default_rng(0).normal(size=(30, 30))
    chosen = choose_edges(raw, Moments.from_rows(drawn.data), GaussianNV(), L0())
    assert np.isfinite(chosen.scores).all()
    assert (chosen.weights != 0).sum(axis=0).max() <= 6


def test_knowledge_is_obeyed(solved):
    drawn, _, _ = solved
    known = Knowledge.of(8, required=[(7, 0), (0, 3)], forbidden=[(i, 5) for i in range(8) if i != 5])
    model = Golem("nv", "lbfgs", threshold="lr", knowledge=known).fit(drawn.data)
    assert model.adjacency_[known.required].all()
    assert not np.any(model.adjacency_ & known.forbidden)
    assert is_dag(model.adjacency_)


def test_rounding_again_is_as_rounding_at_first(solved):
    drawn, _, _ = solved
    first = Golem("nv", "lbfgs", threshold="lr").fit(drawn.data)
    again = Golem("nv", "lbfgs", threshold=0.1).fit(drawn.data)
    before = again.weights_.copy()
    np.testing.assert_array_equal(again.with_threshold("lr").weights_, first.weights_)
    np.testing.assert_array_equal(first.with_threshold(0.1).weights_, before)
    np.testing.assert_array_equal(again.weights_, before)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"threshold": "lrt"}, "neither a number nor 'lr'"),
        ({"threshold": "lr", "cycles": "none"}, "acyclic"),
        ({"threshold": "lr", "solver": "order"}, "solver='order' does not use it"),
    ],
)
def test_contradictions_are_refused(settings, words, solved):
    with pytest.raises(ValueError, match=words):
        Golem(**({"solver": "lbfgs"} | settings)).fit(solved[0].data)
    if settings.get("cycles") == "none":
        with pytest.raises(ValueError, match="acyclic"):
            choose_edges(np.eye(8), solved[1], GaussianNV(), L0(), cycles="none")
