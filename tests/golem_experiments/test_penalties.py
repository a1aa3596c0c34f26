"""The grid of coefficients, what a cell sets, and how differences are judged."""

import pytest

from golem_experiments import Grid, load
from golem_experiments.analysis.inference import Mean, within
from golem_experiments.learners import build, settings
from golem_experiments.penalties import difference, timed


def test_the_papers_coefficients_are_in_the_grid_with_every_function():
    tasks = load("penalties").tasks(Grid())
    paper = [t for t in tasks if t.cell["factor_1"] == t.cell["factor_2"] == 1.0 and (t.cell["d"], t.seed) == (20, 0)]
    found = {(t.method, t.cell["lambda_sparsity"], t.cell["lambda_dag"], t.cell["acyclicity"]) for t in paper}
    assert found == {
        (name, lambda_1, 5.0, h)
        for name, lambda_1 in (("golem-ev", 2e-2), ("golem-nv", 2e-3))
        for h in ("expm", "polynomial", "logdet")
    }


def test_a_cell_sets_what_it_names():
    task = next(t for t in load("penalties").tasks(Grid()) if t.cell["acyclicity"] == "polynomial")
    model = build(task.method, task.cell)
    assert model.get_params()["lambda_dag"] == task.cell["lambda_dag"]
    assert model.get_params()["solver"] == "lbfgs"
    assert model.get_params()["max_iter"] == 10_000
    assert "LBFGS" in settings(task)["solver"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Mean(0.0, 0.01, 12), True),
        (Mean(0.5, 0.01, 12), False),
        (Mean(-0.5, 0.01, 12), False),
        (Mean(0.09, 0.05, 12), None),
        (Mean(0.0, 0.0, 2), None),
    ],
)
def test_a_difference_is_within_bounds_only_for_sure(found, expected):
    assert within(found, -0.1, 0.1) is expected


def test_differences_are_taken_on_the_same_data():
    rows = [
        {"status": "done", "d": 10, "seed": seed, "factor_1": factor, "shd": 10.0 * seed + 5 * (factor > 1)}
        for seed in range(4)
        for factor in (1.0, 3.0)
    ]
    found = difference(rows[:-1], "shd", {"factor_1": 3.0}, {"factor_1": 1.0})
    assert (found.value, found.error, found.count) == (0.5, 0.0, 3)


def grid(change, *, seeds=5, methods=("golem-ev", "golem-nv")):
    """Build the grid of coefficients; a change of a cell's SHD and h."""
    return [
        {"experiment": "penalties", "graph": "ER2", "d": 10, "factor_1": a, "factor_2": b, "acyclicity": h,
         "method": method, "seed": seed, "status": "done", "fit_seconds": 1.0 + 0.01 * seed, "iterations": 9,
         "h": 10.0 ** -(3 + b)} | {"shd": 2 + seed % 2} | change(a, b, h)
        for method in methods
        for a, b, h in [(x, y, "expm") for x in (0.333, 1.0, 3.0) for y in (0.0, 1.0)]
        + [(1.0, 1.0, "polynomial"), (1.0, 1.0, "logdet")]
        for seed in range(seeds)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "change", "holds"),
    [
        (0, lambda a, b, h: {}, True),
        (0, lambda a, b, h: {"shd": 0} if a == 3.0 else {"shd": 9}, False),
        (1, lambda a, b, h: {}, True),
        (1, lambda a, b, h: {"shd": 9} if a == 3.0 else {}, False),
        (2, lambda a, b, h: {"shd": 9} if b == 0.0 else {}, True),
        (2, lambda a, b, h: {}, None),
        (3, lambda a, b, h: {}, True),
        (3, lambda a, b, h: {"h": 1e-3}, None),
        (4, lambda a, b, h: {}, True),
        (4, lambda a, b, h: {"shd": 9} if h == "logdet" else {}, False),
        (5, lambda a, b, h: {"fit_seconds": 0.5} if h != "expm" else {}, True),
        (5, lambda a, b, h: {}, None),
    ],
)
def test_the_verdicts_follow_the_grid(claim, change, holds):
    judge = load("penalties").verdicts
    assert judge(grid(change))[claim].holds is holds
    assert judge(grid(change, seeds=2))[claim].holds is None
    alone = judge(grid(change, methods=("golem-ev",)))[claim]
    assert alone.holds is (False if holds is False else None)
    assert "Not run: golem-nv" in alone.measured


def test_times_are_those_of_one_machine_per_size():
    rows = [row | {"hardware": "there" if row["seed"] == 0 else "here"} for row in grid(lambda a, b, h: {})]
    found = timed(rows + [row | {"d": 20, "hardware": "there"} for row in rows])
    assert {(row["d"], row["hardware"]) for row in found} == {(10, "here"), (20, "there")}
    assert {(row["factor_1"], row["factor_2"]) for row in found} == {(1.0, 1.0)}
