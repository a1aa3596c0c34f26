"""The folder of a run: rows, one file per task; claims of the runners that share it; checkpoints of long solves.

Rows are only ever added. A row is written to a temporary file and then linked to its name. Linking is atomic and fails
if the row exists. So a kill at any moment leaves no partial row, and no task ever has two. Several runners, even on
several machines that share the file system, may add to one store.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from golem_experiments.experiment import Row

DONE, FAILED, TIMEOUT = "done", "failed", "timeout"
_checkpoints: ContextVar[Path | None] = ContextVar("checkpoints", default=None)


class Store:
    """Rows in `folder/rows/KEY.json`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     store.add({"key": "0123456789abcdef", "shd": 1}), store.add({"key": "0123456789abcdef", "shd": 2})
    ...     store.read()
    (True, False)
    [{'key': '0123456789abcdef', 'shd': 1}]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows = folder / "rows"

    @property
    def checkpoints(self) -> Path:
        """The folder in which the tasks keep the states of long solves, so that a later run can continue them."""
        return self.folder.resolve() / "checkpoints"

    def add(self, row: dict[str, Any]) -> bool:
        """Add a row; return False if its task already has one, which is kept."""
        self._rows.mkdir(parents=True, exist_ok=True)
        # A name that no other runner uses, on this or another machine.
        temporary = self._rows / f".{row['key']}.{socket.gethostname()}.{os.getpid()}.{threading.get_ident()}"
        with temporary.open("w", encoding="utf-8") as file:
            file.write(json.dumps(row, indent=1))
            file.flush()
            os.fsync(file.fileno())  # it survives a loss of power
        try:
            os.link(temporary, self._path(row["key"]))
        except FileExistsError:
            return False
        finally:
            temporary.unlink()
        return True

    def has(self, key: str) -> bool:
        """Return whether a task has its row."""
        return self._path(key).exists()

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        return {path.stem for path in self._rows.glob("*.json")}

    def read(self) -> list[dict[str, Any]]:
        """Read all rows, in the order of their keys.

        Raises
        ------
        ValueError
            If a file is damaged.
        """
        return [_read(path) for path in sorted(self._rows.glob("*.json"))]

    def set_aside(self, keys: Collection[str], statuses: Collection[str] = (FAILED, TIMEOUT)) -> int:
        """Move the rows of tasks that ended in one of these ways to `folder/retried`, so that they run again.

        Only tasks with these keys are considered. Return the number of rows that were moved.
        """
        moved = 0
        for path in sorted(self._rows.glob("*.json")):
            if path.stem in keys and _read(path)["status"] in statuses:
                aside = self.folder / "retried"
                aside.mkdir(exist_ok=True)
                number = sum(1 for _ in aside.glob(f"{path.stem}-*.json"))
                with contextlib.suppress(FileNotFoundError):  # another runner was first
                    path.rename(aside / f"{path.stem}-{number + 1}.json")
                    moved += 1
        return moved

    def _path(self, key: str) -> Path:
        return self._rows / f"{key}.json"


class Claims:
    """The tasks that this process works on, so that several can share the work; given up when the block ends.

    A claim is a lock of one byte of the file `rows/.claims`, whose place is given by the key of the task. The system
    releases it when the process ends, however it ends. Where a file system has no locks, two processes may do the same
    work; the store still keeps one row per task.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "rows" / ".claims"
        self._file: IO[str] | None = None

    def __enter__(self) -> Claims:
        return self

    def __exit__(self, *error: object) -> None:
        if self.has_no_rival():
            self._path.unlink(missing_ok=True)
        if self._file is not None:
            self._file.close()

    def take(self, key: str) -> bool:
        """Claim a task; return False if another process works on it."""
        return self._lock(int(key[:15], 16), 1)

    def release(self, key: str) -> None:
        """Give up a task."""
        self._lock(int(key[:15], 16), 1, unlock=True)

    def has_no_rival(self) -> bool:
        """Return whether no other process works on any task."""
        return not self._path.exists() or self._lock(0, 0)

    def _lock(self, start: int, length: int, unlock: bool = False) -> bool:
        """Lock or unlock bytes of the file (length 0: all); return False if another process has locked them."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w")
        try:
            import fcntl

            how = fcntl.LOCK_UN if unlock else fcntl.LOCK_EX | fcntl.LOCK_NB
            fcntl.lockf(self._file, how, length, start)
        except (BlockingIOError, PermissionError):
            return False
        except (ImportError, OSError):  # there are no locks
            pass
        return True


def _read(path: Path) -> dict[str, Any]:
    """Read a row."""
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # not JSON, or not text
        row = None
    if not isinstance(row, dict) or row.get("key") != path.stem:
        raise ValueError(f"{path} is damaged. Delete it; the same command then runs its task again.")
    return row


def flat(row: dict[str, Any]) -> Row:
    """Return a stored row as one line of the table, with the cell and the measurements as columns."""
    about = {name: value for name, value in row.items() if name not in ("cell", "measured")}
    head = {name: about.pop(name) for name in ("key", "experiment")}
    place = {"method": about.pop("method"), "seed": about.pop("seed")}
    line: Row = head | row["cell"] | place | {"status": about.pop("status")} | row["measured"] | about
    return line


@contextlib.contextmanager
def keeping_checkpoints(folder: str | None) -> Iterator[None]:
    """Let the tasks of a block keep checkpoints in a folder; None keeps none."""
    before = _checkpoints.set(None if folder is None else Path(folder))
    try:
        yield
    finally:
        _checkpoints.reset(before)


def checkpoint_file(name: str) -> Path | None:
    """Return the file for a solve, by a name that determines its data and settings; None if none is kept."""
    folder = _checkpoints.get()
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.npz"
