"""Errors and exit codes of all commands."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NoReturn

import typer

from golem.cli.terminal import err

INTERRUPTED_EXIT_CODE = 130


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn an error that the user can fix into a message and exit code 1."""
    try:
        yield
    except (ValueError, OSError, MemoryError) as error:
        fail(str(error) or "Not enough memory.")
    except KeyboardInterrupt:
        err.print("Interrupted.")
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None


def fail(message: str) -> NoReturn:
    """Print an error message and end with exit code 1."""
    err.print(f"Error: {message}", style="red", soft_wrap=True)
    raise typer.Exit(1)
