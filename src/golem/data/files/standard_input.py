"""Standard input as a file, so that its rows can be read more than once."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

STANDARD_INPUT = "-"
_COPY = "golem-standard-input"


def source_name(path: str | Path) -> str:
    """Return what a file is called in messages; a copy of standard input is that.

    Examples
    --------
    >>> source_name("data/a.csv"), source_name("-")
    ('data/a.csv', 'standard input')
    """
    return "standard input" if str(path) == STANDARD_INPUT or Path(path).name == _COPY else str(path)


@contextlib.contextmanager
def spooled(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield the paths, with a copy of standard input in the place of `-`: rows may be read more than once.

    Raises
    ------
    ValueError
        If standard input is named, and is a keyboard or empty.
    """
    if STANDARD_INPUT not in paths:
        yield list(paths)
        return
    if sys.stdin.isatty():
        raise ValueError("- reads a table from standard input, and nothing comes from there; pipe one in")
    with tempfile.TemporaryDirectory(prefix="golem-") as folder:
        copy = Path(folder, _COPY)
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if not copy.stat().st_size:
            raise ValueError("standard input is empty: the program before the pipe wrote nothing")
        yield [str(copy) if path == STANDARD_INPUT else path for path in paths]
