"""The common parts of the experiments that learn graphs: tasks for all combinations, learning, measuring."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from golem.comparison.other_packages import CATEGORY_PACKAGES, OTHER_PACKAGES
from golem.comparison.registry import compile_method
from golem.model.simulation import Simulation, simulate
from golem.runtime.types import BoolMatrix, Matrix
from golem_experiments.analysis.claims import Judge, verdicts
from golem_experiments.experiment import Experiment, Grid, Row, Table, Task
from golem_experiments.learners import Learned, is_paper_recipe, learn, learn_batch, measurements, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Steps of Adam in the paper; quick and tiny runs make fewer.
PAPER_STEPS, QUICK_STEPS, TINY_STEPS = 100_000, 10_000, 300
# Cells that differ only in these can be solved in one batch.
_DATA = ("graph", "noise", "weight_scale", "columns", "n", "preparation", "network", "file")


def tasks(name: str, grid: Grid, methods: Sequence[str], *, seeds: Sequence[int], **columns: Any) -> list[Task]:
    """Return the tasks of all combinations of seeds, methods and values of columns.

    Parameters
    ----------
    name : str
        Name of the experiment.
    grid : Grid
        Chooses the methods, and the number of steps unless `columns` contain it.
    methods : sequence of str
        Methods of the experiment.
    seeds : sequence of int
        Seeds.
    **columns
        Columns of the cells: a value, or a tuple of values.
    """
    columns.setdefault("steps", grid.pick(PAPER_STEPS, QUICK_STEPS, TINY_STEPS))
    values = itertools.product(*(one if isinstance(one, tuple) else (one,) for one in columns.values()))
    cells = [dict(zip(columns, combination, strict=True)) for combination in values]
    chosen = grid.choose_methods(methods)
    return [Task(name, cell, seed, method) for cell in cells for seed in seeds for method in chosen]


def is_installed(name: str, grid: Grid) -> bool:
    """Return whether a method can run; raise a ValueError if it needs another package and was asked for."""
    other = (OTHER_PACKAGES | CATEGORY_PACKAGES).get(name)
    if other is None or other.is_installed:
        return True
    if grid.methods is not None and name in grid.methods:
        raise ValueError(f"The method {name!r} needs another package. Install it with {other.install}.")
    return False


def draw(task: Task) -> Simulation:
    """Draw the data of a task, which are the same for all methods."""
    cell: Any = task.cell
    return simulate(
        cell["d"],
        cell["n"],
        cell["graph"],
        cell["noise"],
        weight_scale=cell.get("weight_scale", 1.0),
        standardize=cell.get("columns") == "standardized",
        random_state=task.seed,
    )


def in_units(columns: str, X: Matrix) -> Matrix:
    """Return rows as they are ("raw"), or with columns of mean 0 and variance 1 ("standardized")."""
    return (X - X.mean(axis=0)) / X.std(axis=0) if columns == "standardized" else X


def truth_and_rows(task: Task) -> tuple[BoolMatrix, Matrix]:
    """Return the true graph and the rows of a task."""
    drawn = draw(task)
    return drawn.sem.adjacency, drawn.data


def distances(truth: BoolMatrix, rows: Matrix, learned: Learned) -> Row:
    """Return the usual measurements."""
    return measurements(truth, learned)


def shape(task: Task) -> Hashable:
    """Return the method and all but the kind of data, which the tasks of a batch share; None if it takes no batch."""
    if not is_paper_recipe(task.method):
        return None
    return (task.method, *sorted((name, value) for name, value in task.cell.items() if name not in _DATA))


def experiment(
    name: str,
    reproduces: str,
    claims: Mapping[str, Judge],
    tasks: Callable[[Grid], list[Task]],
    figure: Callable[[Table], Figure],
    all_methods: Callable[[Table], Figure] | None = None,
    *,
    data: Callable[[Task], tuple[BoolMatrix, Matrix]] = truth_and_rows,
    measure: Callable[[BoolMatrix, Matrix, Learned], Row] = distances,
    shape: Callable[[Task], Hashable] | None = shape,
    has_sizes: bool = True,
) -> Experiment:
    """Return an experiment that learns graphs.

    Parameters
    ----------
    name, reproduces, tasks, figure, all_methods, shape, has_sizes
        As in `Experiment`.
    claims : mapping of str to Judge
        The claims, in sentences, and what decides them.
    data : callable
        Takes a task and returns the true graph and the rows; by default simulated.
    measure : callable
        Takes the true graph, the rows and what was learned, and returns the measurements.
    """

    def run(task: Task) -> Row:
        truth, rows = data(task)
        return measure(truth, rows, learn(task.method, task.cell, rows))

    def run_batch(tasks: list[Task], device: str) -> list[Row]:
        drawn = [data(task) for task in tasks]
        learned = learn_batch(tasks[0].method, tasks[0].cell, [rows for _, rows in drawn], device)
        return [measure(*one, answer) for one, answer in zip(drawn, learned, strict=True)]

    def prepare_task(task: Task) -> None:
        compile_method(task.method)

    def resumes(task: Task) -> bool:
        return is_paper_recipe(task.method)

    parts = (tasks, run, figure, verdicts(claims), prepare_task, shape, run_batch, has_sizes, all_methods, resumes)
    return Experiment(name, reproduces, tuple(claims), *parts, settings)
