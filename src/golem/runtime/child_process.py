"""Child processes: a time limit kills the child, and a crash of the child does not affect the parent.

The child is a new interpreter (`python -m MODULE`), so that scripts, notebooks and interactive sessions can start one
without `if __name__ == "__main__"`. Its module calls `serve`. Requests and answers are JSON values, one per line. A
child serves many requests, because its imports take longer than most requests. After a time limit or a crash, the next
request starts a new child.
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

# Seconds between two checks of the clock and the process; answers are noticed at once.
_CHECK_SECONDS = 0.1
# Distinguishes messages of the child from what libraries print during import; JSON escapes this character.
_MARK = "\x1e"
# Messages that are not JSON: the clock starts; the child has ended.
_STARTED, _GONE = "started", "gone"


class TimeLimitError(Exception):
    """The child was stopped at the time limit."""


class CrashError(Exception):
    """The child ended before it answered; `seconds` is the time since its clock started."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True, eq=False)
class _Child:
    """A running process, the log of what it prints, and its messages."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    messages: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)

    def say(self, request: Any) -> None:
        """Send a request; if the child has ended, waiting for the answer shows it."""
        assert self.process.stdin is not None  # a pipe was asked for
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def listen(self) -> None:
        """Put the messages of the child into the queue, and finally that it has ended."""
        assert self.process.stdout is not None  # a pipe was asked for
        with self.process.stdout as pipe:
            for line in pipe:
                _, mark, message = line.decode(errors="replace").rstrip("\n").rpartition(_MARK)
                if mark:
                    self.messages.put(message)
        self.messages.put(_GONE)

    def kill(self) -> None:
        """Kill the process and the processes that it started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()

    def ending(self) -> str:
        """Return how the process ended, with the last line that it printed."""
        code = self.process.wait()
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return f"its process ended with {cause}" + (f": {lines[-1]}" if lines else "")

    def close(self) -> None:
        """Kill the process and close its pipes."""
        self.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.log):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


class ChildProcess:
    """A child process that starts with the first request.

    Parameters
    ----------
    module : str
        The module that the child runs; it calls `serve`.
    *arguments : str
        Command line arguments.
    environment : mapping of str to str, optional
        Environment variables to set, such as those of `golem.runtime.threads.thread_bounds`.
    """

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._command = (module, *arguments)
        self._environment = dict(environment or {})
        self._child: _Child | None = None
        self._starting = threading.Lock()
        self._closed = False

    def ask(self, request: Any, time_limit: float | None = None, tick: Callable[[float], None] | None = None) -> Any:
        """Return the answer to a request, a JSON value.

        `time_limit` is in seconds from when the child starts the clock; `tick` is called with these seconds a few times
        per second. Any exception, also from Ctrl-C or `tick`, stops the child.

        Raises
        ------
        TimeLimitError
            If the time limit is reached.
        CrashError
            If the child ends without an answer.
        RuntimeError
            If the child is closed, also by another thread.
        """
        child = self._running()
        try:
            child.say(request)
            return self._answer(child, time_limit, tick)
        except BaseException:
            self._stop()
            raise

    def close(self) -> None:
        """End the child; other threads that ask it something cannot start it again."""
        with self._starting:
            self._closed = True
        self._stop()

    def _answer(self, child: _Child, time_limit: float | None, tick: Callable[[float], None] | None) -> Any:
        """Wait for the answer, the time limit or the end of the child."""
        began: float | None = None
        while True:
            seconds = 0.0 if began is None else time.monotonic() - began
            left = math.inf if began is None or time_limit is None else time_limit - seconds
            if tick is not None:
                tick(seconds)
            try:
                message = child.messages.get(timeout=max(0.0, min(left, _CHECK_SECONDS)))
            except queue.Empty:
                if left <= 0:
                    raise TimeLimitError(f"stopped after {time_limit:g} s") from None
                if child.process.poll() is not None:
                    child.kill()  # processes that it started may keep the pipe open
                continue
            if message == _STARTED:
                began = time.monotonic()
            elif message != _GONE:
                return json.loads(message)
            elif self._closed:
                raise RuntimeError("The child process was closed.")
            else:
                raise CrashError(child.ending(), seconds)

    def _running(self) -> _Child:
        """Return the running child; start one if there is none."""
        with self._starting:
            if self._closed:
                raise RuntimeError("The child process was closed.")
            if self._child is None or self._child.process.poll() is not None:
                self._stop()
                self._child = self._start()
            return self._child

    def _start(self) -> _Child:
        """Start a child."""
        paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        log = tempfile.TemporaryFile()  # noqa: SIM115  open as long as the process runs
        process = subprocess.Popen(
            # -P: files in the working directory must not shadow modules.
            [sys.executable, "-P", "-m", *self._command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=os.environ | self._environment | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C reaches only the parent
        )
        child = _Child(process, log)
        threading.Thread(target=child.listen, daemon=True).start()
        return child

    def _stop(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            child.close()


def serve(answer: Callable[[Any, Callable[[], None]], Any]) -> NoReturn:
    """Answer requests, in the child, until the parent ends, even by kill -9.

    `answer` is called with each request and a function that starts the clock, and returns the answer. Work before the
    clock starts, such as imports, does not count towards the time limit. An exception ends the child.
    """
    # Output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A cluster may signal all processes of a job; only the parent decides when this one ends.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()

    def say(message: str) -> None:
        answers.write(f"{_MARK}{message}\n")
        answers.flush()

    while True:
        found = answer(json.loads(requests.get()), lambda: say(_STARTED))
        say(json.dumps(found, allow_nan=False))


def _listen(requests: queue.SimpleQueue[str]) -> None:
    """Put the requests of the parent into the queue; exit when the parent ends."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(1)
