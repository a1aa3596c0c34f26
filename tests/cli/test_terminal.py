"""What reaches the terminal: names from files without control characters, and edges next to their numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from golem.cli import app, terminal

run = CliRunner()
RED = "\x1b[2Jred\x07\x9b"


@pytest.fixture
def fit(tmp_path, monkeypatch):
    """Fit a table whose second column has this name; return what was printed."""
    monkeypatch.chdir(tmp_path)

    def learn(name, width, file="data.csv", output="out"):
        for console in (terminal.out, terminal.err):
            monkeypatch.setattr(console, "_width", width)
        rows = np.random.default_rng(0).normal(size=(200, 3))
        rows[:, 1] += 2 * rows[:, 0] + 2 * rows[:, 2]
        np.savetxt(file, rows, delimiter=",", header=f"v0,{name},v2", comments="", encoding="utf-8")
        result = run.invoke(app, ["fit", file, "-o", output])
        assert result.exit_code == 0, result.output
        return result.output

    return learn


def test_escapes_in_names_are_shown_as_text(fit):
    shown = fit(RED, 200, "da\x1b]0;x\x07ta.csv", "o\x1b[31mut")
    assert "\\x1b[2Jred\\x07\\x9b" in shown
    assert "o\\x1b[31mut/report.html" in shown
    assert not any(sign in shown for sign in "\x1b\x07\x9b")


@pytest.mark.parametrize(
    "arguments",
    [["fit", f"no{RED}.csv"], ["score", f"a{RED}", "b"], ["fit", f"--{RED}"], [RED], ["export", "graph", "-o", RED]],
    ids=lambda arguments: repr(arguments),
)
def test_escapes_in_arguments_are_shown_as_text(arguments):
    result = run.invoke(app, arguments)
    assert result.exit_code in (1, 2)
    assert "red" in result.output or "graph" in result.output
    assert not any(sign in result.output for sign in "\x1b\x07\x9b")


def test_the_structure_is_told_from_what_is_open(tmp_path):
    rows = np.random.default_rng(0).normal(size=(500, 5))
    rows[:, 2] += rows[:, 0] + rows[:, 1]
    rows[:, 4] += rows[:, 3]
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,b,c,d,e", comments="")
    shown = run.invoke(
        app, ["fit", "-v", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out"), "--noise", "nv"]
    ).output
    found = {
        tuple(line.split()[:3]): line.split(maxsplit=4)[4]
        for line in shown.splitlines()
        if line.startswith("  ") and line.split()[1:2] in (["---"], ["-->"])
    }
    content = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert len(found) == len(content["edge_table"])
    for edge in content["edge_table"]:
        mark = "-->" if edge["directed"] else "---"
        assert found[edge["source"], mark, edge["target"]] == ("from the structure" if edge["directed"] else "open")
    assert [mark for _, mark, _ in found].count("---") == 1


def test_redirected_output_is_not_wrapped_and_lists_at_most_fifty_edges(tmp_path, monkeypatch):
    d = 61  # a chain
    names = [f"the measurement of the quantity with the number {k:02d}" for k in range(d)]
    rows = np.random.default_rng(0).normal(size=(400, d)).cumsum(axis=1)
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header=",".join(names), comments="")
    monkeypatch.setattr(terminal.out, "_width", 60)
    arguments = ["fit", "-v", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out"), "--no-diagnose", "--noise", "ev"]
    lines = run.invoke(app, arguments).output.splitlines()
    shown = [line for line in lines if "-->" in line and not line.startswith("  ")]
    assert len(shown) == 50
    assert all(sum(name in line for name in names) == 2 for line in shown)
    assert "... and 10 more in edges.csv" in lines
    monkeypatch.setattr(terminal.out, "_force_terminal", True)
    assert "... and 10 more in edges.csv" in run.invoke(app, arguments).output
