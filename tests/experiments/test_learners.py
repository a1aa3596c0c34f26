"""Methods as experiments use them."""

from pathlib import Path

import numpy as np
import pytest

from golem.experiments import EXPERIMENTS, Task, learners, load
from golem.experiments.analysis.outputs import verdict_text
from golem.experiments.analysis.tables import cell_columns, read_csv
from golem.experiments.learners import build, learn, learn_batch
from golem.simulate import simulate

RESULTS = Path(__file__).parents[2] / "docs" / "results"
CELL = {"d": 6, "steps": 300}


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.setattr(learners, "_golem_ev_solved", {})
    return [simulate(6, n, "ER2", random_state=n).data for n in (100, 200, 300)]


@pytest.mark.parametrize("method", ["golem-ev", "golem-nv", "golem-nv-l1", "golem-nv-plain", "golem-nv-zeros"])
@pytest.mark.parametrize("settings", [{}, {"lambda_sparsity": 0.1}])
def test_a_batch_learns_what_each_would_alone(tables, method, settings):
    learn_batch("golem-ev", CELL, tables, "cpu")
    together = learn_batch(method, CELL | settings, tables, "cpu")
    for rows, one in zip(tables, together, strict=True):
        alone = learn(method, CELL | settings, rows)
        np.testing.assert_allclose(one.model.raw_weights_, alone.model.raw_weights_, atol=1e-10)
        np.testing.assert_array_equal(one.estimate.graph, alone.estimate.graph)


@pytest.mark.parametrize("method", ["golem-ev", "golem-nv", "golem-nv-zeros"])
def test_a_batch_warns_of_each_table_as_it_would_alone(tables, method):
    # One table has few rows, one has columns of equal variance, and one has neither problem.
    tables = [tables[0][:8], tables[1] / tables[1].std(axis=0), tables[2]]
    warned = [one.warned for one in learn_batch(method, CELL, tables, "cpu")]
    assert warned == [learn(method, CELL, rows).warned for rows in tables]
    assert "n = 8 rows" in warned[0]
    assert ("same variance" in warned[1]) is (method == "golem-ev")
    assert not warned[2]


def test_golem_ev_is_solved_once_for_all_that_start_there(tables, monkeypatch):
    solved = []
    fit_stacked = learners.fit_stacked
    monkeypatch.setattr(
        learners, "fit_stacked", lambda model, *rest: (solved.append(model.noise), fit_stacked(model, *rest))[1]
    )
    for method in ("golem-nv", "golem-nv-l1", "golem-ev"):
        learn_batch(method, CELL, tables, "cpu")
    assert solved == ["ev", "nv", "nv"]
    for other in ({"d": 6, "steps": 200}, CELL | {"acyclicity": "polynomial"}):
        solved.clear()
        learn_batch("golem-nv", other, tables, "cpu")
        assert solved == ["ev", "nv"]


def test_the_time_of_a_start_counts(tables):
    learn_batch("golem-ev", CELL, tables, "cpu")
    kept = learners._golem_ev_solved
    ((key, solved),) = kept.items()
    kept[key] = solved._replace(seconds=300.0)
    assert all(one.seconds > 100 for one in learn_batch("golem-nv", CELL, tables, "cpu"))


def test_an_interrupted_start_is_no_start(tables, monkeypatch):
    def interrupted(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("golem.solvers.adam.Adam._moved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn_batch("golem-nv", CELL, tables, "cpu")
    assert not learners._golem_ev_solved


@pytest.mark.parametrize(("method", "key"), [("golem-ev", "8b3d12b5eebeca11"), ("order-nv", "98d79f47c6a7b819")])
def test_keys_of_published_rows_stay_valid(method, key):
    # As in docs/results/identifiable/table.csv: another key would have runs of hours repeated.
    cell = {"graph": "ER1", "noise": "gaussian-ev", "d": 10, "n": 1000, "steps": 100_000}
    assert Task("identifiable", cell, 0, method).key == key


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_published_rows_have_the_settings_of_today(name):
    # A row made with other settings of its method has another key. It must not be averaged with new ones.
    for row in read_csv(RESULTS / name / "table.csv"):
        cell = {column: row[column] for column in cell_columns(row) if row[column] is not None}
        assert Task(name, cell, row["seed"], row["method"]).key == row["key"], (row["method"], cell)


def test_fgs_has_the_score_of_the_paper_and_says_so(tmp_path):
    cell = {"graph": "ER1", "noise": "gaussian-ev", "d": 10, "n": 1000, "steps": 100_000}
    assert (build("fgs", cell).structure_prior, build("fgs-bic", cell).structure_prior) == (1, 0)
    assert Task("identifiable", cell, 0, "fgs").key != Task("identifiable", cell, 0, "fgs-bic").key
    row = {"experiment": "identifiable", **cell, "method": "fgs", "seed": 0, "status": "done", "seconds": 1.0}
    assert "FGS(structure_prior=1)" in verdict_text(load("identifiable"), [row], [], [])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_published_warnings_belong_to_their_rows(name):
    for row in read_csv(RESULTS / name / "table.csv"):
        warning, columns = row.get("warning") or "", str(row.get("columns") or row.get("preparation"))
        if "rows for d" in warning:
            assert f"n = {row['n']} rows for d = {row['d']} columns" in warning
        if "same variance" in warning:
            assert columns.endswith("standardized")
