"""Progress bars in the terminal."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from golem.cli import terminal
from golem.runtime.progress import Counter, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import ProgressColumn

    from golem.comparison.result import Step
    from golem.experiments.engine.runner import RunProgress

_LOG_EVERY = 60.0
_COMPILING = "compiling what the first tasks need (once, up to half a minute)"


class ProgressBars(Progress):
    """Shows long work on standard error: bars where that is a terminal, notes wherever it goes.

    Parameters
    ----------
    bars : bool
        Whether bars are wanted.
    notes : bool
        Whether notes are wanted.
    """

    def __init__(self, bars: bool = True, notes: bool = True) -> None:
        self._bars, self._notes = bars, notes

    def note(self, sentence: str) -> None:
        """Print a sentence."""
        if self._notes:
            terminal.err.print(sentence, soft_wrap=True)

    @contextlib.contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show a spinner."""
        with terminal.err.status(text) if self._bars else contextlib.nullcontext():
            yield

    @contextlib.contextmanager
    def counting(self, text: str) -> Iterator[Counter | None]:
        """Show a bar with the count and the time left."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        columns = (BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn())
        with self._bar(TextColumn("{task.description}"), *columns) as bar:
            yield None if bar is None else _counter(bar, text, None)

    @contextlib.contextmanager
    def reading(self, total: int) -> Iterator[Counter | None]:
        """Show a bar of the bytes read."""
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn

        columns = (BarColumn(bar_width=30), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with self._bar(TextColumn("Reading"), *columns) as bar:
            yield None if bar is None else _counter(bar, "", total)

    @contextlib.contextmanager
    def solving(self) -> Iterator[Callable[[Any], None] | None]:
        """Show a bar with the score, h and the time left for every stage of a solve."""
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("score {task.fields[score]:.4f}  h {task.fields[h]:.1e}"),
            TimeRemainingColumn(),
        )
        with self._bar(*columns) as bar:
            tasks: dict[str, Any] = {}

            def show(state: Any) -> None:
                if state.stage not in tasks:
                    tasks[state.stage] = bar.add_task(state.stage, total=state.max_iter, score=0.0, h=0.0)
                bar.update(
                    tasks[state.stage], completed=state.iteration, total=state.max_iter, score=state.score, h=state.h
                )

            yield None if bar is None else show

    @contextlib.contextmanager
    def comparing(self, time_limit: float | None) -> Iterator[Callable[[Step], None] | None]:
        """Show a bar that counts methods, with the one that runs and its seconds."""
        limit = "" if time_limit is None else f" of at most {time_limit:g}"
        with self._steps() as show:

            def tell(step: Step) -> None:
                running = f"{step.seconds:.0f} s{limit}" if step.seconds else "starting"
                show(step.number, step.total, f"{step.method}  {running}")

            yield None if show is None else tell

    @contextlib.contextmanager
    def experimenting(self) -> Iterator[Callable[[RunProgress], None] | None]:
        """Show a bar with the tasks ended and the time left; a line a minute where the output is not a terminal."""
        with self._steps() as show:

            def tell(run: RunProgress) -> None:
                failed = f"  {run.failed} failed" if run.failed else ""
                text = f"{_left(run)}{failed}  {run.latest}" if run.latest else _COMPILING
                show(run.ended, run.total, text)

            yield tell if show is not None else _line_a_minute() if self._bars else None

    @contextlib.contextmanager
    def _steps(self) -> Iterator[Any]:
        """Show a bar that counts steps; yields what to call with those done, all, and a few words on the latest."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

        with self._bar(BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("{task.description}")) as bar:
            task = None if bar is None else bar.add_task("starting", total=None)

            def show(done: int, total: int, text: str) -> None:
                bar.update(task, total=total, completed=done, description=text)

            yield None if bar is None else show

    @contextlib.contextmanager
    def _bar(self, *columns: ProgressColumn) -> Iterator[Any]:
        """Show a bar with these columns; yields None where none is wanted or standard error is not a terminal."""
        from rich.progress import Progress as RichProgress

        if not self._bars or not terminal.err.is_terminal:
            yield None
            return
        with RichProgress(*columns, console=terminal.err, transient=True) as bar:
            yield bar


def _counter(bar: RichProgress, text: str, total: int | None) -> Counter:
    """Return what moves a bar."""
    task = bar.add_task(text, total=total)
    return lambda done, total: bar.update(task, completed=done, total=total)


def _line_a_minute() -> Callable[[RunProgress], None]:
    """Return what prints where a run stands: at first, every minute and at the end."""
    told = time.monotonic()

    def log(run: RunProgress) -> None:
        nonlocal told
        if not run.latest:
            terminal.err.print(f"{run.ended} of {run.total} tasks, {_COMPILING}", soft_wrap=True)
        elif time.monotonic() - told > _LOG_EVERY or run.ended == run.total:
            told = time.monotonic()
            text = f"{run.ended} of {run.total} tasks, {run.failed} failed, {_left(run)}"
            terminal.err.print(text, soft_wrap=True)

    return log


def _left(run: RunProgress) -> str:
    """Say how much time is left."""
    if run.seconds_left is None:
        return "time left unknown"
    return f"{timedelta(seconds=round(run.seconds_left))} left"
