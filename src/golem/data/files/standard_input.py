"""Standard input, copied to a file so that its rows can be read more than once."""

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
    """Return the name of a file for messages; a copy of standard input is called "standard input".

    Examples
    --------
    >>> source_name("data/a.csv"), source_name("-")
    ('data/a.csv', 'standard input')
    """
    return "standard input" if str(path) == STANDARD_INPUT or Path(path).name == _COPY else str(path)


@contextlib.contextmanager
def spooled(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield the paths, with `-` replaced by a temporary copy of standard input."""
    if STANDARD_INPUT not in paths:
        yield list(paths)
        return
    if sys.stdin.isatty():
        raise ValueError("'-' reads standard input, which is a terminal. Pipe a table into the command.")
    with tempfile.TemporaryDirectory(prefix="golem-") as folder:
        copy = Path(folder, _COPY)
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if not copy.stat().st_size:
            raise ValueError("Standard input is empty. Check the program before the pipe.")
        yield [str(copy) if path == STANDARD_INPUT else path for path in paths]
