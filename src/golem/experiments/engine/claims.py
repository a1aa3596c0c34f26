"""Claims: which runner is at work on which task, so that two runners of one folder share the work.

A claim is a file beside the rows that names the runner, and its owner touches it while it works. It keeps others from
doing the work a second time and is not what keeps rows single (the store does that), so a wrong guess costs time and
nothing else. Whoever finds the claim of a process of this machine that has ended takes it over at once, and any that
was not touched for a while: a runner that was killed blocks nobody.
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

from golem.experiments.engine.store import place_once

# Seconds between touches, and without one after which a runner, perhaps of another machine, counts as gone.
_BEAT, _LEASE = 20.0, 180.0


class Claims:
    """The claims of one runner, released when the block ends.

    Parameters
    ----------
    folder : Path
        Where the rows are; a claim is `folder/rows/.KEY.claim`.

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

    def __enter__(self) -> Claims:
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
        """Claim a task; False where another runner is at work on it."""
        path = self._path(key)
        for _ in range(2):
            if place_once(path, self._text):
                with self._changing:
                    self._held.add(key)
                return True
            if not _is_stale(path):
                return False
            # Where two come here at once, one may remove the fresh claim of the other: work twice, one row.
            path.unlink(missing_ok=True)
        return False

    def release(self, key: str) -> None:
        """Give a task up, ended or not."""
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
    """Tell whether the owner of a claim has gone."""
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
    return age > _LEASE


def _born(pid: int) -> str | None:
    """When a process of this machine began, which tells it from a later one of that number; None where it has ended.

    Where the system does not tell, all processes that run have the same time, and an ended one perhaps too.
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
            pass  # it is somebody else's, and runs
    return ""
