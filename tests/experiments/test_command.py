"""golem experiment, as a user types it."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from golem.cli import app
from golem.experiments import EXPERIMENTS, runner

ONE = ["experiment", "weight-scale", "--seeds", "1", "--sizes", "4", "--methods", "notears-l1"]


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_a_run_leaves_its_files_and_the_same_command_goes_on(tmp_path):
    out = tmp_path / "out"
    result = invoke(*ONE, "-o", out, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "8 tasks: 0 were there, 8 ran, 0 of them failed" in result.output
    assert {path.name for path in out.iterdir()} == {
        "rows", "table.csv", "figure.png", "figure.svg", "verdict.md", "command.txt",
    }  # fmt: skip
    with (out / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len({row["key"] for row in table}) == 8
    assert {path.stem for path in (out / "rows").iterdir()} == {row["key"] for row in table}
    assert all(json.loads(path.read_text())["status"] == "done" for path in (out / "rows").iterdir())
    again = invoke(*ONE, "-o", out)
    assert "8 were there, 0 ran" in again.output
    assert (out / "command.txt").read_text().count("golem experiment weight-scale --seeds 1 --sizes 4") == 1
    (out / "figure.png").unlink()
    assert invoke("experiment", "weight-scale", "--plot", "-o", out).exit_code == 0
    assert (out / "figure.png").stat().st_size > 1000
    wrong = invoke("experiment", "identifiable", "--plot", "-o", out)
    assert wrong.exit_code == 1
    assert "is of 'weight-scale', not of 'identifiable'" in wrong.output


def test_ctrl_c_keeps_what_is_there(tmp_path, monkeypatch):
    added = []
    add = runner.Store.add

    def interrupted(store, row):
        if len(added) == 3:
            raise KeyboardInterrupt
        added.append(row)
        return add(store, row)

    monkeypatch.setattr(runner.Store, "add", interrupted)
    result = invoke(*ONE, "-o", tmp_path, "--workers", 1)
    assert result.exit_code == 130
    assert "the same command goes on" in result.output
    with (tmp_path / "table.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 3
    monkeypatch.setattr(runner.Store, "add", add)
    assert "3 were there, 5 ran" in invoke(*ONE, "-o", tmp_path, "--workers", 1).output


@pytest.mark.parametrize("arguments", [["experiment"], ["experiment", "--list"]])
def test_the_experiments_are_listed_with_their_claims(arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0
    for name in EXPERIMENTS:
        assert f"{name}  (" in result.output
    assert "GOLEM-EV remains competitive on large graphs" in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["identfiable"], 1, "did you mean 'identifiable'"),
        (["identifiable", "--methods", "foo"], 1, "this experiment has no method 'foo'"),
        (["identifiable", "--sizes", "ten"], 2, "is no list of whole numbers"),
        (["identifiable", "--scheduler", "tcp://x:1"], 1, "--scheduler is for --executor dask"),
        (["identifiable", "--plot"], 1, "run the experiment first"),
    ],
)
def test_mistakes_are_sentences(arguments, code, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke("experiment", *arguments)
    assert result.exit_code == code
    assert sentence in result.output.replace("\n", " ").replace("  ", " ")
    assert not list(tmp_path.iterdir())
