"""Knowledge as it is typed: --forbid, --require and --knowledge of golem fit and golem compare."""

from __future__ import annotations

import csv
import itertools
import json

import numpy as np
import pytest

from command_line import golem
from golem.readers import read_graph

NAMES = ("age", "blood pressure", "dose->effect", 'the "x"')


@pytest.fixture
def data(tmp_path, rng):
    """Write a chain from the first name to the last."""
    X = rng.normal(size=(400, 4))
    for j in range(1, 4):
        X[:, j] += X[:, j - 1]
    path = tmp_path / "data.csv"
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    path.write_text(quoted + "\n" + "\n".join(",".join(map(str, row)) for row in X))
    return path


def learned_edges(folder):
    graph = read_graph(folder / "graph.json")
    return {(graph.names[i], graph.names[j]) for i, j in np.argwhere(graph.weights)}


def test_edges_on_the_command_line_are_obeyed(data, tmp_path):
    golem("fit", data, "-o", tmp_path / "free", "-q")
    assert learned_edges(tmp_path / "free") == set(itertools.pairwise(NAMES))
    golem(
        "fit", data, "-o", tmp_path / "known", "-q", "--forbid", "age -> blood pressure", "--forbid",
        "blood pressure->dose->effect", "--require", 'the "x"->age', "--require", '"dose->effect"->blood pressure',
    )  # fmt: skip
    edges = learned_edges(tmp_path / "known")
    assert edges >= {('the "x"', "age"), ("dose->effect", "blood pressure")}
    assert not edges & {("age", "blood pressure"), ("blood pressure", "dose->effect")}


def test_a_file_and_options_add_up_and_stand_in_the_result(data, tmp_path):
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"tiers": [['the "x"'], ["age", "blood pressure"]], "required": [["age", NAMES[2]]]}))
    golem("fit", data, "-o", tmp_path / "out", "-q", "--knowledge", path, "--forbid", "blood pressure->dose->effect")
    edges = learned_edges(tmp_path / "out")
    assert ("age", "dose->effect") in edges
    assert ("blood pressure", "dose->effect") not in edges
    assert not {(a, b) for a, b in edges if b == 'the "x"' and a in NAMES[:2]}


def test_the_summary_lists_the_knowledge_and_the_arrows_that_it_forces(data, tmp_path):
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"tiers": [["age"], ["blood pressure", 'the "x"']], "required": [["age", NAMES[2]]]}))
    printed = golem("fit", "-v", data, "-o", tmp_path / "out", "--noise", "nv", "--knowledge", path).output
    assert "Knowledge used: required 'age' -> 'dose->effect'; tier 1: age; tier 2: blood pressure, the \"x\"" in printed
    table = json.loads((tmp_path / "out" / "graph.json").read_text())["edge_table"]
    forced = sum(edge["direction_from"] == "knowledge" for edge in table)
    assert printed.count("   given by you") == forced
    assert ("age", NAMES[2], "knowledge") in {(e["source"], e["target"], e["direction_from"]) for e in table}
    header, *rows = csv.reader((tmp_path / "out" / "edges.csv").read_text().splitlines())
    assert sum(row[header.index("direction_from")] == "knowledge" for row in rows) == forced


@pytest.mark.parametrize("command", ["fit", "compare"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--forbid", "age"], "'age' is not an edge"),
        (["--forbid", "aeg->blood pressure"], "not a column. Did you mean 'age'?"),
        (["--require", "age->age"], "self-loops are not possible"),
        (["--require", 'age->the "x"', "--require", 'the "x"->age'], "form a cycle: 'age' -> 'the \"x\"' -> 'age'"),
        (["--require", 'age->the "x"', "--forbid", 'age->the "x"'], "is required and forbidden"),
        (["--knowledge", "none.json"], "none.json: There is no such file"),
    ],
)
def test_contradictions_end_the_command_before_any_work(command, options, message, data, tmp_path):
    # No row is read: it would be found to be no number.
    data.write_text(data.read_text().splitlines()[0] + "\n1,2,3,4\n" * 60 + "1,2,3,four\n")
    result = golem(command, data, "-o", tmp_path / "out", *options, expect=1)
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("methods_here")
def test_compare_obeys(data, tmp_path):
    golem(
        "compare", data, "--methods", "order,pc,sort-regress-var", "-o", tmp_path / "out", "-q",
        "--require", 'the "x"->age',
    )  # fmt: skip
    rows = (tmp_path / "out" / "comparison.csv").read_text()
    agreement = (tmp_path / "out" / "agreement.csv").read_text()
    assert "which knowledge cannot change" in rows  # the order of the variances is what it is
    assert 'age,"the ""x""",' in agreement or '"the ""x""",age,' in agreement
