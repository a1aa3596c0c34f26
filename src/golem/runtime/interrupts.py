"""Signals that end a program (Ctrl-C, SIGTERM, SIGHUP), and blocks that they must not cut short.

The command line calls `handle_signals` before it imports anything large. Until `begin_work`, a signal ends the process
at once. From then on it raises a KeyboardInterrupt, and solvers return what they have. A thread ends the process if
Python does not notice the signal, because compiled code runs, or if a second signal follows.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

from golem.runtime.files import remove_temporary_folders
from golem.runtime.messages import printable

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
# Seconds that Python has to notice a signal; compiled code can take longer.
_NOTICE = 1.5
# Signals this close together are one: some programs pass Ctrl-C on to a child that has received it too.
_SAME = 1.0
# Held while results are moved to their folder; `exit_now` waits for it.
MOVING = threading.Lock()
NOTHING_KEPT = "Nothing was written."


class _Ending:
    """How the process ends."""

    def __init__(self) -> None:
        self.kept = NOTHING_KEPT
        self.working = False
        self.number: int | None = None  # the first signal
        self.raised: float | None = None  # when it became a KeyboardInterrupt
        self.noticed = threading.Event()


_ending = _Ending()


def handle_signals() -> None:
    """Let signals end this process with a sentence about what was kept; for command lines."""
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        # A shell lets background jobs ignore Ctrl-C, and nohup SIGHUP.
        if number is not None and (name == "SIGTERM" or signal.getsignal(number) is not signal.SIG_IGN):
            signal.signal(number, _interrupt)
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(read,), daemon=True).start()
    sys.unraisablehook = _repeat_lost_interrupt


def begin_work() -> None:
    """From now on signals raise a KeyboardInterrupt."""
    _ending.working = True


def keep(sentence: str) -> None:
    """Set the sentence about what was kept."""
    _ending.kept = sentence


def kept() -> str:
    """Return the sentence about what was kept."""
    return _ending.kept


def received() -> int | None:
    """Return the number of the signal that ends this process, or None."""
    return _ending.number


def exit_now(code: int) -> NoReturn:
    """End the process without waiting for threads and compiled code; remove its temporary folders."""
    MOVING.acquire(timeout=_NOTICE)
    remove_temporary_folders()
    os._exit(code)


@contextlib.contextmanager
def holding_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the block ends; do nothing outside the main thread, which Ctrl-C does not reach."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        held.append(number)
        _ending.noticed.set()

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        if callable(before):
            before(held[0], None)
        raise KeyboardInterrupt


@contextlib.contextmanager
def losing_interrupts() -> Iterator[None]:
    """Enclose work that can swallow a KeyboardInterrupt, such as compiling with numba.

    A command line ends at once, as before `begin_work`. Elsewhere Ctrl-C is delayed.
    """
    if not _ending.working:
        with holding_interrupts():
            yield
        return
    _ending.working = False
    try:
        yield
    finally:
        _ending.working = True


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal of the command line."""
    inner = signal.getsignal(signal.SIGINT)
    if number != signal.SIGINT and callable(inner) and inner is not _interrupt:
        inner(number, frame)  # `holding_interrupts`
        return
    _ending.noticed.set()
    _ending.number = _ending.number or number
    if not _ending.working:
        _say_and_exit(number)
    if _ending.raised is None:
        _ending.raised = time.monotonic()
        raise KeyboardInterrupt


def _watch(pipe: int) -> None:
    """End the process if a signal is not noticed, or if it is repeated; runs in a thread."""
    first: float | None = None
    while True:
        number = os.read(pipe, 1)[0]
        if first is not None and time.monotonic() - first < _SAME:
            continue
        if first is not None and _ending.noticed.is_set():
            _say_and_exit(_ending.number or number)
        first = time.monotonic()
        if not _ending.noticed.wait(_NOTICE):
            _say_and_exit(number)


def _say_and_exit(number: int) -> NoReturn:
    """End the process with the sentence about what was kept."""
    with contextlib.suppress(OSError):
        # A progress bar hides the cursor.
        cursor = "\x1b[?25h\n" if os.isatty(2) else ""
        os.write(2, f"{cursor}Interrupted. {printable(_ending.kept)}\n".encode())
    exit_now(128 + number)


def _repeat_lost_interrupt(lost: Any) -> None:
    """Send Ctrl-C again if it was raised where Python ignores exceptions, such as in a destructor."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    _ending.raised = None
    _ending.noticed.clear()
    again = threading.Timer(0.05, os.kill, (os.getpid(), _ending.number or signal.SIGINT))
    again.daemon = True
    again.start()
