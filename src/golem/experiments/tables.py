"""The table of an experiment, as a file and in numbers: means, standard errors, paired differences."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from golem import export
from golem.experiments.experiment import Table
from golem.experiments.store import DONE, Store, flat
from golem.experiments.task import Row, Task, Value
from golem.graph_files import csv_text

# Columns that end the table, in this order.
_LAST = ("seconds", "reason", "mode", "version", "commit", "hardware")
# Differences from zero beyond this many standard errors count.
SURE = 2.0


def read_store(folder: Path, tasks: Sequence[Task] = ()) -> Table:
    """Rows of a store as a table, sorted by cell, method and seed.

    Parameters
    ----------
    folder : Path
        Where the store is.
    tasks : sequence of Task
        Tasks of the experiment: words (graphs, methods) are sorted as they come here, numbers by size.
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


def write_csv(table: Table, path: Path) -> None:
    """Write a table; what is missing is left empty."""
    names = list(table[0])
    lines = [["" if row[name] is None else row[name] for name in names] for row in table]
    export.write_text(path, csv_text([names, *lines]))


def read_csv(path: Path) -> Table:
    """Read a table that `write_csv` wrote, values as they were.

    Raises
    ------
    ValueError
        If there is no such file, or it is empty.
    """
    if not path.exists():
        raise ValueError(f"{path}: no such file; run the experiment first, or name its folder with -o")
    with path.open(encoding="utf-8", newline="") as file:
        table = [{name: _value(name, text) for name, text in row.items()} for row in csv.DictReader(file)]
    if not table:
        raise ValueError(f"{path} has no rows")
    return table


def _value(name: str, text: str) -> Value:
    """Read a cell: a number or a truth value where it is one. Keys and commits are words, whatever they look like."""
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
    """Rows of tasks that came to their end."""
    return [row for row in table if row["status"] == DONE]


def where(table: Table, **values: Any) -> Table:
    """Rows with these values; of a tuple or list, with one of them."""

    def fits(row: Row) -> bool:
        return all(row.get(k) in v if isinstance(v, tuple | list | set) else row.get(k) == v for k, v in values.items())

    return [row for row in table if fits(row)]


def distinct(table: Table, name: str) -> list[Any]:
    """Values of a column, numbers sorted and words in the order in which they come."""
    values: list[Any] = list(dict.fromkeys(row[name] for row in table if row.get(name) is not None))
    return sorted(values) if all(isinstance(value, int | float) for value in values) else values


def metric(row: Row, name: str) -> float:
    """Return a number of a row, SHD, SHD-C and SID divided by the number of nodes as in the paper; NaN if missing."""
    value = row.get(name)
    if value is None:
        return math.nan
    return float(value) / float(row["d"] or 1) if name in ("shd", "shd_c", "sid") else float(value)


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error (0 of a single value) and the number of values."""

    value: float
    error: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.3g} ± {self.error:.2g}" if self.count else "none"


def mean(values: Iterable[float]) -> Mean:
    """Mean and standard error of the finite ones of some numbers.

    Examples
    --------
    >>> print(mean([1.0, 2.0, 3.0, float("nan")]))
    2 ± 0.58
    """
    finite = [value for value in values if math.isfinite(value)]
    n = len(finite)
    if not n:
        return Mean(math.nan, math.nan, 0)
    centre = math.fsum(finite) / n
    spread = math.fsum((value - centre) ** 2 for value in finite)
    return Mean(centre, math.sqrt(spread / (n - 1) / n) if n > 1 else 0.0, n)


def average(table: Table, name: str, **values: Any) -> Mean:
    """Mean of a number over the rows with these values."""
    return mean(metric(row, name) for row in where(done(table), **values))


def paired(table: Table, name: str, first: str, second: str, **values: Any) -> Mean:
    """Mean of first method minus second, over the data sets that both have solved."""
    found: dict[str, dict[tuple[Any, ...], float]] = {first: {}, second: {}}
    for row in where(done(table), method=(first, second), **values):
        found[str(row["method"])][_data_set(row)] = metric(row, name)
    return mean(value - found[second][place] for place, value in found[first].items() if place in found[second])


def _data_set(row: Row) -> tuple[Any, ...]:
    """Return what tells data sets apart: the columns of the cell, which stand before the method, and the seed."""
    names = list(row)
    before = names[names.index("experiment") + 1 : names.index("method")]
    return (*(row[name] for name in before), row["seed"])


def is_lower(difference: Mean) -> bool | None:
    """Tell whether a difference is below zero, above it (False), or neither for sure (None).

    One or two pairs say too little of their spread, and decide nothing.
    """
    if difference.count < 3:
        return None
    if difference.value < 0 and difference.value <= -SURE * difference.error:
        return True
    return False if difference.value > 0 and difference.value >= SURE * difference.error else None


def all_hold(outcomes: Iterable[bool | None]) -> bool | None:
    """Join outcomes: True where all are, False where one is, else None."""
    outcomes = list(outcomes)
    if not outcomes or None in outcomes:
        return False if False in outcomes else None
    return all(outcomes)
