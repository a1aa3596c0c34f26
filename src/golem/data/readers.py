"""Reading files into tables and moments; the public functions of `golem.data.files`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.data.coded_tables import CodedTable, counts_in_moments, parts_with_used_levels
from golem.data.files.batches import naming
from golem.data.files.cluster import moments_from_dask as moments_from_dask
from golem.data.files.cluster import read_on_cluster
from golem.data.files.level_scan import reading_categories
from golem.data.files.streaming import KeptRows, RoomForRows, coded_batches, moments_of_shards, plan, read_here
from golem.data.files.table_files import Paths, TableFiles
from golem.data.levels import warn_of_rare_levels, warn_of_texts
from golem.data.missing import MissingChoice, add_markers, require_choice
from golem.data.moments import Moments
from golem.data.resampling import merged
from golem.data.unusable import unusable_error, unusable_variables, without_levels
from golem.data.variables import NO_VARIABLES, Coding
from golem.runtime.progress import Counter
from golem.runtime.types import Matrix

if TYPE_CHECKING:
    from distributed import Client

# EM works on copies of the rows.
COPIES_OF_EM = 4


@dataclass(frozen=True, eq=False)
class Table:
    """Numeric rows with column names, or coded rows (docs/types.md) with their coding.

    `markers` has the number of missing cells per column and marker, for those that are neither empty nor a usual word.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.readers import Table
    >>> Table(np.array([[1.0, 2.0], [3.0, 5.0]]), ("a", "b")).names
    ('a', 'b')
    """

    values: Matrix
    names: tuple[str, ...]
    markers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    coding: Coding = NO_VARIABLES


def read_table(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
) -> Table:
    r"""Read all rows of the files into memory; see `moments_from_file` for the parameters.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from golem.readers import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b\n1,2\n3,5\n4,4\n")
    ...     read_table(path).values
    array([[1., 2.],
           [3., 5.],
           [4., 4.]])
    """
    return rows_of(TableFiles.open(path, columns=columns, drop=drop, header=header, na=na))


def rows_of(table: TableFiles, *, copies: int = 2, progress: Counter | None = None) -> Table:
    r"""Read all rows of opened files into memory; raise a ValueError if so many copies of them do not fit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from golem.readers import TableFiles, rows_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b\n1,2\n3,5\n4,4\n")
    ...     rows_of(TableFiles.open(path)).values.shape
    (3, 2)
    """
    values, room, done = [np.empty((0, len(table.names)))], RoomForRows(table.size, copies), 0
    markers: Mapping[str, Mapping[str, int]] = {}
    for task in plan(table):
        with naming(task.file.path):
            for batch in coded_batches(task):
                room.require(batch)
                values += [np.column_stack(batch.columns)] if batch.columns else []
                markers = add_markers(markers, batch.markers)
                done += batch.end - batch.begin
                if progress is not None:
                    progress(done, table.size)
    table.na.require_found(markers, table.names)
    return Table(np.concatenate(values), table.names, markers, table.coding)


def moments_from_file(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
) -> Moments:
    r"""Return the moments of the rows of CSV or Parquet files, in bounded memory.

    Files of numbers are read once. Text, Booleans and dictionaries of Parquet are categories, whose levels are found in
    a pass before; the columns of the moments are then numbers and indicators of levels (`Moments.coding`).

    Parameters
    ----------
    path : str, Path or several
        A file, a folder (with its subfolders), a pattern such as "year/\*.parquet", or a list of these. Text may be
        compressed with gzip. Separator, header and decimal mark are detected. All files must have the same columns, in
        any order.
    columns : sequence of str, optional
        Columns to use, in this order; by default all.
    drop : sequence of str
        Columns to ignore.
    header : bool, optional
        Whether CSV files have a header line; detected by default.
    na : sequence of str
        Further markers of missing values, such as "unknown" or "-999", in addition to empty cells, NA, NaN, null, `*`,
        `?`, `.` and `-`. "age=-999" applies to the column `age` only. A number matches all cells with that value. A
        marker that matches nothing is an error.
    categorical, numeric : sequence of str
        Columns that are categories, or numbers, where golem would decide otherwise: names, patterns such as "T*", or
        "all". A name is stronger than a pattern.
    missing : {"error", "drop", "em"}
        Treatment of missing values: an error, dropped rows, or Gaussian EM (docs/missing.md). EM needs all rows in
        memory, several times.
    progress : callable, optional
        Called with the number of bytes read and of all bytes, from any thread.
    scheduler : str or distributed.Client, optional
        Address of a Dask scheduler whose workers read the files under the same paths; "local" starts a cluster on this
        machine. The result is the same, bit by bit, on machines of the same kind.

    Raises
    ------
    ValueError
        If a file is missing, empty, damaged or not a table, or if the columns of the files differ.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b\n1,2\n3,5\n")
    ...     moments_from_file(path).mean
    array([2. , 3.5])
    """
    types: dict[str, Any] = {"categorical": categorical, "numeric": numeric}
    table = TableFiles.open(path, columns=columns, drop=drop, header=header, na=na, **types)
    how: dict[str, Any] = {"missing": missing, "progress": progress, "scheduler": scheduler}
    return _with_all_levels(table, reading_categories(table, lambda typed: shards_of(typed, 1, **how))[1])[0]


def shards_from_file(
    path: Paths,
    shards: int,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
) -> list[Moments]:
    r"""Return the moments of `shards` blocks of rows, in one pass; see `moments_from_file` for the other parameters.

    A shard is a block of consecutive rows, in the order of the files, with about an equal share of the bytes. All
    shards add up to the result of `moments_from_file`. Cross-validation leaves out one shard, and a block bootstrap
    draws shards with replacement, without reading the rows again. Blocks preserve dependence between neighbouring rows.
    If the files are sorted by a relevant variable, shuffle the rows first.

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
    types: dict[str, Any] = {"categorical": categorical, "numeric": numeric}
    table = TableFiles.open(path, columns=columns, drop=drop, header=header, na=na, **types)
    how: dict[str, Any] = {"missing": missing, "progress": progress, "scheduler": scheduler}
    return _with_all_levels(table, reading_categories(table, lambda typed: shards_of(typed, shards, **how))[1])


def _with_all_levels(table: TableFiles, parts: list[Moments]) -> list[Moments]:
    """Raise a ValueError if a category has a single level, and warn of rare levels."""
    with naming(table.files[0].path):
        if without_levels(parts[0].coding):
            raise unusable_error(unusable_variables(merged(parts)))
    counts = counts_in_moments(parts)
    warn_of_texts({name: levels for name, levels in counts.items() if name not in table.categorical})
    warn_of_rare_levels(counts)
    return parts


def shards_of(
    table: TableFiles,
    shards: int,
    *,
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
    keep: KeptRows | None = None,
) -> list[Moments]:
    r"""Return the moments of the shards of opened files; `keep` collects the rows if they are read on this machine.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from golem.readers import TableFiles, shards_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b\n1,2\n3,5\n4,4\n")
    ...     [shard.n for shard in shards_of(TableFiles.open(path), 3)]
    [1, 1, 1]
    """
    require_choice(missing, in_parts=shards > 1 or scheduler is not None)
    if shards < 1:
        raise ValueError(f"The number of shards must be positive; got {shards}.")
    if missing == "em":
        rows = rows_of(table, copies=COPIES_OF_EM, progress=progress)
        if keep is not None:
            keep.take(rows.values)
        return [moments_by_em(table, rows)]
    tasks = plan(table, shards, missing)
    if not tasks:
        parts = {}
    elif scheduler is None:
        parts = read_here(tasks, progress, keep)
    else:
        parts = read_on_cluster(tasks, scheduler, progress)
    with naming(table.files[0].path):
        # If missing values are an error, no marker was found.
        gaps = [part.missing.markers for part in parts.values() if part.missing is not None]
        table.na.require_found(functools.reduce(add_markers, gaps, {}), table.names)
        return parts_with_used_levels(moments_of_shards(parts, shards))


def moments_by_em(table: TableFiles, rows: Table, progress: Counter | None = None) -> Moments:
    """Return the moments of all rows of opened files by EM; `progress` is called with the number of steps."""
    with naming(table.files[0].path):
        moments = CodedTable(rows.coding, rows.values).moments("em", progress)
    assert moments.missing is not None  # EM always records what it found
    return replace(moments, missing=replace(moments.missing, markers=rows.markers))
