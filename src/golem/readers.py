"""Files to tables and graphs: CSV whose separator and header are found, Parquet, and the files golem writes."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from golem.moments import Matrix, column_names, quoted, rows_and_names

_SEPARATORS = (",", "\t", ";", "|", " ")
_MISSING = {"", "na", "nan", "n/a", "null", "none", "inf", "-inf", "#n/a"}
_SAMPLE_BYTES, _SAMPLE_LINES, _LARGEST_SAMPLE = 1 << 16, 10, 1 << 26
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class Table:
    """Numeric rows with column names, and whether the names were made up because the file had none."""

    values: Matrix
    names: tuple[str, ...]
    made_up_names: bool = False


@dataclass(frozen=True)
class CsvFormat:
    """How a text table is written."""

    separator: str
    has_header: bool
    decimal_comma: bool
    encoding: str


def read_table(path: str | Path, *, drop: Sequence[str] = (), header: bool | None = None) -> Table:
    """Read a CSV or Parquet file of numbers.

    Parameters
    ----------
    path : str or Path
        The file.
    drop : sequence of str
        Columns to leave out.
    header : bool, optional
        Whether a CSV file has a line of names; found by itself where it is not said.

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
        table, made_up = (_read_parquet(path), False) if _is_parquet(path) else _read_csv(path, header)
        unknown = [name for name in drop if name not in table.column_names]
        if unknown:
            raise ValueError(f"no column {quoted(unknown)} to drop; there are {quoted(table.column_names)}")
        values, names = rows_and_names(table.drop_columns(list(drop)))
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file in UTF-8; save it as CSV or Parquet") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Table(values, names, made_up)


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


def _read_csv(path: Path, header: bool | None) -> tuple[Any, bool]:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    sample = _sample(path)
    found = sniff_csv(sample, truncated=path.stat().st_size > len(sample))
    has_header = found.has_header if header is None else header
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
                autogenerate_column_names=not has_header,
            ),
            parse_options=pacsv.ParseOptions(delimiter=separator),
            convert_options=pacsv.ConvertOptions(decimal_point="," if found.decimal_comma else "."),
        )
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"not a readable table ({_first_line(error)})") from None
    # NumPy's savetxt marks its header as a comment.
    names = [name.strip().removeprefix("#").strip() for name in table.column_names] if has_header else None
    return table.rename_columns(list(column_names(names, table.num_columns))), not has_header


def _sample(path: Path) -> bytes:
    """Read the start of a file: enough for a few lines, however long they are."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
        while sample.count(b"\n") < _SAMPLE_LINES and len(sample) < _LARGEST_SAMPLE:
            more = file.read(len(sample))
            if not more:
                break
            sample += more
    return sample


def sniff_csv(sample: bytes, truncated: bool = False) -> CsvFormat:
    r"""Find the separator, the header, the decimal mark and the encoding from the start of a text table.

    The separator splits every line into the same number of fields and leaves as many numbers as possible below the
    first line. The first line is a header if one of its fields is not a number, or if it counts (whole numbers that
    grow, such as years) above numbers that do not. Where the comma does not separate, `1,5` is a number.

    Examples
    --------
    >>> sniff_csv(b"a;b\n1,5;2\n")
    CsvFormat(separator=';', has_header=True, decimal_comma=True, encoding='utf8')

    Raises
    ------
    ValueError
        If the sample is binary, has no lines or no separator.
    """
    if b"\0" in sample or sample.startswith(b"\x1f\x8b"):
        raise ValueError("a binary or compressed file; CSV text in UTF-8 and Parquet can be read")
    text, encoding = _decoded(sample, truncated)
    lines = [line for line in text.splitlines() if line.strip()]
    if truncated:
        lines = lines[:-1]
    if not lines:
        raise ValueError("the file has no lines of data")
    lines = lines[:50]
    separator = max(_SEPARATORS, key=lambda mark: _quality(lines, mark))
    one_column = len(_fields(lines[0], separator)) == 1
    if _quality(lines, separator) < (0, 0) or (one_column and any(mark in line for line in lines for mark in ",;\t|")):
        counts = [len(_fields(line, ",")) for line in lines]
        where = next(k for k, count in enumerate(counts) if count != counts[0]) if len(set(counts)) > 1 else 1
        raise ValueError(
            f"the lines have different numbers of fields (line 1 has {counts[0]} by commas, line {where + 1} has "
            f"{counts[where]}); is there a comment or a title above the table?"
        )
    header, *body = (_fields(line, separator) for line in lines)
    decimal_comma = separator != "," and any(_DECIMAL_COMMA.fullmatch(field) for row in body for field in row)
    names = not all(_is_number(field, decimal_comma) for field in header)
    # A blank first field, as a saved row index leaves it, also marks a header: data hardly start with one.
    index = len(body) > 0 and header[0] == "" and body[0][0] != ""
    return CsvFormat(separator, names or index or _counts(header, body), decimal_comma, encoding)


def _decoded(sample: bytes, truncated: bool) -> tuple[str, str]:
    """Decode UTF-8, whose last character may be cut off, or else Latin-1, which takes anything."""
    for cut in range(4 if truncated else 1):
        try:
            return sample[: len(sample) - cut].decode("utf-8-sig"), "utf8"
        except UnicodeDecodeError:
            continue
    return sample.decode("latin-1"), "latin-1"


def _quality(lines: list[str], separator: str) -> tuple[float, int]:
    """How well a separator explains the lines: the share of numbers below the first, then the columns."""
    rows = [_fields(line, separator) for line in lines]
    columns = len(rows[0])
    if any(len(row) != columns for row in rows):
        return (-1.0, 0)
    fields = [field for row in rows[1:] for field in row]
    numbers = sum(_is_number(field, separator != ",") for field in fields)
    # One column is no table, whatever it holds: any separator that finds more is better.
    return (numbers / len(fields) if fields and columns > 1 else 0.0, columns)


def _counts(header: list[str], body: list[list[str]]) -> bool:
    """Tell whether a first line of whole numbers that grow stands above numbers that are not whole."""
    if not body or not all(re.fullmatch(r"\d+", field) for field in header):
        return False
    numbers = [int(field) for field in header]
    grows = all(a < b for a, b in itertools.pairwise(numbers))
    broken = sum(not re.fullmatch(r"[+-]?\d+", field) for field in body[0])
    return len(numbers) > 1 and grows and broken > len(numbers) / 2


def _is_number(field: str, decimal_comma: bool) -> bool:
    try:
        float(field.replace(",", ".") if decimal_comma and _DECIMAL_COMMA.fullmatch(field) else field)
    except ValueError:
        return field.lower() in _MISSING
    return True


def _fields(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    if separator not in line:  # also spares the csv module a field beyond its limit
        return [line.strip().strip('"')]
    return [field.strip() for field in next(csv.reader([line], delimiter=separator))]


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
