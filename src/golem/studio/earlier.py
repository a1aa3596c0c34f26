"""Earlier graphs of a session, to which the page compares the present one: before the last edit, and at the start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from golem.runtime.files import write_text


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """The edges of a graph; `checked` says whether its directions were checked for evidence."""

    path: str
    version: int
    checked: bool
    edges: tuple[dict[str, Any], ...]


class Earlier:
    """The graphs to compare with: the last checked one of another version, and the first one of the table.

    Parameters
    ----------
    file : Path
        Where the first graph is kept.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._shown: Outline | None = None
        self._checked: Outline | None = None
        self._before: Outline | None = None
        self._start: Outline | None = None
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            self._start = msgspec.json.decode(file.read_bytes(), type=Outline)

    def clear(self) -> None:
        """Forget all graphs: there is another table."""
        self._shown = self._checked = self._before = self._start = None
        self._file.unlink(missing_ok=True)

    def show(
        self, edges: Iterable[Mapping[str, Any]], *, path: str, version: int, checked: bool
    ) -> dict[str, Outline | None]:
        """Note the graph that is shown now, and return those before the last edit and at the start."""
        outlined = tuple({name: edge[name] for name in ("id", "source", "target", "directed")} for edge in edges)
        now = Outline(path=path, version=version, checked=checked, edges=outlined)
        if any(one is not None and one.path != path for one in (self._shown, self._start)):
            self.clear()
        if self._shown is not None and self._shown.version != version:
            self._before = self._checked or self._shown
        self._shown = now
        if checked:
            self._checked = now
            if self._start is None:
                self._start = now
                with contextlib.suppress(OSError):
                    write_text(self._file, msgspec.json.encode(now).decode() + "\n")
        return {"edit": self._before, "start": self._start}
