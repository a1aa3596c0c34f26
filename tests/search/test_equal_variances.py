"""The order solver for equal variances, against plain loops, direct regressions and known graphs."""

import math

import numpy as np
import pytest

from golem import Golem, Knowledge
from golem.graphs.dag import is_dag
from golem.score.solution import Status
from golem.search.equal import variance_order as vo
from golem.search.equal.equal_variances import fit_equal_variances, fit_order
from golem.search.equal.variance_order import inverse_factor, precedence, t_squared, variance_order
from golem.simulate import random_dag, random_sem, random_weights, simulate


def covariance(X):
    return np.cov(X.T, bias=True)


def drawn(d, n, graph="ER2", seed=0, noise="gaussian-ev"):
    sample = simulate(d, n, graph, noise, random_state=seed)
    return covariance(sample.data), sample.sem.adjacency


def penalty(d, n):
    return np.arange(d) * (math.log(n) + 2 * math.log(d))


def naive_order(S):
    """Pivot on the smallest variance given the placed nodes, each computed by a regression from scratch."""
    order = []
    for _ in range(len(S)):
        rest = [j for j in range(len(S)) if j not in order]
        given = np.ix_(order, order)
        variances = [S[j, j] - S[j, order] @ np.linalg.solve(S[given], S[order, j]) for j in rest]
        order.append(rest[int(np.argmin(variances))])
    return order


def residual_variance(S, j, parents):
    if len(parents) == 0:
        return S[j, j]
    return S[j, j] - S[j, parents] @ np.linalg.solve(S[np.ix_(parents, parents)], S[parents, j])


def score_of(S, n, adjacency, penalty):
    """Compute the score from its definition."""
    d = len(S)
    r = sum(residual_variance(S, j, np.nonzero(adjacency[:, j])[0]) for j in range(d))
    return n * d * math.log(r / d) + sum(np.asarray(penalty)[adjacency.sum(axis=0)])


@pytest.mark.parametrize("panel", [1, 3, 16, 128])
def test_blocked_order_equals_naive_pivoting(monkeypatch, panel):
    monkeypatch.setattr(vo, "_PANEL", panel)
    monkeypatch.setattr(vo, "_SMALL", panel)
    for seed in range(4):
        S, _ = drawn(37, 200, seed=seed)
        untouched = S.copy()
        order, U = variance_order(S)
        assert order.tolist() == naive_order(S)
        np.testing.assert_allclose(U.T @ U, S[np.ix_(order, order)], rtol=1e-10, atol=1e-10)
        assert np.array_equal(U, np.triu(U))
        np.testing.assert_allclose(inverse_factor(U) @ U.T, np.eye(37), atol=1e-8)
        assert np.array_equal(S, untouched)


def test_t_statistics_equal_direct_regressions(monkeypatch):
    monkeypatch.setattr(vo, "_PANEL", 5)
    n, d = 60, 12
    X = simulate(d, n, "ER2", random_state=3).data
    X = X - X.mean(axis=0)
    order, U = variance_order(covariance(X))
    t2 = t_squared(inverse_factor(U), n)
    expected = np.zeros((d, d))
    for t in range(1, d):
        Z, y = X[:, order[:t]], X[:, order[t]]
        b, rss, *_ = np.linalg.lstsq(Z, y)
        variance = rss[0] / (n - 1 - t) * np.diagonal(np.linalg.inv(Z.T @ Z))
        expected[t, :t] = b**2 / variance
    np.testing.assert_allclose(t2, expected, rtol=1e-9)


@pytest.mark.torch
@pytest.mark.parametrize("masked", [False, True])
def test_torch_equals_numpy(masked):
    torch = pytest.importorskip("torch")
    for seed in range(5):
        S, _ = drawn(150, 600, seed=seed)
        before = None
        if masked:
            before = precedence(150, None, random_dag(150, "ER1", seed))
        order, U = variance_order(S, before)
        order_t, U_t = variance_order(torch.asarray(S), before)
        assert np.array_equal(order, order_t.numpy())
        np.testing.assert_allclose(U_t.numpy(), U, rtol=1e-9, atol=1e-11)
        fit, fit_t = (fit_equal_variances(cov, 600, penalty(150, 600)) for cov in (S, torch.asarray(S)))
        np.testing.assert_allclose(fit_t.weights, fit.weights, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("graph", ["ER1", "ER4", "SF4"])
def test_no_single_edge_improves_the_score(graph):
    d, n = 12, 150
    # Penalties a little above the screen leave many edges near the margin, where a wrong test would show.
    penalty = 6.0 * np.arange(d) + 0.1 * np.arange(d) ** 1.5
    for seed in range(30):
        S, _ = drawn(d, n, graph, seed)
        fit = fit_equal_variances(S, n, penalty)
        assert fit.status is Status.SEARCHED
        found = fit.weights != 0
        assert fit.score == pytest.approx(score_of(S, n, found, penalty), abs=1e-6)
        rank = np.argsort(fit.order)
        for i in range(d):
            for j in range(d):
                if rank[i] < rank[j]:
                    other = found.copy()
                    other[i, j] = not found[i, j]
                    assert score_of(S, n, other, penalty) > fit.score - 1e-5


def test_weights_and_variances_are_least_squares():
    d, n = 30, 500
    X = simulate(d, n, "ER4", random_state=1).data
    X = X - X.mean(axis=0)
    fit = fit_equal_variances(covariance(X), n, penalty(d, n))
    assert np.all(np.diff(np.argsort(fit.order)[np.argwhere(fit.weights)], axis=1) > 0)
    for j in range(d):
        parents = np.nonzero(fit.weights[:, j])[0]
        b = np.linalg.lstsq(X[:, parents], X[:, j])[0]
        np.testing.assert_allclose(fit.weights[parents, j], b, rtol=1e-8)
        rest = X[:, j] - X[:, parents] @ b
        assert fit.regressions.residual_variances[j] == pytest.approx(rest @ rest / n, rel=1e-8)


@pytest.mark.parametrize("graph", ["ER1", "ER2", "ER4", "SF4"])
@pytest.mark.parametrize("d", [2, 10, 40])
def test_population_covariance_is_recovered_exactly(graph, d):
    for seed in range(4):
        sem = random_sem(d, graph, random_state=seed)
        fit = fit_equal_variances(sem.covariance, 100_000, penalty(d, 100_000))
        assert np.array_equal(fit.weights != 0, sem.adjacency)
        np.testing.assert_allclose(fit.weights, sem.weights, atol=1e-6)


def test_permuting_the_columns_permutes_the_answer():
    rng = np.random.default_rng(0)
    for seed in range(6):
        S, _ = drawn(25, 300, "ER4", seed)
        p = rng.permutation(25)
        fit, permuted = (fit_equal_variances(cov, 300, penalty(25, 300)) for cov in (S, S[np.ix_(p, p)]))
        np.testing.assert_allclose(permuted.weights, fit.weights[np.ix_(p, p)], rtol=1e-8, atol=1e-11)
        assert np.array_equal(p[permuted.order], fit.order)


def test_a_common_unit_changes_nothing_but_the_variances():
    S, _ = drawn(25, 300, seed=1)
    fit, scaled = (fit_equal_variances(cov, 300, penalty(25, 300)) for cov in (S, 1e6 * S))
    np.testing.assert_allclose(scaled.weights, fit.weights, rtol=1e-9)
    np.testing.assert_allclose(scaled.regressions.residual_variances, 1e6 * fit.regressions.residual_variances)


def test_masks_are_never_violated():
    rng = np.random.default_rng(7)
    for trial in range(200):
        d = int(rng.integers(2, 14))
        S, _ = drawn(d, 80, "ER2", trial)
        required = random_dag(d, "ER1", rng) & (rng.random((d, d)) < rng.random())
        allowed = (rng.random((d, d)) < rng.random()) | required
        # A low penalty tempts the search to use every edge it may.
        fit = fit_equal_variances(S, 80, np.arange(d) * rng.choice([0.1, 5.0, 1e6]), allowed, required)
        found = fit.weights != 0
        assert not np.any(found & ~allowed)
        assert np.all(found[required])
        assert is_dag(found)


def test_tiers_order_the_nodes_and_a_forbidden_edge_alone_does_not():
    d = 6
    tier = np.array([1, 0, 2, 1, 0, 2])
    before = precedence(d, tier[:, None] <= tier[None, :], None)
    # Later tiers have the smaller variances here, so that without the mask they would come first.
    order, _ = variance_order(np.diag(10.0 - tier), before)
    assert np.all(np.diff(tier[order]) >= 0)
    allowed = np.ones((d, d), dtype=bool)
    allowed[0, 1] = False
    assert not precedence(d, allowed, None).any()


def test_a_required_edge_is_followed_against_the_data():
    S = np.array([[1.0, 2.0], [2.0, 5.0]])
    required = np.array([[False, False], [True, False]])
    fit = fit_equal_variances(S, 100, [0, 5.0], required=required)
    assert fit.order.tolist() == [1, 0]
    assert fit.weights[1, 0] == pytest.approx(0.4)


def test_growing_finds_what_the_screen_missed():
    S, _ = drawn(40, 500, "ER4", 2)
    fit = fit_equal_variances(S, 500, penalty(40, 500))
    from_nothing = fit_order(S, 500, fit.order, penalty(40, 500))
    assert np.array_equal(from_nothing.weights != 0, fit.weights != 0)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_tiny_problems(d):
    fit = fit_equal_variances(np.eye(d), 50, np.arange(d) * 4.0)
    assert not fit.weights.any()
    assert sorted(fit.order) == list(range(d))


def test_singular_covariances_are_refused():
    S, _ = drawn(20, 15)
    with pytest.raises(ValueError, match="singular"):
        fit_equal_variances(S, 15, penalty(20, 15))
    with pytest.raises(ValueError, match="singular"):
        variance_order(S)
    X = np.random.default_rng(0).standard_normal((100, 3))
    X = np.column_stack([X, X @ [1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="singular"):
        fit_equal_variances(covariance(X), 100, penalty(4, 100))
    with pytest.raises(ValueError, match="finite"):
        variance_order(np.diag([1.0, np.nan]))
    with pytest.raises(ValueError, match="positive"):
        variance_order(np.diag([1.0, 0.0]))


def test_fewer_rows_than_nodes_work_from_an_order():
    d, n = 60, 40
    sem = random_sem(d, "ER1", random_state=4)
    S = covariance(sem.sample(n, 1))
    order, _ = variance_order(S + 0.3 * np.eye(d))
    fit = fit_order(S, n, order, penalty(d, n))
    assert fit.status is Status.SEARCHED
    assert np.all(fit.regressions.residual_variances > 0)
    assert (fit.weights != 0).sum(axis=0).max() <= n // 2


def test_required_cycles_and_backward_orders_are_refused():
    cycle = np.array([[False, True], [True, False]])
    with pytest.raises(ValueError, match="cycle"):
        precedence(2, None, cycle)
    with pytest.raises(ValueError, match="allowed"):
        precedence(2, np.zeros((2, 2), dtype=bool), np.triu(cycle))
    with pytest.raises(ValueError, match="reverses a required edge"):
        fit_order(np.eye(2), 10, np.array([1, 0]), [0, 1.0], required=np.triu(cycle))


def test_a_hub_with_a_hundred_parents_is_found():
    rng = np.random.default_rng(0)
    d = 150
    adjacency = np.zeros((d, d), dtype=bool)
    adjacency[:120, 149] = True
    B = random_weights(adjacency, rng)
    n = 2000
    E = rng.standard_normal((n, d))
    S = covariance(E @ np.linalg.inv(np.eye(d) - B))
    fit = fit_equal_variances(S, n, penalty(d, n))
    assert np.array_equal(fit.weights[:, 149] != 0, adjacency[:, 149])


def test_swaps_mend_a_disturbed_order():
    S, truth = drawn(30, 2000, "ER2", 5)
    good = fit_equal_variances(S, 2000, penalty(30, 2000))
    for k in range(0, 28, 3):
        disturbed = good.order.copy()
        disturbed[[k, k + 1]] = disturbed[[k + 1, k]]
        assert np.array_equal(fit_order(S, 2000, disturbed, penalty(30, 2000)).weights != 0, truth)


@pytest.mark.parametrize("constrained", [False, True])
def test_the_step_that_a_gpu_replays_gives_the_same_order(constrained, monkeypatch):
    """Every replayed step is the same: it sees all rows of the panel, those to come as zeros."""
    d = 150
    S = covariance(simulate(d, 400, "ER4", random_state=3).data)
    before = None
    if constrained:
        rank = np.random.default_rng(0).integers(4, size=d)
        before = rank[:, None] < rank
    expected, factor = variance_order(S, before)
    taken = []

    def replay(step, device):
        return lambda: (taken.append(1), step())

    monkeypatch.setattr(vo, "_PANEL", 32)
    monkeypatch.setattr(vo, "can_replay", lambda array: True)
    monkeypatch.setattr(vo, "ReplayedStep", replay)
    order, replayed = variance_order(S, before)
    assert len(taken) == d
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_allclose(replayed, factor, atol=1e-8 * np.abs(factor).max())


def test_weights_are_least_squares_to_rounding_in_ill_conditioned_data():
    data = simulate(50, 1000, "ER4", weight_scale=1.5, random_state=0).data
    S = covariance(data)
    fit = fit_equal_variances(S, 1000, penalty(50, 1000))
    assert np.linalg.cond(S) > 1e9
    for j in range(50):
        parents = np.nonzero(fit.weights[:, j])[0]
        expected = np.linalg.lstsq(data[:, parents] - data[:, parents].mean(axis=0), data[:, j] - data[:, j].mean())[0]
        np.testing.assert_allclose(fit.weights[parents, j], expected, rtol=1e-6)


def test_under_knowledge_no_single_edge_lowers_the_score_any_more():
    d, n = 14, 300
    for seed in range(6):
        rng = np.random.default_rng(seed)
        node = rng.permutation(d)
        required = [(node[i], node[j]) for i in range(d) for j in range(i + 1, d) if rng.random() < 0.05]
        free = {(i, j) for i in range(d) for j in range(d) if i != j} - set(required)
        known = Knowledge.of(d, [edge for edge in sorted(free) if rng.random() < 0.2], required)
        model = Golem("ev", knowledge=known).fit(simulate(d, n, "ER2", random_state=seed).data)
        S, penalties = model.moments_.covariance, model.edge_penalty_.penalties(n, d)

        def score(graph, S=S, penalties=penalties):
            r = [residual_variance(S, j, np.nonzero(graph[:, j])[0]) for j in range(d)]
            return n * d * np.log(np.sum(r)) + penalties[graph.sum(axis=0)].sum()

        reached = score(model.adjacency_)
        for i, j in np.argwhere(~model.adjacency_ & ~known.forbidden & ~np.eye(d, dtype=bool)):
            more = model.adjacency_.copy()
            more[i, j] = True
            assert not is_dag(more) or score(more) > reached - 1e-6
