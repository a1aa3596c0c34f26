"""The columns of files that order rows, time and unit, as they are written: numbers, dates or names."""

from __future__ import annotations

from typing import Any

from golem.data.files.batches import naming
from golem.data.files.csv_files import CsvFile
from golem.data.files.parquet_files import ParquetFile, opened_parquet
from golem.data.files.standard_input import source_name
from golem.data.files.table_files import TableFiles
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
    found: list[Any] = []
    for file in table.files:
        place = file.names.index(name)
        with naming(file.path):
            if isinstance(file, ParquetFile):
                with opened_parquet(file.path) as opened:
                    found += opened.read(columns=[name])[name].to_pylist()
            elif isinstance(file, CsvFile):
                for piece in file.pieces(1):
                    found += file.column_texts(piece, place)
            else:
                for piece in file.pieces(1):
                    for batch in file.batches(piece, [place]):
                        found += batch.columns[0].tolist()
    return found
