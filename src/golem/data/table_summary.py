"""A summary of a table before the fit: type, missing values, different values and range of each column."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from golem.data.column_patterns import as_patterns
from golem.data.levels import are_few_integers, note_of_codes, note_of_texts
from golem.data.unusable import Unusable
from golem.data.variables import FEW_VALUES, Coding, Kind, number_levels
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import Set, Text
from golem.runtime.progress import ProgressDisplay
from golem.runtime.types import Matrix, Vector

# Columns in the text of a summary, and levels of a category in it.
_MOST_COLUMNS, _MOST_LEVELS = 30, 4
_LONGEST_NAME = 30
# Names of columns that often say which experiment a row comes from.
_NAMES_OF_LABELS = {"batch", "condition", "environment", "experiment", "treatment"}
_KINDS = {"numeric": "number", "category": "category", "date": "date", "text": "text"}


@dataclass(frozen=True)
class ColumnSummary:
    """What a column contains.

    Parameters
    ----------
    name : str
        The column.
    kind : {"numeric", "category", "text", "date"}
        Its type; texts and dates cannot be used.
    missing : int, optional
        Number of missing values; None if it is not known.
    values : int, optional
        Number of different values; None if the rows are not in memory.
    low, high : float, optional
        Smallest and largest number.
    levels : tuple of (str, int)
        Levels of a category and their numbers of rows, the most frequent first.
    may_be_codes : bool
        Whether it has few different whole numbers, and golem chose its type: they may be numbers, or codes of a
        category.
    """

    name: str
    kind: Kind | Literal["text", "date"]
    missing: int | None = 0
    values: int | None = None
    low: float | None = None
    high: float | None = None
    levels: tuple[tuple[str, int], ...] = ()
    may_be_codes: bool = False

    @property
    def content(self) -> str:
        """The range of numbers, or the most frequent levels."""
        if self.levels:
            return shortened([f"{_short(level)} ({count})" for level, count in self.levels], _MOST_LEVELS)
        return "" if self.low is None or self.high is None else f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class TableSummary:
    """A summary of a table.

    Parameters
    ----------
    rows : int
        Number of rows, including those with missing values.
    columns : tuple of ColumnSummary
        The columns.
    sampled : int, optional
        Number of rows from which values, ranges and levels were counted, if not all of them.
    padded : tuple of str
        Columns of numbers with leading zeros, which may be codes such as postcodes.
    chosen : tuple of str
        Columns whose type was chosen by the user.
    """

    rows: int
    columns: tuple[ColumnSummary, ...]
    sampled: int | None = None
    padded: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        coding: Coding,
        rows: int,
        values: Matrix | None,
        missing: Mapping[str, int] | None = None,
        chosen: Collection[str] = (),
        padded: Collection[str] = (),
    ) -> TableSummary:
        """Summarize a table.

        Parameters
        ----------
        coding : Coding
            The variables.
        rows : int
            Number of all rows.
        values : ndarray of shape (r, d), optional
            Coded rows, all or a sample of them.
        missing : mapping of str to int, optional
            Number of missing values per column, for columns that have any; by default counted in the values.
        chosen : collection of str
            Columns whose type was chosen by the user.
        padded : collection of str
            Columns of numbers with leading zeros.

        Examples
        --------
        >>> print(TableSummary.of(Coding.numeric(["a", "b"]), 2, np.array([[1.0, 2.0], [3.5, np.nan]])).text())
        Table: 2 rows, 2 columns (2 numbers)
        column  type    missing  distinct  range
        a       number        0         2  1 to 3.5
        b       number        1         1  2 to 2
        """
        columns = []
        for j, variable in enumerate(coding.variables):
            column = None if values is None else values[:, j]
            absent = 0 if column is None else int(np.isnan(column).sum())
            absent = absent if missing is None else missing.get(variable.name, 0)
            found = {} if column is None else _content(column, variable.levels, variable.name in chosen)
            columns.append(ColumnSummary(variable.name, variable.kind, absent, **found))  # type: ignore[arg-type]
        sampled = None if values is None or len(values) == rows else len(values)
        return cls(rows, tuple(columns), sampled, tuple(padded), tuple(chosen))

    def with_unusable(self, found: Sequence[Unusable], names: Sequence[str]) -> TableSummary:
        """Add identifiers and dates, which are not variables, in the order of the names of all columns."""
        columns = {column.name: column for column in self.columns}
        for column in found:
            if not column.sentence:  # constant or determined by others, and so a variable
                continue
            ranked = tuple(sorted(column.values.items(), key=lambda pair: -pair[1]))
            absent = self.rows - sum(column.values.values()) if ranked else None  # there may be too many to count them
            counts = {"missing": absent, "values": len(ranked) or None, "levels": ranked}
            columns[column.name] = ColumnSummary(column.name, column.kind, **counts)  # type: ignore[arg-type]
        return replace(self, columns=tuple(columns[name] for name in names if name in columns))

    def text(self) -> str:
        """Return the summary as lines of text, with the first columns of a wide table."""
        heading = "range or levels" if any(column.levels for column in self.columns) else "range"
        lines = [("column", "type", "missing", "distinct", heading)]
        for column in self.columns[:_MOST_COLUMNS]:
            values = "" if column.values is None else str(column.values)
            missing = "" if column.missing is None else str(column.missing)
            lines.append((_short(column.name), _KINDS[column.kind], missing, values, column.content))
        more = len(self.columns) - _MOST_COLUMNS
        end = [f"... and {counted(more, 'more column')}"] if more > 0 else []
        if self.sampled is not None:
            end.append(f"Values and ranges are those of {self.sampled} rows.")
        return "\n".join([f"Table: {self.about}", *_aligned(lines), *end])

    @property
    def about(self) -> str:
        """The numbers of rows and columns."""
        kinds = [column.kind for column in self.columns]
        parts = [counted(kinds.count("numeric"), "number")] if "numeric" in kinds else []
        if "category" in kinds:
            count = kinds.count("category")
            parts.append("1 category" if count == 1 else f"{count} categories")
        parts += [counted(kinds.count(kind), kind) for kind in ("date", "text") if kind in kinds]
        return f"{counted(self.rows, 'row')}, {counted(len(kinds), 'column')} ({', '.join(parts)})"

    def show(self, progress: ProgressDisplay) -> None:
        """Report the summary and its notes."""
        for text in (self.text(), *self.choices):
            progress.table(text)
        for note in self.notes[len(self.choices) :]:
            progress.note(note)

    @property
    def notes(self) -> list[str]:
        """Sentences about columns whose use may be another: codes, numbers with text, and labels of experiments."""
        notes = self.choices
        categories = [column for column in self.columns if column.kind == "category" and column.name not in self.chosen]
        texts = note_of_texts({column.name: dict(column.levels) for column in categories})
        notes += [texts] if texts else []
        if zeros := [c.name for c in self.columns if c.name in self.padded and c.kind == "numeric"]:
            which = f"Column {zeros[0]!r} has" if len(zeros) == 1 else f"Columns {quoted(zeros)} have"
            are, them = ("was", "it is a code") if len(zeros) == 1 else ("were", "they are codes")
            what = f"{which} leading zeros and {are} read as numbers. If {them}, such as a postcode, use "
            notes.append(Text(what, Set("categorical", zeros), "."))
        for column in self.columns:
            if column.kind == "category" and column.name.strip().casefold() in _NAMES_OF_LABELS:
                what = f"If {column.name!r} says which experiment a row comes from, use "
                notes.append(Text(what, Set("environment", column.name), " and ", Set("targets"), "."))
        return notes

    @property
    def choices(self) -> list[str]:
        """The sentence about columns of few whole numbers, if there are any: how to turn them into categories."""
        codes, names = self._codes, [column.name for column in self.columns]
        return [note_of_codes(codes, names=names)] if codes else []

    @property
    def codes(self) -> list[str]:
        """Columns, or patterns of their names, whose few whole numbers may be codes of categories."""
        return as_patterns(self._codes, [column.name for column in self.columns])

    @property
    def _codes(self) -> dict[str, int]:
        """The columns of few whole numbers, with the number of their values."""
        found = [column for column in self.columns if column.may_be_codes and column.name not in self.padded]
        return {column.name: column.values or 0 for column in found}


def _content(column: Vector, levels: Sequence[str], chosen: bool) -> dict[str, object]:
    """Describe the values of a column of numbers, or of codes of levels."""
    present = column[~np.isnan(column)]
    if levels:
        counts = np.bincount(present.astype(np.intp), minlength=len(levels)).tolist()
        ranked = sorted(zip(levels, counts, strict=True), key=lambda pair: -pair[1])
        return {"values": sum(count > 0 for count in counts), "levels": tuple(ranked)}
    if not len(present):
        return {"values": 0}
    values = len(np.unique(present))
    may_be_codes = not chosen and values <= FEW_VALUES and are_few_integers(number_levels(present))
    return {"values": values, "low": float(present.min()), "high": float(present.max()), "may_be_codes": may_be_codes}


def _short(text: str) -> str:
    """Return a name on one line, shortened if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 3]}..."


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Align the cells of lines: texts to the left, numbers to the right."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if k in (2, 3) else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
