"""Where tasks run: child processes of this machine, or of the workers of a cluster, in one loop of joblib.

Tasks run in child processes (`worker.py`), so that a time limit is kept and a crash becomes a row. The loop itself only
waits for them, in threads. `joblib.parallel_config` puts it elsewhere, for example on the workers of a Dask cluster.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from golem.data.files.cluster import connected
from golem.runtime.child_process import ChildProcess, CrashError, TimeLimitError
from golem.runtime.machine import available_cores
from golem.runtime.threads import thread_bounds
from golem_experiments.engine.provenance import about, row_of
from golem_experiments.engine.store import FAILED, TIMEOUT
from golem_experiments.experiment import Task

if TYPE_CHECKING:
    from distributed import Client

TIME_LIMIT = 3600.0


@dataclass(frozen=True)
class Options:
    """How and where tasks are run; nothing here changes the numbers.

    Tasks run in processes of this machine. With a scheduler, or in a block of `joblib.parallel_config("dask")`, they
    run on the workers of a Dask cluster. If a worker is lost, its batch runs again on another.

    Parameters
    ----------
    workers : int, optional
        Number of processes on this machine; by default one per core.
    threads : int, optional
        Maximum threads per process; by default the cores divided by the processes. OPENBLAS_NUM_THREADS and similar
        variables can lower it.
    scheduler : str or distributed.Client, optional
        Address of a Dask scheduler, or "local" to start a cluster on this machine.
    time_limit : float, optional
        Maximum seconds per task, after which it is stopped.
    batch : int
        Maximum number of tasks of one shape that are solved together.
    device : str
        "cpu", or a torch device such as "cuda" for the tasks that can be batched.
    retry : bool
        Run failed and timed out tasks again.

    Examples
    --------
    >>> from golem_experiments import Options
    >>> Options(time_limit=60, batch=12).device
    'cpu'
    """

    workers: int | None = None
    threads: int | None = None
    scheduler: Any = None
    time_limit: float | None = TIME_LIMIT
    batch: int = 1
    device: str = "cpu"
    retry: bool = False


@dataclass(frozen=True)
class Batch:
    """Tasks for one process to solve together, usually a single one.

    Parameters
    ----------
    tasks : mapping of str to Task
        Tasks of one shape by their keys; an empty mapping only checks whether the device can be used.
    time_limit : float, optional
        Maximum seconds per task.
    device : str
        Where batches are solved: "cpu" or a torch device.
    checkpoints : str, optional
        Folder in which long solves keep their states.
    """

    tasks: Mapping[str, Task]
    time_limit: float | None = None
    device: str = "cpu"
    checkpoints: str | None = None


class Children:
    """Child processes with a maximum number of threads, one per batch at a time; they are kept between batches.

    A copy that is sent to a worker of a cluster becomes the children of that worker.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._free: list[ChildProcess] = []
        self._all: list[ChildProcess] = []
        self._taking, self._closed = threading.Lock(), False

    def __reduce__(self) -> tuple[Any, ...]:
        return _children_of_worker, ()

    def run(self, batch: Batch) -> list[dict[str, Any]]:
        """Return the rows of a batch, one per task, even if the child is stopped or crashes.

        Raises
        ------
        ValueError
            If the device of the batch cannot be used.
        """
        tasks = [task.as_dict() for task in batch.tasks.values()]
        request = {"tasks": tasks, "device": batch.device, "checkpoints": batch.checkpoints}
        limit = None if batch.time_limit is None else batch.time_limit * len(tasks)
        child = self._take()
        rows: list[dict[str, Any]] | str
        try:
            rows = child.ask(request, limit)
        except TimeLimitError as stop:
            together = f" (a batch of {len(tasks)})" if len(tasks) > 1 else ""
            rows = self._stopped(batch, TIMEOUT, f"{stop}{together}", limit or 0.0)
        except CrashError as crash:
            rows = self._stopped(batch, FAILED, str(crash), crash.seconds)
        finally:
            self._free.append(child)
        if isinstance(rows, str):
            raise ValueError(rows)
        return [{"key": key} | row for key, row in zip(batch.tasks, rows, strict=True)]

    def close(self) -> None:
        """End the children; those that solve a batch are stopped."""
        with self._taking:
            self._closed = True
        for child in self._all:
            child.close()

    def _take(self) -> ChildProcess:
        """Return a child that does nothing else, if need be a new one."""
        with self._taking:
            if self._closed:
                raise RuntimeError("The child processes were closed.")
            if not self._free:
                environment = thread_bounds(self._threads) | {"MPLBACKEND": "Agg"}
                self._free.append(ChildProcess("golem_experiments.engine.worker", environment=environment))
                self._all.append(self._free[-1])
            return self._free.pop()

    def _stopped(self, batch: Batch, status: str, reason: str, seconds: float) -> list[dict[str, Any]]:
        """Return the rows of tasks that were stopped or crashed."""
        origin = about(batch.device, self._threads) | {"batch": len(batch.tasks)}
        return [row_of(task, status, reason, {}, seconds / len(batch.tasks), **origin) for task in batch.tasks.values()]


@functools.cache
def _children_of_worker() -> Children:
    """Return the children of this worker of a cluster, kept for all runs; a worker has one thread per core."""
    return Children(threads=1)


def run_batches(batches: Iterable[Batch], options: Options) -> Generator[list[dict[str, Any]]]:
    """Yield the rows of each batch when it has ended, in any order; an empty list for a batch lost with its workers.

    A batch is taken when it can run. With a scheduler all are taken at once, because its cluster may grow.

    Raises
    ------
    ValueError
        If the device cannot be used, Dask is not installed, the scheduler is not found, or its workers cannot import
        golem.
    """
    import joblib

    with contextlib.ExitStack() as ending:
        if options.scheduler is not None:
            client = ending.enter_context(connected(options.scheduler, options.workers))
            ending.enter_context(joblib.parallel_config(_cluster_backend(client)))
        workers = options.workers or available_cores()
        children = Children(options.threads or max(1, available_cores() // workers))
        ending.callback(children.close)
        ahead = "n_jobs" if options.scheduler is None else "all"
        how: dict[str, Any] = {"pre_dispatch": ahead, "batch_size": 1, "return_as": "generator_unordered"}
        parallel, run = joblib.Parallel(workers, prefer="threads", **how), joblib.delayed(children.run)
        try:
            if options.device != "cpu":
                list(parallel([run(Batch({}, device=options.device))]))
            found = parallel(run(batch) for batch in batches)
            ending.callback(_close_quietly, found)
            for rows in found:  # noqa: UP028  `yield from` would close it, with warnings
                yield rows
        except ModuleNotFoundError as error:
            raise ValueError(
                f"The Dask workers cannot import {error.name!r}. Install the same packages there as here."
            ) from None


def _close_quietly(results: Generator[Any]) -> None:
    """End a loop without joblib's warning about results that are not used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results.close()


def _cluster_backend(client: Client) -> Any:
    """Return joblib's backend for a Dask cluster, which may begin without workers and lose some."""
    from distributed import KilledWorker
    from joblib._dask import DaskDistributedBackend

    class Cluster(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            # Joblib runs a loop of one job in this process.
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def submit(self, func: Any, callback: Any = None) -> Any:
            # Joblib does not call back after errors outside of the function, and would wait forever.
            def end(future: Any) -> None:
                if (error := future.exception()) is not None:
                    # If several workers died over a batch, perhaps for another reason, another run may try again.
                    callback([[]] if isinstance(error, KilledWorker) else error)

            future = super().submit(func, callback)
            future.add_done_callback(end)
            return future

    return Cluster(client=client, wait_for_workers_timeout=None)
