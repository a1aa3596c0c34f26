"""Reading files into tables and moments; the public functions of `golem.data.files`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from golem.data.coded_tables import (
    CodedTable,
    counts_in_moments,
    moments_of_columns,
    moments_of_parts,
    parts_with_used_levels,
)
from golem.data.files.batches import naming
from golem.data.files.cluster import moments_from_dask as moments_from_dask
from golem.data.files.cluster import read_on_cluster
from golem.data.files.level_scan import reading_categories
from golem.data.files.streaming import (
    KeptRows,
    Parts,
    RoomForRows,
    labelled_batches,
    moments_of_shards,
    plan,
    read_here,
)
from golem.data.files.table_files import FileOptions, Paths, TableFiles
from golem.data.levels import warn_of_rare_levels, warn_of_texts
from golem.data.missing import MissingChoice, add_markers, require_choice
from golem.data.moments import Moments
from golem.data.resampling import merged
from golem.data.table import Table
from golem.data.targets import no_rows, require_environment_rows
from golem.data.unusable import unusable_error, unusable_variables, without_levels
from golem.runtime.progress import Counter
from golem.runtime.types import Matrix

if TYPE_CHECKING:
    from distributed import Client

# EM works on copies of the rows.
COPIES_OF_EM = 4


@dataclass(frozen=True, eq=False)
class FileRows:
    """All coded rows of files; with environments, the last column has the number of the label of each row.

    `markers` has the number of missing cells per column and marker, for those that are neither empty nor a usual word.
    """

    values: Matrix
    markers: Mapping[str, Mapping[str, int]]


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

    The moments of the table are those of the complete rows.

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
    read = read_rows(table, copies=copies, progress=progress)
    with naming(table.files[0].path):
        moments = moments_of_columns(list(read.values.T), table.coding, missing="drop", markers=read.markers)
    return Table.single(moments, read.values)


def read_rows(table: TableFiles, *, copies: int = 2, progress: Counter | None = None) -> FileRows:
    """Read all rows of opened files into memory; raise a ValueError if so many copies of them do not fit."""
    width = len(table.names) + bool(table.labels)
    values, room, done = [np.empty((0, width))], RoomForRows(table.size, copies), 0
    markers: Mapping[str, Mapping[str, int]] = {}
    for task in plan(table):
        with naming(task.file.path):
            for batch in labelled_batches(task):
                room.require(batch)
                values += [np.column_stack(batch.columns)] if batch.columns else []
                markers = add_markers(markers, batch.markers)
                done += batch.end - batch.begin
                if progress is not None:
                    progress(done, table.size)
    table.na.require_found(markers, table.names)
    return FileRows(np.concatenate(values), markers)


def moments_from_file(
    path: Paths,
    *,
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
    **files: Unpack[FileOptions],
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
        Treatment of missing values: an error, dropped rows, or Gaussian EM (docs/preparing.md). EM needs all rows in
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
    return _typed_shards(TableFiles.open(path, **files), 1, missing=missing, progress=progress, scheduler=scheduler)[
        ""
    ][0]


def shards_from_file(
    path: Paths,
    shards: int,
    *,
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
    **files: Unpack[FileOptions],
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
    return _typed_shards(
        TableFiles.open(path, **files), shards, missing=missing, progress=progress, scheduler=scheduler
    )[""]


def environments_from_file(
    path: Paths,
    targets: Mapping[str, Sequence[str]],
    *,
    environment: str | None = None,
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
    **files: Unpack[FileOptions],
) -> Table:
    r"""Return the moments of each environment of files, in one pass; see `moments_from_file` for other parameters.

    Parameters
    ----------
    path : str, Path or several
        Files of one table, if it has a column of labels; otherwise one file per environment, whose label is the name of
        the file without its ending.
    targets : mapping of str to sequence of str
        The columns that each environment changes, by label.
    environment : str, optional
        The column of labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("a,b,arm\n1,2,control\n3,5,control\n6,1,control\n4,4,ko\n9,3,ko\n7,8,ko\n")
    ...     found = environments_from_file(path, {"control": [], "ko": ["a"]}, environment="arm")
    >>> [part.moments.n for part in found.parts], found.targets
    ([3, 3], ((), (0,)))
    """
    table = TableFiles.open(path, hidden=[] if environment is None else [environment], **files)
    table = table.labelled(environment, targets)
    parts = _typed_shards(table, 1, missing=missing, progress=progress, scheduler=scheduler)
    return Table.of({label: merged(shards) for label, shards in parts.items()}, targets)


def _typed_shards(table: TableFiles, shards: int, **how: Any) -> dict[str, list[Moments]]:
    """Return the moments of shards by label, once the types of the columns are known.

    Raise a ValueError if a category has a single level, and warn of rare levels.
    """
    found = reading_categories(table, lambda typed: shards_by_label(typed, shards, **how))[1]
    parts = [part for own in found.values() for part in own]
    with naming(table.files[0].path):
        if without_levels(parts[0].coding):
            raise unusable_error(unusable_variables(merged(parts)))
    counts = counts_in_moments(parts)
    warn_of_texts({name: levels for name, levels in counts.items() if name not in table.categorical})
    warn_of_rare_levels(counts)
    return found


def shards_by_label(
    table: TableFiles,
    shards: int,
    *,
    missing: MissingChoice = "error",
    progress: Counter | None = None,
    scheduler: str | Client | None = None,
    keep: KeptRows | None = None,
    dealt: bool = False,
) -> dict[str, list[Moments]]:
    """Return the moments of the shards of each environment of opened files, or of "" if there are none.

    Shards without rows of an environment are left out. They are blocks of consecutive rows or, if rows are `dealt`,
    of short stretches from everywhere.
    """
    require_choice(missing, in_parts=shards > 1 or scheduler is not None)
    if shards < 1:
        raise ValueError(f"The number of shards must be positive; got {shards}.")
    if missing == "em":
        rows = read_rows(table, copies=COPIES_OF_EM, progress=progress)
        if keep is not None:
            keep.take(rows.values)
        return moments_by_em(table, rows)
    tasks = plan(table, shards, missing, dealt)
    if not tasks:
        parts = {}
    elif scheduler is None:
        parts = read_here(tasks, progress, keep)
    else:
        parts = read_on_cluster(tasks, scheduler, progress)
    _require_labels(table, parts, shards)
    with naming(table.files[0].path):
        # If missing values are an error, no marker was found.
        gaps = [part.missing.markers for part in parts.values() if part.missing is not None]
        table.na.require_found(functools.reduce(add_markers, gaps, {}), table.names)
        if not table.labels:
            return {"": parts_with_used_levels(moments_of_shards(parts, shards))}
    numbers = [number for number, part in sorted(parts.items()) if part.n]
    used = parts_with_used_levels([parts[number] for number in numbers]) if numbers else []
    found: dict[str, list[Moments]] = {label: [] for label in table.labels}
    for number, part in zip(numbers, used, strict=True):
        found[table.labels[number // shards]].append(part)
    require_environment_rows({label: sum(part.n for part in own) for label, own in found.items()})
    return found


def _require_labels(table: TableFiles, parts: Parts, shards: int) -> None:
    """Raise a ValueError for targets of environments that are not in the column of labels."""
    found = {number // shards for number, part in parts.items() if part.n or (part.missing and part.missing.rows_read)}
    unused = [label for number, label in enumerate(table.labels) if number not in found]
    if unused and found:
        column = table.files[0].names[table.positions[0][-1]]
        raise no_rows(unused, f"no row of column {column!r}", table.targets_source)


def moments_by_em(table: TableFiles, rows: FileRows, progress: Counter | None = None) -> dict[str, list[Moments]]:
    """Return the moments of all rows of opened files by EM, by label; `progress` is called with the number of steps."""
    labels = table.labels or ("",)
    tables = [CodedTable(table.coding, table.rows_of_label(rows.values, label)) for label in labels]
    if table.labels:
        require_environment_rows({label: len(own.rows) for label, own in zip(labels, tables, strict=True)})
    with naming(table.files[0].path):
        found = [moments for moments, _ in moments_of_parts(tables, "em", labels, progress)]
    assert found[0].missing is not None  # EM always records what it found
    found[0] = replace(found[0], missing=replace(found[0].missing, markers=rows.markers))
    return {label: [moments] for label, moments in zip(labels, found, strict=True)}
