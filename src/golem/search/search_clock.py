"""The time limit of a search over orders, and its reports of progress."""

from __future__ import annotations

import time
from collections.abc import Callable

from golem.score.solution import Callback, Progress


class SearchClock:
    """The time limit and the reports of progress."""

    def __init__(self, limit: float | None, on_progress: Callback | None) -> None:
        self._began, self._limit, self._on_progress = time.perf_counter(), limit, on_progress
        self._next_report, self.planned = 0.0, 0

    def check(self, perturbations: int, score: Callable[[], float]) -> None:
        """Raise TimeoutError after the time limit, and report progress a few times per second."""
        seconds = time.perf_counter() - self._began
        if self._on_progress is not None and seconds >= self._next_report:
            self._on_progress(Progress("", perturbations, self.planned, seconds, score(), 0.0))
            self._next_report = seconds + 0.2
        if self._limit is not None and seconds >= self._limit:
            raise TimeoutError
