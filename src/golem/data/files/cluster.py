"""Reading on a Dask cluster: the same tasks and the same tree of merges as on one machine.

A task is a pure function of its piece, so Dask can repeat it with the same result if a worker is lost. Only moments are
sent between machines, d^2 numbers per piece.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import socket
from collections import Counter as TextCounter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from golem.data.category_columns import coded_columns, counts_of_texts, names_of_categories
from golem.data.checks import DataWarning
from golem.data.coded_tables import moments_of_columns, with_used_levels
from golem.data.files.standard_input import source_name
from golem.data.files.streaming import Parts, Task, merged_shards, moments_of_shards, part_moments
from golem.data.levels import categories, levels_among, warn_of_absent_texts, warn_of_blanks, warn_of_rare_levels
from golem.data.moments import Moments
from golem.data.table_input import real_matrix
from golem.data.variables import Coding, Variable
from golem.runtime.machine import available_cores
from golem.runtime.messages import warn_user
from golem.runtime.names import column_names
from golem.runtime.problems import placed
from golem.runtime.progress import Counter
from golem.runtime.threads import blas_threads_for

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_SECONDS = 10
INSTALL = "pip install 'golem-dag[distributed]'"


def read_on_cluster(tasks: list[Task], scheduler: str | Client, progress: Counter | None = None) -> Parts:
    """Run the tasks on the workers of a Dask scheduler."""
    with connected(scheduler) as client:
        from distributed import KilledWorker, as_completed

        if not client.nthreads():
            warn_user("The Dask scheduler has no workers yet; waiting for them.", DataWarning)
        # Not pure: the content of a path may change.
        pieces = [client.submit(_part_on_worker, _with_absolute_path(task), pure=False) for task in tasks]
        total = _tree(pieces, lambda left, right: client.submit(merged_shards, left, right, pure=False))
        sizes = {piece.key: task.size for piece, task in zip(pieces, tasks, strict=True)}
        finished, done = as_completed(pieces), 0
        del pieces  # lets the scheduler release each part once it is merged
        try:
            for piece in finished:
                if piece.status == "error":
                    break
                done += sizes[piece.key]
                if progress is not None:
                    progress(done, tasks[0].total)
            return total.result()  # type: ignore[no-any-return]
        except KilledWorker as error:
            raise ValueError(
                f"Several workers crashed on the same piece of the files, perhaps for lack of memory ({error})."
            ) from None
        except ModuleNotFoundError as error:
            raise ValueError(f"The workers cannot import {error.name}. Install golem and its packages there.") from None
        finally:
            client.cancel([total])


def _tree(leaves: Sequence[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Join neighbours in pairs, level by level; an odd one moves up."""
    level = list(leaves)
    while len(level) > 1:
        joined = [join(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = joined + level[2 * len(joined) :]
    return level[0]


def _with_absolute_path(task: Task) -> Task:
    """Make the path absolute, because workers run in other folders."""
    file: Any = task.file
    return dataclasses.replace(task, file=dataclasses.replace(file, path=file.path.absolute()))


def _part_on_worker(task: Task) -> Parts:
    """Read a piece on a worker, whose other threads use the other cores."""
    if not task.file.path.exists():
        raise ValueError(
            f"{source_name(task.file.path)}: There is no such file on the worker {socket.gethostname()}. Workers must "
            "share a file system with this machine."
        )
    with blas_threads_for(0):
        return part_moments(task)


@contextlib.contextmanager
def connected(scheduler: str | Client, workers: int | None = None) -> Iterator[Client]:
    """Connect to a scheduler, or start a cluster on this machine ("local"), by default with one worker per core."""
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError:
        raise ValueError(f"Dask is not installed. Install it with {INSTALL}.") from None

    if not isinstance(scheduler, str):
        yield scheduler
    elif scheduler == "local":
        # The command itself reports errors of workers, once.
        options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
        with LocalCluster(n_workers=workers or available_cores(), **options) as cluster, Client(cluster) as client:
            yield client
    else:
        try:
            client = Client(scheduler, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise ValueError(f"No Dask scheduler answers at {scheduler} ({error}).") from None
        with client:
            yield client


def moments_from_dask(frame: Any, *, missing: Literal["error", "drop"] = "error") -> Moments:
    """Return the moments of a Dask DataFrame or Array: one task per partition, merged on the workers.

    Columns of text, Booleans or categorical types are categories, whose levels are counted first. With
    missing="drop", rows with missing values are dropped. Needs the extra `[distributed]`. Dask chooses the scheduler:
    the current client, or threads.

    Raises
    ------
    ValueError
        If columns are not numeric or values are missing, with the columns and the partition.

    Examples
    --------
    >>> import dask.dataframe as dd  # doctest: +SKIP
    >>> from golem.readers import moments_from_dask
    >>> moments = moments_from_dask(dd.read_csv("data.csv"))  # doctest: +SKIP
    >>> moments.n  # doctest: +SKIP
    500
    """
    try:
        import dask
        import dask.array
        import dask.dataframe
    except ModuleNotFoundError:
        raise ValueError(f"Dask is not installed. Install it with {INSTALL}.") from None

    if isinstance(frame, dask.dataframe.DataFrame):
        names = column_names(frame.columns, len(frame.columns))
        partitions = frame.to_delayed()
    elif isinstance(frame, dask.array.Array) and frame.ndim == 2:
        names = column_names(None, frame.shape[1])
        partitions = frame.rechunk({1: -1}).to_delayed().ravel()
    else:
        raise ValueError(f"Expected a Dask DataFrame or an Array of shape (rows, columns); got {type(frame).__name__}.")
    part, join = dask.delayed(_part_of_partition), dask.delayed(merged_shards)
    coding = _coding_of(frame, names) if isinstance(frame, dask.dataframe.DataFrame) else Coding.numeric(names)
    leaves = [part(partition, coding, k, missing) for k, partition in enumerate(partitions)]
    return with_used_levels(moments_of_shards(_tree(leaves, join).compute(), 1)[0])


def _coding_of(frame: Any, names: tuple[str, ...]) -> Coding:
    """Return the variables of a Dask DataFrame, whose types say which are categories; count their levels."""
    import dask

    texts = names_of_categories(frame._meta)
    counts = {name: TextCounter[str]() for name in texts}
    tasks = [dask.delayed(counts_of_texts)(partition) for partition in frame[texts].to_delayed()] if texts else []
    for found in dask.compute(*tasks):
        for name, cells in found.items():
            counts[name].update(cells)
    levels = {name: levels_among(cells) for name, cells in counts.items()}
    variables = categories(levels)
    warn_of_blanks(counts, variables)
    warn_of_absent_texts(counts)
    warn_of_rare_levels(levels)
    return Coding(tuple(variables.get(name, Variable(name)) for name in names))


def _part_of_partition(partition: Any, coding: Coding, number: int, missing: Literal["error", "drop"]) -> Parts:
    """Return the moments of a partition; an empty one has none."""
    if not len(partition):
        return {}
    try:
        columns = (
            list(real_matrix(partition).T) if isinstance(partition, np.ndarray) else coded_columns(partition, coding)
        )
        with blas_threads_for(0):
            return {0: moments_of_columns(columns, coding, missing=missing)}
    except ValueError as error:
        raise placed(error, f"Partition {number}") from None
