"""The screen of a fit: at most 25 lines of 80 columns, the answer first, whatever the table."""

from __future__ import annotations

import json
import re
import textwrap

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from golem.cli import app
from golem.simulate import simulate

MOST_LINES, WIDTH = 25, 80
LONG = "a very long name of a column that was measured twice, number"


def chain(d, n=300, seed=0):
    """Return a random walk over the columns, standardized, so that most directions are open."""
    rows = np.random.default_rng(seed).normal(size=(n, d)).cumsum(axis=1)
    return pd.DataFrame(rows / rows.std(axis=0), columns=[f"x{k}" for k in range(d)])


def holes(table):
    """Return a table with gaps in every column."""
    return table.mask(np.random.default_rng(1).random(table.shape) < 0.02)


def mixed(n=300):
    """Return numbers, categories, codes and zeros."""
    rng = np.random.default_rng(2)
    size = rng.normal(size=n)
    return pd.DataFrame(
        {
            "size": size,
            "kind": np.where(size + rng.normal(size=n) > 0, "large", "small"),
            "ward": rng.integers(0, 4, n),
            "dose": np.maximum(0, size + rng.normal(size=n)),
            "cost": size + rng.normal(size=n),
        }
    )


def environments():
    """Return rows of two experiments."""
    table = chain(4, 400)
    return table.assign(arm=["control"] * 200 + ["other"] * 200)


TABLES = {
    "two columns": (chain(2), []),
    "seven columns": (chain(7), []),
    "three hundred columns": (pd.DataFrame(simulate(300, 400, "ER2", random_state=0).data), []),
    "long names": (chain(12).rename(columns=lambda name: f"{LONG} {name}"), []),
    "bootstrap": (chain(14, 80), ["--bootstrap", "12"]),
    "no edges": (pd.DataFrame(np.random.default_rng(3).normal(size=(100, 6)), columns=[*"abcdef"]), []),
    "few rows": (chain(20, 25), []),
    "dropped rows": (holes(chain(8)), ["--missing", "drop"]),
    "em": (holes(chain(8)), ["--missing", "em", "--bootstrap", "3"]),
    "categories": (mixed(), []),
    "codes": (mixed()[["ward", "dose", "cost"]], []),
    "selection": (chain(8), ["--select", "bic"]),
    "certificate": (chain(6), ["--noise", "ev", "--certificate"]),
    "environments": (environments(), ["--environment", "arm", "--targets", "targets.json"]),
    "knowledge": (chain(9), ["--noise", "nv", "--require", "x0->x1", "--no-diagnose"]),
    "curves": (chain(5).assign(x5=lambda table: table.x4**2), []),
}


def screen(*words):
    """Run a command and return its result, and the lines that a terminal of 80 columns would show."""
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    noted = [part for line in result.stderr.splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
    return result, [*noted, *result.stdout.splitlines()]


@pytest.mark.parametrize("name", TABLES)
def test_a_fit_prints_one_screen(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, options = TABLES[name]
    table.rename(columns=str).to_csv("data.csv", index=False)
    (tmp_path / "targets.json").write_text('{"control": [], "other": ["x1"]}')
    result, lines = screen("fit", "data.csv", "-o", "out", *options)
    assert len(lines) <= MOST_LINES, result.output
    printed = result.stdout.splitlines()
    assert max(map(len, printed)) <= WIDTH
    assert printed[0].startswith("data.csv: ")
    before, after = (next(k for k, line in enumerate(printed) if line.startswith(head)) for head in ("Before", "Next"))
    assert before < after
    assert "unmeasured common cause" in printed[after - 2]
    assert 1 <= after - 2 - before <= 3
    edges = json.loads((tmp_path / "out" / "graph.json").read_text())["edge_table"]
    shown = [line for line in printed[:before] if re.search(" --[->] ", line)]
    assert len(shown) >= min(len(edges), 4) or "--bootstrap" in options
    assert len(shown) <= min(len(edges), 10)
    assert sum(" --- " in line for line in shown) <= sum(not edge["directed"] for edge in edges)
    assert any(line.startswith("  report") and "report.html" in line for line in printed[after:])


def test_three_hundred_columns_show_the_ten_strongest_edges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLES["three hundred columns"][0].rename(columns=lambda k: f"v{k}").to_csv("data.csv", index=False)
    result, _ = screen("fit", "data.csv", "-o", "out", "--no-diagnose")
    edges = json.loads((tmp_path / "out" / "graph.json").read_text())["edge_table"]
    shown = [line.split() for line in result.stdout.splitlines() if re.search(" --[->] ", line)]
    assert [{line[0], line[2]} for line in shown] == [{edge["source"], edge["target"]} for edge in edges[:10]]
    assert f"the 10 strongest of {len(edges)}" in result.stdout


def test_arrows_are_listed_although_links_are_stronger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = chain(14, 300)
    table["a"], table["b"] = rng.normal(size=(2, 300))
    table["weak"] = 0.3 * table["a"] + 0.3 * table["b"] + rng.normal(size=300)
    table.to_csv("data.csv", index=False)
    result, _ = screen("fit", "data.csv", "-o", "out", "--require", "a->weak")
    shown = [line.split() for line in result.stdout.splitlines() if re.search(" --[->] ", line)]
    assert next(line[:3] for line in shown if line[1] == "-->") == ["a", "-->", "weak"]
    assert re.search(r"the \d+ strongest of \d+", result.stdout)
    assert "\n  the arrow" in result.stdout or "strongest of 2 arrows" in result.stdout
    assert len(shown) <= 10


def test_edges_are_grouped_by_how_often_they_were_found_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chain(14, 60).to_csv("data.csv", index=False)
    result, _ = screen("fit", "data.csv", "-o", "out", "--bootstrap", 20)
    shares = {
        frozenset((edge["source"], edge["target"])): edge["adjacency_frequency"]
        for edge in json.loads((tmp_path / "out" / "graph.json").read_text())["edge_table"]
    }
    low = None
    for line in result.stdout.partition("Before")[0].splitlines():
        if line.startswith("  in "):
            low = 0.9 if "at least 90%" in line else 0.5
        elif re.search(" --[->] ", line):
            share = shares[frozenset(line.split()[:3:2])]
            assert low <= share
            assert low == 0.9 or share < 0.9
    rare = sum(share < 0.5 for share in shares.values())
    assert (f"{rare} edge" in result.stdout) == (rare > 0)


def test_edges_that_were_never_found_again_are_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(33).normal(size=(40, 2))
    pd.DataFrame(rows, columns=["a", "b"]).to_csv("data.csv", index=False)
    result, _ = screen("fit", "data.csv", "-o", "out", "--bootstrap", 4, "--no-diagnose")
    assert "  not listed: 1 edge in less than 50%" in result.stdout.splitlines()


def test_the_first_sentence_says_what_was_not_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(simulate(10, 2000, "ER1", random_state=0).data).rename(columns=lambda k: f"v{k}").to_csv(
        "data.csv", index=False
    )
    result, _ = screen("fit", "data.csv", "--noise", "nv", "--evidence", "fast", "-o", "out", "--no-diagnose")
    edges = json.loads((tmp_path / "out" / "graph.json").read_text())["edge_table"]
    unchecked = sum(edge["direction_from"] == "unchecked" for edge in edges)
    assert unchecked
    assert f"{unchecked} follow from the structure, unchecked." in " ".join(result.stdout.split())
    assert "cannot tell" not in result.stdout


def test_the_demo_prints_one_screen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result, lines = screen("demo")
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    assert "the textbook network has" in result.stdout


@pytest.mark.usefixtures("methods_here")
def test_other_commands_print_one_screen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chain(12).to_csv("data.csv", index=False)
    chain(12, seed=5).to_csv("fresh.csv", index=False)
    screen("fit", "data.csv", "-o", "out", "-q")
    (tmp_path / "truth.csv").write_text("source,target\n" + "".join(f"x{k},x{k + 1}\n" for k in range(11)))
    for words in (
        ["compare", "data.csv", "--truth", "truth.csv"],
        ["score", "truth.csv", "out/graph.json"],
        ["score", "truth.csv", "--data", "fresh.csv"],
        ["simulate", "-o", "drawn"],
        ["export", "out/graph.json", "-o", "graph.dot"],
        ["report", "out/graph.json"],
    ):
        result, lines = screen(*words)
        assert sum(len(textwrap.wrap(line, WIDTH)) or 1 for line in lines) <= MOST_LINES, result.output


def test_the_help_has_the_options_people_need_and_help_all_the_rest():
    few, everything = (
        set(re.findall(r"--[a-z][a-z-]*", CliRunner().invoke(app, ["fit", word]).output))
        for word in ("--help", "--help-all")
    )
    assert few - {"--help-all", "--from", "--noise", "--help", "--numeric"} < everything
    assert {"--output", "--require", "--bootstrap", "--missing", "--help-all"} <= few
    assert "--lambda-sparsity" in everything - few
    assert len(CliRunner().invoke(app, ["simulate", "--help"]).output) > 100
