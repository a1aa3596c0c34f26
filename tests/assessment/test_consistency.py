"""golem.check: partial correlations against regressions on rows, the global p-value, and what the result says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import kstest, norm

import golem
from golem import Golem, LinearSEM, Moments
from golem.graphs.dag import cpdag, topological_order
from golem.graphs.named_graph import NamedGraph
from golem.output import to_networkx
from golem.output.document import describe
from golem.plots import plot_check
from golem.simulate import simulate


def residual(X, j, regressors):
    """Regress a column on others and an intercept, by rows."""
    Z = np.column_stack([np.ones(len(X)), X[:, list(regressors)]])
    return X[:, j] - Z @ np.linalg.lstsq(Z, X[:, j])[0]


def regressions_by_rows(graph, X):
    """Return {(i, j): p-value} of the pairs and {j: p-value} of the nodes, one regression at a time."""
    n, order, pairs, nodes = len(X), list(topological_order(graph)), {}, {}
    for k, j in enumerate(order):
        parents = np.nonzero(graph[:, j])[0]
        others = [i for i in order[:k] if not graph[i, j]]
        for i in others:
            r = np.corrcoef(residual(X, i, parents), residual(X, j, parents))[0, 1]
            pairs[i, j] = 2 * norm.sf(np.sqrt(n - 3 - len(parents)) * abs(np.arctanh(r)))
        if others:
            small, large = (np.sum(residual(X, j, chosen) ** 2) for chosen in (order[:k], parents))
            F = (large - small) / len(others) / (small / (n - 1 - k))
            nodes[j] = f_distribution.sf(F, len(others), n - 1 - k)
    return pairs, nodes


@pytest.mark.parametrize("seed", range(5))
def test_p_values_equal_those_of_regressions_on_the_rows(seed):
    drawn = simulate(7, 60, "ER2", "gaussian-nv", random_state=seed)
    graph = simulate(7, 2, "ER2", random_state=seed + 100).sem.adjacency
    result = golem.check(graph, drawn.data * 10.0 ** np.arange(7) + 5)
    pairs, nodes = regressions_by_rows(graph, drawn.data)
    found = {(i, j): p for i, j, p in zip(result.sources, result.targets, result.p_values, strict=True)}
    assert found == pytest.approx(pairs, rel=1e-6, abs=1e-14)
    assert {j: p for j, p in enumerate(result.node_p_values) if p == p} == pytest.approx(nodes, rel=1e-6, abs=1e-14)
    assert result.p_value == pytest.approx(1 - (1 - min(nodes.values())) ** len(nodes), rel=1e-6, abs=1e-14)
    assert len(pairs) == 7 * 6 // 2 - graph.sum()


def test_the_global_p_value_of_the_true_graph_is_uniform_even_with_few_rows():
    p_values = []
    for seed in range(150):
        drawn = simulate(8, 20, "ER1", "gaussian-nv", random_state=seed)
        result = golem.check(drawn.sem, drawn.data)
        assert result.exact
        p_values.append(result.p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_an_omitted_weak_edge_is_found():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 10))
        X[:, 9] += 0.2 * X[:, 3]
        found += golem.check(np.zeros((10, 10)), X).p_value < 0.05
    assert found >= 18


def test_with_fewer_rows_than_columns_the_global_p_value_is_conservative():
    p_values = []
    for seed in range(40):
        result = golem.check(np.zeros((30, 30)), np.random.default_rng(seed).normal(size=(20, 30)))
        assert not result.exact
        p_values.append(result.p_value)
    assert kstest(p_values, "uniform", alternative="greater").pvalue > 0.01


def test_undirected_edges_are_tested_through_a_member_of_the_class():
    drawn = simulate(8, 300, "ER1", random_state=3)
    whole = golem.check(cpdag(drawn.sem.adjacency), drawn.data)
    assert (cpdag(whole.graph) == cpdag(drawn.sem.adjacency)).all()


def test_a_chain_and_its_reverse_imply_the_same():
    chain = np.eye(3, k=1)
    X = simulate(3, 300, "ER1", random_state=0).data
    first, second = golem.check(chain, X), golem.check(chain.T, X)
    assert first.p_value == pytest.approx(second.p_value)
    assert first.records()[0]["given"] == second.records()[0]["given"] == ["x1"]


def test_the_same_graph_in_every_type_gives_the_same_result():
    drawn = simulate(6, 400, "ER1", random_state=2)
    names = tuple("abcdef")
    table = pd.DataFrame(drawn.data, columns=list(names))
    shuffled = table[list("fbdaec")].assign(unused=0.0, text="row")
    sem = LinearSEM(drawn.sem.weights, drawn.sem.noise_variances, names=names)
    named = NamedGraph.from_weights(drawn.sem.weights, names)
    expected = golem.check(drawn.sem.adjacency, drawn.data).p_value
    assert golem.check(drawn.sem.weights, Moments.from_rows(drawn.data)).p_value == expected
    for graph in (sem, named, to_networkx(named)):
        for data in (table, shuffled, drawn.data):
            assert golem.check(graph, data).p_value == pytest.approx(expected)


def test_a_model_is_descriptive_on_its_own_rows_and_a_test_on_others():
    X = simulate(6, 600, "ER1", random_state=2).data
    model = Golem("nv").fit(X[:300])
    assert golem.check(model, X[:300]).descriptive
    assert "Descriptive only" in repr(golem.check(model, X[:300]))
    assert not golem.check(model, X[300:]).descriptive


def test_a_hidden_common_cause_is_suggested_where_violations_cluster():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 7))
    X[:, [1, 3, 6]] += rng.normal(size=(800, 1))
    result = golem.check(np.zeros((7, 7)), X)
    assert result.violations == 3
    (hint,) = result.hints
    assert hint.startswith("All pairs of 'x1', 'x3', 'x6' violate the graph. A hidden common cause")
    assert "The data contradict the graph" in repr(result)


def test_a_node_without_its_parents_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 6))
    X[:, 5] += X[:, :4].sum(axis=1)
    (hint,) = golem.check(np.zeros((6, 6)), X).hints
    assert hint.startswith("4 of the violations concern 'x5'")


def test_records_are_sorted_and_make_a_table():
    X = simulate(6, 400, "ER2", random_state=1).data
    frame = pd.DataFrame(golem.check(np.zeros((6, 6)), X).records())
    assert list(frame) == ["source", "target", "given", "partial_correlation", "p_value", "adjusted"]
    assert frame["p_value"].is_monotonic_increasing
    assert (frame["adjusted"] >= frame["p_value"]).all()


def test_a_complete_graph_cannot_be_contradicted():
    result = golem.check(np.triu(np.ones((4, 4)), k=1), np.random.default_rng(0).normal(size=(50, 4)))
    assert np.isnan(result.p_value)
    assert not result.records()
    assert "implies no independence" in repr(result)
    plot_check(result)


def test_the_figure_names_the_worst_violations():
    X = simulate(6, 400, "ER2", random_state=1).data
    result = golem.check(np.zeros((6, 6)), X)
    worst = result.records(1)[0]
    drawn = plot_check(result)
    assert any(text.get_text().strip() == f"{worst['source']}, {worst['target']}" for text in drawn.texts)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], "The graph has a cycle, 'x0' -> 'x1' -> 'x2' -> 'x0'"),
        ([[1, 0, 0], [0, 0, 0], [0, 0, 0]], "The graph has a cycle, 'x0' -> 'x0'"),
        (np.zeros((2, 2)), "The graph has 2 nodes, but the data have 3 columns"),
        (NamedGraph.from_weights(np.zeros((2, 2)), ("x0", "y")), "not columns of the data: 'y'"),
        (Golem(), "not fitted"),
    ],
)
def test_what_cannot_be_checked_is_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        golem.check(graph, np.random.default_rng(0).normal(size=(20, 3)))


def test_a_graph_with_categories_has_no_test():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=100), "site": rng.choice(["a", "b"], 100)})
    model = Golem().fit(table)
    for graph in (model, describe(model)):
        with pytest.raises(ValueError, match="not available for graphs with categories: 'site'"):
            golem.check(graph, table)


def test_missing_values_are_treated_as_told():
    X = simulate(5, 300, "ER1", random_state=1)
    holes = X.data.copy()
    holes[:40, 2] = np.nan
    with pytest.raises(ValueError, match="missing"):
        golem.check(X.sem, holes)
    assert golem.check(X.sem, holes, missing="drop").p_value == golem.check(X.sem, X.data[40:]).p_value
