"""Parquet files, in pieces of consecutive row groups, read in batches of rows."""

from __future__ import annotations

import base64
import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.files.batches import (
    NO_LEVELS,
    Batch,
    Piece,
    batch_rows,
    count_cells,
    different_cells,
    first_line,
    is_category,
    is_date,
    is_numeric,
    make_batch,
    piece_bytes,
    with_texts,
)
from golem.data.files.markers import NO_MARKERS, Markers
from golem.data.levels import dates
from golem.data.table_errors import not_numeric
from golem.data.table_input import parsed
from golem.data.unusable import unusable_error
from golem.data.variables import number_name
from golem.runtime.messages import quoted, shown

MAGIC = b"PAR1"
_WINDOWS, _SMALLEST_WINDOW = 1 << 24, 1 << 14
# Per column, the decoder holds a dictionary and a page; most programs write them with a megabyte each.
_DECODER = 1 << 21
# Dates in larger files (in bytes) are not counted.
_LARGEST_COUNTED = 1 << 24


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file, its size in bytes, all its columns, and the markers of missing values (only numbers matter)."""

    path: Path
    size: int
    names: tuple[str, ...]
    na: Markers = NO_MARKERS
    made_up_names = False
    has_types = True

    @classmethod
    def open(cls, path: Path, na: Sequence[str] = ()) -> ParquetFile:
        """Read the schema."""
        with opened_parquet(path) as file:
            names = tuple(file.schema_arrow.names)
        return cls(path, path.stat().st_size, names, Markers.of(na, names))

    def require_numeric(self, columns: Sequence[int]) -> None:
        """Raise a ValueError if columns are not numeric."""
        with opened_parquet(self.path) as file:
            schema = file.schema_arrow  # converted at each access
            kinds = {j: schema.field(j).type for j in columns}
            text = [j for j in columns if not is_numeric(kinds[j])]
            # Only the first ones are shown with an example.
            examples = [self._example(file, j) if k < 8 else None for k, j in enumerate(text)]
        if text and all(is_date(kinds[j]) for j in text):
            first = ["" if example is None else str(example) for example in examples]
            counts = self._counts(text)
            raise unusable_error([dates(self.names[j], one, counts[j]) for j, one in zip(text, first, strict=True)])
        if text:
            such = ["" if example is None else f", such as {shown(example)}" for example in examples]
            found = {self.names[j]: f"type {kinds[j]}{example}" for j, example in zip(text, such, strict=True)}
            error = not_numeric(found, len(columns))
            error.columns = ()  # these types are not those of categories
            raise error

    def _counts(self, columns: Sequence[int]) -> dict[int, dict[str, int]]:
        """Count the values of columns, for the summary of the table; none if the file is large."""
        found: dict[int, dict[str, int]] = {j: {} for j in columns}
        if self.size <= _LARGEST_COUNTED:
            for j in columns:
                try:
                    parts = [cells for piece in self.pieces(1) for (cells,) in self.cells(piece, [j])]
                except (OverflowError, ValueError):  # a date that Python cannot represent
                    continue
                found[j] = dict(sum(map(Counter, parts), Counter()))
        return found

    def _example(self, file: Any, column: int) -> Any:
        """Return a value of a column, if the first batch has one."""
        for batch in file.iter_batches(1024, columns=[self.names[column]]):
            values = batch.column(0).drop_null()
            try:
                return values[0].as_py() if len(values) else None
            except (OverflowError, ValueError):  # a date that Python cannot represent
                return None
        return None

    def memory(self, d: int) -> int:
        """Estimate the bytes of memory for reading d columns: the decoder, the windows and a decoded batch."""
        return d * _DECODER + _WINDOWS + 8 * d * batch_rows(d)

    def pieces(self, d: int) -> list[Piece]:
        """Divide the file into pieces of consecutive row groups with about equal bytes."""
        with opened_parquet(self.path) as file:
            metadata = file.metadata
            groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
        rows_in_all = sum(group.num_rows for group in groups)
        pieces, first, gathered, rows, begin, step = [], 0, 0, 0, 0, piece_bytes(d)
        for k, group in enumerate(groups):
            gathered += group.total_byte_size
            rows += group.num_rows
            if gathered >= step or k == len(groups) - 1:
                end = self.size * rows // rows_in_all if rows_in_all else self.size
                pieces.append(Piece(first, k + 1, begin, end))
                first, gathered, begin = k + 1, 0, end
        return pieces

    def texts(self, columns: Sequence[int]) -> frozenset[int]:
        """Return the columns of text, dictionaries or Booleans, and whole numbers that were categories when written."""
        return self._texts.intersection(columns)

    @functools.cached_property
    def _texts(self) -> frozenset[int]:
        with opened_parquet(self.path) as file:
            kinds, written = file.schema_arrow.types, _written_types(file)
        return frozenset(j for j, kind in enumerate(kinds) if is_category(kind) or _has_codes(written[j]))

    def number_in(self, cell: str, name: str) -> str | None:
        """Return the name of the number in a value of a column, "" if it is missing, or None if it is text."""
        if self.na.is_missing(cell, name):
            return ""
        number = None if self.names.index(name) in self._texts else parsed(cell)
        return None if number is None else self.na.number_name(number, name)

    def cells(self, piece: Piece, columns: Sequence[int]) -> Iterator[list[dict[str, int]]]:
        """Count the values of columns, as texts."""
        names = [self.names[j] for j in columns]
        with opened_parquet(self.path) as file:
            for k in range(piece.first, piece.last):
                for batch in self._group(file, k, names):
                    yield [count_cells(*_different_cells(batch, name)) for name in names]

    def batches(
        self, piece: Piece, columns: Sequence[int], levels: Mapping[int, Sequence[str]] = NO_LEVELS
    ) -> Iterator[Batch]:
        """Read the columns at these positions, in this order, from the row groups of a piece.

        `levels` has the levels of columns of text, which are read as codes.
        """
        names, texts = [self.names[j] for j in columns], [j for j in columns if j in levels]
        numbers = [self.names[j] for j in columns if j not in levels]
        # Row groups can be large: read a window of each column, not all of its bytes.
        with opened_parquet(
            self.path, buffer_size=max(_SMALLEST_WINDOW, _WINDOWS // len(columns)), pre_buffer=False
        ) as file:
            metadata = file.metadata
            sizes = [metadata.row_group(k).num_rows for k in range(piece.last)]
            start, rows_in_piece = sum(sizes[: piece.first]), sum(sizes[piece.first :])
            done, begin = 0, piece.begin
            for k in range(piece.first, piece.last):
                for batch in self._group(file, k, names):
                    place = partial(_place, start + done, f"row group {k + 1} of {metadata.num_row_groups}")
                    done += batch.num_rows
                    end = piece.begin + (piece.end - piece.begin) * done // rows_in_piece
                    found = make_batch(batch.select(numbers), numbers, self.na, begin, end, place)
                    if texts:
                        cells = {j: _different_cells(batch, self.names[j]) for j in texts}
                        found = with_texts(found, cells, columns, names, levels)
                    yield found
                    begin = end

    def _group(self, file: Any, k: int, names: list[str]) -> Iterator[Any]:
        """Read one row group; raise a ValueError if it cannot be decoded."""
        import pyarrow as pa

        try:
            # Other pieces keep the cores busy, so that threads in the decoder would only wait for each other.
            for batch in file.iter_batches(batch_rows(len(names)), [k], names, use_threads=False):
                if batch.num_rows:
                    yield batch
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"Row group {k + 1} of {file.metadata.num_row_groups} cannot be read ({first_line(error)}). The file "
                "may be damaged."
            ) from None


def _different_cells(batch: Any, name: str) -> tuple[list[str | None], NDArray[np.intp]]:
    """Return `different_cells` of a column of categories or labels; raise a ValueError for lists and the like."""
    import pyarrow as pa

    try:
        return different_cells(batch[name], _text)
    except pa.ArrowNotImplementedError:
        kind = batch[name].type
        raise ValueError(f"Column {quoted([name])} has values of type {kind}, which are not categories.") from None


def _text(value: Any) -> str:
    """Return the text of a value; a whole number has no decimals."""
    return number_name(value) if isinstance(value, float) else str(value)


def _written_types(file: Any) -> list[Any]:
    """Return the types of the columns in the program that wrote the file; PyArrow reads codes as plain numbers."""
    import pyarrow as pa

    schema, written = file.schema_arrow, (file.metadata.metadata or {}).get(b"ARROW:schema")
    stored = schema if written is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(written)))
    return list(stored.types if stored.names == schema.names else schema.types)


def _has_codes(kind: Any) -> bool:
    """Return whether a type is that of a category whose levels are whole numbers."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind) and pa.types.is_integer(kind.value_type))


def _place(start: int, group: str, row: int) -> str:
    return f"row {start + row + 1} ({group})"


def opened_parquet(path: Path, **options: Any) -> Any:
    """Open a Parquet file; a truncated file lacks its footer and cannot be opened."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError("The content of the file is not Parquet, although its name says so.")
    try:
        return pq.ParquetFile(path, page_checksum_verification=True, **options)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"The Parquet file cannot be read ({first_line(error)}). It may be truncated.") from None
