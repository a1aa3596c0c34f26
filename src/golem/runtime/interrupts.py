"""Ctrl-C and SIGTERM: delayed while a block must not be interrupted."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

# Held while results are moved to their folder.
MOVING = threading.Lock()


@contextlib.contextmanager
def holding_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the block ends; do nothing outside the main thread, which Ctrl-C does not reach."""
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
    """Handle SIGTERM, with which clusters end a job, like Ctrl-C; `holding_interrupts` delays it too."""

    def end(number: int, frame: FrameType | None) -> None:
        interrupt = signal.getsignal(signal.SIGINT)
        # A shell may let background jobs ignore Ctrl-C, but SIGTERM must still end them.
        (interrupt if callable(interrupt) else signal.default_int_handler)(number, frame)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
