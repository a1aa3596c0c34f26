"""A child process that runs tasks: a time limit stops it for good, a crash takes nothing along.

The child is a fresh interpreter (`python -m golem.experiments.engine.worker`), so that scripts and notebooks can start
one; it serves task after task, because importing and loading compiled code takes longer than many tasks do. After a
time limit or a crash the next task gets a new one. It ends by itself when its parent has gone, even by kill -9.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import golem
from golem.experiments.engine.provenance import about
from golem.experiments.engine.store import FAILED, TIMEOUT
from golem.experiments.engine.task import Task
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
    """A child process, started when it is first needed."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._log: IO[bytes] | None = None
        self._starting = threading.Lock()
        self._closed = False

    def run(self, batch: Batch) -> list[dict[str, Any]]:
        """Return the rows of a batch, one a task, whatever happens to it.

        Raises
        ------
        ValueError
            If the device of the batch cannot be used: no fault of the tasks, and so no row.
        """
        rows = self._rows(batch)
        return [{"key": task.key} | row for task, row in zip(batch.tasks, rows, strict=True)]

    def _rows(self, batch: Batch) -> list[dict[str, Any]]:
        process = self._running()
        assert process.stdin is not None  # a pipe was asked for
        request = {"tasks": [task.as_dict() for task in batch.tasks], "device": batch.device}
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        began: float | None = None
        while True:
            left = None if began is None or batch.seconds is None else began + batch.seconds - time.monotonic()
            try:
                answer = self._answers.get(timeout=None if left is None else max(left, 0.0))
            except queue.Empty:
                self.stop()
                together = f" (a batch of {len(batch.tasks)})" if len(batch.tasks) > 1 else ""
                return _stopped(
                    batch, self._threads, TIMEOUT, f"stopped after {batch.seconds:g} s{together}", batch.seconds or 0.0
                )
            if answer is None:
                return _stopped(
                    batch,
                    self._threads,
                    FAILED,
                    self._cause(process),
                    0.0 if began is None else time.monotonic() - began,
                )
            if answer == "started":
                began = time.monotonic()
            else:
                rows: list[dict[str, Any]] | str = json.loads(answer)
                if isinstance(rows, str):
                    raise ValueError(rows)
                return rows

    def close(self) -> None:
        """End the child for good: a thread that is about to hand it a batch must not start it anew."""
        with self._starting:
            self._closed = True
        self.stop()

    def stop(self) -> None:
        """End the child and what it started."""
        process, self._process = self._process, None
        if process is None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        for pipe in (process.stdin, self._log):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the child, a new one where there is none."""
        with self._starting:
            if self._closed:
                raise RuntimeError("the run is over")
            if self._process is None or self._process.poll() is not None:
                self.stop()
                self._process = self._started()
            return self._process

    def _started(self) -> subprocess.Popen[bytes]:
        """Start a child."""
        paths = [str(Path(golem.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        process = subprocess.Popen(
            # -P: a file of the user's folder must not stand in for a module.
            [sys.executable, "-P", "-m", "golem.experiments.engine.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=os.environ | thread_bounds(self._threads) | {"PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg"},
            start_new_session=True,  # Ctrl-C comes to the parent alone
        )
        self._answers = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(process.stdout, self._answers), daemon=True).start()
        return process

    def _cause(self, process: subprocess.Popen[bytes]) -> str:
        """Say how the child ended."""
        code, log = process.wait(), self._log
        assert log is not None  # opened with the process
        log.seek(0)
        lines = log.read().decode(errors="replace").strip().splitlines()
        self.stop()
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"its process ended with {cause}" + (f": {lines[-1]}" if lines else "")


def row_of(
    task: Task, status: str, reason: str, measured: dict[str, Any], seconds: float, **more: Any
) -> dict[str, Any]:
    """Put a row of the store together, but for the key, which needs the settings of all methods."""
    return {
        **task.as_dict(), "status": status, "reason": reason, "measured": measured,
        "seconds": seconds, **more,
    }  # fmt: skip


def _stopped(batch: Batch, threads: int, status: str, reason: str, seconds: float) -> list[dict[str, Any]]:
    """Rows of tasks that came to no end of their own."""
    origin = about(batch.device, threads) | {"batch": len(batch.tasks)}
    return [row_of(task, status, reason, {}, seconds / len(batch.tasks), **origin) for task in batch.tasks]


def _listen(pipe: IO[bytes], answers: queue.SimpleQueue[str | None]) -> None:
    """Pass on what the child says, line by line, and at last that it has gone."""
    with pipe:
        for line in pipe:
            answers.put(line.decode().rstrip("\n"))
    answers.put(None)
