"""Documents, files, exports, figures and pages of tables with categories: what does not apply is absent."""

import csv
import dataclasses
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from golem import Golem
from golem.graphs.formats import FORMATS, read_graph
from golem.graphs.graph_document import VariableRecord, read_document
from golem.graphs.named_graph import NamedGraph
from golem.output import save
from golem.output.document import describe
from golem.output.edge_list import list_edges
from golem.output.export import export_graph, to_networkx
from golem.output.figures import plot_graph, plot_weights
from golem.output.run_record import RunRecord, fit_words


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 300)
    first = (kind == "b") * 1.5 + rng.normal(size=300)
    second = first + rng.normal(size=300)
    flag = np.where(second + rng.logistic(size=300) > 0, "yes", "no")
    return Golem().fit(pd.DataFrame({"kind": kind, "first": first, "second": second, "flag": flag}))


def test_the_document_has_types_strengths_and_coefficients(model):
    document = describe(model)
    assert document.score == "mixed"
    assert [one.kind for one in document.variables] == ["category", "numeric", "numeric", "category"]
    assert (document.d, document.noise, document.bic) == (4, None, None)
    # A category has no noise variance, no intercept and no R2; a number has all three.
    for values in (document.noise_variances, document.intercepts, document.r2):
        assert [value is None for value in values] == [True, False, False, True]
    for edge in document.edge_table:
        numbers = {edge["source"], edge["target"]} == {"first", "second"}
        assert all((edge[name] is not None) == numbers for name in ("weight", "standardized_weight", "standard_error"))
        assert edge["edge_strength"] > 5
        assert edge["drop_loss"] > 0
    assert {(one.source, one.target) for one in document.coefficients} == {
        (edge["source"], edge["target"]) for edge in document.edge_table if edge["weight"] is None
    }
    again = read_document(document.text())
    assert again.plain() == document.plain()
    assert not again.graph().weighted


def test_the_evidence_of_an_edge_is_that_of_its_record(model, monkeypatch):
    records = {(one.source, one.target): one for one in model.edges_}
    monkeypatch.setattr(type(model.fit_.score), "strengths", None)  # they are not computed again
    for edge in list_edges(model):
        record = records.pop((edge.source, edge.target))
        assert (edge.direction_from, edge.edge_strength) == (record.direction_from, record.edge_strength)
    assert not records


def test_edges_are_sorted_by_strength(model):
    strengths = [edge.edge_strength for edge in list_edges(model)]
    assert strengths == sorted(strengths, reverse=True)


def test_files_have_empty_cells_and_no_matrix_of_weights(model, tmp_path):
    written = {path.name for path in save(model, tmp_path)}
    assert written == {"graph.json", "edges.csv", "coefficients.csv"}
    edges = list(csv.DictReader(io.StringIO((tmp_path / "edges.csv").read_text())))
    assert sorted(row["weight"] == "" for row in edges) == [False, True, True]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "coefficients.csv").read_text())))
    assert [(row["source_level"], row["target_level"]) for row in rows if "kind" in (row["source"], row["target"])] in (
        [("a", ""), ("b", "")],
        [("", "a"), ("", "b")],
    )
    repeat = RunRecord.read(tmp_path / "graph.json").compare(model)
    assert repeat.same_graph
    assert repeat.same_data
    assert repeat.largest_difference == 0


@pytest.mark.parametrize("ending", ["graphml", "gml", "dot", "txt", "csv", "json"])
def test_exports_have_the_edges(model, tmp_path, ending):
    graph = read_graph(export_graph(model, tmp_path / f"graph.{ending}"))
    order = [graph.names.index(name) for name in ("kind", "first", "second", "flag")]
    shown = model.pdag_ if ending == "txt" else model.adjacency_
    assert (graph.adjacency[np.ix_(order, order)] == shown).all()
    assert not graph.weighted


@pytest.mark.parametrize("ending", ["graphml", "gml", "dot", "csv", "json"])
def test_exports_keep_the_weights_of_edges_between_numbers(model, tmp_path, ending):
    expected = {(edge.source, edge.target): edge.weight for edge in list_edges(model)}
    assert sorted(weight is None for weight in expected.values()) == [False, True, True]
    graph = read_graph(export_graph(model, tmp_path / f"graph.{ending}"))
    assert {(source, target): row.get("weight") for source, target, row in graph.edge_list()} == expected


def test_an_edge_list_has_empty_weights(model, tmp_path):
    rows = list(csv.DictReader(io.StringIO(export_graph(model, tmp_path / "graph.csv").read_text())))
    expected = {(edge.source, edge.target): edge.weight for edge in list_edges(model)}
    assert {(row["source"], row["target"]): float(row["weight"] or "nan") for row in rows} == pytest.approx(
        {ends: np.nan if weight is None else weight for ends, weight in expected.items()}, nan_ok=True
    )


def test_json_keeps_variables_and_coefficients(model, tmp_path):
    document, path = describe(model), tmp_path / "again.json"
    save(model, tmp_path)
    exported = read_document(export_graph(read_graph(tmp_path / "graph.json"), path).read_text())
    assert exported.variables == document.variables
    assert exported.coefficients == document.coefficients
    assert exported.weighted
    weights = {(row["source"], row["target"]): row["weight"] for row in document.edge_table}
    assert {(row["source"], row["target"]): row["weight"] for row in exported.edge_table} == weights


def test_a_matrix_does_not_make_up_weights(model, tmp_path):
    with pytest.raises(ValueError, match=r"edges with a category have none\. Use csv, .* or pcalg"):
        export_graph(model, tmp_path / "graph.csv", "matrix")


@pytest.mark.filterwarnings("ignore:The direction of")
@pytest.mark.parametrize("format", ["lavaan", "bnlearn", "causal-learn", "pcalg"])
def test_formats_without_weights_can_be_written(model, tmp_path, format):
    assert export_graph(model, tmp_path / "graph.txt", format).stat().st_size > 20


@pytest.mark.parametrize("cpdag", [False, True])
def test_pgmpy_says_that_it_needs_numbers(model, tmp_path, cpdag):
    with pytest.raises(ValueError, match=r"has categories.*Fit only the numeric columns, or export .* such as graphml"):
        export_graph(model, tmp_path / "model.json", "pgmpy", cpdag=cpdag)


@pytest.mark.filterwarnings("ignore:The direction of")
def test_lavaan_says_what_to_do_with_categories(model, tmp_path):
    text = export_graph(model, tmp_path / "model.txt", "lavaan").read_text()
    assert "# This graph has categories: kind, flag. lavaan needs numbers.\n" in text
    assert "ordered = c(...)" in text
    graph = read_graph(tmp_path / "model.txt")
    order = [graph.names.index(name) for name in ("kind", "first", "second", "flag")]
    assert (graph.adjacency[np.ix_(order, order)] == model.adjacency_).all()
    # Only numbers have a variance.
    kinds = [VariableRecord(kind=kind) for kind in ("category", "category", "numeric", "numeric", "numeric")]
    graph = NamedGraph.from_lists(["kind", "my region", "first", "second", "third"], [("kind", "first", {})])
    text = FORMATS["lavaan"].write(dataclasses.replace(graph, variables=kinds))
    assert "# Left out, because they have neither edges nor a variance: my_region.\n" in text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == ["first ~ kind", "second ~~ second", "third ~~ third"]
    # A table of edges does not say which variables are categories.
    edges = read_graph(export_graph(model, tmp_path / "edges.csv"))
    assert "# This graph has categories. lavaan" in export_graph(edges, tmp_path / "again.txt", "lavaan").read_text()


def test_networkx_has_the_strengths(model):
    found = to_networkx(model)
    assert all(values["edge_strength"] > 5 for _, _, values in found.edges(data=True))


def test_a_linear_model_is_refused_because_of_the_categories(model, tmp_path):
    with pytest.raises(
        ValueError, match=r"^The graph has categories, but .* needs numbers. .* such as graphml, dot, json or csv.$"
    ):
        export_graph(model, tmp_path / "pgmpy.json", "pgmpy")


def test_figures_can_be_drawn(model):
    from matplotlib.figure import Figure

    figure = Figure()
    axes = plot_graph(model, figure)
    boxes = {text.get_text(): type(text.get_bbox_patch().get_boxstyle()).__name__ for text in axes.texts}
    assert boxes == {"kind": "Square", "first": "Round", "second": "Round", "flag": "Square"}
    assert plot_weights(model, Figure()).figure.axes[1].get_ylabel() == "edge strength"


def test_the_page_knows_types_and_coefficients(model, tmp_path):
    page = model.report(tmp_path / "report.html").read_text()
    content = json.loads(re.search(r'id="content"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert [one["kind"] for one in content["variables"]] == ["category", "numeric", "numeric", "category"]
    assert content["measure"] == "edge_strength"
    assert len(content["coefficients"]) == len(model.coefficients_)
    assert "2 of the variables are categories, so golem used the score for mixed tables" in page
    assert "near 0, the edge was barely kept" in page
    assert "penalty for the first cause of a variable, if both are numbers (deviance)" in page


def test_notebooks_show_the_loss_of_score(model):
    cells = re.findall(r"<t[hd] [^>]*>(.*?)</t[hd]>", model._repr_html_())
    assert cells[:5] == ["edge", "weight", "strength", "loss of score", "direction"]
    edge = list_edges(model)[0]
    assert cells[5] == edge.text
    assert cells[7:9] == [f"{edge.edge_strength:.3g}", f"{edge.drop_loss:.3g}"]


def test_the_command_of_a_page_has_the_score(model):
    words = fit_words(describe(Golem(score_function="mixed").fit(model.moments_)))
    assert words[1:] == ["--score", "mixed"]
