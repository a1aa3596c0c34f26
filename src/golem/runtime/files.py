"""Atomic writing of files, temporary folders, and the text of CSV files."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from golem.runtime.problems import ProblemError

# A number with a decimal comma, such as 0,5.
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")

# Codes of errors that a full disk causes.
NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_temporary_folders: set[Path] = set()


def write_text(path: Path, content: str) -> None:
    """Write a file so that readers see either the old or the new content, never a part."""
    with replacing(path) as temporary:
        temporary.write_text(content, encoding="utf-8")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path` that replaces it if no error occurs; errors name `path`.

    A device or a pipe, such as /dev/stdout, is written to.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with naming_file(path), temporary_folder() as folder:
            yield folder / path.name
            path.write_bytes((folder / path.name).read_bytes())
        return
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        with naming_file(path):
            yield temporary
            temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Add the name of the file to an OSError, which a full disk leaves out."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


@contextlib.contextmanager
def temporary_folder(prefix: str = "golem-", parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder that is removed at the end of the block, or of the process."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as name:
        path = Path(name)
        _temporary_folders.add(path)
        try:
            yield path
        finally:
            _temporary_folders.discard(path)


def remove_temporary_folders() -> None:
    """Remove the temporary folders of this process, before it ends without leaving their blocks."""
    import shutil

    for path in list(_temporary_folders):
        shutil.rmtree(path, ignore_errors=True)


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Return the text of a CSV file with floats in full precision."""
    buffer = io.StringIO()
    usual, quoting = (
        csv.writer(buffer, lineterminator="\n", quoting=how) for how in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    for row in rows:
        cells = [float(x) if isinstance(x, float) else x for x in row]  # the writer knows no floats of NumPy
        # Python's writer does not quote a lone carriage return, which its reader takes as the end of the line.
        has_return = any("\r" in x for x in cells if isinstance(x, str))
        (quoting if has_return else usual).writerow(cells)
    return buffer.getvalue()


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet would compute a cell of a CSV file instead of showing it."""
    if not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def without_formulas(text: str) -> str:
    r"""Return a CSV text with an apostrophe before each formula, so that spreadsheets show it.

    Examples
    --------
    >>> without_formulas("source,weight\n=1+1,-0.5\n")
    "source,weight\n'=1+1,-0.5\n"
    """
    rows = csv.reader(io.StringIO(text, newline=""))
    return csv_text([[f"'{cell}" if is_formula(cell) else cell for cell in row] for row in rows])


def require_writable(output: Path, what: str = "folder") -> None:
    """Raise a ValueError, before the work begins, if results cannot be written to a folder.

    `what` the user named: the folder, or a file in it.
    """
    existing = output
    while not os.path.lexists(existing):
        existing = existing.parent
    if not existing.exists():
        raise ProblemError.of(
            "{existing} is a link that leads nowhere. Choose another {what} for the results ({output=...}).",
            existing=existing,
            what=what,
        )
    if not existing.is_dir():
        raise ProblemError.of(
            "{existing} is a file, not a folder. Choose another {what} for the results ({output=...}).",
            existing=existing,
            what=what,
        )
    if not os.access(existing, os.W_OK):
        raise ProblemError.of(
            "The folder {existing} is not writable. Choose another {what} for the results ({output=...}).",
            existing=existing,
            what=what,
        )
