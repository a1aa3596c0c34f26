"""Oracles for the order search: exact dynamic programming, invariances, masks, hubs, clocks."""

from __future__ import annotations

import time

import numpy as np
import pytest

from correlation_search import search_orders
from golem.graphs.dag import is_dag, topological_order
from golem.metrics import shd_c
from golem.score.solution import Status
from golem.score.sparsity import L0
from golem.simulate import simulate


def edge_penalty(n, d, gamma=1.0):
    return L0("ebic", gamma).penalties(n, d)


def linear_penalty(n, d):
    return L0("mbic").penalties(n, d)


def covariance(d, n=1000, graph="ER1", seed=0, **options):
    drawn = simulate(d, n, graph, "gaussian-nv", random_state=seed, **options)
    return np.cov(drawn.data.T, bias=True), drawn.sem.adjacency


def residual_variance(S, j, parents):
    """Residual variance of j on its parents, as a share of its variance."""
    index = [*parents, j]
    scale = np.sqrt(np.diagonal(S)[index])
    R = S[np.ix_(index, index)] / np.outer(scale, scale)
    return np.linalg.cholesky(R)[-1, -1] ** 2


def recomputed_score(S, n, penalty, weights, centre=0.0, spread=np.inf):
    total = 0.0
    for j in range(len(S)):
        parents = np.nonzero(weights[:, j])[0]
        r = residual_variance(S, j, parents)
        total += n * np.log(r) + penalty[len(parents)]
        if np.isfinite(spread):
            total += (np.log(r * S[j, j]) - centre) ** 2 / spread
    return total


def exact_minimum(S, n, penalty, allowed=None, required=None, centre=0.0, spread=np.inf):
    """Least score over all DAGs (Silander and Myllymäki 2006): parents by subset, then sinks by subset."""
    d = len(S)
    best = np.full((d, 1 << d), np.inf)
    for j in range(d):
        for bits in range(1 << d):
            if bits >> j & 1:
                continue
            parents = [i for i in range(d) if bits >> i & 1]
            fits = allowed is None or all(allowed[i, j] for i in parents)
            fits = fits and (required is None or all(i in parents for i in np.nonzero(required[:, j])[0]))
            if fits:
                r = residual_variance(S, j, parents)
                best[j, bits] = n * np.log(r) + penalty[len(parents)]
                if np.isfinite(spread):
                    best[j, bits] += (np.log(r * S[j, j]) - centre) ** 2 / spread
            for i in parents:
                best[j, bits] = min(best[j, bits], best[j, bits & ~(1 << i)])
    total = np.full(1 << d, np.inf)
    total[0] = 0.0
    for bits in range(1, 1 << d):
        for j in range(d):
            if bits >> j & 1:
                rest = bits & ~(1 << j)
                total[bits] = min(total[bits], total[rest] + best[j, rest])
    return total[-1]


@pytest.mark.parametrize(("graph", "d", "least_share"), [("ER1", 6, 1.0), ("ER2", 7, 0.9), ("SF2", 7, 0.9)])
def test_reaches_the_exact_minimum(graph, d, least_share):
    hits = []
    for seed in range(12):
        S, _ = covariance(d, graph=graph, seed=seed)
        penalty = edge_penalty(1000, d)
        found, exact = search_orders(S, 1000, penalty).score, exact_minimum(S, 1000, penalty)
        assert found >= exact - 1e-6
        hits.append(found < exact + 1e-6)
    assert np.mean(hits) >= least_share


def test_reaches_the_exact_minimum_with_masks_and_prior():
    rng = np.random.default_rng(0)
    hits = []
    for seed in range(8):
        S, _ = covariance(6, graph="ER2", seed=seed)
        allowed = rng.random((6, 6)) < 0.7
        required = np.zeros((6, 6), dtype=bool)
        required[tuple(rng.permutation(6)[:2])] = True
        allowed |= required
        penalty = edge_penalty(1000, 6)
        for options in ({}, {"centre": 0.5, "spread": 0.1}):
            found = search_orders(S, 1000, penalty, allowed=allowed, required=required, **options)
            exact = exact_minimum(S, 1000, penalty, allowed, required, **options)
            assert found.score >= exact - 1e-6
            assert found.score == pytest.approx(recomputed_score(S, 1000, penalty, found.weights, **options), abs=1e-6)
            hits.append(found.score < exact + 1e-6)
    assert np.mean(hits) >= 0.9


@pytest.mark.parametrize("noise_std", [None, (0.1, 10.0)])
@pytest.mark.parametrize("graph", ["ER1", "ER4", "SF4"])
def test_reported_score_is_that_of_the_weights(graph, noise_std):
    S, _ = covariance(40, graph=graph, seed=3, noise_std=noise_std)
    penalty = linear_penalty(1000, 40)
    found = search_orders(S, 1000, penalty, effort="fast")
    assert found.score == pytest.approx(recomputed_score(S, 1000, penalty, found.weights), abs=1e-2)
    rank = np.argsort(found.order)
    assert np.all(rank[np.nonzero(found.weights)[0]] < rank[np.nonzero(found.weights)[1]])


def test_weights_are_least_squares_in_the_units_of_the_data():
    S, _ = covariance(10, graph="ER2", seed=1)
    B = search_orders(S, 1000, edge_penalty(1000, 10)).weights
    residual_covariance = S @ (np.eye(10) - B)
    assert np.abs(residual_covariance[B != 0]).max() < 1e-10 * np.abs(S).max()


def test_rescaling_columns_changes_nothing():
    scale = 10.0 ** np.random.default_rng(0).integers(-3, 4, 20)
    penalty = edge_penalty(1000, 20)
    for seed in range(6):
        S, _ = covariance(20, graph="ER2", seed=seed)
        plain, rescaled = (search_orders(C, 1000, penalty) for C in (S, S * np.outer(scale, scale)))
        np.testing.assert_array_equal(plain.weights != 0, rescaled.weights != 0)
        assert plain.score == pytest.approx(rescaled.score, abs=1e-6)


def test_permuting_columns_does_not_change_the_score():
    S, _ = covariance(20, graph="ER2", seed=6)
    shuffle = np.random.default_rng(1).permutation(20)
    penalty = edge_penalty(1000, 20)
    first, second = (search_orders(C, 1000, penalty) for C in (S, S[np.ix_(shuffle, shuffle)]))
    assert first.score == pytest.approx(second.score, abs=1e-2)


def test_masks_are_obeyed():
    rng = np.random.default_rng(2)
    for seed in range(25):
        d = int(rng.integers(3, 15))
        S, _ = covariance(d, n=300, graph="ER1", seed=seed)
        hidden = rng.permutation(d)
        required = np.triu(rng.random((d, d)) < 0.15, 1)[np.ix_(hidden, hidden)]
        allowed = (rng.random((d, d)) < 0.6) | required
        found = search_orders(
            S, 300, edge_penalty(300, d), allowed=allowed, required=required, effort="fast", random_state=seed
        )
        edges = found.weights != 0
        assert is_dag(edges)
        assert not np.any(edges & ~allowed)
        assert not np.any(required & ~edges)


def test_contradicting_masks_are_refused():
    both = np.array([[0, 1], [1, 0]], dtype=bool)
    with pytest.raises(ValueError, match="cycle"):
        search_orders(np.eye(2), 100, edge_penalty(100, 2), required=both)
    with pytest.raises(ValueError, match="allowed"):
        search_orders(np.eye(2), 100, edge_penalty(100, 2), required=both, allowed=~both)


def test_a_hub_with_a_hundred_parents_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 121))
    X[:, 120] += X[:, :100] @ (rng.choice([-1, 1], 100) * rng.uniform(0.5, 2, 100))
    mixed = rng.permutation(121)
    S = np.cov(X[:, mixed].T, bias=True)
    found = search_orders(S, 1000, linear_penalty(1000, 121))
    parents = set(mixed[np.nonzero(found.weights[:, np.argmax(mixed == 120)])[0]])
    assert len(parents & set(range(100))) >= 98
    assert len(parents - set(range(100))) <= 2


def test_same_seed_same_answer():
    S, _ = covariance(30, graph="ER4", seed=0, noise_std=(0.1, 10.0))
    first, second = (search_orders(S, 1000, edge_penalty(1000, 30), random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.order, second.order)
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.perturbations == second.perturbations


@pytest.mark.parametrize("seed", range(3))
def test_more_effort_is_never_worse(seed):
    # Half of the columns are hidden, so that searches from different starts end in different graphs.
    X = simulate(60, 200, "ER2", "gaussian-nv", random_state=seed).data[:, ::2]
    S, penalty = np.cov(X.T, bias=True), edge_penalty(200, 30)
    default, thorough = (search_orders(S, 200, penalty, effort=effort) for effort in ("default", "thorough"))
    assert thorough.score <= default.score + 1e-6
    assert thorough.perturbations > default.perturbations
    assert default.score <= search_orders(S, 200, penalty, effort="fast").score + 1e-2


def test_a_parent_of_whose_variance_others_leave_little_is_found():
    # b leaves 1e-11 of its variance given a, and this little causes c.
    B = np.zeros((3, 3))
    B[0, 1], B[0, 2], B[1, 2] = 10**5.5, -(10**5.5), 1.0
    M = np.linalg.inv(np.eye(3) - B)
    S, penalty = M.T @ M, edge_penalty(1000, 3)
    found = search_orders(S, 1000, penalty, allowed=B != 0)
    np.testing.assert_array_equal(found.graph, B != 0)


def test_time_limit_returns_the_best_so_far():
    S, _ = covariance(60, graph="ER4", seed=0, noise_std=(0.1, 10.0))
    penalty = edge_penalty(1000, 60)
    began = time.perf_counter()
    found = search_orders(S, 1000, penalty, effort="thorough", time_limit=0.05)
    assert time.perf_counter() - began < 5
    assert found.status is Status.TIME_LIMIT
    assert found.score == pytest.approx(recomputed_score(S, 1000, penalty, found.weights), abs=1e-2)


def test_interruption_returns_the_best_so_far():
    S, _ = covariance(30, graph="ER4", seed=0, noise_std=(0.1, 10.0))

    def interrupt(progress):
        raise KeyboardInterrupt

    found = search_orders(S, 1000, edge_penalty(1000, 30), on_progress=interrupt)
    assert found.status is Status.INTERRUPTED
    assert is_dag(found.weights)


def test_starts_may_be_orders_or_graphs():
    S, truth = covariance(50, graph="ER2", seed=0)
    penalty = linear_penalty(1000, 50)
    scores = [
        search_orders(S, 1000, penalty, starts=starts).score
        for starts in ([truth, "r2"], [topological_order(truth), "random"], ["r2"])
    ]
    assert np.ptp(scores) < 1e-2


@pytest.mark.parametrize("n", [20, 40, 60])
def test_few_rows(n):
    S, _ = covariance(40, n=n, graph="ER1", seed=0)
    found = search_orders(S, n, edge_penalty(n, 40), effort="fast")
    assert np.all(np.isfinite(found.weights))
    assert (found.weights != 0).sum(axis=0).max() <= (n - 2) // 2


@pytest.mark.parametrize("seed", range(10))
def test_degenerate_columns(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 8))
    X[:, 3] = X[:, 0]
    X[:, 4] = X[:, 0] + X[:, 1]
    X[:, 6] = X[:, 2] - X[:, 4]
    X[:, 5] = 1.0
    S = np.cov(X.T, bias=True)
    found = search_orders(S, 200, linear_penalty(200, 8), random_state=seed)
    assert np.all(np.isfinite(found.weights))
    assert is_dag(found.weights)
    assert not found.weights[5].any()
    assert not found.weights[:, 5].any()


@pytest.mark.parametrize("d", [1, 2])
def test_tiny_problems(d):
    found = search_orders(np.eye(d), 100, edge_penalty(100, d))
    assert found.weights.shape == (d, d)
    assert not found.weights.any()


def test_recovers_the_class_of_a_sparse_graph_from_standardized_columns():
    errors = []
    for seed in range(4):
        S, truth = covariance(50, graph="ER2", seed=seed, standardize=True)
        found = search_orders(S, 1000, linear_penalty(1000, 50))
        errors.append(shd_c(truth, found.weights))
    assert np.mean(errors) <= 2.0


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_dense_ill_conditioned_search_never_leaves_its_start_for_a_worse_graph(seed):
    # Condition numbers up to 1e12 make updated inverses promise gains that fresh regressions do not confirm.
    n, d = 1000, 50
    S, truth = covariance(d, n, "ER10", seed)
    penalty = linear_penalty(n, d)
    found = search_orders(S, n, penalty, starts=(truth,), effort="fast")
    assert found.score <= recomputed_score(S, n, penalty, truth) + 1e-6
    assert found.score == pytest.approx(recomputed_score(S, n, penalty, found.weights), abs=0.1)
    assert shd_c(truth, found.weights != 0) <= 8


def test_a_start_worse_than_no_edges_is_left():
    # The parents in the first order can cost more than they explain.
    for seed in range(5):
        S = np.cov(np.random.default_rng(seed).normal(size=(10, 25)).T, bias=True)
        found = search_orders(S, 10, 11.0 * np.arange(25), effort="fast")
        assert sorted(found.order.tolist()) == list(range(25))
        assert is_dag(found.weights)
        assert found.score <= 0
