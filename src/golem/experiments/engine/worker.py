"""What runs in a child process: tasks come as lines of JSON, rows go back (see `child.py`)."""

from __future__ import annotations

import functools
import json
import os
import queue
import signal
import sys
import threading
import time
from typing import IO, Any

from golem.experiments.engine.child import row_of
from golem.experiments.engine.provenance import about
from golem.experiments.engine.store import DONE, FAILED
from golem.experiments.engine.task import Row, Task
from golem.experiments.experiment import Experiment
from golem.experiments.registry import load
from golem.runtime.devices import Placement


def serve() -> None:
    """Run batches of tasks until the parent has gone."""
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A cluster may signal all processes of a job: the parent ends this one in its own time, and its task did not fail.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    while True:
        request = json.loads(requests.get())
        tasks = [Task(**task) for task in request["tasks"]]
        answer = _obstacle(request["device"]) or (_rows(tasks, request["device"], answers) if tasks else [])
        _say(answers, json.dumps(answer, allow_nan=False))


@functools.cache
def _obstacle(device: str) -> str:
    """Say why a device cannot be used; empty where it can."""
    try:
        Placement(device).put([0.0])
    except ValueError as error:
        return str(error)
    return ""


def _rows(tasks: list[Task], device: str, answers: IO[str]) -> list[dict[str, Any]]:
    """Run tasks, and describe what they measured or how they failed."""
    experiment, reason = None, ""
    origin = about(device)  # asks git, once a process, before the clock runs
    try:
        experiment = load(tasks[0].experiment)
        if experiment.prepare is not None:
            for task in tasks:
                experiment.prepare(task)
    except Exception as error:  # noqa: BLE001  whatever it is, it becomes a row
        reason = _sentence(error)
    _say(answers, "started")
    if experiment is None or reason:
        return [row_of(task, FAILED, reason, {}, 0.0, **origin, batch=len(tasks)) for task in tasks]
    return _solved(experiment, tasks, device, origin)


def _solved(experiment: Experiment, tasks: list[Task], device: str, origin: dict[str, str]) -> list[dict[str, Any]]:
    """Rows of tasks that are solved together; one by one where that fails, so that a bad one harms no other."""
    began = time.perf_counter()
    measured: list[Row]
    try:
        if len(tasks) == 1 and device == "cpu":
            measured = [experiment.run(tasks[0])]
        else:
            assert experiment.run_batch is not None  # the runner puts no others together
            measured = experiment.run_batch(tasks, device)
        json.dumps(measured, allow_nan=False)
        status, reason = DONE, ""
    except Exception as error:  # noqa: BLE001  methods, also other people's, may raise anything: it becomes a row
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


def _say(answers: IO[str], line: str) -> None:
    answers.write(line + "\n")
    answers.flush()


def _listen(requests: queue.SimpleQueue[str]) -> None:
    """Pass the lines of the parent on, and leave when it has gone."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(1)


if __name__ == "__main__":
    serve()
