"""Child processes: a time limit kills the child, and a crash of the child does not affect the parent.

The child is a new interpreter (`python -m MODULE`), so that scripts, notebooks and interactive sessions can start one
without `if __name__ == "__main__"`. Its module calls `serve`. Requests and answers are objects, pickled through a
pipe that only the two hold. A child serves many requests, because its imports take longer than most requests. After
a time limit or a crash, the next request starts a new child.

Pools of processes (pebble, loky) are not enough here: at a time limit they leave the processes that a method has
started, and a worker outlives a parent that is killed.
"""

from __future__ import annotations

import contextlib
import importlib
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
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

# Seconds between two checks of the clock and the process; answers are noticed at once.
_CHECK_SECONDS = 0.1
# The message of a child whose clock starts. Answers are tuples of one, what a child tells before them lists of one.
_STARTED = "started"
# The message of a parent that no longer needs the answer.
_STOP = "stop"
# The pipe of this process to its parent, if it is a child.
_parents_pipe: list[Connection[Any, Any]] = []
_stopped = threading.Event()


class TimeLimitError(Exception):
    """The child was stopped at the time limit."""


class StoppedError(BaseException):
    """The parent no longer needs the answer (`ChildProcess.stop`); not an Exception, so that no task handles it."""


class CrashError(Exception):
    """The child ended before it answered; `seconds` is the time since its clock started."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class _Child(NamedTuple):
    """A running process, the pipe to it, and the log of what it prints."""

    process: subprocess.Popen[bytes]
    pipe: Connection[Any, Any]
    log: IO[bytes]

    def kill(self) -> None:
        """Kill the process and the processes that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def ending(self) -> str:
        """Return how the process ended, with the last line that it printed."""
        code = self.process.wait()
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return f"its process ended with {cause}" + (f": {lines[-1]}" if lines else "")


class ChildProcess:
    """A child process that starts with the first request.

    Parameters
    ----------
    module : str
        The module that the child runs, which calls `serve`; or "module:function", the function that answers requests.
    *arguments : str
        Command line arguments.
    environment : mapping of str to str, optional
        Environment variables to set, such as those of `golem.runtime.threads.thread_bounds`.
    """

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._command = (__name__, module, *arguments) if ":" in module else (module, *arguments)
        self._environment = dict(environment or {})
        self._child: _Child | None = None
        self._starting = threading.Lock()
        self._closed = False

    def ask(
        self,
        request: Any,
        time_limit: float | None = None,
        tick: Callable[[float], None] | None = None,
        heard: Callable[[Any], None] | None = None,
    ) -> Any:
        """Return the answer to a request.

        `time_limit` is in seconds from when the child starts the clock; `tick` is called with these seconds a few times
        per second, and `heard` with what the child tells (`tell`) before it answers. Any exception, also from Ctrl-C,
        `tick` or `heard`, stops the child.

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
            with contextlib.suppress(BrokenPipeError):  # waiting for the answer shows that the child has ended
                child.pipe.send(request)
            return self._answer(child, time_limit, tick, heard)
        except BaseException:
            self._stop()
            raise

    def stop(self) -> None:
        """Let the child's next `tell` raise a `StoppedError`; call it from `tick` or `heard`."""
        if self._child is not None:
            with contextlib.suppress(BrokenPipeError):
                self._child.pipe.send(_STOP)

    def close(self) -> None:
        """End the child; other threads that ask it something cannot start it again."""
        with self._starting:
            self._closed = True
        self._stop()

    def _answer(
        self,
        child: _Child,
        time_limit: float | None,
        tick: Callable[[float], None] | None,
        heard: Callable[[Any], None] | None,
    ) -> Any:
        """Wait for the answer, the time limit or the end of the child."""
        began: float | None = None
        while True:
            seconds = 0.0 if began is None else time.monotonic() - began
            left = math.inf if began is None or time_limit is None else time_limit - seconds
            if tick is not None:
                tick(seconds)
            if not child.pipe.poll(max(0.0, min(left, _CHECK_SECONDS))):
                if left <= 0:
                    raise TimeLimitError(f"stopped after {time_limit:g} s")
                if child.process.poll() is not None:
                    child.kill()  # processes that it started may keep the pipe open
                continue
            try:
                message = child.pipe.recv()
            except (EOFError, ConnectionResetError):
                if self._closed:
                    raise RuntimeError("The child process was closed.") from None
                raise CrashError(child.ending(), seconds) from None
            if isinstance(message, list):
                if heard is not None:
                    heard(message[0])
            elif message == _STARTED:
                began = time.monotonic()
            else:
                return message[0]

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
        ours, theirs = Pipe()
        with theirs:
            process = subprocess.Popen(
                # -P: files in the working directory must not shadow modules.
                [sys.executable, "-P", "-m", *self._command],
                stdin=theirs.fileno(),
                stdout=log,
                stderr=log,
                env=os.environ | self._environment | {"PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,  # Ctrl-C reaches only the parent
            )
        return _Child(process, ours, log)

    def _stop(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.process.wait()
            child.log.close()


def serve(answer: Callable[[Any, Callable[[], None]], Any]) -> NoReturn:
    """Answer requests, in the child, until the parent ends, even by kill -9.

    `answer` is called with each request and a function that starts the clock, and returns the answer. Work before the
    clock starts, such as imports, does not count towards the time limit. An exception ends the child.
    """
    pipe = Connection(os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # libraries must not read requests
    os.ftruncate(1, 0)  # what imports print does not explain a later crash
    os.lseek(1, 0, os.SEEK_SET)
    # A cluster may signal all processes of a job; only the parent decides when this one ends.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    _parents_pipe.append(pipe)
    threading.Thread(target=_listen, args=(pipe, requests), daemon=True).start()
    while True:
        pipe.send((answer(requests.get(), lambda: pipe.send(_STARTED)),))


def tell(news: Any) -> None:
    """Tell the parent something before the answer, in the child; the parent may not listen.

    Raises
    ------
    StoppedError
        If the parent no longer needs the answer.
    """
    if _stopped.is_set():
        raise StoppedError
    for pipe in _parents_pipe:
        pipe.send([news])


def _listen(pipe: Connection[Any, Any], requests: queue.SimpleQueue[Any]) -> None:
    """Put the requests of the parent into the queue; exit when the parent ends."""
    try:
        while True:
            message = pipe.recv()
            if isinstance(message, str) and message == _STOP:
                _stopped.set()
            else:
                _stopped.clear()
                requests.put(message)
    except BaseException:  # noqa: BLE001  whatever happens, a child without requests must not stay
        os._exit(1)


if __name__ == "__main__":
    module, _, function = sys.argv.pop(1).partition(":")
    here = importlib.import_module("golem.runtime.child_process")  # whose pipe `tell` uses
    here.serve(getattr(importlib.import_module(module), function))
