"""Figures and verdicts of partial tables say what is missing."""

from __future__ import annotations

import matplotlib as mpl
import pytest

from golem_experiments import Grid, load
from golem_experiments.analysis import outputs
from golem_experiments.analysis.tables import write_csv
from golem_experiments.engine.provenance import row_of
from golem_experiments.engine.store import flat

ABOUT = {"mode": "quick", "version": "0", "commit": "", "hardware": "here"}
MEASURED = {"shd": 1.0, "shd_c": 1.0, "sid": 1.0, "tpr": 0.5, "fit_seconds": 1.0}
IDENTIFIABLE = load("identifiable")
TASKS = IDENTIFIABLE.tasks(Grid(quick=True))


@pytest.fixture(autouse=True)
def no_png(monkeypatch):
    """Save only the figures that are read here."""
    monkeypatch.setattr(outputs, "_FORMATS", {"svg": {"metadata": {"Date": None}}})
    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")  # text stays text


def table_of(tasks):
    return [flat({"key": IDENTIFIABLE.key(task)} | row_of(task, "done", "", MEASURED, 0.0, **ABOUT)) for task in tasks]


def published(table, folder):
    """Return the text of the verdicts and the figure of a table."""
    write_csv(table, folder / "table.csv")
    outputs.republish(IDENTIFIABLE, folder)
    return (folder / "verdict.md").read_text(), (folder / "figure-all.svg").read_text()


def test_a_complete_table_is_not_called_incomplete(tmp_path):
    text, figure = published(table_of(TASKS), tmp_path)
    assert "ncomplete" not in text + figure


def test_the_tasks_that_were_not_run_are_counted_by_method(tmp_path):
    tasks = [task for task in TASKS if (task.method, task.cell["graph"]) != ("pc", "ER4")]
    text, figure = published(table_of(tasks), tmp_path)
    count = len(TASKS) - len(tasks)
    assert f"The table is incomplete: {count} tasks not run ({count} of pc).\n" in text
    assert f"Incomplete: {count} tasks without results, see verdict.md" in figure


def test_seeds_that_a_method_was_not_run_with_are_counted(tmp_path):
    tasks = [task for task in TASKS if task.method != "pc" or task.seed == 0]
    count = len(TASKS) - len(tasks)
    assert count
    text, _ = published(table_of(tasks), tmp_path)
    assert f"The table is incomplete: {count} tasks not run ({count} of pc).\n" in text


def test_commits_are_named_and_rows_of_a_changed_source_tree_counted(tmp_path):
    table = table_of(TASKS)
    text = published(table, tmp_path)[0]
    assert "commit not recorded;" in text
    assert "source tree" not in text
    table[0]["commit"] = "0123456789ab+"
    assert (
        "1 row with a + after the commit ran on a source tree with uncommitted changes."
        in published(table, tmp_path)[0]
    )


def test_values_without_any_row_are_named(tmp_path):
    text, _ = published(table_of([task for task in TASKS if task.cell["graph"] == "ER1"]), tmp_path)
    assert "No row has graph = ER4." in text


def test_tasks_that_were_not_completed_are_counted_in_the_figure(tmp_path):
    table = table_of(TASKS)
    table[0] |= dict.fromkeys(MEASURED) | {"status": "time limit", "reason": "60 s"}
    text, figure = published(table, tmp_path)
    assert "1 task was not completed" in text
    assert "Incomplete: 1 task without results" in figure


@pytest.mark.parametrize("kept", [("graph", "ER1"), ("noise", "exponential"), ("method", "fgs"), ("seed", 0)])
def test_every_part_of_a_table_is_drawn_and_judged(tmp_path, kept):
    """One row of a part and one of the rest: most panels are empty."""
    name, value = kept
    table = table_of(TASKS)
    part = [row for row in table if row[name] == value][:1] + [row for row in table if row[name] != value][-1:]
    text, figure = published(part, tmp_path)
    assert all(claim in text for claim in IDENTIFIABLE.claims)
    assert "no results" in figure
