"""The runner: from a grid to rows in a store, continuing where an earlier run stopped."""

from __future__ import annotations

import contextlib
import shutil
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from golem_experiments.engine.executors import Batch, Options, run_batches
from golem_experiments.engine.store import DONE, TIMEOUT, Claims, Store
from golem_experiments.experiment import Experiment, Grid, Task


@dataclass(frozen=True)
class RunProgress:
    """The progress of a run: tasks ended, all tasks, failures, and an estimate of the seconds left.

    `latest` names the task that ended last; it is empty while methods are compiled at the start.
    """

    ended: int
    total: int
    failed: int
    seconds_left: float | None
    latest: str


@dataclass(frozen=True)
class Summary:
    """The numbers of tasks of a run.

    Parameters
    ----------
    total : int
        Tasks of the grid.
    found, found_failed : int
        Tasks that had a row before, and those of them that failed or timed out.
    ran, failed : int
        Tasks whose row this run added, and those of them that failed or timed out.
    resumable : int
        Tasks at the time limit that the next run of the same command continues.
    lost : int
        Batches that were lost with their workers.
    elsewhere, held : int
        Tasks that another runner has completed in the meantime, and tasks it still works on.

    Examples
    --------
    >>> from golem_experiments import Summary
    >>> Summary(total=10, found=4, ran=6, failed=0, lost=0).ran
    6
    """

    total: int
    found: int
    ran: int
    failed: int
    lost: int
    found_failed: int = 0
    elsewhere: int = 0
    held: int = 0
    resumable: int = 0


def run(
    experiment: Experiment,
    grid: Grid,
    folder: Path,
    options: Options | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> Summary:
    """Run the tasks of an experiment that have no row in the folder's store yet.

    A kill at any moment loses only the tasks in progress; the same call continues from there. Long solves by Adam keep
    checkpoints: the same call continues them too, also after they have reached the time limit.

    Raises
    ------
    ValueError
        If the store contains rows of another experiment or version, if sizes are given that cannot be chosen, or if
        the device cannot be used.

    Examples
    --------
    >>> from pathlib import Path
    >>> from golem_experiments import Grid, load, run
    >>> summary = run(load("theory"), Grid(tiny=True), Path("rows"))  # doctest: +SKIP
    >>> summary.ran, summary.failed  # doctest: +SKIP
    (14, 0)
    """
    options = options or Options()
    store, tasks = Store(folder), _tasks(experiment, grid)
    rows = store.read()
    _require_same_kind(rows, experiment.name, grid.mode, folder)
    if _set_aside(experiment, tasks, store, options.retry):
        rows = store.read()
    found = {row["key"]: row["status"] for row in rows if row["key"] in tasks}
    # All cells of one seed first, so that the rows of a stopped run cover the whole figure.
    left = [(key, task) for key, task in tasks.items() if key not in found]
    pending = dict(sorted(left, key=lambda item: item[1].seed))
    clock = _Clock(pending, len(found))
    added: dict[str, str] = {}
    held: set[str] = set()
    lost = 0
    if pending and progress is not None:
        progress(RunProgress(clock.ended, len(tasks), 0, None, ""))
    with contextlib.ExitStack() as ending:
        claims = ending.enter_context(Claims(folder))
        batches = _free(_batches(experiment, pending, options, store), store, claims, held, clock)
        ended = run_batches(batches, options)
        # Closed before the claims are given up, so that none is taken after that.
        for batch_rows in ending.enter_context(contextlib.closing(ended)) if pending else ():
            lost += not batch_rows
            for row in batch_rows:
                if _can_resume(experiment, tasks[row["key"]], row):
                    row["reason"] += "; the same command continues it"
                if store.add(row | {"mode": grid.mode}):
                    added[row["key"]] = row["status"]
                claims.release(row["key"])
                clock.note(row)
                if progress is not None:
                    failed = _failures(added)
                    progress(RunProgress(clock.ended, len(tasks), failed, clock.seconds_left(), _label(row)))
        resumable = sum(_can_resume(experiment, tasks[row["key"]], row) for row in store.read() if row["key"] in tasks)
        if not resumable and all(map(store.has, tasks)) and claims.has_no_rival():
            shutil.rmtree(store.checkpoints, ignore_errors=True)
    return Summary(
        total=len(tasks),
        found=len(found),
        ran=len(added),
        failed=_failures(added),
        lost=lost,
        found_failed=_failures(found),
        elsewhere=sum(key not in added and store.has(key) for key in pending),
        held=sum(not store.has(key) for key in held),
        resumable=resumable,
    )


def _tasks(experiment: Experiment, grid: Grid) -> dict[str, Task]:
    """Return the tasks of a grid by their keys; raise a ValueError if there are none."""
    if grid.sizes is not None and not experiment.has_sizes:
        raise ValueError(
            f"{experiment.name!r} has no sizes to choose from, because its data fix them. Leave out --sizes."
        )
    tasks = {experiment.key(task): task for task in experiment.tasks(grid)}
    if not tasks:
        raise ValueError("There are no tasks with these sizes and methods. Choose others with --sizes and --methods.")
    if grid.accelerate and not any(task.method.endswith("-accelerated") for task in tasks.values()):
        raise ValueError("Only golem-ev of the experiment scalability has accelerated steps. Leave out --accelerate.")
    return tasks


def _set_aside(experiment: Experiment, tasks: Mapping[str, Task], store: Store, retry: bool) -> int:
    """Set aside the rows of tasks to run again: all that failed, or those with a checkpoint; return their number."""
    if retry:
        return store.set_aside(tasks)
    if not store.checkpoints.exists():
        return 0
    keep_checkpoints = [key for key, task in tasks.items() if _keeps_checkpoints(experiment, task)]
    return store.set_aside(keep_checkpoints, (TIMEOUT,))


def _keeps_checkpoints(experiment: Experiment, task: Task) -> bool:
    return experiment.resumes is not None and experiment.resumes(task)


def _can_resume(experiment: Experiment, task: Task, row: Mapping[str, Any]) -> bool:
    return row["status"] == TIMEOUT and _keeps_checkpoints(experiment, task)


def _failures(statuses: Mapping[str, str]) -> int:
    """Count the tasks that failed or timed out."""
    return sum(status != DONE for status in statuses.values())


def _require_same_kind(rows: list[dict[str, Any]], name: str, mode: str, folder: Path) -> None:
    """Raise if the rows of a folder do not belong into one table with the new ones."""
    for row in rows:
        if row["experiment"] != name or row["mode"] != mode:
            raise ValueError(
                f"{folder} contains a {row['mode']} run of {row['experiment']!r}, but this is a {mode} run of {name!r}"
                ". Name another folder with -o."
            )


def _batches(experiment: Experiment, pending: Mapping[str, Task], options: Options, store: Store) -> Iterator[Batch]:
    """Yield batches of tasks of one shape."""
    groups: dict[Hashable, list[tuple[str, Task]]] = defaultdict(list)
    stacking = options.batch > 1 or options.device != "cpu"
    for key, task in pending.items():
        shape = experiment.shape(task) if experiment.shape is not None and stacking else None
        groups[key if shape is None else ("shape", shape)].append((key, task))
    # All methods on the same data in turn: some start from the solution of others (`learners.learn_batch`).
    for start in range(0, max(map(len, groups.values()), default=0), options.batch):
        for shape, group in groups.items():
            device = options.device if isinstance(shape, tuple) else "cpu"
            if some := group[start : start + options.batch]:
                yield Batch(dict(some), options.time_limit, device, str(store.checkpoints))


def _free(batches: Iterable[Batch], store: Store, claims: Claims, held: set[str], clock: _Clock) -> Iterator[Batch]:
    """Claim the tasks of batches, and leave out the tasks that other runners work on or have completed.

    Tasks that others work on are tried again at the end; those that are still not free are added to `held`.
    """
    again: list[Batch] = []
    for last, some in ((False, batches), (True, again)):
        for batch in some:
            free: dict[str, Task] = {}
            left: dict[str, Task] = {}
            for key, task in batch.tasks.items():
                if not store.has(key) and not claims.take(key):
                    left[key] = task
                elif store.has(key):  # perhaps only just now
                    claims.release(key)
                    clock.drop(key)
                else:
                    free[key] = task
            if left and last:
                held.update(left)
            elif left:
                again.append(replace(batch, tasks=left))
            if free:
                yield replace(batch, tasks=free)


class _Clock:
    """Estimates the time left from that of similar tasks: same method and size, or same method, or any."""

    def __init__(self, pending: Mapping[str, Task], found: int) -> None:
        self._left = dict(pending)
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

    def drop(self, key: str) -> None:
        """Count a task that another runner has completed."""
        self._found += self._left.pop(key, None) is not None

    def seconds_left(self) -> float | None:
        work = 0.0
        for task in list(self._left.values()):  # other threads change it
            alike = next((self._seconds[kind] for kind in self._kinds(task) if kind in self._seconds), None)
            if alike is None:
                return None
            work += statistics.fmean(alike)
        elapsed = time.monotonic() - self._began
        # elapsed / busy: one over the number of tasks that ran at the same time, including overhead.
        return work * elapsed / max(self._busy, 1e-9)

    @staticmethod
    def _kinds(task: Task) -> tuple[Hashable, ...]:
        method, d, n = task.method, task.cell.get("d"), task.cell.get("n")
        return (method, d, n), (method, d), method, None


def _label(row: dict[str, Any]) -> str:
    """Name a task in a few words."""
    cell = " ".join(str(value) for name, value in row["cell"].items() if name in ("graph", "noise", "d", "n"))
    ending = "" if row["status"] == DONE else f"  {row['status']}: {row['reason']}"
    return f"{row['method']}  {cell}  seed {row['seed']}{ending}"
