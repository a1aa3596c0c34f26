"""Lists of records that print as tables."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any, SupportsIndex, TypeVar, overload

from golem.runtime.messages import printable

Record = TypeVar("Record", bound=tuple[Any, ...])
_MOST_ROWS = 30


class Records(list[Record]):
    """A list of named tuples that prints as a table; `pandas.DataFrame(records)` makes a table to compute with.

    Columns in which every record has the default value are not printed.

    Examples
    --------
    >>> from golem.directions.learned_graph import EdgeRecord
    >>> Records([EdgeRecord("age", "bp", 0.25, True, "structure"), EdgeRecord("bmi", "bp", -1.5, False, "none")])
    source  target  weight  directed  direction_from
    age     bp        0.25  True      structure
    bmi     bp        -1.5  False     none
    """

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Record: ...
    @overload
    def __getitem__(self, index: slice, /) -> Records[Record]: ...
    def __getitem__(self, index: Any, /) -> Any:
        found = super().__getitem__(index)
        return Records(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        if not self:
            return "[]"
        padded = []
        for is_number, cells in self._columns():
            width = max(map(len, cells))
            padded.append([cell.rjust(width) if is_number else cell.ljust(width) for cell in cells])
        lines = ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]
        return "\n".join([*lines, *self._left_out()])

    def _repr_html_(self) -> str:
        if not self:
            return "[]"
        rows = zip(*(cells for _, cells in self._columns()), strict=True)
        tags = ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
        return f"<table>{''.join(tags)}</table>{''.join(self._left_out())}"

    def _columns(self) -> Iterator[tuple[bool, list[str]]]:
        """Yield for each column whether it has numbers, and its cells after its name."""
        record: Any = self[0]
        fields, defaults = record._fields, record._field_defaults
        for k, name in enumerate(fields):
            values = [record[k] for record in self]
            if name in defaults and all(value == defaults[name] for value in values):
                continue
            is_number = not any(isinstance(value, str | bool) for value in values)
            yield is_number, [name, *map(_cell, values[:_MOST_ROWS])]

    def _left_out(self) -> list[str]:
        """Return a line that counts the records that are not printed, if there are any."""
        return [f"... and {len(self) - _MOST_ROWS} more"] if len(self) > _MOST_ROWS else []


def _cell(value: Any) -> str:
    """Return a value as text; nothing for None and NaN."""
    if value is None or value != value:
        return ""
    return printable(f"{value:.4g}" if isinstance(value, float) else str(value))
