"""The graph document: it reads back what it wrote, version 1 is still read, and what is wrong is said in a sentence."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from golem.cli import app
from golem.graphs.graph_document import GraphDocument, document_of, read_document, sparse
from golem.graphs.named_graph import NamedGraph
from golem.simulate import random_dag

VERSION_1 = {
    "format": "golem-graph",
    "format_version": 1,
    "names": ["a", "b", "c"],
    "weights": [[0, 2.0, 0], [0, 0, 0], [0, -1.5, 0]],
    "raw_weights": [[0, 2.0, 0.1], [0, 0, 0], [0, -1.5, 0]],
    "undecided_edges": [["c", "b"]],
    "edge_table": [
        {"source": "a", "target": "b", "weight": 2.0, "undecided": False, "drop_loss": None},
        {"source": "c", "target": "b", "weight": -1.5, "undecided": True, "drop_loss": 3.0},
        {"source": "a", "target": "c", "weight": 0.0, "undecided": False, "drop_loss": None},
    ],
    "noise_variances": [1.0, 2.0, 3.0],
    "intercepts": None,
    "bootstrap": {"replicates": 9, "edges": [{"source": "a", "target": "b", "effect_low": 1.0}], "consensus": []},
}


def test_a_graph_reads_back(rng):
    weights = random_dag(12, "ER2", rng) * rng.normal(size=(12, 12))
    graph = NamedGraph.from_weights(weights, tuple(f"x {k}" for k in range(12)))
    back = read_document(GraphDocument.of_graph(graph).text()).graph()
    np.testing.assert_array_equal(back.weights, weights)
    assert back.names == graph.names
    assert back.weighted


def test_a_class_has_no_weights():
    graph = NamedGraph.from_class(np.array([[False, True], [True, False]]), ("a", "b"))
    back = read_document(GraphDocument.of_graph(graph).text()).graph()
    assert not back.weighted
    np.testing.assert_array_equal(back.adjacency, graph.adjacency)


def test_version_1_is_read():
    document = document_of(VERSION_1)
    assert document.format_version == 2
    assert document.raw_weights == sparse(VERSION_1["raw_weights"])
    assert document.bootstrap.replicates == 9
    edges = {(source, target): row for source, target, row in document.graph().edge_list()}
    assert edges["a", "b"] == {"weight": 2.0, "directed": True, "effect_low": 1.0}
    assert edges["c", "b"] == {"weight": -1.5, "directed": False, "drop_loss": 3.0}
    assert edges["a", "c"]["weight"] == 0.0
    np.testing.assert_array_equal(document.graph().noise_variances, [1.0, 2.0, 3.0])


def test_raw_weights_that_were_not_rounded_are_not_stored():
    assert document_of(VERSION_1 | {"raw_weights": VERSION_1["weights"]}).raw_weights is None


def test_the_size_of_a_document_grows_with_the_edges_not_with_the_square_of_the_variables(rng):
    sizes = []
    for d in (200, 800):
        graph = NamedGraph.from_weights(random_dag(d, "ER1", 0) * 0.5, tuple(f"x{k}" for k in range(d)))
        sizes.append(len(GraphDocument.of_graph(graph).text()))
    assert sizes[1] < 5 * sizes[0]


def test_unknown_keys_of_other_versions_do_no_harm():
    assert document_of(VERSION_1 | {"colour": "blue"}).names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["a", 2, "c"]}, r"Expected `str`, got `int` - at `\$.names\[1\]`"),
        ({"weights": [[0]]}, "The weights must have 3 rows, one per name"),
        ({"weights": [[0, 0, 0], [0, 0, 0], [0, {}, 0]]}, "of the weights has a value that is not a finite number"),
        (
            {"weights": [[0, 0, 0], [0, 0, 0], [0, 10**400, 0]]},
            "of the weights has a value that is not a finite number",
        ),
        ({"raw_weights": {"a": 1}}, "The raw weights must have 3 rows"),
        ({"edge_table": [3]}, "Every edge needs a source and a target"),
        ({"diagnostics": [1]}, r"Expected `object`, got `int` - at `\$.diagnostics\[0\]`"),
        ({"versions": -1}, "versions"),
        ({"format_version": 7}, "cannot read format version 7"),
        ({"format_version": 10**400}, r"cannot read format version 10{17}\.\.\."),
        ({"noise_variances": [1.0, 2.0]}, "noise_variances must have 3 numbers, one per name"),
        ({"noise_variances": []}, "noise_variances must have 3 numbers, one per name"),
        ({"bootstrap": {"consensus": [["a", "z"]]}}, "An edge has the end 'z', which is not a node"),
        ({"bootstrap": [1]}, "has the wrong type"),
        ({"bootstrap": {"seed": -1}}, r"Expected `int` >= 0 - at `\$.bootstrap.seed`"),
        ({"names": [["a"], ["b"], ["c"]]}, "has the wrong type"),
        ({"undecided_edges": [["a", "z"]]}, "has the wrong type"),
        ({"trace": [{"iteration": "x", "seconds": 1, "terms": {}}]}, "iteration"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(change, message):
    with pytest.raises(ValueError, match=message):
        document_of(VERSION_1 | change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"diagnostics": [1]}, r"Expected `object`, got `int` - at `\$.diagnostics\[0\]`"),
        ({"versions": -1}, "got `int` - at `\\$.versions`"),
        ({"raw_weights": {"a": 1}}, "got `object` - at `\\$.raw_weights`"),
        ({"raw_weights": [{"a": 1}]}, "got `object`"),
        ({"raw_weights": [[0, 2, 1.0]]}, "raw_weights must refer to variables by numbers from 0 to 1"),
        ({"raw_weights": [[-1, 0, 1.0]]}, "raw_weights must refer to variables by numbers from 0 to 1"),
        ({"data": {"paths": [["data.csv"]]}}, r"Expected `str`, got `array` - at `\$.data.paths\[0\]`"),
        ({"edge_table": [{"source": 1, "target": "b"}]}, "Every edge needs a source and a target"),
        ({"edge_table": [{"source": "a", "target": "b", "weight": 10**400}]}, "out of range"),
        ({"settings": {"init": "nested"}}, "nested too deeply"),
    ],
)
def test_damaged_documents_are_refused_with_a_reason_by_the_report(tmp_path, change, message):
    content = json.dumps({"format_version": 2, "names": ["a", "b"]} | change)
    (tmp_path / "graph.json").write_text(content.replace('"nested"', "[" * 800 + "]" * 800))
    result = CliRunner().invoke(app, ["report", str(tmp_path / "graph.json"), "-o", str(tmp_path / "report.html")])
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    assert re.search(message, result.output)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"names": ["a"]}', "[" * 100_000, '{"names": ["a"], "weights": 1}'])
def test_texts_that_are_no_document_are_refused(text):
    with pytest.raises(ValueError, match=r"\S"):
        read_document(text)


def test_numbers_that_are_not_finite_become_null():
    text = GraphDocument(names=["a"], bic=float("nan"), objective={"score": float("inf")}).text()
    assert json.loads(text)["bic"] is None
    assert json.loads(text)["objective"] == {"score": None}
