"""Where tasks run: processes of this machine, or the workers of a Dask cluster.

Both run tasks in child processes (`child.py`), so that a time limit is kept and a crash becomes a row. An executor
takes the next batch when it has room for it, and yields rows as soon as they are complete.
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
from golem.runtime.machine import available_cores
from golem.runtime.threads import interruptible_map
from golem_experiments.engine.child import Batch, Child

if TYPE_CHECKING:
    from distributed import Client

# Batches per thread that wait on the scheduler: enough that no thread is idle.
_AHEAD = 2


class Executor(Protocol):
    """A place where tasks run."""

    def check(self, device: str) -> None:
        """Raise a ValueError if a device cannot be used there."""

    def run(self, batches: Iterable[Batch]) -> Generator[list[dict[str, Any]]]:
        """Yield the rows of each batch when it has ended, in any order; an empty list for a lost batch."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine.

    Parameters
    ----------
    workers : int, optional
        Number of processes; by default one per core.
    threads : int, optional
        Maximum threads per process; by default the cores divided by the processes. OPENBLAS_NUM_THREADS and similar
        variables can lower it.
    """

    workers: int | None = None
    threads: int | None = None

    def check(self, device: str) -> None:
        """Raise a ValueError if a device cannot be used; a process of its own checks this."""
        with contextlib.closing(Child(threads=1)) as child:
            child.run(Batch({}, None, device))

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
    """Workers of a Dask cluster; if a worker is lost, its batch runs again on another.

    Parameters
    ----------
    scheduler : str or distributed.Client, optional
        Address of a scheduler; by default a cluster is started on this machine.
    workers : int, optional
        Number of processes of such a cluster; by default one per core.
    """

    scheduler: Any = None
    workers: int | None = None

    def check(self, device: str) -> None:
        """Raise a ValueError if a worker cannot use a device; the other workers check it with their first batch."""
        with connected(self.scheduler or "local", self.workers) as client:
            client.submit(_on_worker, Batch({}, None, device), pure=False).result()

    def run(self, batches: Iterable[Batch]) -> Generator[list[dict[str, Any]]]:
        """Yield the rows of each batch when it has ended.

        Raises
        ------
        ValueError
            If Dask is not installed, the scheduler is not found, or its workers cannot import golem.
        """
        with connected(self.scheduler or "local", self.workers) as client:
            from distributed import KilledWorker, as_completed

            todo = iter(batches)
            submit = functools.partial(client.submit, _on_worker, pure=False)
            # The queue is refilled for all present workers, so that a worker that joins later finds work.
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
                    # Several workers died, perhaps for another reason: another run may try again.
                    rows = []
                except ModuleNotFoundError as error:
                    raise ValueError(
                        f"The Dask workers cannot import {error.name!r}. Install the same packages there as here."
                    ) from None
                yield rows

    def _room(self, client: Client) -> int:
        """Return how many batches the scheduler should hold."""
        threads: dict[str, int] = client.nthreads()
        return _AHEAD * max(1, sum(threads.values()))


# One child per thread of a Dask worker, kept between tasks.
_children = threading.local()


def _on_worker(batch: Batch) -> list[dict[str, Any]]:
    """Run a batch in the child of this thread of a Dask worker."""
    if not hasattr(_children, "own"):
        _children.own = Child(threads=1)
    rows: list[dict[str, Any]] = _children.own.run(batch)
    return rows
