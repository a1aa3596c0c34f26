"""Figures in the paper's layout: panels by graph and noise, one line per method, standard errors.

The colours are those of Okabe and Ito (2008), which are distinct for every kind of colour vision. Markers and dashes
distinguish the methods without colour. The lines of our methods are dashed and have open markers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.experiments.analysis.tables import average, distinct, label, where
from golem.experiments.engine.store import DONE
from golem.experiments.experiment import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
BLACK, GREY = "#1d1d1d", "#8a8a8a"
DASHED, DOTTED = (0, (5, 2)), (0, (1, 1.5))


@dataclass(frozen=True)
class Style:
    """The look of the line of a method."""

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
    "fgs-bic": Style(PURPLE, "d", DOTTED, open=True),
    "pc": Style(SKY, "X", DOTTED),
    "direct-lingam": Style(ORANGE, "P"),
    "sort-regress-var": Style(GREY, "<"),
    "sort-regress-r2": Style(ORANGE, ">", DOTTED),
}
_OTHER = Style(GREY, ".")
# Distance between methods, and the margin at the ends of the axis: shares of the smallest distance between neighbours.
_DODGE, _END = 0.025, 0.25
# Metrics between 0 and 1, mostly close to 1.
_SHARES = ("tpr", "cyclic")
# Size of the markers of means over fewer seeds than others.
_FEW_SIZE = 2.2
# Inches of a column of the legend.
_LEGEND_WIDTH = 2.1
# The smallest number on a logarithmic axis with zeros, as a share of the median.
_DEEPEST = 1e-8


def draw_line_panel(axes: Axes, table: Table, x: str, y: str, methods: Sequence[str], *, log_x: bool = False) -> None:
    """Draw mean and standard error of a number against a column, one line per method; words are equally spaced.

    Methods are shifted a little, so that equal means do not hide each other. A small marker is a mean over fewer seeds
    than that of another method. Runs that were stopped or failed are counted. `settle` then sets the vertical axis.
    """
    values = distinct(table, x)
    drawn = [method for method in methods if average(where(table, method=method), y).count]
    found = {(name, value): average(where(table, method=name), y, **{x: value}) for name in drawn for value in values}
    most = {value: max(found[name, value].count for name in drawn) for value in values if drawn}
    for number, method in enumerate(drawn):
        points = [(value, found[method, value]) for value in values if found[method, value].count]
        places = _places(values, _DODGE * (number - (len(drawn) - 1) / 2), log_x)
        across, heights = [places[value] for value, _ in points], [point.value for _, point in points]
        few = [point.count < most[value] for value, point in points]
        options = STYLES.get(method, _OTHER).options()
        axes.errorbar(
            across, heights, yerr=[point.error for _, point in points], capsize=2, elinewidth=0.8, label=method,
            markevery=[not one for one in few], **options,
        )  # fmt: skip
        if any(few):
            axes.plot(across, heights, markevery=few, gid="few", **options | {"markersize": _FEW_SIZE, "linestyle": ""})
    _count_stopped(axes, table, x, methods, _places(values, 0.0, log_x), top=y not in _SHARES)
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


def _count_stopped(
    axes: Axes, table: Table, x: str, methods: Sequence[str], places: dict[Any, float], *, top: bool
) -> None:
    """Write how many runs were not completed at the top or bottom of a panel, in the colours of their methods."""
    for value, place in places.items():
        counts = {
            name: sum(row["status"] != DONE for row in where(table, method=name, **{x: value})) for name in methods
        }
        for line, name in enumerate(name for name in methods if counts[name]):
            axes.text(
                place, 0.98 - 0.1 * line if top else 0.02 + 0.1 * line, f"{counts[name]} stopped", fontsize=6,
                color=STYLES.get(name, _OTHER).color, ha="center", va="top" if top else "bottom",
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip


def _places(values: Sequence[Any], shift: float, log_x: bool) -> dict[Any, float]:
    """Return the positions of values, shifted by a share of the smallest distance between them."""
    if any(isinstance(value, str) for value in values):
        return {value: number + shift for number, value in enumerate(values)}
    plain = np.log(values) if log_x else np.asarray(values, dtype=float)
    moved = plain + shift * (float(np.min(np.diff(plain))) if len(values) > 1 else 0.1)
    return dict(zip(values, np.exp(moved) if log_x else moved, strict=True))


def settle(row: Sequence[Axes], y: str, *, log_y: bool = False) -> None:
    """Set the vertical axis of panels that share it, once all are drawn, so that no marker at zero is cut off."""
    heights = _heights(row)
    for axes in row:
        if y in _SHARES:
            axes.set_ylim(-0.04, 1.04)
        elif log_y:
            _set_log_scale(axes, heights)
        elif heights.size:
            axes.set_ylim(-0.04 * max(axes.get_ylim()[1], 1e-9), None)


def _heights(row: Sequence[Axes]) -> Any:
    """Return all means that the panels show."""
    drawn: list[Any] = [container for axes in row for container in axes.containers]
    lines = [container.lines[0] for container in drawn]
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in lines] or [np.zeros(0)])
    return heights[np.isfinite(heights)]


def _set_log_scale(axes: Axes, heights: Any) -> None:
    """Make the vertical axis logarithmic; if a mean is zero, make it linear below the smallest positive mean."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    positive = heights[heights > 0]
    if not positive.size:
        axes.set_ylim(-0.04, 1)
        return
    least, most = float(positive.min()), float(positive.max())
    if positive.size < heights.size:
        # Numbers far below all others, mostly rounding errors, would take most of the space.
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


@dataclass(frozen=True)
class Panels:
    """A figure of line panels, as a function of the table.

    Parameters
    ----------
    metrics : tuple of str
        Numbers to draw.
    x : str
        Column on the horizontal axis.
    rows : tuple of str
        Columns by whose values the panels are arranged from top to bottom.
    methods : tuple of str
        Methods, in the order of the legend; methods without rows are left out.
    columns : str
        Column by whose values the panels are arranged from left to right, in one group of panels per metric as in the
        largest figures of the paper. Without it there is one panel per metric in each row.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    log_y : tuple of str
        Metrics with a logarithmic axis.
    across : int
        Number of groups next to each other.
    """

    metrics: tuple[str, ...]
    x: str
    rows: tuple[str, ...]
    methods: tuple[str, ...]
    columns: str = ""
    log_x: bool = False
    log_y: tuple[str, ...] = ()
    across: int = 2

    def __call__(self, table: Table) -> Figure:
        """Draw the table."""
        from matplotlib.figure import Figure

        table = [row | {"panel": " ".join(_named(name, row[name]) for name in self.rows)} for row in table]
        methods = [name for name in self.methods if where(table, method=name)]
        down, values = len(distinct(table, "panel")), distinct(table, self.columns)
        if not self.columns:
            figure = Figure(figsize=(2.9 * len(self.metrics), 2.3 * down + 1.2), layout="constrained")
            self._draw(figure, table, [(name, label(name), {}) for name in self.metrics], methods)
        else:
            groups = -(-len(self.metrics) // self.across)
            size = (self.across * (2.2 * len(values) + 1), groups * (1.65 * down + 0.8) + 0.8)
            figure = Figure(figsize=size, layout="constrained")
            parts: Any = figure.subfigures(groups, self.across, wspace=0.03, hspace=0.03, squeeze=False)
            for part, name in zip(parts.ravel(), self.metrics, strict=False):
                panels = [(name, _named(self.columns, value), {self.columns: value}) for value in values]
                self._draw(part, table, panels, methods)
                part.suptitle(label(name), fontsize=11)
        _draw_legend(figure, methods)
        return figure

    def _draw(
        self,
        part: Figure | SubFigure,
        table: Table,
        panels: list[tuple[str, str, dict[str, Any]]],
        methods: list[str],
    ) -> None:
        """Draw a grid of panels; each column of it has a metric, a title and the values of its rows."""
        down = distinct(table, "panel")
        size = 9 if self.columns else 10
        sharey: Any = "row" if self.columns else False
        grid: Any = part.subplots(len(down), len(panels), squeeze=False, sharex=True, sharey=sharey)
        for axes, name in zip(grid, down, strict=True):
            for one, (y, _, values) in zip(axes, panels, strict=True):
                draw_line_panel(one, where(table, panel=name, **values), self.x, y, methods, log_x=self.log_x)
            for group, (y, *_) in zip([axes] if self.columns else axes[:, None], panels, strict=False):
                settle(group, y, log_y=y in self.log_y)
            axes[0].set_ylabel(f"{name}\n{label(panels[0][0])}" if self.columns else name, fontsize=size)
        for (_, title, _), top, bottom in zip(panels, grid[0], grid[-1], strict=True):
            top.set_title(title, fontsize=size)
            bottom.set_xlabel(label(self.x), fontsize=9)


def _named(column: str, value: Any) -> str:
    """Write a value next to panels: a number with the name of its column."""
    return str(value) if isinstance(value, str) else f"{column} = {value:g}"


def _draw_legend(figure: Figure, methods: Sequence[str]) -> None:
    """Put one legend under all panels: the methods, and the marks of missing runs if there are any."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **STYLES.get(name, _OTHER).options()) for name in methods]
    if any(line.get_gid() == "few" for axes in figure.axes for line in axes.lines):
        small: dict[str, Any] = {"color": GREY, "marker": "o", "markersize": _FEW_SIZE, "linestyle": ""}
        handles.append(Line2D([], [], label="small: fewer seeds", **small))
    if any(axes.texts for axes in figure.axes):
        handles.append(Line2D([], [], label="stopped: time limit or failure", linestyle=""))
    across = min(6, len(handles), int(figure.get_figwidth() / _LEGEND_WIDTH))
    figure.legend(handles=handles, loc="outside lower center", ncols=max(across, 1), frameon=False, fontsize=9)
