"""The paper's recipe with a state on disk after every step, so that each stopped run has got on."""

from __future__ import annotations

from toys import toy_experiment

from golem.gradient import checkpoint
from golem_experiments import Grid, Task, sweep

checkpoint._INTERVAL = checkpoint._COPY_INTERVAL = 0.05


def tasks(grid: Grid) -> list[Task]:
    columns = {"d": 5, "n": 100, "graph": "ER1", "noise": "gaussian-nv", "steps": 3000}
    return sweep.tasks("toys.long_experiment", grid, ("golem-ev", "golem-nv"), seeds=range(2), **columns)


EXPERIMENT = sweep.experiment("toys.long_experiment", "nothing", {}, tasks, toy_experiment.figure)
