"""NumPy's .npy files, mapped into memory and read in batches of rows."""

from __future__ import annotations

import itertools
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from golem.data.files.batches import (
    NO_LEVELS,
    Batch,
    Piece,
    batch_rows,
    count_cells,
    first_line,
    piece_bytes,
    with_texts,
)
from golem.data.files.markers import NO_MARKERS, Markers
from golem.data.missing import add_markers
from golem.data.table_errors import row_number
from golem.data.variables import number_levels
from golem.runtime.arrays import as_floats
from golem.runtime.names import column_names

MAGIC = b"\x93NUMPY"
# The values of Booleans as texts; a bit is the position of its text.
_BOOLEANS = ["False", "True"]


# What NumPy raises on damaged headers, which it parses as Python.
_DAMAGE = (ValueError, EOFError, OSError, SyntaxError, TypeError, OverflowError, LookupError, AttributeError,
           MemoryError, tokenize.TokenError)  # fmt: skip


@dataclass(frozen=True)
class NpyFile:
    """An array of shape (rows, columns) in a .npy file, its size in bytes, and names made up for its columns.

    `offset`, `dtype` and `order` say where the array begins and how it is stored.
    """

    path: Path
    size: int
    names: tuple[str, ...]
    rows: int
    offset: int
    dtype: str
    order: Literal["C", "F"]
    na: Markers = NO_MARKERS
    made_up_names = True
    has_types = True

    @classmethod
    def open(cls, path: Path, na: Sequence[str] = ()) -> NpyFile:
        """Read the header of the file; raise a ValueError unless it is a table of real numbers."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of headers that Python 2 wrote
                array = np.lib.format.open_memmap(path, mode="r")
        except _DAMAGE as error:
            reason = first_line(error)[:100].partition(": <")[0]  # without the objects of Python's parser
            raise ValueError(f"The .npy file cannot be read ({reason}). It may be damaged.") from None
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise ValueError(
                f"A table must be an array of real numbers of shape (rows, columns); the file has type {array.dtype} "
                f"and shape {array.shape}. Save it with numpy.save(file, array.astype(float))."
            )
        names = column_names(None, array.shape[1])
        order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
        where = (array.offset, array.dtype.str, order)
        return cls(path, path.stat().st_size, names, len(array), *where, Markers.of(na, names))

    def require_numeric(self, columns: Sequence[int]) -> None:
        """Do nothing: an array of anything but numbers and Booleans cannot be opened."""

    def memory(self, d: int) -> int:
        """Estimate the bytes of memory for reading d columns."""
        return 8 * d * batch_rows(d)

    def pieces(self, d: int) -> list[Piece]:
        """Divide the file into pieces of consecutive rows."""
        step = max(1, piece_bytes(d) * self.rows // self.size) if self.rows else 1
        cuts = [*range(0, self.rows, step), self.rows]
        return [Piece(first, last, self._bytes(first), self._bytes(last)) for first, last in itertools.pairwise(cuts)]

    def texts(self, columns: Sequence[int]) -> frozenset[int]:
        """Return all columns of an array of Booleans, which are categories; other arrays hold numbers."""
        return frozenset(columns if self._is_boolean else ())

    @property
    def _is_boolean(self) -> bool:
        return np.dtype(self.dtype) == bool

    def number_in(self, cell: str, name: str) -> str | None:
        """Return the name of the number in a value of a column, "" if it is missing, or None for a Boolean."""
        if self._is_boolean:
            return "" if cell in self.na.of_column(name) else None
        return self.na.number_name(float(cell), name)

    def cells(self, piece: Piece, columns: Sequence[int]) -> Iterator[list[dict[str, int]]]:
        """Count the values of columns, as texts."""
        for begin, end, array in self._blocks(piece, len(columns)):
            if self._is_boolean:
                yield [count_cells(_BOOLEANS, array[begin:end, j].astype(np.intp)) for j in columns]
            else:
                yield list(map(number_levels, self._batch(array, begin, end, columns).columns))

    def batches(
        self, piece: Piece, columns: Sequence[int], levels: Mapping[int, Sequence[str]] = NO_LEVELS
    ) -> Iterator[Batch]:
        """Read the columns at these positions, in this order, from the rows of a piece.

        `levels` has the levels of Booleans that are categories, which are read as codes.
        """
        names, numbers = [self.names[j] for j in columns], [j for j in columns if j not in levels]
        for begin, end, array in self._blocks(piece, len(columns)):
            found = self._batch(array, begin, end, numbers)
            if levels:
                cells = {j: (_BOOLEANS, array[begin:end, j].astype(np.intp)) for j in columns if j in levels}
                found = with_texts(found, cells, columns, names, levels)
            yield found

    def _blocks(self, piece: Piece, d: int) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Divide the rows of a piece for reading d columns; yield the first and the last row, and the array."""
        array = np.memmap(self.path, self.dtype, "r", self.offset, (self.rows, len(self.names)), self.order)
        step = batch_rows(d)
        for begin in range(piece.first, piece.last, step):
            yield begin, min(piece.last, begin + step), array

    def _batch(self, array: NDArray[Any], begin: int, end: int, columns: Sequence[int]) -> Batch:
        """Read columns of numbers."""
        found = []
        markers: dict[str, dict[str, int]] = {}
        for j in columns:
            values = as_floats(array[begin:end, j].copy())
            values, codes = self.na.without_codes(values, self.names[j])
            found.append(values)
            markers = add_markers(markers, {self.names[j]: codes}) if codes else markers
        return Batch(found, self._bytes(begin), self._bytes(end), partial(_place, begin), markers)

    def _bytes(self, row: int) -> int:
        """Return the share of the file before a row, in bytes."""
        return self.size * row // self.rows if self.rows else 0


def _place(begin: int, row: int) -> str:
    return row_number(begin + row)
