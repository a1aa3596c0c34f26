"""The published results follow from their tables: verdicts, the summary, keys and warnings."""

import importlib.util
import textwrap
from pathlib import Path

import pytest

from golem_experiments import EXPERIMENTS, Grid, Task, load
from golem_experiments.analysis.claims import what_was_run
from golem_experiments.analysis.outputs import judge, verdict_text
from golem_experiments.analysis.tables import cell_columns, read_csv

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
spec = importlib.util.spec_from_file_location("summarize_results", ROOT / "docs" / "summarize_results.py")
summarize_results = importlib.util.module_from_spec(spec)
spec.loader.exec_module(summarize_results)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_rows_have_the_settings_of_today(name):
    # A row made with other settings of its method has another key. It must not be averaged with new ones.
    experiment = load(name)
    for row in read_csv(RESULTS / name / "table.csv"):
        cell = {column: row[column] for column in cell_columns(row) if row[column] is not None}
        assert experiment.key(Task(name, cell, row["seed"], row["method"])) == row["key"], (row["method"], cell)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_warnings_belong_to_their_rows(name):
    for row in read_csv(RESULTS / name / "table.csv"):
        warning, columns = row.get("warning") or "", str(row.get("columns") or row.get("preparation"))
        if "rows for d" in warning:
            assert f"n = {row['n']} rows for d = {row['d']} columns" in warning
        if "same variance" in warning:
            assert columns.endswith("standardized")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_verdicts_are_those_of_the_table(name):
    experiment, table = load(name), read_csv(RESULTS / name / "table.csv")
    commands = (RESULTS / name / "command.txt").read_text(encoding="utf-8").splitlines()
    text = verdict_text(experiment, table, judge(experiment, table), commands)
    assert (RESULTS / name / "verdict.md").read_text(encoding="utf-8") == text, f"run golem experiment {name} --plot"


def test_the_summary_is_that_of_the_tables():
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == summarize_results.summary(), "run `make docs`"


def test_the_page_of_the_paper_has_the_claims_of_today():
    page = ROOT / "docs" / "paper.md"
    assert page.read_text(encoding="utf-8") == summarize_results.claims_page(), "run `make docs`"
    assert {*summarize_results.OF_THE_PAPER, *summarize_results.BEYOND} == set(EXPERIMENTS)


def test_the_summary_counts_seeds_by_setting_and_runs_that_were_not_completed():
    row = {"experiment": "x", "graph": "ER1", "d": 10, "method": "a", "status": "done", "hardware": "H200; CPU"}
    table = [row | {"seed": seed, "device": "cpu" if seed else "cuda"} for seed in range(5)]
    table += [row | {"seed": seed, "d": 20, "status": "timeout" if seed else "done"} for seed in range(2)]
    assert what_was_run(table) == ("graph = ER1; d = 10, 20; 1 to 5 seeds; 7 runs, 1 not completed; 1 run on H200")
    assert "d = 10 to 18 (9 values); " in what_was_run([row | {"seed": 0, "d": d} for d in range(10, 19)])


def test_the_experiment_of_the_page_runs():
    text, names = (RESULTS / "running.md").read_text(encoding="utf-8"), {}
    exec(textwrap.dedent(text[text.index("    from golem_experiments") : text.index("\nIt then has")]), names)
    own = names["EXPERIMENT"]
    table = [{**task.cell, **own.run(task)} for task in own.tasks(Grid(tiny=True))]
    assert [one.word for one in own.verdicts(table)] == ["holds"]
    assert own.figure(table).axes
