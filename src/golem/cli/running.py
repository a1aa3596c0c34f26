"""Errors that the user can fix."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator
from typing import NoReturn

import typer

from golem.cli.terminal import err
from golem.runtime.interrupts import begin_work
from golem.runtime.messages import counted

_NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
# Settings that are options, as messages write them.
_NAMES = (
    "device|effort|intercepts|intervention|lambda_dag|lambda_sparsity|max_iter|missing|noise|select|solver|threshold|"
    "time_limit"
)
# Words of scikit-learn for the shape of a table.
_SIZE = re.compile(r"n_(?:sample|feature)s = (\d+)")
_SETTING = re.compile(rf"(?<![^ (])({_NAMES})='?([\w.:+-]*\w|[.]+)'?")


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
        text = _SIZE.sub(lambda m: counted(int(m[1]), "row" if "sample" in m[0] else "column"), str(error))
        return _SETTING.sub(lambda m: f"--{m[1].replace('_', '-')} {m[2]}", text) or "Not enough memory."
    remedy = " Free some space, or use another disk." if error.errno in _NO_SPACE else ""
    return f"{error.strerror}: {str(error.filename)!r}.{remedy}"


def fail(message: str) -> NoReturn:
    """Print an error message and end with exit code 1."""
    err.print(f"Error: {message}", style="red")
    raise typer.Exit(1)
