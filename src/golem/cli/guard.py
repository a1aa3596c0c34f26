"""The end of every command: signals become one sentence and a true exit code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NoReturn

import typer

from golem.cli.terminal import err
from golem.runtime import interrupts


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Run a command; end with one sentence if a signal ends it."""
    interrupts.keep(interrupts.NOTHING_KEPT)
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or interrupts.received():
            _end_interrupted()
        raise
    if interrupts.received():
        _end_interrupted()


def _end_interrupted() -> NoReturn:
    err.print(f"Interrupted. {interrupts.kept()}", soft_wrap=True)
    raise typer.Exit(128 + (interrupts.received() or 2)) from None
