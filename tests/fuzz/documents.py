"""graph.json with values of the wrong kind: every command that reads it answers, or refuses it in one sentence."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.mutations import as_bytes, as_text, mutated, mutated_json
from fuzz.rules import RefusedError, ViolationError, command

TABLE = "a,b,c\n" + "".join(f"{k % 7},{(k % 7) * 2 + k % 3},{k % 5}\n" for k in range(30))
# The first version had matrices, and is still read.
VERSION_1 = {
    "names": ["a", "b", "c"],
    "weights": [[0, 1.5, 0], [0, 0, -0.5], [0, 0, 0]],
    "raw_weights": [[0, 1.6, 0.1], [0, 0, -0.5], [0, 0, 0]],
    "undecided_edges": [["a", "b"]],
    "edge_table": [{"source": "a", "target": "b", "standardized_weight": 0.9}],
    "bootstrap": {"edges": [{"source": "a", "target": "b", "frequency": 1.0}], "replicates": 2},
    "noise_variances": [1, 1, 1],
    "weighted": True,
    "d": 3,
}
COMMANDS = {
    "report": ["report", "{graph}", "-o", "{out}/report.html"],
    "score": ["score", "{graph}", "{graph}", "--json"],
    "effects": ["effects", "{graph}", "--on", "b", "--json"],
    "diff": ["diff", "{graph}", "{graph}", "--json"],
    "export": ["export", "{graph}", "-o", "{out}/graph.gml"],
    "fit": ["fit", "{table}", "--from", "{graph}", "-o", "{out}", "--no-diagnose"],
}


READERS = [f"golem {name}" for name in COMMANDS]


@functools.cache
def original() -> str:
    """Return a graph.json with as many keys as a fit can write."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        table.write_text(TABLE)
        command("fit", table, "-o", Path(folder, "out"), "--bootstrap", 2, "--select", "bic", "--forbid", "a->c")
        document = json.loads(Path(folder, "out", "graph.json").read_text(encoding="utf-8"))
    document["data"] |= {"paths": ["table.csv"], "folder": "."}  # not those of this machine
    return json.dumps(document)


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw a damaged document for a command."""
    plain = draw(st.sampled_from([json.loads(original()), VERSION_1]))
    content = json.dumps(draw(mutated_json(plain))).encode()
    if draw(st.integers(0, 4)) == 0:
        content = draw(mutated(json.dumps(plain).encode()))
    return {"reader": f"{reader}, damaged", "command": reader.split()[1], "bytes": as_text(content)}


def check(case: dict[str, Any]) -> None:
    """Run the command; one that fails leaves nothing behind."""
    with tempfile.TemporaryDirectory() as folder:
        graph, table, out = Path(folder, "graph.json"), Path(folder, "table.csv"), Path(folder, "out")
        out.mkdir()
        graph.write_bytes(as_bytes(case["bytes"]))
        table.write_text(TABLE)
        places = {"graph": graph, "table": table, "out": out}
        result = command(*(part.format(**places) for part in COMMANDS[case["command"]]))
        left = sorted(path.name for path in out.rglob("*") if path.is_file())
    if result.exit_code and left:
        raise ViolationError("a command that failed left files behind", case["command"], ", ".join(left))
    if result.exit_code:
        raise RefusedError(result.stderr)
