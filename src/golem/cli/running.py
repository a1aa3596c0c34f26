"""Errors that the user can fix."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import NoReturn

import typer

from golem.cli.terminal import err
from golem.runtime.dialects import SHELL
from golem.runtime.files import NO_SPACE
from golem.runtime.interrupts import begin_work
from golem.runtime.problems import told

# Words of scikit-learn for the shape of a table.
_SIZE = re.compile(r" \(n_\w+ = 1\)|n_samples = (\d+)")


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn an error that the user can fix into a message and exit code 1."""
    begin_work()
    try:
        yield
    except (ValueError, OSError, MemoryError) as error:
        fail(_sentence(error))


def _sentence(error: Exception) -> str:
    """Return the message of an error; of one from the operating system, the file and the cause."""
    if not isinstance(error, OSError) or error.strerror is None or error.filename is None:
        return _SIZE.sub(lambda m: f"{m[1]} rows" if m[1] else "", told(error, SHELL)) or "Not enough memory."
    remedy = " Free some space, or use another disk." if error.errno in NO_SPACE else ""
    return f"{error.strerror}: {str(error.filename)!r}.{remedy}"


def fail(message: str) -> NoReturn:
    """Print an error message and end with exit code 1."""
    err.print(f"Error: {message}", style="red")
    raise typer.Exit(1)
