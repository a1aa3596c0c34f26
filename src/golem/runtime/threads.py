"""Threads: work that Ctrl-C can interrupt, and the number of threads of BLAS and of child processes."""

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

# Below this size a second BLAS thread costs more than it brings, and the pools of NumPy and SciPy get in each other's
# way: on two cores a step of Adam at d = 100 to 400 takes twice as long with threads as without.
_THREADS_PAY_FROM = 800

# How many threads the libraries below NumPy and numba may start; read when they are imported.
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
    """Yield the results of all items as they come, each made by the worker that was free.

    Ctrl-C reaches whoever iterates while it waits, where it holds no lock: concurrent.futures takes thousands of locks
    to wait for thousands of futures, and an interrupt in between leaves them closed for ever.

    Parameters
    ----------
    workers : sequence of callables
        Each is called in a thread of its own, with one item after the other.
    items : iterable
        What is to be done, taken when a worker is free.
    leave : callable
        Called when no more results are wanted, to hurry those at work.

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
        except BaseException as error:  # noqa: BLE001  it is raised again where the results are awaited
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

    The number of threads belongs to the process. If every solve saved and restored it, overlapping solves in different
    threads would restore each other's limit.
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
    """Find the BLAS libraries of NumPy and SciPy, once: it takes ten milliseconds."""
    import scipy.linalg  # noqa: F401  # loads its own
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


def blas_threads_for(d: int) -> contextlib.AbstractContextManager[None]:
    """Return a context that limits BLAS to one thread where (d, d) matrices are small."""
    return contextlib.nullcontext() if d >= _THREADS_PAY_FROM else _BLAS_LIMIT


def thread_bounds(threads: int) -> dict[str, str]:
    """Return the variables that bound the threads of a child: so many, or less where the user wants less.

    A variable that is not set follows OMP_NUM_THREADS, as the libraries themselves do.

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
