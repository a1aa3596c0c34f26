"""Progress of long computations: the interface to which functions report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from golem.runtime.dialects import FILES
from golem.runtime.problems import told

# Called with the number done and the total.
Counter = Callable[[int, int], None]


class ProgressDisplay:
    """A display of progress that shows nothing; the command line shows bars (`golem.cli.progress_bars`)."""

    def note(self, sentence: str) -> None:
        """Report a sentence that the user may want to know."""

    def worded(self, sentence: str) -> str:
        """Return a sentence with the parameters for tables in files; the command line names options instead."""
        return told(sentence, FILES)

    def table(self, text: str) -> None:
        """Report a summary of the table before the fit, in several lines."""

    @contextlib.contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Enclose work of unknown length."""
        yield

    @contextlib.contextmanager
    def counting(self, text: str) -> Iterator[Counter | None]:
        """Enclose work that is counted; yield a function to call with the count, or None."""
        yield None

    @contextlib.contextmanager
    def reading(self, total: int) -> Iterator[Counter | None]:
        """Enclose the reading of `total` bytes; yield a function to call with the count, or None."""
        yield None

    @contextlib.contextmanager
    def solving(self) -> Iterator[Callable[[Any], None] | None]:
        """Enclose a solve; yield a callback for the progress of the solver (`golem.solvers.Progress`), or None."""
        yield None
