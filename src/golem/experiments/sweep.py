"""What the experiments on simulated data have in common: draw data by cell and seed, learn, measure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from golem.experiments.engine.task import Grid, Row, Task, Value
from golem.experiments.experiment import Experiment, Table, Verdict
from golem.experiments.learners import Learned, is_paper_recipe, learn, learn_batch, measurements, prepare_method
from golem.model.simulation import Simulation, simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Steps of Adam: the paper's, and those of the versions that only show how it looks.
PAPER_STEPS = 100_000
QUICK_STEPS = 10_000
TINY_STEPS = 300
# Cells may differ in these and still be solved in one stack.
_DATA = ("graph", "noise", "weight_scale", "columns", "n")


def steps(grid: Grid) -> int:
    """Adam's steps in a version of an experiment."""
    return int(grid.pick(PAPER_STEPS, QUICK_STEPS, TINY_STEPS))


def draw(task: Task) -> Simulation:
    """Draw the data of a task: the same for all methods."""
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


def run_task(task: Task) -> Row:
    """Simulate, learn and measure."""
    drawn = draw(task)
    return measurements(drawn.sem.adjacency, learn(task.method, task.cell, drawn.data))


def run_batch(tasks: list[Task], device: str) -> list[Row]:
    """Simulate, learn all in one stack, and measure."""
    return [measurements(drawn.sem.adjacency, learned) for drawn, learned in learned_batch(tasks, device)]


def learned_batch(tasks: list[Task], device: str) -> list[tuple[Simulation, Learned]]:
    """Draw the data of tasks of one shape, and learn from all in one stack."""
    drawn = [draw(task) for task in tasks]
    learned = learn_batch(tasks[0].method, tasks[0].cell, [one.data for one in drawn], device)
    return list(zip(drawn, learned, strict=True))


def shape(task: Task) -> Hashable:
    """Return what tasks of one batch share: the method and all but the kind of data; None where it takes no batch."""
    if not is_paper_recipe(task.method):
        return None
    return (task.method, *sorted((name, value) for name, value in task.cell.items() if name not in _DATA))


def prepare(task: Task) -> None:
    """Import and compile what the method needs."""
    prepare_method(task.method)


def product(
    experiment: str, cells: Sequence[Mapping[str, Value]], seeds: Sequence[int], methods: Sequence[str]
) -> list[Task]:
    """Tasks of all combinations."""
    return [Task(experiment, cell, seed, method) for cell in cells for seed in seeds for method in methods]


def experiment(
    name: str,
    reproduces: str,
    claims: tuple[str, ...],
    tasks: Callable[[Grid], list[Task]],
    figure: Callable[[Table], Figure],
    verdicts: Callable[[Table], list[Verdict]],
    run: Callable[[Task], Row] = run_task,
    run_batch: Callable[[list[Task], str], list[Row]] = run_batch,
) -> Experiment:
    """Return an experiment on simulated data; `run` and `run_batch` where more is measured than usual."""
    return Experiment(name, reproduces, claims, tasks, run, figure, verdicts, prepare, shape, run_batch)
