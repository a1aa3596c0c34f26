"""Simulators: distributions against theory and igraph, seeds, scales."""

from __future__ import annotations

import igraph
import numpy as np
import pytest
from scipy import stats

from golem import simulate
from golem.graphs.dag import is_dag


@pytest.mark.parametrize(("d", "k"), [(20, 1), (20, 4), (10, 4), (50, 2)])
def test_er_has_kd_edges_on_average(d, k):
    counts = [simulate.erdos_renyi(d, k, seed).sum() for seed in range(300)]
    pairs, p = d * (d - 1) / 2, 2 * k / (d - 1)
    assert abs(np.mean(counts) - k * d) < 4 * np.sqrt(pairs * p * (1 - p) / 300)


def test_er_treats_all_pairs_alike():
    total = sum(simulate.erdos_renyi(6, 1, seed).astype(int) for seed in range(3000))
    expected = 3000 * (2 / 5) / 2
    off_diagonal = total[~np.eye(6, dtype=bool)]
    assert np.abs(off_diagonal - expected).max() < 5 * np.sqrt(expected)


def test_dense_er_is_complete_at_most():
    adjacency = simulate.erdos_renyi(5, 4, 0)
    assert adjacency.sum() == 10
    assert is_dag(adjacency)


@pytest.mark.parametrize("m", [1, 2, 4])
def test_sf_agrees_with_igraph_in_distribution(m):
    """In-degrees of all nodes and the largest of each graph, pooled over many graphs."""
    d, repetitions = 30, 400
    igraph.set_random_number_generator(__import__("random").Random(3))
    ours, theirs = [], []
    for seed in range(repetitions):
        ours.append(np.sort(simulate.scale_free(d, m, seed).sum(axis=0)))
        graph = igraph.Graph.Barabasi(n=d, m=m, directed=True)
        theirs.append(np.sort(graph.indegree()))
        assert ours[-1].sum() == graph.ecount()
    ours, theirs = np.array(ours), np.array(theirs)
    largest = stats.ks_2samp(ours[:, -1], theirs[:, -1])
    assert largest.pvalue > 1e-3
    for order in (-2, -5, d // 2):
        difference = ours[:, order].mean() - theirs[:, order].mean()
        error = np.hypot(ours[:, order].std(), theirs[:, order].std()) / np.sqrt(repetitions)
        assert abs(difference) < 4 * error + 1e-9
    # A wrong rule (no preference) must not pass the same test.
    flat = np.array([np.sort(_without_preference(d, m, seed).sum(axis=0)) for seed in range(repetitions)])
    assert stats.ks_2samp(flat[:, -1], theirs[:, -1]).pvalue < 1e-6


def _without_preference(d, m, seed):
    rng = np.random.default_rng(seed)
    adjacency = np.zeros((d, d), dtype=bool)
    for node in range(1, d):
        adjacency[node, rng.choice(node, size=min(m, node), replace=False)] = True
    return adjacency


@pytest.mark.parametrize("graph", ["ER1", "ER4", "SF1", "SF4", "sf2"])
def test_graphs_are_acyclic_and_labels_say_nothing_of_the_order(graph):
    forward = backward = 0
    for seed in range(20):
        adjacency = simulate.random_dag(25, graph, seed)
        assert is_dag(adjacency)
        forward += np.triu(adjacency).sum()
        backward += np.tril(adjacency).sum()
    assert 0.3 < forward / (forward + backward) < 0.7


@pytest.mark.parametrize("graph", ["ER", "XX2", "ER0", "SF1.5", "2ER"])
def test_an_unknown_graph_is_refused(graph):
    with pytest.raises(ValueError, match=r"ER2|whole number"):
        simulate.random_dag(5, graph)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_weights_lie_in_the_papers_range(scale):
    adjacency = simulate.random_dag(60, "ER4", 0)
    weights = simulate.random_weights(adjacency, 0, scale)
    sizes = np.abs(weights[adjacency]) / scale
    assert 0.5 <= sizes.min() < 0.55
    assert 1.95 < sizes.max() <= 2.0
    assert 0.35 < (weights[adjacency] > 0).mean() < 0.65
    assert not weights[~adjacency].any()


@pytest.mark.parametrize(
    ("noise", "distribution"),
    [("gaussian-ev", stats.norm()), ("exponential", stats.expon()), ("gumbel", stats.gumbel_r())],
)
def test_noise_has_the_papers_distribution(noise, distribution):
    drawn = simulate.simulate(4, 4000, "ER1", noise, random_state=5)
    noise_values = drawn.data @ (np.eye(4) - drawn.sem.weights)
    for column in noise_values.T:
        assert stats.kstest(column, distribution.cdf).pvalue > 1e-4


def test_gaussian_nv_has_standard_deviations_between_1_and_2():
    deviations = np.sqrt(simulate.random_sem(200, "ER1", "gaussian-nv", random_state=0).noise_variances)
    assert stats.kstest(deviations, stats.uniform(1, 1).cdf).pvalue > 1e-3


def test_noise_std_spreads_over_decades_log_uniformly():
    sem = simulate.random_sem(300, "ER1", "gaussian-ev", noise_std=(0.1, 10), random_state=0)
    logs = np.log10(np.sqrt(sem.noise_variances))
    assert stats.kstest(logs, stats.uniform(-1, 2).cdf).pvalue > 1e-3


def test_standardized_columns_and_the_same_model():
    plain = simulate.simulate(5, 100, random_state=1)
    scaled = simulate.simulate(5, 100, standardize=True, random_state=1)
    np.testing.assert_allclose(scaled.data.std(axis=0), 1)
    np.testing.assert_array_equal(plain.sem.weights, scaled.sem.weights)


def test_a_seed_says_everything():
    first, second = (simulate.simulate(8, 50, "SF2", "gumbel", random_state=9) for _ in range(2))
    np.testing.assert_array_equal(first.data, second.data)
    assert np.any(simulate.simulate(8, 50, "SF2", "gumbel", random_state=10).data != first.data)


@pytest.mark.parametrize(
    "arguments",
    [
        *({"noise": "cauchy"}, {"weight_scale": 0}, {"noise_std": (2, 1)}, {"n": 0}, {"d": 0}),
        *({"weight_scale": 1e308}, {"noise_std": (1, float("inf"))}),
    ],
)
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(ValueError, match=r"noise|scale|row|node"):
        simulate.simulate(**({"d": 4} | arguments))


def test_one_row_cannot_be_standardized():
    assert simulate.simulate(3, 1, random_state=0).data.shape == (1, 3)
    with pytest.raises(ValueError, match="at least 2 to standardize; got n=1"):
        simulate.simulate(3, 1, standardize=True)
