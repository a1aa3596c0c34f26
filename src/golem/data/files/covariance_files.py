"""Covariance matrices in text files: those of Tetrad (number of rows, names, lower triangle), and tables with names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from golem.data.files.batches import naming
from golem.data.files.csv_format import split_line
from golem.data.moments import Moments
from golem.data.table_input import parsed
from golem.runtime.files import DECIMAL_COMMA
from golem.runtime.messages import counted, quoted, suggestion
from golem.runtime.names import column_names, positions
from golem.runtime.problems import Bare, ProblemError, Set
from golem.runtime.types import Matrix

_SAMPLE_BYTES = 1 << 16
_HEADING = re.compile(r"/covariance\s*", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]{1,15}")
_NO_MATRIX = "The file is not a covariance matrix"


def is_tetrad_covariance(path: str | Path) -> bool:
    """Return whether a file begins as a covariance file of Tetrad: a number of rows, names, then one number."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
    try:
        lines = _lines(sample.decode("utf-8-sig", "ignore"))
    except ValueError:
        return False
    if lines and _HEADING.fullmatch(lines[0]):
        return True
    if len(lines) < 4 or not _COUNT.fullmatch(lines[0].strip()):
        return False
    names, first = _split(lines[1]), _split(lines[2])
    return len(names) > 1 and not any(map(_is_number, names)) and len(first) == 1 and _is_number(first[0])


def read_covariance(
    path: str | Path,
    rows: int | None = None,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> Moments:
    r"""Read a covariance or correlation matrix as moments.

    Parameters
    ----------
    path : str or Path
        A covariance file of Tetrad (number of rows, names, lower triangle), or a table: names in the first line, and
        in the first column if there is one more; all of the matrix, or its lower triangle.
    rows : int, optional
        Number of rows from which the matrix was computed; a file of Tetrad contains it. Whether the sums were divided
        by it or by one less does not matter for the graph.
    columns : sequence of str, optional
        Columns to use, in this order; by default all.
    drop : sequence of str
        Columns to ignore.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "cov.txt")
    ...     _ = path.write_text("100\na b\n1\n.5 1\n")
    ...     moments = read_covariance(path)
    >>> moments.n, moments.names, float(moments.covariance[0, 1])
    (100, ('a', 'b'), 0.5)
    """
    return CovarianceFile.read(path, rows).moments(columns, drop)


@dataclass(frozen=True, eq=False)
class CovarianceFile:
    """The content of a file: the names of all columns, their covariance, and the number of rows behind it."""

    path: Path
    names: tuple[str, ...]
    covariance: Matrix
    n: int

    @classmethod
    def read(cls, path: str | Path, rows: int | None = None) -> CovarianceFile:
        """Read a file; see `read_covariance`."""
        path = Path(path)
        with naming(path):
            try:
                lines = _lines(path.read_bytes().decode("utf-8-sig"))
            except UnicodeDecodeError:
                raise ValueError(f"{_NO_MATRIX}: it is not text in UTF-8.") from None
            heading = bool(lines) and _HEADING.fullmatch(lines[0]) is not None
            lines = lines[heading:]
            n = _rows_of(lines, rows, heading)
            if lines and _COUNT.fullmatch(lines[0].strip()) and (heading or len(_split(lines[0])) == 1):
                lines = lines[1:]
            return cls(path, *_matrix(lines), n)

    def moments(self, columns: Sequence[str] | None = None, drop: Sequence[str] = ()) -> Moments:
        """Return the moments of some columns; by default of all."""
        with naming(self.path):
            chosen = _chosen(self.names, columns, drop)
            index = positions(chosen, self.names)
            return Moments.from_covariance(self.covariance[np.ix_(index, index)], self.n, names=chosen)


def _lines(text: str) -> list[str]:
    """Return the lines that are neither blank nor comments."""
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("//", "#"))]


def _rows_of(lines: list[str], rows: int | None, heading: bool) -> int:
    """Return the number of rows, from the first line or as given; raise a ValueError if it is unknown."""
    stated = int(lines[0]) if lines and _COUNT.fullmatch(lines[0].strip()) else None
    if rows is not None and stated is not None and rows != stated:
        raise ProblemError.of(
            "The file states {stated} rows, but you gave {rows=}. Remove {rows=...}.",
            stated=stated,
            rows=Bare(f"{rows}"),
        )
    if rows is None and stated is None:
        where = "in the line after /covariance, or " if heading else ""
        raise ProblemError.of(
            "The number of rows behind the covariance is unknown. Give it {where}with {rows=N}.", where=where
        )
    return rows if rows is not None else stated or 0


def _matrix(lines: list[str]) -> tuple[tuple[str, ...], Matrix]:
    """Read names and numbers; of a lower triangle, the upper one is its mirror image."""
    separator = _separator(lines[-1]) if lines else " "  # a lower triangle begins with lines of one number
    cells = [split_line(line, separator) for line in lines]
    if cells and len(cells[0]) == 1:
        cells[0] = _split(lines[0])
    has_header = bool(cells) and not all(_is_number(field) or not field for field in cells[0])
    header, body = (cells[0], cells[1:]) if has_header else ([], cells)
    d = len(body)
    if not d:
        raise ValueError(f"{_NO_MATRIX}: it has no lines of numbers.")
    header = header[1:] if len(header) == d + 1 else header
    if header and len(header) != d:
        raise ProblemError(
            f"A covariance matrix must be square; found {counted(d, 'row')} and "
            f"{counted(len(header), 'column')}. If these are data, read them as a table, without ",
            Set("covariance", True),
            ".",
        )
    names = column_names(header or None, d)
    # In a lower triangle, only the last row is complete.
    if len(body[-1]) == d + 1 or not _is_number(body[0][0]):
        rows = [row[0] for row in body]
        if header and rows != list(names):
            raise ValueError(f"{_NO_MATRIX}: the rows are named {quoted(rows)}, the columns {quoted(names)}.")
        names, body = column_names(rows, d), [row[1:] for row in body]
    S = np.full((d, d), np.nan)
    for i, given in enumerate(body):
        if len(given) not in (i + 1, d):
            raise ValueError(
                f"{_NO_MATRIX}: row {i + 1} of {d} has {counted(len(given), 'number')}. Expected {d}, or {i + 1} in a "
                "lower triangle."
            )
        for j, field in enumerate(given):
            if field:
                S[i, j] = _number(field, names[i], names[j])
    return names, np.where(np.isnan(S), S.T, S)


def _chosen(names: tuple[str, ...], columns: Sequence[str] | None, drop: Sequence[str]) -> list[str]:
    """Return the names to use."""
    for name in (*(columns or ()), *drop):
        if name not in names:
            raise ValueError(f"There is no column {name!r}. {suggestion(name, names, 'columns')}")
    return [name for name in (names if columns is None else columns) if name not in drop]


def _split(line: str) -> list[str]:
    return split_line(line, _separator(line))


def _separator(line: str) -> str:
    """Return the separator of a line: a tab, or else a semicolon, a comma or a blank."""
    return next((mark for mark in "\t;," if mark in line), " ")


def _is_number(field: str) -> bool:
    return parsed(_with_point(field)) is not None


def _with_point(field: str) -> str:
    return field.replace(",", ".") if DECIMAL_COMMA.fullmatch(field) else field


def _number(field: str, row: str, column: str) -> float:
    """Return the number of a field, or raise a ValueError."""
    number = parsed(_with_point(field))
    if number is None:
        raise ValueError(f"{_NO_MATRIX}: the value {quoted([field])} of {row!r} and {column!r} is not a number.")
    return number
