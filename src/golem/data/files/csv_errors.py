"""Errors in lines of text tables: which lines and cells are at fault, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from golem.data.files.batches import first_line
from golem.data.files.csv_format import THOUSANDS, THOUSANDS_REMEDY, is_number, is_readable, split_line
from golem.data.files.markers import MISSING_WORDS, USUAL_MARKERS
from golem.data.table_errors import encode_or_drop, not_numeric
from golem.runtime.messages import counted, quoted, shortened
from golem.runtime.problems import Drop, ProblemError, Set, Text

if TYPE_CHECKING:
    from golem.data.files.csv_files import CsvFile

# If at most this many lines of numeric columns contain text, the lines are at fault, not the columns.
_FEW_LINES = 3
# Texts that PyArrow reads as Booleans.
_BOOLEANS = frozenset({"True", "TRUE", "true", "False", "FALSE", "false"})
_WHOLE = re.compile(r"[+-]?\d+")
# Longer cells do not mark missing values.
_LONGEST_MARKER = 30
# Numbers as people write them, such as 43.8%, $1,200 and 1.200,50.
_DECORATED = re.compile(r"[-+]?[$€£¥]?\s*[-+]?[0-9][0-9.,'\s]*[%$€£¥]?")


@dataclass(frozen=True, eq=False)
class Block:
    """Whole lines of a file, their share of the file in bytes, and the number of lines before them."""

    text: bytes
    begin: int
    end: int
    lines_before: Callable[[], int]

    @property
    def is_blank(self) -> bool:
        """Whether no line has any text."""
        return not self.text or self.text.isspace()

    def numbered_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, with their numbers in the file."""
        for number, line in enumerate(self.text.splitlines(), start=self.lines_before() + 1):
            if line.strip():
                yield number, line

    def place(self, row: int) -> str:
        """Describe the line of a row."""
        return f"line {[number for number, _ in self.numbered_lines()][row]}"


def lines_error(file: CsvFile, block: Block, columns: Sequence[int]) -> ValueError | None:
    """Return the error for a line with a wrong number of fields, or for cells that are not numbers, if any."""
    cells = _Cells()
    for number, line in block.numbered_lines():
        fields = split_line(line.decode(file.form.encoding, "replace"), file.form.separator)
        if (wrong := _fields_error(file, number, fields)) is not None:
            return wrong
        cells.add(file, number, fields, columns)
    if not cells.text:
        return None
    text = cells.text_without_booleans()
    lines = {number for found in text.values() for number, _ in found}
    if file.made_up_names and len(text) == len(columns) > 1 and lines == {1}:
        what = f"Line 1 contains text in all {len(columns)} columns and looks like a header."
        return ProblemError.of("{what} Remove {header=False}.", what=what)
    at_least = "" if block.begin == 0 and block.end == file.size else "at least "
    described = {}
    for j, found in sorted(text.items()):
        more = f" and text in {at_least}{counted(len(found) - 1, 'more line')}" if len(found) > 1 else ""
        described[file.names[j]] = f"{quoted([found[0][1]])} in line {found[0][0]}{more}"
    among_numbers = cells.numbers.issuperset(text)
    remedy = _remedy(file, text, among_numbers)
    if gaps := [file.names[j] for j in columns if j in cells.absent and j not in text]:
        # So that the next attempt is the last one.
        also = "{remedy} Values of {names} are missing: also choose {missing='drop'} or {missing='em'}."
        remedy = Text.of(also, remedy=remedy, names=quoted(gaps, 4))
    error = not_numeric(described, len(columns), remedy, among_numbers)
    error.contents = {} if among_numbers and len(lines) <= _FEW_LINES else described
    error.columns = tuple(file.names[j] for j in sorted(cells.text))
    if len(text) == 1 or len(lines) > _FEW_LINES:
        whole = {file.names[j]: text[j] for j in sorted(text) if j in cells.numbers - cells.decimals}
        error.whole_numbers = tuple(name for name, found in whole.items() if not _is_slip(name, found))
    return error


def _is_slip(name: str, cells: Sequence[tuple[int, str]]) -> bool:
    """Return whether all cells are numbers in another notation, or the name of the column, so that none is a level."""
    return all(cell == name or is_number(cell, decimal_comma=True) for _, cell in cells)


def _fields_error(file: CsvFile, number: int, fields: Sequence[str]) -> ValueError | None:
    """Return the error for a line with a wrong number of fields, if it is one."""
    d, wanted = len(file.names), len(file.names) + file.form.padding
    if len(fields) != wanted:
        return ValueError(
            f"Line {number} has {counted(len(fields), 'field')} instead of {wanted}. The file may be truncated or "
            "damaged."
        )
    for j, field in enumerate(fields[d:], start=d + 1):
        if field not in file.na.texts and field not in MISSING_WORDS:
            return ValueError(
                f"Column {j} has no name, but the value {quoted([field])} in line {number}. Name the column in "
                "the first line, or remove the value."
            )
    return None


class _Cells:
    """The cells of columns that are not numbers, as (line, cell), and the columns with numbers or missing values.

    `decimals` are the columns with numbers that are not whole.
    """

    def __init__(self) -> None:
        self.text: dict[int, list[tuple[int, str]]] = {}
        self.numbers: set[int] = set()
        self.absent: set[int] = set()
        self.decimals: set[int] = set()
        self._other_numbers: set[int] = set()

    def add(self, file: CsvFile, number: int, fields: Sequence[str], columns: Sequence[int]) -> None:
        """Add the cells of a line."""
        for j in columns:
            if file.na.is_missing(fields[j], file.names[j]):
                self.absent.add(j)
            elif is_readable(fields[j], file.form.decimal_comma):
                self.numbers.add(j)
                if fields[j] not in ("0", "1"):
                    self._other_numbers.add(j)
                if not _WHOLE.fullmatch(fields[j]):
                    self.decimals.add(j)
            else:
                self.text.setdefault(j, []).append((number, fields[j]))

    def text_without_booleans(self) -> dict[int, list[tuple[int, str]]]:
        """Return the text, in which True and False count as the numbers 1 and 0 if the column has no others."""
        found: dict[int, list[tuple[int, str]]] = {}
        for j, cells in self.text.items():
            if j not in self._other_numbers and any(cell in _BOOLEANS for _, cell in cells):
                self.numbers.add(j)
                cells = [(line, cell) for line, cell in cells if cell not in _BOOLEANS]
            found |= {j: cells} if cells else {}
        return found or self.text


def _remedy(file: CsvFile, text: dict[int, list[tuple[int, str]]], among_numbers: bool) -> str:
    """Return what to do about cells that are not numbers, given per column as (line, cell)."""
    cells = {cell for found in text.values() for _, cell in found}
    lines = sorted({number for found in text.values() for number, _ in found})
    named_lines = f"line{'s' if len(lines) > 1 else ''} {shortened(list(map(str, lines)))}"
    if all(is_number(cell, decimal_comma=True) for cell in cells):
        if not file.form.decimal_comma and all(THOUSANDS.fullmatch(cell) for cell in cells):
            return f"{THOUSANDS_REMEDY}."
        if file.form.separator == ",":
            return "Commas separate the columns of this file, so numbers need a decimal point: write 1.5, not 1,5."
        mark = "comma" if file.form.decimal_comma else "point"
        return f"Numbers in this file have a decimal {mark}: write all of them with a {mark}."
    if among_numbers and all(cell == file.names[j] for j, found in text.items() for _, cell in found):
        return f"The header is repeated: remove {named_lines}."
    markers = sorted(cell for cell in cells if cell.lower() in USUAL_MARKERS)
    is_marked = {j: all(cell in markers for _, cell in found) for j, found in text.items()}
    others = [file.names[j] for j in sorted(text) if not is_marked[j]]
    remedy = encode_or_drop(others) if others else ""
    if others and all(_DECORATED.fullmatch(cell) for cell in cells):
        which = "it" if len(others) == 1 else "them"
        plain = f"Write numbers without percent signs, currencies and separators of thousands, or drop {which}: "
        return Text(plain, Drop(others), ".")
    dropped = Set("missing", "drop")
    cell = next(iter(cells))
    # A cell with digits is rather a number with an error in it.
    is_marker = len(cells) == 1 and not markers and len(cell) <= _LONGEST_MARKER and not re.search(r"\d", cell)
    if among_numbers and is_marker and len(lines) > _FEW_LINES:
        otherwise = f". Otherwise encode it as a number, or drop the column{'' if len(others) == 1 else 's'}: "
        use = f"If {cell!r} means a missing value, use "
        return Text(use, Set("na", [cell]), " and ", dropped, otherwise, Drop(others), ".")
    if among_numbers and len(lines) <= _FEW_LINES:
        remedy = f"Correct {named_lines}, or remove what is not data, such as units or totals."
        if len(text) == 1 and is_marker:
            means = f"Correct or remove {named_lines}. If {cell!r} means a missing value, use "
            remedy = Text(means, Set("na", [cell]), " and ", dropped, ".")
    if markers:
        means = f"If {quoted(markers)} {'means' if len(markers) == 1 else 'mean'} a missing value, use "
        use = Text(means, Set("na", markers), " and ", dropped, " or ", Set("missing", "em"), ".")
        otherwise = "Otherwise: " if len(lines) <= _FEW_LINES else ""
        remedy = Text.of_sentences([use, Text(otherwise, remedy)])
    return remedy


def unexplained(block: Block, error: Exception) -> ValueError:
    """Return the error for lines that cannot be parsed although each field is a number."""
    lines = dict(block.numbered_lines())
    unclosed = next((number for number, line in lines.items() if line.count(b'"') % 2), None)
    if unclosed:
        return ValueError(f"Line {unclosed} has a quotation mark that is not closed. Remove or close it.")
    return ValueError(f"Lines {min(lines)} to {max(lines)} cannot be read as a table ({first_line(error)}).")
