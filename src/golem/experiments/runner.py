"""The runner: from a grid to rows in a store, going on where an earlier run stopped."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golem.experiments.child import Batch
from golem.experiments.executors import Executor, Local
from golem.experiments.experiment import Experiment
from golem.experiments.store import DONE, Store
from golem.experiments.task import Grid, Task

TIME_LIMIT = 3600.0


@dataclass(frozen=True)
class Options:
    """How tasks are run; none of this decides the numbers.

    Parameters
    ----------
    executor : Executor
        Where: `Local` or `Dask`.
    time_limit : float, optional
        Most seconds for a task; it is then stopped, and its row says so.
    batch : int
        Most tasks of one shape that are solved together.
    device : str
        Where these are solved: "cpu", or a torch device such as "cuda" for the tasks that can be batched.
    retry : bool
        Run tasks again that failed or ran out of time.
    """

    executor: Executor = field(default_factory=Local)
    time_limit: float | None = TIME_LIMIT
    batch: int = 1
    device: str = "cpu"
    retry: bool = False


@dataclass(frozen=True)
class Progress:
    """Where a run stands: tasks ended of all, failures among them, and the seconds left as far as one can tell."""

    ended: int
    total: int
    failed: int
    seconds_left: float | None
    latest: str


@dataclass(frozen=True)
class Summary:
    """How a run ended: tasks of the grid, those found in the store, run now, failed among these, and lost."""

    total: int
    found: int
    ran: int
    failed: int
    lost: int


def run(
    experiment: Experiment,
    grid: Grid,
    folder: Path,
    options: Options | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Run the tasks of an experiment that have no row in the folder's store yet.

    A kill at any moment loses the tasks in flight and nothing else; the same call goes on from there.

    Raises
    ------
    ValueError
        If the store holds rows of another experiment, or of its quick version beside the full one.
    """
    options = options or Options()
    store = Store(folder)
    tasks = list({task.key: task for task in experiment.tasks(grid)}.values())
    if not tasks:
        raise ValueError("there is nothing to run with these sizes and methods")
    rows = store.read()
    _require_same_kind(rows, experiment.name, grid.mode, folder)
    if options.retry and store.set_aside_failures():
        rows = store.read()
    present = {row["key"] for row in rows}
    # All cells of one seed first: what there is when a run is stopped covers the whole figure.
    pending = sorted((task for task in tasks if task.key not in present), key=lambda task: task.seed)
    clock = _Clock(pending, len(tasks) - len(pending))
    failed = lost = 0
    batches = _batches(experiment, pending, options, store)
    for batch_rows in options.executor.run(batches):
        lost += not batch_rows
        for row in batch_rows:
            store.add(row | {"mode": grid.mode})
            failed += row["status"] != DONE
            clock.note(row)
            if progress is not None:
                progress(Progress(clock.ended, len(tasks), failed, clock.seconds_left(), _label(row)))
    return Summary(len(tasks), len(tasks) - len(pending), clock.ran, failed, lost)


def _require_same_kind(rows: list[dict[str, Any]], name: str, mode: str, folder: Path) -> None:
    """Raise where rows of one folder would make no sense in one table."""
    for row in rows:
        if row["experiment"] != name or row["mode"] != mode:
            raise ValueError(
                f"{folder} holds a {row['mode']} run of {row['experiment']}, and this is a {mode} run of {name}; name "
                "another folder with -o"
            )


def _batches(experiment: Experiment, pending: list[Task], options: Options, store: Store) -> Iterator[Batch]:
    """Put tasks of one shape together; leave out those that another runner has done in the meantime."""
    groups: dict[Hashable, list[Task]] = defaultdict(list)
    stacking = options.batch > 1 or options.device != "cpu"
    for task in pending:
        shape = experiment.shape(task) if experiment.shape is not None and stacking else None
        groups[task.key if shape is None else ("shape", shape)].append(task)
    for shape, group in groups.items():
        device = options.device if isinstance(shape, tuple) else "cpu"
        for start in range(0, len(group), options.batch):
            left = tuple(task for task in group[start : start + options.batch] if not store.has(task.key))
            if left:
                yield Batch(left, options.time_limit, device)


class _Clock:
    """Guesses the time left from that of tasks alike: same method and size, else same method, else any."""

    def __init__(self, pending: list[Task], found: int) -> None:
        self._left = {task.key: task for task in pending}
        self._seconds: dict[Hashable, list[float]] = defaultdict(list)
        self._found, self._busy, self._began = found, 0.0, time.monotonic()
        self.ran = 0

    @property
    def ended(self) -> int:
        return self._found + self.ran

    def note(self, row: dict[str, Any]) -> None:
        task = self._left.pop(row["key"])
        self.ran += 1
        self._busy += row["seconds"]
        for kind in self._kinds(task):
            self._seconds[kind].append(row["seconds"])

    def seconds_left(self) -> float | None:
        work = 0.0
        for task in self._left.values():
            alike = next((self._seconds[kind] for kind in self._kinds(task) if kind in self._seconds), None)
            if alike is None:
                return None
            work += statistics.fmean(alike)
        elapsed = time.monotonic() - self._began
        # How many tasks ran side by side so far; starting processes and reading rows included.
        return work * elapsed / max(self._busy, 1e-9)

    @staticmethod
    def _kinds(task: Task) -> tuple[Hashable, ...]:
        return (
            (task.method, task.cell.get("d"), task.cell.get("n")),
            (task.method, task.cell.get("d")),
            task.method,
            None,
        )


def _label(row: dict[str, Any]) -> str:
    """Name a task in a few words."""
    cell = " ".join(str(value) for name, value in row["cell"].items() if name in ("graph", "noise", "d", "n"))
    ending = "" if row["status"] == DONE else f"  {row['status']}: {row['reason']}"
    return f"{row['method']}  {cell}  seed {row['seed']}{ending}"
