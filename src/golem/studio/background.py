"""The child processes of the studio, each of which does one task at a time."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

from golem.runtime.child_process import ChildProcess, CrashError
from golem.studio.worker import Refused, Task

# Seconds for a task to end by itself that the user cancelled, or that is out of date; then its process is killed. What
# is out of date has longer, at least as long as a process takes to start: on a busy machine, this is longest of all.
_CANCELLED, _OUT_OF_DATE = 0.7, 5.0


class CancelledWorkError(Exception):
    """The task was cancelled, and its process killed."""


class Worker:
    """A child process that does one task at a time."""

    def __init__(self, function: str) -> None:
        self._child = ChildProcess(f"golem.studio.worker:{function}")
        self._left: float | None = None
        self._busy = asyncio.Lock()
        self._seconds = 0.0
        self._start = 0.0

    @property
    def seconds(self) -> float:
        """How long the present task has run."""
        return self._seconds

    def cancel(self, out_of_date: bool = False) -> None:
        """End the task, if there is one; kill the process if that takes longer than some seconds."""
        left = max(_OUT_OF_DATE, self._start) if out_of_date else _CANCELLED
        if self._busy.locked():
            self._left = left if self._left is None else min(left, self._left)

    async def do(
        self,
        task: Task,
        heard: Callable[[Any], None] = lambda news: None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Any:
        """Return the result of a task that is still wanted in its turn; raise a ValueError if it was refused."""
        loop, end = asyncio.get_running_loop(), math.inf

        def tick(seconds: float) -> None:
            nonlocal end
            self._seconds = seconds
            if not seconds:
                self._start = max(self._start, time.monotonic() - began)
            if self._left is not None:
                if end == math.inf:
                    self._child.stop()
                end = min(end, seconds + self._left)
                if seconds > end:
                    raise CancelledWorkError

        def tell(news: Any) -> None:
            loop.call_soon_threadsafe(heard, news)

        async with self._busy:
            if not is_wanted():
                raise CancelledWorkError
            self._left, began = None, time.monotonic()
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
