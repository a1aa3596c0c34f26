"""Leases: which runner works on which task, so that several runners can share the work in one folder.

A lease is a file next to the rows that names its runner, which touches the file while it works. The lease of a process
of this machine that has ended is taken over at once, and any lease that was not touched for a while: a killed runner
blocks nobody. The store ensures that no task has two rows, so a wrong guess only costs time.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from golem_experiments.engine.store import place_once

# Seconds between touches, and seconds without a touch after which a lease has expired.
_BEAT, _EXPIRY = 20.0, 180.0


class Leases:
    """The leases of one runner, released when the block ends. A lease is the file `folder/rows/.KEY.claim`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Leases(Path(folder)) as ours, Leases(Path(folder)) as theirs:
    ...     first = ours.take("0123456789abcdef"), theirs.take("0123456789abcdef")
    ...     ours.release("0123456789abcdef")
    ...     first, theirs.take("0123456789abcdef")
    ((True, False), True)
    """

    def __init__(self, folder: Path) -> None:
        self._rows = folder / "rows"
        pid = os.getpid()
        self._text = json.dumps(
            {
                "host": socket.gethostname(),
                "pid": pid,
                "born": _born(pid),
                "runner": uuid.uuid4().hex,
                "since": datetime.now(UTC).isoformat(timespec="seconds"),
            }
        )
        self._held: set[str] = set()
        self._changing, self._over = threading.Lock(), threading.Event()
        self._toucher = threading.Thread(target=self._touch, daemon=True)

    def __enter__(self) -> Leases:
        self._toucher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._toucher.join()
        for key in list(self._held):
            self.release(key)

    def take(self, key: str) -> bool:
        """Take the lease of a task; return False if another runner works on it."""
        path = self._path(key)
        for _ in range(2):
            if place_once(path, self._text):
                with self._changing:
                    self._held.add(key)
                return True
            if not _is_stale(path):
                return False
            # If two runners get here at once, one may remove the new lease of the other: double work, but one row.
            path.unlink(missing_ok=True)
        return False

    def release(self, key: str) -> None:
        """Give up the lease of a task."""
        with self._changing:
            self._held.discard(key)
        path = self._path(key)
        with contextlib.suppress(FileNotFoundError):
            if path.read_text(encoding="utf-8") == self._text:  # else it was taken over
                path.unlink()

    def _touch(self) -> None:
        while not self._over.wait(_BEAT):
            with self._changing:
                held = list(self._held)
            for key in held:
                with contextlib.suppress(FileNotFoundError):
                    os.utime(self._path(key))

    def _path(self, key: str) -> Path:
        return self._rows / f".{key}.claim"


def _is_stale(path: Path) -> bool:
    """Return whether the owner of a lease has ended."""
    owner: Any
    try:
        age = time.time() - path.stat().st_mtime
        owner = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return True
    except ValueError:
        owner = {}
    if owner.get("host") == socket.gethostname() and owner["born"] != _born(owner["pid"]):
        return True
    return age > _EXPIRY


def _born(pid: int) -> str | None:
    """Return when a process of this machine started, which distinguishes it from later ones with its number.

    Return None if it has ended, and an empty string if it runs and the system does not say since when.
    """
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    if os.name == "posix":
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass  # the process of another user
    return ""
