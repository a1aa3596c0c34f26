"""Rows of a file as they come: a batch, the piece of the file it belongs to, and where its rows stand."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from golem.data.files.standard_input import source_name
from golem.runtime.types import Vector

_BYTES, _MOST_ROWS, _LARGEST_BLOCK = 1 << 25, 1 << 16, 1 << 27


def batch_rows(d: int) -> int:
    """Rows of d columns to take at once: some megabytes, and enough for a product that is dear beside its merge."""
    return min(_MOST_ROWS, max(_BYTES // (8 * d), d))


def block_bytes(d: int) -> int:
    """Bytes of text to parse at once, after the same thoughts; a number is about 20 bytes."""
    return max(_BYTES // 8, min(_LARGEST_BLOCK, 4 * 20 * d * d))


def piece_bytes(d: int) -> int:
    """Bytes of a task of the pass: many beside the d^2 numbers it makes of them."""
    return max(_BYTES, 64 * d * d)


@dataclass(frozen=True)
class Piece:
    """A part of a file that is read on its own.

    Parameters
    ----------
    first, last : int
        The range in the file's own units: bytes of a text, row groups of a Parquet file.
    begin, end : int
        The share of the file in bytes, which add up to its size.
    """

    first: int
    last: int
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a file; none where a stretch of it begins no line.

    Parameters
    ----------
    columns : list of ndarray
        The values of each column; missing ones are NaN.
    begin, end : int
        The bytes of the file that the rows stand for.
    place : callable
        Says in words where a row of the batch stands, such as "line 17".
    """

    columns: list[Vector]
    begin: int
    end: int
    place: Callable[[int], str]


def as_floats(column: Any, na: Sequence[str] = ()) -> Vector:
    """Turn an Arrow column of numbers into NumPy floats, without a copy where it holds such.

    Nulls become NaN, and so do numbers among the markers of missing values, such as -999.
    """
    import pyarrow as pa

    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)  # whole numbers beyond 2^53 are rounded, as everywhere
    values: Vector = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    numbers = [float(marker) for marker in na if _is_finite(marker)]
    return np.where(np.isin(values, numbers), np.nan, values) if numbers else values


def _is_finite(marker: str) -> bool:
    """Tell whether a marker is a number."""
    try:
        return math.isfinite(float(marker))
    except ValueError:
        return False


def is_numeric(kind: Any) -> bool:
    """Tell whether an Arrow type holds numbers; Booleans are 0 and 1, and a column of nulls is all missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    return any(test(kind) for test in tests)


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
        raise ValueError(f"{source_name(path)}: {error}") from None


def first_line(error: Exception) -> str:
    """Return the first line of a message, or the kind of error where there is none."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
