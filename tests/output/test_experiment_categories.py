"""Experiments on tables with categories: described, drawn, exported and reported like all tables."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from golem import Golem
from golem.data.category_columns import read_coded
from golem.data.coded_tables import CodedTable
from golem.data.table import Part, Table
from golem.graphs.formats import read_graph
from golem.output import export_graph, list_edges, save, to_networkx
from golem.output.document import describe, note_on_weights
from golem.output.run_record import RunRecord
from golem.plots import plot_graph, plot_weights

NAMES = ["kind", "first", "second", "flag"]


def draw(rng, n, changed):
    kind = rng.choice(["a", "b", "c"], n)
    first = (kind == "b") * 1.5 + rng.normal(size=n)
    second = 3 + rng.normal(size=n) if changed else first + rng.normal(size=n)
    flag = np.where(second + rng.logistic(size=n) > 0, "yes", "no")
    return pd.DataFrame({"kind": kind, "first": first, "second": second, "flag": flag})


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return {"control": draw(rng, 400, False), "<ko>": draw(rng, 300, True)}


@pytest.fixture(scope="module", params=["hard", "soft"])
def model(tables, request):
    whole = read_coded(pd.concat(tables.values()))
    pieces = zip(tables, np.split(whole.rows, [400]), strict=True)
    parts = [Part(label, CodedTable(whole.coding, rows).moments(), rows=rows) for label, rows in pieces]
    table = Table.of_parts(parts, {"control": [], "<ko>": ["second"]})
    return Golem(intervention=request.param).fit(table)


def test_the_document_has_environments_and_coefficients(model):
    document = describe(model)
    control, ko = document.environments
    assert (control.rows, control.targets, ko.rows, ko.targets) == (400, [], 300, ["second"])
    assert 1 < ko.shifts["second"] < 4
    assert (document.n, document.score, document.noise, document.bic) == (700, "mixed", None, None)
    assert [one.kind for one in document.variables] == ["category", "numeric", "numeric", "category"]
    for values in (document.noise_variances, document.intercepts, document.r2):
        assert [value is None for value in values] == [True, False, False, True]
    assert {(one.source, one.target) for one in document.coefficients} == {
        (edge["source"], edge["target"]) for edge in document.edge_table if edge["weight"] is None
    }
    into = any(edge["target"] == "second" for edge in document.edge_table)
    assert bool(note_on_weights(document)) == (into and model.intervention == "soft")


def test_numbers_are_those_of_the_environments_that_do_not_target_the_child(model, tables):
    chosen = {frozenset((edge.source, edge.target)): edge for edge in list_edges(model)}
    edge = chosen[frozenset(("first", "second"))]
    assert edge.edge_strength > 10
    assert edge.drop_loss > 10
    if edge.target != "second":
        assert model.intervention == "soft"
        return
    rows = tables["control"]
    slope, intercept = np.polyfit(rows["first"], rows["second"], 1)
    assert edge.weight == pytest.approx(slope)
    assert describe(model).intercepts[NAMES.index("second")] == pytest.approx(intercept)


def test_files_exports_and_repeats_have_the_edges(model, tmp_path):
    assert {path.name for path in save(model, tmp_path)} == {"graph.json", "edges.csv", "coefficients.csv"}
    rows = list(csv.DictReader(io.StringIO((tmp_path / "edges.csv").read_text())))
    assert {(row["source"], row["target"]) for row in rows} == {(one.source, one.target) for one in model.edges_}
    for ending in ("graphml", "gml", "dot", "csv", "json"):
        graph = read_graph(export_graph(model, tmp_path / f"again.{ending}"))
        order = [graph.names.index(name) for name in NAMES]
        assert (graph.adjacency[np.ix_(order, order)] == model.adjacency_).all()
    assert to_networkx(model).number_of_edges() == len(model.graph_)
    record = RunRecord.read(tmp_path / "graph.json")
    assert record.targets == {"control": [], "<ko>": ["second"]}
    assert record.compare(model).same_graph
    assert record.compare(model).same_data


def test_figures_notebooks_and_the_page_show_both(model, tables, tmp_path):
    boxes = {text.get_text(): text.get_bbox_patch().get_boxstyle() for text in plot_graph(model, Figure()).texts}
    assert [type(boxes[name]).__name__ for name in NAMES] == ["Square", "Round", "Round", "Square"]
    assert plot_weights(model, Figure()).figure.axes[1].get_ylabel() == "edge strength"
    assert "loss of score" in model._repr_html_()
    page = model.report(tmp_path / "report.html", rows=pd.concat(tables.values())).read_text()
    assert "700 rows in 2 environments" in page
    assert "2 of the variables are categories" in page
    assert "&lt;ko&gt;" in page
