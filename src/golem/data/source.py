"""Data in files, read once, for a fit and for selection, bootstrap and checks after it."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from golem.data.coded_tables import CodedTable, counts_in_moments
from golem.data.column_patterns import expanded
from golem.data.files.batches import naming
from golem.data.files.covariance_files import CovarianceFile, is_tetrad_covariance
from golem.data.files.level_scan import reading_categories
from golem.data.files.npy_files import NpyFile
from golem.data.files.ordered_rows import read_cells, require_column
from golem.data.files.standard_input import source_name
from golem.data.files.streaming import KeptRows
from golem.data.files.table_files import TableFiles, find_files
from golem.data.levels import warn_of_similar_levels
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.readers import COPIES_OF_EM, FileRows, moments_by_em, read_rows, shards_by_label
from golem.data.reading import Reading
from golem.data.refused_tables import describing_refusal
from golem.data.resampling import merged
from golem.data.robust import MOST_NUMBERS, RobustChoice
from golem.data.series_reading import SeriesChoice, series_table
from golem.data.series_streaming import series_from_files
from golem.data.table import Part, Table
from golem.data.table_reading import Statistics, Targets, refuse_wide, wide_table
from golem.data.table_summary import TableSummary
from golem.data.treatment import working_treatment
from golem.data.unusable import (
    Unusable,
    UnusableColumnsError,
    dependent_in_table,
    identifying,
    unusable_error,
    unusable_in_table,
    unusable_variables,
    without_levels,
)
from golem.data.wide_columns import WIDE_FROM
from golem.runtime.machine import free_memory
from golem.runtime.messages import quoted
from golem.runtime.problems import ProblemError, Remedy, Set, Text
from golem.runtime.progress import ProgressDisplay
from golem.runtime.types import Matrix

# Files up to this size (in bytes) are resampled row by row. Larger files need not fit into memory and are resampled in
# shards of consecutive rows.
ROWS_UP_TO = 2**28
SHARDS = 100
# Half of these are a half of the rows; rows from everywhere are dealt to them, as files are often sorted. Each has a
# covariance, which takes too much memory for many columns.
HALVED_SHARDS, _MOST_HALVED = 16, 1000
# Memory for one code of a category in all copies of the rows.
_BYTES_PER_CODE = 24


@dataclass(frozen=True)
class Purpose:
    """What the rows of files are for, and so how the files are read.

    Parameters
    ----------
    divided : bool
        Whether rows will be resampled or divided into folds.
    halved : bool
        Whether halves of the rows will be taken, if that is possible.
    checked : bool
        Whether the checks or the directions will need the rows, if they are few.
    whole : bool
        Whether the rows of the table must be all rows; otherwise a large table of numbers has a sample of them.
    scheduler : str, optional
        Address of a Dask scheduler whose workers read the files.
    strict : bool
        Whether an error refuses the table, so that it is described as a whole.
    statistics : {"auto", "dense", "sparse"}
        Whether a table is read as standardized columns; "auto" if it has very many.
    robust : {"auto", "ranks", "off"}
        Whether these are normal scores.
    """

    divided: bool = False
    halved: bool = False
    checked: bool = False
    whole: bool = False
    scheduler: str | None = None
    strict: bool = True
    statistics: Statistics = "dense"
    robust: RobustChoice = "off"


def open_source(
    paths: Sequence[str],
    reading: Reading,
    purpose: Purpose | None = None,
    targets: Targets | None = None,
    series: SeriesChoice | None = None,
) -> Source:
    """Open the files of a table, of environments with these targets, or a covariance matrix; see `TableSource`."""
    purpose = purpose or Purpose()
    if series:
        if purpose.scheduler is not None:
            raise ProblemError.of("{scheduler=...} cannot be used with {lags=...} or {unit=...}.")
        if reading.covariance or reading.rows is not None:
            raise ProblemError.of(
                "A covariance matrix has no order of rows, so {lags=...} and {unit=...} need the rows."
            )
    if reading.has_environments(targets):
        return TableSource(reading.open(paths).labelled(reading.environment, targets), purpose, targets, series)
    if reading.covariance:
        return CovarianceSource(paths, reading, purpose)
    if reading.rows is not None and not _is_covariance(paths):
        raise ProblemError.of("Only a covariance matrix needs {rows=...}. Add {covariance=True}, or remove {rows=...}.")
    try:
        table = reading.open(paths, series.columns if series else ())
    except ValueError:
        if _is_covariance(paths):
            return CovarianceSource(paths, reading, purpose)
        raise
    # A triangle between blanks looks like one column of text.
    if len(table.names) == 1 and _is_covariance(paths):
        return CovarianceSource(paths, reading, purpose)
    return TableSource(table, purpose, series=series)


def _is_covariance(paths: Sequence[str]) -> bool:
    return len(paths) == 1 and is_tetrad_covariance(paths[0])


def _require_no_covariance(rows: Matrix, name: str) -> None:
    """Raise a ValueError if the rows are a symmetric matrix, which no table of observations is."""
    is_square = rows.shape[0] == rows.shape[1]
    if is_square and np.allclose(rows, rows.T, rtol=1e-6, atol=0) and np.all(np.diagonal(rows) > 0):
        raise ProblemError.of(
            "{name}: The table is a symmetric matrix. If it is a covariance matrix, use {covariance=True} and "
            "{rows=N}, where N is the number of rows behind it.",
            name=name,
        )


def open_table(
    paths: Sequence[str],
    reading: Reading,
    drop_dependent: bool,
    missing: MissingChoice,
    progress: ProgressDisplay,
    targets: Targets | None = None,
    series: SeriesChoice | None = None,
) -> Source:
    """Open a table, of which all rows may be read, without columns that cannot be used if `drop_dependent`."""
    source = open_source(paths, reading, Purpose(checked=True, whole=True), targets, series)
    if drop_dependent and (unusable := source.unusable(missing, progress)):
        return open_table(paths, reading.without(unusable, progress), False, missing, progress, targets, series)
    return source


class CovarianceSource:
    """A covariance matrix in a file. It has no rows, which some steps after the fit need."""

    made_up_names = False
    has_rows = False
    checked_rows = None
    summary = None
    series = SeriesChoice()

    def __init__(self, paths: Sequence[str], reading: Reading, purpose: Purpose) -> None:
        self.paths = find_files(paths)
        by_rows = Text(Set("bootstrap"), ", ", Set("select", "cv"), " or ", Set("select", "stability"))
        needs_rows: list[tuple[str | Remedy, bool]] = [
            (Set("na", [...]), bool(reading.na)),
            (Set("header", reading.header), reading.header is not None),
            (Set("categorical", [...]), bool(reading.categorical)),
            (Set("numeric", [...]), bool(reading.numeric)),
            (Set("log", [...]), bool(reading.log)),
            (by_rows, purpose.divided),
            (Set("scheduler"), purpose.scheduler is not None),
        ]
        if wrong := [part for setting, given in needs_rows if given for part in (" and ", setting)]:
            raise ProblemError(
                f"{source_name(self.paths[0])}: A covariance matrix has no rows, so ",
                *wrong[1:],
                " cannot be used. Remove this setting, or give the rows.",
            )
        if len(self.paths) > 1:
            raise ValueError(f"A covariance matrix is one file; got {quoted(list(map(str, self.paths)))}.")
        file = CovarianceFile.read(self.paths[0], reading.rows)
        self.table = Table.single(file.moments(reading.columns, expanded(reading.drop, file.names, "drop")))
        self.names, self.all_names = self.table.names, file.names

    def read(self, missing: MissingChoice, progress: ProgressDisplay) -> Table:
        """Return the moments."""
        if missing != "error":
            raise ProblemError("A covariance matrix has no missing values. Remove ", Set("missing"), ".")
        return self.table

    def unusable(self, missing: MissingChoice, progress: ProgressDisplay) -> list[Unusable]:
        """Return the columns to drop so that a graph can be learned."""
        return self.read(missing, progress).unusable()

    def identifiers(self) -> list[Unusable]:
        """Return the columns that identify rows: there are no rows."""
        return []

    def treatment(self, progress: ProgressDisplay) -> None:
        """Return no treatment of missing values: there are none."""

    def describing_refusal(self, missing: MissingChoice, progress: ProgressDisplay) -> AbstractContextManager[None]:
        """Leave errors as they are."""
        return contextlib.nullcontext()


class TableSource:
    """A table in files, with or without environments, read once.

    Parameters
    ----------
    files : TableFiles
        The files, with labels if there are environments.
    purpose : Purpose
        What the rows are for.
    targets : mapping, optional
        The columns that each environment changes.
    series : SeriesChoice, optional
        The lags, and the columns with the time and the unit of each row.
    """

    def __init__(
        self,
        files: TableFiles,
        purpose: Purpose,
        targets: Targets | None = None,
        series: SeriesChoice | None = None,
    ) -> None:
        self.files, self._purpose, self._targets, self.series = files, purpose, targets, series or SeriesChoice()
        alone, statistics = not (files.labels or self.series or purpose.scheduler), purpose.statistics
        self._is_wide = alone and (statistics == "sparse" or (statistics == "auto" and len(files.names) >= WIDE_FROM))
        for parameter in ("time", "unit"):
            if (column := getattr(self.series, parameter)) is not None:
                require_column(files, column, parameter)
        self.names, self.all_names, self.made_up_names = files.names, files.files[0].names, files.made_up_names
        self.paths = [file.path for file in files.files]
        self._read: tuple[MissingChoice, Table] | None = None
        self._em_rows: FileRows | None = None
        self._by_rows = files.size <= ROWS_UP_TO and purpose.scheduler is None
        is_halved = purpose.halved and len(self.names) <= _MOST_HALVED
        self._shards = 1 if self._by_rows else SHARDS if purpose.divided else HALVED_SHARDS if is_halved else 1
        every, some = (purpose.divided or purpose.halved) and self._by_rows, purpose.checked or files.labels
        self._kept = KeptRows(math.inf if every else MOST_NUMBERS if some else 0)

    @property
    def table(self) -> Table:
        """The table that was read last."""
        assert self._read is not None
        return self._read[1]

    @property
    def has_rows(self) -> bool:
        """Whether the rows are those of one table, and can be read on this machine."""
        return self._purpose.scheduler is None and not self.files.labels

    def read(self, missing: MissingChoice, progress: ProgressDisplay) -> Table:
        """Return the table; raise a ValueError if categories have a single level.

        Its rows are read when they are needed: all of them if they were kept, or if categories are among the variables;
        otherwise blocks of them.
        """
        table = self._table_of(missing, progress)
        if without_levels(table.coding):
            if self._purpose.strict:
                self.summary.show(progress)
            with naming(self.paths[0]):
                raise unusable_error(unusable_variables(table.moments()))
        # The checks of the graph name rare levels.
        warn_of_similar_levels(counts_in_moments([part.moments for part in table.parts]))
        return table

    def _table_of(self, missing: MissingChoice, progress: ProgressDisplay) -> Table:
        """Read the files, unless they are read already."""
        if self._read is not None and self._read[0] == missing:
            return self._read[1]
        if self._is_wide:
            self._read = missing, self._wide_table(missing, progress)
            return self._read[1]
        if missing == "em" and (self._by_rows or not self._purpose.divided) and self._purpose.scheduler is None:
            rows = self._rows_for_em(progress)
            counting = progress.counting("Gaussian EM, steps")
            with self.describing_refusal(missing, progress), counting as count:
                parts = moments_by_em(self.files, rows, count)
        else:
            how: dict[str, Any] = {
                "missing": missing,
                "scheduler": self._purpose.scheduler,
                "dealt": not self._purpose.divided,
            }
            reading = progress.reading(self.files.size)
            with self.describing_refusal(missing, progress), reading as show:
                self.files, parts = reading_categories(
                    self.files,
                    lambda files: shards_by_label(files, self._shards, progress=show, keep=self._keep(files), **how),
                )
        found = [self._part(label, shards) for label, shards in parts.items()]
        table = Table.of_parts(found, self._targets) if self.files.labels else Table(tuple(found))
        if self.series:
            table = self._windows(table, missing)
        self._read = missing, table
        if len(found) == 1 and table.n == table.d and table.coding.is_numeric and self.checked_rows is not None:
            _require_no_covariance(self.checked_rows, source_name(self.paths[0]))
        return table

    def _wide_table(self, missing: MissingChoice, progress: ProgressDisplay) -> Table:
        """Read a table with very many columns, all of them numbers."""
        file, rows = self.files.files[0], None
        if len(self.files.files) == 1 and isinstance(file, NpyFile) and self.names == file.names and not self.files.log:
            values = np.load(file.path, mmap_mode="r")
        else:
            with progress.reading(self.files.size) as show:
                self.files, rows = reading_categories(self.files, lambda files: read_rows(files, progress=show))
            values = rows.values
        if not self.files.coding.is_numeric:
            refuse_wide("Categories need")
        if found := [] if rows is None else identifying(values, self.files.coding, self.files.chosen):
            raise UnusableColumnsError("Some columns identify rows.", problems=found)
        return wide_table(values, self.names, not self.made_up_names, missing, self._purpose.robust)

    def _windows(self, table: Table, missing: MissingChoice) -> Table:
        """Return the table of the windows of a series, given that of its rows."""
        if found := unusable_variables(table.moments()):
            raise unusable_error(found)
        self._rows_read = table.n if table.missing is None else table.missing.rows_read
        if not self._by_rows:
            return series_from_files(self.files, self.series, missing, self._shards)
        choice, rows = self.series, read_rows(self.files).values
        time, unit = (None if name is None else read_cells(self.files, name) for name in (choice.time, choice.unit))
        coded = CodedTable(self.files.coding, rows)
        return series_table(coded, time, unit, 0 if choice.lags is None else choice.lags, missing, True)

    def _part(self, label: str, shards: Sequence[Moments]) -> Part:
        """Return the part of an environment, or the only part."""
        rows = None if self._purpose.scheduler is not None else functools.partial(self._rows_of, label)
        return Part(label, merged(shards), rows=rows, shards=() if self._by_rows else tuple(shards))

    def describing_refusal(self, missing: MissingChoice, progress: ProgressDisplay) -> AbstractContextManager[None]:
        """Name everything that is wrong with the table if it is refused; see `golem.data.refused_tables`."""
        if self.files.labels or not self._purpose.strict:
            return contextlib.nullcontext()
        return describing_refusal(self.files, progress, missing)

    def unusable(self, missing: MissingChoice, progress: ProgressDisplay) -> list[Unusable]:
        """Return the columns to drop so that a graph can be learned, and categories that others determine."""
        if missing == "em" and self._purpose.scheduler is None:
            rows = self._rows_for_em(progress)
            return dependent_in_table(rows.values[:, : len(self.names)], self.files.coding)
        return self._table_of(missing, progress).unusable()

    def identifiers(self) -> list[Unusable]:
        """Return the columns of numbers that identify rows, as far as rows were kept; chosen types stay."""
        rows = self._kept_rows
        if rows is None:
            return []
        return identifying(rows[:, : len(self.names)], self.files.coding, self.files.chosen)

    def treatment(self, progress: ProgressDisplay) -> tuple[MissingChoice, list[Unusable]] | None:
        """Return the treatment of missing values that suits the table, and the columns to leave out for it, if any."""
        if not self._by_rows or self.series.unit is not None:
            return "drop", []  # EM needs all rows in memory, and no units
        rows = self._rows_for_em(progress).values[:, : len(self.names)]
        table = CodedTable(self.files.coding, rows)
        if (found := working_treatment(table, "auto")) is None:
            return None
        dropped = {column.name: column for column in unusable_in_table(rows, table.coding)}
        names = [name for name, column in zip(self.names, rows.T, strict=True) if np.isnan(column).any()]
        dropped |= {name: Unusable("missing", (name,)) for name in names if name in found.drop and name not in dropped}
        rest = table.selected([name for name in self.names if name not in dropped])
        dropped |= {column.name: column for column in unusable_in_table(rest.rows, rest.coding)}
        return found.missing, [dropped[name] for name in found.drop]

    def _keep(self, files: TableFiles) -> KeptRows:
        """Return where to keep rows: discrete scores need all of them, as far as they fit, in half the precision."""
        if files.coding.is_discrete:
            self._kept = KeptRows(free_memory() / _BYTES_PER_CODE, np.float32)
        return self._kept

    def _rows_for_em(self, progress: ProgressDisplay) -> FileRows:
        """Read all rows, unless they are read already."""
        if self._em_rows is not None:
            return self._em_rows
        with self.describing_refusal("error", progress), progress.reading(self.files.size) as show:
            self.files, rows = reading_categories(
                self.files, lambda files: read_rows(files, copies=COPIES_OF_EM, progress=show)
            )
        self._kept.take(rows.values)
        self._em_rows = rows
        return rows

    def _rows_of(self, label: str) -> Matrix | None:
        """Return the rows of an environment: all of them, or a sample of a large table of numbers."""
        everything = self._purpose.whole or not self.table.coding.is_numeric
        rows = self._all_rows if everything else self._kept_rows
        return None if rows is None else self._recoded(self.files.rows_of_label(rows, label))

    @property
    def _kept_rows(self) -> Matrix | None:
        """The rows that were kept, otherwise a sample; with environments, their last column has the label."""
        return self._kept.sample if self._kept.values is None else self._kept.values

    @functools.cached_property
    def _all_rows(self) -> Matrix:
        """All rows; they are read again if they were not kept."""
        return read_rows(self.files).values if self._kept.values is None else self._kept.values

    def _recoded(self, rows: Matrix) -> Matrix:
        """Return coded rows with the levels of the moments, which lack those of rows with missing values."""
        return self.files.coding.recoded(rows, self.table.coding)

    @property
    def summary(self) -> TableSummary:
        """A summary of the table that was read."""
        table = self.table
        counts = {} if table.missing is None else table.missing.columns
        rows = table.n if table.missing is None else table.missing.rows_read
        rows = rows if table.series is None else self._rows_read
        kept = self._kept_rows
        kept = None if kept is None else kept[:, : len(self.names)]
        return TableSummary.of(self.files.coding, rows, kept, counts, self.files.chosen, self.files.padded)

    @property
    def checked_rows(self) -> Matrix | None:
        """The rows for the checks: all if they are few, otherwise a sample; None if it is too large as well.

        Environments have none: they are not one table.
        """
        table = self.table
        if self.files.labels:
            return None
        if table.series is not None:
            return np.asarray(table.parts[0].read_rows())
        if self._purpose.scheduler is None and table.n * len(table.coding.column_names) <= MOST_NUMBERS:
            return self._recoded(self._all_rows)
        rows = self._kept.sample
        return None if rows is None or rows.size > MOST_NUMBERS else self._recoded(rows)


Source = TableSource | CovarianceSource
