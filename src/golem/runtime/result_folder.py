"""Folders of results: all files of a run replace those of an earlier run together."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from golem.runtime.files import naming_file, temporary_folder
from golem.runtime.interrupts import MOVING, holding_interrupts


@contextlib.contextmanager
def result_folder(output: Path, names: Collection[str]) -> Iterator[Path]:
    """Yield a temporary folder; the named files that the block writes into it are moved to `output` at the end.

    Of the named files, those that the block does not write belong to an earlier run and are removed. If the block
    fails, `output` stays as it was. Concurrent runs move their files one after the other.
    """
    is_new = not output.exists()
    with naming_file(output):
        output.mkdir(parents=True, exist_ok=True)
    try:
        # Inside `output`, as the folder above may be another disk, or not writable.
        with temporary_folder(".golem-", output) as temporary:
            try:
                yield temporary
            except OSError as error:
                if error.filename is not None:
                    error.filename = str(error.filename).replace(str(temporary), str(output))
                raise
            with holding_interrupts(), MOVING, _locked(output):
                for name in names:
                    if (temporary / name).exists():
                        (temporary / name).replace(output / name)
                    else:
                        (output / name).unlink(missing_ok=True)
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):
                output.rmdir()
        raise


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait for other processes that move files to this folder; where folders cannot be locked, do not wait."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network disks
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
