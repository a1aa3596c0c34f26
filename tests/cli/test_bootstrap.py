"""golem fit --bootstrap: columns, graph.json, the summary, files too large for memory, Ctrl-C."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import golem
from golem import Golem
from golem.cli import app
from golem.readers import read_table, shards_from_file

run = CliRunner()
COLUMNS = ["adjacency_frequency", "direction_frequency", "weight_low", "weight_high", "effect_low", "effect_high"]


@pytest.fixture
def data(tmp_path):
    result = run.invoke(app, ["simulate", "--graph", "ER1", "--d", "6", "--n", "400", "-o", str(tmp_path), "-q"])
    assert result.exit_code == 0, result.output
    return tmp_path / "data.csv"


def fit(data, *options, expect=0):
    result = run.invoke(app, ["fit", "-v", str(data), "-o", str(data.parent / "out"), *map(str, options)])
    assert result.exit_code == expect, result.output
    return result.output


def document(data):
    return json.loads((data.parent / "out" / "graph.json").read_text())


def test_files_hold_what_the_function_returns(data):
    output = fit(data, "--bootstrap", 15, "--seed", 4)
    table = read_table(data)
    expected = golem.bootstrap(Golem(random_state=4), table.values, 15, random_state=4)
    with (data.parent / "out" / "edges.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-6:] == COLUMNS
    assert len(rows) >= 3
    for row in rows:
        i, j = table.names.index(row["source"]), table.names.index(row["target"])
        numbers = [
            expected.adjacency_frequency[i, j],
            expected.direction_frequency[i, j],
            *expected.weight_interval[:, i, j],
            *expected.effect_interval[:, i, j],
        ]
        np.testing.assert_allclose([float(row[name]) for name in COLUMNS], numbers, rtol=1e-9, atol=1e-12)
    written = document(data)["bootstrap"]
    assert {name: written[name] for name in ("replicates", "requested", "unit", "seed")} == {
        "replicates": 15, "requested": 15, "unit": "rows", "seed": 4,
    }  # fmt: skip
    assert len(written["edges"]) == (expected.direction_frequency > 0).sum()
    names = np.array(table.names)
    assert written["consensus"] == [[names[i], names[j]] for i, j in np.argwhere(expected.consensus)]
    assert "15 graphs learned from resampled rows" in output
    assert re.search(r"x\d +--> +x\d +[+-][\d.]+ +\([+-].*, [+-].*\) +100% +\d+%", output)


def test_few_graphs_are_told(data):
    assert "too few for reliable numbers" in fit(data, "--bootstrap", 38)
    assert "too few for reliable numbers" not in fit(data, "--bootstrap", 39)


def test_without_it_nothing_is_added(data):
    fit(data)
    assert document(data)["bootstrap"] is None
    with (data.parent / "out" / "edges.csv").open() as file:
        assert not set(COLUMNS) & set(next(csv.reader(file)))


def test_large_files_are_drawn_by_shards(data, monkeypatch):
    monkeypatch.setattr("golem.data.source.ROWS_UP_TO", 10)
    monkeypatch.setattr("golem.data.source.SHARDS", 25)
    printed = json.loads(fit(data, "--bootstrap", 10, "--json"))
    expected = golem.bootstrap(Golem(), shards_from_file(data, 25), 10)
    written = document(data)["bootstrap"]
    assert written["unit"] == "shards"
    assert len(written["edges"]) == (expected.direction_frequency > 0).sum()
    names = read_table(data).names
    for edge in printed["edge_list"]:
        pair = names.index(edge["source"]), names.index(edge["target"])
        assert edge["direction_frequency"] == pytest.approx(expected.direction_frequency[pair])


def test_a_number_that_makes_no_sense_is_a_matter_of_usage(data):
    fit(data, "--bootstrap", 0, expect=2)


def test_ctrl_c_before_the_first_replicate_leaves_the_files_of_the_fit(data, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("golem.workflow.steps.bootstrap", interrupted)
    assert "arrows among 6 variables" in fit(data, "--bootstrap", 10, expect=130)
    assert document(data)["bootstrap"] is None


# Ctrl-C after the third replicate.
_INTERRUPTED = """
import os, signal
import golem.workflow
from golem.cli import main
plain = golem.workflow.steps.bootstrap
def interrupted(*arguments, callback, **options):  # the callback is None, as there is no terminal
    def show(done, total):
        if done == 3:
            os.kill(os.getpid(), signal.SIGINT)
    return plain(*arguments, callback=show, **options)
golem.workflow.steps.bootstrap = interrupted
main()
"""


def test_ctrl_c_keeps_the_replicates_that_are_done(data):
    command = [sys.executable, "-c", _INTERRUPTED, "fit", "-v", data, "-o", data.parent / "out", "--bootstrap", "1000"]
    # The children of a job in the background are born deaf to Ctrl-C.
    hearing = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.run(command, capture_output=True, preexec_fn=hearing)
    assert process.returncode == 130
    assert b"Traceback" not in process.stderr
    assert b"(of 1000 requested)" in process.stdout
    written = document(data)["bootstrap"]
    assert 3 <= written["replicates"] < written["requested"] == 1000
