"""The format of a text table: separator, header, decimal mark and encoding, detected from its first lines."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from golem.data.files.markers import MISSING_MARKS, MISSING_WORDS, USUAL_MARKERS, without_blanks
from golem.data.table_input import parsed
from golem.runtime.files import DECIMAL_COMMA
from golem.runtime.messages import quoted

# If two fit equally well, the first wins: names and numbers can contain commas, but hardly ever tabs.
_SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "blanks"}
_SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?', re.IGNORECASE)
_LINES = 50
# How files begin that users take for tables.
_NO_TABLES = {
    b"/knowledge": "Tetrad's knowledge",
    b"Graph Nodes:": "a graph",
    b"digraph": "a graph",
    b"%PDF": "a PDF",
    b"<?xml": "XML",
    b'{"': "JSON",
    b'[{"': "JSON",
}
THOUSANDS_REMEDY = "If commas separate thousands, write the numbers without commas"
# A field between blanks, in quotes or not; a quote within quotes is written twice.
BETWEEN_BLANKS = r'"(?:[^"]|"")*"(?=\s|$)|\S+'
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")  # str.splitlines also splits at characters that occur within cells


@dataclass(frozen=True)
class CsvFormat:
    """The format of a text table.

    With `row_names`, the first of the columns contains R's row names and has no name. `padding` is the number of fields
    without names and values at the end of each line. `doubtful` are the numbers in a header that may be a row of data.
    """

    separator: str
    has_header: bool
    decimal_comma: bool
    encoding: str
    columns: int
    row_names: bool = False
    padding: int = 0
    doubtful: tuple[str, ...] = ()


def sniff_csv(sample: bytes, truncated: bool = False, na: Sequence[str] = ()) -> CsvFormat:
    r"""Detect the separator, the header, the decimal mark and the encoding from the start of a text table.

    The separator splits every line into the same number of fields and leaves as many numbers as possible below the
    first line. The first line is a header if one of its fields is not a number, or if its fields are increasing whole
    numbers (such as years) and the numbers below are not whole. A first line of numbers and text is a row of data if it
    has numbers above all columns of numbers, and a text that occurs below. A blank first field is above a saved index
    only if the other fields are names or count. A header may lack one field: the one above
    row names, or the empty one at the end of the other lines. If the comma is not the separator, `1,5` is a number.
    Fields in `na` are missing numbers.

    Examples
    --------
    >>> form = sniff_csv(b"a;b\n1,5;2\n")
    >>> form.separator, form.has_header, form.decimal_comma
    (';', True, True)
    """
    if b"\0" in sample:
        raise ValueError("The file is binary. Use CSV text in UTF-8, plain or compressed with gzip, or Parquet.")
    for begin, what in _NO_TABLES.items():
        if sample.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(begin):
            raise ValueError(f"The file is {what}, not a table.")
    text, encoding = _decoded(sample, truncated)
    every = _LINE_ENDS.split(text)
    first = table_start(every)
    named = next(filter(None, map(named_separator, every[:first])), None)
    numbered = {number: line for number, line in enumerate(every, start=1) if number > first and line.strip()}
    if truncated and numbered:
        numbered.popitem()  # it may be incomplete
    if not numbered:
        raise ValueError("The file has no lines of data.")
    lines = list(numbered.values())
    numbered = dict(itertools.islice(numbered.items(), _LINES))
    separator = _best_separator(numbered, [named] if named else _possible(numbered), na)
    header, *body = _rows(list(numbered.values()), separator)
    decimal_comma = separator != "," and any(DECIMAL_COMMA.fullmatch(field) for row in (header, *body) for field in row)
    numbers, repeats = _first_row(header, body, separator != ",", na)
    has_names = not repeats and not all(_fits_numbers(field, header, separator != ",", na) for field in header)
    index = _starts_index(header, body, has_names)
    has_header = has_names or index or _counts(header, body)
    is_short = _is_short(header, body, na)
    row_names = is_short and any(row[-1] for row in body)
    if decimal_comma:
        names = [""] * row_names + header + [""] * (is_short - row_names)
        _refuse_thousands(names, _rows(lines, separator))
    padding = _empty_end([[*header, ""] if is_short else header, *body])
    columns = len(header) + is_short - padding
    is_clear = not has_header or index or (_increase(numbers) if has_names else _has_equal_steps(header))
    doubtful = () if is_clear else tuple(numbers if has_names else header)
    return CsvFormat(separator, has_header, decimal_comma, encoding, columns, row_names, padding, doubtful)


def table_start(lines: Iterable[str]) -> int:
    r"""Return the position of the first line of the table, or the number of lines if there is none.

    Above it may be blank lines, a line `sep=;` for Excel, and what Tetrad writes: comments, and the types of the
    columns between `/variables` and `/data`.

    Examples
    --------
    >>> table_start(["// rats", "/variables", "a:Continuous", "/data", "a b", "1 2"])
    4
    """
    position, in_variables = -1, False
    for position, line in enumerate(lines):
        word = line.strip().lower()
        in_variables = word != "/data" and (in_variables or word == "/variables")
        above = in_variables or word in ("", "/data") or word.startswith("//") or named_separator(line)
        if not above:
            return position
    return position + 1


def named_separator(line: str) -> str | None:
    """Return the separator given by a first line for Excel, such as `sep=;`."""
    found = _SEPARATOR_LINE.fullmatch(line.rstrip("\r\n"))
    return found[1] if found else None


def _possible(numbered: dict[int, str]) -> list[str]:
    """Return the separators to try: where every line has tabs, blanks are not one, as they would join empty fields."""
    tabs = all("\t" in line for line in numbered.values())
    return [mark for mark in _SEPARATORS if not (tabs and mark == " ")]


def _best_separator(numbered: dict[int, str], separators: Sequence[str], na: Sequence[str]) -> str:
    """Return the separator that fits the lines best; raise a ValueError if none does."""
    lines = list(numbered.values())
    separator = max(separators, key=lambda mark: _quality(lines, mark, na))
    one_column = len(_rows(lines, separator)[0]) == 1
    # Blanks within lines of text do not indicate columns, the other separators do.
    no_table = one_column and any(
        len(split_line(line, mark)) > 1 for line in lines for mark in separators if mark != " "
    )
    if no_table or _quality(lines, separator, na)[0] < 0:
        raise ValueError(
            f"The lines have different numbers of fields: {_difference(numbered, separators)}. Look for a missing "
            f"or additional value, a comment or title above the table, {_open_quotes(numbered)}or a truncated file."
        )
    return separator


def _difference(numbered: dict[int, str], separators: Sequence[str]) -> str:
    """Describe two lines with different numbers of fields, by the separator for which most lines agree."""

    def agreement(mark: str) -> int:
        counts = Counter(len(split_line(line, mark)) for line in numbered.values())
        return max((lines for count, lines in counts.items() if count > 1), default=0)

    separator = max(separators, key=agreement)
    counts = {number: len(split_line(line, separator)) for number, line in numbered.items()}
    first, *others = counts
    other = next(number for number in others if counts[number] != counts[first])
    separated = f"separated by {_SEPARATORS[separator]}"
    return f"line {first} has {counts[first]}, line {other} has {counts[other]} ({separated})"


def _open_quotes(numbered: dict[int, str]) -> str:
    """Describe a line whose quotes are not closed, if there is one."""
    number = next((number for number, line in numbered.items() if line.count('"') % 2), None)
    return "" if number is None else f"a line break within the quotes of line {number}, "


def _refuse_thousands(names: list[str], rows: list[list[str]]) -> None:
    """Raise a ValueError if commas may separate thousands: always three digits after them, next to whole numbers."""
    if any(DECIMAL_COMMA.fullmatch(cell) and not THOUSANDS.fullmatch(cell) for row in rows for cell in row):
        return  # a decimal comma for certain, and files do not use both
    columns = zip(*(row for row in rows if len(row) == len(names)), strict=True)
    for number, (name, column) in enumerate(zip(names, columns, strict=False), start=1):
        marked = [cell for cell in column if THOUSANDS.fullmatch(cell)]
        whole = [cell for cell in column if re.fullmatch(r"[+-]?\d+", cell)]
        if marked and whole:
            raise ValueError(
                f"Column {number if is_number(name, True) else quoted([name])} contains {marked[0]!r} and "
                f"{whole[0]!r}. "
                f"{THOUSANDS_REMEDY}. If they are decimal commas, write {whole[0]!r} with decimals, too."
            )


def _is_short(header: list[str], body: list[list[str]], na: Sequence[str]) -> bool:
    """Return whether a header lacks the first field of the other lines, row names, or the last field, which is empty.

    Unlike titles and truncated lines, such headers are names above numbers, and row names are unique.
    """
    if len(header) < 2 or not body or len(body[0]) != len(header) + 1:
        return False
    if any(is_number(field, True, na) for field in header) or not any(is_number(f, True, na) for f in body[0][1:]):
        return False
    return len({row[0] for row in body}) == len(body) or not any(row[-1] for row in body)


def _empty_end(rows: list[list[str]]) -> int:
    """Count the last columns that are empty in all rows, because lines end with separators."""
    empty = [not any(column) for column in zip(*rows, strict=True)]
    return len(list(itertools.takewhile(bool, reversed(empty[1:]))))


def _decoded(sample: bytes, truncated: bool) -> tuple[str, str]:
    """Decode UTF-8, whose last character may be incomplete, else Windows-1252, else Latin-1 (all bytes are valid)."""
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
    """Split lines into fields; the header of NumPy's savetxt begins with #."""
    first, *others = lines
    return [split_line(line, separator) for line in (first.removeprefix("#"), *others)]


def _quality(lines: list[str], separator: str, na: Sequence[str]) -> tuple[int, float, int]:
    """Rate a separator: by a complete header, then the share of numbers, then the number of columns."""
    header, *body = _rows(lines, separator)
    columns = len(body[0]) if body else len(header)
    is_whole = len(header) == columns
    if any(len(row) != columns for row in body) or not (is_whole or _is_short(header, body, na)):
        return (-1, 0.0, 0)
    fields = [field for row in body for field in row]
    numbers = sum(is_number(field, separator != ",", na) for field in fields)
    # Any separator that finds more than one column is better. A header that lacks a field is the last choice, because
    # blanks within cells have the same effect.
    if columns == 1:
        return (0, 0.0, 1)
    return (2 if is_whole else 1, numbers / len(fields) if fields else 0.0, columns)


def _counts(header: list[str], body: list[list[str]]) -> bool:
    """Return whether a first line of whole numbers increases above numbers that are not whole, or counts from 0."""
    if not body or not all(re.fullmatch(r"\d+", field) for field in header):
        return False
    numbers = [int(field) for field in header]
    if len(numbers) > 2 and numbers == list(range(len(numbers))):  # as pandas numbers columns
        return True
    broken = sum(not re.fullmatch(r"[+-]?\d+", field) for field in body[0])
    return _increase(header) and broken > len(numbers) / 2


def _starts_index(header: list[str], body: list[list[str]], has_names: bool) -> bool:
    """Return whether the blank first field of a first line is above a saved row index.

    The first line then has names, or numbers that count columns or years. Otherwise the first value is missing.
    """
    if header[0] or not body or not body[0][0]:
        return False
    labels = [row[0] for row in body]
    distinct = len(set(labels)) == len(labels) and not any(re.fullmatch(r"[+-]?\d*[.,]\d*", cell) for cell in labels)
    return has_names or (distinct and (_increase(header[1:]) or header[1:] == ["0"]))


def _increase(fields: Sequence[str]) -> bool:
    """Return whether fields are increasing whole numbers, such as years."""
    whole = len(fields) > 1 and all(re.fullmatch(r"\d+", field) for field in fields)
    return whole and all(int(a) < int(b) for a, b in itertools.pairwise(fields))


def _has_equal_steps(fields: Sequence[str]) -> bool:
    """Return whether whole numbers count up, such as 1, 2 or 1990, 1995, 2000; 3, 17, 40 may be measurements."""
    steps = {int(b) - int(a) for a, b in itertools.pairwise(fields)}
    return steps == {1} or (len(fields) > 2 and len(steps) == 1)


def _first_row(
    header: list[str], body: list[list[str]], decimal_comma: bool, na: Sequence[str]
) -> tuple[list[str], bool]:
    """Return the numbers of a first line that may be a row of data, and whether one of its texts occurs below.

    It may be one if it has numbers, and no text above a column of numbers.
    """
    if not body or len(body[0]) != len(header):
        return [], False
    numbers, repeats = [], False
    for field, *cells in zip(header, *body, strict=True):
        if all(is_number(cell, decimal_comma, na) for cell in cells):
            if not _fits_numbers(field, header, decimal_comma, na):
                return [], False
            numbers += [field] if _has_digits(field) and any(map(_has_digits, cells)) else []
        else:
            repeats |= field in cells and not is_number(field, decimal_comma, na)
    return numbers, repeats and bool(numbers)


def _has_digits(field: str) -> bool:
    return any(character.isdigit() for character in field)


def _fits_numbers(field: str, header: list[str], decimal_comma: bool, na: Sequence[str]) -> bool:
    """Return whether a field is a number, a missing value or, next to numbers, a marker of missing values."""
    marked = any(is_number(other, True) and other for other in header)
    return is_number(field, decimal_comma, na) or (marked and field.lower() in USUAL_MARKERS)


def is_number(field: str, decimal_comma: bool, na: Sequence[str] = ()) -> bool:
    """Return whether a field is a number or a missing value, such as those in `na`."""
    if field in na:
        return True
    if "_" in field or not field.isascii():  # 1_000 and the digits of other scripts are numbers only in Python
        return False
    number = field.replace(",", ".") if decimal_comma and DECIMAL_COMMA.fullmatch(field) else field
    return parsed(number) is not None or field in MISSING_WORDS or field in MISSING_MARKS


def is_readable(field: str, decimal_comma: bool) -> bool:
    """Return whether a field is a number or a missing value, with the decimal mark of its file."""
    return is_number(field, decimal_comma) and not (decimal_comma and "." in field)


def split_line(line: str, separator: str) -> list[str]:
    """Split a line into fields; a blank as separator matches any run of white space."""
    if separator == " ":
        return [_unquoted(field) for field in re.findall(BETWEEN_BLANKS, line)] if '"' in line else line.split() or [""]
    if separator not in line:
        return [_unquoted(without_blanks(line))]
    if '"' not in line:  # also avoids the size limit of fields in the csv module
        return [without_blanks(field) for field in line.split(separator)]
    try:
        return [without_blanks(cell) for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]
    except csv.Error as error:
        raise ValueError(f"The line {quoted([line])} cannot be divided into fields ({error}). Shorten it.") from None


def _unquoted(field: str) -> str:
    """Return a field without the quotes around it; a quote within quotes is written twice."""
    is_quoted = len(field) > 1 and field[0] == field[-1] == '"'
    return field[1:-1].replace('""', '"') if is_quoted else field.strip('"')


def without_blanks_around_fields(text: str, separator: str) -> str:
    r"""Remove white space between fields and their separators, quotes or line ends.

    Examples
    --------
    >>> without_blanks_around_fields("1, NA \n ,2", ",")
    '1,NA\n,2'
    """
    blanks, edge = rf"[^\S\r\n\x1c-\x1f{re.escape(separator)}]+", rf'[{re.escape(separator)}"\r\n]'
    # Two patterns, because one with a look-behind takes three times as long.
    text = re.sub(rf"(\A|{edge}){blanks}", r"\1", text)
    return re.sub(rf"{blanks}(?={edge}|\Z)", "", text)
