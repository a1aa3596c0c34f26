"""The runner: from a grid to rows in a store, going on where an earlier run stopped."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from golem.experiments.engine.child import Batch
from golem.experiments.engine.claims import Claims
from golem.experiments.engine.executors import Executor, Local
from golem.experiments.engine.store import DONE, Store
from golem.experiments.engine.task import Grid, Task
from golem.experiments.experiment import Experiment

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
class RunProgress:
    """Where a run stands: tasks ended of all, failures among them, and the seconds left as far as one can tell.

    `latest` names the task that ended last; it is empty at first, while what the methods need is compiled.
    """

    ended: int
    total: int
    failed: int
    seconds_left: float | None
    latest: str


@dataclass(frozen=True)
class Summary:
    """How a run ended.

    Parameters
    ----------
    total : int
        Tasks of the grid.
    found : int
        Those that had a row before.
    ran : int
        Those whose row this run added.
    failed : int
        Those of `ran` that failed or ran out of time.
    lost : int
        Batches that were lost with their workers.
    found_failed : int
        Those of `found` that failed or ran out of time.
    elsewhere : int
        Those that another runner ran in the meantime.
    held : int
        Those at which another runner is still at work.
    """

    total: int
    found: int
    ran: int
    failed: int
    lost: int
    found_failed: int = 0
    elsewhere: int = 0
    held: int = 0


def run(
    experiment: Experiment,
    grid: Grid,
    folder: Path,
    options: Options | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> Summary:
    """Run the tasks of an experiment that have no row in the folder's store yet.

    A kill at any moment loses the tasks in flight and nothing else; the same call goes on from there.

    Raises
    ------
    ValueError
        If the store holds rows of another experiment, or of its quick version beside the full one; if the experiment
        has no sizes and some are asked for, or the device cannot be used.
    """
    options = options or Options()
    store = Store(folder)
    if grid.sizes is not None and not experiment.has_sizes:
        raise ValueError(f"{experiment.name} has no sizes to choose from, its data have their own; leave out --sizes")
    tasks = {task.key: task for task in experiment.tasks(grid)}
    if not tasks:
        raise ValueError("there is nothing to run with these sizes and methods")
    rows = store.read()
    _require_same_kind(rows, experiment.name, grid.mode, folder)
    if options.retry and store.set_aside_failures(tasks):
        rows = store.read()
    found = {row["key"]: row["status"] for row in rows if row["key"] in tasks}
    # All cells of one seed first: what there is when a run is stopped covers the whole figure.
    pending = sorted((task for key, task in tasks.items() if key not in found), key=lambda task: task.seed)
    if pending and options.device != "cpu":
        options.executor.check(options.device)
    clock = _Clock(pending, len(found))
    added: dict[str, str] = {}
    held: set[str] = set()
    lost = 0
    if pending and progress is not None:
        progress(RunProgress(clock.ended, len(tasks), 0, None, ""))
    with contextlib.ExitStack() as ending:
        claims = ending.enter_context(Claims(folder))
        batches = _free(_batches(experiment, pending, options), store, claims, held, clock)
        # Closed before the claims are given up: no task is claimed after that.
        for batch_rows in ending.enter_context(contextlib.closing(options.executor.run(batches))):
            lost += not batch_rows
            for row in batch_rows:
                if store.add(row | {"mode": grid.mode}):
                    added[row["key"]] = row["status"]
                claims.release(row["key"])
                clock.note(row)
                if progress is not None:
                    failed = _failures(added)
                    progress(RunProgress(clock.ended, len(tasks), failed, clock.seconds_left(), _label(row)))
    return Summary(
        total=len(tasks),
        found=len(found),
        ran=len(added),
        failed=_failures(added),
        lost=lost,
        found_failed=_failures(found),
        elsewhere=sum(task.key not in added and store.has(task.key) for task in pending),
        held=sum(not store.has(key) for key in held),
    )


def _failures(statuses: Mapping[str, str]) -> int:
    """Count the tasks that came to no end."""
    return sum(status != DONE for status in statuses.values())


def _require_same_kind(rows: list[dict[str, Any]], name: str, mode: str, folder: Path) -> None:
    """Raise where rows of one folder would make no sense in one table."""
    for row in rows:
        if row["experiment"] != name or row["mode"] != mode:
            raise ValueError(
                f"{folder} holds a {row['mode']} run of {row['experiment']}, and this is a {mode} run of {name}; name "
                "another folder with -o"
            )


def _batches(experiment: Experiment, pending: list[Task], options: Options) -> Iterator[Batch]:
    """Put tasks of one shape together."""
    groups: dict[Hashable, list[Task]] = defaultdict(list)
    stacking = options.batch > 1 or options.device != "cpu"
    for task in pending:
        shape = experiment.shape(task) if experiment.shape is not None and stacking else None
        groups[task.key if shape is None else ("shape", shape)].append(task)
    # The same data for one method after the other: some start where others end (`learners.learn_batch`).
    for start in range(0, max(map(len, groups.values()), default=0), options.batch):
        for shape, group in groups.items():
            device = options.device if isinstance(shape, tuple) else "cpu"
            if some := group[start : start + options.batch]:
                yield Batch(tuple(some), options.time_limit, device)


def _free(batches: Iterable[Batch], store: Store, claims: Claims, held: set[str], clock: _Clock) -> Iterator[Batch]:
    """Claim the tasks of batches when they are asked for; leave out those that other runners have, or have done.

    What others have is tried once more at the end, when they may have given it up; `held` is what they have even then.
    """
    again: list[Batch] = []
    for last, some in ((False, batches), (True, again)):
        for batch in some:
            free, left = [], []
            for task in batch.tasks:
                if not store.has(task.key) and not claims.take(task.key):
                    left.append(task)
                elif store.has(task.key):  # perhaps since a moment ago
                    claims.release(task.key)
                    clock.drop(task)
                else:
                    free.append(task)
            if left and last:
                held.update(task.key for task in left)
            elif left:
                again.append(replace(batch, tasks=tuple(left)))
            if free:
                yield replace(batch, tasks=tuple(free))


class _Clock:
    """Guesses the time left from that of tasks alike: same method and size, else same method, else any."""

    def __init__(self, pending: list[Task], found: int) -> None:
        self._left = {task.key: task for task in pending}
        self._seconds: dict[Hashable, list[float]] = defaultdict(list)
        self._found, self._busy, self._began = found, 0.0, time.monotonic()
        self._ran = 0

    @property
    def ended(self) -> int:
        return self._found + self._ran

    def note(self, row: dict[str, Any]) -> None:
        task = self._left.pop(row["key"])
        self._ran += 1
        self._busy += row["seconds"]
        for kind in self._kinds(task):
            self._seconds[kind].append(row["seconds"])

    def drop(self, task: Task) -> None:
        """Count a task that another runner has done."""
        self._found += self._left.pop(task.key, None) is not None

    def seconds_left(self) -> float | None:
        work = 0.0
        for task in list(self._left.values()):  # tasks are handed out, and dropped, in other threads
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
