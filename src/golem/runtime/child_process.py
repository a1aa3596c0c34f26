"""Child processes: a time limit stops one for good, and a crash takes nothing along.

The child is a fresh interpreter (`python -m MODULE`), so that scripts, notebooks and interactive sessions can start one
without `if __name__ == "__main__"`. Its module calls `serve`. Requests and answers are JSON values, one per line. A
child serves request after request, because importing and loading compiled code takes longer than many requests do.
After a time limit or a crash the next request gets a new child.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

# How long to wait between two looks at the clock and the process; an answer is noticed at once.
_LOOK_SECONDS = 0.1
# Tells messages of the child from what libraries print while they are imported; JSON writes it differently.
_MARK = "\x1e"
# Messages that are not JSON: the time begins to count; the child has gone.
_STARTED, _GONE = "started", "gone"


class TimeLimitError(Exception):
    """A child was stopped at its time limit."""


class CrashError(Exception):
    """A child ended before it answered; the message says how, `seconds` is the time from the start of its clock."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True, eq=False)
class _Started:
    """A process that was started, what it prints, and what it says."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    messages: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)

    def say(self, request: Any) -> None:
        """Send a request; whether the child is there to read it shows when the answer is awaited."""
        assert self.process.stdin is not None  # a pipe was asked for
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def listen(self) -> None:
        """Pass on what the child says, and at last that it has gone."""
        assert self.process.stdout is not None  # a pipe was asked for
        with self.process.stdout as pipe:
            for line in pipe:
                _, mark, message = line.decode(errors="replace").rstrip("\n").rpartition(_MARK)
                if mark:
                    self.messages.put(message)
        self.messages.put(_GONE)

    def kill(self) -> None:
        """End the process and what it started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()

    def ending(self) -> str:
        """Say how the process ended, with the last line that it printed."""
        code = self.process.wait()
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return f"its process ended with {cause}" + (f": {lines[-1]}" if lines else "")

    def close(self) -> None:
        """End the process, and close what leads to it."""
        self.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.log):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


class ChildProcess:
    """A child process, started when it is first needed.

    Parameters
    ----------
    module : str
        What the child runs; it calls `serve`.
    *arguments : str
        Arguments of its command line.
    environment : mapping of str to str, optional
        Environment variables to set for it, such as those of `golem.runtime.threads.thread_bounds`.
    """

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._command = (module, *arguments)
        self._environment = dict(environment or {})
        self._child: _Started | None = None
        self._starting = threading.Lock()
        self._closed = False

    def ask(self, request: Any, time_limit: float | None = None, tick: Callable[[float], None] | None = None) -> Any:
        """Return the answer to a request.

        The child is stopped when anything is raised meanwhile, by a Ctrl-C or by `tick`.

        Parameters
        ----------
        request : JSON value
            What to ask.
        time_limit : float, optional
            Most seconds from when the child starts the clock.
        tick : callable, optional
            Called with these seconds a few times a second.

        Raises
        ------
        TimeLimitError
            If the time limit came first.
        CrashError
            If the child ended first.
        RuntimeError
            If the child was closed, perhaps by another thread.
        """
        child = self._running()
        try:
            child.say(request)
            return self._answer(child, time_limit, tick)
        except BaseException:
            self._stop()
            raise

    def close(self) -> None:
        """End the child for good: a thread that is about to ask it something must not start it anew."""
        with self._starting:
            self._closed = True
        self._stop()

    def _answer(self, child: _Started, time_limit: float | None, tick: Callable[[float], None] | None) -> Any:
        """Wait for the answer, the time limit or the end of the child."""
        began: float | None = None
        while True:
            seconds = 0.0 if began is None else time.monotonic() - began
            left = math.inf if began is None or time_limit is None else time_limit - seconds
            if tick is not None:
                tick(seconds)
            try:
                message = child.messages.get(timeout=max(0.0, min(left, _LOOK_SECONDS)))
            except queue.Empty:
                if left <= 0:
                    raise TimeLimitError(f"stopped after {time_limit:g} s") from None
                if child.process.poll() is not None:
                    child.kill()  # what it started may hold the pipe open, and would keep us waiting
                continue
            if message == _STARTED:
                began = time.monotonic()
            elif message != _GONE:
                return json.loads(message)
            elif self._closed:
                raise RuntimeError("the child process was closed")
            else:
                raise CrashError(child.ending(), seconds)

    def _running(self) -> _Started:
        """Return the child, a new one where there is none."""
        with self._starting:
            if self._closed:
                raise RuntimeError("the child process was closed")
            if self._child is None or self._child.process.poll() is not None:
                self._stop()
                self._child = self._started()
            return self._child

    def _started(self) -> _Started:
        """Start a child."""
        paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        log = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        process = subprocess.Popen(
            # -P: a file of the user's folder must not stand in for a module.
            [sys.executable, "-P", "-m", *self._command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=os.environ | self._environment | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C comes to the parent alone
        )
        child = _Started(process, log)
        threading.Thread(target=child.listen, daemon=True).start()
        return child

    def _stop(self) -> None:
        """End the child, if there is one, and what it started."""
        child, self._child = self._child, None
        if child is not None:
            child.close()


def serve(answer: Callable[[Any, Callable[[], None]], Any]) -> NoReturn:
    """Be the child: answer requests until the parent has gone, even by kill -9.

    Parameters
    ----------
    answer : callable
        Called with each request and a function that starts the clock; returns the answer. What is done before the clock
        starts, such as imports, does not count towards the time limit. An exception ends the child.
    """
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A cluster may signal all processes of a job: the parent ends this one in its own time, and its work did not fail.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(requests,), daemon=True).start()

    def say(message: str) -> None:
        answers.write(f"{_MARK}{message}\n")
        answers.flush()

    while True:
        found = answer(json.loads(requests.get()), lambda: say(_STARTED))
        say(json.dumps(found, allow_nan=False))


def _hear(requests: queue.SimpleQueue[str]) -> None:
    """Pass on what the parent says, and leave when it has gone."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(1)
