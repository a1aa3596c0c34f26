"""The journal of a session: one line per edit, never changed, so that a crash loses nothing that was acknowledged."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Literal

import msgspec

from golem.runtime.messages import shown
from golem.studio.edits import AnyEdit, State

# States that undo can return to.
MOST_UNDONE = 200


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """The table of a session: its file, the name to show, and its columns."""

    path: str
    title: str
    names: tuple[str, ...]


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the journal. `version` grows by one with everything but "learned", which only counts."""

    version: int
    action: Literal["load", "edit", "undo", "redo", "restore", "snapshot", "learned"]
    seconds: float = 0.0
    edit: AnyEdit | None = None
    data: Data | None = None
    name: str | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A state with a name; `number` names the file with its graph."""

    number: int
    name: str
    state: State


class ConflictError(ValueError):
    """Somebody else has changed the state since."""


class Journal:
    """The state of a session, its history, and the file that keeps it.

    Parameters
    ----------
    path : Path
        The file; it is read if it exists. A last line that was not written to its end is removed.
    """

    def __init__(self, path: Path) -> None:
        self.version, self.refits, self._learned = 0, 0, 0
        self.state, self.data = State(), Data(path="", title="", names=())
        self.history: list[str] = []
        self.snapshots: list[Snapshot] = []
        self._undone: list[State] = []
        self._before: list[State] = []
        kept = 0
        with contextlib.suppress(FileNotFoundError):
            lines = path.read_bytes().split(b"\n")
            for number, line in enumerate(lines[:-1], start=1):
                try:
                    self._apply(msgspec.json.decode(line, type=Entry))
                except (msgspec.MsgspecError, ValueError, RecursionError):
                    if number < len(lines) - 1:
                        raise ValueError(
                            f"{path}: Line {number} is damaged. Remove it, or start in another folder (-o)."
                        ) from None
                    break
                kept += len(line) + 1
        self._file = path.open("ab")
        if self._file.tell() > kept:
            self._file.truncate(kept)

    def write(self, action: Entry) -> None:
        """Apply an entry, and return when it is on the disk; raise a ValueError, and change nothing, if it is wrong."""
        before = self.__dict__.copy()
        lists = {name: [*value] for name, value in before.items() if isinstance(value, list)}
        try:
            self._apply(action)
            self._file.write(msgspec.json.encode(action) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except BaseException:
            self.__dict__.update(before | lists)
            raise

    def add(self, action: str, version: int | None = None, **content: object) -> None:
        """Write an entry; raise a `ConflictError` if it was meant for another version."""
        if version is not None and version != self.version:
            raise ConflictError(
                f"The graph was changed elsewhere (version {self.version}, yours is {version}). Look, and try again."
            )
        self.write(
            msgspec.convert({"version": self.version + 1, "action": action, "seconds": time.time()} | content, Entry)
        )

    def learned(self, version: int) -> None:
        """Count the graph of a version that was learned; one that a restart learns again is the same graph."""
        self.write(Entry(version=version, action="learned", seconds=time.time()))

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """Whether there is something to do again."""
        return bool(self._undone)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _apply(self, entry: Entry) -> None:
        """Change the state as an entry says."""
        if entry.action == "learned":
            self.refits += entry.version != self._learned
            self._learned = entry.version
            return
        if entry.action == "load":
            if entry.data is None:
                raise ValueError("There is no table.")
            self.data, self.state, self.refits = entry.data, State(), 0
            self.history, self.snapshots, self._before, self._undone = [], [], [], []
            told = f"Opened {shown(entry.data.title)}"
        elif entry.action == "edit":
            if entry.edit is None:
                raise ValueError("There is no edit.")
            self._move(entry.edit.apply(self.state, frozenset(self.data.names)))
            told = entry.edit.sentence()
        elif entry.action in ("undo", "redo"):
            back, forth = (self._before, self._undone) if entry.action == "undo" else (self._undone, self._before)
            if not back:
                raise ValueError(f"There is nothing to {entry.action}.")
            forth.append(self.state)
            self.state = back.pop()
            told = "Undid the last edit" if entry.action == "undo" else "Did the edit again"
        elif entry.action == "snapshot":
            self._learned += self._learned == self.version  # the state is the same
            self.snapshots.append(Snapshot(number=entry.version, name=entry.name or "", state=self.state))
            told = f"Kept the snapshot {shown(entry.name or '')}"
        else:
            found = [one for one in self.snapshots if str(one.number) == entry.name]
            if not found:
                raise ValueError("There is no such snapshot.")
            self._move(found[0].state)
            told = f"Returned to the snapshot {shown(found[0].name)}"
        self.version = entry.version
        self.history.append(told)

    def _move(self, state: State) -> None:
        """Go to another state, which can be undone."""
        self._before = [*self._before, self.state][-MOST_UNDONE:]
        self._undone = []
        self.state = state
