"""The packages that graphs are exported to read them: pgmpy, DoWhy, causal-learn, pydot. `make test-export`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import LinearSEM
from golem.graphs.dag import cpdag
from golem.graphs.formats import FORMATS
from golem.graphs.named_graph import NamedGraph
from golem.output.export import export_graph, from_causal_learn, graph_text, named_graph, to_causal_learn, to_networkx
from golem.readers import read_graph
from golem.simulate import simulate

# Not all of these packages keep up with the deprecations of NumPy, pandas and NetworkX.
pytestmark = [pytest.mark.export, pytest.mark.filterwarnings("ignore")]
NAMES = ("a b", "<é>", "n+1", "x;y", "alone", "it's")
examples = settings(deadline=None, max_examples=25)


def models(names=NAMES):
    """Draw random models over six variables."""
    seeds = st.integers(0, 2**32 - 1)
    return seeds.map(lambda seed: simulate(6, 2, "ER1", "gaussian-nv", random_state=seed).sem).map(
        lambda sem: LinearSEM(sem.weights, sem.noise_variances, np.arange(6.0) - 2.5, names)
    )


def edges_of(graph):
    return {(source, target) for source, target, _ in graph.edge_list()}


@examples
@given(models((*NAMES[:-2], 'q"q', "n\nl")))
def test_pgmpy_loads_the_model(tmp_path_factory, sem):
    network = pytest.importorskip("pgmpy.models").LinearGaussianBayesianNetwork
    path = export_graph(sem, tmp_path_factory.mktemp("pgmpy") / "model.json", "pgmpy")
    loaded = network.load(path)
    assert loaded.check_model()
    assert set(loaded.nodes) == set(sem.names)
    assert set(loaded.edges) == edges_of(named_graph(sem))
    mean, covariance = loaded.to_joint_gaussian()
    order = [sem.names.index(name) for name in _order_of_joint(loaded)]
    # pgmpy rounds these to eight digits after the point.
    np.testing.assert_allclose(mean, sem.mean[order], rtol=0, atol=1e-8)
    np.testing.assert_allclose(covariance, sem.covariance[np.ix_(order, order)], rtol=0, atol=1e-8)


def _order_of_joint(network):
    """Return the order of pgmpy's joint distribution: its own topological one."""
    import networkx as nx

    return list(nx.topological_sort(network))


@examples
@given(models())
def test_we_read_what_pgmpy_saves(tmp_path_factory, sem):
    network = pytest.importorskip("pgmpy.models").LinearGaussianBayesianNetwork
    folder = tmp_path_factory.mktemp("pgmpy")
    network.load(export_graph(sem, folder / "model.json", "pgmpy")).save(str(folder / "saved.json"))
    back = read_graph(folder / "saved.json")
    assert set(back.names) == set(sem.names)
    np.testing.assert_array_equal(back.aligned(sem.names), sem.weights)
    index = [back.names.index(name) for name in sem.names]
    np.testing.assert_array_equal(back.intercepts[index], sem.intercepts)
    # pgmpy keeps standard deviations: the square of a root may differ in the last bit.
    np.testing.assert_allclose(back.noise_variances[index], sem.noise_variances, rtol=1e-15)


@pytest.mark.parametrize("form", ["gml", "dot", "networkx"])
def test_dowhy_estimates_along_the_graph(tmp_path, form):
    dowhy = pytest.importorskip("dowhy")
    names = ("smoking", "tar level", "cancer", "alone")
    weights = np.zeros((4, 4))
    weights[0, 1], weights[0, 2], weights[1, 2] = 0.8, 0.5, -0.7
    sem = LinearSEM(weights, np.ones(4), names=names)
    data = pd.DataFrame(sem.sample(20_000, random_state=0), columns=names)
    graph = to_networkx(sem) if form == "networkx" else graph_text(sem, form)
    model = dowhy.CausalModel(data, treatment="tar level", outcome="cancer", graph=graph)
    assert set(model._graph._graph.edges) == edges_of(named_graph(sem))
    assert set(model._graph._graph.nodes) == set(names)
    estimand = model.identify_effect(proceed_when_unidentifiable=True)
    assert estimand.get_backdoor_variables() == ["smoking"]
    estimate = model.estimate_effect(estimand, method_name="backdoor.linear_regression")
    assert estimate.value == pytest.approx(-0.7, abs=0.03)


@pytest.mark.parametrize("form", ["gml", "dot"])
def test_dowhy_reads_the_files(tmp_path, form):
    graphs = pytest.importorskip("dowhy.graph")
    sem = simulate(6, 2, "ER2", random_state=1).sem
    found = graphs.build_graph_from_str(str(export_graph(sem, tmp_path / f"graph.{form}")))
    assert set(found.edges) == edges_of(named_graph(sem))
    for source, target, values in found.edges(data=True):
        weight = sem.weights[sem.names.index(source), sem.names.index(target)]
        assert float(str(values["weight"]).strip('"')) == weight


@examples
@given(models())
def test_causal_learns_graphs_there_and_back(sem):
    pytest.importorskip("causallearn")
    graph = to_causal_learn(sem)
    np.testing.assert_array_equal(from_causal_learn(graph).adjacency, sem.adjacency)
    assert from_causal_learn(graph).names == sem.names
    from causallearn.utils.DAG2CPDAG import dag2cpdag

    ours, theirs = to_causal_learn(sem, cpdag=True), dag2cpdag(graph)
    np.testing.assert_array_equal(ours.graph, theirs.graph)
    np.testing.assert_array_equal(from_causal_learn(theirs).adjacency, cpdag(sem.adjacency))


@examples
@given(models(("a", "é", '"q"', "<x>", "1.", "b")), st.booleans())
def test_causal_learn_reads_the_text_and_we_read_its(tmp_path_factory, sem, as_class):
    read = pytest.importorskip("causallearn.utils.TXT2GeneralGraph").txt2generalgraph
    folder = tmp_path_factory.mktemp("causal-learn")
    found = read(str(export_graph(sem, folder / "graph.txt", cpdag=as_class)))
    expected = cpdag(sem.adjacency) if as_class else sem.adjacency
    np.testing.assert_array_equal(from_causal_learn(found).adjacency, expected)
    (folder / "again.txt").write_text(str(found), encoding="utf-8")
    np.testing.assert_array_equal(read_graph(folder / "again.txt").adjacency, expected)


def test_hidden_causes_are_refused():
    pytest.importorskip("causallearn")
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint

    graph = to_causal_learn(NamedGraph.from_class(np.zeros((2, 2), dtype=bool), ("a", "b")))
    graph.add_edge(Edge(*graph.get_nodes(), Endpoint.ARROW, Endpoint.ARROW))
    with pytest.raises(ValueError, match="hidden common causes"):
        from_causal_learn(graph)


# pydot leaves the backslash before a quotation mark where it is, so the names have none.
@examples
@given(models((*NAMES[:-1], "n\nl")))
def test_pydot_reads_our_dot_and_we_read_its(sem):
    pydot = pytest.importorskip("pydot")
    (found,) = pydot.graph_from_dot_data(graph_text(sem, "dot"))
    assert [node.get_name().strip('"') for node in found.get_nodes()] == list(sem.names)
    for edge in found.get_edges():
        i, j = (sem.names.index(end.strip('"')) for end in (edge.get_source(), edge.get_destination()))
        assert float(edge.get_attributes()["weight"].strip('"')) == sem.weights[i, j]
    assert len(found.get_edges()) == sem.adjacency.sum()
    assert FORMATS["dot"].read(found.to_string()).edge_list() == named_graph(sem).edge_list()
