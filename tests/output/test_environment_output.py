"""Environments in graph.json, edges.csv and the report."""

import json

import numpy as np
import pandas as pd
import pytest

from golem import Golem
from golem.output import save
from golem.output.document import describe
from golem.output.edge_list import list_edges
from golem.output.report import report_document
from golem.readers import read_graph

TARGETS = {"control": [], "<ko>": ["b"]}


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    control, ko = rng.normal(size=(400, 3)), rng.normal(size=(300, 3))
    control[:, 1] += control[:, 0]
    ko[:, 1] += 4
    for rows in (control, ko):
        rows[:, 2] += rows[:, 1]
    return {"control": control, "<ko>": ko}


@pytest.fixture(scope="module")
def model(tables):
    named = {label: pd.DataFrame(rows, columns=list("abc")) for label, rows in tables.items()}
    return Golem(intervention="hard").fit(named, targets=TARGETS)


def test_graph_json_lists_the_environments(model):
    document = describe(model)
    control, ko = document.environments
    assert (control.label, control.rows, control.targets) == ("control", 400, [])
    assert (ko.label, ko.rows, ko.targets) == ("<ko>", 300, ["b"])
    assert next(iter(ko.shifts)) == "b"
    assert 3 < ko.shifts["b"] < 5
    assert document.n == 700
    assert document.moments_hash == model.table_.fingerprint
    assert document.settings["intervention"] == "hard"
    assert "own noise variance" in document.noise.reason
    json.loads(document.text())


def test_edges_have_the_numbers_of_the_environments_that_do_not_target_the_child(model, tables):
    edge = next(edge for edge in list_edges(model) if (edge.source, edge.target) == ("a", "b"))
    X = tables["control"]
    centred = X - X.mean(axis=0)
    weight = centred[:, 0] @ centred[:, 1] / (centred[:, 0] @ centred[:, 0])
    rest = ((centred[:, 1] - weight * centred[:, 0]) ** 2).sum()
    assert edge.weight == pytest.approx(weight)
    assert edge.standard_error == pytest.approx(np.sqrt(rest / 398 / (centred[:, 0] @ centred[:, 0])))
    assert edge.drop_loss > 10
    r2 = dict(zip("abc", describe(model).r2, strict=True))
    assert r2["b"] == pytest.approx(1 - rest / (centred[:, 1] @ centred[:, 1]))


def test_files_and_report_are_written(model, tmp_path):
    save(model, tmp_path)
    assert np.array_equal(read_graph(tmp_path / "graph.json").weights, model.weights_)
    report_document(describe(model), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "700 rows in 2 environments" in page
    assert "&lt;ko&gt;" in page
    assert "none (observational)" in page
