"""The folder of a run: rows, one file per task; claims of the runners that share it; checkpoints of long solves.

Rows are only ever added. A row is written to a temporary file and then linked to its name. Linking is atomic and fails
if the row exists. So a kill at any moment leaves no partial row, and no task ever has two. Several runners, even on
several machines that share the file system, may add to one store.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import threading
import uuid
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
        return _place_once(self._path(row["key"]), json.dumps(row, indent=1), durable=True)

    def has(self, key: str) -> bool:
        """Return whether a task has its row."""
        return self._path(key).exists()

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        return {path.stem for path in self._paths()}

    def read(self) -> list[dict[str, Any]]:
        """Read all rows, in the order of their keys.

        Raises
        ------
        ValueError
            If a file is damaged.
        """
        return [_read(path) for path in sorted(self._paths())]

    def set_aside(self, keys: Collection[str], statuses: Collection[str] = (FAILED, TIMEOUT)) -> int:
        """Move the rows of tasks that ended in one of these ways to `folder/retried`, so that they run again.

        Only tasks with these keys are considered. Return the number of rows that were moved.
        """
        moved = 0
        for path in sorted(self._paths()):
            if path.stem in keys and _read(path)["status"] in statuses:
                aside = self.folder / "retried"
                aside.mkdir(exist_ok=True)
                number = sum(1 for _ in aside.glob(f"{path.stem}-*.json"))
                with contextlib.suppress(FileNotFoundError):  # another runner was first
                    path.rename(aside / f"{path.stem}-{number + 1}.json")
                    moved += 1
        return moved

    def remove_checkpoints(self) -> None:
        """Remove the checkpoints, unless a runner works here."""
        if not any(self._rows.glob(".*.claim")):
            shutil.rmtree(self.checkpoints, ignore_errors=True)

    def _path(self, key: str) -> Path:
        return self._rows / f"{key}.json"

    def _paths(self) -> Iterator[Path]:
        return (path for path in self._rows.glob("*.json") if not path.name.startswith("."))


class Claims:
    """The tasks that one runner works on, given up when the block ends.

    A claim is a file `rows/.KEY.claim` with the name of its runner. The runner locks a file `rows/.NAME.runner`. The
    system unlocks it when the process ends, however it ends, and its claims are then void. Where a file system has no
    locks, runners may repeat the work of others; the store still keeps one row per task.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Claims(Path(folder)) as ours, Claims(Path(folder)) as theirs:
    ...     first = ours.take("0123456789abcdef"), theirs.take("0123456789abcdef")
    ...     ours.release("0123456789abcdef")
    ...     first, theirs.take("0123456789abcdef")
    ((True, False), True)
    """

    def __init__(self, folder: Path) -> None:
        self._rows, self._name = folder / "rows", uuid.uuid4().hex
        self._held: set[str] = set()
        self._lock: IO[str] | None = None

    def __enter__(self) -> Claims:
        return self

    def __exit__(self, *error: object) -> None:
        for key in list(self._held):
            self.release(key)
        if self._lock is not None:
            self._runner(self._name).unlink(missing_ok=True)
            self._lock.close()

    def take(self, key: str) -> bool:
        """Claim a task; return False if another runner works on it."""
        if self._lock is None:
            self._rows.mkdir(parents=True, exist_ok=True)
            self._lock = self._runner(self._name).open("w")
            _is_locked_now(self._lock)
        path = self._claim(key)
        while not _place_once(path, self._name):
            # If two runners get here at once, one may remove the new claim of the other: double work, but one row.
            with contextlib.suppress(FileNotFoundError):
                if self._is_at_work(path.read_text(encoding="utf-8")):
                    return False
                path.unlink()
        self._held.add(key)
        return True

    def release(self, key: str) -> None:
        """Give up a task."""
        self._held.discard(key)
        self._claim(key).unlink(missing_ok=True)

    def _is_at_work(self, name: str) -> bool:
        """Return whether a runner still holds its lock; remove the file of one that has ended."""
        path = self._runner(name)
        try:
            with path.open("r+") as file:
                if not _is_locked_now(file):
                    return True
        except OSError:  # it has ended properly
            return False
        path.unlink(missing_ok=True)
        return False

    def _claim(self, key: str) -> Path:
        return self._rows / f".{key}.claim"

    def _runner(self, name: str) -> Path:
        return self._rows / f".{name}.runner"


def _is_locked_now(file: IO[str]) -> bool:
    """Lock a file until it is closed; return False if another has locked it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # there are no locks
        return True
    return True


def _place_once(path: Path, text: str, *, durable: bool = False) -> bool:
    """Write a file atomically; return False if it already exists, in which case it is kept.

    With `durable`, wait until the file is on the disk and survives a loss of power.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name that no other runner uses, on this or another machine.
    own = f"{socket.gethostname()}.{os.getpid()}.{threading.get_ident()}"
    temporary = path.with_name(f".{path.stem.lstrip('.')}.{own}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
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
