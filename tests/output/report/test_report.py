"""The page as text: complete, escaped, small, and made from whatever a document has."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from golem import Golem, Knowledge
from golem.comparison.result import report_comparison
from golem.diagnostics import edge_loss
from golem.graphs.formats import read_graph_document
from golem.graphs.graph_document import document_of
from golem.graphs.named_graph import NamedGraph
from golem.output import save
from golem.output.document import describe
from golem.output.report import report_document
from golem.output.report.content import graph_entry, model_content, node_label
from golem.simulate import random_dag, simulate

NAMES = ["<script>alert(1)</script>", "</script>", 'b"', "c'", "javascript:x", "é"]


@pytest.fixture(scope="module")
def model():
    drawn = simulate(6, 500, "ER2", random_state=2)
    return Golem("nv", "lbfgs", threshold=0.2).fit(pd.DataFrame(drawn.data, columns=NAMES))


def embedded(path):
    """Return the data of a page, as its script reads them."""
    (text,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(text)


def test_a_model_writes_its_page(model, tmp_path):
    path = model.report(tmp_path / "r.html", title="a < b")
    text = path.read_text()
    assert "<h1>a &lt; b</h1>" in text
    content = embedded(path)
    assert content["names"] == NAMES
    graph = content["graphs"][0]
    found = {(row[0], row[1]): row[graph["columns"].index("weight")] for row in graph["rows"]}
    assert set(found) == set(map(tuple, np.argwhere(model.adjacency_).tolist()))
    for (i, j), weight in found.items():
        assert weight == pytest.approx(model.weights_[i, j], rel=1e-5)
    assert content["chosen"] == 0.2
    assert len(content["trace"]) == len(model.solution_.trace)


def test_scatter_plots_are_those_of_the_rows_and_only_on_request(model, tmp_path):
    X = simulate(6, 500, "ER2", random_state=2).data
    assert embedded(model.report(tmp_path / "r.html"))["scatters"] is None
    found = embedded(model.report(tmp_path / "r.html", rows=X))["scatters"]
    assert sorted((i, j) for i, j, *_ in found["lines"]) == list(map(tuple, np.argwhere(model.adjacency_).tolist()))
    centred, rows = X - X.mean(axis=0), np.linspace(0, 499, 300).round().astype(int)
    for i, j, slope, intercept in found["lines"]:
        x, residuals = np.array(found["values"][str(i)]), np.array(found["residuals"][str(j)])
        np.testing.assert_allclose(x, X[rows, i], rtol=1e-3)
        others = np.delete(np.arange(6), i)
        without = X[rows, j] - centred[rows][:, others] @ model.weights_[others, j]
        np.testing.assert_allclose(intercept + slope * x + residuals, without, atol=1e-3 * np.abs(X).max())
    holes = X.copy()
    holes[:, 0] = np.nan
    assert embedded(model.report(tmp_path / "r.html", rows=holes))["scatters"] is None


def test_the_table_is_summarized_if_it_is_given(tmp_path):
    x = np.random.default_rng(0).normal(size=40)
    table = pd.DataFrame({"x": x, "kind": np.where(x > 0, "a", "b"), "id": range(40)})
    fitted = Golem().fit(table[["x", "kind"]])
    number, category = embedded(fitted.report(tmp_path / "r.html", rows=table))["table"]
    assert number == {"missing": 0, "values": 40, "content": f"{x.min():.4g} to {x.max():.4g}"}
    assert category["content"].startswith("a (" if (x > 0).sum() > 20 else "b (")
    assert embedded(fitted.report(tmp_path / "r.html"))["table"] is None
    assert embedded(fitted.report(tmp_path / "r.html", rows=table[["x"]]))["table"] is None


def test_a_direction_rests_on_evidence_and_is_never_just_decided(model, tmp_path):
    assert model.undecided_.any()
    text = model.report(tmp_path / "r.html").read_text()
    assert "from the shape of the noise" in text
    assert not re.findall(r'.*\bdecided\b(?!":).*', text, re.IGNORECASE)


def test_variables_that_the_truth_does_not_name_are_listed(model, tmp_path):
    truth = NamedGraph.from_class(np.zeros((2, 2), dtype=bool), ('b"', "é"))
    text = report_document(describe(model), tmp_path / "r.html", truth=truth).read_text()
    assert "Isolated in the truth, because it does not name them: &lt;script&gt;" in text
    assert embedded(tmp_path / "r.html")["unnamed"] == {"truth": [name for name in NAMES if name not in truth.names]}
    known = NamedGraph.from_class(np.zeros((6, 6), dtype=bool), tuple(NAMES))
    assert "Isolated in" not in report_document(describe(model), tmp_path / "r.html", truth=known).read_text()


def test_a_page_makes_its_folder(model, tmp_path):
    assert model.report(tmp_path / "new" / "folder" / "r.html").stat().st_size > 1000


def test_names_never_become_markup(model, tmp_path):
    text = model.report(tmp_path / "r.html").read_text()
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "alert(1)</" not in text
    assert text.count("</body>") == 1


def test_the_page_names_no_other_place(model, tmp_path):
    text = model.report(tmp_path / "r.html").read_text()
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"\s(?:src|href)=\"(?!#)", text)


def test_a_page_is_small(model, tmp_path):
    assert model.report(tmp_path / "r.html").stat().st_size < 200_000
    weights = random_dag(1000, "ER4", 0) * 0.7
    document = {"names": [f"x{k}" for k in range(1000)], "weights": weights.tolist()}
    assert report_document(document_of(document), tmp_path / "big.html").stat().st_size < 2_000_000


def test_the_least_document_is_enough(tmp_path):
    path = report_document(document_of({"names": ["a", "b"], "weights": [[0, 1], [0, 0]]}), tmp_path / "r.html")
    assert embedded(path)["graphs"][0]["rows"] == [[0, 1, 1.0]]
    assert embedded(report_document(document_of({"names": [], "weights": []}), tmp_path / "r.html"))["names"] == []


def test_findings_come_with_their_remedies(tmp_path):
    findings = [{"name": "linearity", "level": "warning", "finding": "bent <b>", "remedy": "use logarithms"}]
    document = {"names": ["a"], "weights": [[0]], "diagnostics": findings}
    text = report_document(document_of(document), tmp_path / "r.html").read_text()
    assert "bent &lt;b&gt;" in text
    assert "use logarithms" in text


def words(path):
    """Return the text of a page as a reader sees it before its script runs."""
    body = path.read_text().split("<body", 1)[1].split("<script", 1)[0]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_the_sentence_to_cite_counts_warnings_and_no_experiment_changes_what_is_given(tmp_path):
    document = {
        "names": ["age", "dose", "y"],
        "format_version": 2,
        "edge_table": [{"source": "age", "target": "dose", "directed": False}, {"source": "dose", "target": "y"}],
        "knowledge": {"required": [], "forbidden": [], "tiers": [["age"], ["dose", "y"]]},
        "next_experiment": [{"variable": name, "decided": 1.25, "least": 1} for name in ("age", "dose")],
        "diagnostics": [{"name": k, "level": level, "finding": "!"} for k, level in (("a", "warning"), ("b", "note"))],
    }
    text = words(report_document(document_of(document), tmp_path / "r.html"))
    assert "Checks of the assumptions gave 1 warning. Unmeasured common causes cannot be excluded." in text
    assert "Change dose settles 1.2 of 1 link" in text
    assert "Change age" not in text


def test_settings_are_written_for_readers(tmp_path):
    known = {"forbidden": [["lone", "debt"]], "required": [], "tiers": [["age", "lone"], ["debt"]]}
    document = {
        "names": ["age", "lone", "debt"], "weights": [[0, 1, 0], [0, 0, 0], [0, 0, 0]], "n": 1, "undecided": 1,
        "settings": {"standardize": True, "knowledge": known, "solver": {"type": "Adam", "max_iter": 100}},
        "knowledge": known, "data": {"drop": [], "header": False},
        "used": {"edge_penalty": {"type": "L0", "criterion": "ebic", "gamma": 0.5}},
        "diagnostics": [{"name": "equal-variances", "level": "ok", "finding": "p = 6.7e-22", "remedy": ""}],
    }  # fmt: skip
    text = words(report_document(document_of(document), tmp_path / "r.html"))
    assert "3 variables, 1 row" in text
    assert "What was learned 1 arrow" in text
    assert "standardize yes" in text
    assert "solver Adam (max iter 100)" in text
    assert "dropped columns none header no" in text
    assert "penalty per edge EBIC (gamma 0.5)" in text
    assert "Knowledge forbidden lone → debt tiers 1: age, lone; 2: debt" in text
    assert text.count("lone → debt") == 1
    assert "ok p = 6.7e-22" in text
    assert not re.search(r"\bTrue\b|\bFalse\b|\['", text)


def test_the_rows_of_em_are_those_of_the_table(tmp_path):
    X = simulate(3, 200, random_state=0).data
    X[:50, 0] = np.nan
    fitted = Golem(missing="em").fit(X)
    assert f"rows 200 complete rows that are as precise {fitted.moments_.n}" in words(
        fitted.report(tmp_path / "r.html")
    )


def test_whole_numbers_are_written_without_separators(tmp_path):
    solver = {"type": "Adam", "seed": 98765, "max_iter": 98765}
    settings = {"random_state": 20240131, "max_iter": 100_000, "solver": solver}
    document = {"names": ["a"], "weights": [[0]], "settings": settings, "bootstrap": {"replicates": 9, "seed": 123456}}
    text = words(report_document(document_of(document), tmp_path / "r.html"))
    for expected in ("random state 20240131", "seed 123456", "seed 98765, max iter 98765", "max iter 100000"):
        assert expected in text


def test_every_edge_of_the_document_has_its_loss(model):
    document = describe(model)
    assert document.edge_table
    for row in document.edge_table:
        assert row["drop_loss"] == pytest.approx(edge_loss(model, row["source"], row["target"]).drop, abs=1e-6)
    assert len(document.trace) <= 200
    assert document.trace[-1].terms["score"] == pytest.approx(document.objective["score"])


def test_a_cyclic_graph_has_a_page(tmp_path):
    drawn = simulate(6, 500, "ER2", random_state=3)
    model = Golem("ev", "lbfgs", threshold=0.0, cycles="none").fit(drawn.data)
    assert not hasattr(model, "sem_")
    assert model.report(tmp_path / "r.html").exists()


def test_candidates_are_what_the_threshold_left_out(model):
    content = model_content(describe(model))
    left = {(i, j) for i, j, _ in content["candidates"]}
    assert not left & set(map(tuple, np.argwhere(model.adjacency_)))
    assert all(abs(weight) < 0.2 for *_, weight in content["candidates"])


def test_saved_results_give_the_same_page(model, tmp_path):
    save(model, tmp_path)
    first = model.report(tmp_path / "a.html").read_text()
    second = report_document(read_graph_document(tmp_path / "graph.json"), tmp_path / "b.html").read_text()
    assert first == second


def test_a_truth_with_other_names_is_refused(model, tmp_path):
    truth = NamedGraph.from_weights(np.zeros((1, 1)), ("stranger",))
    with pytest.raises(ValueError, match="stranger"):
        model.report(tmp_path / "r.html", truth=truth)


@pytest.mark.parametrize(
    "broken",
    [
        {"settings": [1]}, {"trace": {}}, {"edge_table": [{"source": "x", "target": "y"}]}, {"edge_table": [3]},
        {"diagnostics": [1]}, {"versions": -1}, {"raw_weights": {"a": 1}}, {"data": {"paths": [[1]]}},
        {"format_version": 4}, {"format_version": "2"}, {"names": "abc"},
    ],
)  # fmt: skip
def test_a_document_of_another_shape_is_refused(model, tmp_path, broken):
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(describe(model).plain() | broken))
    with pytest.raises(ValueError, match=str(path)):
        read_graph_document(path)


def test_an_edge_list_is_no_document(model, tmp_path):
    save(model, tmp_path)
    with pytest.raises(ValueError, match=r"the graph\.json that `golem fit` writes"):
        read_graph_document(tmp_path / "edges.csv")


@pytest.mark.usefixtures("methods_here")
def test_a_comparison_writes_its_page(tmp_path):
    from golem.comparison.run import compare

    drawn = simulate(5, 300, "ER1", random_state=1)
    result = compare(drawn.data, ["sort-regress-var", "pc"], truth=drawn.sem.adjacency)
    content = embedded(report_comparison(result, tmp_path / "r.html"))
    assert [graph["name"] for graph in content["graphs"]] == ["sort-regress-var", "pc", "truth"]
    assert content["distances"]["values"][0][0] == 0
    assert [row["method"] for row in content["methods"]] == ["sort-regress-var", "pc"]
    assert content["truth"] == 2
    without = compare(drawn.data, ["sort-regress-var", "pc"])
    assert "No knowledge was given" not in words(report_comparison(without, tmp_path / "r.html"))
    assert embedded(report_comparison(without, tmp_path / "r.html"))["truth"] is None


@pytest.mark.usefixtures("methods_here")
def test_a_comparison_tells_what_it_was_made_with(tmp_path):
    from golem.comparison.run import compare

    table = pd.DataFrame(simulate(3, 200, "ER1", random_state=1).data, columns=["age", "debt", "home"])
    known = Knowledge.named(required=[("age", "debt")], tiers=[["age"], ["debt", "home"]])
    result = compare(table, ["order-nv", "pc"], knowledge=known, time_limit=30)
    text = words(report_comparison(result, tmp_path / "r.html"))
    assert "methods order-nv, pc rows 200 columns 3 time limit per method 30 s missing error truth not given" in text
    assert "Knowledge required age → debt tiers 1: age; 2: debt, home Versions golem" in text
    assert f"numpy {np.__version__}" in text
    masks = compare(table, ["order-nv"], knowledge=Knowledge.of(3, forbidden=[(2, 0)]), time_limit=None)
    text = words(report_comparison(masks, tmp_path / "r.html"))
    assert "time limit per method none" in text
    assert "Knowledge forbidden home → age Versions" in text


@pytest.mark.parametrize("name", ["short", "x" * 100, "漢字" * 30, "", "a" * 18, "a" * 19])
def test_labels_fit_their_boxes(name):
    label = node_label(name)
    assert len(label) <= 18
    assert label == name or "…" in label


def test_a_column_of_zeros_has_values():
    """An interval can begin at 0 for every edge, and is shown all the same."""
    rows = [
        {"source": "a", "target": "b", "weight_low": 0.0, "weight_high": 1.0, "undecided": False, "drop_loss": None}
    ]
    assert graph_entry("learned", rows, ("a", "b"))["columns"] == ["source", "target", "weight_low", "weight_high"]
