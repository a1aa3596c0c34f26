"""Folders of results: all files of a run replace those of an earlier run together."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from golem.runtime.files import NO_SPACE, temporary_folder
from golem.runtime.interrupts import MOVING, holding_interrupts
from golem.runtime.problems import ProblemError

_PREFIX = ".golem-"
# The names that `tempfile` makes from the prefix.
_OWN_NAME = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}")


@contextlib.contextmanager
def result_folder(output: Path, names: Collection[str]) -> Iterator[Path]:
    """Yield a temporary folder; the named files that the block writes into it are moved to `output` at the end.

    Of the named files, those that the block does not write belong to an earlier run and are removed. If the block
    fails, `output` stays as it was. Concurrent runs move their files one after the other. Temporary folders of earlier
    runs that were killed are removed.
    """
    is_new = not output.exists()
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise
        raise ProblemError.of(
            "The folder {output} cannot be created ({strerror}). Choose another folder for the results ({output=...}).",
            output=output,
            strerror=error.strerror,
        ) from None
    try:
        with _own_folder(output) as temporary:
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
def _own_folder(output: Path) -> Iterator[Path]:
    """Yield a new folder that is locked as long as this process lives; remove those of processes that were killed.

    It is inside `output`, as the folder above may be another disk, or not writable.
    """
    with contextlib.ExitStack() as stack:
        with _locked(output):  # so that no other process sees the folder before it is locked
            for path in output.iterdir():
                if _OWN_NAME.fullmatch(path.name) and _is_left(path):
                    import shutil

                    shutil.rmtree(path, ignore_errors=True)
            temporary = stack.enter_context(temporary_folder(_PREFIX, output))
            stack.enter_context(_locked(temporary))
        yield temporary


def _is_left(folder: Path) -> bool:
    """Return whether a folder can be locked, because the process that made it has ended."""
    try:
        import fcntl

        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (ImportError, OSError):  # Windows; or the folder is gone
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # in use, or on a disk without locks
        return False
    finally:
        os.close(opened)
    return True


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
