"""Files out: complete, readable, whole."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import golem
from golem import Golem, Knowledge
from golem.output import save
from golem.output.document import describe
from golem.output.edge_list import list_edges
from golem.output.run_record import settings
from golem.readers import read_graph
from golem.score.objective import graph_bic
from golem.simulate import simulate
from golem.solvers import Adam


@pytest.fixture(scope="module")
def model():
    drawn = simulate(6, 500, "ER1", random_state=2)
    return Golem("nv", "lbfgs", threshold=0.2).fit(pd.DataFrame(drawn.data, columns=["a", 'b"', "c,", "d", "é", "f"]))


def test_files_read_back_as_the_model(model, tmp_path):
    save(model, tmp_path / "deep" / "out")
    folder = tmp_path / "deep" / "out"
    for name in ("graph.json", "weights.csv"):
        graph = read_graph(folder / name)
        assert graph.names == model.moments_.names
        np.testing.assert_array_equal(graph.weights, model.weights_)
    edges = read_graph(folder / "edges.csv")
    np.testing.assert_array_equal(edges.aligned(model.moments_.names), model.weights_)


def test_graph_json_holds_all_that_is_promised(model, tmp_path):
    save(model, tmp_path)
    content = json.loads((tmp_path / "graph.json").read_text())
    assert content["golem"] == golem.__version__
    assert content["names"] == list(model.moments_.names)
    assert content["noise_variances"] == model.sem_.noise_variances.tolist()
    assert content["settings"]["noise"] == "nv"
    assert content["settings"]["threshold"] == 0.2
    terms = content["objective"]
    assert terms["score"] == pytest.approx(terms["likelihood"] + terms["sparsity"] + terms["dag"])
    assert content["status"]["name"] == "converged"
    assert content["n"] == 500
    moments = model.moments_
    assert content["bic"] == pytest.approx(graph_bic(model.adjacency_, moments.covariance, moments.n))


def test_standard_errors_and_r2_are_those_of_least_squares():
    X = simulate(6, 200, "ER2", random_state=2).data
    model = Golem("nv").fit(X)
    document = describe(model)
    for edge in document.edge_table:
        i, j = int(edge["source"][1:]), int(edge["target"][1:])
        parents = np.nonzero(model.adjacency_[:, j])[0]
        design = np.column_stack([np.ones(200), X[:, parents]])
        fitted, (rss,), _, _ = np.linalg.lstsq(design, X[:, j])
        errors = np.sqrt(np.diagonal(rss / (200 - len(fitted)) * np.linalg.inv(design.T @ design)))
        assert edge["standard_error"] == pytest.approx(errors[1 + list(parents).index(i)])
        assert document.r2[j] == pytest.approx(1 - rss / ((X[:, j] - X[:, j].mean()) ** 2).sum())


def test_weights_that_are_not_least_squares_have_no_standard_error(model):
    assert all(edge.standard_error is None for edge in list_edges(model))


def test_the_evidence_of_an_edge_is_that_of_its_record():
    model = Golem("nv").fit(simulate(6, 1500, "ER1", "exponential", random_state=2).data)
    assert any(one.direction_error_rate for one in model.edges_)
    records = {(one.source, one.target): one for one in model.edges_}
    for edge in list_edges(model):
        record = records.pop((edge.source, edge.target))
        assert (record.lag, edge.lag) == (0, None)  # only documents of series speak of lags
        assert all(getattr(record, name) == getattr(edge, name) for name in record._fields if name != "lag")
    assert not records


def test_directions_from_knowledge_are_called_so():
    X = np.random.default_rng(0).normal(size=(20000, 4)).cumsum(axis=1) * [1, 3, 0.2, 5]

    def sources(**given):
        found = list_edges(Golem("nv", knowledge=Knowledge.of(4, **given)).fit(X))
        return {frozenset((edge.source, edge.target)): edge.direction_from for edge in found}

    chain = [frozenset(("x0", "x1")), frozenset(("x1", "x2")), frozenset(("x2", "x3"))]
    assert sources() == dict.fromkeys(chain, "none")
    # x0 -> x1 directs the edges after it; a required edge at the end directs no other.
    assert sources(required=[(0, 1)]) == {chain[0]: "knowledge"} | dict.fromkeys(chain[1:], "follows")
    assert sources(forbidden=[(3, 2)]) == dict.fromkeys(chain[:2], "none") | {chain[2]: "knowledge"}


def test_edges_are_sorted_by_strength(model):
    strengths = [abs(edge.standardized_weight) for edge in list_edges(model)]
    assert strengths == sorted(strengths, reverse=True)
    assert len(strengths) == model.adjacency_.sum()


def test_settings_of_any_kind_are_json():
    model = Golem("ev", Adam(batch_size=5), knowledge=Knowledge.of(2, required=[(0, 1)]), init=np.zeros((2, 2)))
    recorded = json.loads(json.dumps(settings(model)))
    assert recorded["solver"]["batch_size"] == 5
    assert recorded["knowledge"]["required"] == [["x0", "x1"]]
    assert recorded["init"] == [[0.0, 0.0], [0.0, 0.0]]
