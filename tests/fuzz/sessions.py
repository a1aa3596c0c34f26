"""Journals of a studio session with changed lines: the session opens as before, or the journal is refused."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.mutations import as_bytes, as_text, mutated, mutated_json
from fuzz.rules import ViolationError, answer
from golem.studio.journal import Journal

READERS = ["journal"]
EDITS: list[dict[str, Any]] = [
    {"kind": "add-tier", "name": "first", "at": 0},
    {"kind": "place", "columns": ["age"], "tier": 0},
    {"kind": "edge", "cause": "age", "effect": "size", "rule": "require"},
]


@functools.cache
def original() -> bytes:
    """Return the journal of a table, a few edits, a snapshot and an undo."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        journal = Journal(path)
        journal.add("load", data={"path": "data.csv", "title": "data.csv", "names": ["age", "size", "cost"]})
        for edit in EDITS:
            journal.add("edit", edit=edit)
        journal.learned(journal.version)
        journal.add("snapshot", name="first")
        journal.add("undo")
        journal.close()
        return path.read_bytes()


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw a journal with changed bytes, or with changed values in a line."""
    case = {"reader": f"{reader}, damaged"}
    if draw(st.integers(0, 2)) == 0:
        return case | {"bytes": as_text(draw(mutated(original())))}
    lines = original().splitlines()
    k = draw(st.integers(0, len(lines) - 1))
    lines[k] = json.dumps(draw(mutated_json(json.loads(lines[k])))).encode()
    return case | {"bytes": as_text(b"".join(line + b"\n" for line in lines))}


def check(case: dict[str, Any]) -> None:
    """Open the journal twice: what the first session has read is what the second one reads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        path.write_bytes(as_bytes(case["bytes"]))
        found = []
        for _ in range(2):
            journal = answer(lambda: Journal(path))
            found.append((journal.version, journal.state, journal.history))
            journal.close()
        if found[0] != found[1]:
            raise ViolationError("a session reads its own journal differently", "journal")
