"""The order solver as a user meets it: exactness on small graphs, invariances, penalties, starts, interruptions."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from golem import DataWarning, Golem, Knowledge, Moments, metrics
from golem.graphs.dag import cpdag, is_dag, topological_order
from golem.score.likelihood import GaussianEV, GaussianNV
from golem.score.regression import regressions
from golem.score.sparsity import L0
from golem.search import free_order, tied_order
from golem.search.equal import equal_variances, reversal_kernels
from golem.simulate import random_sem, simulate
from golem.solvers import Order, Status


def best_of_all(dags, S, n, penalties, equal_variances):
    """Lowest score over every DAG."""
    d = len(S)
    best = np.inf
    for dag in dags:
        r = regressions(dag, S).residual_variances
        fit = n * d * np.log(r.sum()) if equal_variances else n * np.log(r).sum()
        best = min(best, fit + penalties[dag.sum(axis=0)].sum())
    return best / (2 * n)


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_minimum_over_all_dags(seed, all_dags):
    moments = Moments.from_rows(simulate(4, 100, "ER1", "gaussian-nv", random_state=seed).data)
    S, n = moments.covariance, moments.n
    for likelihood in (GaussianEV(), GaussianNV()):
        solution = Order().solve(moments, likelihood, L0("bic"))
        exact = best_of_all(all_dags(4), S, n, L0("bic").penalties(n, 4), isinstance(likelihood, GaussianEV))
        assert solution.terms["score"] >= exact - 1e-9
        if isinstance(likelihood, GaussianNV):  # EV orders greedily, which has no such promise
            assert solution.terms["score"] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("graph", ["ER1", "ER2", "SF2"])
@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_the_truth_is_found_from_its_own_covariance(graph, noise):
    sem = random_sem(12, graph, f"gaussian-{noise}", random_state=3)
    model = Golem(noise).fit(Moments.from_covariance(sem.covariance, 100_000))
    if noise == "ev":
        np.testing.assert_allclose(model.weights_, sem.weights, atol=1e-6)
    else:
        np.testing.assert_array_equal(model.cpdag_, cpdag(sem.adjacency))


def test_rescaling_the_columns_cannot_change_the_class():
    for seed in range(5):
        drawn = simulate(15, 500, "ER2", "gaussian-nv", random_state=seed)
        scale = np.exp(np.random.default_rng(seed).normal(scale=3, size=15))
        model, rescaled = Golem("nv").fit(drawn.data), Golem("nv").fit(drawn.data * scale)
        np.testing.assert_array_equal(model.cpdag_, rescaled.cpdag_)


@pytest.mark.parametrize("noise", ["nv", "ev", "auto"])
def test_rounding_cannot_change_the_graph(noise):
    """In standardized columns all variances are equal up to rounding, and many members of a class are."""
    for d in (2, 6, 15):
        for seed in range(4):
            data = simulate(d, 200, "ER1", random_state=seed).data
            data = (data - data.mean(axis=0)) / data.std(axis=0)
            rng = np.random.default_rng(seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # equal scales
                model = Golem(noise).fit(data)
                for other in (rng.permutation(data), np.asfortranarray(data), data + rng.uniform(-50, 50, d)):
                    again = Golem(noise).fit(other)
                    np.testing.assert_array_equal(again.adjacency_, model.adjacency_)
                    np.testing.assert_array_equal(again.undecided_, model.undecided_)


def test_the_same_seed_gives_the_same_answer_and_the_default_is_seeded():
    data = simulate(20, 200, "ER4", "gaussian-nv", random_state=0).data
    for seed in (None, 3):
        first, second = (Golem(random_state=seed).fit(data) for _ in range(2))
        np.testing.assert_array_equal(first.weights_, second.weights_)


def test_weights_are_least_squares_on_the_parents():
    drawn = simulate(8, 300, "ER2", random_state=1)
    model = Golem("ev").fit(drawn.data)
    X = drawn.data - drawn.data.mean(axis=0)
    for j in range(8):
        parents = np.nonzero(model.adjacency_[:, j])[0]
        expected = np.linalg.lstsq(X[:, parents], X[:, j], rcond=None)[0]
        np.testing.assert_allclose(model.weights_[parents, j], expected, atol=1e-8)


def test_higher_penalties_give_fewer_edges():
    data = simulate(30, 200, "ER2", "gaussian-nv", random_state=2).data
    penalties = (0.0005, "bic", "ebic", "mbic", 10.0)
    edges = [Golem(lambda_sparsity=penalty).fit(data).adjacency_.sum() for penalty in penalties]
    assert edges == sorted(edges, reverse=True)
    assert edges[0] > edges[-1] == 0


@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_a_hub_with_a_hundred_parents_is_found(noise):
    rng = np.random.default_rng(0)
    B = np.zeros((111, 111))
    B[:110, 110] = rng.choice([-1, 1], 110) * rng.uniform(0.5, 2, 110)
    X = rng.normal(size=(1000, 111)) @ np.linalg.inv(np.eye(111) - B)
    model = Golem(noise).fit(X)
    assert metrics.shd(B, model.weights_) <= 2


def test_a_start_may_be_an_order_a_graph_or_the_ev_order():
    drawn = simulate(20, 500, "ER2", "gaussian-nv", random_state=5)
    plain = Golem("nv").fit(drawn.data)
    order = topological_order(drawn.sem.adjacency)
    for init in (order, drawn.sem.adjacency, "ev"):
        model = Golem("nv", init=init, effort="fast").fit(drawn.data)
        assert is_dag(model.weights_)
        assert model.solution_.terms["score"] <= plain.solution_.terms["score"] + 0.05
    exact = Golem("ev", init=order).fit(simulate(20, 500, "ER2", random_state=5).data)
    assert is_dag(exact.weights_)


@pytest.mark.parametrize("noise", ["ev", "nv", "auto"])
@pytest.mark.parametrize("as_graph", [False, True])
def test_a_start_that_contradicts_the_knowledge_is_only_a_start(noise, as_graph):
    drawn = simulate(15, 500, "ER2", random_state=5)
    truth, order = drawn.sem.adjacency, topological_order(drawn.sem.adjacency)
    source, target = np.argwhere(truth)[0]
    tiers = [order[:5].tolist(), order[5:10].tolist(), order[10:].tolist()]
    known = Knowledge.of(15, required=[(source, target)], tiers=tiers)
    init = truth.T if as_graph else order[::-1]
    model = Golem(noise, init=init, knowledge=known).fit(drawn.data)
    assert model.adjacency_[source, target]
    assert not np.any(model.adjacency_ & known.forbidden)
    plain = Golem(noise, knowledge=known).fit(drawn.data)
    assert model.solution_.terms["score"] <= plain.solution_.terms["score"] + 0.05


def test_effort_buys_score():
    data = simulate(40, 200, "ER4", "gaussian-nv", random_state=3).data
    scores = [Golem(effort=effort).fit(data).solution_.terms["score"] for effort in ("fast", "default")]
    assert scores[1] <= scores[0] + 1e-9


def test_a_time_limit_returns_the_best_so_far_marked():
    data = simulate(80, 300, "ER4", "gaussian-nv", random_state=0).data
    Golem().fit(data[:, :5])  # compile outside the limit
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = Golem(effort="thorough", time_limit=0.3).fit(data)
    assert model.solution_.status is Status.TIME_LIMIT
    assert model.solution_.seconds < 10
    assert is_dag(model.weights_)
    assert model.adjacency_.any()


def test_ctrl_c_returns_the_best_so_far_marked():
    def interrupt(progress):
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt

    interrupted = []
    data = simulate(40, 300, "ER4", "gaussian-nv", random_state=0).data
    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model = Golem(effort="thorough", callback=interrupt).fit(data)
    assert model.solution_.status is Status.INTERRUPTED
    assert is_dag(model.weights_)


@pytest.mark.parametrize("noise", ["auto", "ev", "nv"])
def test_ctrl_c_in_the_last_call_keeps_the_result(noise):
    def interrupt(progress):
        raise KeyboardInterrupt

    data = simulate(5, 300, "ER1", "gaussian-nv", random_state=0).data
    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model = Golem(noise, callback=interrupt).fit(data)
    assert np.array_equal(model.adjacency_, Golem(noise).fit(data).adjacency_)


def interrupt(*_):
    raise KeyboardInterrupt


def cut_equal_variances(monkeypatch, how):
    """End what runs under equal variances between two sweeps, or by the clock."""
    if how == "sweep":
        monkeypatch.setattr(reversal_kernels, "reverse_edges", interrupt)
    else:
        monkeypatch.setattr(equal_variances, "time", SimpleNamespace(perf_counter=lambda: np.inf))
    return Status.TIME_LIMIT if how == "clock" else Status.INTERRUPTED


def test_an_interruption_before_a_search_with_a_prior_ends_the_choice_of_the_noise(monkeypatch):
    data = simulate(20, 300, "ER2", random_state=0).data
    searches = []
    search = free_order.search_with_engine
    monkeypatch.setattr(free_order, "search_with_engine", lambda *a: searches.append(1) or search(*a))
    whole = Golem().fit(data)
    all_searches = len(searches)
    monkeypatch.setattr(tied_order, "robust_variance_order", interrupt)
    searches.clear()
    with pytest.warns(ConvergenceWarning, match=Status.INTERRUPTED.value[:11]):
        model = Golem().fit(data)
    assert model.solution_.status is Status.INTERRUPTED
    assert 0 < len(searches) < all_searches
    assert is_dag(model.weights_)
    assert model.adjacency_.any()
    assert set(model.noise_choice_.scores) == set(whole.noise_choice_.scores)


@pytest.mark.parametrize("how", ["sweep", "clock"])
@pytest.mark.parametrize("noise", ["auto", "nv"])
def test_an_end_under_equal_variances_as_a_start_ends_the_fit(noise, how, monkeypatch):
    data = simulate(20, 300, "ER2", random_state=0).data
    whole = Golem(noise, init="ev").fit(data)
    assert whole.solution_.status.is_final
    assert np.array_equal(whole.start_solution_.weights, Golem("ev").fit(data).weights_)
    status = cut_equal_variances(monkeypatch, how)
    with pytest.warns(ConvergenceWarning, match="for the start"):
        model = Golem(noise, init="ev", time_limit=1000).fit(data)
    assert model.solution_.status is status
    assert model.start_solution_.status is status
    assert is_dag(model.weights_)


@pytest.mark.parametrize("how", ["sweep", "clock"])
def test_an_end_under_equal_variances_keeps_what_there_is(how, monkeypatch):
    data = simulate(20, 300, "ER2", random_state=0).data
    Golem("ev").fit(data)  # compiled before anything is cut
    status = cut_equal_variances(monkeypatch, how)
    with pytest.warns(ConvergenceWarning):
        model = Golem("ev", time_limit=1000).fit(data)
    assert model.solution_.status is status
    assert is_dag(model.weights_)
    assert model.adjacency_.any()


@pytest.mark.parametrize("noise", ["ev", "nv"])
def test_few_rows_work_with_a_warning(noise):
    drawn = simulate(60, 40, "ER1", random_state=0)
    with pytest.warns(DataWarning, match="n = 40 rows for d = 60 .* at most 19 parents"):
        model = Golem(noise).fit(drawn.data)
    assert is_dag(model.weights_)
    assert model.adjacency_.sum(axis=0).max() <= 19
