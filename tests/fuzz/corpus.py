"""Inputs that once violated the rule: one JSON file each, replayed by `make test`."""

from __future__ import annotations

import hashlib
import json
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from fuzz import (
    category_tables,
    checkpoints,
    command_lines,
    containers,
    documents,
    environment_tables,
    graph_files,
    sessions,
    spreadsheets,
    table_files,
)
from fuzz.rules import RefusedError, ViolationError

FOLDER = Path(__file__).parent / "corpus"
KINDS: dict[str, ModuleType] = {
    "tables": table_files,
    "graphs": graph_files,
    "documents": documents,
    "options": command_lines,
    "containers": containers,
    "categories": category_tables,
    "environments": environment_tables,
    "checkpoints": checkpoints,
    "spreadsheets": spreadsheets,
    "sessions": sessions,
}


def read(path: Path) -> dict[str, Any]:
    """Return a file of the corpus: kind, case, signature (`found`), and the number of the defect if it is open."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def files() -> list[Path]:
    """List the files of the corpus."""
    return sorted(FOLDER.glob("*.json"))


def store(kind: str, case: dict[str, Any], violation: ViolationError) -> Path:
    """Write a new file into the corpus."""
    content = {"kind": kind, "found": violation.signature, "case": case}
    name = hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:10]
    path = FOLDER / f"{kind}-{name}.json"
    path.write_text(json.dumps(content) + "\n", encoding="utf-8")
    return path


def check(kind: str, case: dict[str, Any]) -> None:
    """Check a case; raise a RefusedError or a ViolationError."""
    try:
        KINDS[kind].check(case)
    except (RefusedError, ViolationError):
        raise
    except Exception as error:  # noqa: BLE001  one fault in a check must not end a long run
        lines = "".join(traceback.format_exception(error))[-1500:]
        raise ViolationError(f"the check failed with a {type(error).__name__}", kind, lines) from None


def violation_of(kind: str, case: dict[str, Any]) -> ViolationError | None:
    """Check a case, and return what is wrong."""
    try:
        check(kind, case)
    except RefusedError:
        return None
    except ViolationError as violation:
        return violation
    return None


def known() -> set[tuple[str, str]]:
    """Return the signatures of the violations that are in the corpus with the number of an open defect."""
    return {tuple(content["found"]) for content in map(read, files()) if "defect" in content}
