"""Standard input and other pipes, copied to files so that their rows can be read more than once."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

from golem.runtime.files import naming_file, temporary_folder

STANDARD_INPUT = "-"
COPY = "golem-copy-of-"


def source_name(path: str | Path) -> str:
    """Return the name of a file for messages; a copy has the name of its source.

    Examples
    --------
    >>> source_name("data/a.csv"), source_name("-")
    ('data/a.csv', 'standard input')
    """
    name = Path(path).name
    source = unquote(name.removeprefix(COPY)) if name.startswith(COPY) else str(path)
    return "standard input" if source == STANDARD_INPUT else source


@contextlib.contextmanager
def spooled(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield the paths, with `-` and pipes, such as those of process substitution, replaced by temporary copies."""
    pipes = {path for path in paths if path == STANDARD_INPUT or Path(path).is_fifo()}
    if not pipes:
        yield list(paths)
        return
    with temporary_folder() as folder:
        copies = {path: folder / (COPY + quote(path, safe="")) for path in pipes}
        for path, copy in copies.items():
            with _opened(path) as pipe, naming_file(copy), copy.open("wb") as file:
                shutil.copyfileobj(pipe, file)
            if not copy.stat().st_size:
                name = "Standard input" if path == STANDARD_INPUT else path
                raise ValueError(f"{name} is empty. Check the program before the pipe.")
        yield [str(copies.get(path, path)) for path in paths]


def _opened(path: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open standard input, which stays open afterwards, or another pipe."""
    if path != STANDARD_INPUT:
        return Path(path).open("rb")
    if sys.stdin is None or sys.stdin.closed:
        raise ValueError("'-' reads standard input, which is closed. Pipe a table into the command.")
    if sys.stdin.isatty():
        raise ValueError("'-' reads standard input, which is a terminal. Pipe a table into the command.")
    return contextlib.nullcontext(sys.stdin.buffer)
