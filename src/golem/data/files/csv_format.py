"""How a text table is written: separator, header, decimal mark and encoding, found from its first lines."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from golem.runtime.files import DECIMAL_COMMA

_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
_SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?', re.IGNORECASE)
_LINES = 50
THOUSANDS_REMEDY = "if commas mark thousands, write the numbers without them"
_WORDS = ("", "na", "nan", "n/a", "null", "none", "#n/a")
MISSING_WORDS = frozenset({"NaN", *(spelling for word in _WORDS for spelling in (word, word.upper(), word.title()))})
# What other programs write for a missing value, in small letters: Stata, statistical offices, databases, spreadsheets.
USUAL_MARKERS = (".", "..", "-", "--", "?", "*", "missing", "unknown", "nil", "(null)", r"\n", "n.a.", "<na>", "#na",
                 "#div/0!", "#value!", "#ref!", "#num!")  # fmt: skip
# A quoted field between blanks; where something else follows the quote, blanks do not separate it.
BETWEEN_BLANKS = r'"[^"]*"(?=\s|$)|\S+'
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")  # str.splitlines knows others, which stand within cells


@dataclass(frozen=True)
class CsvFormat:
    """How a text table is written.

    Its lines have a number of columns, of which the first may be names of rows, above which R writes no name; after
    them may come fields without names and values, the padding.
    """

    separator: str
    has_header: bool
    decimal_comma: bool
    encoding: str
    columns: int
    row_names: bool = False
    padding: int = 0


def sniff_csv(sample: bytes, truncated: bool = False, na: Sequence[str] = ()) -> CsvFormat:
    r"""Find the separator, the header, the decimal mark and the encoding from the start of a text table.

    The separator splits every line into the same number of fields and leaves as many numbers as possible below the
    first line. The first line is a header if one of its fields is not a number, or if it counts (whole numbers that
    grow, such as years) above numbers that do not. A header may lack one field: that above the names of rows, or the
    empty one at the ends of the other lines. Where the comma does not separate, `1,5` is a number. Fields in `na`
    stand for missing numbers.

    Examples
    --------
    >>> form = sniff_csv(b"a;b\n1,5;2\n")
    >>> form.separator, form.has_header, form.decimal_comma
    (';', True, True)

    Raises
    ------
    ValueError
        If the sample is binary, has no lines or no separator.
    """
    if b"\0" in sample:
        raise ValueError("a binary file; CSV text in UTF-8, plain or compressed by gzip, and Parquet can be read")
    text, encoding = _decoded(sample, truncated)
    numbered = {number: line for number, line in enumerate(_LINE_ENDS.split(text), start=1) if line.strip()}
    if truncated and numbered:
        numbered.popitem()  # it is cut off
    named = next(map(named_separator, numbered.values()), None)
    if named:
        del numbered[min(numbered)]
    if not numbered:
        raise ValueError("the file has no lines of data")
    numbered = dict(itertools.islice(numbered.items(), _LINES))
    separator = _best_separator(numbered, [named] if named else list(_SEPARATORS), na)
    header, *body = _rows(list(numbered.values()), separator)
    decimal_comma = separator != "," and any(DECIMAL_COMMA.fullmatch(field) for row in (header, *body) for field in row)
    if decimal_comma:
        _refuse_thousands(header, body)
    # A first line with marks of missing values, and with numbers, is a row that lacks some.
    marked = any(is_number(field, True) and field for field in header)
    names = not all(
        is_number(field, separator != ",", na) or (marked and field.lower() in USUAL_MARKERS) for field in header
    )
    # A blank first field, as a saved row index leaves it, also marks a header: data hardly start with one.
    index = len(body) > 0 and header[0] == "" and body[0][0] != ""
    has_header = names or index or _counts(header, body)
    is_short = _is_short(header, body, na)
    row_names = is_short and any(row[-1] for row in body)
    padding = _empty_end([[*header, ""] if is_short else header, *body])
    columns = len(header) + is_short - padding
    return CsvFormat(separator, has_header, decimal_comma, encoding, columns, row_names, padding)


def named_separator(line: str) -> str | None:
    """Return the separator that a first line for Excel names, such as `sep=;`."""
    found = _SEPARATOR_LINE.fullmatch(line.rstrip("\r\n"))
    return found[1] if found else None


def _best_separator(numbered: dict[int, str], separators: Sequence[str], na: Sequence[str]) -> str:
    """Return the separator that explains lines best; raise where none does."""
    lines = list(numbered.values())
    separator = max(separators, key=lambda mark: _quality(lines, mark, na))
    one_column = len(_rows(lines, separator)[0]) == 1
    # Blanks within lines of text are no sign of columns; the other marks are.
    no_table = one_column and any(len(split_line(line, mark)) > 1 for line in lines for mark in separators[:-1])
    if no_table or _quality(lines, separator, na)[0] < 0:
        raise ValueError(
            f"the lines have different numbers of fields ({_difference(numbered, separators)}); is there a comment or "
            f"a title above the table, {_open_quotes(numbered)}or is the file cut off?"
        )
    return separator


def _difference(numbered: dict[int, str], separators: Sequence[str]) -> str:
    """Say which lines differ in the number of fields, by the separator that cuts most lines into as many."""

    def agreement(mark: str) -> int:
        counts = Counter(len(split_line(line, mark)) for line in numbered.values())
        return max((lines for count, lines in counts.items() if count > 1), default=0)

    separator = max(separators, key=agreement)
    counts = {number: len(split_line(line, separator)) for number, line in numbered.items()}
    first, *others = counts
    other = next(number for number in others if counts[number] != counts[first])
    return f"line {first} has {counts[first]} by {_SEPARATORS[separator]}, line {other} has {counts[other]}"


def _open_quotes(numbered: dict[int, str]) -> str:
    """Ask about a line whose quotes do not close."""
    number = next((number for number, line in numbered.items() if line.count('"') % 2), None)
    return "" if number is None else f"a line break within the quotes of line {number}, "


def _refuse_thousands(header: list[str], body: list[list[str]]) -> None:
    """Raise where commas stand before three digits each time, beside whole numbers: they mark thousands."""
    for name, column in zip(header, zip(*body, strict=True), strict=False):
        marked = [cell for cell in column if "," in cell]
        whole = [cell for cell in column if re.fullmatch(r"[+-]?\d+", cell)]
        if len(marked) > 1 and whole and all(THOUSANDS.fullmatch(cell) for cell in marked):
            raise ValueError(
                f"{marked[0]!r} beside {whole[0]!r} in column {name!r}: {THOUSANDS_REMEDY}, or, if these are decimal "
                f"commas, write {whole[0]!r} with decimals too"
            )


def _is_short(header: list[str], body: list[list[str]], na: Sequence[str]) -> bool:
    """Tell whether a header lacks the first field of the other lines, names of rows, or the last, which is empty.

    Titles above tables and lines that are cut off are no such headers: those are names above numbers, and the names of
    rows differ.
    """
    if len(header) < 2 or not body or len(body[0]) != len(header) + 1:
        return False
    if any(is_number(field, True, na) for field in header) or not any(is_number(f, True, na) for f in body[0][1:]):
        return False
    return len({row[0] for row in body}) == len(body) or not any(row[-1] for row in body)


def _empty_end(rows: list[list[str]]) -> int:
    """Count the last columns that are empty in all rows, as separators at the ends of lines make them."""
    empty = [not any(column) for column in zip(*rows, strict=True)]
    return len(list(itertools.takewhile(bool, reversed(empty[1:]))))


def _decoded(sample: bytes, truncated: bool) -> tuple[str, str]:
    """Decode UTF-8, whose last character may be cut off, or else Windows-1252, or Latin-1, which takes anything."""
    for cut in range(4 if truncated else 1):
        try:
            return sample[: len(sample) - cut].decode("utf-8-sig"), "utf8"
        except UnicodeDecodeError:
            continue
    try:
        return sample.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return sample.decode("latin-1"), "latin-1"


def _rows(lines: list[str], separator: str) -> list[list[str]]:
    """Split lines into fields; NumPy's savetxt marks its header as a comment."""
    first, *others = lines
    return [split_line(line, separator) for line in (first.removeprefix("#"), *others)]


def _quality(lines: list[str], separator: str, na: Sequence[str]) -> tuple[int, float, int]:
    """How well a separator explains the lines: as a table with a whole header, the share of numbers, the columns."""
    header, *body = _rows(lines, separator)
    columns = len(body[0]) if body else len(header)
    is_whole = len(header) == columns
    if any(len(row) != columns for row in body) or not (is_whole or _is_short(header, body, na)):
        return (-1, 0.0, 0)
    fields = [field for row in body for field in row]
    numbers = sum(is_number(field, separator != ",", na) for field in fields)
    # One column is no table, whatever it holds: any separator that finds more is better. A header that lacks a field is
    # the last thing to believe: blanks within cells make lines look so.
    if columns == 1:
        return (0, 0.0, 1)
    return (2 if is_whole else 1, numbers / len(fields) if fields else 0.0, columns)


def _counts(header: list[str], body: list[list[str]]) -> bool:
    """Tell whether a first line of whole numbers grows above numbers that are not whole, or counts from 0."""
    if not body or not all(re.fullmatch(r"\d+", field) for field in header):
        return False
    numbers = [int(field) for field in header]
    if len(numbers) > 2 and numbers == list(range(len(numbers))):  # as pandas numbers columns
        return True
    grows = all(a < b for a, b in itertools.pairwise(numbers))
    broken = sum(not re.fullmatch(r"[+-]?\d+", field) for field in body[0])
    return len(numbers) > 1 and grows and broken > len(numbers) / 2


def is_number(field: str, decimal_comma: bool, na: Sequence[str] = ()) -> bool:
    """Tell whether a field holds a number or stands for a missing one, as those in `na` do."""
    if field in na:
        return True
    if "_" in field or not field.isascii():  # 1_000 and the digits of other scripts are numbers in Python alone
        return False
    try:
        float(field.replace(",", ".") if decimal_comma and DECIMAL_COMMA.fullmatch(field) else field)
    except ValueError:
        return field in MISSING_WORDS
    return True


def split_line(line: str, separator: str) -> list[str]:
    """Split a line into fields; a blank as separator stands for any run of white space."""
    if separator == " ":
        return [field.strip('"') for field in re.findall(BETWEEN_BLANKS, line)] if '"' in line else line.split()
    if separator not in line:  # also spares the csv module a field beyond its limit
        return [line.strip().strip('"')]
    return [field.strip() for field in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]


def without_blanks_around_fields(text: str, separator: str) -> str:
    r"""Take away the white space between fields and their separators, quotes or line ends.

    Examples
    --------
    >>> without_blanks_around_fields("1, NA \n ,2", ",")
    '1,NA\n,2'
    """
    blanks, edge = rf"[^\S\r\n{re.escape(separator)}]+", rf'[{re.escape(separator)}"\r\n]'
    # Two patterns, because one that looks behind at every character takes three times as long.
    text = re.sub(rf"(\A|{edge}){blanks}", r"\1", text)
    return re.sub(rf"{blanks}(?={edge}|\Z)", "", text)
