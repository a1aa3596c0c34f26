"""golem fit --select and --threshold lr: files, tables, refusals."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from command_line import golem
from golem import Golem, GolemCV
from golem.assessment.selection import golem_cv
from golem.readers import read_graph, read_table


@pytest.fixture
def data(tmp_path):
    golem("simulate", "--d", 6, "--n", 200, "--seed", 3, "-o", tmp_path, "--quiet")
    return tmp_path / "data.csv"


@pytest.mark.parametrize("select", ["bic", "cv", "stability"])
def test_the_choice_is_that_of_the_library(select, data, tmp_path, monkeypatch):
    monkeypatch.setitem(golem_cv._OF_METHOD, "pairs", ("stability", 3))  # 25 take long
    out = tmp_path / "out"
    result = golem("fit", "-v", data, "-o", out, "--noise", "ev", "--select", select, "--seed", 5)
    expected = GolemCV(Golem("ev"), select, random_state=5).fit(read_table(data).values)
    document = json.loads((out / "graph.json").read_text())
    assert document["selection"]["method"] == select
    assert document["selection"]["chosen"] == pytest.approx(expected.best_params_)
    assert document["settings"]["lambda_sparsity"] == pytest.approx(expected.best_params_["lambda_sparsity"])
    np.testing.assert_allclose(read_graph(out / "graph.json").weights, expected.weights_, atol=1e-9)
    assert [row["edges"] for row in document["selection"]["path"]] == [row["edges"] for row in expected.path_]
    with (out / "path.csv").open() as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_allclose([float(row["score"]) for row in rows], [row["score"] for row in expected.path_])
    assert (out / "path.png").read_bytes().startswith(b"\x89PNG")
    assert result.output.count("<- chosen") == 1
    assert "penalty per edge (deviance)" in result.output
    assert ("std. error of difference from best" in result.output) == (select == "cv")
    ends = {document["selection"]["path"][k]["lambda_sparsity"] for k in (0, -1)}
    at_end = document["selection"]["chosen"]["lambda_sparsity"] in ends
    assert ("Note: The choice is the" in result.output) == at_end


def test_large_files_are_divided_into_shards(data, tmp_path, monkeypatch):
    monkeypatch.setattr("golem.data.source.ROWS_UP_TO", 0)
    monkeypatch.setattr("golem.data.source.SHARDS", 10)
    monkeypatch.setattr("golem.data.source.read_rows", None)  # the rows are not read again
    result = golem("fit", data, "-o", tmp_path / "out", "--noise", "ev", "--select", "cv", "--json", "--no-diagnose")
    assert json.loads(result.output)["selection"]["method"] == "cv"


def test_thresholds_by_likelihood_ratio(data, tmp_path):
    out = tmp_path / "out"
    golem("fit", data, "-o", out, "--noise", "ev", "--solver", "lbfgs", "--threshold", "lr", "-q")
    expected = Golem("ev", "lbfgs", threshold="lr").fit(read_table(data).values)
    document = json.loads((out / "graph.json").read_text())
    np.testing.assert_allclose(read_graph(out / "graph.json").weights, expected.weights_, atol=1e-8)
    assert document["used"]["threshold"] == pytest.approx(expected.threshold_, rel=1e-3)
    assert document["used"]["cycles"] == "gentle"
    assert document["selection"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--select", "cv", "--lambda-sparsity", "bic"], "--select cv replaces --lambda-sparsity bic. Omit one"),
        (["--threshold", "lr"], "--solver order does not use it"),
        (["--threshold", "-1", "--solver", "lbfgs"], "at least 0"),
    ],
)
def test_contradictions_are_told_before_the_rows_are_read(options, words, tmp_path):
    result = golem("fit", tmp_path / "missing.csv", "-o", tmp_path / "out", *options, expect=1)
    assert words in result.output
    assert not (tmp_path / "out").exists()


def test_too_few_rows_to_divide_are_told_with_the_file(tmp_path):
    (tmp_path / "few.csv").write_text("a,b\n1,2\n2,1\n3,5\n4,4\n5,1\n6,3\n7,7\n8,2\n")
    result = golem("fit", tmp_path / "few.csv", "-o", tmp_path / "out", "--select", "cv", expect=1)
    assert "few.csv: 5 folds need at least 10 rows; got 8 rows" in result.output


def test_the_path_of_another_run_does_not_stay(data, tmp_path):
    out = tmp_path / "out"
    golem("fit", data, "-o", out, "--select", "bic", "-q")
    assert (out / "path.csv").exists()
    assert (out / "path.png").exists()
    golem("fit", data, "-o", out, "-q")
    assert not (out / "path.csv").exists()
    assert not (out / "path.png").exists()


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--threshold", "some", "not a number or lr"),
        ("--lambda-sparsity", "some", "not a number, mbic, ebic or"),
        ("--device", "gpu", "Unknown device 'gpu'"),
    ],
)
def test_a_value_that_cannot_be_read_is_an_error_in_the_command(option, value, words, tmp_path):
    result = golem("fit", tmp_path / "missing.csv", "-o", tmp_path / "out", option, value, expect=2)
    assert words in " ".join(result.output.split())
