"""Tasks in a child process: every task becomes a row, even if it is stopped or crashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from golem.runtime.child_process import ChildProcess, CrashError, TimeLimitError
from golem.runtime.threads import thread_bounds
from golem_experiments.engine.provenance import about
from golem_experiments.engine.store import FAILED, TIMEOUT
from golem_experiments.experiment import Task


@dataclass(frozen=True)
class Batch:
    """Tasks for one process to solve together, usually a single one.

    Parameters
    ----------
    tasks : mapping of str to Task
        Tasks of one shape by their keys; an empty mapping only checks whether the device can be used.
    time_limit : float, optional
        Maximum seconds per task.
    device : str
        Where batches are solved: "cpu" or a torch device.
    checkpoints : str, optional
        Folder in which long solves keep their states.
    """

    tasks: Mapping[str, Task]
    time_limit: float | None = None
    device: str = "cpu"
    checkpoints: str | None = None

    @property
    def seconds(self) -> float | None:
        """Maximum seconds for the whole batch."""
        return None if self.time_limit is None else self.time_limit * len(self.tasks)


class Child:
    """A child process (`worker.py`) with a maximum number of threads, started when it is first needed."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._process = ChildProcess(
            "golem_experiments.engine.worker", environment=thread_bounds(threads) | {"MPLBACKEND": "Agg"}
        )

    def run(self, batch: Batch) -> list[dict[str, Any]]:
        """Return the rows of a batch, one per task, even if the child is stopped or crashes.

        Raises
        ------
        ValueError
            If the device of the batch cannot be used.
        """
        tasks = [task.as_dict() for task in batch.tasks.values()]
        request = {"tasks": tasks, "device": batch.device, "checkpoints": batch.checkpoints}
        rows: list[dict[str, Any]] | str
        try:
            rows = self._process.ask(request, batch.seconds)
        except TimeLimitError as stop:
            together = f" (a batch of {len(batch.tasks)})" if len(batch.tasks) > 1 else ""
            rows = self._stopped(batch, TIMEOUT, f"{stop}{together}", batch.seconds or 0.0)
        except CrashError as crash:
            rows = self._stopped(batch, FAILED, str(crash), crash.seconds)
        if isinstance(rows, str):
            raise ValueError(rows)
        return [{"key": key} | row for key, row in zip(batch.tasks, rows, strict=True)]

    def close(self) -> None:
        """End the child."""
        self._process.close()

    def _stopped(self, batch: Batch, status: str, reason: str, seconds: float) -> list[dict[str, Any]]:
        """Return the rows of tasks that were stopped or crashed."""
        origin = about(batch.device, self._threads) | {"batch": len(batch.tasks)}
        return [row_of(task, status, reason, {}, seconds / len(batch.tasks), **origin) for task in batch.tasks.values()]


def row_of(
    task: Task, status: str, reason: str, measured: dict[str, Any], seconds: float, **more: Any
) -> dict[str, Any]:
    """Return a row of the store, without its key."""
    about = {"status": status, "reason": reason, "measured": measured, "seconds": seconds}
    return task.as_dict() | about | more
