"""Effects over time, against statsmodels where it is installed and against simulated interventions."""

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure

import golem
from golem import Golem
from golem.output import export_graph, load, summary_graph, to_networkx, to_tigramite
from golem.output.impulse_responses import _along_links, _effects
from golem.output.lagged_graph import LaggedGraph
from golem.plots import plot_responses
from golem.simulate import sample_series

B = np.array([[0, 0.6, 0], [0, 0, -0.7], [0, 0, 0]])
A = np.array([[[0.5, 0, 0], [0, 0.3, 0], [0.4, 0, 0.4]], [[0, 0.2, 0], [0, 0, 0], [0, 0, -0.3]]])
GRAPH = LaggedGraph(("a", "b", "c"), B, A, np.zeros((3, 3), dtype=bool))


@pytest.fixture(scope="module")
def fitted():
    X = sample_series(B, A, 800, random_state=1)
    model = Golem(lags=2, knowledge={"required": [["x0", "x1"], ["x1", "x2"]]}).fit(X)
    return model, X


def test_responses_are_what_a_changed_step_does():
    """The oracle carries two copies of the series forward, one of them with a variable one unit higher at one step."""
    noise = np.random.default_rng(0).normal(size=(12, 3))

    def run(source):
        X = np.zeros((12, 3))
        for t in range(2, 12):
            X[t] = X[t - 1] @ A[0] + X[t - 2] @ A[1] + noise[t]
            for j in range(3):  # in causal order
                X[t, j] += X[t] @ B[:, j] + (t == 4 and j == source)
        return X

    expected = np.array([(run(i) - run(None))[4:] for i in range(3)])
    np.testing.assert_allclose(_effects(GRAPH, 7), np.moveaxis(expected, 0, 1), atol=1e-12)


def orthogonal_by_companion(X, steps):
    """Return responses of a VAR(2) by powers of its companion matrix and a Cholesky factor with a unit diagonal."""
    n, d = X.shape
    Z = np.column_stack([np.ones(n - 2), X[1:-1], X[:-2]])
    coefficients, *_ = np.linalg.lstsq(Z, X[2:], rcond=None)
    left = X[2:] - Z @ coefficients
    factor = np.linalg.cholesky(left.T @ left / len(left))
    companion = np.zeros((2 * d, 2 * d))
    companion[:d] = coefficients[1:].T
    companion[d:, :d] = np.eye(d)
    powers = [np.linalg.matrix_power(companion, h)[:d, :d] for h in range(steps + 1)]
    return np.array(powers) @ (factor / np.diag(factor))


def full_order(X):
    names = ["x0", "x1", "x2"]
    required = [[f"{a}@{k}", b] for a in names for b in names for k in (1, 2)]
    required += [["x0", "x1"], ["x0", "x2"], ["x1", "x2"]]
    return golem.impulse_responses(Golem(lags=2, knowledge={"required": required}).fit(X), 8).effects


def test_responses_of_a_full_graph_are_the_orthogonal_ones(fitted):
    """With all lagged edges and a full order within a step, responses are those of a VAR with a Cholesky factor."""
    _, X = fitted
    np.testing.assert_allclose(np.moveaxis(full_order(X), 1, 2), orthogonal_by_companion(X, 8), atol=1e-8)


def test_responses_agree_with_statsmodels(fitted):
    api = pytest.importorskip("statsmodels.tsa.api")
    _, X = fitted
    result = api.VAR(X).fit(2, trend="c")
    scale = np.diag(np.linalg.cholesky(result.sigma_u))
    np.testing.assert_allclose(np.moveaxis(full_order(X), 1, 2), result.irf(8).orth_irfs / scale, atol=1e-8)


def test_bands_cover_the_truth_and_need_the_bootstrap_of_a_series(fitted):
    model, X = fitted
    bootstrap = golem.bootstrap(model, X, 40)
    found = golem.impulse_responses(model, 6, bootstrap=bootstrap)
    truth = _effects(GRAPH, 6)
    assert np.mean((found.low - 1e-6 <= truth) & (truth <= found.high + 1e-6)) > 0.9
    assert (found.low <= found.high).all()
    other = golem.bootstrap(Golem(), np.random.default_rng(0).normal(size=(100, 3)), 5)
    with pytest.raises(ValueError, match="not one of this series"):
        golem.impulse_responses(model, bootstrap=other)


def test_cumulative_effects_are_sums(fitted):
    model, _ = fitted
    plain, summed = golem.impulse_responses(model, 5), golem.impulse_responses(model, 5, cumulative=True)
    np.testing.assert_allclose(summed.effects, plain.effects.cumsum(axis=0))


def test_effects_along_links_are_unknown():
    """A - b is a link: all that runs through it is unknown, and what c does to itself is not."""
    present, past, links = np.zeros((3, 3)), np.diag([0.5, 0.5, 0.5])[None], np.zeros((3, 3), dtype=bool)
    present[0, 1], links[0, 1] = 0.5, True
    along = _along_links(LaggedGraph(("a", "b", "c"), present, past, links), 2, False)
    expected = np.array([[[0, 1, 0], [1, 0, 0], [0, 0, 0]]] + [[[1, 1, 0], [1, 1, 0], [0, 0, 0]]] * 2, dtype=bool)
    np.testing.assert_array_equal(along, expected)


def test_a_saved_model_has_the_same_responses(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path)
    np.testing.assert_array_equal(
        golem.impulse_responses(load(tmp_path), 4).effects, golem.impulse_responses(model, 4).effects
    )
    with pytest.raises(ValueError, match="impulse_responses"):
        model.effects_on("x2")


def test_the_graph_goes_to_other_packages(fitted):
    model, _ = fitted
    graph = to_networkx(model)
    assert isinstance(graph, nx.MultiDiGraph)
    assert {(a, b, k) for a, b, k in graph.edges(keys=True)} == {
        (edge.source.split("@")[0], edge.target, edge.lag) for edge in model.edges_
    }
    marks = to_tigramite(model)
    assert marks.shape == (3, 3, 3)
    assert (marks[0, 1, 0], marks[1, 0, 0], marks[2, 0, 1]) == ("-->", "<--", "-->")
    np.testing.assert_array_equal(np.moveaxis(marks[:, :, 1:] == "-->", -1, 0), model.lag_weights_ != 0)
    summary = summary_graph(model)
    lags = {edge[:2]: edge[2] for edge in summary.edge_list()}["x0", "x1"]
    assert (lags["shortest_lag"], lags["longest_lag"]) == (0, 2)
    with pytest.raises(ValueError, match="cycle"):
        export_graph(summary, format="dowhy")
    acyclic = Golem(lags=1, knowledge={"tiers": [["x0"], ["x1"], ["x2"]]}).fit(
        sample_series(B, np.diag([0.5, 0.4, 0.3])[None], 500, random_state=0)
    )
    assert nx.is_directed_acyclic_graph(nx.parse_gml(export_graph(summary_graph(acyclic), format="dowhy")))


def test_responses_are_drawn_and_listed(fitted):
    model, X = fitted
    found = golem.impulse_responses(model, 3, bootstrap=golem.bootstrap(model, X, 10))
    assert len(plot_responses(found, ["x0"], ["x1", "x2"], Figure()).axes) == 2
    first = found.records()[0]
    assert (first.source, first.target, first.horizon, first.effect) == ("x0", "x0", 0, 1.0)
    assert first.low <= first.effect <= first.high
    with pytest.raises(ValueError, match="no lags"):
        golem.impulse_responses(Golem().fit(np.random.default_rng(0).normal(size=(100, 3))))
