"""Parallel work: loops by joblib, and thread counts of BLAS and child processes."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import warnings
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from golem.runtime.machine import available_cores

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Below this size a single BLAS thread is faster, because the thread pools of NumPy and SciPy compete: on two cores a
# step of Adam at d = 100 to 400 takes twice as long with threads.
_BLAS_THREADS_FROM = 800

# Environment variables that limit the threads of libraries; read when the libraries are imported.
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class _BlasLimit:
    """Limit BLAS to one thread while any solve runs.

    The limit belongs to the process. If every solve saved and restored it, overlapping solves in different threads
    would restore each other's limit.
    """

    def __init__(self) -> None:
        self._lock, self._solves, self._limit = threading.Lock(), 0, contextlib.ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._solves += 1
            if self._solves == 1:
                self._limit.enter_context(_blas_libraries().limit(limits=1, user_api="blas"))

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._solves -= 1
            if self._solves == 0:
                self._limit.close()


_BLAS_LIMIT = _BlasLimit()


@functools.cache
def _blas_libraries() -> Any:
    """Return the BLAS libraries of NumPy and SciPy; cached, because finding them takes ten milliseconds."""
    import scipy.linalg  # noqa: F401  # SciPy loads its own BLAS
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


def blas_threads_for(d: int) -> contextlib.AbstractContextManager[None]:
    """Return a context that limits BLAS to one thread where (d, d) matrices are small."""
    return contextlib.nullcontext() if d >= _BLAS_THREADS_FROM else _BLAS_LIMIT


def thread_bounds(threads: int) -> dict[str, str]:
    """Return environment variables that limit the threads of a child, or lower limits that the user has set.

    A variable that is not set follows OMP_NUM_THREADS, as in the libraries.

    Examples
    --------
    >>> thread_bounds(1)["OPENBLAS_NUM_THREADS"]
    '1'
    """

    def wanted(name: str) -> int | None:
        text = os.environ.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None

    bounds = {name: wanted(name) or wanted("OMP_NUM_THREADS") or threads for name in THREAD_VARIABLES}
    return {name: str(min(threads, bound)) for name, bound in bounds.items()}


def in_parallel(
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    n_jobs: int | None = None,
    leave: Callable[[], None] = lambda: None,
) -> Generator[tuple[_Item, _Result]]:
    """Yield every item with its result, in the order in which they are ready.

    By default, and with one job, the items are taken one by one. More jobs are threads: the kernels release the GIL,
    and processes would have to import and load them first. `joblib.parallel_config` overrides this: with
    `parallel_config("dask")` the items go to a cluster. Close the generator, best by `contextlib.closing`, to
    end the loop early, as after Ctrl-C.

    Parameters
    ----------
    function : callable
        Called with one item. On a cluster, it is pickled.
    items : iterable
        The items, each taken shortly before a job is free.
    n_jobs : int, optional
        Number of threads.
    leave : callable
        Called when no more results are wanted, to stop what is running.

    Examples
    --------
    >>> sorted(in_parallel(abs, [-1, 2, -3], n_jobs=2))
    [(-3, 3), (-1, 1), (2, 2)]
    """
    from joblib import Parallel, delayed

    task = delayed(functools.partial(_with_item, function))
    run = Parallel(n_jobs, prefer="threads", return_as="generator_unordered")
    results = run(task(item) for item in items)
    try:
        for pair in results:  # noqa: UP028  `yield from` would close the results before `leave` is called
            yield pair
    finally:
        leave()
        with warnings.catch_warnings():
            # joblib advises those who close a loop to begin fewer tasks.
            warnings.filterwarnings("ignore", ".*tasks", UserWarning)
            results.close()


def in_chunks(task: Callable[[int, int], Any], total: int, size: int) -> None:
    """Call a function that releases the interpreter lock with consecutive ranges, in threads."""
    workers = available_cores()
    ranges = [(a, min(a + size, total)) for a in range(0, total, size)]
    if workers == 1 or len(ranges) == 1:
        for a, b in ranges:
            task(a, b)
        return
    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(task, a, b) for a, b in ranges]:
            future.result()


def _with_item(function: Callable[[_Item], _Result], item: _Item) -> tuple[_Item, _Result]:
    return item, function(item)
