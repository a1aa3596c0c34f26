"""Python containers given to `Golem().fit`: the fit of the same cells in a plain array, or a refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse
from hypothesis import strategies as st

from fuzz.packages import ABSENT
from fuzz.rules import RefusedError, ViolationError, answer
from golem import Golem

NUMERIC = ["float64", "float32", "float16", "int64", "uint8", "bool"]
# Numerals as text may be read as NumPy reads them; the others must be refused.
TEXT = ["U8", "S8"]
OTHERS = ["complex128", "datetime64[ns]", "timedelta64[s]"]
ODD_CELLS: list[Any] = [None, "1.5", "x", "nan", 10**400, 10**30, [1.0], [], {}, True]
_ALL = ["array", "list", "object", "structured", "masked", "pandas", "polars", "pyarrow", "batch",
              "csr", "coo_array", "three axes", "one axis", "generator", "tensor"]  # fmt: skip

READERS = [container for container in _ALL if container not in ABSENT]

# These hold the cells as Python has them.
UNTYPED = ("list", "object", "generator")


@st.composite
def cases(draw: st.DrawFn, reader: str) -> dict[str, Any]:
    """Draw numbers for a container and their type; some cells of lists and tables are not numbers."""
    n, d = draw(st.sampled_from([(12, 3)] * 6 + [(0, 3), (1, 3), (2, 2), (12, 0), (12, 1)]))
    rows = np.random.default_rng(draw(st.integers(0, 999))).integers(-20, 20, (n, d)).tolist()
    case = {
        "reader": reader,
        "rows": rows,
        "columns": d,
        "dtype": draw(st.sampled_from(NUMERIC + NUMERIC + TEXT + OTHERS)),
    }
    if reader in ("list", "object", "pandas", "polars", "pyarrow") and n * d and draw(st.booleans()):
        cell = draw(st.sampled_from(ODD_CELLS))
        if draw(st.booleans()):
            for row in rows:
                row[0] = cell
        else:
            rows[0][0] = cell
        case["odd"] = True
    if reader == "pyarrow" and draw(st.integers(0, 9)) == 0:
        case["repeated"] = True
    return case


def check(case: dict[str, Any]) -> None:
    """Fit a container; where it holds numbers, the graph is that of the plain array."""
    data = _container(case)
    if data is None:
        raise RefusedError("the library itself cannot make this container")
    try:
        found = answer(lambda: Golem().fit(data))
    except RefusedError as refusal:
        cells = case["rows"] if case.get("odd") else _typed(case).tolist()
        if "is constant." in str(refusal) and all(
            len(set(map(str, column)) - {"None", "nan"}) > 1 for column in zip(*cells, strict=True)
        ):
            raise ViolationError("a column that varies is called constant", case["reader"]) from None
        raise
    if not case.get("odd") and case["dtype"] in OTHERS and case["reader"] not in UNTYPED:
        raise ViolationError("columns that are not numbers were fitted", f"{case['reader']} of {case['dtype']}")
    if case.get("repeated") and case["columns"] > 1:
        raise ViolationError("repeated names were accepted", case["reader"])
    expected = _expected(case)
    if expected is None:
        raise ViolationError("cells that are not numbers were fitted", case["reader"], str(case["rows"][:2]))
    try:
        plain = answer(lambda: Golem().fit(expected))
    except RefusedError as refusal:
        raise ViolationError("the plain array is refused, and this is not", case["reader"], str(refusal)) from None
    # float16 and float32 are exact here, because the numbers are small integers. Products of tensors round differently.
    close = np.allclose(found.weights_, plain.weights_, rtol=1e-9, atol=1e-12, equal_nan=True)  # NaN: of categories
    if _levels(found) != _levels(plain) or not close or found.moments_.n != plain.moments_.n:
        raise ViolationError("the fit differs from that of the plain array", f"{case['reader']} of {case['dtype']}")


def _levels(model: Golem) -> list[tuple[str, ...]]:
    """Return the levels of all variables, none for numbers."""
    return [variable.levels for variable in model.variables_]


def _typed(case: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return the numbers as an array of the type of the case."""
    values = np.array(case["rows"], dtype=float).reshape(len(case["rows"]), case["columns"])
    dtype = case["dtype"]
    if dtype == "complex128":
        return values + 1j
    if dtype[0] in "US":
        return values.astype(dtype)
    return (np.abs(values) if dtype == "uint8" else values).astype("int64" if "64[" in dtype else dtype).astype(dtype)


def _expected(case: dict[str, Any]) -> np.ndarray[Any, Any] | None:
    """Return the plain array of the same numbers; None where a cell is not a number."""
    if not case.get("odd"):
        values = _typed(case)
        if case["reader"] in UNTYPED and values.dtype != bool:
            return np.array(case["rows"], dtype=float)
        return values if values.dtype == bool else values.astype(float)
    cells = [cell for row in case["rows"] for cell in row]
    if any(cell is None or isinstance(cell, list | dict) for cell in cells):
        return None
    try:
        return np.array(case["rows"], dtype=object).astype(float)
    except (OverflowError, ValueError):
        return None


def _container(case: dict[str, Any]) -> Any:
    """Return the numbers in the container of the case; None where its library refuses them."""
    rows = _typed(case).tolist() if case["dtype"] == "bool" and not case.get("odd") else case["rows"]
    make = {
        "list": lambda: rows,
        "object": lambda: np.array(rows, dtype=object),
        "structured": lambda: np.rec.fromarrays(_typed(case).T, names="a,b,c"[: 2 * case["columns"] - 1]),
        "masked": lambda: np.ma.masked_array(_typed(case)),
        "pandas": lambda: pd.DataFrame(_columns(case)),
        "polars": lambda: _polars(_columns(case)),
        "pyarrow": lambda: pa.table(list(_columns(case).values()), names=_names(case)),
        "batch": lambda: pa.RecordBatch.from_pydict(_columns(case)),
        "csr": lambda: scipy.sparse.csr_matrix(_typed(case)),
        "coo_array": lambda: scipy.sparse.coo_array(_typed(case)),
        "three axes": lambda: _typed(case)[None],
        "one axis": lambda: _typed(case).ravel(),
        "generator": lambda: (row for row in rows),
        "tensor": lambda: __import__("torch").from_numpy(_typed(case)),
        "array": lambda: _typed(case),
    }[case["reader"]]
    try:
        return make()
    except (IndexError, TypeError, ValueError, OverflowError, pa.ArrowException):
        return None


def _polars(columns: dict[str, Any]) -> Any:
    """Return a table of Polars; a ValueError where it refuses the columns."""
    import polars as pl

    try:
        return pl.DataFrame(columns)
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None


def _names(case: dict[str, Any]) -> list[str]:
    """Return the names of the columns of a table, which may be one name."""
    return ["c"] * case["columns"] if case.get("repeated") else list(_columns(case))


def _columns(case: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a table by name."""
    if case.get("odd"):
        return {f"c{j}": [row[j] for row in case["rows"]] for j in range(case["columns"])}
    return {f"c{j}": column for j, column in enumerate(_typed(case).T.copy())}
