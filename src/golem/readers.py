"""Files to tables and graphs: CSV whose separator and header are found, Parquet, and the files golem writes."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from golem.moments import Matrix, column_names, quoted, rows_and_names

_SEPARATORS = (",", "\t", ";", "|", " ")
_MISSING = {"", "na", "nan", "n/a", "null", "none", "inf", "-inf", "#n/a"}
_SAMPLE_BYTES = 1 << 16


@dataclass(frozen=True, eq=False)
class Table:
    """Numeric rows with column names."""

    values: Matrix
    names: tuple[str, ...]


@dataclass(frozen=True)
class CsvFormat:
    """How a text table is written."""

    separator: str
    has_header: bool
    decimal_comma: bool
    encoding: str


def read_table(path: str | Path) -> Table:
    """Read a CSV or Parquet file of numbers.

    Raises
    ------
    ValueError
        If the file is missing, empty, binary or not a table of numbers; the message names the file.
    """
    path = Path(path)
    if path.is_dir() or not path.exists():
        raise ValueError(f"{path}: {'a folder, not a file' if path.is_dir() else 'no such file'}")
    if path.stat().st_size == 0:
        raise ValueError(f"{path}: the file is empty")
    try:
        table = _read_parquet(path) if _is_parquet(path) else _read_csv(path)
        values, names = rows_and_names(table)
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file in UTF-8; save it as CSV or Parquet") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Table(values, names)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _read_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"not a readable Parquet file ({_first_line(error)})") from None


def _read_csv(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
    found = sniff_csv(sample, truncated=path.stat().st_size > len(sample))
    source: Any = path
    separator = found.separator
    if separator == " ":  # any run of blanks separates; PyArrow knows single characters only
        text = path.read_text(encoding=found.encoding)
        source = io.BytesIO("\n".join("\t".join(line.split()) for line in text.splitlines()).encode())
        separator = "\t"
    try:
        table = pacsv.read_csv(
            source,
            read_options=pacsv.ReadOptions(
                encoding="utf8" if source is not path else found.encoding,
                autogenerate_column_names=not found.has_header,
            ),
            parse_options=pacsv.ParseOptions(delimiter=separator),
            convert_options=pacsv.ConvertOptions(decimal_point="," if found.decimal_comma else "."),
        )
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"not a readable table ({_first_line(error)})") from None
    names = [name.strip() for name in table.column_names] if found.has_header else None
    return table.rename_columns(list(column_names(names, table.num_columns)))


def sniff_csv(sample: bytes, truncated: bool = False) -> CsvFormat:
    r"""Find the separator, the header, the decimal mark and the encoding from the start of a text table.

    The separator is the one that splits every line into the same number of fields, the more the better. The first
    line is a header if one of its fields is not a number. A semicolon table of numbers like `1,5` has decimal commas.

    Examples
    --------
    >>> sniff_csv(b"a;b\n1,5;2\n")
    CsvFormat(separator=';', has_header=True, decimal_comma=True, encoding='utf8')

    Raises
    ------
    ValueError
        If the sample is binary or has no lines.
    """
    if b"\0" in sample:
        raise ValueError("a binary file, not text; CSV and Parquet files can be read")
    try:
        text, encoding = sample.decode("utf-8-sig", errors="ignore" if truncated else "strict"), "utf8"
    except UnicodeDecodeError:
        text, encoding = sample.decode("latin-1"), "latin-1"
    lines = [line for line in text.splitlines() if line.strip()]
    if truncated:
        lines = lines[:-1]
    if not lines:
        raise ValueError("the file has no lines of data")
    lines = lines[:50]
    separator = max(_SEPARATORS, key=lambda mark: _columns(lines, mark))
    header, *body = (_fields(line, separator) for line in lines)
    decimal_comma = separator == ";" and any("," in field for row in body for field in row)

    def is_number(field: str) -> bool:
        try:
            float(field.replace(",", ".") if decimal_comma else field)
        except ValueError:
            return field.lower() in _MISSING
        return True

    # A blank first field, as a saved row index leaves it, also marks a header: data hardly start with one.
    has_header = not all(is_number(field) for field in header) or (
        len(body) > 0 and header[0] == "" and body[0][0] != ""
    )
    return CsvFormat(separator, has_header, decimal_comma, encoding)


def _fields(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=separator))]


def _columns(lines: list[str], separator: str) -> int:
    """Count the columns a separator gives, 0 where the lines disagree."""
    counts = {len(_fields(line, separator)) for line in lines}
    return counts.pop() if len(counts) == 1 else 0


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A weight matrix over named variables."""

    weights: Matrix
    names: tuple[str, ...]

    def aligned(self, names: tuple[str, ...]) -> Matrix:
        """Weights over another list of names that includes all of this graph's; the others are isolated."""
        where = {name: position for position, name in enumerate(names)}
        missing = [name for name in self.names if name not in where]
        if missing:
            raise ValueError(f"variables {quoted(missing)} are not among {quoted(names)}")
        index = [where[name] for name in self.names]
        weights = np.zeros((len(names), len(names)))
        weights[np.ix_(index, index)] = self.weights
        return weights


def read_graph(path: str | Path) -> NamedGraph:
    """Read a graph: `graph.json`, an edge list with columns source, target[, weight], or a named weight matrix.

    Raises
    ------
    ValueError
        If the file holds none of these.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file; a graph is a JSON or CSV file") from None
    try:
        if text.lstrip().startswith("{"):
            content = json.loads(text)
            return _named_graph(content["weights"], content["names"])
        rows = [[field.strip() for field in row] for row in csv.reader(io.StringIO(text)) if row]
        if rows and rows[0][:2] == ["source", "target"]:
            return _graph_of_edges(rows[0], rows[1:])
        return _named_graph([row[1:] for row in rows[1:]], rows[0][1:], [row[0] for row in rows[1:]])
    except (KeyError, IndexError, TypeError, json.JSONDecodeError, ValueError) as error:
        raise ValueError(
            f"{path}: not a graph; expected graph.json, an edge list with the header source,target[,weight] or a "
            f"square table of weights with names ({_first_line(error)})"
        ) from None


def _named_graph(weights: Any, names: list[str], row_names: list[str] | None = None) -> NamedGraph:
    B = np.array(weights, dtype=float)
    if B.shape != (len(names), len(names)) or (row_names is not None and row_names != names):
        raise ValueError("the names of rows and columns differ")
    return NamedGraph(B, column_names(names, len(B)))


def _graph_of_edges(header: list[str], rows: list[list[str]]) -> NamedGraph:
    names = tuple(dict.fromkeys(name for row in rows for name in row[:2]))
    where = {name: position for position, name in enumerate(names)}
    weight = header.index("weight") if "weight" in header else None
    B = np.zeros((len(names), len(names)))
    for row in rows:
        # A listed edge is an edge, also where its weight is 0 or left out.
        B[where[row[0]], where[row[1]]] = (float(row[weight] or 1) or 1.0) if weight is not None else 1.0
    return NamedGraph(B, column_names(names, len(names)))
