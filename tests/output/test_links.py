"""An edge whose direction is open has no arrowhead in any output."""

from __future__ import annotations

import base64
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from typer.testing import CliRunner

import golem
from golem import Golem, Moments
from golem.cli import app
from golem.comparison.result import comparison_content
from golem.data.knowledge import NamedKnowledge
from golem.graphs.formats import FORMATS
from golem.output.document import describe
from golem.output.edge_list import edges_of_open_sign, list_edges
from golem.output.export import graph_text, to_networkx
from golem.output.figures import NODE_EDGE
from golem.output.report.content import model_content
from golem.plots import plot_graph, plot_weights
from golem.studio.edits import State
from golem.studio.picture import picture

# a -> c is given and b --- d is open.
ARROW, LINK = ("a", "c"), ("b", "d")
# The inverse covariance of a clique: b and c are negatively related given a, and positively without.
SIGNS = np.array([[3.0, -1.3, -1.0], [-1.3, 1.09, 0.3], [-1.0, 0.3, 1.0]])


@pytest.fixture(scope="module")
def table():
    rows = np.random.default_rng(0).normal(size=(400, 4))
    rows[:, 2:] += rows[:, :2]
    return pd.DataFrame(rows / rows.std(axis=0), columns=[*"abcd"])


@pytest.fixture(scope="module")
def model(table):
    found = Golem("nv", knowledge=NamedKnowledge(required=(ARROW,))).fit(table)
    assert {frozenset((one.source, one.target)) for one in found.edges_} == {frozenset(ARROW), frozenset(LINK)}
    assert {frozenset((one.source, one.target)) for one in found.edges_ if not one.directed} == {frozenset(LINK)}
    return found


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Write the results of the command line, with what it prints in printed.txt."""
    path = tmp_path_factory.mktemp("links")
    table.to_csv(path / "data.csv", index=False)
    options = ["--noise", "nv", "--require", "a->c", "--bootstrap", "4", "-v"]
    result = CliRunner().invoke(app, ["fit", str(path / "data.csv"), "-o", str(path / "out"), *options])
    assert result.exit_code == 0, result.output
    (path / "printed.txt").write_text(result.output)
    return path


def test_the_terminal(folder):
    lines = (folder / "printed.txt").read_text().splitlines()
    assert [line for line in lines if re.match(r" *b +--- +d ", line)]
    for line in lines:
        if "settle directions" not in line:  # which offers both
            assert not re.search(r"'?b'? *-+> *'?d|'?d'? *-+> *'?b", line)
    assert [line for line in lines if re.match(r" *a +--> +c ", line)]


def test_the_figures(model):
    styles = [type(patch.get_arrowstyle()).__name__ for patch in plot_graph(model, Figure()).patches]
    assert sorted(styles) == ["Curve", "CurveFilledB"]
    image = np.asarray(plot_weights(model, Figure()).images[0].get_array())
    assert np.count_nonzero((image != 0) & (image.T != 0)) == 2  # the link, in both cells


def test_the_picture_and_the_table_of_a_notebook(model):
    html = model._repr_html_()
    assert "b --- d" in html or "d --- b" in html
    assert not re.search("b --&gt; d|d --&gt; b", html)
    svg = base64.b64decode(re.search(r"data:image/svg\+xml;base64,([^\"]*)", html)[1]).decode()
    heads = re.findall(r'style="fill: #(?:2166ac|d6701c)', svg)
    assert len(heads) == 1


def test_the_page(folder):
    page = (folder / "out" / "report.html").read_text()
    graph = json.loads(re.search(r'id="content"[^>]*>(.*?)</script>', page, re.DOTALL)[1])["graphs"][0]
    undirected = graph["columns"].index("undirected")
    assert {frozenset(row[:2]) for row in graph["rows"] if row[undirected]} == {frozenset((1, 3))}


def test_the_studio(model):
    edges = picture(describe(model), State())["edges"]
    assert [{one["source"], one["target"]} for one in edges if not one["directed"]] == [set(LINK)]


def test_the_files(folder):
    document = json.loads((folder / "out" / "graph.json").read_text())
    edges = pd.read_csv(folder / "out" / "edges.csv")
    for row in [*document["edge_table"], *edges.to_dict("records")]:
        is_link = {row["source"], row["target"]} == set(LINK)
        assert row["directed"] is not is_link
        assert (row["effect_low"] is None or np.isnan(row["effect_low"])) == is_link
    for finding in document["diagnostics"]:
        assert not re.search("'b' -> 'd'|'d' -> 'b'", finding["finding"] + finding["remedy"] + finding["headline"])


LINES = {
    "graphml": r'<data key="d\d+">False</data>',
    "gml": r"directed 0",
    "dot": r'"b" -> "d" .*dir="none"|"d" -> "b" .*dir="none"',
    "dagitty": r'^pdag \{.*("b" -- "d"|"d" -- "b")',
    "pcalg": r"\nb,0,0,0,1\n.*\nd,0,1,0,0\n",
    "causal-learn": r"b --- d|d --- b",
    "json": r'"directed": false',
    "csv": r"(b,d|d,b),.*False",
    "lavaan": r"# The direction of \w and \w is open.",
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(model, name):
    if name == "dowhy":
        with pytest.raises(ValueError, match="needs a direction for every edge, but 1 have no evidence"):
            graph_text(model, name)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = graph_text(model, name)
    if FORMATS[name].needs_directions:
        assert "The direction of 1 link is open, but the format" in str(caught[0].message)
    else:
        assert not caught
        assert name in LINES
    if name in LINES:
        assert re.search(LINES[name], text, re.DOTALL)
    back = FORMATS[name].read(text)
    both = {frozenset(edge[:2]) for edge in back.partially_directed().edge_list() if edge[1::-1] in edges_of(back)}
    assert both == (set() if FORMATS[name].needs_directions else {frozenset(LINK)})


def edges_of(graph):
    """Return the ends of all edges, with both directions of a link."""
    return {edge[:2] for edge in graph.partially_directed().edge_list()}


def test_networkx(model):
    assert {frozenset(edge) for edge in to_networkx(model).edges if not to_networkx(model).edges[edge]["directed"]} == {
        frozenset(LINK)
    }


def test_a_sign_that_depends_on_links_is_open_in_every_picture(tmp_path):
    model = Golem("nv").fit(Moments.from_covariance(np.linalg.inv(SIGNS), 5000, names="abc"))
    document = describe(model)
    assert {frozenset(pair) for pair in edges_of_open_sign(document)} == {frozenset("bc")}
    assert re.search(r"b +--- c +±0\.\d\d +open; sign open\n", str(model))
    assert str(model).count("±") == 1
    colors = [patch.get_edgecolor() for patch in plot_graph(model, Figure()).patches]
    assert colors.count(to_rgba(NODE_EDGE, 0.9)) == 1
    assert model_content(document)["open_signs"] in ([[1, 2]], [[2, 1]])
    model.save(tmp_path)
    assert str(golem.load(tmp_path)).splitlines()[4:8] == str(model).splitlines()[4:8]


def test_a_comparison(table, folder):
    found = golem.compare(table, ["order-nv", "pc"])
    marks = {frozenset((row["source"], row["target"])): row["order-nv"] for row in found.agreement()}
    assert marks[frozenset(LINK)] == "--"
    graph = comparison_content(found)["graphs"][0]
    assert all(row[graph["columns"].index("undirected")] for row in graph["rows"])
    words = ["compare", str(folder / "data.csv"), "--methods", "order-nv,pc", "-o", str(folder / "compared"), "-v"]
    printed = CliRunner().invoke(app, words).output
    assert re.search(r"(b, d|d, b) +2 +2 open", printed)


def test_the_list_of_edges(model):
    texts = {edge.text for edge in list_edges(model)}
    assert "a --> c" in texts
    assert texts & {"b --- d", "d --- b"}
