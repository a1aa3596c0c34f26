"""The report of a series: steps in time as bands, and a summary with lags as labels."""

import re
from xml.etree import ElementTree

import numpy as np

from golem import Golem
from golem.graphs.graph_document import GraphDocument, SeriesRecord
from golem.output.document import describe
from golem.output.report import report_document
from golem.output.report.content import model_content
from golem.output.report.series_summary import MOST_VARIABLES, summary_picture
from golem.simulate import sample_series


def fitted():
    present = np.array([[0, 0.7, 0], [0, 0, 0], [0, 0, 0]])
    past = np.array([[[0.5, 0, 0.5], [0, 0.4, 0], [0, 0, 0]], [[0, 0, 0.4], [0, 0, 0], [0, 0, 0]]])
    return describe(Golem(lags=2).fit(sample_series(present, past, 800, random_state=0)))


def test_steps_in_time_are_bands_below_each_other():
    content = model_content(fitted())
    down = content["layouts"][0]
    assert [name for name, _ in down["bands"]] == ["2 back", "1 back", "now"]
    heights = dict(zip(content["names"], (y for _, y in down["places"]), strict=True))
    assert max(heights[f"x{k}@2"] for k in range(3)) < min(heights[f"x{k}@1"] for k in range(3))
    assert max(heights[f"x{k}@1"] for k in range(3)) < min(heights[f"x{k}"] for k in range(3))


def test_the_summary_has_one_line_per_pair_with_its_lags(tmp_path):
    document = fitted()
    page = report_document(document, tmp_path / "report.html").read_text()
    assert "3 variables and 2 steps back" in page
    picture = re.search(r'<svg class="summary".*?</svg>', page, re.S)
    svg = ElementTree.fromstring(picture[0])
    texts = ["".join(text.itertext()) for text in svg.iter("text")]
    assert sorted(texts) == ["0", "1, 2", "x0 (1)", "x1 (1)", "x2"]
    assert len([one for one in svg.iter("path") if one.get("fill") == "none"]) == 2


def test_names_are_escaped_and_links_are_dashed():
    rows = [{"source": "<b>", "target": "c", "directed": False, "lag": 0}, {"source": "c@1", "target": "c", "lag": 1}]
    names = ["<b>", "c", "<b>@1", "c@1"]
    series = SeriesRecord(variables=["<b>", "c"], lags=1)
    document = GraphDocument(names=names, edge_table=rows, series=series)
    svg = ElementTree.fromstring(summary_picture(document))
    assert [one.get("marker-end") for one in svg.iter("path") if one.get("stroke-dasharray")] == [None]
    assert "<b>" in ["".join(text.itertext()) for text in svg.iter("text")]
    many = [f"v{k}" for k in range(MOST_VARIABLES + 1)]
    assert not summary_picture(GraphDocument(names=many, edge_table=[], series=SeriesRecord(variables=many, lags=1)))
