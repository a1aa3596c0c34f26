"""Data in files, read once, for a fit and for selection, bootstrap and checks after it."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from golem.data.coded_tables import counts_in_moments
from golem.data.environment_files import EnvironmentSource, labelled
from golem.data.files.batches import naming
from golem.data.files.covariance_files import CovarianceFile, is_tetrad_covariance
from golem.data.files.level_scan import reading_categories
from golem.data.files.standard_input import source_name
from golem.data.files.streaming import KeptRows
from golem.data.files.table_files import TableFiles, find_files, listed
from golem.data.levels import warn_of_similar_levels
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.readers import COPIES_OF_EM, moments_by_em, rows_of, shards_of
from golem.data.readers import Table as RowTable
from golem.data.refused_tables import describing_refusal
from golem.data.resampling import merged
from golem.data.table import Part, Table
from golem.data.table_reading import Targets
from golem.data.table_summary import TableSummary
from golem.data.targets import EXAMPLE
from golem.data.unusable import (
    Unusable,
    dependent_in_table,
    unusable_columns,
    unusable_error,
    unusable_variables,
    with_determined,
    without_levels,
)
from golem.runtime.machine import free_memory
from golem.runtime.messages import quoted
from golem.runtime.problems import ProblemError, Remedy, Set, Text
from golem.runtime.progress import ProgressDisplay
from golem.runtime.types import Matrix

# Files up to this size (in bytes) are resampled row by row. Larger files need not fit into memory and are resampled in
# shards of consecutive rows.
ROWS_UP_TO = 2**28
SHARDS = 100
# Tables with more numbers are not kept in memory for the checks that need rows, which then use a sample.
MOST_NUMBERS = 5_000_000
# Memory for one code of a category in all copies of the rows.
_BYTES_PER_CODE = 24


@dataclass(frozen=True)
class Reading:
    """How files are read; see `golem.readers.moments_from_file` and `golem.readers.read_covariance`.

    Where a list is expected, a single name or marker will do.

    Examples
    --------
    >>> reading = Reading(drop="id", na=-999)
    >>> reading.drop, reading.na
    (['id'], ['-999'])
    """

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    header: bool | None = None
    na: Sequence[Any] = ()
    categorical: Sequence[str] = ()
    numeric: Sequence[str] = ()
    covariance: bool = False
    rows: int | None = None
    environment: str | None = None
    environments: bool = False

    def __post_init__(self) -> None:
        for name in ("columns", "drop", "na", "categorical", "numeric"):
            given = getattr(self, name)
            items = None if given is None else listed(given)
            object.__setattr__(self, name, list(map(str, items)) if name == "na" and items is not None else items)

    def open(self, paths: Sequence[str]) -> TableFiles:
        """Open the files of a table."""
        return TableFiles.open(
            paths,
            columns=self.columns,
            drop=self.drop,
            header=self.header,
            na=self.na,
            categorical=self.categorical,
            numeric=self.numeric,
            hidden=self.environment,
        )

    def without(self, unusable: Sequence[Unusable], progress: ProgressDisplay) -> Reading:
        """Leave out columns that cannot be used, with a note."""
        names = [column.name for column in unusable]
        are = "which is" if len(names) == 1 else "which are"
        progress.note(f"Dropped {quoted(names)}, {are} constant or determined by other columns.")
        return replace(self, drop=[*self.drop, *names])


def open_source(
    paths: Sequence[str],
    reading: Reading,
    divided: bool,
    checked: bool,
    scheduler: str | None,
    targets: Targets | None = None,
) -> Source:
    """Open the files of a table, of environments with these targets, or a covariance matrix; see `TableSource`."""
    if _has_environments(reading, targets):
        return _open_environments(paths, reading, divided, scheduler, targets)
    if reading.covariance:
        return CovarianceSource(paths, reading, divided, scheduler)
    if reading.rows is not None and not _is_covariance(paths):
        raise ProblemError.of("Only a covariance matrix needs {rows=...}. Add {covariance=True}, or remove {rows=...}.")
    try:
        table = reading.open(paths)
    except ValueError:
        if _is_covariance(paths):
            return CovarianceSource(paths, reading, divided, scheduler)
        raise
    # A triangle between blanks looks like one column of text.
    if len(table.names) == 1 and _is_covariance(paths):
        return CovarianceSource(paths, reading, divided, scheduler)
    return TableSource(table, divided, checked, scheduler)


def open_table(
    paths: Sequence[str], reading: Reading, drop_dependent: bool, missing: MissingChoice, progress: ProgressDisplay
) -> TableSource | CovarianceSource:
    """Open one table or a covariance matrix, without columns that cannot be used if `drop_dependent`."""
    source = open_source(paths, reading, divided=False, checked=True, scheduler=None)
    if drop_dependent and (unusable := source.unusable(missing, progress)):
        return open_table(paths, reading.without(unusable, progress), False, missing, progress)
    assert not isinstance(source, EnvironmentSource)  # they need targets
    return source


def require_no_covariance(rows: Matrix, name: str) -> None:
    """Raise a ValueError if the rows are a symmetric matrix, which no table of observations is."""
    is_square = rows.shape[0] == rows.shape[1]
    if is_square and np.allclose(rows, rows.T, rtol=1e-6, atol=0) and np.all(np.diagonal(rows) > 0):
        raise ProblemError.of(
            "{name}: The table is a symmetric matrix. If it is a covariance matrix, use {covariance=True} and "
            "{rows=N}, where N is the number of rows behind it.",
            name=name,
        )


def _has_environments(reading: Reading, targets: Targets | None) -> bool:
    """Return whether the rows come from environments; raise a ValueError if the options contradict each other."""
    if reading.environment is not None and reading.environments:
        raise ProblemError.of(
            "{environment=...} names the column with the experiments; {environments=True} says that each file "
            "is one. Use one of them."
        )
    given = reading.environment is not None or reading.environments
    if given and targets is None:
        raise ProblemError("Environments need ", Set("targets"), f", for example a JSON file with {EXAMPLE}.")
    if targets is not None and not given:
        raise ProblemError.of(
            "{targets=...} needs environments: add {environment=...} for a column that names them, or "
            "{environments=True} if each file is one."
        )
    if given and (reading.covariance or reading.rows is not None):
        raise ProblemError.of("A covariance matrix has no environments. Remove {covariance=True} and {rows=...}.")
    if given and reading.categorical:
        raise ProblemError("Tables with environments have only numbers. Remove ", Set("categorical", [...]), ".")
    return given


def _open_environments(
    paths: Sequence[str], reading: Reading, divided: bool, scheduler: str | None, targets: Targets | None
) -> EnvironmentSource:
    """Open files with environments."""
    assert targets is not None
    table = reading.open(paths)
    table, by_rows = labelled(table, reading.environment, targets), table.size <= ROWS_UP_TO
    return EnvironmentSource(
        table,
        targets,
        divided=divided,
        scheduler=scheduler,
        by_rows=by_rows,
        shards=SHARDS,
        most_numbers=MOST_NUMBERS,
    )


def _is_covariance(paths: Sequence[str]) -> bool:
    return len(paths) == 1 and is_tetrad_covariance(paths[0])


class CovarianceSource:
    """A covariance matrix in a file. It has no rows, which some steps after the fit need."""

    made_up_names = False
    checked_rows = None
    summary = None

    def __init__(self, paths: Sequence[str], reading: Reading, divided: bool, scheduler: str | None) -> None:
        self.paths = find_files(paths)
        by_rows = Text(Set("bootstrap"), ", ", Set("select", "cv"), " or ", Set("select", "stability"))
        needs_rows: list[tuple[str | Remedy, bool]] = [
            (Set("na", [...]), bool(reading.na)),
            (Set("header", reading.header), reading.header is not None),
            (Set("categorical", [...]), bool(reading.categorical)),
            (Set("numeric", [...]), bool(reading.numeric)),
            (by_rows, divided),
            (Set("scheduler"), scheduler is not None),
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
        self._moments = file.moments(reading.columns, reading.drop)
        self.names, self.all_names = self._moments.names, file.names

    def read(self, missing: MissingChoice, progress: ProgressDisplay) -> Moments:
        """Return the moments."""
        if missing != "error":
            raise ProblemError("A covariance matrix has no missing values. Remove ", Set("missing"), ".")
        return self._moments

    def unusable(self, missing: MissingChoice, progress: ProgressDisplay) -> list[Unusable]:
        """Return the columns to drop so that a graph can be learned."""
        return unusable_columns(self.read(missing, progress))

    @property
    def sample(self) -> Table:
        """The moments: there is nothing to draw from."""
        return Table.single(self._moments)

    def sample_of_rows(self) -> None:
        """Return None: there are no rows."""

    def all_rows(self) -> None:
        """Return None: there are no rows."""


class TableSource:
    """A table in files, read once: its moments, and the rows or shards for the steps after the fit.

    Parameters
    ----------
    table : TableFiles
        The files.
    divided : bool
        Whether rows will be resampled or divided into folds.
    checked : bool
        Whether the checks or the directions will need the rows, if they are few.
    scheduler : str, optional
        Address of a Dask scheduler whose workers read the files.
    """

    def __init__(self, table: TableFiles, divided: bool, checked: bool, scheduler: str | None) -> None:
        self._table, self._scheduler = table, scheduler
        self.names, self.all_names, self.made_up_names = table.names, table.files[0].names, table.made_up_names
        self.paths = [file.path for file in table.files]
        self._read: tuple[MissingChoice, Moments] | None = None
        self._em_rows: RowTable | None = None
        self._by_rows = table.size <= ROWS_UP_TO and scheduler is None
        self._shards = SHARDS if divided and not self._by_rows else 1
        self._kept = KeptRows(math.inf if divided and self._by_rows else MOST_NUMBERS if checked else 0)

    @property
    def table(self) -> TableFiles:
        """The files."""
        return self._table

    def read(self, missing: MissingChoice, progress: ProgressDisplay) -> Moments:
        """Return the moments of all rows; raise a ValueError if categories have a single level."""
        moments = self._moments_of(missing, progress)
        if without_levels(moments.coding):
            self.summary.show(progress)
            with naming(self.paths[0]):
                raise unusable_error(unusable_variables(moments))
        # The checks of the graph name rare levels.
        warn_of_similar_levels(counts_in_moments([moments]))
        return moments

    def _moments_of(self, missing: MissingChoice, progress: ProgressDisplay) -> Moments:
        """Read the files, unless they are read already."""
        if self._read is not None and self._read[0] == missing:
            return self._read[1]
        if missing == "em" and self._shards == 1 and self._scheduler is None:
            rows = self._rows_for_em(progress)
            with describing_refusal(self._table, progress, missing), progress.counting("Gaussian EM, steps") as count:
                self._parts = [moments_by_em(self._table, rows, count)]
        else:
            how: dict[str, Any] = {"missing": missing, "scheduler": self._scheduler}
            with describing_refusal(self._table, progress, missing), progress.reading(self._table.size) as show:
                self._table, self._parts = reading_categories(
                    self._table,
                    lambda table: shards_of(table, self._shards, progress=show, keep=self._keep(table), **how),
                )
        self._moments = merged(self._parts)
        self._read = missing, self._moments
        self._refuse_covariance()
        return self._moments

    def unusable(self, missing: MissingChoice, progress: ProgressDisplay) -> list[Unusable]:
        """Return the columns to drop so that a graph can be learned, and categories that others determine."""
        if missing == "em" and self._scheduler is None:
            rows = self._rows_for_em(progress)
            return dependent_in_table(rows.values, rows.coding)
        moments = self._moments_of(missing, progress)
        return with_determined(unusable_variables(moments), moments, self.names)

    def _keep(self, table: TableFiles) -> KeptRows:
        """Return where to keep rows: discrete scores need all of them, as far as they fit, in half the precision."""
        if table.coding.is_discrete:
            self._kept = KeptRows(free_memory() / _BYTES_PER_CODE, np.float32)
        return self._kept

    def _rows_for_em(self, progress: ProgressDisplay) -> RowTable:
        """Read all rows, unless they are read already."""
        if self._em_rows is not None:
            return self._em_rows
        with describing_refusal(self._table, progress), progress.reading(self._table.size) as show:
            self._table, rows = reading_categories(
                self._table, lambda table: rows_of(table, copies=COPIES_OF_EM, progress=show)
            )
        self._kept.take(rows.values)
        self._em_rows = rows
        return rows

    def _refuse_covariance(self) -> None:
        """Raise a ValueError if the rows are a symmetric matrix, which no table of observations is."""
        square = self._moments.n == self._moments.d and self._moments.coding.is_numeric
        if square and self.checked_rows is not None:
            require_no_covariance(self.checked_rows, source_name(self.paths[0]))

    @functools.cached_property
    def sample(self) -> Table:
        """Rows to draw from, or shards of large files."""
        if self._by_rows:
            return Table.single(self._moments, lambda: self._rows)
        return Table((Part("", self._moments, shards=tuple(self._parts)),))

    def sample_of_rows(self) -> Matrix | None:
        """Return all rows if they were kept, otherwise blocks of them; None if they were read on a cluster."""
        return self._recoded(self._kept.sample if self._kept.values is None else self._kept.values)

    def all_rows(self) -> Matrix | None:
        """Return all rows, which are read again if they were not kept; None if they were read on a cluster."""
        return None if self._scheduler is not None else self._rows

    @property
    def summary(self) -> TableSummary:
        """A summary of the table that was read."""
        missing, table = self._moments.missing, self._table
        rows = self._moments.n if missing is None else missing.rows_read
        kept = self._kept.sample if self._kept.values is None else self._kept.values
        counts = {} if missing is None else missing.columns
        return TableSummary.of(table.coding, rows, kept, counts, table.chosen, table.padded)

    def _recoded(self, rows: Matrix | None) -> Matrix | None:
        """Return coded rows with the levels of the moments, which lack those of rows with missing values."""
        return None if rows is None else self._table.coding.recoded(rows, self._moments.coding)

    @property
    def checked_rows(self) -> Matrix | None:
        """The rows for the checks: all if they are few, otherwise a sample; None if it is too large as well."""
        if self._scheduler is None and self._moments.n * self._moments.d <= MOST_NUMBERS:
            return self._rows
        rows = self._recoded(self._kept.sample)
        return None if rows is None or rows.size > MOST_NUMBERS else rows

    @functools.cached_property
    def _rows(self) -> Matrix:
        """All rows; they are read again if they were not kept."""
        kept = self._kept.values
        rows = self._recoded(rows_of(self._table).values if kept is None else kept)
        assert rows is not None
        return rows


Source = TableSource | CovarianceSource | EnvironmentSource
