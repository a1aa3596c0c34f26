"""golem experiment, as a user types it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import golem
from golem.cli import app
from golem_experiments import EXPERIMENTS
from golem_experiments.engine import runner
from golem_experiments.engine.store import Store

ONE = ["experiment", "weight-scale", "--seeds", "1", "--sizes", "4", "--methods", "notears-l1"]


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_a_run_leaves_its_files_and_the_same_command_goes_on(tmp_path):
    out = tmp_path / "out"
    result = invoke(*ONE, "-o", out, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "8 tasks: 0 done before, 8 run now. 0 of these failed" in result.output
    assert {path.name for path in out.iterdir()} == {
        "rows", "table.csv", "figure.png", "figure-all.png", "verdict.md", "command.txt",
    }  # fmt: skip
    with (out / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len({row["key"] for row in table}) == 8
    assert {path.stem for path in (out / "rows").iterdir()} == {row["key"] for row in table}
    assert all(json.loads(path.read_text())["status"] == "done" for path in (out / "rows").iterdir())
    again = invoke(*ONE, "-o", out)
    assert "0 of 8 tasks, compiling (only once" in result.output
    assert "8 done before, 0 run now" in again.output
    assert "compiling" not in again.output
    assert "quick run" not in again.output
    command = f"golem experiment weight-scale --seeds 1 --sizes 4 --methods notears-l1 -o {out} --workers 1\n"
    assert (out / "command.txt").read_text() == command  # that which made the rows
    (out / "figure.png").unlink()
    (out / "table.csv").unlink()
    plotted = invoke("experiment", "weight-scale", "--plot", "-o", out)
    assert plotted.exit_code == 0
    files = "table.csv, figure.png, figure-all.png, verdict.md"
    assert f"Saved {out}/{files}" in plotted.output
    assert (out / "figure.png").stat().st_size > 1000
    assert (out / "table.csv").exists()
    wrong = invoke("experiment", "identifiable", "--plot", "-o", out)
    assert wrong.exit_code == 1
    assert "belongs to 'weight-scale', not to 'identifiable'" in wrong.output


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
    assert "the same command continues" in result.output
    with (tmp_path / "table.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 3
    monkeypatch.setattr(runner.Store, "add", add)
    assert "3 done before, 5 run now" in invoke(*ONE, "-o", tmp_path, "--workers", 1).output


def test_sigterm_ends_a_run_like_ctrl_c_with_the_table_published(tmp_path):
    command = [sys.executable, "-m", "golem", *ONE[:3], "400", *ONE[4:], "-o", str(tmp_path), "--workers", "2"]
    # As a shell starts a job in the background: it ignores Ctrl-C.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(golem.__file__).parents[1])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    while process.poll() is None and len(Store(tmp_path).keys()) < 3:
        time.sleep(0.01)
    process.terminate()
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 143, said
    assert "the same command continues" in said
    with (tmp_path / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert {row["key"] for row in table} == Store(tmp_path).keys()
    assert {row["status"] for row in table} == {"done"}
    assert (tmp_path / "verdict.md").exists()
    assert not list((tmp_path / "rows").glob(".*"))


def test_failures_are_told_with_the_remedy_and_a_quick_run_says_that_it_is_one(tmp_path, monkeypatch):
    here = Path(__file__).parent
    monkeypatch.syspath_prepend(str(here))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(here), str(Path(golem.__file__).parents[1])]))
    toy = ["experiment", "toys.toy_experiment", "--quick", "--workers", "1", "-o", tmp_path, "--methods"]
    first = invoke(*toy, "square,fail")
    assert "4 tasks: 0 done before, 4 run now. 2 of these failed" in first.output
    assert "toys.toy_experiment: nothing - quick run" in first.output
    again = invoke(*toy, "square,fail")
    assert "4 done before, 0 run now. 2 of these failed" in again.output
    assert "Add --retry to run them again" in again.output
    assert "2 done before, 2 run now" in invoke(*toy, "square,fail", "--retry").output
    assert (tmp_path / "command.txt").read_text().splitlines()[1].endswith("--workers 1 --retry")
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "table.csv").rename(moved / "table.csv")
    plotted = invoke("experiment", "toys.toy_experiment", "--plot", "-o", moved)
    assert "quick run" in plotted.output
    assert f"Saved {moved}/figure.png, verdict.md" in plotted.output
    (moved / "table.csv").write_text("key,experiment,method,seed\na,toys.toy_experiment,square,0\n")
    wrong = invoke("experiment", "toys.toy_experiment", "--plot", "-o", moved)
    assert wrong.exit_code == 1
    assert "is not the table of an experiment: it has no column 'status'" in wrong.output


@pytest.mark.parametrize("options", [[], ["--list"]])
def test_the_experiments_are_listed_on_one_screen_or_with_their_claims(options):
    result = invoke("experiment", *options)
    assert result.exit_code == 0
    for name in EXPERIMENTS:
        assert f"{name}  (" in result.output
    assert ("GOLEM-EV remains competitive on large graphs" in result.output) == bool(options)
    assert len(result.output.splitlines()) <= 25 or options


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["identfiable"], 1, "Did you mean 'identifiable'"),
        (["identifiable", "--methods", "foo"], 1, "This experiment has no method 'foo'"),
        (["identifiable", "--sizes", "ten"], 2, "is not a list of whole numbers"),
        (["identifiable", "--scheduler", "tcp://x:1"], 1, "--scheduler needs --executor dask"),
        (["identifiable", "--plot"], 1, "Run the experiment first"),
        (
            ["identifiable", "--plot", "--methods", "foo"],
            1,
            "--plot runs nothing and cannot be combined with --methods",
        ),
        (["identifiable", "--plot", "--device", "cpu"], 1, "--plot runs nothing and cannot be combined with --device"),
        (["identifiable", "--plot", "--batch", "2"], 1, "--plot runs nothing and cannot be combined with --batch"),
        (
            ["identifiable", "--plot", "--time-limit", "5"],
            1,
            "--plot runs nothing and cannot be combined with --time-limit",
        ),
        (
            ["identifiable", "--plot", "--executor", "dask", "--scheduler", "tcp://x:1", "--workers", "1"],
            1,
            "--plot runs nothing and cannot be combined with --executor, --scheduler, --workers",
        ),
        (
            ["identifiable", "--executor", "dask", "--scheduler", "tcp://x:1", "--workers", "9"],
            1,
            "--workers 9 starts workers on this machine, but the scheduler at tcp://x:1 has its own",
        ),
        (["sachs", "--sizes", "5"], 1, "'sachs' has no sizes to choose from"),
        (["identifiable", "--quick", "--device", "nonsense"], 1, "Unknown device 'nonsense'"),
    ],
)
def test_mistakes_are_sentences(arguments, code, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke("experiment", *arguments)
    assert result.exit_code == code
    assert sentence in result.output.replace("\n", " ").replace("  ", " ")
    assert not list(tmp_path.iterdir())


def test_without_the_package_the_other_commands_work_and_this_one_says_what_is_missing():
    code = "import sys; sys.modules['golem_experiments'] = None; from golem.cli import main; main()"
    environment = os.environ | {"PYTHONPATH": str(Path(golem.__file__).parents[1])}

    def golem_without(*arguments):
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)

    assert golem_without("--version").returncode == 0
    ended = golem_without("experiment", "sachs")
    assert ended.returncode == 1
    assert "The package golem_experiments is not installed." in ended.stderr
