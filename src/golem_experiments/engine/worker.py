"""The code that runs in a child process: it receives tasks and returns rows (see `executors.py`)."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from typing import Any

from golem.runtime.child_process import serve
from golem.runtime.devices import Placement
from golem_experiments.engine.provenance import about, row_of
from golem_experiments.engine.store import DONE, FAILED, keeping_checkpoints
from golem_experiments.experiment import Experiment, Row, Task, load


def answer(request: dict[str, Any], start_clock: Callable[[], None]) -> list[dict[str, Any]] | str:
    """Return the rows of the tasks of a request, or why its device cannot be used."""
    tasks = [Task(**task) for task in request["tasks"]]
    if obstacle := _obstacle(request["device"]):
        return obstacle
    with keeping_checkpoints(request["checkpoints"]):
        return _rows(tasks, request["device"], start_clock) if tasks else []


@functools.cache
def _obstacle(device: str) -> str:
    """Return why a device cannot be used; empty if it can."""
    try:
        Placement(device).put([0.0])
    except ValueError as error:
        return str(error)
    return ""


def _rows(tasks: list[Task], device: str, start_clock: Callable[[], None]) -> list[dict[str, Any]]:
    """Return the rows of tasks: what they measured or why they failed."""
    experiment, reason = None, ""
    origin = about(device)  # calls git once per process, before the clock starts
    try:
        experiment = load(tasks[0].experiment)
        if experiment.prepare is not None:
            for task in tasks:
                experiment.prepare(task)
    except Exception as error:  # noqa: BLE001  any error becomes a row
        reason = _sentence(error)
    start_clock()
    if experiment is None or reason:
        return [row_of(task, FAILED, reason, {}, 0.0, **origin, batch=len(tasks)) for task in tasks]
    return _solved(experiment, tasks, device, origin)


def _solved(experiment: Experiment, tasks: list[Task], device: str, origin: dict[str, str]) -> list[dict[str, Any]]:
    """Return the rows of tasks solved together; if that fails, solve them one by one, so that only bad ones fail."""
    began = time.perf_counter()
    measured: list[Row]
    try:
        if len(tasks) == 1 and device == "cpu":
            measured = [experiment.run(tasks[0])]
        else:
            assert experiment.run_batch is not None  # the runner batches no others
            measured = experiment.run_batch(tasks, device)
        json.dumps(measured, allow_nan=False)
        status, reason = DONE, ""
    except Exception as error:  # noqa: BLE001  methods, also of other packages, may raise anything
        if len(tasks) > 1:
            return [row for task in tasks for row in _solved(experiment, [task], device, origin)]
        status, reason, measured = FAILED, _sentence(error), [{}]
    size = len(tasks)
    share = (time.perf_counter() - began) / size
    return [
        row_of(task, status, reason, values, share, **origin, batch=size)
        for task, values in zip(tasks, measured, strict=True)
    ]


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    serve(answer)
