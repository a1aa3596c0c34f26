"""Each experiment, as small as it goes: it runs, its figure is drawn, every claim gets its verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest

from golem.comparison.registry import compile_method
from golem_experiments import EXPERIMENTS, Grid, Task, load
from golem_experiments.analysis.inference import is_lower, mean
from golem_experiments.analysis.outputs import judge, verdict_text
from golem_experiments.analysis.tables import average, contrast, interaction, metric, paired
from golem_experiments.engine.provenance import row_of
from golem_experiments.engine.store import flat


def table_of(experiment, tasks):
    about = {"mode": "tiny", "version": "0", "commit": "", "hardware": "here"}
    rows = [
        {"key": experiment.key(task)} | row_of(task, "done", "", experiment.run(task), 0.0, **about) for task in tasks
    ]
    return [flat(row) for row in rows]


@pytest.fixture(scope="module")
def compiled():
    """Compile the search over orders for equal variances, or load it, as the runner does before its clock starts."""
    compile_method("order-ev")


@pytest.mark.usefixtures("compiled")
# Without other packages, `series` has only the search that is left out here.
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "series"])
def test_every_experiment_runs_draws_and_judges(name):
    experiment = load(name)
    assert experiment.name == name
    assert experiment.claims
    # The search for unequal variances takes half a minute to compile, and has tests of its own.
    tasks = [task for task in experiment.tasks(Grid(tiny=True)) if task.method not in ("order", "order-nv")]
    table = table_of(experiment, tasks)
    assert len({row["key"] for row in table}) == len(table)
    figure = experiment.figure(table)
    drawn = [line for axes in figure.axes for line in axes.lines]
    assert drawn
    verdicts = judge(experiment, table)
    assert [verdict.claim for verdict in verdicts] == list(experiment.claims)
    text = verdict_text(experiment, table, verdicts, ["golem experiment"])
    assert all(claim in text for claim in experiment.claims)
    assert "(tiny run)" in text


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_versions_of_an_experiment_share_no_task(name):
    experiment = load(name)
    grids = (Grid(), Grid(quick=True), Grid(tiny=True))
    keys = [set(map(experiment.key, experiment.tasks(grid))) for grid in grids]
    assert len(keys[0]) > len(keys[1]) > len(keys[2]) > 0
    assert not keys[0] & keys[1]
    assert not keys[1] & keys[2]


def test_the_full_grid_is_the_papers():
    tasks = load("identifiable").tasks(Grid())
    cells = {(t.cell["graph"], t.cell["noise"], t.cell["d"]) for t in tasks}
    assert len(cells) == 4 * 3 * 4
    assert {t.seed for t in tasks} == set(range(12))
    assert {t.cell["steps"] for t in tasks} == {100_000}
    assert {t.cell["n"] for t in tasks} == {1000}
    constraints = load("constraints").tasks(Grid())
    assert {t.cell["n"] for t in constraints} == {100, 300, 1000, 3000, 10000}
    assert {t.cell["cycles"] for t in constraints} == {"none"}
    assert {(t.cell["noise"], t.method) for t in constraints} == {
        (f"gaussian-{noise}", f"golem-{noise}{variant}") for noise in ("ev", "nv") for variant in ("", "-l1", "-plain")
    }
    assert {t.cell["weight_scale"] for t in load("weight-scale").tasks(Grid())} == {k / 10 for k in range(3, 11)}
    assert {t.cell["d"] for t in load("scalability").tasks(Grid())} == {100, 200, 400, 800, 1600, 3200}


def test_a_grid_is_narrowed():
    tasks = load("identifiable").tasks(Grid(seeds=2, sizes=(7,), methods=("pc", "golem-ev")))
    assert {(t.cell["d"], t.seed) for t in tasks} == {(7, 0), (7, 1)}
    assert list(dict.fromkeys(t.method for t in tasks)) == ["golem-ev", "pc"]


CELL = {"graph": "ER1", "noise": "gaussian-ev", "d": 10, "n": 1000, "steps": 100, "threshold": 0.3}


def test_keys_are_stable_and_tell_every_setting_apart():
    key, task = load("identifiable").key, Task("identifiable", CELL, 0, "golem-ev")
    assert key(task) == key(Task("identifiable", dict(reversed(CELL.items())), 0, "golem-ev"))
    changes = {"graph": "ER2", "noise": "gumbel", "d": 11, "n": 999, "steps": 101, "threshold": 0.1}
    others = [Task("identifiable", CELL | {name: value}, 0, "golem-ev") for name, value in changes.items()]
    others += [
        Task("identifiable", CELL, 1, "golem-ev"),
        Task("identifiable", CELL, 0, "golem-nv"),
        Task("identifiable", CELL, 0, "golem-nv-zeros"),
        Task("nonidentifiable", CELL, 0, "golem-ev"),
        Task("identifiable", CELL | {"more": 1}, 0, "golem-ev"),
    ]
    assert len(set(map(key, [task, *others]))) == len(others) + 1


def test_the_key_holds_the_settings_of_the_method(monkeypatch):
    from golem.baselines import Notears
    from golem.comparison import registry as methods

    experiment, task = load("identifiable"), Task("identifiable", CELL, 0, "notears-l1")
    before = experiment.key(task)
    monkeypatch.setitem(methods.METHODS, "notears-l1", methods.ComparedMethod(lambda: Notears(l1=0.2)))
    assert experiment.key(task) != before


def test_the_variants_are_the_papers():
    from golem_experiments.learners import build

    penalties = {
        "golem-ev": (0.02, 5), "golem-ev-l1": (0.02, 0), "golem-ev-plain": (0, 0),
        "golem-nv": (0.002, 5), "golem-nv-l1": (0.002, 0), "golem-nv-plain": (0, 0), "golem-nv-zeros": (0.002, 5),
    }  # fmt: skip
    for name, (sparsity, dag) in penalties.items():
        model = build(name, {"steps": 7, "threshold": 0.1, "cycles": "none"})
        assert (model.lambda_sparsity, model.lambda_dag) == (sparsity, dag)
        assert (model.max_iter, model.threshold, model.cycles) == (7, 0.1, "none")
        assert model.init == ("zeros" if "ev" in name or "zeros" in name else "ev")
    assert build("notears-l1", {"steps": 7, "threshold": 0.1}).threshold == 0.1
    assert build("order-ev", {"steps": 7, "threshold": 0.1}).max_iter is None


def test_a_batch_measures_what_single_runs_do():
    experiment = load("identifiable")
    tasks = [t for t in experiment.tasks(Grid(tiny=True, seeds=3)) if t.method == "golem-nv"]
    assert len({experiment.shape(task) for task in tasks}) == 1
    assert experiment.shape(Task("identifiable", CELL, 0, "pc")) is None
    together = experiment.run_batch(tasks, "cpu")
    for row, task in zip(together, tasks, strict=True):
        alone = experiment.run(task)
        assert {k: v for k, v in row.items() if k != "fit_seconds"} == {
            k: v for k, v in alone.items() if k != "fit_seconds"
        }


def test_standardized_columns_keep_the_graph_of_the_raw_ones():
    from golem_experiments.sweep import draw

    raw, scaled = (draw(Task("standardized", CELL | {"columns": name}, 3, "pc")) for name in ("raw", "standardized"))
    np.testing.assert_array_equal(raw.sem.weights, scaled.sem.weights)
    np.testing.assert_allclose(scaled.data.std(axis=0), 1)
    np.testing.assert_allclose(np.corrcoef(raw.data.T), np.corrcoef(scaled.data.T), atol=1e-12)


def rows(method, values, **more):
    return [
        {"experiment": "x", "d": 10, **more, "method": method, "seed": seed, "status": "done", "shd": value}
        for seed, value in enumerate(values)
    ]


def test_means_errors_and_paired_differences():
    assert mean([]).count == 0
    found = mean([1.0, 2.0, 3.0, 4.0])
    assert found.value == 2.5
    assert math.isclose(found.error, np.std([1, 2, 3, 4], ddof=1) / 2)
    table = rows("a", [10, 20, 30]) + rows("b", [15, 24, 36]) + rows("b", [99], graph="ER1")
    assert average(table, "shd", method="a").value == 2.0  # per node
    gap = paired(table, "shd", "a", "b")
    assert gap.count == 3  # the row of another cell has no partner
    assert math.isclose(gap.value, -0.5)
    assert math.isclose(gap.error, np.std([-0.5, -0.4, -0.6], ddof=1) / math.sqrt(3))
    assert is_lower(gap) is True
    assert is_lower(paired(table, "shd", "b", "a")) is False
    assert is_lower(mean([-1.0, 1.0, 0.5])) is None
    assert is_lower(mean([-1.0, -1.0])) is None
    assert math.isnan(metric({"d": 10, "sid": None}, "sid"))


def test_numbers_of_one_seed_count_once():
    noises = [rows("a", [10, 20, 30], noise=noise) + rows("b", [15, 24, 36], noise=noise) for noise in "xyz"]
    alone, thrice = (paired(table, "shd", "a", "b") for table in (noises[0], [row for one in noises for row in one]))
    assert (thrice.count, thrice.value) == (3, pytest.approx(alone.value))
    assert thrice.error == pytest.approx(alone.error)


def test_a_difference_of_differences_is_taken_by_seed():
    sparse = rows("a", [10, 20, 30], graph="ER1") + rows("b", [10, 20, 30], graph="ER1")
    dense = rows("a", [10, 20, 30], graph="ER4") + rows("b", [20, 40, 60], graph="ER4")
    found = interaction(sparse + dense, "shd", "a", "b", {"graph": "ER4"}, {"graph": "ER1"})
    assert (found.value, found.count) == (pytest.approx(-2.0), 3)
    assert found.error == pytest.approx(1 / math.sqrt(3))
    lone = [row for row in sparse if row["seed"] == 0]
    assert interaction(lone + dense, "shd", "a", "b", {"graph": "ER4"}, {"graph": "ER1"}).count == 1


def test_a_contrast_matches_rows_on_what_it_is_told():
    table = rows("a", [10, 20, 30], noise="x") + rows("a", [12, 22, 32], noise="y")
    found = contrast(table[:-1], "shd", {"noise": "y"}, {"noise": "x"}, ("d", "method"))
    assert (found.value, found.error, found.count) == (pytest.approx(0.2), pytest.approx(0.0), 2)


def test_intervals_are_students():
    from scipy.stats import t

    values = [1.0, 2.0, 4.0, 4.5]
    expected = t.interval(0.95, 3, loc=np.mean(values), scale=np.std(values, ddof=1) / 2)
    assert mean(values).interval == pytest.approx(expected)
    assert mean(values[:2]).interval == (-math.inf, math.inf)


def test_a_single_value_has_no_error():
    assert str(mean([0.5])) == "0.5"
    assert mean([0.5]).signed() == "+0.5"
    assert mean([0.5, 0.7]).signed() == "+0.6 ± 0.1"
