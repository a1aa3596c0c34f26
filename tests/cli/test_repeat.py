"""Runs that are repeated by golem fit --from: the same graph to the last digit, and what differs is said."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer

from command_line import golem
from golem.cli import app
from golem.cli.fit import _WITH_FROM
from golem.output.run_record import RunRecord, settings
from golem.simulate import simulate


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Run a fit with settings of every kind, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    X = simulate(6, 300, "ER1", random_state=3).data
    X[5, 2] = np.nan
    lines = [",".join("" if v != v else repr(float(v)) for v in row) for row in X]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,d,e,f", *lines]))
    golem(
        "fit", "data.csv", "-o", "out", "-q", "--noise", "nv", "--lambda-sparsity", "bic", "--missing", "drop",
        "--forbid", "a->b", "--require", "b->c", "--columns", "c,a,b,e", "--seed", 5,
    )  # fmt: skip
    return tmp_path


def test_graph_json_holds_what_a_repeat_needs(finished):
    content = json.loads((finished / "out" / "graph.json").read_text())
    assert content["data"] == {
        "paths": ["data.csv"],
        "folder": "..",
        "columns": ["c", "a", "b", "e"],
        "drop": [],
        "header": None,
        "na": [],
        "categorical": [],
        "numeric": [],
        "log": [],
        "covariance": False,
        "rows": None,
        "environment": None,
        "environments": False,
        "transpose": False,
        "targets": None,
    }
    assert content["knowledge"] == {"forbidden": [["a", "b"]], "required": [["b", "c"]], "tiers": []}
    assert content["settings"]["random_state"] == 5
    assert content["moments_hash"].startswith("sha256:")
    assert {"python", "numpy", "scipy"} <= set(content["versions"])
    model = RunRecord.read(finished / "out" / "graph.json").model()
    assert settings(model) == content["settings"]


def test_a_run_is_repeated_to_the_last_digit(finished):
    result = golem("fit", "--from", "out/graph.json", "-o", "again")
    assert "Comparison with out/graph.json: the data are the same; the graph is the same." in result.output
    for name in ("edges.csv", "weights.csv"):
        assert (finished / "again" / name).read_text() == (finished / "out" / name).read_text()
    before, after = (json.loads((finished / folder / "graph.json").read_text()) for folder in ("out", "again"))
    timed = {"seconds", "trace"}
    assert {key: before[key] for key in before.keys() - timed} == {key: after[key] for key in after.keys() - timed}
    verdict = json.loads(golem("fit", "--from", "again/graph.json", "-o", "third", "--json").output)["repeat"]
    assert verdict["same_data"]
    assert verdict["same_graph"]
    assert verdict["largest_difference"] == 0


def test_a_bootstrap_is_repeated_with_its_seed(finished):
    golem("fit", "data.csv", "-o", "first", "-q", "--noise", "ev", "--missing", "drop", "--seed", 3, "--bootstrap", 6)
    golem("fit", "--from", "first/graph.json", "-o", "second", "-q")
    golem("fit", "--from", "first/graph.json", "-o", "third", "-q", "--bootstrap", 7)
    first, second, third = (
        json.loads((finished / folder / "graph.json").read_text())["bootstrap"]
        for folder in ("first", "second", "third")
    )
    assert first == second
    assert first["seed"] == third["seed"] == 3
    assert third["requested"] == 7


def test_the_page_lists_the_options_that_go_with_from():
    page = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(--?[a-z-]+)`", re.search(r"You may add (.*?)\.", page, re.DOTALL)[1]))
    allowed = [option for option in typer.main.get_command(app).commands["fit"].params if option.name in _WITH_FROM]
    names = [{*option.opts, *option.secondary_opts} for option in allowed if option.name not in ("data", "repeat")]
    assert all(len(listed & name) == 1 for name in names)
    assert len(listed) == len(names)


def test_other_data_and_other_versions_are_told(finished):
    header, *lines = (finished / "data.csv").read_text().splitlines()
    (finished / "more.csv").write_text("\n".join([header, *lines[:150]]))
    result = golem("fit", "more.csv", "--from", "out/graph.json", "-o", "again", "--json")
    content = json.loads(result.output)
    assert content["repeat"]["same_data"] is False
    assert content["n"] == 149
    record = finished / "out" / "graph.json"
    changed = json.loads(record.read_text())
    changed["versions"]["numpy"] = "1.0"
    del changed["moments_hash"]
    changed["edge_table"] = []
    record.write_text(json.dumps(changed))
    output = " ".join(golem("fit", "--from", record, "-o", "again").output.split())
    assert "whether the data are the same is not recorded; the graph differs: " in output
    assert f"numpy 1.0 then, {np.__version__} now" in output


def test_weights_that_moved_are_told(finished):
    record = finished / "out" / "graph.json"
    changed = json.loads(record.read_text())
    for edge in changed["edge_table"]:
        edge["weight"] *= 1.01
    record.write_text(json.dumps(changed))
    output = " ".join(golem("fit", "--from", record).output.split())
    assert "the edges are the same, but the weights differ by up to" in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--noise", "ev"], "uses the settings of the earlier run and cannot be combined with --noise"),
        (["--seed", 5, "--forbid", "a->b"], "cannot be combined with --seed, --forbid"),
        (["--columns", "a,b"], "cannot be combined with --columns"),
    ],
)
def test_a_repeat_takes_no_settings(options, message, finished):
    assert message in golem("fit", "--from", "out/graph.json", *options, expect=1).output


def test_records_that_are_none_are_refused(finished):
    assert "Give the graph.json" in golem("fit", "--from", "out/edges.csv", expect=1).output
    assert "There is no such file" in golem("fit", "--from", "none.json", expect=1).output
    record = finished / "out" / "graph.json"
    content = json.loads(record.read_text())
    record.write_text(json.dumps(content | {"data": None}))
    assert "does not record which files were read" in golem("fit", "--from", record, expect=1).output
    record.write_text(json.dumps(content | {"settings": {"colour": "red"}}))
    assert "graph.json: Unknown settings 'colour'" in golem("fit", "--from", record, expect=1).output
    (finished / "data.csv").rename(finished / "gone.csv")
    record.write_text(json.dumps(content))
    said = golem("fit", "--from", record, expect=1).output
    assert (
        f"The data data.csv were not found (tried {finished / 'data.csv'}, data.csv, {record.parent / 'data.csv'})"
        in said
    )
    golem("fit", expect=2)


@pytest.mark.parametrize("typed", ["data.csv", "*.csv", "../first/data.csv"])
def test_a_run_is_repeated_from_another_folder(typed, tmp_path, monkeypatch):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "first")
    golem("simulate", "--d", 5, "--n", 100, "-o", ".", "-q")
    (tmp_path / "first" / "truth.csv").unlink()
    golem("fit", typed, "-o", "out/deep", "-q")
    monkeypatch.chdir(tmp_path / "second")
    # A file of the same name here is not the one that was meant.
    golem("simulate", "--d", 5, "--n", 100, "--seed", 9, "-o", ".", "-q")
    said = " ".join(golem("fit", "--from", "../first/out/deep/graph.json", "-o", "again").output.split())
    assert "the data are the same; the graph is the same" in said
    # The new record can be repeated as well, from a third place.
    monkeypatch.chdir(tmp_path)
    assert "the data are the same" in golem("fit", "--from", "second/again/graph.json", "-o", "third").output


def test_a_record_without_a_folder_is_looked_up_here_and_beside_it(finished, monkeypatch):
    record = finished / "out" / "graph.json"
    content = json.loads(record.read_text())
    del content["data"]["folder"]
    record.write_text(json.dumps(content))
    assert "the data are the same" in golem("fit", "--from", "out/graph.json", "-o", "here").output
    (finished / "data.csv").rename(finished / "out" / "data.csv")
    assert "the data are the same" in golem("fit", "--from", "out/graph.json", "-o", "beside").output


def test_a_penalty_chosen_for_other_data_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, n in (("few", 100), ("many", 400)):
        golem("simulate", "--d", 5, "--n", n, "-o", name, "-q")
    golem("fit", "few/data.csv", "--select", "bic", "-o", "first")
    said = golem("fit", "many/data.csv", "--from", "first/graph.json", "-o", "second").output
    assert "--select bic was kept" in said
    assert "for 100 rows" in said
    assert "for 400" in said
