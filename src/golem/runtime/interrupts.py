"""Ctrl-C and SIGTERM: held back while something must not be cut short."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def holding_interrupts() -> Iterator[None]:
    """Keep Ctrl-C waiting until the block has ended; outside the main thread there is none to hold."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


@contextlib.contextmanager
def terminating_softly() -> Iterator[None]:
    """Let SIGTERM, with which clusters end a job, do what Ctrl-C does; inside `holding_interrupts` it waits too."""

    def end(number: int, frame: FrameType | None) -> None:
        interrupt = signal.getsignal(signal.SIGINT)
        # A shell may have its background jobs ignore Ctrl-C, but not this.
        (interrupt if callable(interrupt) else signal.default_int_handler)(number, frame)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
