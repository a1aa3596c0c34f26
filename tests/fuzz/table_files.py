"""Table files: those of usual programs are read as pandas reads them when told how; damaged ones by the rule alone."""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from fuzz.mutations import as_bytes, as_text, mutated
from fuzz.rules import RefusedError, ViolationError, answer
from golem.readers import moments_from_file, read_covariance, read_table

READERS = ["csv", "faulty", "gzip", "parquet", "npy", "covariance"]
NAMES = ["a", "B b", "über", "x.1", "y_2", "T (°C)", "1st", "semi;colon", "com,ma", 'quo"te', "ta\tb"]
# What programs disagree about: pandas takes some for numbers and others for text.
ODD_CELLS = ["0x10", "1_000", "1e5", "+3", ".5", "5.", "1e400", "inf", "-Infinity", "1d3", "1 000", "--1", "\u0663"]
MISSING = ["", "NA", "NaN", "null", "n/a", "*", "?", ".", "-"]
_FINITE = st.floats(-1e6, 1e6, allow_nan=False)
NUMBERS = st.one_of(st.integers(-2000, 2000).map(float), _FINITE, _FINITE.map(lambda x: round(x, 2)))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[float]]]:
    """Draw names and rows; a few values are missing (NaN)."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True))
    cells = NUMBERS if draw(st.booleans()) else st.one_of(NUMBERS, NUMBERS, st.just(float("nan")))
    rows = draw(st.lists(st.lists(cells, min_size=len(names), max_size=len(names)), min_size=2, max_size=6))
    if all(row[-1] != row[-1] for row in rows):  # it would look like separators at the ends of lines
        rows[0][-1] = 1.0
    return names, rows


@st.composite
def text_tables(draw: st.DrawFn, packed: bool) -> dict[str, Any]:
    """Draw a table as a usual program writes it, compressed or not, and what pandas must be told to read it."""
    names, rows = draw(tables())
    separator = draw(st.sampled_from(",,;;\t|"))
    decimal = draw(st.sampled_from(".," if separator != "," else "."))
    thousands = separator != "," and decimal == "." and draw(st.integers(0, 3)) == 0
    if thousands:  # few of them: the others do not tell how to read them
        whole = st.one_of(st.integers(0, 999), st.integers(0, 999), st.integers(1000, 9999)).map(float)
        # The last row tells how to read the others: a column of 1,000 alone has decimals by our rule.
        rows = [[draw(whole) for _ in row] for row in rows[:-1]] + [[float(draw(st.integers(0, 999))) for _ in names]]
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]))
    has_header, quoted = draw(st.booleans()), draw(st.booleans())
    missing = draw(st.sampled_from(MISSING))

    def number(x: float) -> str:
        if x != x:
            return missing
        text = repr(int(x)) if x == int(x) and draw(st.booleans()) else repr(x)
        return f"{x:,.0f}" if thousands else text.replace(".", decimal)

    def line(cells: list[str], always: bool) -> str:
        return separator.join(_quoted(cell, separator, always) for cell in cells)

    cells = [[number(x) for x in row] for row in rows]
    if decimal == "." and not thousands and draw(st.integers(0, 5)) == 0:
        cells[-1][0] = draw(st.sampled_from(ODD_CELLS[: None if encoding != "cp1252" else -1]))
    lines = [line(names, quoted)] if has_header else []
    lines += [line(row, quoted) for row in cells]
    text = draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))
    content = text.encode(encoding)
    options = {"sep": separator, "decimal": decimal, "encoding": encoding, "header": 0 if has_header else None}
    if thousands:
        options["thousands"] = ","
    if len(missing) == 1:
        options["na_values"] = [missing]
    if packed:
        content = gzip.compress(content, mtime=0)
        options["compression"] = "gzip"
    case: dict[str, Any] = {"reader": "gzip" if packed else "csv", "bytes": as_text(content), "pandas": options}
    # A first line of whole numbers can be a header as well.
    if not has_header and all(x == int(x) for x in rows[0] if x == x):
        case["header"] = False
    return case


def _quoted(cell: str, separator: str, always: bool) -> str:
    needed = always or any(mark in cell for mark in (separator, '"', "\n"))
    return '"' + cell.replace('"', '""') + '"' if needed and cell else cell


@st.composite
def parquet_tables(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a Parquet file, which pandas reads without being told anything."""
    names, rows = draw(tables())
    kind = draw(st.sampled_from(["float64", "float32", "int32", "bool", "decimal128(12, 3)", "string", "date32"]))
    frame = pd.DataFrame(rows, columns=names)
    table = pa.table({name: frame[name].tolist() for name in names})
    first = np.nan_to_num(frame[names[0]].to_numpy())
    values = {
        "bool": first > 0,
        "string": [str(x) for x in first],
        "decimal128(12, 3)": None,
        "date32": None,
    }.get(kind, first.astype(kind) if kind[:3] in ("flo", "int") else first)
    if kind == "date32":
        values = pa.array(first.astype("int32") % 1000, type=pa.int32()).cast(pa.date32())
    if kind.startswith("decimal"):
        values = pa.array(np.round(first, 3)).cast(pa.decimal128(12, 3), safe=False)
    file = io.BytesIO()
    pq.write_table(table.set_column(0, names[0], pa.array(values)), file)
    return {"reader": "parquet", "bytes": as_text(file.getvalue()), "pandas": {}}


@st.composite
def arrays(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a .npy file, which NumPy reads; some hold no table of real numbers."""
    _, rows = draw(tables())
    kind = draw(st.sampled_from(["float64", "float64", "float32", "int16", ">i8", "bool", "complex128", "U3"]))
    array = np.nan_to_num(np.array(rows)).astype(kind)
    if draw(st.integers(0, 5)) == 0:
        array = array[0]
    file = io.BytesIO()
    np.save(file, array if draw(st.booleans()) else np.asfortranarray(array))
    case: dict[str, Any] = {"reader": "npy", "bytes": as_text(file.getvalue())}
    return case | ({"pandas": {}} if array.ndim == 2 and array.dtype.kind in "biuf" else {})


@st.composite
def covariances(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a covariance matrix as Tetrad writes it, or as a table with names."""
    names = draw(st.lists(st.sampled_from(["a", "b", "über", "x.1", "T"]), min_size=2, max_size=4, unique=True))
    A = np.array([[draw(st.integers(-9, 9)) for _ in names] for _ in names], dtype=float)
    S, mark = A @ A.T + np.eye(len(names)), draw(st.sampled_from("\t ,"))
    triangle, heading = draw(st.booleans()), draw(st.sampled_from(["", "/covariance\n"]))
    lines = [mark.join(map(str, row[: k + 1] if triangle else row)) for k, row in enumerate(S.tolist())]
    text = f"{heading}100\n" + "\n".join([mark.join(names), *lines])
    return {"reader": "covariance", "bytes": as_text(text.encode()), "covariance": S.tolist()}


@st.composite
def damaged(draw: st.DrawFn, tables: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """Draw a table file with some bytes changed."""
    case = draw(tables)
    content = as_bytes(case["bytes"])
    if case["reader"] == "gzip" and draw(st.booleans()):
        content = gzip.compress(draw(mutated(gzip.decompress(content))), mtime=0)
    else:
        content = draw(mutated(content))
    return {"reader": case["reader"] + ", damaged", "bytes": as_text(content)}


@st.composite
def faulty(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a text table with one fault, which must be refused or read as pandas reads it."""
    names, rows = draw(tables())
    separator = draw(st.sampled_from(",;\t|"))
    cells = [[repr(x) if x == x else "" for x in row] for row in rows]
    fault, line = draw(st.sampled_from(["surplus", "lacking", "control", "first"])), draw(st.integers(1, len(rows) - 1))
    if fault == "surplus":  # in the first line, pandas would take it for an index
        cells[line].append("")
    elif fault == "lacking":
        cells[line].pop()
    elif fault == "control":
        cells[line][0] = draw(st.sampled_from("\x1c\x1d\x1e\x1f")) + "0.5"
    else:
        cells[0] = ["", *(repr(x + 0.5) for x in np.nan_to_num(rows[0][1:]).tolist())]
    lines = [_joined(names, separator)] if fault != "first" else []
    text = "\n".join([*lines, *(_joined(row, separator) for row in cells)])
    options = {"sep": separator, "header": 0 if lines else None}
    return {"reader": "faulty, damaged", "bytes": as_text(text.encode()), "pandas": options}


def _joined(cells: list[str], separator: str) -> str:
    return separator.join(_quoted(cell, separator, False) for cell in cells)


_WELL_FORMED = {"csv": text_tables(False), "gzip": text_tables(True), "parquet": parquet_tables(), "npy": arrays()}
_WELL_FORMED |= {"covariance": covariances()}


def cases(reader: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw files for a reader; two of three are damaged."""
    if reader == "faulty":
        return faulty()
    tables = _WELL_FORMED[reader]
    return st.one_of(damaged(tables), damaged(tables), tables)


def check(case: dict[str, Any]) -> None:
    """Read a table; where pandas was told how it is written, require the same names and numbers."""
    with tempfile.TemporaryDirectory() as folder:
        kind = case["reader"].removesuffix(", damaged")
        path = Path(folder, f"table.{kind if kind in ('parquet', 'npy') else 'txt'}")
        path.write_bytes(as_bytes(case["bytes"]))
        if kind == "covariance":
            found = answer(lambda: read_covariance(path)).covariance
            if "covariance" in case and not np.allclose(found, case["covariance"]):
                raise ViolationError("the covariance differs from the one written", kind)
            return
        table = answer(lambda: read_table(path, header=case.get("header")))
        if "pandas" in case:
            how = case["pandas"]
            place = "thousands" if "thousands" in how else ""
            _compare(table, _by_pandas(path, how), place, tabs=how.get("sep") == "\t")
        try:
            moments = answer(lambda: moments_from_file(path, header=case.get("header"), missing="drop"))
        except RefusedError:
            return
    if not moments.coding.is_numeric:  # indicators of categories have no numbers to compare with
        return
    whole = table.values[~np.isnan(table.values).any(axis=1)]
    if moments.n != len(whole) or not np.allclose(moments.mean, whole.mean(axis=0), rtol=1e-9, atol=1e-9):
        raise ViolationError("rows and moments differ", case["reader"])


def _by_pandas(path: Path, options: dict[str, Any]) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".npy":
        array = np.load(path)
        return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])])
    # Only Python rounds the same in every version: versions of pandas differ in the last digits of a number.
    try:
        frame = pd.read_csv(path, skipinitialspace=True, dtype=str, **options)
    except pd.errors.ParserError as error:
        raise ViolationError("a table that pandas refuses was read", "", str(error)) from None
    thousands, decimal = options.get("thousands", "\0"), options.get("decimal", ".")
    frame = frame.map(lambda cell: _number(cell.replace(thousands, "").replace(decimal, ".")), na_action="ignore")
    if options.get("header", 0) is None:
        frame.columns = [f"x{j}" for j in range(frame.shape[1])]
    return frame


def _number(cell: str) -> float | object:
    try:
        return float(cell.encode())  # of a text, Python ignores control characters
    except ValueError:
        return object()  # which no array of numbers accepts


def _compare(table: Any, expected: pd.DataFrame, place: str, tabs: bool) -> None:
    """Raise a ViolationError unless names and values are those of pandas."""
    if list(table.names) != list(expected.columns):
        raise ViolationError("names differ from pandas", place, f"{table.names}, not {list(expected.columns)}")
    kinds = [str(kind) for kind in expected.dtypes]
    try:
        values = expected.to_numpy(dtype=float)
    except (TypeError, ValueError):
        raise ViolationError("text was read as numbers", place, str(kinds)) from None
    found = table.values
    if tabs:  # a line of tabs is an empty line for golem, like any other line of white space
        found, values = (rows[~np.isnan(rows).all(axis=1)] for rows in (found, values))
    if values.shape != found.shape or not np.allclose(found, values, rtol=1e-15, atol=0, equal_nan=True):
        raise ViolationError("values differ from pandas", place, f"{found}, not {values}")
