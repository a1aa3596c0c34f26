"""Tasks of which one kills the process that waits for its result: a worker of a cluster."""

from __future__ import annotations

import os
from dataclasses import replace

from toys import toy_experiment

from golem_experiments import Grid, Task


def tasks(grid: Grid) -> list[Task]:
    return [Task("toys.killing_experiment", {"d": d}, 0, "square") for d in (2, 3, 4)]


def run(task: Task) -> dict[str, float | int | str | bool | None]:
    if task.cell["d"] == 3:
        os.kill(os.getppid(), 9)
    return toy_experiment.run(task)


EXPERIMENT = replace(toy_experiment.EXPERIMENT, name="toys.killing_experiment", tasks=tasks, run=run)
