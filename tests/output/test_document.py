"""Files out: complete, readable, whole."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import golem
from golem import Golem, Knowledge
from golem.output.document import list_edges
from golem.output.result_files import save
from golem.output.settings_document import settings
from golem.readers import read_graph
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
    assert content["bic"] == pytest.approx(model.sem_.bic(model.moments_))


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
