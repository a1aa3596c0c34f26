"""Threads: parallel work that Ctrl-C can interrupt, and thread counts of BLAS and child processes."""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

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


def interruptible_map(
    workers: Sequence[Callable[[Item], Result]], items: Iterable[Item], leave: Callable[[], None] = lambda: None
) -> Generator[Result]:
    """Yield the results of all items in the order in which they are ready; each item goes to a free worker.

    Ctrl-C interrupts the wait for a result, which holds no lock. concurrent.futures takes thousands of locks to wait
    for thousands of futures, and an interrupt in between leaves them locked.

    Parameters
    ----------
    workers : sequence of callables
        Each is called in its own thread, with one item at a time.
    items : iterable
        The items, each taken when a worker is free.
    leave : callable
        Called when no more results are wanted, to stop running workers early.

    Examples
    --------
    >>> sorted(interruptible_map([abs, abs], [-1, 2, -3]))
    [1, 2, 3]
    """
    todo, taking, leaving = iter(items), threading.Lock(), threading.Event()
    ended: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()

    def work(worker: Callable[[Item], Result]) -> None:
        try:
            while not leaving.is_set():
                with taking:
                    item = next(todo, _NOTHING)
                if item is _NOTHING:
                    break
                ended.put(("result", worker(item)))  # type: ignore[arg-type]
        except BaseException as error:  # noqa: BLE001  raised again in the caller's thread
            ended.put(("error", error))
        finally:
            ended.put(("gone", None))

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        at_work = len(threads)
        while at_work:
            kind, value = ended.get()
            if kind == "error":
                raise value  # type: ignore[misc]
            if kind == "gone":
                at_work -= 1
            else:
                yield value  # type: ignore[misc]
    finally:
        leaving.set()
        leave()
        for thread in threads:
            thread.join()


_NOTHING = object()


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
