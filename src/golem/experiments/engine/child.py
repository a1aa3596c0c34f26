"""Tasks in a child process: every task becomes a row, also one that is stopped or crashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from golem.experiments.engine.provenance import about
from golem.experiments.engine.store import FAILED, TIMEOUT
from golem.experiments.engine.task import Task
from golem.runtime.child_process import ChildProcess, CrashError, TimeLimitError
from golem.runtime.threads import thread_bounds


@dataclass(frozen=True)
class Batch:
    """Tasks for one process to solve together, mostly a single one.

    Parameters
    ----------
    tasks : tuple of Task
        The tasks, of one shape where there are several; none to find out whether the device can be used.
    time_limit : float, optional
        Most seconds for each of them.
    device : str
        Where batches are solved, "cpu" or a torch device.
    """

    tasks: tuple[Task, ...]
    time_limit: float | None = None
    device: str = "cpu"

    @property
    def seconds(self) -> float | None:
        """Most seconds for all of them."""
        return None if self.time_limit is None else self.time_limit * len(self.tasks)


class Child:
    """A child process (`worker.py`), started when it is first needed, that may start so many threads."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._process = ChildProcess(
            "golem.experiments.engine.worker", environment=thread_bounds(threads) | {"MPLBACKEND": "Agg"}
        )

    def run(self, batch: Batch) -> list[dict[str, Any]]:
        """Return the rows of a batch, one a task, whatever happens to it.

        Raises
        ------
        ValueError
            If the device of the batch cannot be used: no fault of the tasks, and so no row.
        """
        request = {"tasks": [task.as_dict() for task in batch.tasks], "device": batch.device}
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
        return [{"key": task.key} | row for task, row in zip(batch.tasks, rows, strict=True)]

    def close(self) -> None:
        """End the child for good."""
        self._process.close()

    def _stopped(self, batch: Batch, status: str, reason: str, seconds: float) -> list[dict[str, Any]]:
        """Rows of tasks that came to no end of their own."""
        origin = about(batch.device, self._threads) | {"batch": len(batch.tasks)}
        return [row_of(task, status, reason, {}, seconds / len(batch.tasks), **origin) for task in batch.tasks]


def row_of(
    task: Task, status: str, reason: str, measured: dict[str, Any], seconds: float, **more: Any
) -> dict[str, Any]:
    """Put a row of the store together, but for the key, which needs the settings of all methods."""
    return {
        **task.as_dict(), "status": status, "reason": reason, "measured": measured,
        "seconds": seconds, **more,
    }  # fmt: skip
