"""Text tables in pieces of whole lines, parsed by PyArrow, with the line numbers of errors."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import itertools
import math
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from golem.data.files.batches import (
    NO_LEVELS,
    Batch,
    Piece,
    block_bytes,
    count_cells,
    different_cells,
    first_line,
    make_batch,
    piece_bytes,
    with_texts,
)
from golem.data.files.csv_errors import Block, lines_error, unexplained
from golem.data.files.csv_format import (
    BETWEEN_BLANKS,
    CsvFormat,
    is_readable,
    sniff_csv,
    split_line,
    table_start,
    without_blanks_around_fields,
)
from golem.data.files.markers import (
    MISSING_MARKS,
    MISSING_WORDS,
    NO_MARKERS,
    Markers,
)
from golem.data.table_input import parsed
from golem.data.variables import LEADING_ZEROS
from golem.runtime.names import column_names

_SAMPLE_BYTES, _SAMPLE_LINES, _LARGEST_SAMPLE, _SCAN_BYTES = 1 << 16, 10, 1 << 26, 1 << 24
_PARSED_BYTES, _PARSED_LINES = 1 << 20, 64
_HEAD_LINES, _HEAD_CELLS = 25, 5_000
# A quick search for lines that may have a number with leading zeros.
_LEADING_ZERO = re.compile(rb"(?<![\w.:+/-])0[0-9]")
SAVED_INDEX = "Unnamed: 0"
_GZIP, _BYTE_ORDER_MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
_BETWEEN_BLANKS = re.compile(BETWEEN_BLANKS.encode())


@dataclass(frozen=True)
class CsvFile:
    """A text table, plain or compressed with gzip.

    `size` is the number of bytes on disk, and `start` the byte, after decompression, where the rows begin. `na` are
    markers of missing values in addition to empty cells and the usual words. A first column without a name, which is a
    saved row index or R's row names, gets the name that pandas gives it. `text` and `padded` are the columns that have
    text, and numbers with leading zeros, in the first lines.
    """

    path: Path
    size: int
    names: tuple[str, ...]
    made_up_names: bool
    form: CsvFormat
    start: int
    is_compressed: bool
    na: Markers = NO_MARKERS
    text: frozenset[int] = frozenset()
    padded: frozenset[int] = frozenset()
    has_types = False

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
        opened = cls(
            path,
            path.stat().st_size,
            columns,
            not has_header,
            dataclasses.replace(
                form,
                has_header=has_header,
                decimal_comma=decimal_comma,
                doubtful=form.doubtful if header is None else (),
            ),
            begin + (len(lines[first]) if has_header else 0),
            is_compressed,
            Markers.of(na, columns),
        )
        rows = lines[first + has_header :]
        some = rows[: max(2, min(_HEAD_LINES, _HEAD_CELLS // len(names)))]
        with_zeros = [line for line in rows if _LEADING_ZERO.search(line)][:_HEAD_LINES]
        opened = opened._with_types([line.decode(form.encoding, "replace") for line in some if line.strip()])
        return opened._with_padded([line.decode(form.encoding, "replace") for line in with_zeros])

    def _with_types(self, lines: list[str]) -> CsvFile:
        """Return the file with the columns that have text in some of its lines."""
        rows = [fields for line in lines if len(fields := split_line(line, self.form.separator)) >= len(self.names)]
        columns = enumerate(map(set, itertools.islice(zip(*rows, strict=False), len(self.names))))
        text = {j for j, cells in columns if None in [self.number(cell, self.names[j]) for cell in cells]}
        return dataclasses.replace(self, text=frozenset(text))

    def _with_padded(self, lines: list[str]) -> CsvFile:
        """Return the file with the columns of whole numbers that have leading zeros in some of its lines."""
        cells = [(j, cell) for line in lines for j, cell in enumerate(split_line(line, self.form.separator))]
        padded = {j for j, cell in cells if j < len(self.names) and LEADING_ZEROS.fullmatch(cell)}
        return dataclasses.replace(self, padded=frozenset(padded - self.text))

    def require_numeric(self, columns: Sequence[int]) -> None:
        """Do nothing: text declares no types, so errors appear when rows are read."""

    def texts(self, columns: Sequence[int]) -> frozenset[int]:
        """Return the columns with text in the first lines; there may be more below them."""
        return self.text.intersection(columns)

    def number(self, cell: str, name: str) -> float | None:
        """Return the number in a cell of a column, NaN if it is missing, or None if it is text."""
        if self.na.is_missing(cell, name):
            return math.nan
        if not is_readable(cell, self.form.decimal_comma):
            return None
        return parsed(cell.replace(",", ".") if self.form.decimal_comma else cell)

    def number_in(self, cell: str, name: str) -> str | None:
        """Return the name of the number in a cell of a column, "" if it is missing, or None if it is text."""
        number = self.number(cell, name)
        return None if number is None else self.na.number_name(number, name)

    def memory(self, d: int) -> int:
        """Estimate the bytes of memory for reading d columns: the text and its columns."""
        return 2 * block_bytes(d)

    def pieces(self, d: int) -> list[Piece]:
        """Divide the file at multiples of a number of bytes; a line belongs to the piece in which it begins."""
        if self.is_compressed:
            return [Piece(0, self.size, 0, self.size)]
        cuts = [*range(0, self.size, piece_bytes(d)), self.size]
        return [Piece(begin, end, begin, end) for begin, end in itertools.pairwise(cuts)]

    def batches(
        self, piece: Piece, columns: Sequence[int], levels: Mapping[int, Sequence[str]] = NO_LEVELS
    ) -> Iterator[Batch]:
        """Read the columns at these positions, in this order, from the lines that begin in the piece.

        `levels` has the levels of columns of text, which are read as codes.
        """
        numbers, texts = [j for j in columns if j not in levels], [j for j in columns if j in levels]
        names = [self.names[j] for j in numbers]
        for block in self._blocks(piece, len(columns)):
            batch = Batch([], block.begin, block.end, block.place)
            if numbers and not block.is_blank:
                table, marks = self._parsed(block, numbers)
                batch = make_batch(table, names, self.na, block.begin, block.end, block.place, marks)
            if texts and not block.is_blank:
                found = dict(zip(texts, self._cells(block, texts), strict=True))
                batch = with_texts(batch, found, columns, [self.names[j] for j in columns], levels)
            yield batch

    def cells(self, piece: Piece, columns: Sequence[int]) -> Iterator[list[dict[str, int]]]:
        """Count the cells of columns, by their text."""
        for block in self._blocks(piece, len(columns)):
            if not block.is_blank:
                found = self._cells(block, columns)
                yield [count_cells(cells, rows) for cells, rows in found]

    def column_texts(self, piece: Piece, column: int) -> list[str | None]:
        """Return the cells of a column as text, in the order of the rows."""
        found: list[str | None] = []
        for block in self._blocks(piece, 1):
            if not block.is_blank:
                ((cells, rows),) = self._cells(block, [column])
                found += [cells[k] for k in rows.tolist()]
        return found

    def _blocks(self, piece: Piece, d: int) -> Iterator[Block]:
        """Read the lines that begin in the piece, in blocks."""
        return self._stream(block_bytes(d)) if self.is_compressed else self._lines(piece, block_bytes(d))

    def _cells(self, block: Block, columns: Sequence[int]) -> list[tuple[list[str | None], NDArray[np.intp]]]:
        """Return the different cells of each column, and for each row which it has."""
        import pyarrow as pa

        positions = [str(j) for j in columns]
        types = dict.fromkeys(positions, pa.binary())
        text = self._without_blanks_before_quotes(block.text) if b'"' in block.text else block.text
        try:
            table = self._read(text, positions, types, len(text) + 1, ())
        except pa.ArrowInvalid:
            text = self._trimmed(block.text)  # of blank lines
            try:
                table = self._read(text, positions, types, len(text) + 1, ())
            except pa.ArrowInvalid as error:
                raise lines_error(self, block, ()) or unexplained(block, error) from None
        return [different_cells(table[name], self._decoded) for name in positions]

    def _without_blanks_before_quotes(self, text: bytes) -> bytes:
        """Remove blanks between a separator and a quote, which PyArrow would take for text in front of the quote."""
        mark = re.escape(self.form.separator.encode())
        return text if mark == rb"\ " else re.sub(rb'((?:^|%b)) +(?=")' % mark, rb"\1", text, flags=re.MULTILINE)

    def _decoded(self, cell: bytes) -> str:
        """Return the text of a cell, which PyArrow has encoded in UTF-8."""
        text = cell.decode("utf8", "replace")
        if self.form.encoding == "cp1252":  # read as Latin-1, see `_read`
            text = text.encode("latin-1", "replace").decode("cp1252", "replace")
        return text

    def _lines(self, piece: Piece, size: int) -> Iterator[Block]:
        """Read the lines that begin in the piece, in blocks of about `size` bytes."""
        with self.path.open("rb") as file:
            for begin in range(piece.first, piece.last, size):
                end = min(piece.last, begin + size)
                first, last = self._line_from(begin, file), self._line_from(end, file)
                file.seek(first)
                yield Block(file.read(last - first), begin, end, partial(self._lines_before, first))

    def _line_from(self, position: int, file: Any) -> int:
        """Return the start of the first line that begins at or after a position."""
        if position <= self.start:
            return self.start
        file.seek(position - 1)
        return position - 1 + len(_rest_of_line(file))

    def _lines_before(self, position: int) -> int:
        """Count the lines before a position, for messages."""
        lines = 0
        with self.path.open("rb") as file:
            while position > 0 and (text := file.read(min(position, _SCAN_BYTES))):
                lines += text.count(b"\n")
                position -= len(text)
        return lines

    def _stream(self, size: int) -> Iterator[Block]:
        """Read a compressed file in blocks of whole lines of about `size` bytes."""
        with self.path.open("rb") as file, _decompressed(file) as text:
            lines, begin = text.read(self.start).count(b"\n"), 0
            while block := text.read(size):
                block += _rest_of_line(text)
                end = file.tell()
                yield Block(block, begin, end, partial(int, lines))
                begin, lines = end, lines + block.count(b"\n")

    def _parsed(self, block: Block, columns: Sequence[int]) -> tuple[Any, dict[str, dict[str, int]]]:
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
            raise lines_error(self, block, columns) or unexplained(block, error) from None

    def _with_marks(
        self, table: Any, text: bytes, block: Block, columns: Sequence[int]
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
                raise lines_error(self, block, columns) or ValueError(f"Column {self.names[j]!r} cannot be read.")
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


def _fields(line: bytes) -> list[bytes]:
    """Split a line at blanks outside of quotes."""
    return _BETWEEN_BLANKS.findall(line) if b'"' in line else line.split()


@contextlib.contextmanager
def _decompressed(file: BinaryIO) -> Iterator[Any]:
    """Decompress a file; raise a ValueError if it is damaged."""
    try:
        with gzip.GzipFile(fileobj=file) as text:
            yield text
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"The compressed file is damaged or incomplete ({first_line(error)}).") from None


def _rest_of_line(text: Any) -> bytes:
    """Read to the end of a line; raise a ValueError if it is longer than any line of a table."""
    rest: bytes = text.readline(_LARGEST_SAMPLE)
    if len(rest) == _LARGEST_SAMPLE and not rest.endswith(b"\n"):
        raise _too_long()
    return rest


def _too_long() -> ValueError:
    return ValueError(f"A line is longer than {_LARGEST_SAMPLE >> 20} MB. Look for a damaged file.")


def _sample(text: Any) -> tuple[bytes, bool]:
    """Read the first lines of a file, however long they are; tell whether there is more."""
    sample: bytes = text.read(_SAMPLE_BYTES)
    while sample.count(b"\n") < _SAMPLE_LINES and len(sample) < _LARGEST_SAMPLE:
        more = text.read(len(sample))
        if not more:
            return sample, False
        sample += more
    if len(sample) >= _LARGEST_SAMPLE and sample.count(b"\n") < 3:  # also of compressed zeros
        raise _too_long()
    return sample, bool(text.read(1))
