"""Text tables in pieces of whole lines, parsed by PyArrow, with the line numbers of errors."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import itertools
import re
import shlex
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from golem.data.files.batches import Batch, Piece, block_bytes, first_line, make_batch, piece_bytes
from golem.data.files.csv_format import (
    BETWEEN_BLANKS,
    THOUSANDS,
    THOUSANDS_REMEDY,
    CsvFormat,
    is_number,
    sniff_csv,
    split_line,
    table_start,
    without_blanks_around_fields,
)
from golem.data.files.markers import (
    MISSING_MARKS,
    MISSING_WORDS,
    NO_MARKERS,
    USUAL_MARKERS,
    Markers,
)
from golem.data.table_errors import encode_or_drop, not_numeric
from golem.runtime.messages import quoted, shortened
from golem.runtime.names import column_names

_SAMPLE_BYTES, _SAMPLE_LINES, _LARGEST_SAMPLE, _SCAN_BYTES = 1 << 16, 10, 1 << 26, 1 << 24
_PARSED_BYTES, _PARSED_LINES = 1 << 20, 64
# If at most this many lines of numeric columns contain text, the lines are at fault, not the columns.
_FEW_LINES = 3
SAVED_INDEX = "Unnamed: 0"
_GZIP, _BYTE_ORDER_MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
_BETWEEN_BLANKS = re.compile(BETWEEN_BLANKS.encode())


@dataclass(frozen=True)
class CsvFile:
    """A text table, plain or compressed with gzip.

    `size` is the number of bytes on disk, and `start` the byte, after decompression, where the rows begin. `na` are
    markers of missing values in addition to empty cells and the usual words. A first column without a name, which is a
    saved row index or R's row names, gets the name that pandas gives it.
    """

    path: Path
    size: int
    names: tuple[str, ...]
    made_up_names: bool
    form: CsvFormat
    start: int
    is_compressed: bool
    na: Markers = NO_MARKERS

    @classmethod
    def open(cls, path: Path, file: BinaryIO, header: bool | None, like: CsvFile | None, na: Sequence[str]) -> CsvFile:
        """Detect the format of an open file from its beginning; `like` is an earlier file of the same table."""
        file.seek(0)
        is_compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        with _decompressed(file) if is_compressed else contextlib.nullcontext(file) as text:
            sample, truncated = _sample(text)
        # Until the names are known, `age=unknown` may be a marker, or `unknown` in the column `age`.
        form = sniff_csv(sample, truncated, [part for text in na for part in (text, text.rpartition("=")[2])])
        begin = len(_BYTE_ORDER_MARK) if sample.startswith(_BYTE_ORDER_MARK) else 0
        lines = sample[begin:].splitlines(keepends=True)
        first = table_start(line.decode(form.encoding) for line in lines)
        begin += sum(map(len, lines[:first]))
        # NumPy's savetxt marks its header as a comment.
        fields = split_line(lines[first].decode(form.encoding).removeprefix("#"), form.separator)
        names = (([""] if form.row_names else []) + fields)[: form.columns]
        names[0] = names[0] or (f"{SAVED_INDEX}.0" if SAVED_INDEX in names else SAVED_INDEX)
        decimal_comma = form.decimal_comma
        if like is not None and like.form.separator == form.separator:
            decimal_comma |= like.form.decimal_comma  # the first lines may contain no decimal mark
        has_header = form.has_header if header is None else header
        columns = tuple(names) if has_header else column_names(None, len(names))
        return cls(
            path,
            path.stat().st_size,
            columns,
            not has_header,
            dataclasses.replace(form, has_header=has_header, decimal_comma=decimal_comma),
            begin + (len(lines[first]) if has_header else 0),
            is_compressed,
            Markers.of(na, columns),
        )

    def require_numeric(self, columns: Sequence[int]) -> None:
        """Do nothing: text declares no types, so errors appear when rows are read."""

    def memory(self, d: int) -> int:
        """Estimate the bytes of memory for reading d columns: the text and its columns."""
        return 2 * block_bytes(d)

    def pieces(self, d: int) -> list[Piece]:
        """Divide the file at multiples of a number of bytes; a line belongs to the piece in which it begins."""
        if self.is_compressed:
            return [Piece(0, self.size, 0, self.size)]
        cuts = [*range(0, self.size, piece_bytes(d)), self.size]
        return [Piece(begin, end, begin, end) for begin, end in itertools.pairwise(cuts)]

    def batches(self, piece: Piece, columns: Sequence[int]) -> Iterator[Batch]:
        """Read the columns at these positions, in this order, from the lines that begin in the piece."""
        size, names = block_bytes(len(columns)), [self.names[j] for j in columns]
        for block in self._stream(size) if self.is_compressed else self._lines(piece, size):
            if not block.text or block.text.isspace():
                yield Batch([], block.begin, block.end, block.place)
                continue
            table, marks = self._parsed(block, columns)
            yield make_batch(table, names, self.na, block.begin, block.end, block.place, marks)

    def _lines(self, piece: Piece, size: int) -> Iterator[_Block]:
        """Read the lines that begin in the piece, in blocks of about `size` bytes."""
        with self.path.open("rb") as file:
            for begin in range(piece.first, piece.last, size):
                end = min(piece.last, begin + size)
                first, last = self._line_from(begin, file), self._line_from(end, file)
                file.seek(first)
                yield _Block(file.read(last - first), begin, end, partial(self._lines_before, first))

    def _line_from(self, position: int, file: Any) -> int:
        """Return the start of the first line that begins at or after a position."""
        if position <= self.start:
            return self.start
        file.seek(position - 1)
        return position - 1 + len(file.readline())

    def _lines_before(self, position: int) -> int:
        """Count the lines before a position, for messages."""
        lines = 0
        with self.path.open("rb") as file:
            while position > 0 and (text := file.read(min(position, _SCAN_BYTES))):
                lines += text.count(b"\n")
                position -= len(text)
        return lines

    def _stream(self, size: int) -> Iterator[_Block]:
        """Read a compressed file in blocks of whole lines of about `size` bytes."""
        with self.path.open("rb") as file, _decompressed(file) as text:
            lines, begin = text.read(self.start).count(b"\n"), 0
            while block := text.read(size):
                block += text.readline()
                end = file.tell()
                yield _Block(block, begin, end, partial(int, lines))
                begin, lines = end, lines + block.count(b"\n")

    def _parsed(self, block: _Block, columns: Sequence[int]) -> tuple[Any, dict[str, dict[str, int]]]:
        """Parse a block as numbers; also return the number of cells per column and marker.

        If the fast way fails, the block has blanks around fields, markers of missing values, or Booleans.
        """
        import pyarrow as pa

        positions = [str(j) for j in columns]
        numbers = dict.fromkeys(positions, pa.float64())
        # PyArrow is fastest if its blocks fit into the cache.
        step = max(_PARSED_BYTES, _PARSED_LINES * (block.text.find(b"\n") + 1))
        try:
            return self._read(block.text, positions, numbers, step, MISSING_WORDS), {}
        except pa.ArrowInvalid as error:
            missing = {*MISSING_WORDS, *MISSING_MARKS, *self.na.texts}
            with contextlib.suppress(pa.ArrowInvalid):
                table = self._read(block.text, positions, numbers, step, missing)
                return self._with_marks(table, block.text, block, columns)
            trimmed = self._trimmed(block.text)
            with contextlib.suppress(pa.ArrowInvalid):
                return self._with_marks(self._read(trimmed, positions, numbers, step, missing), trimmed, block, columns)
            with contextlib.suppress(pa.ArrowInvalid):
                # PyArrow reads 0x10 as an integer, but not among decimals: here integers must be decimal numbers, too.
                schema = self._read(trimmed, positions, {}, len(trimmed) + 1, missing).schema
                types = {field.name: field.type for field in schema if pa.types.is_boolean(field.type)}
                table = self._read(trimmed, positions, numbers | types, len(trimmed) + 1, missing)
                return self._with_marks(table, trimmed, block, columns)
            raise self._error(block, columns) or _unexplained(block, error) from None

    def _with_marks(
        self, table: Any, text: bytes, block: _Block, columns: Sequence[int]
    ) -> tuple[Any, dict[str, dict[str, int]]]:
        """Return a table with the numbers of its markers; raise a ValueError for a marker of another column."""
        import pyarrow as pa

        marks = {}
        gaps = [j for j in columns if table[str(j)].null_count]
        positions = [str(j) for j in gaps]
        # PyArrow has one list of null values for all columns: read the cells again, as text.
        text_columns = self._read(text, positions, dict.fromkeys(positions, pa.string()), len(text) + 1, ())
        for j in gaps:
            absent = text_columns[str(j)].filter(table[str(j)].combine_chunks().is_null())
            counts = {pair["values"]: pair["counts"] for pair in absent.value_counts().to_pylist()}
            if not all(self.na.is_missing(cell, self.names[j]) for cell in counts):
                raise self._error(block, columns) or ValueError(f"Column {self.names[j]!r} cannot be read.")
            if found := {cell: count for cell, count in counts.items() if cell not in MISSING_WORDS}:
                marks[self.names[j]] = found
        return table, marks

    def _trimmed(self, text: bytes) -> bytes:
        """Remove the blanks around fields: PyArrow takes blanks without a number for text."""
        if self.form.separator == " ":
            return text
        decoded = text.decode(self.form.encoding, "surrogateescape")
        trimmed = without_blanks_around_fields(decoded, self.form.separator)
        return trimmed.encode(self.form.encoding, "surrogateescape")

    def _read(
        self, text: bytes, positions: list[str], types: dict[str, Any], step: int, missing: Collection[str]
    ) -> Any:
        import pyarrow as pa
        import pyarrow.csv as pacsv

        separator = self.form.separator
        if separator == " ":  # any run of blanks separates, but PyArrow supports only single characters
            text, separator = b"\n".join(b"\t".join(_fields(line)) for line in text.splitlines()), "\t"
        names = [str(j) for j in range(len(self.names) + self.form.padding)]
        nothing = dict.fromkeys(names[len(self.names) :] if missing else (), pa.null())
        # Columns are named by position, because names in files can be anything. Other blocks keep the cores busy.
        table = pacsv.read_csv(
            pa.BufferReader(text),
            read_options=pacsv.ReadOptions(
                use_threads=False,
                block_size=step,
                column_names=names,
                # Numbers are the same in both encodings, and every byte is valid in Latin-1.
                encoding="latin-1" if self.form.encoding == "cp1252" else self.form.encoding,
            ),
            parse_options=pacsv.ParseOptions(delimiter=separator),
            convert_options=pacsv.ConvertOptions(
                include_columns=[*positions, *nothing],
                column_types=types | nothing,  # a value in a column that should be empty is an error
                null_values=sorted(missing),
                decimal_point="," if self.form.decimal_comma else ".",
            ),
        )
        return table.select(positions)

    def _error(self, block: _Block, columns: Sequence[int]) -> ValueError | None:
        """Return the error for a line with a wrong number of fields, or for cells that are not numbers, if any."""
        text: dict[int, list[tuple[int, str]]] = {}
        have_numbers, absent, d = set(), set(), len(self.names)
        wanted = d + self.form.padding
        for number, line in block.numbered_lines():
            fields = split_line(line.decode(self.form.encoding, "replace"), self.form.separator)
            if len(fields) != wanted:
                return ValueError(
                    f"Line {number} has {len(fields)} fields instead of {wanted}. The file may be truncated or damaged."
                )
            for j, field in enumerate(fields[d:], start=d + 1):
                if field not in self.na.texts and field not in MISSING_WORDS:
                    return ValueError(
                        f"Column {j} has no name, but the value {quoted([field])} in line {number}. Name the column in "
                        "the first line, or remove the value."
                    )
            for j in columns:
                if self.na.is_missing(fields[j], self.names[j]):
                    absent.add(j)
                elif self._is_readable(fields[j]):
                    have_numbers.add(j)
                else:
                    text.setdefault(j, []).append((number, fields[j]))
        if not text:
            return None
        at_least = "" if block.begin == 0 and block.end == self.size else "at least "
        found = {}
        for j, cells in sorted(text.items()):
            more = f" and {at_least}{len(cells) - 1} more" if len(cells) > 1 else ""
            found[self.names[j]] = f"{quoted([cells[0][1]])} in line {cells[0][0]}{more}"
        remedy = self._remedy(text, among_numbers=have_numbers.issuperset(text))
        if gaps := [self.names[j] for j in columns if j in absent and j not in text]:
            # So that the next attempt is the last one.
            remedy += f" Values of {quoted(gaps, 4)} are missing: also choose --missing drop or --missing em."
        return not_numeric(found, len(columns), remedy)

    def _is_readable(self, field: str) -> bool:
        """Tell whether a field is a number, with the decimal mark of this file."""
        other_mark = self.form.decimal_comma and "." in field
        return is_number(field, self.form.decimal_comma) and not other_mark

    def _remedy(self, text: dict[int, list[tuple[int, str]]], among_numbers: bool) -> str:
        """Return what to do about cells that are not numbers, given per column as (line, cell)."""
        cells = {cell for found in text.values() for _, cell in found}
        lines = sorted({number for found in text.values() for number, _ in found})
        named_lines = f"line{'s' if len(lines) > 1 else ''} {shortened(list(map(str, lines)))}"
        if all(is_number(cell, decimal_comma=True) for cell in cells):
            if not self.form.decimal_comma and all(THOUSANDS.fullmatch(cell) for cell in cells):
                return f"{THOUSANDS_REMEDY}."
            mark = "comma" if self.form.decimal_comma else "point"
            return f"Numbers in this file have a decimal {mark}: write all of them with a {mark}."
        if among_numbers and all(cell == self.names[j] for j, found in text.items() for _, cell in found):
            return f"The header is repeated: remove {named_lines}."
        markers = sorted(cell for cell in cells if cell.lower() in USUAL_MARKERS)
        is_marked = {j: all(cell in markers for _, cell in found) for j, found in text.items()}
        others = [self.names[j] for j in sorted(text) if not is_marked[j]]
        remedy = f"{encode_or_drop(others)}." if others else ""
        if among_numbers and len(lines) <= _FEW_LINES:
            remedy = f"Correct {named_lines}, or remove what is not data, such as units or totals."
        if markers:
            options = " ".join(f"--na {shlex.quote(marker)}" for marker in markers)
            means = f"If {quoted(markers)} means a missing value, use {options} with --missing drop or em."
            remedy = f"{means} {f'Otherwise: {remedy}' if len(lines) <= _FEW_LINES else remedy}".rstrip()
        return remedy


@dataclass(frozen=True, eq=False)
class _Block:
    """Whole lines of a file, their share of the file in bytes, and the number of lines before them."""

    text: bytes
    begin: int
    end: int
    lines_before: Callable[[], int]

    def numbered_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, with their numbers in the file."""
        for number, line in enumerate(self.text.splitlines(), start=self.lines_before() + 1):
            if line.strip():
                yield number, line

    def place(self, row: int) -> str:
        """Describe the line of a row."""
        return f"line {[number for number, _ in self.numbered_lines()][row]}"


def _fields(line: bytes) -> list[bytes]:
    """Split a line at blanks outside of quotes."""
    return _BETWEEN_BLANKS.findall(line) if b'"' in line else line.split()


def _unexplained(block: _Block, error: Exception) -> ValueError:
    """Return the error for lines that cannot be parsed although each field is a number."""
    lines = dict(block.numbered_lines())
    unclosed = next((number for number, line in lines.items() if line.count(b'"') % 2), None)
    if unclosed:
        return ValueError(f"Line {unclosed} has a quotation mark that is not closed. Remove or close it.")
    return ValueError(f"Lines {min(lines)} to {max(lines)} cannot be read as a table ({first_line(error)}).")


@contextlib.contextmanager
def _decompressed(file: BinaryIO) -> Iterator[Any]:
    """Decompress a file; raise a ValueError if it is damaged."""
    try:
        with gzip.GzipFile(fileobj=file) as text:
            yield text
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"The compressed file is damaged or incomplete ({first_line(error)}).") from None


def _sample(text: Any) -> tuple[bytes, bool]:
    """Read the first lines of a file, however long they are; tell whether there is more."""
    sample: bytes = text.read(_SAMPLE_BYTES)
    while sample.count(b"\n") < _SAMPLE_LINES and len(sample) < _LARGEST_SAMPLE:
        more = text.read(len(sample))
        if not more:
            return sample, False
        sample += more
    return sample, bool(text.read(1))
