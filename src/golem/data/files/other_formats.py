"""Excel, Stata, SPSS and Feather files: read by pandas or PyArrow, and copied to Parquet files of the same content."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from golem.data.files.batches import first_line
from golem.data.files.standard_input import COPY

# The name of the format, the function of pandas that reads it, and the package that it needs.
_FORMATS = {
    ".xlsx": ("Excel", "read_excel", "openpyxl"),
    ".xls": ("Excel", "read_excel", "xlrd"),
    ".ods": ("OpenDocument", "read_excel", "odfpy"),
    ".dta": ("Stata", "read_stata", ""),
    ".sav": ("SPSS", "read_spss", "pyreadstat"),
    ".feather": ("Feather", "", ""),
}
OTHER_ENDINGS = tuple(_FORMATS)


def as_parquet(path: Path) -> Path:
    """Return a Parquet file with the table of a file in one of these formats; other files as they are."""
    if path.suffix.lower() not in _FORMATS:
        return path
    return _copied(path, path.stat().st_mtime)


@functools.cache
def _copied(path: Path, changed: float) -> Path:
    """Copy a table to a Parquet file, which is deleted when the program ends; the time says whether it is current."""
    import pyarrow.parquet as pq

    copy = Path(copies_folder(), COPY + quote(str(path), safe=""))
    pq.write_table(_read(path), copy)
    return copy


def copies_folder() -> Path:
    """Return the folder of copies, which is deleted when the program ends."""
    return Path(_folder().name)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="golem-")


def _read(path: Path) -> Any:
    """Read a file as a PyArrow table; the first sheet of a workbook."""
    import pyarrow as pa
    from pyarrow import feather

    name, function, package = _FORMATS[path.suffix.lower()]
    try:
        if not function:
            return feather.read_table(path)
        import pandas as pd

        frame = getattr(pd, function)(path)
        frame.columns = [str(column) for column in frame.columns]
        texts = [column for column, kind in frame.dtypes.items() if kind == np.dtype(object)]  # of different types
        frame = frame.astype(dict.fromkeys(texts, "string"))
        return pa.Table.from_pandas(frame, preserve_index=False)
    except ImportError:
        needed = " ".join(["pandas", package] if package else ["pandas"])
        raise ValueError(
            f"This is a file of {name}, which golem reads with other packages. Install them (pip install {needed}), or "
            "save the table as CSV."
        ) from None
    except Exception as error:  # noqa: BLE001  each reader has its own
        raise ValueError(f"The file of {name} cannot be read ({first_line(error)[:200]}).") from None
