"""Figures in the paper's layout: panels by graph and noise, a line a method, standard errors.

The colours are those of Okabe and Ito (2008), told apart by every kind of colour vision; markers and dashes tell the
methods apart without them. Ours are dashed with open markers, the paper's methods and the baselines are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.experiments.analysis.tables import average, distinct, done, where
from golem.experiments.experiment import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
BLACK, GREY = "#1d1d1d", "#8a8a8a"
DASHED, DOTTED = (0, (5, 2)), (0, (1, 1.5))
LABELS = {
    "shd": "SHD / d", "shd_c": "SHD-C / d", "sid": "SID / d", "tpr": "TPR", "h": "h(B)", "fit_seconds": "seconds",
    "cyclic": "share cyclic", "columns": "", "d": "variables d", "n": "samples n", "weight_scale": "weight scale alpha",
}  # fmt: skip


@dataclass(frozen=True)
class Style:
    """How the line of a method looks."""

    color: str
    marker: str
    dashes: Any = "solid"
    open: bool = False

    def options(self) -> dict[str, Any]:
        """Return arguments for matplotlib's `errorbar` and `plot`."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dashes,
            "markerfacecolor": "white" if self.open else self.color,
            "markersize": 4.5,
            "linewidth": 1.3,
        }


STYLES: dict[str, Style] = {
    "golem-ev": Style(BLUE, "o"),
    "golem-ev-l1": Style(SKY, "^"),
    "golem-ev-plain": Style(BLACK, "v", DOTTED),
    "golem-nv": Style(VERMILLION, "s"),
    "golem-nv-l1": Style(ORANGE, "^"),
    "golem-nv-plain": Style(PURPLE, "<", DOTTED),
    "golem-nv-zeros": Style(ORANGE, "P", DOTTED),
    "order-ev": Style(BLUE, "o", DASHED, open=True),
    "order-nv": Style(VERMILLION, "s", DASHED, open=True),
    "order": Style(BLACK, "*", DASHED, open=True),
    "notears-l1": Style(GREEN, "^"),
    "notears": Style(GREEN, "v", DOTTED),
    "fgs": Style(PURPLE, "D"),
    "pc": Style(SKY, "X", DOTTED),
    "direct-lingam": Style(ORANGE, "P"),
    "sort-regress-var": Style(GREY, "<"),
    "sort-regress-r2": Style(ORANGE, ">", DOTTED),
}
_OTHER = Style(GREY, ".")
# How far methods stand apart, and the axis reaches beyond its ends: shares of the smallest distance between neighbours.
_DODGE, _END = 0.025, 0.25
# The smallest number on a logarithmic axis with zeros, as a share of the median.
_DEEPEST = 1e-8


def draw_line_panel(axes: Axes, table: Table, x: str, y: str, methods: Sequence[str], *, log_x: bool = False) -> None:
    """Draw mean and standard error of a number against a column, a line a method; words stand side by side.

    Methods stand a little apart, so that equal means do not hide each other. `settle` then sets the vertical axis.
    """
    values = distinct(table, x)
    drawn = [method for method in methods if average(where(table, method=method), y).count]
    for number, method in enumerate(drawn):
        rows = where(table, method=method)
        points = [(value, average(rows, y, **{x: value})) for value in values]
        points = [(value, point) for value, point in points if point.count]
        places = _places(values, _DODGE * (number - (len(drawn) - 1) / 2), log_x)
        heights, errors = [point.value for _, point in points], [point.error for _, point in points]
        axes.errorbar(
            [places[value] for value, _ in points], heights, yerr=errors, capsize=2, elinewidth=0.8, label=method,
            **STYLES.get(method, _OTHER).options(),
        )  # fmt: skip
    if log_x:
        axes.set_xscale("log")
        ends = [_places(values, shift, log_x) for shift in (-_END, _END)]
        axes.set_xlim(ends[0][values[0]], ends[1][values[-1]])
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.minorticks_off()
    elif any(isinstance(value, str) for value in values):
        axes.set_xticks(range(len(values)), values)
        axes.set_xlim(-0.3, len(values) - 0.7)
    elif len(values) <= 8:
        axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _places(values: Sequence[Any], shift: float, log_x: bool) -> dict[Any, float]:
    """Where values stand, moved by a share of the smallest distance between them."""
    if any(isinstance(value, str) for value in values):
        return {value: number + shift for number, value in enumerate(values)}
    plain = np.log(values) if log_x else np.asarray(values, dtype=float)
    moved = plain + shift * (float(np.min(np.diff(plain))) if len(values) > 1 else 0.1)
    return dict(zip(values, np.exp(moved) if log_x else moved, strict=True))


def settle(row: Sequence[Axes], y: str, *, log_y: bool = False) -> None:
    """Set the vertical axis of panels that share it, once all of them are drawn; no marker at zero is cut off."""
    heights = _heights(row)
    for axes in row:
        if y in ("tpr", "cyclic"):
            axes.set_ylim(-0.04, 1.04)
        elif log_y:
            _set_log_scale(axes, heights)
        elif heights.size:
            axes.set_ylim(-0.04 * max(axes.get_ylim()[1], 1e-9), None)


def _heights(row: Sequence[Axes]) -> Any:
    """All means that the panels show."""
    drawn: list[Any] = [container for axes in row for container in axes.containers]
    lines = [container.lines[0] for container in drawn]
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in lines] or [np.zeros(0)])
    return heights[np.isfinite(heights)]


def _set_log_scale(axes: Axes, heights: Any) -> None:
    """Make the vertical axis logarithmic; where a mean is zero, linear below the smallest that is not."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    positive = heights[heights > 0]
    if not positive.size:
        axes.set_ylim(-0.04, 1)
        return
    least, most = float(positive.min()), float(positive.max())
    if positive.size < heights.size:
        # Numbers far below all others, rounding errors most of them, would take the room of those.
        least = max(least, _DEEPEST * float(np.median(positive)))
        axes.set_yscale("symlog", linthresh=least, linscale=0.6)
        axes.set_ylim(-0.3 * least, 2 * most)
        locator: Any = axes.yaxis.get_major_locator()
        locator.set_params(numticks=6)
        return
    axes.set_yscale("log")
    axes.set_ylim(least / 2, 2 * most)
    axes.yaxis.set_minor_formatter(NullFormatter())
    if most < 100 * least:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _named(column: str, value: Any) -> str:
    """Write a value above or beside panels: a number with the name of its column."""
    return str(value) if isinstance(value, str) else f"{column} = {value:g}"


def panels(
    part: Figure | SubFigure,
    table: Table,
    y: str,
    *,
    x: str,
    rows: str,
    columns: str,
    methods: Sequence[str],
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    """Draw one number in a grid of panels, by the values of two columns of the table."""
    down, across = distinct(table, rows), distinct(table, columns)
    grid: Any = part.subplots(len(down), len(across), squeeze=False, sharex=True, sharey="row")
    for i, low in enumerate(down):
        for j, left in enumerate(across):
            axes = grid[i, j]
            draw_line_panel(axes, where(table, **{rows: low, columns: left}), x, y, methods, log_x=log_x)
            if i == 0:
                axes.set_title(_named(columns, left), fontsize=9)
            if j == 0:
                axes.set_ylabel(f"{low}\n{LABELS.get(y, y)}", fontsize=9)
            if i == len(down) - 1:
                axes.set_xlabel(LABELS.get(x, x), fontsize=9)
        settle(grid[i], y, log_y=log_y)


def metric_grids(
    table: Table,
    metrics: Sequence[str],
    *,
    x: str,
    rows: str,
    columns: str,
    methods: Sequence[str],
    log_x: bool = False,
    log_y: Sequence[str] = (),
    across: int = 2,
) -> Figure:
    """Draw a group of panels for each metric, as the paper does in its largest figures."""
    from matplotlib.figure import Figure

    table = done(table)
    down, right = len(distinct(table, rows)), len(distinct(table, columns))
    groups = -(-len(metrics) // across)
    size = (across * (2.2 * right + 1), groups * (1.65 * down + 0.8) + 0.8)
    whole = Figure(figsize=size, layout="constrained")
    parts: Any = whole.subfigures(groups, across, wspace=0.03, hspace=0.03, squeeze=False)
    for part, name in zip(parts.ravel(), metrics, strict=False):
        panels(part, table, name, x=x, rows=rows, columns=columns, methods=methods, log_x=log_x, log_y=name in log_y)
        part.suptitle(LABELS.get(name, name), fontsize=11)
    legend(whole, methods)
    return whole


def metric_rows(
    table: Table,
    metrics: Sequence[str],
    *,
    x: str,
    rows: str,
    methods: Sequence[str] | None = None,
    log_x: bool = False,
    log_y: Sequence[str] = (),
) -> Figure:
    """Draw panels with a row for each value of a column, and a metric in each column of panels."""
    from matplotlib.figure import Figure

    table = done(table)
    names = methods or distinct(table, "method")
    down = distinct(table, rows)
    figure = Figure(figsize=(2.9 * len(metrics), 2.3 * len(down) + 1.2), layout="constrained")
    grid: Any = figure.subplots(len(down), len(metrics), squeeze=False, sharex=True)
    for i, value in enumerate(down):
        for j, name in enumerate(metrics):
            axes = grid[i, j]
            draw_line_panel(axes, where(table, **{rows: value}), x, name, names, log_x=log_x)
            settle([axes], name, log_y=name in log_y)
            if i == 0:
                axes.set_title(LABELS.get(name, name), fontsize=10)
            if j == 0:
                axes.set_ylabel(_named(rows, value), fontsize=10)
            if i == len(down) - 1:
                axes.set_xlabel(LABELS.get(x, x), fontsize=9)
    legend(figure, names)
    return figure


def legend(figure: Figure, methods: Sequence[str]) -> None:
    """Put one legend under all panels."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **STYLES.get(name, _OTHER).options()) for name in methods]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)), frameon=False, fontsize=9)
