"""Markers of missing values in files: the usual ones, and those that the user names for all columns or for one.

Whether a cell is missing depends only on the cell and its column, never on other cells. So the result does not depend
on how a file is cut into pieces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from golem.data.table_input import parsed
from golem.data.variables import number_name
from golem.runtime.files import DECIMAL_COMMA
from golem.runtime.messages import quoted, suggestion
from golem.runtime.problems import ProblemError, Set
from golem.runtime.types import Vector

_WORDS = ("", "na", "nan", "n/a", "null", "none", "#n/a")
# White space, without the control characters that separate records: these are not blanks but damage.
_BLANKS = "".join(chr(k) for k in range(0x3001) if chr(k).isspace() and not 0x1C <= k <= 0x1F)
# Words that are missing values in every table.
MISSING_WORDS = frozenset({"NaN", *(spelling for word in _WORDS for spelling in (word, word.upper(), word.title()))})
# Marks that are missing values, too. A column with other text is refused, so they are the only ones among its numbers.
MISSING_MARKS = frozenset({"*", "?", ".", "-"})
# Markers of missing values in other programs, in lower case: Stata, statistical offices, databases, spreadsheets.
USUAL_MARKERS = ("..", "--", "missing", "unknown", "nil", "(null)", r"\n", "n.a.", "<na>", "#na", "#div/0!", "#value!",
                 "#ref!", "#num!")  # fmt: skip


def without_blanks(cell: str) -> str:
    r"""Return a cell without the blanks around it, as all readers of text understand it.

    Examples
    --------
    >>> without_blanks(" a b\u00a0"), without_blanks("\x1e0.5")
    ('a b', '\x1e0.5')
    """
    return cell.strip(_BLANKS)


@dataclass(frozen=True)
class Markers:
    """The markers that the user named: for all columns, and for single ones as (column, marker)."""

    everywhere: tuple[str, ...] = ()
    in_columns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, na: Sequence[str], names: Sequence[str]) -> Markers:
        """Read markers such as "-999", or "age=-999" if `age` is one of the columns.

        Examples
        --------
        >>> Markers.of(["-999", "age=0"], ["age", "height"])
        Markers(everywhere=('-999',), in_columns=(('age', '0'),))
        """
        known = set(names)
        everywhere, in_columns = [], []
        for text in na:
            parts = text.split("=")
            splits = (("=".join(parts[:k]), "=".join(parts[k:])) for k in range(1, len(parts)))
            pair = next(((column.strip(), marker) for column, marker in splits if column.strip() in known), None)
            if pair is not None:
                in_columns.append(pair)
            elif text not in MISSING_WORDS:
                everywhere.append(text)
        return cls(tuple(everywhere), tuple(in_columns))

    @property
    def texts(self) -> list[str]:
        """All markers that are not numbers, of whatever columns."""
        markers = dict.fromkeys([*self.everywhere, *(marker for _, marker in self.in_columns)])
        return [marker for marker in markers if math.isnan(_code(marker))]

    def of_column(self, name: str) -> tuple[str, ...]:
        """Return the markers of a column."""
        if not self.in_columns:
            return self.everywhere
        own = (marker for column, marker in self.in_columns if column == name)
        return tuple(dict.fromkeys([*self.everywhere, *own]))

    def is_missing(self, cell: str, name: str) -> bool:
        """Return whether the text of a cell means a missing value in a column."""
        return cell in MISSING_WORDS or cell in MISSING_MARKS or cell in self.of_column(name)

    def number_name(self, number: float, name: str) -> str:
        """Return the name of a number as a level of a column, "" if it is missing there."""
        is_missing = math.isnan(number) or any(number == _code(marker) for marker in self.of_column(name))
        return "" if is_missing else number_name(number)

    def without_codes(self, values: Vector, name: str) -> tuple[Vector, dict[str, int]]:
        """Replace numbers that are markers of a column, such as -999, by NaN; also return their counts."""
        found = {}
        for marker in self.of_column(name):
            same = values == _code(marker)  # false for NaN, which stands for text
            if same.any():
                values, found[marker] = np.where(same, np.nan, values), int(same.sum())
        return values, found

    def require_found(self, found: Mapping[str, Mapping[str, int]], names: Sequence[str]) -> None:
        """Raise a ValueError if a marker matches no cell of these columns; `found` has counts per column and marker."""
        anywhere = {marker for markers in found.values() for marker in markers}
        lacking = [marker for marker in self.everywhere if marker not in anywhere]
        lacking += [f"{column}={marker}" for column, marker in self.in_columns if marker not in found.get(column, {})]
        if not lacking:
            return
        column, equals, _ = lacking[0].partition("=")
        if equals and lacking[0] in self.everywhere:
            hint = suggestion(column, names, "columns")
            raise ProblemError(Set("na", lacking[:1]), f" cannot be used: There is no column {column!r}. {hint}")
        markers = "marker" if len(lacking) == 1 else "markers"
        what = f"No value of the columns used is {quoted(lacking)}. Remove the {markers}: "
        raise ProblemError(what, Set("na", lacking), ".")


NO_MARKERS = Markers()


def _code(marker: str) -> float:
    """Return the number that a marker stands for, or NaN."""
    number = parsed(marker.replace(",", ".") if DECIMAL_COMMA.fullmatch(marker) else marker)
    return math.nan if number is None else number
