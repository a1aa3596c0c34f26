"""Loops whose steps can run in parallel: in threads or processes of this machine, or on a cluster, by joblib."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None = None,
    leave: Callable[[], None] = lambda: None,
) -> Generator[tuple[Item, Result]]:
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


def _with_item(function: Callable[[Item], Result], item: Item) -> tuple[Item, Result]:
    return item, function(item)
