"""Read a table in memory as a series or panel: a `Table` whose columns are the present and its lags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from golem.data.checks import DataWarning
from golem.data.coded_tables import CodedTable, moments_of_parts
from golem.data.missing import MissingChoice
from golem.data.moments import Moments
from golem.data.panels import SHORT, UnitMeans, centred_by_unit, unit_means
from golem.data.series import (
    LagChoice,
    RowOrder,
    Series,
    blocks_of,
    chosen_lags,
    most_lags,
    require_lag_names,
    require_lags,
    row_order,
    stacked,
)
from golem.data.table import Part, Table
from golem.data.unusable import require_variables
from golem.data.variables import Coding
from golem.runtime.arrays import to_numpy
from golem.runtime.messages import counted, quoted, warn_user
from golem.runtime.problems import ProblemError
from golem.runtime.types import Indices, Matrix

ORDER_IS_TIME = "The order of the rows is taken for time."
INDEX_IS_TIME = "The dates of the index are taken for time. Reset the index to take the order of the rows."


@dataclass(frozen=True)
class SeriesChoice:
    """What is known about the order of the rows.

    Parameters
    ----------
    lags : int, "auto" or None
        Number of lags; None for rows without an order.
    time, unit : str, sequence of n values, or None
        The time and the unit of each row, or the names of the columns that have them.
    """

    lags: LagChoice | None = None
    time: Any = None
    unit: Any = None

    def __bool__(self) -> bool:
        """Return whether anything is known."""
        return self.lags is not None or self.time is not None or self.unit is not None

    @property
    def columns(self) -> list[str]:
        """The names of the columns that have the time and the unit."""
        return [name for name in (self.time, self.unit) if isinstance(name, str)]

    def check(self) -> None:
        """Raise a ValueError for choices that have no meaning."""
        if self.lags is not None:
            require_lags(self.lags)
        elif self.time is not None and self.unit is None:
            raise ProblemError.of("{time=...} needs {lags=...}, such as {lags=1} or {lags='auto'}.")


def series_table(
    table: CodedTable, time: Any, unit: Any, lags: LagChoice, missing: MissingChoice, is_named: bool
) -> Table:
    """Return the table of the windows of a series or panel."""
    coding, rows = table.coding, np.asarray(to_numpy(table.rows), dtype=float)
    if coding.categories:
        raise ValueError(
            f"Lags and units need a table of numbers, but {quoted(coding.categories)} "
            f"{'is a category' if len(coding.categories) == 1 else 'are categories'}. Leave them out, or use numbers."
        )
    if unit is not None and missing == "em":
        raise ProblemError.of("{missing='em'} cannot be used with units. Use {missing='drop'}: complete windows.")
    names, d = coding.names, len(coding.names)
    if missing == "error":
        ((moments, _),) = moments_of_parts([table], missing)  # raises for missing and infinite values
        require_variables(moments)  # here constant columns have their own names
    order = row_order(len(rows), time, unit)
    notes = [*([ORDER_IS_TIME] if lags and time is None else []), *order.notes]
    if lags == "auto":
        lags, most = _automatic(rows, order, d)
        notes.append(f"{counted(lags, 'lag')} chosen from 0 to {most} by BIC.")
    require_lag_names(names, lags)
    values, places = stacked(rows, order, lags)
    require_windows(len(values), lags)
    if missing == "drop":
        complete = ~np.isnan(values).any(axis=1)
        if dropped := int((~complete).sum()):
            notes.append(f"Values are missing in {dropped} of {len(values)} windows, which were dropped.")
        values, places = values[complete], places[complete]
        require_windows(len(values), lags)
    coded = Coding.numeric(Series(names, lags).columns)
    if unit is None:
        ((moments, kept),) = moments_of_parts([CodedTable(coded, values)], missing)
        part = Part("", moments, rows=kept, groups=blocks_of(order.stretch[places], lags))
        series = Series(names, lags, int(order.stretch[-1]) + 1, 0, 0, tuple(notes))
        return Table((part,), is_named, series=series)
    part, series = _panel(values, order, places, Series(names, lags, int(order.stretch[-1]) + 1), notes)
    return Table((part,), is_named, series=series)


def require_windows(count: int, lags: int) -> None:
    """Raise a ValueError if there are too few windows to learn from."""
    if count < 3:
        raise ValueError(
            f"Only {counted(count, 'row')} {'has' if count == 1 else 'have'} {counted(lags, 'earlier row')} without a "
            "gap. Use fewer lags, or a longer series."
        )


def _automatic(rows: Matrix, order: RowOrder, d: int) -> tuple[int, int]:
    """Return the number of lags that BIC chooses, and the largest that it tried."""
    periods = None if order.unit is None else int(np.median(np.bincount(order.unit)))
    most = largest_lags(len(rows), d, int(np.bincount(order.stretch).max()), periods)
    if most < 1:
        return 0, 0
    values, places = stacked(rows, order, most)
    complete = ~np.isnan(values).any(axis=1)
    values, places = values[complete], places[complete]
    if order.unit is not None:
        values, codes = _centred(values, order.unit[places])
        return lags_by_bic(values.T @ values, np.bincount(codes), d, most, periods), most
    values = values - values.mean(axis=0)
    return lags_by_bic(values.T @ values, np.array([len(values)]), d, most, periods), most


def largest_lags(n: int, d: int, longest: int, periods: int | None) -> int:
    """Return the largest number of lags that "auto" tries, given rows, the longest stretch, and the rows per unit."""
    most = min(most_lags(n, d), longest - 2)
    return most if periods is None else min(most, max(1, periods // 3))


def lags_by_bic(scatter: Matrix, windows: Indices, d: int, most: int, periods: int | None) -> int:
    """Return the number of lags that BIC chooses, given the scatter of centred windows and the windows per unit."""
    n = int(windows.sum())
    if periods is None:
        return chosen_lags(scatter / n, n, d, most)
    raw = scatter / n
    means = unit_means(raw, windows.astype(float), d, most)
    return chosen_lags(raw + means.bias, round(n * means.share), d, most)


def _centred(values: Matrix, unit: Indices) -> tuple[Matrix, Indices]:
    """Return the windows of units with at least two of them, centred, and the numbers of their units from 0."""
    kept = np.bincount(unit)[unit] > 1
    _, codes = np.unique(unit[kept], return_inverse=True)
    return (centred_by_unit(values[kept], codes) if kept.any() else values[:0]), codes.astype(np.intp)


def _panel(values: Matrix, order: RowOrder, places: Indices, series: Series, notes: list[str]) -> tuple[Part, Series]:
    """Return the part of a panel with intercepts per unit, and its description."""
    assert order.unit is not None
    unit, rows = order.unit[places], np.bincount(order.unit)
    values, codes = _centred(values, unit)
    scatter = values.T @ values
    moments, means, series = panel_moments(scatter, np.bincount(unit, minlength=len(rows)), rows, series, notes)
    return Part("", moments, rows=values, groups=codes, unit_means=means), series


def panel_moments(
    scatter: Matrix, windows: Indices, rows: Indices, series: Series, notes: list[str]
) -> tuple[Moments, UnitMeans, Series]:
    """Return the moments of windows that are centred by unit, given their scatter, and windows and rows per unit.

    Units with one window do not count.
    """
    counts = windows[windows > 1]
    total, periods = int(counts.sum()), int(np.median(rows))
    if len(counts) < 2:
        least, found = f"{series.lags + 2} rows without a gap", "one" if len(counts) else "none"
        what = f"Intercepts per unit need two units with at least {least}, and there is {found}"
        raise ProblemError.of("{what}. Leave out {unit=...}.", what=what)
    if few := len(windows) - len(counts):
        notes.append(f"{counted(few, 'unit')} with fewer than two windows left out.")
    notes.append(f"{len(counts)} units, each with an intercept of its own.")
    means = unit_means(scatter / total, counts.astype(float), len(series.variables), series.lags)
    if periods < SHORT and series.lags:
        warn_user(
            f"Units have only {periods} rows (median), so effects of the past are corrected for the means of units and "
            "uncertain (Nickell 1981). The correction assumes a stationary series.",
            DataWarning,
        )
    moments = means.corrected(centred_moments(scatter, total, series.columns))
    return moments, means, replace(series, units=len(counts), periods=periods, notes=tuple(notes))


def centred_moments(scatter: Matrix, n: int, names: tuple[str, ...]) -> Moments:
    """Return the moments of n centred windows about 0."""
    return Moments(n, np.zeros(len(names)), np.zeros(len(names)), scatter, names)
