"""Series and panels in files larger than memory: the moments of all windows, from rows that are read in order.

The rows have to be sorted by unit and time. The last rows of each batch are kept for the windows of the next one, and
of the intercepts only that of the last unit is open, so memory does not depend on the number of rows.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.files.batches import Batch, naming
from golem.data.files.csv_files import CsvFile
from golem.data.files.ordered_rows import InOrder, cells_in_order
from golem.data.files.streaming import labelled_batches, plan
from golem.data.files.table_files import TableFiles
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.resampling import merged
from golem.data.series import Series, gap_note, is_gap, is_number, require_lag_names, require_units, time_numbers
from golem.data.series_reading import (
    ORDER_IS_TIME,
    SeriesChoice,
    centred_moments,
    lags_by_bic,
    largest_lags,
    panel_moments,
    require_windows,
)
from golem.data.table import Part, Table
from golem.runtime.messages import counted
from golem.runtime.problems import ProblemError
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import BoolVector, Indices, Matrix, Vector

_KEPT_NUMBERS = 1_000_000
# Steps from which the usual one is taken.
_STEPS = 100_000
# Bytes in which quotes are looked for.
_QUOTES_IN = 1 << 20


def series_from_files(files: TableFiles, choice: SeriesChoice, missing: MissingChoice, shards: int) -> Table:
    """Return the table of the windows of a series or panel, with moments of shards and some of the windows as rows."""
    if missing == "em":
        raise ProblemError.of("{missing='em'} needs all rows in memory. Use {missing='drop'}: complete windows.")
    lags = choice.lags or 0
    notes = [ORDER_IS_TIME] if lags and choice.time is None else []
    if lags == "auto":
        lags, most = _automatic(files, choice)
        notes.append(f"{counted(lags, 'lag')} chosen from 0 to {most} by BIC.")
    require_lag_names(files.names, lags)
    found = _Windows(files.names, lags, shards, choice.unit is not None, missing == "drop")
    for batch in _ordered(files, choice):
        found.add(batch)
    return Table((found.part(notes),), series=found.series)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows in order: the shard of each batch, values, and the numbers of the stretch and the unit of each row."""

    position: float
    values: Matrix
    stretch: Indices
    unit: Indices


def _automatic(files: TableFiles, choice: SeriesChoice) -> tuple[int, int]:
    """Return the number of lags that BIC chooses, and the largest that it tried; the files are read once more."""
    stretches, units = Counter[int](), Counter[int]()
    for rows in _ordered(files, choice, only_order=True):
        stretches.update(dict(zip(*_counts(rows.stretch), strict=True)))
        units.update(dict(zip(*_counts(rows.unit), strict=True)))
    d, n = len(files.names), stretches.total()
    periods = None if choice.unit is None else int(np.median(list(units.values())))
    most = largest_lags(n, d, max(stretches.values()), periods)
    if most < 1:
        return 0, 0
    found = _Windows(files.names, most, 1, choice.unit is not None, drops=True)
    for rows in _ordered(files, choice):
        found.add(rows)
    found.close_unit()
    whole = merged(list(found.parts.values()))
    windows = found.windows_per_unit if choice.unit is not None else np.array([whole.n])
    return lags_by_bic(whole.scatter, windows[windows > 1], d, most, periods), most


def _counts(numbers: Indices) -> tuple[list[int], list[int]]:
    found, counts = np.unique(numbers, return_counts=True)
    return found.tolist(), counts.tolist()


def _ordered(files: TableFiles, choice: SeriesChoice, only_order: bool = False) -> Iterator[_Rows]:
    """Read the rows in order, with their stretches and units; one batch is decoded while the one before is used."""
    keys = {
        name: InOrder(cells_in_order(files, getattr(choice, name)))
        for name in ("time", "unit")
        if getattr(choice, name) is not None
    }
    order = _Order(files, choice)
    for position, batch in _ahead(_batches(files)):
        if not batch.columns:
            continue
        n = len(batch.columns[0])
        stretch, unit = order.next(n, {name: cells.take(n) for name, cells in keys.items()})
        values = np.empty((n, 0)) if only_order else np.column_stack(batch.columns)
        yield _Rows(position, values, stretch, unit)


def _batches(files: TableFiles) -> Iterator[tuple[float, Batch]]:
    """Read the files in order; also yield the share of the bytes before each batch."""
    for task in plan(files):
        with naming(task.file.path):
            for batch in labelled_batches(task):
                yield (task.before + batch.begin) / max(1, task.total), batch


def _ahead(batches: Iterator[tuple[float, Batch]]) -> Iterator[tuple[float, Batch]]:
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (found := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield found


@dataclass
class _Order:
    """Follows units and times from batch to batch; raises a ValueError where the rows are not sorted."""

    files: TableFiles
    choice: SeriesChoice
    row: int = 0
    stretch: int = -1
    unit: int = -1
    usual: float | None = None
    # Whether units are sorted, so far, as text and as numbers; a time as it is written.
    sorted_as: dict[str, bool] = field(default_factory=lambda: {"text": True, "number": True})
    written: Any = 0
    last: dict[str, NDArray[Any]] = field(default_factory=dict)

    def next(self, n: int, keys: dict[str, NDArray[Any]]) -> tuple[Indices, Indices]:
        """Return the stretch and the unit of each of the next n rows."""
        is_new = np.zeros(n, dtype=bool)
        is_new[0] = not self.row
        self.written = keys["time"][0] if "time" in keys else 0
        if "unit" in keys:
            is_new = self._with_last("unit", _labels(keys["unit"], self.row), self._unit_begins)
        begins = is_new
        if "time" in keys:
            times = time_numbers(keys["time"].tolist(), n, self.row)
            begins = self._with_last("time", times, lambda found, skip: self._stretch_begins(found, is_new, skip))
        self.row += n
        stretch, unit = self.stretch + np.cumsum(begins), self.unit + np.cumsum(is_new)
        self.stretch, self.unit = int(stretch[-1]), int(unit[-1])
        return stretch, unit

    def _with_last(self, key: str, values: NDArray[Any], compare: Any) -> BoolVector:
        """Return which rows begin something, given their values and that of the row before them."""
        before = self.last.get(key, values[:1])
        self.last[key] = values[-1:]
        begins: BoolVector = compare(np.concatenate([before, values]), len(values))
        return begins

    def _unit_begins(self, labels: NDArray[Any], _: int) -> BoolVector:
        begins = np.asarray(labels[1:] != labels[:-1])
        changes = np.flatnonzero(begins)
        before, after = labels[changes], labels[changes + 1]
        falls = {"text": before > after}
        if falls["text"].any() or not self.sorted_as["text"]:
            try:
                falls["number"] = before.astype(float) > after.astype(float)
            except ValueError:
                falls["number"] = np.ones(len(changes), dtype=bool)
        left = [kind for kind, so_far in self.sorted_as.items() if so_far]
        for kind, wrong in falls.items():
            self.sorted_as[kind] &= not wrong.any()
        if not any(self.sorted_as.values()):
            raise self._unsorted(int(changes[max(int(falls[kind].argmax()) for kind in left)]))
        begins[0] |= not self.row
        return begins

    def _stretch_begins(self, times: Vector, is_new: BoolVector, _: int) -> BoolVector:
        steps = np.diff(times)
        inside = ~is_new
        wrong = np.flatnonzero(inside & (steps < 0))
        if len(wrong):
            raise self._unsorted(int(wrong[0]))
        twice = np.flatnonzero(inside & (steps == 0))
        if len(twice):
            hint = "" if self.choice.unit else " If the table has several units, name their column ({unit=...})."
            raise ProblemError.of(
                "The time of row {row} is that of the row before it. Keep one row per time." + hint,
                row=self.row + int(twice[0]) + 1,
            )
        if self.usual is None and inside.any():
            self.usual = float(np.median(steps[inside][:_STEPS]))
        return is_new if self.usual is None else is_new | (inside & is_gap(steps, self.usual))

    def _unsorted(self, row: int) -> ValueError:
        by = [name for name in (self.choice.unit, self.choice.time) if name is not None]
        return ValueError(
            f"The files are too large to be sorted in memory, and row {self.row + row + 1} is not in the order of "
            f"{' and '.join(repr(name) for name in by)}. Sort them first: "
            f"{sort_command(self.files, self.choice.unit, self.choice.time, is_number(self.written))}"
        )


def _labels(cells: NDArray[Any], row: int) -> NDArray[Any]:
    """Return the labels of units, numbers or texts; raise a ValueError for missing ones."""
    require_units(cells.tolist(), row)
    return cells if cells.dtype != object else np.array([str(cell) for cell in cells])


def sort_command(files: TableFiles, unit: str | None, time: str | None, time_is_number: bool) -> str:
    """Return a command for a shell that sorts a file by unit and time, whatever its size; rows of equal ones stay."""
    path, file = str(files.files[0].path), files.files[0]
    by = [name for name in (unit, time) if name is not None]
    if isinstance(file, CsvFile) and len(files.files) == 1 and not file.is_compressed and not _has_quotes(file):
        places = {name: file.names.index(name) + 1 for name in by}
        kind = {unit: "", time: "g" if time_is_number else ""}
        keys = " ".join(f"-k{place},{place}{kind[name]}" for name, place in places.items())
        sort, path = f"LC_ALL=C sort -s -t {shlex.quote(file.form.separator)} {keys}", shlex.quote(path)
        if file.made_up_names:
            return f"{sort} {path} > sorted.csv"
        return f"(head -n 1 {path}; tail -n +2 {path} | {sort}) > sorted.csv"
    # Without a time, the order of the rows of a unit is the time.
    source = f'"{path}"' if time else f'(SELECT *, row_number() OVER () AS "row" FROM "{path}")'
    columns = ", ".join(f'"{name}"' for name in (*by, *([] if time else ["row"])))
    what = "*" if time else '* EXCLUDE "row"'
    return f"duckdb -c 'COPY (SELECT {what} FROM {source} ORDER BY {columns}) TO \"sorted.parquet\"'"


def _has_quotes(file: CsvFile) -> bool:
    """Return whether a text table may have separators in quotes, which `sort` does not know."""
    with file.path.open("rb") as opened:
        return b'"' in opened.read(_QUOTES_IN)


class _Windows:
    """Collects the moments of windows, by shard, and the intercept of the unit that is still open."""

    def __init__(self, names: tuple[str, ...], lags: int, shards: int, by_unit: bool, drops: bool) -> None:
        self.series = Series(names, lags)
        self.parts: dict[int, Moments] = {}
        self._lags, self._shards, self._by_unit, self._drops = lags, shards, by_unit, drops
        self._before: _Rows | None = None
        self._read = self._dropped = self._stretches = 0
        self._open: tuple[int, int, Vector] | None = None  # unit, windows, mean
        self._sizes: dict[int, int] = {}
        self._rows_of: list[Indices] = []
        self._kept: list[Matrix] = []
        self._kept_units: list[Indices] = []
        self._left = max(1, _KEPT_NUMBERS // len(self.series.columns))

    def add(self, rows: _Rows) -> None:
        """Add the windows that end in the next rows."""
        if self._by_unit:
            self._rows_of.append(np.stack(np.unique(rows.unit, return_counts=True)))
        self._stretches = int(rows.stretch[-1]) + 1
        if self._before is not None:
            old = self._before
            rows = _Rows(
                rows.position,
                np.concatenate([old.values, rows.values]),
                np.concatenate([old.stretch, rows.stretch]),
                np.concatenate([old.unit, rows.unit]),
            )
        known = 0 if self._before is None else len(self._before.stretch)
        keep = max(0, len(rows.stretch) - self._lags)
        self._before = _Rows(rows.position, rows.values[keep:], rows.stretch[keep:], rows.unit[keep:])
        p = self._lags
        places = np.flatnonzero(rows.stretch[p:] == rows.stretch[: len(rows.stretch) - p]) + p
        places = places[places >= known]
        if len(places):
            values = np.concatenate([rows.values[places - lag] for lag in range(p + 1)], axis=1)
            self._add_windows(values, rows.unit[places], int(rows.position * self._shards))

    def _add_windows(self, values: Matrix, unit: Indices, shard: int) -> None:
        self._read += len(values)
        if self._drops:
            complete = ~np.isnan(values).any(axis=1)
            self._dropped += int((~complete).sum())
            values, unit = values[complete], unit[complete]
        if not len(values):
            return
        with blas_threads_for(values.shape[1]):
            found = self._centred(values, unit) if self._by_unit else Moments.from_rows(values, self.series.columns)
        self._keep(values, unit)
        self.parts[shard] = self.parts[shard] + found if shard in self.parts else found

    def _keep(self, values: Matrix, unit: Indices) -> None:
        """Keep the first windows, for the checks; of units, centred."""
        if self._left > 0:
            some, codes = values[: self._left], unit[: self._left]
            if self._by_unit:
                first = np.flatnonzero(np.diff(codes, prepend=-1))
                begins = np.zeros(len(codes), dtype=np.intp)
                begins[first] = 1
                self._kept_units.append(np.cumsum(begins) + (self._kept_units[-1][-1] if self._kept_units else -1))
                means = np.add.reduceat(some, first) / np.diff([*first, len(some)])[:, None]
                some = some - np.repeat(means, np.diff([*first, len(some)]), axis=0)
            self._kept.append(some)
            self._left -= len(some)

    def _centred(self, values: Matrix, unit: Indices) -> Moments:
        """Return the moments of windows about the mean of their unit; the last unit stays open (Chan et al. 1979)."""
        first = np.flatnonzero(np.diff(unit, prepend=-1))
        counts = np.diff([*first, len(unit)])
        means = np.add.reduceat(values, first) / counts[:, None]
        centred = values - np.repeat(means, counts, axis=0)
        scatter = centred.T @ centred
        n, mean = int(counts[0]), means[0]
        if self._open is not None and self._open[0] == unit[0]:
            _, known, before = self._open
            step = mean - before
            scatter += np.outer(step, step) * (n * known / (n + known))
            n, mean = n + known, before + step * (n / (n + known))
        else:
            self.close_unit()
        self._open = int(unit[first[0]]), n, mean
        if len(first) > 1:
            self.close_unit()
            for size, count in zip(*_counts(counts[1:-1]), strict=True):
                self._sizes[size] = self._sizes.get(size, 0) + count
            self._open = int(unit[-1]), int(counts[-1]), means[-1]
        return centred_moments(scatter, len(values), self.series.columns)

    def close_unit(self) -> None:
        """Count the windows of the unit that was read last."""
        if self._open is not None:
            self._sizes[self._open[1]] = self._sizes.get(self._open[1], 0) + 1
        self._open = None

    @property
    def windows_per_unit(self) -> Indices:
        """The number of windows of each unit, in no particular order."""
        return np.repeat(list(self._sizes), list(self._sizes.values())).astype(np.intp)

    def part(self, notes: list[str]) -> Part:
        """Return the only part of the table, and keep its description as `series`."""
        if self._dropped:
            notes.append(f"Values are missing in {self._dropped} of {self._read} windows, which were dropped.")
        require_windows(self._read - self._dropped, self._lags)
        rows_per_unit = self._rows_per_unit() if self._by_unit else np.zeros(1, dtype=np.intp)
        if gaps := self._stretches - len(rows_per_unit):
            notes.append(gap_note(gaps))
        rows, shards = np.concatenate(self._kept), tuple(part for _, part in sorted(self.parts.items()))
        series = Series(self.series.variables, self._lags, self._stretches, notes=tuple(notes))
        if not self._by_unit:
            self.series = series
            return Part("", merged(list(shards)), rows=rows, shards=shards)
        self.close_unit()
        windows = self.windows_per_unit
        windows = np.concatenate([windows, np.zeros(len(rows_per_unit) - len(windows), dtype=np.intp)])
        scatter = merged(list(shards)).scatter
        moments, means, self.series = panel_moments(scatter, windows, rows_per_unit, series, notes)
        return Part("", moments, rows=rows, shards=shards, groups=np.concatenate(self._kept_units), unit_means=means)

    def _rows_per_unit(self) -> Indices:
        """Return the number of rows of each unit, also of units without windows."""
        units, counts = np.concatenate(self._rows_of, axis=1)
        return np.bincount(units, weights=counts).astype(np.intp)
