"""The table of an experiment: read, written, and summarized by means over seeds and differences on the same data."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from golem.runtime.files import csv_text, write_text
from golem_experiments.analysis.inference import Mean, mean_over_seeds
from golem_experiments.engine.store import DONE, Store, flat
from golem_experiments.experiment import Row, Table, Task, Value

# The last columns of the table, in this order.
_LAST = ("seconds", "reason", "mode", "version", "commit", "hardware")
# Columns of the table that are neither part of the cell nor measured.
_ABOUT = ("key", "experiment", "method", "seed", "status", "device", "batch", *_LAST)
_LABELS = {
    "shd": "SHD / d", "shd_c": "SHD-C / d", "sid": "SID / d", "tpr": "TPR", "h": "h(B)", "fit_seconds": "seconds",
    "shd_i": "SHD-I", "cyclic": "share cyclic", "columns": "", "d": "variables d", "n": "samples n",
    "weight_scale": "weight scale alpha", "score_gap": "S(B) / d minus golem-nv's",
    "f1_within": "F1 within a step", "f1_lagged": "F1 of the past",
}  # fmt: skip


def label(column: str) -> str:
    """Return the name of a column in figures and verdicts."""
    return _LABELS.get(column, column)


def read_store(folder: Path, tasks: Sequence[Task] = ()) -> Table:
    """Return the rows of a store as a table, sorted by cell, method and seed.

    Words (graphs, methods) have the order in which they occur in `tasks`, numbers the order of their size.
    """
    words = dict.fromkeys(value for task in tasks for value in (*task.cell.values(), task.method))
    rank = {word: number for number, word in enumerate(words) if isinstance(word, str)}

    def order(value: Value) -> tuple[Any, ...]:
        return (rank.get(value, len(rank)), value) if isinstance(value, str) else (-1, value)

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        return (*map(order, row["cell"].values()), order(row["method"]), row["seed"])

    rows = [flat(row) for row in sorted(Store(folder).read(), key=place)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    names = [name for name in names if name not in _LAST] + [name for name in _LAST if name in names]
    return [{name: row.get(name) for name in names} for row in rows]


def restore_store(folder: Path) -> None:
    """Add the rows of table.csv that the store lacks, so that a run continues from a published table."""
    store, path = Store(folder), folder / "table.csv"
    if not path.exists():
        return
    known = store.keys()
    for row in read_csv(path):
        if row["key"] not in known:
            cell = cell_columns(row)
            store.add(
                {name: row[name] for name in _ABOUT if name in row}
                | {"cell": {name: row[name] for name in cell if row[name] is not None}}
                | {"measured": {name: value for name, value in row.items() if name not in (*_ABOUT, *cell)}}
            )


def write_csv(table: Table, path: Path) -> None:
    """Write a table; missing values are left empty."""
    names = list(table[0])
    lines = [["" if row[name] is None else row[name] for name in names] for row in table]
    write_text(path, csv_text([names, *lines]))


def read_csv(path: Path) -> Table:
    """Read a table that `write_csv` wrote.

    Raises
    ------
    ValueError
        If there is no such file, or it is empty or damaged.
    """
    if not path.exists():
        raise ValueError(f"There is no file {path}. Run the experiment first, or name its folder with -o.")
    damaged = ValueError(f"{path} is not the table of an experiment, or is damaged. Restore it, or delete it.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (UnicodeDecodeError, csv.Error):
        raise damaged from None
    if not rows:
        raise ValueError(f"{path} has no rows.")
    if "key" not in names or any(len(row) != len(names) for row in rows):
        raise damaged
    return [{name: _value(name, text) for name, text in zip(names, row, strict=True)} for row in rows]


def _value(name: str, text: str) -> Value:
    """Convert a value to a number or truth value if it is one; keys and commits stay text, even if all are digits."""
    if name in ("key", "commit", "version", "reason", "warning"):
        return text
    if text == "":
        return None
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def done(table: Table) -> Table:
    """Return the rows of completed tasks."""
    return [row for row in table if row["status"] == DONE]


def timed_alone(table: Table) -> Table:
    """Return the rows whose time is their own, and not their share of the time of a batch."""
    return [row for row in table if row.get("batch") in (None, "", 1)]


def most_common_hardware(table: Table) -> Table:
    """Return the rows of the hardware that most rows ran on, because times on different hardware have no mean."""
    counts = Counter(row.get("hardware") for row in table)
    return where(table, hardware=counts.most_common(1)[0][0]) if counts else []


def where(table: Table, **values: Any) -> Table:
    """Return the rows with these values; a tuple, list or set means any of its values."""
    rows = list(table)
    for name, value in values.items():
        wanted = value if isinstance(value, tuple | list | set) else (value,)
        rows = [row for row in rows if row.get(name) in wanted]
    return rows


def distinct(table: Table, name: str) -> list[Any]:
    """Return the values of a column: numbers sorted, words in order of appearance."""
    values: list[Any] = list(dict.fromkeys(row[name] for row in table if row.get(name) is not None))
    return sorted(values) if all(isinstance(value, int | float) for value in values) else values


def column(table: Table, name: str) -> list[Any]:
    """Return the values of a column that are not missing, one per row."""
    return [row[name] for row in table if row[name] is not None]


def metric(row: Row, name: str) -> float:
    """Return a number of a row, NaN if missing; SHD, SHD-C and SID are divided by d, as in the paper."""
    value = row.get(name)
    if value is None:
        return math.nan
    return float(value) / float(row["d"] or 1) if name in ("shd", "shd_c", "sid") else float(value)


def average(table: Table, name: str, **values: Any) -> Mean:
    """Return the mean over cells and seeds of a number, in the rows with these values."""
    rows = where(done(table), **values)
    return mean_over_seeds((_place(row, cell_columns(row)), row["seed"], metric(row, name)) for row in rows)


def contrast(
    table: Table, name: str, first: Mapping[str, Any], second: Mapping[str, Any], on: Sequence[str] | None = None
) -> Mean:
    """Return the mean over seeds of a number in the rows with the first values minus that with the second values.

    Rows are matched by seed and by the columns `on` (default: the cell), times also by hardware. Rows without a partner
    are left out.
    """
    ends, start = (_by_place(where(done(table), **values), name, on) for values in (first, second))
    return mean_over_seeds((*place, value - start[place]) for place, value in ends.items() if place in start)


def paired(table: Table, name: str, first: str, second: str, **values: Any) -> Mean:
    """Return the mean over seeds of first method minus second, on the data sets that both have completed."""
    return contrast(where(table, **values), name, {"method": first}, {"method": second})


def share(table: Table, part: str, whole: Sequence[str]) -> Mean:
    """Return the share of a count in the sum of others, over all rows, with a standard error over seeds.

    A share of 0 or 1 has no spread, however few it counts. So the error is at least that of independent counts, with
    one more of each kind.
    """
    by_seed: dict[Any, list[float]] = {}
    for row in done(table):
        counts = by_seed.setdefault(row["seed"], [0.0, 0.0])
        counts[0] += float(row[part] or 0)
        counts[1] += sum(float(row[name] or 0) for name in whole)
    numbers = np.array([counts for counts in by_seed.values() if counts[1]])
    n = len(numbers)
    if not n:
        return Mean(math.nan, math.nan, 0)
    some, total = map(float, numbers.sum(axis=0))
    value = some / total
    if n == 1:
        return Mean(value, math.nan, n)
    # The standard error of a ratio of sums.
    error = math.sqrt(float(np.sum((numbers[:, 0] - value * numbers[:, 1]) ** 2)) * n / (n - 1)) / total
    smoothed = (some + 1) / (total + 2)
    return Mean(value, max(error, math.sqrt(smoothed * (1 - smoothed) / (total + 2))), n)


def interaction(
    table: Table, name: str, first: str, second: str, here: Mapping[str, Any], there: Mapping[str, Any]
) -> Mean:
    """Return by how much first method minus second is larger in the rows `here` than in the rows `there`, by seed.

    Cells are matched by the columns that `here` and `there` do not name.
    """
    rows = done(table)
    on = [column for column in cell_columns(rows[0]) if column not in here] if rows else []
    gaps = []
    for values in (here, there):
        own, other = (_by_place(where(rows, method=method, **values), name, on) for method in (first, second))
        gaps.append({place: value - other[place] for place, value in own.items() if place in other})
    large, small = gaps
    return mean_over_seeds((*place, gap - small[place]) for place, gap in large.items() if place in small)


def shared(table: Table, methods: Sequence[str]) -> Table:
    """Return the rows of methods on the data sets that all of them have completed."""
    rows = where(done(table), method=tuple(methods))
    found = Counter((_place(row, cell_columns(row)), row["seed"]) for row in rows)
    return [row for row in rows if found[_place(row, cell_columns(row)), row["seed"]] == len(methods)]


def not_completed(table: Table, methods: Sequence[str]) -> str:
    """Write how many runs of each method were stopped or failed; empty if none."""
    parts = []
    for name in methods:
        rows = where(table, method=name)
        ends = Counter(str(row["status"]) for row in rows if row["status"] != DONE)
        parts += [f"{name} {count} of {len(rows)} ({end})" for end, count in ends.items()]
    return ", ".join(parts)


def cell_columns(row: Row) -> list[str]:
    """Return the names of the columns of the cell, which are those before the method."""
    names = list(row)
    return names[names.index("experiment") + 1 : names.index("method")]


def _by_place(table: Table, name: str, on: Sequence[str] | None) -> dict[tuple[Any, Any], float]:
    """Return a number by some columns and seed. Times can be compared only on the same hardware."""
    more = ["hardware"] if name.endswith("seconds") else []
    return {(_place(row, [*(on or cell_columns(row)), *more]), row["seed"]): metric(row, name) for row in table}


def _place(row: Row, columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in columns)
