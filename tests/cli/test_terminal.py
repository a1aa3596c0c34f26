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


@pytest.mark.parametrize("name", ["v1", "a_very_long_name_of_a_column"])
def test_a_narrow_terminal_shows_edges_with_their_numbers(fit, name, monkeypatch):
    monkeypatch.setattr(terminal.out, "_force_terminal", True)
    lines = [line.split() for line in fit(name, 20).splitlines()]
    assert ["edge", "weight", "std.", "error", "standardized"] in [line[:5] for line in lines]
    start = {"v0", name[:12]}
    assert any({line[0], line[2]} == start and float(line[3]) for line in lines if line[1:2] == ["->"])


def test_a_narrow_terminal_marks_undecided_edges_in_the_arrow(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[:, 1] += 2 * rows[:, 0]
    np.savetxt(tmp_path / "data.csv", rows / rows.std(axis=0), delimiter=",", header="v0,v1", comments="")
    arguments = ["fit", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out"), "--bootstrap", "2"]
    monkeypatch.setattr(terminal.out, "_force_terminal", True)
    for width, arrow, mark in (
        (62, "--", "-- (undecided): 1 of 1 direction"),
        (200, "->", "undecided: 1 of 1 direction"),
    ):
        monkeypatch.setattr(terminal.out, "_width", width)
        shown = run.invoke(app, arguments).output.splitlines()
        [edge] = [line for line in shown if line.startswith("v") and "%" in line]
        assert arrow in edge.split()
        assert ("undecided" in edge) == (arrow == "->")
        assert any(line.startswith(mark) for line in shown)
        assert all(len(line) <= width for line in shown if "%" in line and line.startswith(("v", "edge")))


def test_the_summary_says_that_the_structure_gives_all_directions(tmp_path):
    rows = np.random.default_rng(0).normal(size=(500, 6))
    rows[:, 2] += rows[:, 0] + rows[:, 1]
    rows[:, 5] += 3 * (rows[:, 3] + rows[:, 4])
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,b,c,d,e,f", comments="")
    shown = run.invoke(app, ["fit", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out"), "--noise", "nv"]).output
    assert "\nby structure: 4 of 4 directions are the same in all graphs of the equivalence class\n" in shown
    content = json.loads((tmp_path / "out" / "graph.json").read_text())
    low, high = sorted(value for value in content["r2"] if value)
    assert f"median {(low + high) / 2:.2f} of 2 variables with parents, highest {high:.2f} ('f')" in shown


def test_directions_by_structure_are_named_next_to_others(tmp_path):
    rows = np.random.default_rng(0).normal(size=(500, 5))
    rows[:, 2] += rows[:, 0] + rows[:, 1]
    rows[:, 4] += rows[:, 3]
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,b,c,d,e", comments="")
    shown = run.invoke(app, ["fit", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out"), "--noise", "nv"]).output
    cells = [line.split()[6:] for line in shown.splitlines() if line.split()[1:2] == ["->"]]
    assert sorted(cells) == [["by", "structure"], ["by", "structure"], ["undecided"]]
    assert "\nby structure: 2 of 3 directions are the same in all graphs of the equivalence class\n" in shown


def test_redirected_output_is_not_wrapped_and_lists_at_most_fifty_edges(tmp_path, monkeypatch):
    d = 61  # a chain
    names = [f"the measurement of the quantity with the number {k:02d}" for k in range(d)]
    rows = np.random.default_rng(0).normal(size=(400, d)).cumsum(axis=1)
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header=",".join(names), comments="")
    monkeypatch.setattr(terminal.out, "_width", 60)
    arguments = ["fit", str(tmp_path / "data.csv"), "-o", str(tmp_path / "out"), "--no-diagnose", "--noise", "ev"]
    lines = run.invoke(app, arguments).output.splitlines()
    shown = [line for line in lines if "->" in line]
    assert len(shown) == 50
    assert all(sum(name in line for name in names) == 2 for line in shown)
    assert "... and 10 more in edges.csv" in lines
    monkeypatch.setattr(terminal.out, "_force_terminal", True)
    assert "... and 10 more in edges.csv" in run.invoke(app, arguments).output
