"""Progress bars in the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from golem.cli import terminal
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told
from golem.runtime.progress import Counter, ProgressDisplay

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from golem.comparison.result import Step


class ProgressBars(ProgressDisplay):
    """Shows long work on standard error: bars if it is a terminal, and notes in any case, unless switched off."""

    def __init__(self, bars: bool = True, notes: bool = True, details: bool = False) -> None:
        self._bars, self._notes, self._details = bars, notes, details

    def note(self, sentence: str) -> None:
        """Print a sentence."""
        if self._notes:
            terminal.err.print(self.worded(sentence))

    def worded(self, sentence: str) -> str:
        """Return a sentence that names options instead of parameters."""
        return told(sentence, SHELL)

    def table(self, text: str) -> None:
        """Print a summary of the table, if details are wanted."""
        if self._details:
            terminal.err.print(self.worded(text))

    @contextlib.contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show a spinner."""
        with terminal.err.status(text) if self._bars else contextlib.nullcontext():
            yield

    @contextlib.contextmanager
    def counting(self, text: str) -> Iterator[Counter | None]:
        """Show a bar with the count and the time left."""
        from rich.progress import MofNCompleteColumn

        with self._counter(text, None, MofNCompleteColumn()) as counter:
            yield counter

    @contextlib.contextmanager
    def reading(self, total: int) -> Iterator[Counter | None]:
        """Show a bar with the bytes read so far."""
        from rich.progress import DownloadColumn, TransferSpeedColumn

        with self._counter("Reading", total, DownloadColumn(), TransferSpeedColumn()) as counter:
            yield counter

    @contextlib.contextmanager
    def solving(self) -> Iterator[Callable[[Any], None] | None]:
        """Show a bar with the score, h unless it is zero, and the time left for every stage of a solve."""
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
        )
        with self._bar(*columns) as bar:
            tasks: dict[str, Any] = {}

            def show(state: Any) -> None:
                if state.stage not in tasks:
                    tasks[state.stage] = bar.add_task(state.stage, total=state.max_iter, state="")
                text = f"score {state.score:.4f}{f'  cycles (h) {state.h:.1e}' if state.h else ''}"
                bar.update(tasks[state.stage], completed=state.iteration, total=state.max_iter, state=text)

            yield None if bar is None else show

    @contextlib.contextmanager
    def comparing(self, time_limit: float | None) -> Iterator[Callable[[Step], None] | None]:
        """Show a bar that counts methods, with the current one and its seconds."""
        limit = "" if time_limit is None else f" of at most {time_limit:g}"
        with self.steps() as show:

            def update(step: Step) -> None:
                running = f"{step.seconds:.0f} s{limit}" if step.seconds else "starting"
                show(step.number, step.total, f"{step.method}  {running}")

            yield None if show is None else update

    @contextlib.contextmanager
    def steps(self) -> Iterator[Any]:
        """Show a bar that counts steps; yields a function of the steps done, their total, and a text."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

        with self._bar(BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("{task.description}")) as bar:
            task = None if bar is None else bar.add_task("starting", total=None)

            def show(done: int, total: int, text: str) -> None:
                bar.update(task, total=total, completed=done, description=text)

            yield None if bar is None else show

    @contextlib.contextmanager
    def _counter(self, text: str, total: int | None, *columns: ProgressColumn) -> Iterator[Counter | None]:
        """Show a bar with a text, these columns and the time left; yields a function that moves it."""
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        with self._bar(TextColumn("{task.description}"), BarColumn(30), *columns, TimeRemainingColumn()) as bar:
            task = None if bar is None else bar.add_task(text, total=total)
            yield None if bar is None else lambda done, total: bar.update(task, completed=done, total=total)

    @contextlib.contextmanager
    def _bar(self, *columns: ProgressColumn) -> Iterator[Any]:
        """Show a bar with these columns; yields None if bars are off or standard error is not a terminal."""
        from rich.progress import Progress as RichProgress

        if not self._bars or not terminal.err.is_terminal:
            yield None
            return
        with RichProgress(*columns, console=terminal.err, transient=True) as bar:
            yield bar
