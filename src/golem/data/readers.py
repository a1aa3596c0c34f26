"""Files and clusters to tables and moments: the face of `golem.data.files`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from golem.data.files.batches import naming
from golem.data.files.streaming import KeptRows, moments_of_shards, plan, read_here
from golem.data.files.table_files import Paths, TableFiles
from golem.data.missing import MissingChoice, require_choice
from golem.data.moments import Moments
from golem.runtime.machine import physical_memory
from golem.runtime.progress import Counter
from golem.runtime.types import Matrix

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True, eq=False)
class Table:
    """Numeric rows with column names."""

    values: Matrix
    names: tuple[str, ...]


def read_table(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
) -> Table:
    """Read all rows of the files into memory; the parameters are those of `moments_from_file`."""
    return rows_of(TableFiles.open(path, columns=columns, drop=drop, header=header, na=na))


def rows_of(table: TableFiles, *, most_bytes: float = math.inf, progress: Counter | None = None) -> Table:
    """Read all rows of files that have been opened into memory.

    Raises
    ------
    ValueError
        If they take more than so many bytes there.
    """
    values, size, done = [np.empty((0, len(table.names)))], 0, 0
    for task in plan(table):
        with naming(task.file.path):
            for batch in task.file.batches(task.piece, task.columns):
                values += [np.column_stack(batch.columns)] if batch.columns else []
                size += values[-1].nbytes if batch.columns else 0
                done += batch.end - batch.begin
                if size > most_bytes:
                    raise ValueError(
                        f"the rows are needed in memory, and their first {size / 2**30:.3g} GiB are more than is meant "
                        "for them here; use fewer columns or rows, or missing='drop'"
                    )
                if progress is not None:
                    progress(done, table.size)
    return Table(np.concatenate(values), table.names)


def moments_from_file(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
) -> Moments:
    r"""Moments of the rows of CSV or Parquet files, in one pass and in bounded memory.

    Parameters
    ----------
    path : str, Path or several
        A file, a folder (with the folders in it), a pattern such as "year/\*.parquet", or a list of these. Text may be
        compressed by gzip; separator, header and decimal mark are found. The columns of all files must agree, in
        any order.
    columns : sequence of str, optional
        The columns to use, in this order; by default all.
    drop : sequence of str
        Columns to leave out.
    header : bool, optional
        Whether CSV files have a line of names; found where it is not said.
    na : sequence of str
        What stands for a missing value beside empty cells, NA, NaN and null: "." or "-999". A number stands for all
        cells of that value.
    missing : {"error", "drop", "em"}
        What to do about missing values: empty cells, NA, NaN, null. "em" (see `golem.data.missing`) needs all rows in
        memory, here, and a quarter of this machine's is meant for them.
    progress : callable, optional
        Called with the bytes read and the bytes in all, from any thread.
    scheduler : str or distributed.Client, optional
        Address of a Dask scheduler whose workers read the files, which they must see under the same paths; "local"
        starts a cluster on this machine. The result is the same bit by bit on machines of one kind.

    Raises
    ------
    ValueError
        If a file is missing, empty, damaged or not a table of numbers, or files disagree; the message names the file,
        and the line or row group where there is one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b\n1,2\n3,5\n")
    ...     moments_from_file(path).mean
    array([2. , 3.5])
    """
    table = TableFiles.open(path, columns=columns, drop=drop, header=header, na=na)
    return shards_of(table, 1, missing=missing, progress=progress, scheduler=scheduler)[0]


def shards_from_file(
    path: Paths,
    shards: int,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
) -> list[Moments]:
    r"""Moments of so many shards of the rows, whose sum is that of `moments_from_file`, in the same single pass.

    A shard is a block of consecutive rows, in the order of the files, of about an equal share of their bytes: a
    K-fold cross-validation leaves one out of the sum, and a block bootstrap draws shards with replacement, without
    another look at the rows. Blocks respect dependence between neighbours; where the files are sorted by something
    that matters, shuffle the rows first.

    The other parameters are those of `moments_from_file`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b" + "".join(f"\n{k},{k * k % 7}" for k in range(100)))
    ...     folds = shards_from_file(path, 4)
    >>> [fold.n for fold in folds]
    [25, 25, 25, 25]
    >>> without_the_first = folds[1] + folds[2] + folds[3]
    """
    table = TableFiles.open(path, columns=columns, drop=drop, header=header, na=na)
    return shards_of(table, shards, missing=missing, progress=progress, scheduler=scheduler)


def shards_of(
    table: TableFiles,
    shards: int,
    *,
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
    keep: KeptRows | None = None,
) -> list[Moments]:
    """Do the pass over files that have been opened; `keep` is given the rows that are read here."""
    require_choice(missing)
    if shards < 1:
        raise ValueError(f"the number of shards must be positive; got {shards}")
    if missing == "em":
        if shards > 1 or scheduler is not None:
            raise ValueError(
                "missing='em' looks at all rows again and again, in one place: it knows neither shards nor clusters; "
                "use missing='drop'"
            )
        rows = rows_of(table, most_bytes=physical_memory() / 4, progress=progress)
        if keep is not None:
            keep.take(rows.values)
        with naming(table.files[0].path):
            return [Moments.from_rows(rows.values, rows.names, missing=missing)]
    tasks = plan(table, shards, missing)
    if not tasks:
        parts = {}
    elif scheduler is None:
        parts = read_here(tasks, progress, keep)
    else:
        from golem.data.files.cluster import read_on_cluster

        parts = read_on_cluster(tasks, scheduler, progress)
    with naming(table.files[0].path):
        return moments_of_shards(parts, shards)


def moments_from_dask(frame: Any, *, missing: Literal["error", "drop"] = "error") -> Moments:
    """Moments of a Dask DataFrame or Array: a task a partition, merged along a tree on the workers.

    With missing="drop" rows with missing values are left out. Needs the extra `[distributed]`. The scheduler is Dask's
    own choice: that of the current client, or threads. Workers lost on the way are replaced as usual in Dask, and the
    result is the same.

    Raises
    ------
    ValueError
        If columns are not numeric or values are missing, with the columns and the partition.
    """
    from golem.data.files.cluster import moments_of_frame

    return moments_of_frame(frame, missing)
