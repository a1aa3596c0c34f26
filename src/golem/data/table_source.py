"""A table in files that is read once, for a fit and for selection, bootstrap and checks after it."""

from __future__ import annotations

import functools
import math

from golem.data.files.streaming import KeptRows
from golem.data.files.table_files import TableFiles
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.readers import rows_of, shards_of
from golem.data.resampling import Sample, Shards, merged, rows_of_moments
from golem.runtime.progress import Progress
from golem.runtime.types import Matrix

# Files up to this size (in bytes) are resampled row by row. Larger files need not fit into memory and are resampled in
# shards of consecutive rows.
ROWS_UP_TO = 2**28
SHARDS = 100
# Tables with more numbers are not kept in memory for the checks that need rows.
MOST_NUMBERS = 5_000_000


class TableSource:
    """A table in files, read once: its moments, and the rows or shards for the steps after the fit.

    Parameters
    ----------
    table : TableFiles
        The files.
    divided : bool
        Whether rows will be resampled or divided into folds.
    checked : bool
        Whether the checks will need the rows, if they are few.
    scheduler : str, optional
        Address of a Dask scheduler whose workers read the files.
    """

    def __init__(self, table: TableFiles, divided: bool, checked: bool, scheduler: str | None) -> None:
        self._table, self._scheduler = table, scheduler
        self._by_rows = table.size <= ROWS_UP_TO and scheduler is None
        self._shards = SHARDS if divided and not self._by_rows else 1
        self._kept = KeptRows(math.inf if divided and self._by_rows else MOST_NUMBERS if checked else 0)

    def read(self, missing: MissingChoice, progress: Progress) -> Moments:
        """Read the files and return the moments of all rows."""
        with progress.reading(self._table.size) as show:
            self._parts = shards_of(
                self._table, self._shards, missing=missing, progress=show, scheduler=self._scheduler, keep=self._kept
            )
        self._moments = merged(self._parts)
        return self._moments

    @functools.cached_property
    def sample(self) -> Sample:
        """Rows to draw from, or shards of large files."""
        return rows_of_moments(self._moments, self._rows) if self._by_rows else Shards(tuple(self._parts))

    @property
    def few_rows(self) -> Matrix | None:
        """The rows, or None if there are too many for the checks."""
        few = self._scheduler is None and self._moments.n * self._moments.d <= MOST_NUMBERS
        return self._rows if few else None

    @functools.cached_property
    def _rows(self) -> Matrix:
        """All rows; they are read again if they were not kept."""
        kept = self._kept.values
        return rows_of(self._table).values if kept is None else kept
