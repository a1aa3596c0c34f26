"""Rows from several environments, and their targets: the moments of each are those of its rows, in every container."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

from fuzz.mutations import as_bytes, as_text, mutated, mutated_json
from fuzz.packages import ABSENT
from fuzz.rules import RefusedError, ViolationError, answer, command
from golem import Golem
from golem.data.table import Table
from golem.data.targets import read_targets, resolve_targets
from golem.readers import environments_from_file
from methods_here import methods_here

NAMES = ["a", "B b", "über", "x,1"]
LABELS = ["control", "k o", "0", "1", "é", "a", "<b>", "\x1b[2J", "None", "x.y"]
IN_MEMORY = ["labels", "mapping", "pandas", "pyarrow", *(["polars"] if "polars" not in ABSENT else [])]
IN_FILES = ["column", "files"]
COMMANDS = ["golem fit", "golem fit --environments", "golem compare"]
READERS = [*IN_MEMORY, *IN_FILES, *COMMANDS, "targets"]
ODD_LABELS: list[Any] = [None, "", "NA", "control ", "Control", 1.5, True, [], "\ue000", "zz"]


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw labels, rows and targets for a reader; some labels and targets are damaged."""
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=2, max_size=3, unique=True))
    names = NAMES[: draw(st.integers(2, 4))]
    sizes = [draw(st.sampled_from([8, *[15] * 20, 2, 1])) for _ in labels]
    rows = np.random.default_rng(draw(st.integers(0, 9999))).integers(-50, 50, (sum(sizes), len(names)))
    rows[:, 1] += 2 * rows[:, 0]
    some = st.lists(st.sampled_from(names), max_size=2, unique=True)
    targets: Any = {label: [] if k == 0 else draw(some) for k, label in enumerate(labels)}
    case: dict[str, Any] = {"reader": reader}
    case |= {"names": names, "rows": rows.tolist(), "intervention": draw(st.sampled_from(["soft", "hard"]))}
    case["labels"] = [label for label, size in zip(labels, sizes, strict=True) for _ in range(size)]
    content = json.dumps(targets).encode()
    if draw(st.integers(0, 2)) < 2:
        case["reader"] += ", damaged"
        damage = draw(st.sampled_from(["targets", "targets", "bytes", "label", "label and target", "many"]))
        if damage == "many":
            case["many"] = draw(st.sampled_from([1000, 50_000]))
        elif damage == "targets":
            content = json.dumps(draw(mutated_json(targets))).encode()
        elif damage == "bytes":
            content = draw(mutated(content))
        else:
            odd = draw(st.sampled_from(ODD_LABELS))
            case["labels"][:4] = [odd] * min(4, len(rows))
            content = json.dumps(targets | ({str(odd): []} if damage == "label and target" else {})).encode()
    return case | {"targets": as_text(content)}


def check(case: dict[str, Any]) -> None:
    """Read the environments; each has the rows of its label and the targets of the file."""
    reader = case["reader"].removesuffix(", damaged")
    case = case | {"labels": [_long(label) for label in case["labels"]]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "targets.json")
        file.write_bytes(as_bytes(case["targets"]))
        if "many" in case:
            more = {f"label {k}": [] for k in range(case["many"])}
            file.write_text(json.dumps(json.loads(file.read_bytes()) | more))
        if reader == "targets":
            _require_targets(case, answer(lambda: read_targets(file)))
            return
        found = _run(case, reader, folder, file) if reader in COMMANDS else _read(case, reader, folder, file)
    if "damaged" not in case["reader"]:
        _require_rows(case, found)


def _require_targets(case: dict[str, Any], found: dict[str, list[str]]) -> None:
    """Raise a ViolationError unless the targets are those written, and fit the columns or are refused."""
    if "damaged" not in case["reader"] and found != json.loads(as_bytes(case["targets"])):
        raise ViolationError("targets differ from those written", "targets")
    answer(lambda: resolve_targets(found, list(dict.fromkeys(map(str, case["labels"]))), case["names"]))


def _long(label: Any) -> Any:
    return label.replace("\ue000", "x" * 140_000) if isinstance(label, str) else label


def _read(case: dict[str, Any], reader: str, folder: str, file: Path) -> Table:
    """Return the environments of a model, or of files."""
    targets = answer(lambda: read_targets(file))
    if reader in IN_FILES:
        column = {"environment": "environment"} if reader == "column" else {}
        paths = _write(case, folder, reader == "files")
        environments: Table = answer(lambda: environments_from_file(paths, targets, **column))
        return environments
    model = Golem(intervention=case["intervention"])
    data, labels = _container(case, reader)
    found = answer(lambda: model.fit(data, environments=labels, targets=targets)).table_
    assert isinstance(found, Table)
    return found


def _run(case: dict[str, Any], reader: str, folder: str, file: Path) -> dict[str, Any] | None:
    """Run a command; return graph.json, or None for a comparison."""
    each = reader.endswith("--environments")
    out = Path(folder, "out")
    typed: list[object] = [reader.split()[1], *_write(case, folder, each), "--targets", file, "-o", out]
    typed += ["--environments"] if each else ["--environment", "environment"]
    if reader == "golem compare":
        typed += ["--methods", "order-soft,order-hard"]
    else:
        typed += ["--intervention", case["intervention"], "--no-diagnose"]
    with methods_here():
        result = command(*typed)
    if result.exit_code:
        if out.exists() and any(out.iterdir()) and "Every method failed" not in result.stderr:
            raise ViolationError("a command that failed left files behind", reader)
        raise RefusedError(result.stderr)
    if reader == "golem compare":
        return None
    document: dict[str, Any] = json.loads((out / "graph.json").read_text(encoding="utf-8"))
    return document


def _container(case: dict[str, Any], reader: str) -> tuple[Any, Any]:
    """Return the rows in a container, and the labels or the name of their column."""
    rows, labels = np.array(case["rows"], dtype=float), case["labels"]
    if reader in ("labels", "mapping"):
        frame, texts = pd.DataFrame(rows, columns=case["names"]), np.array(list(map(str, labels)))
        return (frame, labels) if reader == "labels" else ({label: frame[texts == label] for label in texts}, None)
    columns = {**dict(zip(case["names"], rows.T, strict=True)), "environment": labels}
    try:
        if reader == "polars":
            import polars as pl

            return pl.DataFrame(columns), "environment"
        return (pa.table(columns) if reader == "pyarrow" else pd.DataFrame(columns)), "environment"
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise RefusedError(str(error)) from None


def _write(case: dict[str, Any], folder: str, each: bool) -> list[Path]:
    """Write one table with a column of labels, or a file for each label."""
    frame = pd.DataFrame(case["rows"], columns=case["names"])
    if not each:
        frame["environment"] = pd.Series(case["labels"], dtype=object)
        frame.to_csv(path := Path(folder, "table.csv"), index=False)
        return [path]
    paths = {}
    for label in dict.fromkeys(map(str, case["labels"])):
        paths[label] = Path(folder, f"{label}.csv")
        try:
            frame[[str(found) == label for found in case["labels"]]].to_csv(paths[label], index=False)
        except (OSError, ValueError) as error:  # not every label is a name of a file
            raise RefusedError(str(error)) from None
    return list(paths.values())


def _require_rows(case: dict[str, Any], found: Any) -> None:
    """Raise a ViolationError unless the environments have the rows and targets that were written."""
    if found is None:
        return
    rows, targets = np.array(case["rows"], dtype=float), json.loads(as_bytes(case["targets"]))
    of_label = {label: rows[[own == label for own in case["labels"]]] for label in targets}
    if isinstance(found, dict):
        read = {record["label"]: (record["rows"], set(record.get("targets", []))) for record in found["environments"]}
        expected = {label: (len(part), set(targets[label])) for label, part in of_label.items()}
        if read != expected:
            raise ViolationError("environments differ from those written", case["reader"], f"{read}, not {expected}")
        return
    for label, moments, own in ((part.label, part.moments, part.targets) for part in found.parts):
        part = of_label[label]
        same = moments.n == len(part) and np.allclose(moments.mean, part.mean(axis=0))
        same = same and np.allclose(moments.covariance, np.cov(part.T, bias=True))
        if not same or {case["names"][j] for j in own} != set(targets[label]):
            raise ViolationError("an environment differs from its rows", case["reader"], label)
    if set(found.labels) != set(of_label):
        raise ViolationError("labels differ from those written", case["reader"], f"{found.labels}")
