"""Threads that share a list of things to do, and one that waits for them and may be interrupted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def results(
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
    >>> sorted(results([abs, abs], [-1, 2, -3]))
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
