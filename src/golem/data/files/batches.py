"""Batches of rows, the pieces of files that they come from, and what both file formats share."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.files.markers import MISSING_WORDS, Markers, without_blanks
from golem.data.files.standard_input import source_name
from golem.data.missing import add_markers
from golem.runtime.dialects import FILES
from golem.runtime.problems import placed
from golem.runtime.types import Vector

_BYTES, _MOST_ROWS, _LARGEST_BLOCK = 1 << 25, 1 << 16, 1 << 27


def batch_rows(d: int) -> int:
    """Return the number of rows per batch: some megabytes, and enough that merging costs less than the product."""
    return min(_MOST_ROWS, max(_BYTES // (8 * d), d))


def block_bytes(d: int) -> int:
    """Return the bytes of text per batch, by the same reasoning; a number takes about 20 bytes."""
    return max(_BYTES // 8, min(_LARGEST_BLOCK, 4 * 20 * d * d))


def piece_bytes(d: int) -> int:
    """Return the bytes per task: many compared with the d^2 numbers of its result."""
    return max(_BYTES, 64 * d * d)


# Columns of text by position in the file, and their levels.
NO_LEVELS: Mapping[int, Sequence[str]] = {}


@dataclass(frozen=True)
class Piece:
    """A part of a file: a range of its bytes (text) or row groups (Parquet), and its share of the file in bytes."""

    first: int
    last: int
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a file as columns (NaN is missing), and their share of the file in bytes.

    `place` describes where a row is, such as "line 17". There are no columns if no line begins in this part. `markers`
    has the number of missing cells per column and marker (see `golem.data.missing.Missing`).
    """

    columns: list[Vector]
    begin: int
    end: int
    place: Callable[[int], str]
    markers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def as_floats(column: Any) -> Vector:
    """Turn an Arrow column of numbers into NumPy floats, nulls into NaN, if possible without a copy."""
    import pyarrow as pa

    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)  # integers beyond 2^53 are rounded
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not column.null_count:
        return np.asarray(np.from_dlpack(column), dtype=np.float64)  # to_numpy would import pandas
    values: Vector = column.to_numpy(zero_copy_only=False)
    return values


def make_batch(
    table: Any,
    names: Sequence[str],
    na: Markers,
    begin: int,
    end: int,
    place: Callable[[int], str],
    marks: Mapping[str, Mapping[str, int]] | None = None,
) -> Batch:
    """Return the batch of an Arrow table whose columns have these names; `marks` counts the markers that are text."""
    columns = []
    markers: Mapping[str, Mapping[str, int]] = marks or {}
    for column, name in zip(table.columns, names, strict=True):
        values, codes = na.without_codes(as_floats(column), name)
        columns.append(values)
        if codes:
            markers = add_markers(markers, {name: codes})
    return Batch(columns, begin, end, place, markers)


def different_cells(column: Any, name: Callable[[Any], str] = str) -> tuple[list[str | None], NDArray[np.intp]]:
    """Return the different values of an Arrow column as texts, None for nulls, and for each row which it has.

    The texts are as they were written; see `without_blanks` for those that are the same level.
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    cells = [None if value is None else name(value) for value in column.dictionary.to_pylist()]
    # fill_null and to_numpy would import pandas.
    indices = column.indices.fill_null(len(cells)) if column.indices.null_count else column.indices
    return [*cells, None], np.asarray(np.from_dlpack(indices)).astype(np.intp)


def count_cells(cells: Sequence[str | None], rows: NDArray[np.intp]) -> dict[str, int]:
    """Count the rows of each text; see `different_cells`."""
    counts: dict[str, int] = {}
    for cell, count in zip(cells, np.bincount(rows, minlength=len(cells)).tolist(), strict=True):
        if cell is not None and count:
            counts[cell] = counts.get(cell, 0) + count
    return counts


def with_texts(
    batch: Batch,
    texts: Mapping[int, tuple[Sequence[str | None], NDArray[np.intp]]],
    positions: Sequence[int],
    names: Sequence[str],
    levels: Mapping[int, Sequence[str]],
) -> Batch:
    """Add the codes of categories to a batch of numbers.

    `texts` has the different cells of a category by its position in the file, None if missing, and for each row which
    of them it has. `positions` are those of all columns, `names` their names. A cell that is not a level is missing.
    """
    numbers, columns = iter(batch.columns), []
    markers: Mapping[str, Mapping[str, int]] = batch.markers
    for j, name in zip(positions, names, strict=True):
        if j not in texts:
            columns.append(next(numbers))
            continue
        written, rows = texts[j]
        cells = [None if cell is None else without_blanks(cell) for cell in written]
        code = {level: float(k) for k, level in enumerate(levels[j])}
        codes = [np.nan if cell is None else code.get(cell, np.nan) for cell in cells]
        columns.append(np.array(codes, dtype=float)[rows])
        found = {cell: n for cell, n in count_cells(cells, rows).items() if cell not in code}
        # The word "none" may have been meant as a level.
        marked = {cell: n for cell, n in found.items() if cell not in MISSING_WORDS or cell.lower() == "none"}
        if marked:
            markers = add_markers(markers, {name: marked})
    return dataclasses.replace(batch, columns=columns, markers=markers)


def is_numeric(kind: Any) -> bool:
    """Return whether an Arrow type is numeric; Booleans become 0 and 1, and a column of nulls is missing throughout."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    return any(test(kind) for test in tests)


def is_category(kind: Any) -> bool:
    """Return whether an Arrow type is that of a category: text, a dictionary, or Booleans."""
    import pyarrow as pa

    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(kind) for test in (*text, pa.types.is_dictionary, pa.types.is_boolean))


def is_date(kind: Any) -> bool:
    """Return whether an Arrow type is a date, a time or a duration."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind))


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of the file before error messages."""
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"{source_name(path)}: There is no such file.") from None
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise ValueError(f"{source_name(path)}: The file cannot be read ({reason}).") from None
    except ValueError as error:
        raise placed(error, source_name(path), FILES) from None


def first_line(error: Exception) -> str:
    """Return the first line of an error message, or the type of the error if it has no message."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
