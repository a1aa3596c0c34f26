"""Rows that follow each other in time: lags are columns of a `Table`, in windows that cross neither gaps nor units.

A window is a row together with the `lags` rows before it. Of panels, every unit has an intercept: the columns of its
windows are centred over the same windows, and the units are subtracted from the number of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from golem.runtime.messages import counted, quoted, shown
from golem.runtime.problems import ProblemError, Set
from golem.runtime.types import BoolVector, Indices, Matrix, Vector

LagChoice = int | Literal["auto"]
# A step that is longer than this many usual steps is a gap.
_GAP = 1.5
# Where so many steps are shorter than half of the usual one, time is not evenly spaced.
_UNEVEN = 0.1
# Lags that "auto" compares, and rows per parameter of a regression that the largest of them leaves.
MOST_LAGS, _ROWS_PER_PARAMETER = 8, 3


@dataclass(frozen=True)
class Series:
    """How the rows of a table follow each other.

    Parameters
    ----------
    variables : tuple of str
        The variables in the present.
    lags : int
        How many steps back their causes may lie; 0 if only the units of a panel are known.
    stretches : int
        Number of series without a gap.
    units : int
        Number of units that have an intercept of their own; 0 without units.
    periods : int
        The median number of rows per unit.
    notes : tuple of str
        What the user should know about how the rows were read.
    renamed : tuple of (str, str)
        Other names of columns, and the columns that they stand for.

    Examples
    --------
    >>> series = Series(("a", "b"), 2)
    >>> series.columns
    ('a', 'b', 'a@1', 'b@1', 'a@2', 'b@2')
    >>> series.lags_of(["b@2"]).tolist(), series.past(["b", "a@1"]).tolist()
    ([2], [False, True])
    """

    variables: tuple[str, ...]
    lags: int
    stretches: int = 1
    units: int = 0
    periods: int = 0
    notes: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of the table: those in the present, then one step back, and so on."""
        return tuple(lagged_name(name, lag) for lag in range(self.lags + 1) for name in self.variables)

    @property
    def _places(self) -> dict[str, tuple[str, int]]:
        steps = range(self.lags + 1)
        found = {lagged_name(name, lag): (name, lag) for lag in steps for name in self.variables}
        return {new: found[old] for new, old in self.renamed} or found

    def lags_of(self, columns: Sequence[str]) -> Indices:
        """Return how many steps back each column lies."""
        places = self._places
        return np.array([places[name][1] for name in columns], dtype=np.intp)

    def past(self, columns: Sequence[str]) -> BoolVector:
        """Return which columns lie in the past."""
        return self.lags_of(columns) > 0


def lagged_name(name: str, lag: int) -> str:
    """Return the name of a variable some steps back, such as `x@1`."""
    return f"{name}@{lag}" if lag else name


def with_lags(names: Sequence[str], lags: LagChoice | None) -> list[str]:
    """Return the columns that knowledge can name: also their lags, if there are some."""
    steps = MOST_LAGS if lags == "auto" else lags or 0
    return [lagged_name(name, lag) for lag in range(steps + 1) for name in names]


def require_lag_names(names: Sequence[str], lags: int) -> None:
    """Raise a ValueError if a column has the name of a lag of another one."""
    known = set(names)
    for name in names if lags else ():
        variable, lag = split_lag(name, known)
        if lag:
            raise ValueError(f"Column {shown(name)} has the name of a lag of {shown(variable)}. Rename it.")


def split_lag(column: str, names: Collection[str]) -> tuple[str, int]:
    """Return the variable of a column and how many steps back it lies, given all columns of a series.

    Examples
    --------
    >>> split_lag("x@2", {"x", "x@1", "x@2"}), split_lag("me@home", {"me", "me@home"})
    (('x', 2), ('me@home', 0))
    """
    variable, _, lag = column.rpartition("@")
    is_past = variable in names and lag.isdecimal() and lag[0] != "0"
    return (variable, int(lag)) if is_past else (column, 0)


def require_lags(lags: Any) -> None:
    """Raise a ValueError unless lags are a whole number of at least 0 or "auto"."""
    is_number = isinstance(lags, int | np.integer) and not isinstance(lags, bool) and 0 <= lags <= 1000
    if lags != "auto" and not is_number:
        raise ProblemError(Set("lags"), f" must be a whole number from 0 to 1000, or 'auto'; got {lags!r}.")


@dataclass(frozen=True, eq=False)
class RowOrder:
    """The order of the rows of a series.

    Parameters
    ----------
    order : ndarray of shape (n,)
        The rows, sorted by unit and time.
    stretch : ndarray of shape (n,)
        The number of the stretch of each sorted row.
    unit : ndarray of shape (n,), or None
        The number of the unit of each sorted row.
    notes : tuple of str
        What was found.
    """

    order: Indices
    stretch: Indices
    unit: Indices | None = None
    notes: tuple[str, ...] = ()

    def windows(self, lags: int) -> Indices:
        """Return the places, among the sorted rows, that have so many rows of the same stretch before them."""
        return np.flatnonzero(self.stretch[lags:] == self.stretch[: max(0, len(self.stretch) - lags)]) + lags


def row_order(n: int, time: Any = None, unit: Any = None) -> RowOrder:
    """Return the order of n rows, given their times and units; raise a ValueError for times that occur twice.

    Examples
    --------
    >>> found = row_order(4, [3, 1, 2, 9])
    >>> found.order.tolist(), found.stretch.tolist()
    ([1, 2, 0, 3], [0, 0, 0, 1])
    """
    labels, codes = (None, np.zeros(n, dtype=np.intp)) if unit is None else _coded(unit, n, "unit")
    notes: list[str] = []
    if time is None:
        order = np.argsort(codes, kind="stable")
        moments = None
    else:
        moments = time_numbers(time, n)
        order = np.lexsort((moments, codes))
    unit_of = codes[order]
    begins = np.concatenate([[True], np.diff(unit_of) != 0])[:n]
    if moments is not None:
        begins |= _gaps(moments[order], begins, time, order, unit_of, labels, notes)
    stretch = np.cumsum(begins) - 1
    return RowOrder(order, stretch, None if unit is None else unit_of, tuple(notes))


def _coded(values: Any, n: int, what: str) -> tuple[list[str], Indices]:
    """Return the labels of units and the number of the unit of each row; raise a ValueError for missing ones."""
    cells = _cells(values, n, what)
    require_units(cells)
    texts = np.array([str(cell) for cell in cells])
    labels, codes = np.unique(texts, return_inverse=True)
    return labels.tolist(), codes.astype(np.intp)


def require_units(cells: Sequence[Any], before: int = 0) -> None:
    """Raise a ValueError for missing units, which blank ones are; `before` is the number of earlier rows."""
    for row, cell in enumerate(cells, start=before + 1):
        if cell is None or cell != cell or (isinstance(cell, str) and not cell.strip()):  # NaN is not itself
            raise ValueError(f"The unit is missing in row {row}. Fill it in, or remove these rows.")


def _cells(values: Any, n: int, what: str) -> list[Any]:
    """Return the values of a column as a list of n cells."""
    import narwhals.stable.v1 as nw

    try:
        cells = list(nw.from_native(values, series_only=True).to_list())
    except TypeError:
        cells = list(values.tolist() if isinstance(values, np.ndarray) else values)
    if len(cells) != n:
        raise ProblemError(Set(what), f" must have one value per row; got {len(cells)} for {counted(n, 'row')}.")
    return cells


def time_numbers(values: Any, n: int, before: int = 0) -> Vector:
    """Return times as numbers: numbers as they are, dates in seconds; `before` is the number of earlier rows."""
    cells = [cell.total_seconds() if isinstance(cell, timedelta) else cell for cell in _cells(values, n, "time")]
    if all(isinstance(cell, int | float) for cell in cells):
        numbers = np.array(cells, dtype=float)
    else:
        try:
            texts = [cell if not isinstance(cell, str) else cell.strip() for cell in cells]
            numbers = np.array([float(text) if is_number(text) else np.nan for text in texts])
            if np.isnan(numbers).all():
                words = ["NaT" if cell is None or cell != cell else str(cell).replace(" ", "T") for cell in texts]
                with warnings.catch_warnings(action="ignore"):  # that there are time zones, which become UTC
                    dates = np.array(words, dtype="datetime64[us]")
                numbers = np.where(np.isnat(dates), np.nan, dates.astype("int64") / 1e6)
        except ValueError:
            example = next(cell for cell in cells if not is_number(cell))
            raise ValueError(
                f"The time {shown(str(example))} is neither a number nor a date such as 2024-01-31. Convert the column."
            ) from None
    if not np.isfinite(numbers).all():
        row = before + int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"The time is missing in row {row + 1}, or not a number. Fill it in, or remove these rows.")
    return numbers


def is_number(text: Any) -> bool:
    """Return whether a cell is a number, or text that is one."""
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def _gaps(
    times: Vector,
    begins: BoolVector,
    given: Any,
    order: Indices,
    unit: Indices,
    labels: list[str] | None,
    notes: list[str],
) -> BoolVector:
    """Return which sorted rows follow a gap; raise a ValueError for repeated times, and note what is uneven."""
    steps = np.diff(times)
    inside = ~begins[1:]
    twice = np.flatnonzero(inside & (steps == 0))
    if len(twice):
        cells = _cells(given, len(times), "time")
        found = list(dict.fromkeys(str(cells[order[k]]) for k in twice))
        where = "" if labels is None else f" of unit {labels[unit[twice[0]]]!r}"
        hint = " If the table has several units, name their column ({unit=...})." if labels is None else ""
        raise ProblemError.of(
            "The time {found}{where} occurs more than once. Keep one row per time." + hint,
            found=quoted(found, 3),
            where=where,
        )
    gaps = np.zeros(len(times), dtype=bool)
    if not inside.any():
        return gaps
    usual = float(np.median(steps[inside]))
    gaps[1:] = inside & is_gap(steps, usual)
    if count := int(gaps.sum()):
        notes.append(gap_note(count))
    if np.mean(steps[inside] < 0.5 * usual) > _UNEVEN:
        notes.append("Times are not evenly spaced, so a lag does not always mean the same time.")
    return gaps


def gap_note(count: int) -> str:
    """Return what to say about gaps in time."""
    return f"Time has {counted(count, 'gap')}, which no lag crosses. If lags should (weekends), leave out the time."


def is_gap(steps: Vector, usual: float) -> BoolVector:
    """Return which steps of time are gaps, given the usual step."""
    return np.asarray(steps > _GAP * usual)


def stacked(rows: Matrix, order: RowOrder, lags: int) -> tuple[Matrix, Indices]:
    """Return windows, shape (m, d (lags + 1)), present columns first, and their places among the sorted rows."""
    ordered, places = rows[order.order], order.windows(lags)
    return np.concatenate([ordered[places - lag] for lag in range(lags + 1)], axis=1), places


def most_lags(n: int, d: int) -> int:
    """Return the largest number of lags that "auto" tries for n rows of d variables."""
    return max(1, min(MOST_LAGS, (n // _ROWS_PER_PARAMETER - d) // max(1, d), (n - 1) // 4))


def chosen_lags(covariance: Matrix, n: int, d: int, most: int) -> int:
    """Return the number of lags with the lowest BIC of the regression of the present on the past (reduced form).

    All numbers of lags are compared on the same windows, those of the largest one.
    """
    scores = []
    for lags in range(most + 1):
        past = slice(d, d * (lags + 1))
        inner = covariance[past, past]
        cross = covariance[past, :d]
        left = (
            covariance[:d, :d] - cross.T @ np.linalg.lstsq(inner, cross, rcond=None)[0] if lags else covariance[:d, :d]
        )
        sign, size = np.linalg.slogdet(left)
        scores.append(n * size + lags * d * d * np.log(n) if sign > 0 else np.inf)
    return int(np.argmin(scores))


def blocks_of(stretch: Indices, lags: int) -> NDArray[np.intp]:
    """Return the number of the block of each window: consecutive windows of a stretch, about n^(1/3) of them."""
    n = len(stretch)
    length = max(lags + 1, round(n ** (1 / 3)), 1)
    begins = np.concatenate([[True], np.diff(stretch) != 0])[:n]
    first = np.flatnonzero(begins)
    within = np.arange(n) - np.repeat(first, np.diff([*first, n]))
    return np.cumsum(begins | (within % length == 0)) - 1
