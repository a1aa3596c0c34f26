"""Settings to JSON and back, and the command that repeats a fit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from golem import Golem, Knowledge
from golem.cli import app
from golem.graphs.formats import read_graph_document
from golem.graphs.graph_document import GraphDocument, SourceRecord
from golem.output.run_record import fit_words, model_from, settings
from golem.runtime.devices import Placement
from golem.score.acyclicity import LogDet
from golem.solvers import LBFGS, Adam, Order


@pytest.mark.parametrize(
    "model",
    [
        Golem(),
        Golem("ev", "lbfgs", threshold=0.1, acyclicity=LogDet(s=2.0), cycles="gentle", lambda_dag=1),
        Golem("nv", Adam(max_iter=7, batch_size=5), init=np.zeros((3, 3)), random_state=np.int64(4)),
        Golem(solver=Order("fast", placement=Placement("cuda", "float32"))),
        Golem(solver=LBFGS(memory=3), missing="em", time_limit=2.5),
        Golem(lambda_sparsity="ebic", effort="thorough", knowledge=Knowledge.named([("a", "b")], tiers=[["a"], ["c"]])),
        Golem(lambda_sparsity=0.5, init=[2, 0, 1]),
        Golem.paper("nv"),
    ],
)
def test_settings_come_back_from_json(model):
    stored = json.dumps(settings(model), allow_nan=False)
    again = model_from(json.loads(stored))
    for name, value in model.get_params().items():
        np.testing.assert_equal(again.get_params()[name], value)
    assert json.dumps(settings(again)) == stored


def test_an_order_to_start_from_comes_back_from_a_tuple():
    again = model_from(json.loads(json.dumps(settings(Golem(init=(2, 0, 1))))))
    np.testing.assert_array_equal(again.init, [2, 0, 1])


def test_masks_come_back_as_names():
    known = Knowledge.of(3, [(0, 1)], [(2, 1)], [[2], [1]])
    again = model_from(settings(Golem(knowledge=known))).knowledge.resolve(("x0", "x1", "x2"))
    np.testing.assert_array_equal(again.forbidden, known.forbidden)
    np.testing.assert_array_equal(again.required, known.required)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"colour": "red"}, "Unknown settings 'colour'"),
        ({"random_state": "Generator(PCG64)"}, "its seed was a Generator"),
        ({"solver": {"type": "Annealing"}}, "Unknown type 'Annealing'"),
        ({"solver": {"type": "Adam", "wings": 2}}, "'Adam' are damaged or from another version"),
        ({"solver": {"type": "Adam", "time_limit": {}}}, "Expected `float | null`, got `object`"),
        ({"solver": {"type": []}}, r"Unknown type '\[\]'"),
        ({"init": [[0, {}], [0, 0]]}, "'init' must contain only numbers"),
        ({"init": [[0, 1], [0]]}, "'init' have different lengths"),
        ({"knowledge": {"a": 1}}, "Unknown key 'a'"),
        ({"knowledge": {"outcome": 5}}, "outcome must be a list of names"),
        ({"callback": "f"}, "Unknown settings 'callback'"),
    ],
)
def test_settings_that_cannot_come_back_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        model_from(values)


def test_all_that_was_said_about_the_files_becomes_options():
    source = SourceRecord(
        paths=["x.csv"], folder="..", columns=["a", "b,c"], header=False, na=["-9", "?"], environments=True, targets="t"
    )
    words = fit_words(GraphDocument(names=["a"], data=source))
    assert words[:4] == ["x.csv", "--columns", 'a,"b,c"', "--no-header"]
    assert words[4:] == ["--na", "-9", "--na", "?", "--environments", "--targets", "t"]
    source = SourceRecord(header=True, numeric=["a"], covariance=True, rows=50)
    assert fit_words(GraphDocument(names=["a"], data=source)) == [
        "data.csv", "--header", "--numeric", "a", "--covariance", "--rows", "50",
    ]  # fmt: skip


def test_the_words_repeat_the_fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(60, 3)).cumsum(axis=1)
    rows[7, 2] = -9
    lines = ['a,"b,c",d,e', *(",".join([*map(str, row), "text"]) for row in rows)]
    (tmp_path / "my data.csv").write_text("\n".join(lines))
    first = ["my data.csv", "--noise", "nv", "--lambda-sparsity", "0.05", "--time-limit", "9", "--seed", "4", "--drop"]
    CliRunner().invoke(app, ["fit", *first, "e", "--na", "-9", "--missing", "drop", "-o", "one", "-q"])
    words = fit_words(read_graph_document(tmp_path / "one" / "graph.json"))
    result = CliRunner().invoke(app, ["fit", *words, "-o", "two", "-q"])
    assert result.exit_code == 0, result.output
    one, two = (json.loads((tmp_path / name / "graph.json").read_text()) for name in ("one", "two"))
    for key in ("settings", "data", "edge_table"):
        assert one[key] == two[key]
