"""Files that are written whole or not at all, and the text of CSV files."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# A number as many countries write it, such as 0,5.
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


def write_text(path: Path, content: str) -> None:
    """Write a file so that a reader sees the old content or the new, never a part."""
    with replacing(path) as temporary:
        temporary.write_text(content, encoding="utf-8")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when all went well."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def csv_text(rows: list[list[Any]]) -> str:
    """Text of a CSV file, with every float in full: its repr reads back as the same number."""
    buffer = io.StringIO()
    for row in rows:
        cells = [repr(float(x)) if isinstance(x, float) else x for x in row]
        # Python's writer leaves a lone carriage return bare, and its reader takes that for the end of the line.
        has_return = any("\r" in str(x) for x in cells)
        writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL)
        writer.writerow(cells)
    return buffer.getvalue()


def require_writable(output: Path) -> None:
    """Raise before the work, not after it, where the results cannot be written."""
    existing = output
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir():
        raise ValueError(f"{existing} is a file; name a folder for the results (-o)")
    if not os.access(existing, os.W_OK):
        raise ValueError(f"{existing} cannot be written to; name another folder for the results (-o)")
