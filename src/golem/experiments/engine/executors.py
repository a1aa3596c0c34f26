"""Where tasks run: processes of this machine, or the workers of a Dask cluster.

Both run tasks in child processes (`child.py`), so that a time limit is a limit and a crash a row. An executor takes
batches one after the other, when it has room for one, and yields rows as they come.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from golem.data.files.cluster import connected
from golem.experiments.engine.child import Batch, Child
from golem.runtime.machine import available_cores
from golem.runtime.threads import interruptible_map

if TYPE_CHECKING:
    from distributed import Client

# Batches that wait on the scheduler for each thread of a worker: enough that none is idle.
_AHEAD = 2


class Executor(Protocol):
    """A place where tasks run."""

    def check(self, device: str) -> None:
        """Raise a ValueError where a device cannot be used there."""

    def run(self, batches: Iterable[Batch]) -> Generator[list[dict[str, Any]]]:
        """Yield the rows of each batch when it has ended, in whatever order; an empty list for one that was lost."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine.

    Parameters
    ----------
    workers : int, optional
        Number of processes; by default one a core.
    threads : int, optional
        Most threads of each; by default the cores divided among the processes, so that there are never more threads
        than cores. Where OPENBLAS_NUM_THREADS or the like are set to less, there are less.
    """

    workers: int | None = None
    threads: int | None = None

    def check(self, device: str) -> None:
        """Raise a ValueError where a device cannot be used, found out in a process that then ends."""
        with contextlib.closing(Child(threads=1)) as child:
            child.run(Batch((), None, device))

    def run(self, batches: Iterable[Batch]) -> Generator[list[dict[str, Any]]]:
        """Yield the rows of each batch when it has ended."""
        workers = self.workers or available_cores()
        threads = self.threads or max(1, available_cores() // workers)
        children = [Child(threads) for _ in range(workers)]

        def close() -> None:
            for child in children:
                child.close()

        return interruptible_map([child.run for child in children], batches, close)


@dataclass(frozen=True)
class Dask:
    """Workers of a Dask cluster; a batch whose worker is lost runs again on another.

    Parameters
    ----------
    scheduler : str or distributed.Client, optional
        Address of a scheduler; without one a cluster is started on this machine.
    workers : int, optional
        Number of processes of such a cluster; by default one a core.
    """

    scheduler: Any = None
    workers: int | None = None

    def check(self, device: str) -> None:
        """Raise a ValueError where a device cannot be used by a worker; others are asked with their first batch."""
        with connected(self.scheduler or "local", self.workers) as client:
            client.submit(_on_worker, Batch((), None, device), pure=False).result()

    def run(self, batches: Iterable[Batch]) -> Generator[list[dict[str, Any]]]:
        """Yield the rows of each batch when it has ended.

        Raises
        ------
        ValueError
            If there is no Dask or no scheduler, or its workers cannot import golem.
        """
        with connected(self.scheduler or "local", self.workers) as client:
            from distributed import KilledWorker, as_completed

            todo = iter(batches)
            submit = functools.partial(client.submit, _on_worker, pure=False)
            # A worker that joins later finds work at once: the queue is refilled for all that are there.
            first = list(itertools.islice(todo, self._room(client)))
            finished: Any = as_completed([submit(batch) for batch in first])
            waiting = len(first)
            for future in finished:
                waiting -= 1
                for batch in itertools.islice(todo, max(0, self._room(client) - waiting)):
                    finished.add(submit(batch))
                    waiting += 1
                try:
                    rows: list[dict[str, Any]] = future.result()
                except KilledWorker:
                    # Workers died over it again and again, perhaps of something else: another run may try again.
                    rows = []
                except ModuleNotFoundError as error:
                    raise ValueError(
                        f"the workers cannot import {error.name}; they need the packages of this machine"
                    ) from None
                yield rows

    def _room(self, client: Client) -> int:
        """How many batches the scheduler should hold."""
        threads: dict[str, int] = client.nthreads()
        return _AHEAD * max(1, sum(threads.values()))


# A child for each thread of a Dask worker, kept from task to task.
_children = threading.local()


def _on_worker(batch: Batch) -> list[dict[str, Any]]:
    """Run a batch in a child of a Dask worker; of several threads each has its own."""
    if not hasattr(_children, "own"):
        _children.own = Child(threads=1)
    rows: list[dict[str, Any]] = _children.own.run(batch)
    return rows
