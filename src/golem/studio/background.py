"""The child processes of the studio, each of which does one task at a time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

from golem.runtime.child_process import ChildProcess, CrashError
from golem.studio.worker import Refused, Task

# Seconds for a cancelled task to end by itself; then its process is killed, and a new one takes seconds to start.
# Checks that are out of date have longer: nobody waits for them, and the search goes first.
CANCELLED, OUT_OF_DATE = 0.7, 5.0


class CancelledWorkError(Exception):
    """The task was cancelled, and its process killed."""


class Worker:
    """A child process that does one task at a time."""

    def __init__(self, function: str) -> None:
        self._child = ChildProcess(f"golem.studio.worker:{function}")
        self._left: float | None = None
        self._busy = asyncio.Lock()
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """How long the present task has run."""
        return self._seconds

    def cancel(self, left: float = CANCELLED) -> None:
        """End the task, if there is one; kill the process if that takes longer than some seconds."""
        if self._busy.locked():
            self._left = left if self._left is None else min(left, self._left)

    async def do(self, task: Task, heard: Callable[[Any], None] = lambda news: None) -> Any:
        """Return the result of a task; raise a ValueError with its sentence if it was refused."""
        loop, end = asyncio.get_running_loop(), math.inf

        def tick(seconds: float) -> None:
            nonlocal end
            self._seconds = seconds
            if self._left is not None:
                if end == math.inf:
                    self._child.stop()
                end = min(end, seconds + self._left)
                if seconds > end:
                    raise CancelledWorkError

        def tell(news: Any) -> None:
            loop.call_soon_threadsafe(heard, news)

        async with self._busy:
            self._left = None
            try:
                found = await asyncio.to_thread(self._child.ask, task, None, tick, tell)
            except CrashError as error:
                raise ValueError(f"The computation ended unexpectedly: {error}.") from None
            finally:
                self._seconds = 0.0
        if found is None:
            raise CancelledWorkError
        if isinstance(found, Refused):
            raise ValueError(found.sentence)
        return found

    def close(self) -> None:
        """End the process."""
        self._left = -1.0
        self._child.close()
