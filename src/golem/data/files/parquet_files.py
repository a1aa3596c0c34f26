"""Parquet files in pieces: runs of row groups, read in batches of rows, with the row group of what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from golem.data.files.batches import (
    Batch,
    Piece,
    as_floats,
    batch_rows,
    first_line,
    is_numeric,
    piece_bytes,
)
from golem.data.table_input import REMEDY_FOR_TEXT
from golem.runtime.messages import shortened

MAGIC = b"PAR1"
_WINDOWS, _SMALLEST_WINDOW = 1 << 24, 1 << 14
# Of each column the decoder holds a dictionary and a page, of a megabyte each as most programs write them.
_DECODER = 1 << 21


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Its bytes.
    names : tuple of str
        All its columns.
    na : tuple of str
        Numbers among these stand for missing values.
    """

    path: Path
    size: int
    names: tuple[str, ...]
    na: tuple[str, ...] = ()
    made_up_names = False

    @classmethod
    def open(cls, path: Path, na: tuple[str, ...] = ()) -> ParquetFile:
        """Read the schema."""
        with _opened(path) as file:
            return cls(path, path.stat().st_size, tuple(file.schema_arrow.names), na)

    def require_numeric(self, columns: Sequence[int]) -> None:
        """Raise a ValueError that lists the columns of another type, with an example."""
        with _opened(self.path) as file:
            schema = file.schema_arrow
            text = [j for j in columns if not is_numeric(schema.field(j).type)]
            if not text:
                return
            found = [f"{self.names[j]!r} (type {schema.field(j).type}{self._example(file, j)})" for j in text[:8]]
        found += [""] * (len(text) - len(found))  # counted, not shown
        raise ValueError(
            f"{len(text)} of {len(columns)} columns are not numeric: {shortened(found)}; {REMEDY_FOR_TEXT}"
        )

    def _example(self, file: Any, column: int) -> str:
        """Show a value of a column, where one is easily found."""
        for batch in file.iter_batches(1024, columns=[self.names[column]]):
            values = [value for value in batch.column(0).to_pylist() if value is not None]
            return f", such as {values[0]!r}" if values else ""
        return ""

    def memory(self, d: int) -> int:
        """Bytes of memory that reading d columns takes, about: the decoder, the windows and a decoded batch."""
        return d * _DECODER + _WINDOWS + 8 * d * batch_rows(d)

    def pieces(self, d: int) -> list[Piece]:
        """Cut the file into runs of row groups of a number of bytes."""
        with _opened(self.path) as file:
            metadata = file.metadata
            groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
        rows_in_all = sum(group.num_rows for group in groups)
        pieces, first, gathered, rows, begin, step = [], 0, 0, 0, 0, piece_bytes(d)
        for k, group in enumerate(groups):
            gathered += group.total_byte_size
            rows += group.num_rows
            if gathered >= step or k == len(groups) - 1:
                end = self.size * rows // rows_in_all if rows_in_all else self.size
                pieces.append(Piece(first, k + 1, begin, end))
                first, gathered, begin = k + 1, 0, end
        return pieces

    def batches(self, piece: Piece, columns: Sequence[int]) -> Iterator[Batch]:
        """Read the row groups of the piece, the columns at these positions, in this order."""
        names = [self.names[j] for j in columns]
        # Row groups can be large: of each column a window is read, not all of its bytes.
        with _opened(self.path, buffer_size=max(_SMALLEST_WINDOW, _WINDOWS // len(columns)), pre_buffer=False) as file:
            metadata = file.metadata
            sizes = [metadata.row_group(k).num_rows for k in range(piece.last)]
            start, rows_in_piece = sum(sizes[: piece.first]), sum(sizes[piece.first :])
            done, begin = 0, piece.begin
            for k in range(piece.first, piece.last):
                for batch in self._group(file, k, names):
                    place = partial(_place, start + done, f"row group {k + 1} of {metadata.num_row_groups}")
                    done += batch.num_rows
                    end = piece.begin + (piece.end - piece.begin) * done // rows_in_piece
                    yield Batch([as_floats(batch.column(name), self.na) for name in names], begin, end, place)
                    begin = end

    def _group(self, file: Any, k: int, names: list[str]) -> Iterator[Any]:
        """Read one row group; what cannot be decoded is an error that says so."""
        import pyarrow as pa

        try:
            # Other pieces keep the cores busy: threads in the decoder would only wait for each other.
            for batch in file.iter_batches(batch_rows(len(names)), [k], names, use_threads=False):
                if batch.num_rows:
                    yield batch
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"row group {k + 1} of {file.metadata.num_row_groups} cannot be read ({first_line(error)}); "
                "is the file damaged?"
            ) from None


def _place(start: int, group: str, row: int) -> str:
    return f"row {start + row + 1} ({group})"


def _opened(path: Path, **options: Any) -> Any:
    """Open a Parquet file; a file cut off has lost its footer, which says where everything is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError("not a Parquet file, whatever its name says")
    try:
        return pq.ParquetFile(path, page_checksum_verification=True, **options)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"not a readable Parquet file ({first_line(error)}); is it cut off?") from None
