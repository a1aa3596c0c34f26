"""Where the tasks of a run keep the states of long solves, so that a later run can continue them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

_folder: ContextVar[Path | None] = ContextVar("checkpoints", default=None)


def folder_of(store: Path) -> Path:
    """Return the folder for the checkpoints of a store."""
    return store.resolve() / "checkpoints"


@contextlib.contextmanager
def keeping_in(folder: str | None) -> Iterator[None]:
    """Let the tasks of a block keep checkpoints in a folder; None keeps none."""
    before = _folder.set(None if folder is None else Path(folder))
    try:
        yield
    finally:
        _folder.reset(before)


def checkpoint_file(name: str) -> Path | None:
    """Return the file for a solve, by a name that determines its data and settings; None if none is kept."""
    folder = _folder.get()
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.npz"


def remove_all(store: Path) -> None:
    """Remove the checkpoints of a store, unless a runner works there."""
    if not any((store / "rows").glob(".*.claim")):
        shutil.rmtree(folder_of(store), ignore_errors=True)
