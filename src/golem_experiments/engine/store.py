"""The store: a folder of rows, one file per task. Rows are only ever added.

A row is written to a temporary file and then linked to its name. Linking is atomic and fails if the row exists. So a
kill at any moment leaves no partial row, and no task ever has two. Several runners, even on several machines that share
the file system, may add to one store.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from golem_experiments.experiment import Row

DONE, FAILED, TIMEOUT = "done", "failed", "timeout"


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

    def add(self, row: dict[str, Any]) -> bool:
        """Add a row; return False if its task already has one, which is kept."""
        return place_once(self._path(row["key"]), json.dumps(row, indent=1), durable=True)

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

    def _path(self, key: str) -> Path:
        return self._rows / f"{key}.json"

    def _paths(self) -> Iterator[Path]:
        return (path for path in self._rows.glob("*.json") if not path.name.startswith("."))


def place_once(path: Path, text: str, *, durable: bool = False) -> bool:
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
