"""One panel of a figure: a number against a column, one line per method, with marks for runs that are missing."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from golem_experiments.analysis.inference import MIN_SEEDS
from golem_experiments.analysis.styles import BLACK, GREY, style_of
from golem_experiments.analysis.tables import average, distinct, done, metric, shared, timed_alone, where
from golem_experiments.engine.store import DONE
from golem_experiments.experiment import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Distance between methods, and the margin at the ends of the axis: shares of the smallest distance between neighbours.
_DODGE, _END = 0.025, 0.25
# Metrics between 0 and 1.
_SHARES = ("tpr", "cyclic")
# Size of the markers of points with fewer seeds than others.
FEW_SIZE = 2.2
# Names of artists that the legend explains.
FEW, COMMON, STOPPED, GPU, BREAK = "few", "common", "stopped", "gpu", "break"
# The smallest number on a logarithmic axis with zeros, as a share of the lower quartile.
_DEEPEST = 1e-6
# An axis is logarithmic if its largest number is this many times the lower quartile.
_WIDE = 20
# Room for the marks of runs that were stopped, as a share of the axis.
_MARGIN = 0.12
# Ends of error bars that are zero except for rounding, as a share of the number.
_ROUNDING = 1e-9
# Most labels of a logarithmic axis.
_MOST_DECADES = 6


@dataclass(frozen=True)
class _Point:
    """A number at one place of the horizontal axis: mean and standard error, or median and quartiles."""

    x: Any
    height: float
    below: float
    above: float
    count: int
    place: Any  # the hardware of a time; counts are compared if it is the same
    line: Any  # the hardware or devices; points are joined if it is the same
    on_gpu: bool


@dataclass(frozen=True)
class Lines:
    """What a panel shows.

    No line joins points from different devices. Times on different hardware are not averaged either. Accuracies are: a
    device changes them by rounding only.

    Parameters
    ----------
    x, y : str
        Columns of the horizontal and the vertical axis.
    methods : sequence of str
        Methods, in the order of the legend.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    median : bool
        Whether to draw median and quartiles instead of mean and standard error, for numbers that vary by orders of
        magnitude.
    """

    x: str
    y: str
    methods: Sequence[str]
    log_x: bool = False
    median: bool = False

    def draw(self, axes: Axes, table: Table) -> None:
        """Draw the panel; words are equally spaced. `settle` then sets the vertical axis.

        Methods are shifted a little, so that equal numbers do not hide each other. A small marker has fewer seeds than
        that of another method; hollow markers are then means over the data sets of all methods. Runs that were stopped
        or failed are counted.
        """
        values = distinct(table, self.x)
        found = {name: list(self._points(where(table, method=name), values)) for name in self.methods}
        drawn = [name for name in self.methods if found[name]]
        most: dict[Any, int] = defaultdict(int)
        for point in (point for name in drawn for point in found[name]):
            most[point.x, point.place] = max(most[point.x, point.place], point.count)
        common = self._common(table, values)
        for number, name in enumerate(drawn):
            places = _places(values, _DODGE * (number - (len(drawn) - 1) / 2), self.log_x)
            self._draw_method(axes, name, found[name], places, most)
            self._mark_common(axes, name, common, places)
        self._mark_stopped(axes, table, _places(values, 0.0, self.log_x))
        self._set_ticks(axes, values)

    def _points(self, table: Table, values: Sequence[Any]) -> Iterator[_Point]:
        """Yield the points of a method from left to right; those of times for each hardware."""
        is_time = self.y.endswith("seconds")
        if is_time:
            table = timed_alone(table)
        for value in values:
            rows = done(where(table, **{self.x: value}))
            for place in (distinct(rows, "hardware") if is_time else []) or [None]:
                some = rows if place is None else where(rows, hardware=place)
                numbers = [number for row in some if not math.isnan(number := metric(row, self.y))]
                if not numbers:
                    continue
                devices = tuple(sorted(distinct(some, "device")))
                on_gpu = is_time and devices not in (("cpu",), ())
                about = place, place if is_time else devices, on_gpu
                if self.median:
                    low, height, high = np.quantile(numbers, (0.25, 0.5, 0.75))
                    yield _Point(value, height, height - low, high - height, len(numbers), *about)
                else:
                    mean = average(some, self.y)
                    yield _Point(value, mean.value, mean.error, mean.error, mean.count, *about)

    def _draw_method(
        self, axes: Axes, name: str, points: list[_Point], places: dict[Any, float], most: dict[Any, int]
    ) -> None:
        """Draw the line of a method, or one line per hardware."""
        options = style_of(name).options()
        pieces = [[point for point in points if point.line == line] for line in dict.fromkeys(p.line for p in points)]
        for piece in pieces:
            across, heights = [places[point.x] for point in piece], [point.height for point in piece]
            few = [point.count < most[point.x, point.place] for point in piece]
            bars = axes.errorbar(
                across, heights, yerr=[[p.below for p in piece], [p.above for p in piece]], capsize=2, elinewidth=0.8,
                label=name, markevery=[not one for one in few], **options,
            )  # fmt: skip
            if len(pieces) > 1:
                bars.lines[0].set_gid(BREAK)
            if any(few):
                small = options | {"markersize": FEW_SIZE, "linestyle": ""}
                axes.plot(across, heights, markevery=few, gid=FEW, **small)
            if piece[0].on_gpu:
                ring: dict[str, Any] = {"marker": "o", "markersize": 8, "markerfacecolor": "none", "linestyle": ""}
                axes.plot(across, heights, color=BLACK, markeredgewidth=0.8, gid=GPU, **ring)

    def _common(self, table: Table, values: Sequence[Any]) -> dict[Any, Table]:
        """Return the rows on the data sets that all methods have completed, at places where some have more.

        The mean of a method whose runs on hard data were stopped would look too good next to the others. Methods with
        too few seeds to be compared do not count.
        """
        found: dict[Any, Table] = {}
        if self.y.endswith("seconds") or self.median:
            return found
        for value in values:
            rows = done(where(table, method=tuple(self.methods), **{self.x: value}))
            compared = [name for name in self.methods if len(distinct(where(rows, method=name), "seed")) >= MIN_SEEDS]
            rows = where(rows, method=tuple(compared))
            common = shared(rows, compared)
            # The rows of methods that have completed more than these.
            longer = [name for name in compared if len(where(rows, method=name)) > len(common) // len(compared)]
            found[value] = where(common, method=tuple(longer))
        return found

    def _mark_common(self, axes: Axes, name: str, common: dict[Any, Table], places: dict[Any, float]) -> None:
        """Mark the mean over the data sets that all methods have completed."""
        for value, rows in common.items():
            mean = average(rows, self.y, method=name)
            if mean.count >= MIN_SEEDS:
                look = style_of(name).options() | {"markerfacecolor": "none", "linestyle": "", "markersize": 5}
                axes.plot(places[value], mean.value, gid=COMMON, **look)

    def _mark_stopped(self, axes: Axes, table: Table, places: dict[Any, float]) -> None:
        """Mark how many runs were not completed at the edge of a panel, in the colours of their methods."""
        at_top = self.y not in _SHARES
        for value, place in places.items():
            rows = [row for row in where(table, **{self.x: value}) if row["status"] != DONE]
            for line, name in enumerate(name for name in self.methods if where(rows, method=name)):
                height = 0.95 - 0.1 * line if at_top else 0.05 + 0.1 * line
                color, edge = style_of(name).color, axes.get_xaxis_transform()
                axes.plot(place, height, "x", color=color, markersize=4.5, transform=edge, gid=STOPPED, clip_on=False)
                axes.annotate(
                    str(len(where(rows, method=name))), (place, height), (-4, 0), xycoords=edge,
                    textcoords="offset points", fontsize=7, color=color, ha="right", va="center",
                )  # fmt: skip

    def _set_ticks(self, axes: Axes, values: list[Any]) -> None:
        if not values:
            mark_empty(axes)
        elif self.log_x:
            axes.set_xscale("log")
            ends = [_places(values, shift, self.log_x) for shift in (-_END, _END)]
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


def mark_empty(axes: Axes, text: str = "no results") -> None:
    """Write in an empty panel why it is empty; its tasks were not run or not completed."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY, fontsize=9)


def _places(values: Sequence[Any], shift: float, log_x: bool) -> dict[Any, float]:
    """Return the positions of values, shifted by a share of the smallest distance between them."""
    if any(isinstance(value, str) for value in values):
        return {value: number + shift for number, value in enumerate(values)}
    plain = np.log(values) if log_x else np.asarray(values, dtype=float)
    moved = plain + shift * (float(np.min(np.diff(plain))) if len(values) > 1 else 0.1)
    return dict(zip(values, np.exp(moved) if log_x else moved, strict=True))


def is_wide(row: Sequence[Axes]) -> bool:
    """Return whether small numbers could not be told apart on a linear axis."""
    heights, _ = _heights(row)
    positive = heights[heights > 0]
    return positive.size > 0 and heights.min() >= 0 and bool(positive.max() > _WIDE * np.quantile(positive, 0.25))


def settle(row: Sequence[Axes], y: str, *, log_y: bool = False) -> None:
    """Set the vertical axis of panels that share it, once all are drawn, so that no marker at zero is cut off."""
    heights, tops = _heights(row)
    for axes in row:
        if y in _SHARES:
            _set_share_scale(axes, heights)
        elif log_y:
            _set_log_scale(axes, heights, tops)
        elif heights.size and heights.min() >= 0:
            axes.set_ylim(-0.04 * max(axes.get_ylim()[1], 1e-9), None)
    if any(line.get_gid() == STOPPED for axes in row for line in axes.lines):
        _add_margin(row, at_top=y not in _SHARES)


def _heights(row: Sequence[Axes]) -> tuple[Any, Any]:
    """Return all numbers that the panels show, and the upper ends of their bars."""
    containers: list[Any] = [container for axes in row for container in axes.containers]
    lines = [container.lines for container in containers]
    heights = [np.asarray(line.get_ydata(), dtype=float) for line, *_ in lines]
    tops = [[end[1] for segment in bars.get_segments() for end in segment] for _, _, (bars,) in lines]
    found, ends = (np.concatenate([np.zeros(0), *some]) for some in (heights, tops))
    return found[np.isfinite(found)], ends[np.isfinite(ends)]


def _set_share_scale(axes: Axes, heights: Any) -> None:
    """Show the upper part of the shares between 0 and 1 that contains all of them."""
    from matplotlib.ticker import MultipleLocator

    bottom = max(0.0, min(math.floor(5 * float(heights.min(initial=1.0)) - 0.05) / 5, 0.8))
    axes.set_ylim(bottom - 0.04 * (1 - bottom), 1 + 0.04 * (1 - bottom))
    axes.yaxis.set_major_locator(MultipleLocator(0.05 if bottom > 0.7 else 0.1 if bottom > 0.5 else 0.2))


def _set_log_scale(axes: Axes, heights: Any, tops: Any) -> None:
    """Make the vertical axis logarithmic; if a number is zero, make it linear below the smallest positive one."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    positive = heights[heights > 0]
    if not positive.size:
        axes.set_ylim(-0.04, 1)
        return
    least, most = float(positive.min()), float(max(positive.max(), tops.max(initial=0.0)))
    has_zero = positive.size < heights.size
    if has_zero:
        # Numbers far below all others, mostly rounding errors, would take most of the space.
        least = max(least, _DEEPEST * float(np.quantile(positive, 0.25)))
        least = 10.0 ** math.floor(math.log10(least))
        decades = math.log10(most / least)
        axes.set_yscale("symlog", linthresh=least, linscale=max(0.8, 0.12 * decades))
        axes.set_ylim(-0.3 * least, 2 * most)
    else:
        axes.set_yscale("log")
        axes.set_ylim(least / 2, 2 * most)
    _hide_bars_to_zero(axes)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _power(value)))
    if has_zero or most >= 100 * least:
        first, last = math.floor(math.log10(least)), math.floor(math.log10(2 * most))
        step = math.ceil((last - first + 1) / _MOST_DECADES)
        powers = [10.0**k for k in range(first, last + 1, step)]
        axes.yaxis.set_major_locator(FixedLocator([0.0, *powers] if has_zero else powers))
        if step > 1 or has_zero:
            axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))


def _hide_bars_to_zero(axes: Axes) -> None:
    """Hide the lower half of error bars that reach zero, which is infinitely far down on a logarithmic axis."""
    containers: Any = axes.containers
    for line, caps, (bars,) in (container.lines for container in containers):
        heights = line.get_ydata()
        reach = [low <= _ROUNDING * height for low, height in zip(caps[0].get_ydata(), heights, strict=True)]
        # A single seed has no bar.
        segments = [one if len(one) else np.full((2, 2), math.nan) for one in bars.get_segments()]
        for segment, height, hidden in zip(segments, heights, reach, strict=True):
            if hidden:
                segment[0, 1] = height
        bars.set_segments(segments)
        caps[0].set_ydata([math.nan if one else low for one, low in zip(reach, caps[0].get_ydata(), strict=True)])


def _add_margin(row: Sequence[Axes], *, at_top: bool) -> None:
    """Make room for the marks of runs that were stopped."""
    for axes in {axes.get_ylim(): axes for axes in row}.values():  # once for axes that are shared
        scale = axes.yaxis.get_transform()
        low, high = scale.transform(np.array(axes.get_ylim()))
        ends = (low, high + _MARGIN * (high - low)) if at_top else (low - _MARGIN * (high - low), high)
        axes.set_ylim(*scale.inverted().transform(np.array(ends)))


def _power(value: float) -> str:
    """Write a number next to a logarithmic axis: plainly, or as a power of ten if it is far from one."""
    power = round(math.log10(value)) if value > 0 else 0
    return f"{value:g}" if -3 <= power <= 4 or value != 10.0**power else f"$10^{{{power}}}$"
