"""Run methods in another process, so that a time limit can stop one for good and a crash takes nothing along.

The child is a fresh interpreter (`python -m golem.comparison.method_process FOLDER`) that gets names of methods line by
line and answers with files in a folder. It works from scripts, notebooks and interactive sessions alike, and needs no
`if __name__ == "__main__"`. It serves until a method has to be stopped or crashes; the next one gets a new child.
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
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from golem.comparison.other_packages import Estimate
from golem.comparison.registry import learn, prepare
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.runtime.types import Matrix

_POLL_SECONDS = 0.02


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a run ended.

    Parameters
    ----------
    status : str
        "done", "time limit", "error" or "crashed".
    message : str
        What went wrong, in a sentence; empty where nothing did.
    estimate : Estimate, optional
        The answer.
    seconds : float, optional
        Time that the method took, without starting the process or compiling.
    warnings : tuple of str
        What the method warned of.
    """

    status: str
    message: str = ""
    estimate: Estimate | None = None
    seconds: float | None = None
    warnings: tuple[str, ...] = ()


class MethodProcess:
    """A child process that learns from one set of data; use it in a `with` block."""

    def __init__(self, rows: Matrix | None, moments: Moments, knowledge: Knowledge) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="golem-compare-")
        self._folder = Path(self._temporary.name)
        self._child: subprocess.Popen[bytes] | None = None
        parts: dict[str, Any] = {
            "n": moments.n,
            "shift": moments.shift,
            "offset": moments.offset,
            "scatter": moments.scatter,
            "names": np.array(moments.names),
            "forbidden": knowledge.forbidden,
            "required": knowledge.required,
        }
        if rows is not None:
            parts["rows"] = rows
        np.savez(self._folder / "data.npz", **parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._stop()
        self._temporary.cleanup()

    def run(self, name: str, time_limit: float | None, tick: Callable[[float], None] | None = None) -> Outcome:
        """Run a method; `tick` is called with the seconds so far a few times a second.

        A KeyboardInterrupt stops the child and goes on upwards.
        """
        child = self._running_child()
        assert child.stdin is not None  # a pipe was asked for
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(f"{name}\n".encode())
            child.stdin.flush()
        try:
            ended = self._watch(child, name, time_limit, tick)
        except BaseException:
            self._stop()
            raise
        if not ended:
            self._stop()
            return Outcome("time limit", f"stopped after {time_limit:g} s")
        if self._result(name).exists():
            return _read_outcome(self._result(name))
        return self._crash(child)

    def _result(self, name: str) -> Path:
        return self._folder / f"{name}.npz"

    def _running_child(self) -> subprocess.Popen[bytes]:
        """Return the child, a new one where there is none."""
        if self._child is not None and self._child.poll() is None:
            return self._child
        paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        with (self._folder / "log.txt").open("wb") as log:
            self._child = subprocess.Popen(
                # -P: a file of the user's folder must not stand in for a module.
                [sys.executable, "-P", "-m", "golem.comparison.method_process", str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,  # Ctrl-C comes to the parent alone
            )
        return self._child

    def _watch(
        self,
        child: subprocess.Popen[bytes],
        name: str,
        time_limit: float | None,
        tick: Callable[[float], None] | None,
    ) -> bool:
        """Wait for the result or the end of the child; False where the time limit came first."""
        ready, result = self._folder / f"{name}.ready", self._result(name)
        began: float | None = None
        while not result.exists() and child.poll() is None:
            if began is None and ready.exists():
                began = time.monotonic()
            seconds = 0.0 if began is None else time.monotonic() - began
            if time_limit is not None and seconds > time_limit:
                return False
            if tick is not None:
                tick(seconds)
            time.sleep(_POLL_SECONDS)
        return True

    def _stop(self) -> None:
        """End the child and what it started."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
            child.wait()
        if child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()

    def _crash(self, child: subprocess.Popen[bytes]) -> Outcome:
        """Say how the child ended."""
        code = child.wait()
        self._stop()
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        lines = (self._folder / "log.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return Outcome("crashed", f"its process ended with {cause}" + (f": {lines[-1]}" if lines else ""))


def _read_outcome(path: Path) -> Outcome:
    """Read what the child wrote."""
    with np.load(path, allow_pickle=False) as stored:
        about = json.loads(str(stored["about"]))
        warned = tuple(about["warnings"])
        if about["error"]:
            return Outcome("error", about["error"], warnings=warned)
        estimate = Estimate(stored["graph"], about["is_class"], stored.get("member"), stored.get("weights"))
        return Outcome("done", "", estimate, about["seconds"], warned)


def serve(folder: Path) -> None:
    """Be the child: learn by the methods whose names come line by line."""
    names: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(names,), daemon=True).start()
    with np.load(folder / "data.npz", allow_pickle=False) as stored:
        columns = tuple(map(str, stored["names"]))
        moments = Moments(int(stored["n"]), stored["shift"], stored["offset"], stored["scatter"], columns)
        rows = stored.get("rows")
        knowledge = Knowledge(stored["forbidden"], stored["required"])
    while True:
        name = names.get()
        prepare(name)
        (folder / f"{name}.ready").touch()
        arrays = _answer(name, rows, moments, knowledge)
        np.savez(folder / "unfinished.npz", **arrays)
        (folder / "unfinished.npz").rename(folder / f"{name}.npz")


def _answer(name: str, rows: Matrix | None, moments: Moments, knowledge: Knowledge) -> dict[str, Any]:
    """Run a method, and describe its answer, or its failure, in arrays."""
    about: dict[str, Any] = {"error": ""}
    arrays: dict[str, Any] = {}
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            estimate = learn(name, rows, moments, knowledge)
        except ValueError as error:
            about["error"] = str(error)
        except Exception as error:  # noqa: BLE001  other people's code may raise anything: it becomes a row of the table
            about["error"] = f"{type(error).__name__}: {error}"
        else:
            about |= {"seconds": time.perf_counter() - began, "is_class": estimate.is_class}
            arrays = {"graph": estimate.graph, "member": estimate.member, "weights": estimate.weights}
    # Of deprecations and the like inside libraries the user needs to know nothing.
    about["warnings"] = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    return {"about": json.dumps(about)} | {key: value for key, value in arrays.items() if value is not None}


def _listen(names: queue.SimpleQueue[str]) -> None:
    """Pass the lines of the parent on, and leave when it has gone."""
    for line in sys.stdin:
        names.put(line.strip())
    os._exit(1)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
