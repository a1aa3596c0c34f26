"""The table of an experiment, as a file and in numbers: means over seeds and differences on the same data."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golem.experiments.analysis.inference import Mean, mean, mean_over_seeds, seed_means
from golem.experiments.engine.store import DONE, Store, flat
from golem.experiments.engine.task import Row, Task, Value
from golem.experiments.experiment import Table
from golem.runtime.files import csv_text, write_text

# Columns that end the table, in this order.
_LAST = ("seconds", "reason", "mode", "version", "commit", "hardware")


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
    write_text(path, csv_text([names, *lines]))


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


def average(table: Table, name: str, **values: Any) -> Mean:
    """Mean over seeds of a number of the rows with these values."""
    return mean_over_seeds((row["seed"], metric(row, name)) for row in where(done(table), **values))


def contrast(table: Table, name: str, first: Mapping[str, Any], second: Mapping[str, Any], on: Sequence[str]) -> Mean:
    """Mean over seeds of a number in the rows with some values less that in the rows with others.

    Rows are matched by their seed and by the columns `on`; those without a partner are left out.
    """
    start = {_place(row, on): metric(row, name) for row in where(done(table), **second)}
    ends = [(row, _place(row, on)) for row in where(done(table), **first)]
    return mean_over_seeds((row["seed"], metric(row, name) - start[place]) for row, place in ends if place in start)


def paired(table: Table, name: str, first: str, second: str, **values: Any) -> Mean:
    """Mean over seeds of first method minus second, on the data sets that both have solved."""
    return mean_over_seeds(_differences(table, name, first, second, **values))


def interaction(
    table: Table, name: str, first: str, second: str, here: Mapping[str, Any], there: Mapping[str, Any]
) -> Mean:
    """How much larger first method minus second is in the rows with some values than in those with others, by seed."""
    large, small = (seed_means(_differences(table, name, first, second, **values)) for values in (here, there))
    return mean(large[seed] - small[seed] for seed in large if seed in small)


def _differences(table: Table, name: str, first: str, second: str, **values: Any) -> list[tuple[Any, float]]:
    """First method minus second on each data set that both have solved, with its seed."""
    found: dict[str, dict[tuple[Any, ...], float]] = {first: {}, second: {}}
    for row in where(done(table), method=(first, second), **values):
        found[str(row["method"])][_place(row, _cell_columns(row))] = metric(row, name)
    ours, theirs = found[first], found[second]
    return [(place[-1], value - theirs[place]) for place, value in ours.items() if place in theirs]


def _cell_columns(row: Row) -> list[str]:
    """Names of the columns of the cell, which stand before the method."""
    names = list(row)
    return names[names.index("experiment") + 1 : names.index("method")]


def _place(row: Row, columns: Sequence[str]) -> tuple[Any, ...]:
    return (*(row[name] for name in columns), row["seed"])
