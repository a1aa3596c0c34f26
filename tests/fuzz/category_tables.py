"""Tables with categories in memory, in files and on the command line: types and levels are those of a plain count."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone

from fuzz.mutations import as_bytes, as_text, mutated
from fuzz.packages import ABSENT
from fuzz.rules import RefusedError, ViolationError, answer, command
from golem import Golem
from golem.data.coded_tables import CodedTable
from golem.data.variables import Coding, Variable
from golem.readers import moments_from_file
from methods_here import methods_here

ROWS = 60
WORDS = ["red", "green", "a b", "é", "x,y", 'q"q', "1st", "yes", "no", "<b>", "\x1b[2J", "=1+1"]
# Texts that readers could understand differently: blanks, other accents, missing values.
WORDS += ["red ", " green", "e\u0301", "", " ", "none", "NA", "?", "\x1ered", "\u00a0no"]
MISSING = ("", "none", "NA", "?")
TYPES = ["text", "text", "category", "bool", "code", "code", "number"]
IN_MEMORY = [reader for reader in ("pandas", "pyarrow", "batch", "polars") if reader not in ABSENT]
IN_FILES = ["csv", "parquet"]
READERS = [*IN_MEMORY, *IN_FILES, "golem fit", "golem compare"]
SCORES = ["auto", "auto", "auto", "mixed", "bdeu", "discrete-bic", "gaussian"]
# In a table these are no levels, or make a column something else than a category.
ODD_CELLS: list[Any] = [
    *(None, "", "NA", "?", "-", "+", "unknown", "<0.01", "1,234", "5%", "2024-01-31", "12:30", "3 kg", "\ue000", "\0"),
    *(" red", "red ", "RED", "1", "1.0", 1.5, 7, True, 10**400, [], ["red"], {}),
]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """Draw columns of all types as lists; some levels are rare, and some cells are missing."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    columns: dict[str, Any] = {}
    before = None
    for j in range(draw(st.integers(2, 4))):
        kind, levels = draw(st.sampled_from(TYPES)), draw(st.integers(2, 4))
        code = rng.choice(levels, ROWS, p=rng.dirichlet(np.full(levels, 3.0)))
        if before is not None and draw(st.booleans()):
            code = np.where(rng.random(ROWS) < 0.8, before % levels, code)
        if draw(st.integers(0, 3)) == 0:  # a rare level
            code = np.where(code == levels - 1, 0, code)
            code[: draw(st.sampled_from([1, 3]))] = levels - 1
        cells = draw(_cells(kind, code, rng))
        if kind in ("text", "category") and draw(st.integers(0, 4)) == 0:
            cells[draw(st.integers(0, ROWS - 1))] = None
        columns[f"c{j}"] = {"type": kind, "cells": cells}
        before = code
    return columns


@st.composite
def _cells(draw: st.DrawFn, kind: str, code: NDArray[Any], rng: np.random.Generator) -> list[Any]:
    """Draw the cells of a column of some type, given the number of the level in each row."""
    if kind in ("bool", "code"):
        return list((code > 0 if kind == "bool" else code).tolist())
    if kind == "number":  # never a whole number
        return list((code + np.round(rng.normal(size=ROWS), 3) + 0.0001).tolist())
    words = draw(st.lists(st.sampled_from(WORDS), min_size=4, max_size=4, unique=True))
    return [words[k] for k in code]


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw a table for a reader, and the options of its columns; some tables are damaged."""
    columns = draw(tables())
    case = {"reader": reader, "columns": columns, "score": draw(st.sampled_from(SCORES))}
    case["missing"] = draw(st.sampled_from(["error", "drop", "drop"]))
    codes = [name for name, column in columns.items() if column["type"] == "code"]
    if reader not in IN_MEMORY and codes:
        chosen = draw(
            st.lists(st.sampled_from(["", "categorical", "numeric"]), min_size=len(codes), max_size=len(codes))
        )
        for option in ("categorical", "numeric"):
            case[option] = [name for name, choice in zip(codes, chosen, strict=True) if choice == option]
    if draw(st.integers(0, 2)) < 2:
        case["reader"] += ", damaged"
        _damage(draw, case)
    return case


def _damage(draw: st.DrawFn, case: dict[str, Any]) -> None:
    """Replace some cells, a column, or bytes of the file."""
    cells = case["columns"][draw(st.sampled_from(list(case["columns"])))]["cells"]
    odd = draw(st.sampled_from(ODD_CELLS))
    how = draw(st.sampled_from(["one", "few", "all", "rows", "bytes"]))
    if how == "bytes" and not case["reader"].startswith((*IN_MEMORY, "parquet")):
        case["bytes"] = as_text(draw(mutated(_frame(case).to_csv(index=False).encode())))
    elif how == "rows":
        cells[:] = [f"id{k}" for k in range(len(cells))]
    else:
        for k in {"one": [0], "few": range(0, len(cells), 9)}.get(how, range(len(cells))):
            cells[k] = odd


def check(case: dict[str, Any]) -> None:
    """Read and fit a table; types, levels and the graph are those of a table that was coded by counting."""
    reader = case["reader"].removesuffix(", damaged")
    model = Golem(score_function=case["score"], missing=case["missing"])
    if reader in IN_MEMORY:
        data = _container(case, reader)
        found = _refused_or(lambda: model.fit(data))
    elif reader in IN_FILES:
        found = _from_file(case, reader)
    else:
        found = _from_command(case, reader)
    if "damaged" in case["reader"] or reader == "golem compare":
        if isinstance(found, RefusedError):
            raise found
        return
    if isinstance(found, dict):  # the command leaves out constant columns
        case = case | {"columns": _without_constant(case, found)}
    table = _counted(case)
    if reader in IN_FILES:
        plain = _refused_or(lambda: table.moments(case["missing"]))
    else:
        numbers = pd.DataFrame(table.rows, columns=list(table.coding.names))
        other = clone(model)  # a second fit of the same model would compare it with itself
        plain = _refused_or(lambda: other.fit(numbers if table.coding.is_numeric else table))
    if isinstance(plain, RefusedError) != isinstance(found, RefusedError):
        raise ViolationError("only one of a table and its codes is refused", reader, f"{found}; {plain}")
    if isinstance(found, RefusedError):
        raise found
    if _described(found) != _described(plain):
        raise ViolationError("types or levels differ from a count", reader, f"{_described(found)}")
    if reader in IN_FILES and not np.allclose(found.covariance, plain.covariance, rtol=1e-9, atol=1e-12):
        raise ViolationError("covariances differ from those of a count", reader)
    if reader in IN_MEMORY and not np.array_equal(found.adjacency_, plain.adjacency_):
        raise ViolationError("the graph differs from that of the codes", reader)


def _refused_or(action: Any) -> Any:
    """Return what a call returns, or the refusal."""
    try:
        return answer(action)
    except RefusedError as refusal:
        return refusal


def _frame(case: dict[str, Any]) -> pd.DataFrame:
    """Return the table as pandas has it; columns that do not have their type any more have objects."""
    frame = pd.DataFrame()
    kinds = {"bool": "bool", "code": "int64", "number": "float64", "category": "category"}
    for name, column in case["columns"].items():
        cells = [cell.replace("\ue000", "x" * 140_000) if isinstance(cell, str) else cell for cell in column["cells"]]
        if column["type"] == "text":
            frame[name] = pd.Series(cells)  # versions of pandas have different types for text
            continue
        frame[name] = pd.Series(cells, dtype=object)
        if column["type"] == "category" or None not in cells:
            with contextlib.suppress(TypeError, ValueError, OverflowError):
                frame[name] = frame[name].astype(kinds[column["type"]])
    return frame


def _container(case: dict[str, Any], reader: str) -> Any:
    """Return the table in a container; a RefusedError where its library cannot hold the cells."""
    frame = _frame(case)
    if reader == "pandas":
        return frame
    try:
        if reader == "polars":
            import polars as pl

            return pl.from_pandas(frame)
        return pa.Table.from_pandas(frame) if reader == "pyarrow" else pa.RecordBatch.from_pandas(frame)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise RefusedError(str(error)) from None


def _write(case: dict[str, Any], folder: str, reader: str) -> Path:
    """Write the table into a file."""
    path = Path(folder, "table.parquet" if reader == "parquet" else "table.csv")
    if "bytes" in case:
        path.write_bytes(as_bytes(case["bytes"]))
    elif reader == "parquet":
        try:
            _frame(case).to_parquet(path, index=False)
        except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
            raise RefusedError(str(error)) from None
    else:
        _frame(case).to_csv(path, index=False)
    return path


def _from_file(case: dict[str, Any], reader: str) -> Any:
    """Return the moments of the table in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = _write(case, folder, reader)
        options = {option: case[option] for option in ("categorical", "numeric") if option in case}
        return _refused_or(lambda: moments_from_file(path, missing=case["missing"], **options))


def _from_command(case: dict[str, Any], reader: str) -> Any:
    """Run a command on the table; return graph.json, the folder's files for a comparison, or the refusal."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        typed: list[object] = [reader.split()[1], _write(case, folder, reader), "-o", out, "--missing", case["missing"]]
        typed += ["--score", case["score"], "--no-diagnose"] if reader == "golem fit" else ["--methods", "order"]
        for option in ("categorical", "numeric"):
            typed += [f"--{option}={name}" for name in case.get(option, ())]
        with methods_here():
            result = command(*typed)
        if result.exit_code:
            if out.exists() and any(out.iterdir()) and "Every method failed" not in result.stderr:
                raise ViolationError("a command that failed left files behind", reader)
            return RefusedError(result.stderr)
        return json.loads((out / "graph.json").read_text(encoding="utf-8")) if reader == "golem fit" else None


def _counted(case: dict[str, Any]) -> CodedTable:
    """Return the table with levels by a count of its cells: the most frequent first, the others sorted."""
    columns = {name: column["cells"] for name, column in case["columns"].items()}
    kinds = {name: column["type"] for name, column in case["columns"].items()}
    chosen, kept = case.get("categorical", []), case.get("numeric", [])
    variables, rows = [], []
    for name, cells in columns.items():
        if (kinds[name] in ("code", "number") and name not in chosen) or name in kept:
            variables.append(Variable(name))
            rows.append(cells)
            continue
        cells = pd.Series(cells, dtype=object).map(str, na_action="ignore").str.strip(" \u00a0")
        cells = [None if cell != cell or cell is None or cell in MISSING else cell for cell in cells]
        counts = Counter(cell for cell in cells if cell is not None)
        levels = sorted(counts, key=lambda level: int(level) if kinds[name] == "code" else level)
        reference = max(levels, key=counts.__getitem__, default=None)
        levels.sort(key=lambda level: level != reference)
        variables.append(Variable(name, "category", tuple(levels)))
        rows.append([float("nan") if cell is None else levels.index(cell) for cell in cells])
    return CodedTable(Coding(tuple(variables)), np.array(rows, dtype=float).T)


def _without_constant(case: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """Return the columns without those that a command left out and that are constant in the rows that it kept."""
    rows = pd.DataFrame(_counted(case).rows, columns=list(case["columns"]))
    rows = rows.dropna() if case["missing"] == "drop" else rows
    gone = {one["name"] for one in document["left_out"] or () if rows[one["name"]].nunique() < 2}
    return {name: column for name, column in case["columns"].items() if name not in gone}


def _described(found: Any) -> Any:
    """Return the variables of a model, of moments or of a document."""
    if isinstance(found, dict):
        kinds = found.get("variables") or [{"kind": "numeric"}] * len(found["names"])
        records = zip(found["names"], kinds, strict=True)
        return [(name, record["kind"], tuple(record.get("levels", ()))) for name, record in records]
    variables = (
        found.variables_ if isinstance(found, Golem) else (found.coding or Coding.numeric(found.names)).variables
    )
    return [(variable.name, variable.kind, variable.levels) for variable in variables]
