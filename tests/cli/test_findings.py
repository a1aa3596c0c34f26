"""The diagnosis as the command line shows and saves it."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from command_line import golem
from golem import Golem
from golem.data import source as files
from golem.data.files import streaming
from golem.diagnostics import Diagnosis, Finding, diagnose
from golem.readers import read_table
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told


@pytest.fixture
def chain(tmp_path):
    """Write a random walk, whose directions rest on the units."""
    X = np.random.default_rng(0).normal(size=(500, 6)).cumsum(axis=1)
    np.savetxt(tmp_path / "data.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="")
    return tmp_path


def test_the_summary_and_the_files_hold_the_findings(chain):
    printed = golem("fit", "-v", chain / "data.csv", "-o", chain / "out").stdout
    found = json.loads((chain / "out" / "graph.json").read_text())["diagnostics"]
    table = read_table(chain / "data.csv")
    frame = pd.DataFrame(table.values, columns=list(table.names))
    findings = diagnose(Golem(random_state=0).fit(frame), frame).findings
    assert found == [
        dataclasses.asdict(one) | {"remedy": told(one.remedy, SHELL), "edges": [[*pair] for pair in one.edges]}
        for one in findings
    ]
    lines = printed.splitlines()
    for finding in found:
        line = f"{finding['level'].title()}: {finding['finding']} {finding['remedy']}"
        assert (line in lines) == (finding["level"] != "ok")
    assert any(
        line.startswith("Warning: If the columns are standardized, 5 of 5 edges remain, but no direction does")
        for line in lines
    )
    assert json.loads(golem("fit", chain / "data.csv", "-o", chain / "out", "--json").stdout)["diagnostics"] == found


def test_checks_can_be_left_out(chain):
    printed = golem("fit", "-v", chain / "data.csv", "-o", chain / "out", "--no-diagnose").stdout
    assert "Note: " not in printed
    assert printed.count("from the noise variances") == 5
    assert "An unmeasured common cause looks just like an edge" in printed
    assert json.loads((chain / "out" / "graph.json").read_text())["diagnostics"] is None


def test_rows_that_do_not_fit_are_not_read_again(chain, monkeypatch):
    monkeypatch.setattr(files, "MOST_NUMBERS", 2999)
    assert (
        "Note: Not checked, because the rows were not available"
        in golem("fit", "-v", chain / "data.csv", "-o", chain / "out").stdout
    )
    monkeypatch.setattr(files, "MOST_NUMBERS", 3000)
    assert "Not checked" not in golem("fit", "-v", chain / "data.csv", "-o", chain / "out").stdout


def test_a_large_table_is_checked_on_a_sample(chain, monkeypatch):
    monkeypatch.setattr(files, "MOST_NUMBERS", 1000)
    monkeypatch.setattr(streaming, "ROWS_PER_BLOCK", 10)
    walk = np.random.default_rng(0).normal(size=(500, 4)).cumsum(axis=0)
    np.savetxt(chain / "walk.csv", walk, delimiter=",", header="a,b,c,d", comments="")
    printed = golem("fit", "-v", chain / "walk.csv", "-o", chain / "out").stdout
    assert "Not checked" not in printed
    assert "Note: The checks that need rows used a sample of 200 of 500 complete rows." in printed
    assert "Warning: Neighbouring rows depend on each other" in printed
    document = json.loads((chain / "out" / "graph.json").read_text())
    assert "The 500 rows carry" in document["diagnostics"][0]["finding"]
    assert f"about {document['effective_rows']} independent ones" in document["diagnostics"][0]["finding"]


def test_a_table_without_complete_rows_is_checked_as_far_as_it_goes(chain):
    lines = (chain / "data.csv").read_text().splitlines()
    for k in range(1, len(lines)):
        cells = lines[k].split(",")
        cells[k % 4] = ""
        lines[k] = ",".join(cells)
    (chain / "holes.csv").write_text("\n".join(lines) + "\n")
    printed = golem("fit", "-v", chain / "holes.csv", "-o", chain / "out", "--missing", "em").stdout
    assert "Not checked, because no row is complete" in " ".join(printed.split())
    assert "golem.diagnose" not in printed


def test_ctrl_c_in_the_checks_keeps_the_graph(chain, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("golem.workflow.steps.diagnose", interrupted)
    result = golem("fit", chain / "data.csv", "-o", chain / "out", expect=130)
    assert "The graph, without the checks, is saved in" in result.stderr
    assert json.loads((chain / "out" / "graph.json").read_text())["edges"] == 5


def test_few_rows_are_told_once(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 15))
    np.savetxt(tmp_path / "data.csv", X, delimiter=",", header=",".join("abcdefghijklmno"), comments="")
    result = golem("fit", tmp_path / "data.csv", "-o", tmp_path / "out")
    assert result.stderr.count("n = 20 rows for d = 15 columns") == 1
    assert "n = 20 rows" not in result.stdout
    found = json.loads((tmp_path / "out" / "graph.json").read_text())["diagnostics"]
    assert {f["name"]: f["level"] for f in found}["rows"] == "warning"


def test_the_screen_has_two_findings_and_the_limits_and_the_details_have_all(chain, monkeypatch):
    levels = ["warning", "warning", "note", "note", "note", "note", "note", "ok"]
    found = Diagnosis([Finding(f"f{k}", level, f"Finding {k}.", "Do it.") for k, level in enumerate(levels)])
    monkeypatch.setattr("golem.workflow.steps.diagnose", lambda *arguments: found)
    printed = golem("fit", "-v", chain / "data.csv", "-o", chain / "out").stdout.splitlines()
    start = printed.index("Before you rely on it   (and 5 notes in the report)")
    assert printed[start + 1 : start + 3] == ["  ! Finding 0.", "  ! Finding 1."]
    assert printed[start + 3].startswith("  ! An unmeasured common cause")
    assert printed[start + 4] == ""
    details = [f"{level.title()}: Finding {k}. Do it." for k, level in enumerate(levels[:7])]
    start = printed.index(details[0])
    assert printed[start:] == details
