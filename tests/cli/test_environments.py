"""golem fit with environments."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from golem import Golem
from golem.cli import app
from golem.readers import read_graph

TARGETS = {"control": [], "ko": ["b"]}


def golem(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def frame(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ko = np.arange(300) >= 200
    a, noise = rng.normal(size=300), rng.normal(size=(300, 2))
    b = np.where(ko, 3 * noise[:, 0], a + noise[:, 0])
    frame = pd.DataFrame({"a": a, "b": b, "c": b + noise[:, 1], "arm": np.where(ko, "ko", "control")})
    frame.to_csv("data.csv", index=False)
    (tmp_path / "runs").mkdir()
    for label, rows in frame.groupby("arm"):
        rows.drop(columns="arm").to_csv(f"runs/{label}.csv", index=False)
    (tmp_path / "targets.json").write_text(json.dumps(TARGETS))
    return frame


def test_a_column_and_files_give_the_fit_of_python(frame, tmp_path):
    shown = golem(
        "fit", "-v", "data.csv", "--environment", "arm", "--targets", "targets.json", "--bootstrap", 3, "-o", "one"
    )
    assert "2 environments" in shown
    assert "'ko': 100 rows, changes 'b'" in shown
    soft = "A weight describes the environments that do not change the effect."
    assert soft in " ".join(shown.split())
    assert soft in (tmp_path / "one" / "report.html").read_text()
    hard = golem(
        "fit", "-v", "--environments", "runs", "--targets", "targets.json", "--intervention", "hard", "-o", "hard"
    )
    assert soft not in " ".join(hard.split())
    golem(
        "fit", "-v", "--environments", "runs/control.csv", "runs/ko.csv", "--targets", "targets.json", "-o", "two", "-q"
    )
    model = Golem().fit(frame, environments="arm", targets=TARGETS)
    for folder in ("one", "two"):
        graph = read_graph(tmp_path / folder / "graph.json")
        assert np.allclose(graph.weights, model.weights_)
    content = json.loads((tmp_path / "one" / "graph.json").read_text())
    assert content["data"]["environment"] == "arm"
    assert content["data"]["targets"] == "targets.json"
    assert content["moments_hash"] == model.table_.fingerprint


def test_a_run_can_be_repeated_and_selected(frame):
    golem(
        "fit", "--environments", "runs", "--targets", "targets.json", "--intervention", "hard", "--intercepts",
        "shared", "--select", "bic", "-o", "out", "-q",
    )  # fmt: skip
    content = json.loads(golem("fit", "--from", "out/graph.json", "-o", "again", "--json"))
    assert content["settings"]["intervention"] == "hard"
    assert content["repeat"]["same_data"]
    assert content["repeat"]["same_graph"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--environment", "arm"], "Environments need --targets"),
        (["--targets", "targets.json"], "--targets needs environments"),
        (["--environment", "arm", "--environments", "--targets", "targets.json"], "Use one of them"),
        (["--environment", "arm", "--targets", "none.json"], "none.json: There is no such file"),
        (["--environment", "arm", "--targets", "targets.json", "--select", "cv"], "--select cv is not defined"),
        (
            ["--environment", "arm", "--targets", "targets.json", "--noise", "ev"],
            "--noise ev cannot be used with environments",
        ),
        (["--environment", "arm", "--targets", "targets.json", "--solver", "lbfgs"], "need --solver order"),
        (["--drop", "arm", "--intervention", "hard"], "--intervention hard needs --environment and --targets."),
        (["--environment", "arm", "--targets", "targets.json", "--covariance", "--rows", "9"], "no environments"),
    ],
)
def test_options_that_do_not_fit_are_refused(frame, words, message):
    assert message in " ".join(golem("fit", "data.csv", "-o", "out", *words, code=1).split())


def test_a_graph_is_checked_without_the_column_of_labels(frame):
    golem("fit", "data.csv", "--environment", "arm", "--targets", "targets.json", "-o", "out", "-q")
    shown = golem("score", "out/graph.json", "--data", "data.csv")
    assert "The graph does not name the columns 'arm'; they were left out." in shown
    assert "implied independence" in shown


def test_a_comparison_summarizes_the_table_and_names_lines(frame, tmp_path):
    command = ["compare", "-v", "data.csv", "--environment", "arm", "--targets", "targets.json", "--methods", "order"]
    assert "Table: 300 rows, 3 columns (3 numbers)" in golem(*command)
    frame.loc[[250], "a"] = np.nan
    frame.to_csv("data.csv", index=False)
    assert "The first is in line 252." in golem(*command, code=1)
    found = golem(*command, "--missing", "drop")
    assert "Table: 300 rows" in found
    assert "1 value is missing in 1 of 300 rows" in found


def test_true_and_false_are_categories_unless_they_are_numeric(frame):
    table = frame.assign(d=frame["c"] + np.random.default_rng(1).normal(size=300) > 0)
    table.to_csv("data.csv", index=False)
    words = ["--environment", "arm", "--targets", "targets.json", "-o", "out", "-q"]
    for option, kind in (([], bool), (["--numeric", "d"], float)):
        model = Golem().fit(table.astype({"d": kind}), environments="arm", targets=TARGETS)
        assert model.table_.coding.is_numeric == (kind is float)
        golem("fit", "data.csv", *option, *words)
        np.testing.assert_array_equal(read_graph("out/graph.json").adjacency, model.adjacency_)
    np.testing.assert_allclose(read_graph("out/graph.json").weights, model.weights_)
    # Text is a category as well.
    table.assign(e=np.where(frame["a"] > 0, "yes", "no")).to_csv("data.csv", index=False)
    golem("fit", "data.csv", *words, "--bootstrap", "3")
    assert len(read_graph("out/graph.json").names) == 5
