"""Progress of long work: what functions report to. This base class ignores every report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

# Called with what is done and what there is in all.
Counter = Callable[[int, int], None]


class Progress:
    """A silent listener; the command line has one with bars (`golem.cli.progress_bars`)."""

    def note(self, sentence: str) -> None:
        """Take note of something the user may want to know."""

    @contextlib.contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Enclose work whose length is not known."""
        yield

    @contextlib.contextmanager
    def counting(self, text: str) -> Iterator[Counter | None]:
        """Enclose work that is counted; yields what to call with the count, if anything."""
        yield None

    @contextlib.contextmanager
    def reading(self, total: int) -> Iterator[Counter | None]:
        """Enclose the reading of so many bytes."""
        yield None

    @contextlib.contextmanager
    def solving(self) -> Iterator[Callable[[Any], None] | None]:
        """Enclose a solve; yields a callback for a solver's own progress (`golem.solvers.Progress`), if anything."""
        yield None
