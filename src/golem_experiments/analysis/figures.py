"""Figures in the paper's layout: panels by graph and noise, one line per method, one legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from golem_experiments.analysis.line_panels import (
    BREAK,
    COMMON,
    FEW,
    FEW_SIZE,
    GPU,
    STOPPED,
    Lines,
    is_wide,
    mark_empty,
    settle,
)
from golem_experiments.analysis.styles import BLACK, GREY, style_of
from golem_experiments.analysis.tables import distinct, label, where
from golem_experiments.experiment import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

# Inches of a column of the legend.
_LEGEND_WIDTH = 2.1
# How the legend explains marks, by their names.
_MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    FEW: ("small: fewer seeds", {"marker": "o", "markersize": FEW_SIZE, "color": GREY}),
    COMMON: (
        "hollow: data sets that all completed",
        {"marker": "o", "markersize": 5, "markerfacecolor": "none", "color": GREY},
    ),
    STOPPED: ("runs stopped or failed", {"marker": "x", "markersize": 4.5, "color": GREY}),
    GPU: ("on a GPU", {"marker": "o", "markersize": 8, "markerfacecolor": "none", "color": BLACK}),
    BREAK: ("separate lines: other hardware", {}),
}


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
        Columns by whose values the panels are arranged from top to bottom, the first one first.
    methods : tuple of str
        Methods, in the order of the legend; methods without rows are left out.
    columns : str
        Column by whose values the panels are arranged from left to right, in one group of panels per metric as in the
        largest figures of the paper. Without it there is one panel per metric in each row.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    log_y : tuple of str
        Metrics with a logarithmic axis; others have one if small numbers could not be told apart otherwise, in half
        of the rows or more.
    medians : tuple of str
        Metrics drawn as median and quartiles instead of mean and standard error.
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
    medians: tuple[str, ...] = ()
    across: int = 2

    def __call__(self, table: Table) -> Figure:
        """Draw the table."""
        from matplotlib.figure import Figure

        table = where(table, method=self.methods)
        if not table:
            figure = Figure(figsize=(4, 1))
            mark_empty(figure.subplots(), f"Not run: {', '.join(self.methods)}")
            return figure
        for name in reversed(self.rows):
            values = distinct(table, name)
            table = sorted(table, key=lambda row: values.index(row[name]))
        table = [row | {"panel": " ".join(_named(name, row[name]) for name in self.rows)} for row in table]
        methods = [name for name in self.methods if where(table, method=name)]
        down, values = len(distinct(table, "panel")), distinct(table, self.columns)
        if not self.columns:
            figure = Figure(figsize=(2.9 * len(self.metrics), 2.3 * down + 1.2), layout="constrained")
            self._draw(figure, table, [(name, self._title(name), {}) for name in self.metrics], methods)
        else:
            groups = -(-len(self.metrics) // self.across)
            size = (self.across * (2.2 * len(values) + 1), groups * (1.65 * down + 0.8) + 0.8)
            figure = Figure(figsize=size, layout="constrained")
            parts: Any = figure.subfigures(groups, self.across, wspace=0.03, hspace=0.03, squeeze=False)
            for part, name in zip(parts.ravel(), self.metrics, strict=False):
                panels = [(name, _named(self.columns, value), {self.columns: value}) for value in values]
                self._draw(part, table, panels, methods)
                part.suptitle(self._title(name), fontsize=11)
        _draw_legend(figure, methods)
        return figure

    def _title(self, name: str) -> str:
        return f"{label(name)} (median)" if name in self.medians else label(name)

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
                lines = Lines(self.x, y, methods, self.log_x, y in self.medians)
                lines.draw(one, where(table, panel=name, **values))
            axes[0].set_ylabel(f"{name}\n{label(panels[0][0])}" if self.columns else name, fontsize=size)
        for k, y in enumerate(dict.fromkeys(y for y, *_ in panels)):
            # Panels that share an axis; all of a metric have the same kind of axis.
            rows = list(grid) if self.columns else list(grid[:, k : k + 1])
            log_y = y in self.log_y or 2 * sum(map(is_wide, rows)) >= len(rows)
            for row in rows:
                settle(row, y, log_y=log_y)
        for (_, title, _), top, bottom in zip(panels, grid[0], grid[-1], strict=True):
            top.set_title(title, fontsize=size)
            bottom.set_xlabel(label(self.x), fontsize=9)


def _named(column: str, value: Any) -> str:
    """Write a value next to panels: a number with the name of its column."""
    return str(value) if isinstance(value, str) else f"{column} = {value:g}"


def _draw_legend(figure: Figure, methods: Sequence[str]) -> None:
    """Put one legend under all panels: the methods, and the marks of missing runs and of hardware if there are any."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **style_of(name).options()) for name in methods]
    present = {line.get_gid() for axes in figure.axes for line in axes.lines}
    for name, (text, look) in _MARKS.items():
        if name in present:
            handles.append(Line2D([], [], label=text, linestyle="", **look))
    across = min(8, len(handles), int(figure.get_figwidth() / _LEGEND_WIDTH))
    figure.legend(handles=handles, loc="outside lower center", ncols=max(across, 1), frameon=False, fontsize=9)
