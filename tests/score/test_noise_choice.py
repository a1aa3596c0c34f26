"""noise="auto": the marginal likelihood, its estimates, the choice between equal, tied and free variances, few rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.exceptions import ConvergenceWarning

from golem import DataWarning, Golem, Knowledge, Moments, metrics
from golem.graphs.dag import cpdag, is_dag
from golem.score.gaussian_columns import GaussianColumns
from golem.score.likelihood import GaussianNV, GaussianTied
from golem.score.noise_choice import NoiseScores
from golem.score.regression import regressions, residual_variances
from golem.score.sparsity import L0
from golem.search.exact_order import ExactOrders
from golem.search.free_order import Prior, find_order
from golem.search.order_problem import OrderProblem
from golem.simulate import simulate
from golem.solvers import Order, Status


def marginal_deviance(r, n, mu, tau):
    """-2 log of the likelihood of a node, its log variance t integrated over N(mu, tau^2), by quadrature."""
    peak = np.log(r)

    def integrand(t):
        excess = n / 2 * (t + r * np.exp(-t) - peak - 1)
        return np.exp(-excess - (t - mu) ** 2 / (2 * tau**2)) / (tau * np.sqrt(2 * np.pi))

    inside = np.clip(peak, mu - 5 * tau, mu + 5 * tau)
    area, _ = quad(integrand, inside - 2, inside + 2, points=[inside], limit=400, epsabs=0, epsrel=1e-9)
    return -2 * np.log(area) + n * (peak + 1)


def test_the_node_cost_is_the_integral_over_the_variance():
    # Up to a constant in n alone, so differences are compared: between residual variances and between priors.
    n = 5000
    cases = [(r, mu, tau) for r in (0.5, 1.0, 1.6) for mu in (-0.3, 0.4) for tau in (0.2, 0.6, 1.5)]
    exact = np.array([marginal_deviance(r, n, mu, tau) for r, mu, tau in cases])
    ours = np.array([2 * n * float(GaussianTied(n, tau, mu).on_dag(np.array([r]))) for r, mu, tau in cases])
    np.testing.assert_allclose(ours - ours[0], exact - exact[0], atol=0.03)


def test_the_ends_of_the_scale_are_nv_and_near_ev():
    rng = np.random.default_rng(0)
    r, other = np.exp(rng.normal(size=(2, 7)))
    n = 1000
    wide = GaussianTied(n, tau=1e4)
    nv = GaussianNV()
    assert wide.on_dag(r) - wide.on_dag(other) == pytest.approx(nv.on_dag(r) - nv.on_dag(other), abs=1e-9)
    # With variances alike to first order, n/2 (l - mu)^2 is what likelihood-EV charges for their differences.
    nearly = np.exp(0.01 * rng.normal(size=7))
    free, tied = nv.on_dag(nearly), GaussianTied(n, tau=0.0).on_dag(nearly) - 7 * np.log(2 / n) / (2 * n)
    equal = 7 / 2 * np.log(nearly.mean())
    assert tied - free == pytest.approx(equal - free, rel=0.02)


def test_mu_and_tau_are_where_the_value_is_lowest():
    r = np.exp(np.random.default_rng(1).normal(0.5, 0.7, size=9))
    estimated = GaussianTied(400)
    mu, v = estimated.prior(r)
    tau = np.sqrt(v - 2 / 400)
    lowest = estimated.on_dag(r)
    assert GaussianTied(400, tau, mu).on_dag(r) == pytest.approx(lowest)
    for other_tau, other_mu in ((tau * 1.1, mu), (tau * 0.9, mu), (tau, mu + 0.05), (tau, mu - 0.05)):
        assert GaussianTied(400, other_tau, other_mu).on_dag(r) > lowest


def test_noise_variances_are_drawn_towards_their_mean():
    r = np.array([1.0, 2.0, 4.0])
    variances = GaussianTied(20, tau=0.5).noise_variances(r)
    assert 1 < variances[0] < 2 < variances[2] < 4
    np.testing.assert_allclose(GaussianTied(20, tau=0.0).noise_variances(r), 2.0)
    np.testing.assert_allclose(GaussianTied(20, tau=1e3).noise_variances(r), r, rtol=1e-5)


def test_exact_searches_at_many_priors_find_every_minimum(all_dags):
    moments = Moments.from_rows(simulate(4, 60, "ER1", "gaussian-nv", random_state=2).data * [1, 3, 1, 2])
    n, penalties = moments.n, L0("bic").penalties(60, 4)
    dags = {dag.tobytes(): dag for dag in all_dags(4)}
    log_r = {key: np.log(regressions(dag, moments.covariance).residual_variances) for key, dag in dags.items()}
    priors = [Prior(mu, v) for mu in (-1.0, 0.0, 0.7, 2.0) for v in (2 / n, 0.1, 0.5, 2.0, 50.0)]
    centres = np.array([[prior.centre] for prior in priors]) - np.log(moments.variances)
    exact = ExactOrders(GaussianColumns(moments.standardized().covariance, n, penalties))
    graphs, _ = exact.minima(centres=centres, spreads=np.array([prior.spread for prior in priors]))
    for graph, prior in zip(graphs, priors, strict=True):
        scores = {
            key: n * logs.sum()
            + ((logs - prior.centre) ** 2).sum() / prior.spread
            + penalties[dags[key].sum(axis=0)].sum()
            for key, logs in log_r.items()
        }
        assert scores[graph.tobytes()] == pytest.approx(min(scores.values()), abs=1e-6)
    assert len({graph.tobytes() for graph in graphs}) > 1


@pytest.mark.parametrize(("d", "n", "seed"), [(6, 100, 16), (7, 60, 33), (8, 100, 32)])
def test_few_columns_have_the_best_graph_over_all_priors(d, n, seed):
    """Alternating between graph and prior ends at a worse graph here, a different one for other orders of the rows."""
    rows = simulate(d, n, "ER2", "gaussian-nv", random_state=seed).data
    moments = Moments.from_rows(rows)
    scores = NoiseScores(moments, L0(), GaussianTied(n))
    problem = OrderProblem(moments, L0().penalties(n, d))
    mu = np.log(find_order(problem, ()).regressions.residual_variances).mean()
    grid = [Prior(mu + step * np.sqrt(v / d), v) for v in np.geomspace(2 / n, 2, 15) for step in (-2, -1, 0, 1, 2)]
    lowest = min(scores.tied(find_order(problem, (), prior=prior).graph) for prior in grid)
    model = Golem().fit(rows)
    assert model.noise_choice_.scores["tied"] < lowest + 1e-6
    assert model.solution_.status is Status.GRID
    for order in range(3):
        again = Golem().fit(np.random.default_rng(order).permutation(rows))
        np.testing.assert_array_equal(again.adjacency_, model.adjacency_)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tau", [0.1, 1.0])
def test_the_search_finds_the_minimum_over_all_dags(seed, tau, all_dags):
    moments = Moments.from_rows(simulate(4, 100, "ER1", "gaussian-nv", random_state=seed).data)
    S, n, sparsity = moments.covariance, moments.n, L0("bic")
    likelihood = GaussianTied(n, tau, centre=0.5)
    solution = Order().solve(moments, likelihood, sparsity)

    def score(dag):
        r = regressions(dag, S).residual_variances
        return float(likelihood.on_dag(r)) + sparsity.penalties(n, 4)[dag.sum(axis=0)].sum() / (2 * n)

    assert solution.noise_choice.kind == "tied"
    assert solution.terms["score"] == pytest.approx(min(map(score, all_dags(4))), abs=1e-9)


def test_a_price_for_whole_graphs_counts_the_choice_of_the_edges():
    parents = np.array([0, 1, 2, 3])  # all six pairs: there is nothing to choose
    assert L0().graph_penalty(parents, 100) == pytest.approx(6 * np.log(100))
    assert L0().graph_penalty(np.array([0, 1, 0, 0]), 100) == pytest.approx(np.log(100) + 2 * np.log(6))
    assert L0("ebic").graph_penalty(parents, 100) == pytest.approx(L0("ebic").penalties(100, 4)[parents].sum())


@pytest.mark.parametrize("d", [10, 25])  # exact, and by search
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_what_the_data_were_made_with(d, seed):
    equal = Golem().fit(simulate(d, 1000, "ER2", "gaussian-ev", random_state=seed).data)
    assert (equal.noise_choice_.kind, equal.noise_choice_.tau) == ("equal", 0.0)
    drawn = simulate(d, 1000, "ER2", "gaussian-nv", random_state=seed)
    tied = Golem().fit(drawn.data)
    assert tied.noise_choice_.kind == "tied"
    # The simulator draws standard deviations from U[1, 2]: their log variances have a standard deviation of 0.40.
    assert tied.noise_choice_.tau == pytest.approx(np.log(drawn.sem.noise_variances).std(), abs=0.05)
    assert metrics.shd(drawn.sem.weights, tied.weights_) <= 3
    standardized = Golem().fit(tied.moments_.standardized())
    assert standardized.noise_choice_.kind == "free"
    assert "standardized" in standardized.noise_choice_.reason
    wide = simulate(d, 1000, "ER2", noise_std=(0.1, 10.0), random_state=seed)
    apart = Golem().fit(wide.data)
    assert apart.noise_choice_.kind == "free"
    assert "far apart" in apart.noise_choice_.reason


def test_the_choice_has_the_lowest_score_and_says_so():
    model = Golem().fit(simulate(15, 1000, "ER2", "gaussian-nv", random_state=4).data)
    choice = model.noise_choice_
    assert set(choice.scores) == {"equal", "tied", "free"}
    assert choice.scores[choice.kind] == min(choice.scores.values())
    scores = NoiseScores(model.moments_, L0(), GaussianTied(model.moments_.n))
    assert scores.tied(model.adjacency_) == pytest.approx(choice.scores["tied"])
    assert f"a factor of {np.exp(0.95 * choice.tau):.3g}" in choice.reason
    # The terms of the solution are those of the model chosen.
    r = residual_variances(model.weights_, model.moments_.covariance)
    assert model.solution_.terms["likelihood"] == pytest.approx(float(choice.likelihood.on_dag(r)))


@pytest.mark.parametrize(("kind", "searches_before"), [("equal", True), ("tied", True), ("free", False)])
def test_the_trace_is_that_of_the_chosen_noise_model(kind, searches_before):
    drawn = simulate(24, 2000, "ER2", "gaussian-ev" if kind == "equal" else "gaussian-nv", random_state=3)
    model = Golem(shape="off").fit(drawn.data / drawn.data.std(axis=0) if kind == "free" else drawn.data)
    assert model.noise_choice_.kind == kind
    *points, last = trace = model.solution_.trace
    assert (last.iteration, last.terms) == (model.solution_.iterations, model.solution_.terms)
    if kind == "equal":  # no search minimizes this likelihood, so no other score is comparable with the last
        assert not points
        return
    assert (points[0].iteration > 0) == searches_before
    scores = [point.terms["score"] for point in trace]
    assert np.all(np.diff(scores) <= 1e-9)
    for values in ([point.iteration for point in trace], [point.seconds for point in trace]):
        assert values == sorted(values)


@pytest.mark.parametrize("d", [8, 20, 24])
def test_free_variances_give_the_graph_of_nv(d):
    for seed in range(3):
        moments = Moments.from_rows(simulate(d, 500, "ER2", "gaussian-nv", random_state=seed).data).standardized()
        auto, nv = Golem().fit(moments), Golem("nv").fit(moments)
        np.testing.assert_array_equal(auto.adjacency_, nv.adjacency_)
        np.testing.assert_array_equal(auto.undecided_, nv.undecided_)
        assert not auto.by_variance_.any()


@pytest.mark.parametrize("d", [9, 20])
def test_units_shared_by_all_columns_and_the_order_of_columns_do_not_matter(d):
    drawn = simulate(d, 800, "ER2", "gaussian-nv", random_state=2)
    order = np.random.default_rng(0).permutation(d)
    model = Golem().fit(drawn.data)
    rescaled, permuted = Golem().fit(drawn.data * 1e3), Golem().fit(drawn.data[:, order])
    np.testing.assert_array_equal(model.adjacency_, rescaled.adjacency_)
    np.testing.assert_array_equal(model.adjacency_[np.ix_(order, order)], permuted.adjacency_)
    for other in (rescaled, permuted):
        assert other.noise_choice_.kind == model.noise_choice_.kind
        assert other.noise_choice_.tau == pytest.approx(model.noise_choice_.tau, abs=1e-6)


def test_open_directions_are_decided_by_variance_or_not_at_all():
    for seed, noise in enumerate(("gaussian-ev", "gaussian-nv", "gaussian-nv")):
        model = Golem().fit(simulate(20, 300, "ER1", noise, random_state=seed).data)
        undirected = model.adjacency_ & cpdag(model.adjacency_) & cpdag(model.adjacency_).T
        in_class = model.graph_.matrix(model.graph_.directed_by("none"))
        np.testing.assert_array_equal(in_class | model.by_variance_, undirected)
        assert not (in_class & model.by_variance_).any()
        assert model.by_variance_.any()


def test_an_edge_with_two_like_variances_stays_undecided():
    # Cause and effect of one variance each way: the prior sees no difference.
    rng = np.random.default_rng(0)
    first, other = rng.normal(size=(2, 2000)), rng.normal(size=(4, 2000))
    pair = np.stack([first[0], 0.6 * first[0] + 0.8 * first[1]])
    scales = np.exp([[0.0], [0.4], [0.8], [1.2]])
    model = Golem(Order()).set_params(noise="auto", solver="order").fit(np.vstack([pair, other * scales]).T)
    assert model.adjacency_[0, 1] or model.adjacency_[1, 0]
    assert model.undecided_.sum() + model.by_variance_.sum() == 1


def test_knowledge_is_obeyed_whatever_is_chosen():
    rng = np.random.default_rng(3)
    for seed in range(8):
        d = (7, 16)[seed % 2]
        drawn = simulate(d, 200, "ER2", ("gaussian-ev", "gaussian-nv")[seed // 4], random_state=seed)
        order = rng.permutation(d)
        required = np.zeros((d, d), dtype=bool)
        required[order[0], order[1]] = required[order[1], order[2]] = True
        forbidden = (rng.random((d, d)) < 0.3) & ~required
        forbidden |= required.T
        model = Golem(knowledge=Knowledge(forbidden, required)).fit(drawn.data)
        assert is_dag(model.adjacency_)
        assert not (model.adjacency_ & forbidden).any()
        assert (model.adjacency_ | ~required).all()


@pytest.mark.parametrize(("n", "d"), [(20, 40), (40, 40), (45, 40)])
def test_few_rows_keep_their_parents_few_and_say_what_to_trust(n, d):
    drawn = simulate(d, n, "ER1", "gaussian-nv", random_state=0)
    with pytest.warns(DataWarning, match=f"n = {n} rows for d = {d} columns"):
        model = Golem().fit(drawn.data)
    assert model.adjacency_.sum(axis=0).max() <= (n - 2) // 2
    assert np.isfinite(model.weights_).all()
    assert (model.sem_.noise_variances > 0).all()
    # The empty graph has about d errors; with twice as many columns as rows most edges are still found.
    assert metrics.shd(drawn.sem.weights, model.weights_) < 0.7 * drawn.sem.adjacency.sum()


def test_the_status_says_whether_a_better_graph_may_exist():
    X = simulate(8, 300, "ER2", "gaussian-nv", random_state=0).data
    standardized = Moments.from_rows(X).standardized()
    assert "may exist" not in Golem("nv").fit(X).solution_.status.value  # the minimum over all graphs
    for data in (X, standardized):  # the minimum for each prior on a grid, or for free variances alone
        assert "may exist for another" in Golem().fit(data).solution_.status.value


def test_a_time_limit_is_kept_and_marked():
    data = simulate(60, 500, "ER4", "gaussian-nv", random_state=0).data
    Golem().fit(data[:, :20])  # compiled before the clock starts
    with pytest.warns(ConvergenceWarning, match="time limit was reached. The result so far is returned"):
        model = Golem(time_limit=0.02).fit(data)
    assert model.solution_.status is Status.TIME_LIMIT
    assert model.solution_.seconds < 5
    assert is_dag(model.adjacency_)


def test_gradient_solvers_minimize_the_same_term():
    drawn = simulate(8, 1000, "ER1", "gaussian-nv", random_state=5)
    model = Golem("auto", "lbfgs").fit(drawn.data)
    assert model.noise_choice_ is None
    assert isinstance(model.likelihood_, GaussianTied)
    assert model.start_solution_ is not None
    assert metrics.shd(drawn.sem.weights, model.weights_) <= 1
    longer = Golem("auto", "adam", init=model.raw_weights_, max_iter=200).fit(drawn.data)
    assert longer.solution_.terms["score"] == pytest.approx(model.solution_.terms["score"], abs=5e-3)


def test_the_paper_has_no_such_recipe():
    with pytest.raises(ValueError, match="noise must be 'ev' or 'nv' in the paper's recipe"):
        Golem.paper("auto")


def test_columns_in_units_far_apart_are_left_free():
    data = simulate(14, 500, "ER1", random_state=0).data * np.logspace(-6, 6, 14)
    model = Golem().fit(data)
    assert model.noise_choice_.kind == "free"
    np.testing.assert_array_equal(model.cpdag_, Golem("nv").fit(data).cpdag_)


def test_undecided_edges_point_the_other_way_in_a_member_as_good(members):
    """Against every member of the equivalence class."""
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        chain = np.zeros((4, 4))
        chain[0, 1], chain[1, 2], chain[2, 3] = rng.choice([-1, 1], 3) * rng.uniform(0.3, 0.8, 3)
        E = rng.normal(size=(60, 4)) * np.exp(0.2 * rng.normal(size=4))
        model = Golem("ev").fit(E @ np.linalg.inv(np.eye(4) - chain))
        S, n = model.moments_.covariance, model.moments_.n

        def deviance(dag, S=S, n=n, likelihood=model.likelihood_):
            r = regressions(dag, S).residual_variances
            return 2 * n * float(likelihood.on_dag(r))

        best = deviance(model.adjacency_)
        expected = np.zeros((4, 4), dtype=bool)
        for dag in members(model.cpdag_):
            if deviance(dag) < best + 2:
                expected |= model.adjacency_ & ~dag
        np.testing.assert_array_equal(model.graph_.matrix(model.graph_.directed_by("none")), expected)
        found += expected.sum()
    assert found > 10
