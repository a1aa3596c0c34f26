"""What notebooks show: complete in itself, well-formed, and with every name escaped."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import sklearn

import golem
from golem.comparison import Comparison
from golem.comparison.result import Row
from golem.output.edge_list import list_edges
from golem.output.notebook import model_html
from golem.simulate import simulate

NASTY = ["<script>alert(1)</script>", 'a" onerror="x', "b & c", "$d$"]


@pytest.fixture(scope="module")
def model():
    rows = simulate(4, 500, "ER2", "gaussian-ev", random_state=0).data
    return golem.Golem().fit(golem.Moments.from_rows(rows, NASTY))


def parsed(html):
    """Parse HTML as XML, which fails where a tag or an attribute is not closed or not escaped."""
    return ET.fromstring(f"<div>{html}</div>")


def assert_safe(html):
    assert "<script" not in html
    assert 'onerror="x' not in html
    assert "http" not in html


def test_a_model_shows_picture_edges_and_findings(model):
    html = model._repr_html_()
    assert_safe(html)
    tree = parsed(html)
    cells = [[cell.text for cell in row] for row in tree.iter("tr")]
    found = {edge.text: edge for edge in list_edges(model)}
    assert {row[0] for row in cells[1:]} == set(found)
    for row in cells[1:]:
        assert float(row[2]) == pytest.approx(found[row[0]].standardized_weight, rel=0.01)
        if found[row[0]].directed:
            assert float(row[1]) == pytest.approx(found[row[0]].weight, rel=0.01)
        else:
            assert row[1] is None  # it would depend on the direction
    assert "limits" in [strong.text for strong in tree.iter("strong")]


def test_the_picture_is_embedded_and_names_every_variable(model):
    source = model._repr_html_().split('src="')[1].split('"')[0]
    kind, data = source.split(",")
    assert kind == "data:image/svg+xml;base64"
    assert ET.fromstring(base64.b64decode(data)).tag.endswith("svg")


def test_large_graphs_are_pixels_and_show_the_strongest_edges():
    model = golem.Golem("ev").fit(simulate(80, 500, "ER1", random_state=0).data)
    html = model_html(model)
    assert "data:image/png;base64" in html
    assert html.count("<tr>") == 21
    assert f"and {len(model.edges_) - 20} weaker" in html


def test_before_the_fit_scikit_learn_shows_the_settings():
    assert "noise" in golem.Golem(noise="nv")._repr_html_()
    assert "The learned graph" not in golem.GolemCV()._repr_mimebundle_()["text/html"]


def test_text_alone_where_scikit_learn_is_told_so(model):
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
    assert set(model._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_chosen_model_looks_like_the_model_itself():
    rows = simulate(4, 200, "ER1", random_state=0).data
    chosen = golem.GolemCV(select="bic").fit(rows)
    assert parts(chosen._repr_html_()) == parts(chosen.estimator_._repr_html_())


def parts(html):
    """Return the HTML without its picture, whose ids are random."""
    start, _, rest = html.partition('src="')
    return start, rest.partition('"')[2]


def test_results_are_tables_with_escaped_names(model):
    rows = simulate(4, 300, "ER2", "gaussian-ev", random_state=0).data
    moments = golem.Moments.from_rows(rows, NASTY)
    shards = [golem.Moments.from_rows(part, NASTY) for part in np.array_split(rows, 20)]
    empty = golem.check(np.zeros((4, 4), dtype=bool), moments)
    again = golem.bootstrap(golem.Golem("ev"), shards, 5, random_state=0)
    failed = Row("order", status="error", message=f"{NASTY[0]} is constant")
    compared = Comparison(tuple(NASTY), (failed, Row("pc", edges=3, bic=1.5)), {}, None, {})
    for result in (empty, again, golem.diagnose(model), compared):
        html = result._repr_html_()
        assert_safe(html)
        assert parsed(html) is not None
    assert empty._repr_html_().count("<tr>") == 1 + empty.violations
    frequencies = [float(cell.text) for cell in list(parsed(again._repr_html_()).iter("tr"))[1][2:]]
    a, b = np.unravel_index(again.adjacency_frequency.argmax(), (4, 4))
    assert frequencies[0] == pytest.approx(again.adjacency_frequency[a, b])
