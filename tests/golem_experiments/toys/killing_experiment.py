"""Tasks of which the last one kills the process that waits for its result: a worker of a cluster.

Dask counts a death against every task that a worker has, also those that wait; so the others have to be done.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace

from toys import toy_experiment

from golem_experiments import Grid, Task


def tasks(grid: Grid) -> list[Task]:
    return [Task("toys.killing_experiment", {"d": d}, 0, "square") for d in (2, 3, 4)]


def run(task: Task) -> dict[str, float | int | str | bool | None]:
    if task.cell["d"] == 4:
        time.sleep(1)  # until the scheduler knows that the others are done
        os.kill(os.getppid(), 9)
    return toy_experiment.run(task)


EXPERIMENT = replace(toy_experiment.EXPERIMENT, name="toys.killing_experiment", tasks=tasks, run=run)
