"""Which columns are categories, and which levels they have: the rules, the errors and the warnings.

Text, Booleans and categorical types are categories. Numbers are numbers, whatever their values and the other columns
are. A few whole numbers may be codes of categories or answers on a scale; a note says how to change their type.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from golem.data.checks import DataWarning
from golem.data.column_patterns import as_patterns
from golem.data.files.csv_format import is_number
from golem.data.files.markers import NO_MARKERS, USUAL_MARKERS, without_blanks
from golem.data.table_input import eager_frame, is_table, parsed
from golem.data.unusable import Unusable, unusable_error
from golem.data.variables import FEW_VALUES, Coding, Variable
from golem.runtime.messages import counted, quoted, shortened, warn_user
from golem.runtime.names import column_names
from golem.runtime.problems import Declare, Set, Text

# Number of rows per level or cell.
LevelCounts = Mapping[str, int]
NO_COUNTS: LevelCounts = MappingProxyType({})
# Whole numbers may be codes if there are at most FEW_VALUES different ones, each in so many rows on average.
ROWS_PER_VALUE = 10
# Most columns with more values have more in these rows already, so that the others need not be counted.
_FIRST_ROWS = 100
# If at most this many cells of a numeric column contain text, the cells are at fault, not the column.
FEW_CELLS = 3
# A column of numbers with text in at most this share of its rows may be meant as numbers.
_LITTLE_TEXT = 0.1
# More markers of missing values are not listed in a sentence.
_MOST_MARKERS = 4
# Text with more levels than this, and than half of the rows, identifies rows.
_MANY_LEVELS = 20
# Each level is a column of a covariance, and more are names or numbers rather than categories.
_MOST_USED_LEVELS = 1000
# Levels with fewer rows are rare.
_RARE = 5
# More names and patterns are not listed in a command.
_MANY_NAMES = 20
# A scan of files stops at so many different texts in a column.
MOST_LEVELS = 50_000
_YEAR, _MONTH = r"(?:19|20)\d\d", r"(?:0?[1-9]|1[0-2])"
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([T ]\d{1,2}:\d{2}.*)?"
    rf"|{_YEAR}[-/]{_MONTH}|{_MONTH}[-/]{_YEAR}|{_YEAR}[- ]?Q[1-4]|Q[1-4][- ]?{_YEAR}"
)
# A time of day or a duration, also as Python and pandas write it: 3 days, 4:05:00.
_TIME = re.compile(r"(-?\d+ days?,? )?[+-]?\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?")
_OTHER_TYPES = "convert them to text or to the type 'category'. Otherwise convert them to floats to avoid this warning"
_TWO_VALUES = (
    "A column with two values can stay a number: once a table has categories, golem no longer uses the noise to find "
    "directions."
)
_OTHER_CONTAINER = (
    "give a DataFrame in which they have the type 'category'. Otherwise convert the array to floats to avoid this "
    "warning"
)
_WITH_UNIT = re.compile(r"[+-]?\d[\d.,]*\s*([^\d\s.,:/-][^\d]*)")
_OTHER_NUMBER = re.compile(r"[+-]?[$€£¥]?\s?[+-]?\d[\d\s.,']*\s?[%$€£¥]?")


def are_few_integers(counts: LevelCounts) -> bool:
    """Return whether numbers may be codes of categories: few different whole numbers in many rows each."""
    few = _are_few(len(counts), sum(counts.values()))
    return few and all(re.fullmatch(r"-?\d+", level) for level in counts)


def _are_few(values: int, rows: int) -> bool:
    """Return whether this many different values in this many rows may be codes."""
    return 1 < values <= FEW_VALUES and rows >= ROWS_PER_VALUE * values


def is_text(counts: LevelCounts, parse: Callable[[str], float | None] = parsed) -> bool:
    """Return whether a column with these cells is text, and not numbers with some other cells.

    In a column of numbers these cells are errors: at most three texts, markers of missing values such as "unknown",
    limits such as "<0.01", any text next to decimals, and numbers in another notation, such as 1,234. The words "nan"
    and "inf" alone do not make a column one of numbers.
    """
    parsed_cells = {cell: parse(cell) for cell in counts}
    texts = [cell for cell, number in parsed_cells.items() if number is None]
    numbers = [number for number in parsed_cells.values() if number is not None and math.isfinite(number)]
    if not texts or all(map(_looks_numeric, texts)):
        return False
    if not numbers:
        return True
    few = sum(counts[cell] for cell in texts) <= FEW_CELLS
    marked = all(cell.lower() in USUAL_MARKERS or cell.startswith(("<", ">")) for cell in texts)
    return not few and not marked and all(number.is_integer() for number in numbers)


def _looks_numeric(cell: str) -> bool:
    """Return whether a text is a number in another notation, such as 1,234 or 10 500 or 5%, and not a date."""
    return is_number(cell, decimal_comma=True) or bool(_OTHER_NUMBER.fullmatch(cell) and not _is_date(cell))


def _is_date(cell: str) -> bool:
    """Return whether a text is a date, a month, a quarter, a time or a duration."""
    return bool(_DATE.fullmatch(cell) or _TIME.fullmatch(cell))


def _is_missing(cell: str) -> bool:
    return NO_MARKERS.is_missing(cell, "")


def levels_among(counts: LevelCounts, is_missing: Callable[[str], bool] = _is_missing) -> dict[str, int]:
    """Return the rows per level, given those per text: without blanks around them, and without missing values.

    A minus next to a plus is a level; alone, it marks missing values.
    """
    joined: Counter[str] = Counter()
    for cell, n in counts.items():
        joined[without_blanks(cell)] += n
    return {cell: n for cell, n in joined.items() if not is_missing(cell) or (cell == "-" and "+" in joined)}


def categories(counts: Mapping[str, LevelCounts], chosen: Collection[str] = ()) -> dict[str, Variable]:
    """Return the categories with these rows per level.

    Raises
    ------
    UnusableColumnsError
        For identifiers and, unless the user has chosen the type, for dates.
    """
    refused = [one for name, levels in counts.items() if (one := _refused(name, levels, name in chosen)) is not None]
    if refused:
        raise unusable_error(refused)
    return {name: Variable.of_counts(name, levels) for name, levels in counts.items()}


def _refused(name: str, counts: LevelCounts, chosen: bool) -> Unusable | None:
    """Return why a column is not a category; None if it is."""
    n = sum(counts.values())
    if counts and not chosen and all(map(_is_date, counts)):
        return dates(name, next(iter(counts)), counts)
    return identifiers(name, counts, n, chosen) if _are_too_many(len(counts), n) else None


def _are_too_many(levels: int, n: int) -> bool:
    """Return whether so many levels identify n rows, or are too many columns."""
    return 2 < n == levels or levels > max(_MANY_LEVELS, n / 2) or levels > _MOST_USED_LEVELS


def identifiers(name: str, counts: LevelCounts, n: int | None, chosen: bool = False) -> Unusable:
    """Describe a column with too many levels; n is None if not all of them were counted.

    `chosen` says that the user has declared the column as a category.
    """
    how = f"more than {MOST_LEVELS} different values" if n is None else f"{len(counts)} different values in {n} rows"
    units = {match[1] if (match := _WITH_UNIT.fullmatch(level)) else "" for level in counts}
    if all(parsed(level) is not None for level in counts):
        keep: str = Text("use it as numbers", Text(" instead of ", Declare([name])) if chosen else "")
    elif len(units) == 1 and units != {""}:
        keep = f"remove the unit {next(iter(units))!r} from its values, so that they are numbers"
    else:
        keep = "group its values"
    sentence = f"Column {name!r} has {how}, which is too many for a category."
    return Unusable("text", (name,), sentence, keep, values={} if n is None else counts)


def dates(name: str, example: str, counts: LevelCounts = NO_COUNTS) -> Unusable:
    """Describe a column of dates or times; `counts` has the rows per value, if they were counted."""
    few = len(counts) > 1 and not _are_too_many(len(counts), sum(counts.values()))
    what, one, numbers = (
        ("times or durations", "time", "seconds or hours")
        if _TIME.fullmatch(example)
        else ("dates or times", "date", "days or months since the first date")
    )
    category = Text(f", or use each {one} as a category: ", Declare([name])) if few else ""
    such = f", such as {example!r}" if example else ""
    keep = Text(f"convert it to numbers, such as {numbers}", category)
    return Unusable("date", (name,), f"Column {name!r} contains {what}{such}.", keep, values=counts)


def warn_of_similar_levels(counts: Mapping[str, LevelCounts]) -> None:
    """Warn of levels that look alike, given the rows per level of each category."""
    for name, levels in counts.items():
        spellings: dict[str, list[str]] = {}
        for level, rows in levels.items():
            if rows:
                visible = "".join(letter for letter in level if unicodedata.category(letter) != "Cf")
                alike = unicodedata.normalize("NFC", " ".join(visible.split()).casefold())
                spellings.setdefault(alike, []).append(level)
        if same := [level for found in spellings.values() if len(found) > 1 for level in found]:
            warn_user(
                f"Levels of {name!r} differ only in case, blanks, invisible characters or the encoding of accents: "
                f"{quoted(same)}. golem treats them as different levels. If they mean the same, spell them the same "
                "way.",
                DataWarning,
            )


def warn_of_blanks(cells: Mapping[str, Collection[str]], variables: Mapping[str, Variable]) -> None:
    """Warn of texts that are the same level without the blanks around them, given the texts of each category."""
    for name, variable in variables.items():
        spellings: dict[str, list[str]] = {level: [] for level in variable.levels}
        for cell in cells[name]:
            spellings.get(without_blanks(cell), []).append(cell)
        if same := [cell for found in spellings.values() if len(found) > 1 for cell in found]:
            warn_user(
                f"Texts of {name!r} differ only in the blanks around them: {quoted(same)}. golem removes these blanks, "
                "so that they are one level. If they mean different things, spell them differently.",
                DataWarning,
            )


def warn_of_absent_texts(counts: Mapping[str, LevelCounts]) -> None:
    """Warn of texts such as "none" in memory that count as missing, given the rows of all texts of each category."""
    for name, cells in counts.items():
        levels = levels_among(cells)
        if absent := [cell for cell in cells if without_blanks(cell) and without_blanks(cell) not in levels]:
            rows = sum(cells[cell] for cell in absent)
            warn_user(
                f"Missing in {counted(rows, 'row')} of {name!r}, as in files: {quoted(sorted(absent))}. If this is a "
                "level, give it another name.",
                DataWarning,
            )


def warn_of_single_rows(counts: Mapping[str, LevelCounts]) -> None:
    """Warn of levels with one row, given the rows per level of each category."""
    found = {name: [level for level, count in levels.items() if count == 1] for name, levels in counts.items()}
    _warn_of_levels(found, "only one row", "their effects cannot be distinguished from noise")


def warn_of_rare_levels(counts: Mapping[str, LevelCounts]) -> None:
    """Warn of rare levels, with one row or few, and of similar ones, given the rows per level of each category."""
    warn_of_similar_levels(counts)
    warn_of_single_rows(counts)
    found = {name: [level for level, count in levels.items() if 1 < count < _RARE] for name, levels in counts.items()}
    _warn_of_levels(found, f"fewer than {_RARE} rows", "their effects are uncertain")


def _warn_of_levels(found: Mapping[str, Sequence[str]], what: str, means: str) -> None:
    if listed := [f"{name!r} ({quoted(levels, 4)})" for name, levels in found.items() if levels]:
        has = "has" if len(listed) == 1 else "have"
        remedy = "Merge them with similar levels, or drop their rows."
        warn_user(f"{shortened(listed)} {has} levels with {what}; {means}. {remedy}", DataWarning)


def note_of_codes(codes: Mapping[str, int], remedy: str = "", names: Sequence[str] = ()) -> str:
    """Return the sentence about columns of few whole numbers, which are numbers, and how to change that.

    `codes` has the number of different values per column. By default, the remedy is for tables in files, whose columns
    have these names.
    """
    listed = shortened([f"{name!r} ({values} values)" for name, values in codes.items()])
    one, chosen = len(codes) == 1, as_patterns(codes, names)
    if not remedy and len(chosen) <= _MANY_NAMES:
        remedy = Text("use ", Set("categorical", chosen))
    elif not remedy:
        declared = Set("categorical", [...])
        remedy = Text("name them with ", declared, ", where T* stands for all columns that begin with T")
    # One indicator has the same fit as the numbers, but the score of categories uses nothing else of the noise.
    cost = f" {_TWO_VALUES}" if 2 in codes.values() and len(codes) != len(names) else ""
    return Text(
        f"{counted(len(codes), 'column')} {'contains' if one else 'contain'} only a few distinct whole numbers and "
        f"{'is' if one else 'are'} treated as numeric: {listed}. If these are codes of categories, ",
        remedy,
        f".{cost}",
    )


def note_of_texts(counts: Mapping[str, LevelCounts], remedy: str = "") -> str:
    """Return the sentence about categories that would be numbers without a few texts; empty if there are none.

    `counts` has the rows per level of each category. By default, the remedy is for tables in files.
    """
    found = {name: texts for name, levels in counts.items() if (texts := _texts_among_numbers(levels))}
    if not found:
        return ""
    rows = {name: f"{sum(texts.values())} of {sum(counts[name].values())} rows" for name, texts in found.items()}
    listed = shortened([f"{name!r} ({quoted(list(texts), 4)} in {rows[name]})" for name, texts in found.items()])
    markers = [f"{name}={text}" for name, texts in found.items() for text in texts]
    marked = Text(", or use ", Set("na", markers), " and ", Set("missing", "drop"))
    missing = marked if len(markers) <= _MOST_MARKERS else ""
    remedy = remedy or Text("correct the text", missing, ". Otherwise use ", Set("categorical", list(found)))
    one = len(found) == 1
    return Text(
        f"{counted(len(found), 'column')} {'contains' if one else 'contain'} whole numbers and a little text, and "
        f"{'is' if one else 'are'} treated as {'a category' if one else 'categories'}: {listed}. If these are "
        "numbers, ",
        remedy,
        ".",
    )


def _texts_among_numbers(counts: LevelCounts) -> LevelCounts:
    """Return the rows per text of a category whose other levels, nearly all rows, are numbers."""
    texts = {level: rows for level, rows in counts.items() if rows and parsed(level) is None}
    return texts if 0 < sum(texts.values()) <= _LITTLE_TEXT * sum(counts.values()) else {}


def warn_of_texts(counts: Mapping[str, LevelCounts], remedy: str = "") -> None:
    """Warn of categories that would be numbers without a few texts; see `note_of_texts`."""
    if sentence := note_of_texts(counts, remedy):
        warn_user(sentence, DataWarning)


def warn_of_codes(table: Any, coding: Coding | None = None) -> None:
    """Warn of the integer columns of a DataFrame or an array that are used as numbers, but may be codes of categories.

    Parameters
    ----------
    table : table or array
        The data of a fit.
    coding : Coding, optional
        The variables of the table, if it has categories.
    """
    codes: dict[str, int] = {}
    for name, column in _integers(table, set() if coding is None else set(coding.categories)):
        if _distinct(column[:_FIRST_ROWS]) <= FEW_VALUES:
            values = _distinct(column)
            codes |= {name: values} if _are_few(values, len(column)) else {}
    if codes:
        remedy = _OTHER_TYPES if is_table(table) else _OTHER_CONTAINER
        warn_user(note_of_codes(codes, remedy), DataWarning)


def _distinct(column: Any) -> int:
    """Count the different values of an array or a column of narwhals."""
    return len(np.unique(column)) if isinstance(column, np.ndarray) else int(column.n_unique())


def _integers(table: Any, categories: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield the integer columns of a DataFrame or an array that are not categories, without missing values."""
    if is_table(table):
        frame = eager_frame(table)
        for name, kind in frame.schema.items():
            if kind.is_integer() and str(name) not in categories:
                yield str(name), frame.get_column(name).drop_nulls()
    elif type(table) is np.ndarray and table.dtype.kind in "iu" and table.ndim == 2:
        yield from zip(column_names(None, table.shape[1]), table.T, strict=True)
