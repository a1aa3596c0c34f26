"""The store: a folder to which rows are added, one file a task, and from which none is taken.

A row is written beside its place and then linked to it, which either happens or does not, and fails where another
runner was first. So a kill at any moment leaves no half row, and no task ever has two. Several runners, also on several
machines that share the file system, may add to one store.
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

from golem.experiments.engine.task import Row

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
        """Add a row; False where its task has one already, which then stays."""
        return place_once(self._path(row["key"]), json.dumps(row, indent=1), durable=True)

    def has(self, key: str) -> bool:
        """Tell whether a task has its row."""
        return self._path(key).exists()

    def keys(self) -> set[str]:
        """Keys of all rows."""
        return {path.stem for path in self._paths()}

    def read(self) -> list[dict[str, Any]]:
        """Read all rows, in the order of their keys.

        Raises
        ------
        ValueError
            If a file holds no row.
        """
        return [_read(path) for path in sorted(self._paths())]

    def set_aside_failures(self, keys: Collection[str]) -> int:
        """Move rows of those of these tasks that failed or ran out of time to `folder/retried`; return their number.

        They have no row then, and so run again.
        """
        moved = 0
        for path in sorted(self._paths()):
            if path.stem in keys and _read(path)["status"] != DONE:
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
    """Write a file, whole or not at all; False where there is one already, which then stays.

    Parameters
    ----------
    path : Path
        The file; its folder is made.
    text : str
        What it holds.
    durable : bool
        Whether to wait until it is on the disk, where it outlives a loss of power.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name that no other runner uses, on this machine or another.
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
    except ValueError:  # no JSON, or no text
        row = None
    if not isinstance(row, dict) or row.get("key") != path.stem:
        raise ValueError(f"{path} is damaged and holds no row; delete it, and the same command runs its task again")
    return row


def flat(row: dict[str, Any]) -> Row:
    """Write a stored row as one line of the table: the cell's values and the measurements beside the rest."""
    about = {name: value for name, value in row.items() if name not in ("cell", "measured")}
    head = {name: about.pop(name) for name in ("key", "experiment")}
    place = {"method": about.pop("method"), "seed": about.pop("seed")}
    line: Row = head | row["cell"] | place | {"status": about.pop("status")} | row["measured"] | about
    return line
