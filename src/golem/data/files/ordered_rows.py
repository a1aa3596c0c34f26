"""The columns of files that order rows, time and unit, as they are written: numbers, dates or names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.files.batches import naming
from golem.data.files.csv_files import CsvFile
from golem.data.files.parquet_files import ParquetFile, opened_parquet
from golem.data.files.standard_input import source_name
from golem.data.files.table_files import TableFile, TableFiles
from golem.runtime.messages import suggestion
from golem.runtime.problems import ProblemError, Set


def require_column(table: TableFiles, name: str, parameter: str) -> None:
    """Raise a ValueError if a file does not have a column."""
    for file in table.files:
        if name not in file.names:
            hint = suggestion(name, file.names, "columns")
            raise ProblemError(f"{source_name(file.path)}: There is no column {name!r} (", Set(parameter), f"). {hint}")


def read_cells(table: TableFiles, name: str) -> list[Any]:
    """Return the cells of a column of all rows, in the order of the rows."""
    return [cell for cells in cells_in_order(table, name) for cell in cells.tolist()]


def cells_in_order(table: TableFiles, name: str) -> Iterator[NDArray[Any]]:
    """Yield the cells of a column in the order of the rows, some rows at a time."""
    for file in table.files:
        with naming(file.path):
            for cells in _cells(file, name):
                if isinstance(cells, np.ndarray):
                    yield cells
                else:
                    found = np.empty(len(cells), dtype=object)
                    found[:] = cells
                    yield found


def _cells(file: TableFile, name: str) -> Iterator[list[Any] | NDArray[Any]]:
    """Yield the cells of a column of a file, numbers as an array if the file says that they are numbers."""
    place = file.names.index(name)
    if isinstance(file, ParquetFile):
        import pyarrow as pa

        with opened_parquet(file.path) as opened:
            kind = opened.schema_arrow.field(place).type
            is_plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
            for batch in opened.iter_batches(1 << 16, columns=[name]):
                column = batch.column(0)
                # to_numpy would import pandas.
                yield column.to_pylist() if column.null_count or not is_plain else np.from_dlpack(column)
        return
    for piece in file.pieces(1):
        if isinstance(file, CsvFile):
            yield file.column_texts(piece, place)
        else:
            for batch in file.batches(piece, [place]):
                yield batch.columns[0]


@dataclass
class InOrder:
    """Arrays that arrive in pieces, of which any number of rows can be taken next."""

    pieces: Iterator[NDArray[Any]]
    left: NDArray[Any] | None = None

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n rows."""
        found, count = [] if self.left is None else [self.left], 0 if self.left is None else len(self.left)
        while count < n:
            found.append(next(self.pieces))
            count += len(found[-1])
        rows = found[0] if len(found) == 1 else np.concatenate(found)
        self.left = rows[n:]
        return rows[:n]
