"""The grid of coefficients, what a cell sets, and how differences are judged."""

import pytest

from golem.experiments import Grid, load
from golem.experiments.inference import Mean, within
from golem.experiments.learners import build, settings
from golem.experiments.penalties import difference


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
    assert "LBFGS" in settings(task.method, task.cell)["solver"]


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
