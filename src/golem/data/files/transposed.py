"""Tables with variables in rows, as gene expression comes: copied to files with variables in columns."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from golem.data.files.batches import naming
from golem.data.files.npy_files import NpyFile
from golem.data.files.ordered_rows import read_cells
from golem.data.files.other_formats import copies_folder
from golem.data.files.standard_input import COPY
from golem.data.files.streaming import coded_batches, plan
from golem.data.files.table_files import TableFiles
from golem.runtime.names import column_names
from golem.runtime.types import Matrix


def transposed(path: str, header: bool | None, na: tuple[str, ...]) -> str:
    """Return a file with the rows of another one as columns; its first or last column, if it is text, has the names."""
    with naming(Path(path)):
        return str(_copied(path, Path(path).stat().st_mtime, header, na))


@functools.cache
def _copied(path: str, changed: float, header: bool | None, na: tuple[str, ...]) -> Path:
    """Copy a table, transposed; the time says whether the copy is current."""
    with warnings.catch_warnings(action="ignore"):  # of an index, which has the names
        files = TableFiles.open([path], header=header, na=na)
    copy, first = copies_folder() / (COPY + quote(path, safe="")), files.files[0]
    if isinstance(first, NpyFile):
        with copy.open("wb") as file:
            np.save(file, np.load(path, mmap_mode="r").T)  # the same bytes in the other order
        return copy
    unused = [name for name in first.names if name not in files.names]
    labels = None
    for named in (*unused, first.names[0], first.names[-1]):  # pandas writes an index last into a Parquet file
        if (labels := _texts(read_cells(files, named))) is not None:
            files = TableFiles.open([path], header=header, na=na, drop=[named])
            break
    batches = [batch.columns for task in plan(files) for batch in coded_batches(task) if batch.columns]
    _write(copy, np.concatenate([np.column_stack(columns) for columns in batches]), labels)
    return copy


def _texts(cells: Sequence[Any]) -> list[str] | None:
    """Return cells as texts, or None if all are numbers."""
    texts = [str(cell) for cell in cells]
    try:
        np.array(texts, dtype=float)
    except ValueError:
        return texts
    return None


def _write(path: Path, rows: Matrix, names: Sequence[str] | None) -> None:
    """Write a Parquet file with a column per row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table([pa.array(row) for row in rows], names=list(column_names(names, len(rows))))
    pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
