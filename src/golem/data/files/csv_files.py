"""Text tables in pieces: ranges of bytes that end at line ends, parsed by PyArrow, with the line of what is wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import itertools
import re
import shlex
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from golem.data.files.batches import Batch, Piece, as_floats, block_bytes, first_line, is_numeric, piece_bytes
from golem.data.files.csv_format import (
    BETWEEN_BLANKS,
    MISSING_WORDS,
    THOUSANDS,
    THOUSANDS_REMEDY,
    USUAL_MARKERS,
    CsvFormat,
    is_number,
    named_separator,
    sniff_csv,
    split_line,
    without_blanks_around_fields,
)
from golem.data.table_input import REMEDY_FOR_TEXT
from golem.runtime.messages import quoted, shortened
from golem.runtime.names import column_names

_SAMPLE_BYTES, _SAMPLE_LINES, _LARGEST_SAMPLE, _SCAN_BYTES = 1 << 16, 10, 1 << 26, 1 << 24
_PARSED_BYTES, _PARSED_LINES = 1 << 20, 64
# Text in no more lines than these, in columns of numbers, is a fault of the lines.
_FEW_LINES = 3
SAVED_INDEX = "Unnamed: 0"
_GZIP, _BYTE_ORDER_MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
_BETWEEN_BLANKS = re.compile(BETWEEN_BLANKS.encode())


@dataclass(frozen=True)
class CsvFile:
    """A text table, plain or compressed by gzip.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Its bytes on disk.
    names : tuple of str
        All its columns. A first one without a name is called as pandas calls it: it is a saved row index, or R's names
        of rows.
    made_up_names : bool
        Whether the file has no header line.
    form : CsvFormat
        How it is written.
    start : int
        The byte, after decompression, at which the rows begin.
    is_compressed : bool
        Whether it is compressed; such a file is one piece, because it can be read from its beginning alone.
    na : tuple of str
        What stands for a missing value in it, beside empty cells and the usual words.
    """

    path: Path
    size: int
    names: tuple[str, ...]
    made_up_names: bool
    form: CsvFormat
    start: int
    is_compressed: bool
    na: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        path: Path,
        file: BinaryIO,
        header: bool | None = None,
        like: CsvFile | None = None,
        na: tuple[str, ...] = (),
    ) -> CsvFile:
        """Look at the beginning of a file that is open; `like` is an earlier file of the same table."""
        file.seek(0)
        is_compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        with _decompressed(file) if is_compressed else contextlib.nullcontext(file) as text:
            sample, truncated = _sample(text)
        form = sniff_csv(sample, truncated, na)
        begin = len(_BYTE_ORDER_MARK) if sample.startswith(_BYTE_ORDER_MARK) else 0
        lines = sample[begin:].splitlines(keepends=True)
        first = next(
            k for k, line in enumerate(lines) if line.strip() and not named_separator(line.decode(form.encoding))
        )
        begin += sum(map(len, lines[:first]))
        # NumPy's savetxt marks its header as a comment.
        fields = split_line(lines[first].decode(form.encoding).removeprefix("#"), form.separator)
        names = (([""] if form.row_names else []) + fields)[: form.columns]
        names[0] = names[0] or (f"{SAVED_INDEX}.0" if SAVED_INDEX in names else SAVED_INDEX)
        decimal_comma = form.decimal_comma
        if like is not None and like.form.separator == form.separator:
            decimal_comma |= like.form.decimal_comma  # a few lines without a decimal mark tell nothing
        has_header = form.has_header if header is None else header
        return cls(
            path,
            path.stat().st_size,
            tuple(names) if has_header else column_names(None, len(names)),
            not has_header,
            dataclasses.replace(form, has_header=has_header, decimal_comma=decimal_comma),
            begin + (len(lines[first]) if has_header else 0),
            is_compressed,
            na,
        )

    def require_numeric(self, columns: Sequence[int]) -> None:
        """Text declares no types: only the rows can tell."""

    def memory(self, d: int) -> int:
        """Bytes of memory that reading d columns takes, about: the text and its columns."""
        return 2 * block_bytes(d)

    def pieces(self, d: int) -> list[Piece]:
        """Cut the file at multiples of a number of bytes; a line belongs to the piece that it begins in."""
        if self.is_compressed:
            return [Piece(0, self.size, 0, self.size)]
        cuts = [*range(0, self.size, piece_bytes(d)), self.size]
        return [Piece(begin, end, begin, end) for begin, end in itertools.pairwise(cuts)]

    def batches(self, piece: Piece, columns: Sequence[int]) -> Iterator[Batch]:
        """Read the lines that begin in the piece, the columns at these positions, in this order."""
        size = block_bytes(len(columns))
        for block in self._stream(size) if self.is_compressed else self._lines(piece, size):
            is_blank = not block.text or block.text.isspace()
            found = [] if is_blank else self._parsed(block, columns).columns
            yield Batch([as_floats(column, self.na) for column in found], block.begin, block.end, block.place)

    def _lines(self, piece: Piece, size: int) -> Iterator[_Block]:
        """Read the lines that begin in a range of bytes, in blocks of about a size."""
        with self.path.open("rb") as file:
            for begin in range(piece.first, piece.last, size):
                end = min(piece.last, begin + size)
                first, last = self._line_from(begin, file), self._line_from(end, file)
                file.seek(first)
                yield _Block(file.read(last - first), begin, end, partial(self._lines_before, first))

    def _line_from(self, position: int, file: Any) -> int:
        """Find where the first line begins that does not begin before a byte."""
        if position <= self.start:
            return self.start
        file.seek(position - 1)
        return position - 1 + len(file.readline())

    def _lines_before(self, position: int) -> int:
        """Count the lines before a byte; only a message needs them."""
        lines = 0
        with self.path.open("rb") as file:
            while position > 0 and (text := file.read(min(position, _SCAN_BYTES))):
                lines += text.count(b"\n")
                position -= len(text)
        return lines

    def _stream(self, size: int) -> Iterator[_Block]:
        """Read a compressed file in blocks of lines of about a size."""
        with self.path.open("rb") as file, _decompressed(file) as text:
            lines, begin = text.read(self.start).count(b"\n"), 0
            while block := text.read(size):
                block += text.readline()
                end = file.tell()
                yield _Block(block, begin, end, partial(int, lines))
                begin, lines = end, lines + block.count(b"\n")

    def _parsed(self, block: _Block, columns: Sequence[int]) -> Any:
        """Parse a block as numbers; where that fails, as what PyArrow takes it for, which knows true and false."""
        import pyarrow as pa

        positions = [str(j) for j in columns]
        numbers = dict.fromkeys(positions, pa.float64())
        # PyArrow is fastest where what it holds at a time fits into the cache.
        step = max(_PARSED_BYTES, _PARSED_LINES * (block.text.find(b"\n") + 1))
        try:
            return self._read(block.text, positions, numbers, step)
        except pa.ArrowInvalid as error:
            trimmed = self._trimmed(block.text)
            if trimmed != block.text:
                with contextlib.suppress(pa.ArrowInvalid):
                    return self._read(trimmed, positions, numbers, step)
            with contextlib.suppress(pa.ArrowInvalid):
                table = self._read(trimmed, positions, {}, len(trimmed) + 1)
                if all(map(is_numeric, table.schema.types)):
                    return table
            raise ValueError(self._complaint(block, columns) or _unexplained(block, error)) from None

    def _trimmed(self, text: bytes) -> bytes:
        """Take away the blanks around fields, which PyArrow takes for text where there is no number between them."""
        if self.form.separator == " ":
            return text
        decoded = text.decode(self.form.encoding, "surrogateescape")
        trimmed = without_blanks_around_fields(decoded, self.form.separator)
        return trimmed.encode(self.form.encoding, "surrogateescape")

    def _read(self, text: bytes, positions: list[str], types: dict[str, Any], step: int) -> Any:
        import pyarrow as pa
        import pyarrow.csv as pacsv

        separator = self.form.separator
        if separator == " ":  # any run of blanks separates; PyArrow knows single characters only
            text, separator = b"\n".join(b"\t".join(_fields(line)) for line in text.splitlines()), "\t"
        names = [str(j) for j in range(len(self.names) + self.form.padding)]
        nothing = dict.fromkeys(names[len(self.names) :], pa.null())
        # The columns go by their positions, because names in files can be anything. Other blocks keep the cores busy.
        table = pacsv.read_csv(
            pa.BufferReader(text),
            read_options=pacsv.ReadOptions(
                use_threads=False,
                block_size=step,
                column_names=names,
                # Numbers are the same in both, and Latin-1 takes bytes that Windows leaves out.
                encoding="latin-1" if self.form.encoding == "cp1252" else self.form.encoding,
            ),
            parse_options=pacsv.ParseOptions(delimiter=separator),
            convert_options=pacsv.ConvertOptions(
                include_columns=[*positions, *nothing],
                column_types=types | nothing,  # a value in a column that is taken for empty is an error
                null_values=[*sorted(MISSING_WORDS), *self.na],
                decimal_point="," if self.form.decimal_comma else ".",
            ),
        )
        return table.select(positions)

    def _complaint(self, block: _Block, columns: Sequence[int]) -> str:
        """Say which line of a block has too many or too few fields or values, or else which cells are no numbers."""
        text: dict[int, list[tuple[int, str]]] = {}
        have_numbers, d = set(), len(self.names)
        for number, line in block.numbered_lines():
            fields = split_line(line.decode(self.form.encoding, "replace"), self.form.separator)
            if len(fields) != d + self.form.padding:
                wanted = d + self.form.padding
                return f"line {number} has {len(fields)} fields, not {wanted}; is the file cut off or damaged?"
            for j, field in enumerate(fields[d:], start=d + 1):
                if field not in self.na and field not in MISSING_WORDS:
                    return (
                        f"column {j} has no name, and {field!r} in line {number} after empty cells; name the column in "
                        "the first line, or empty the cell"
                    )
            for j in columns:
                if not self._is_readable(fields[j]):
                    text.setdefault(j, []).append((number, fields[j]))
                elif fields[j]:
                    have_numbers.add(j)
        whole = block.begin == 0 and block.end == self.size
        found = []
        for j in sorted(text):
            (number, cell), others = text[j][0], len(text[j]) - 1
            more = f" and {'' if whole else 'at least '}{others} more" if others else ""
            found.append(f"{self.names[j]!r} ({cell!r} in line {number}{more})")
        if not found:
            return ""
        remedy = self._remedy(text, among_numbers=have_numbers.issuperset(text))
        return f"{len(found)} of {len(columns)} columns are not numeric: {shortened(found)}; {remedy}"

    def _is_readable(self, field: str) -> bool:
        """Tell whether a field holds a number, with the decimal mark of this file, or stands for a missing one."""
        other_mark = self.form.decimal_comma and "." in field and field not in self.na
        return is_number(field, self.form.decimal_comma, self.na) and not other_mark

    def _remedy(self, text: dict[int, list[tuple[int, str]]], among_numbers: bool) -> str:
        """Say what to do about cells that are no numbers, given by column with their lines, among numbers or not."""
        cells = {cell for found in text.values() for _, cell in found}
        lines = sorted({number for found in text.values() for number, _ in found})
        if all(is_number(cell, decimal_comma=True) for cell in cells):
            mark, other = ("comma", "point") if self.form.decimal_comma else ("point", "comma")
            if mark == "point" and all(THOUSANDS.fullmatch(cell) for cell in cells):
                return THOUSANDS_REMEDY
            return f"the numbers of this file are read with a decimal {mark}, not a {other}: write all with a {mark}"
        if among_numbers and all(cell == self.names[j] for j, found in text.items() for _, cell in found):
            return f"the names of the columns stand there again: remove {_named_lines(lines)}"
        remedy = REMEDY_FOR_TEXT
        if among_numbers and len(lines) <= _FEW_LINES:
            remedy = f"mend {_named_lines(lines)}, or remove what is no row of data, such as units or totals"
        markers = sorted(cell for cell in cells if cell.lower() in USUAL_MARKERS)
        if markers:
            typed = " ".join(f"--na {shlex.quote(marker)}" for marker in markers)
            meaning = f"where {quoted(markers)} stands for a missing value, say so with na={markers} ({typed})"
            remedy = f"{meaning}; or {remedy}"
        return remedy


@dataclass(frozen=True, eq=False)
class _Block:
    """Whole lines of a file, the bytes of the file that they stand for, and the number of lines before them."""

    text: bytes
    begin: int
    end: int
    lines_before: Callable[[], int]

    def numbered_lines(self) -> Iterator[tuple[int, bytes]]:
        """Lines that are not blank, with their numbers in the file."""
        for number, line in enumerate(self.text.splitlines(), start=self.lines_before() + 1):
            if line.strip():
                yield number, line

    def place(self, row: int) -> str:
        """Say in which line of the file a row stands."""
        return f"line {[number for number, _ in self.numbered_lines()][row]}"


def _named_lines(numbers: Sequence[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {shortened(list(map(str, numbers)))}"


def _fields(line: bytes) -> list[bytes]:
    """Split a line at blanks, those in quotes apart."""
    return _BETWEEN_BLANKS.findall(line) if b'"' in line else line.split()


def _unexplained(block: _Block, error: Exception) -> str:
    """Say what is wrong with lines whose fields are numbers one by one."""
    for number, line in block.numbered_lines():
        if line.count(b'"') % 2:
            return f"line {number} has a quotation mark that is not closed; remove it, or close it"
    lines = [number for number, _ in block.numbered_lines()]
    return f"lines {lines[0]} to {lines[-1]} are not a readable table ({first_line(error)})"


@contextlib.contextmanager
def _decompressed(file: BinaryIO) -> Iterator[Any]:
    """Read the text of a compressed file; one that is damaged is an error that says so."""
    try:
        with gzip.GzipFile(fileobj=file) as text:
            yield text
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"a damaged or incomplete compressed file ({first_line(error)})") from None


def _sample(text: Any) -> tuple[bytes, bool]:
    """Read the start of a file, enough for a few lines however long they are; tell whether there is more."""
    sample: bytes = text.read(_SAMPLE_BYTES)
    while sample.count(b"\n") < _SAMPLE_LINES and len(sample) < _LARGEST_SAMPLE:
        more = text.read(len(sample))
        if not more:
            return sample, False
        sample += more
    return sample, bool(text.read(1))
