"""Beyond the paper: time series, next to PCMCI+ and VARLiNGAM.

Series of structural autoregressions of one step: every variable depends on its own last step, with a weak
(0.1 to 0.4) or strong (0.6 to 0.9) effect; as many other lagged edges as edges within a step (ER1), with weights of 0.2
to 0.6 in size. All methods are given the number of lags. F1 of adjacencies is counted within a step, and for the
edges from the past, without those of variables on themselves. Arrows within a step that a method claims count as right
if the true graph has them. Seconds are those of the processor; for order they include the check of the directions, and
`search_seconds` do not. Seeds start at 5000.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.comparison.other_packages import OTHER_PACKAGES, Estimate
from golem.comparison.registry import compile_method
from golem.estimator.golem import Golem
from golem.graphs.named_graph import LINK_SOURCES
from golem.model.series_simulation import SimulatedSeries, simulate_series
from golem.runtime.types import BoolMatrix
from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, judge, verdicts
from golem_experiments.analysis.comparisons import matched_times
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import Mean, within
from golem_experiments.analysis.tables import done, paired, share, where
from golem_experiments.experiment import Experiment, Grid, Row, Table, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_SEED = 5000
OTHERS = ("pcmci-plus", "var-lingam")
METHODS = ("order", *OTHERS)
NOISES = ("gaussian-nv", "exponential")
AUTOCORRELATIONS = {"weak": (0.1, 0.4), "strong": (0.6, 0.9)}
_RIGHT, _FEWEST_CLAIMS, _TIMES_FASTER, _FASTER_FROM = 0.95, 100, 10, 10
F1 = {"f1_within": "within a step", "f1_lagged": "of the past"}


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks; methods of packages that are not installed are left out."""
    chosen = grid.choose_methods(METHODS)
    grid = replace(grid, methods=tuple(name for name in chosen if sweep.is_installed(name, grid)))
    return sweep.tasks(
        "series", grid, METHODS, seeds=grid.choose_seeds(quick=3),
        d=grid.choose_sizes((5, 10, 30, 50), (5, 10), (4,)), n=grid.pick((100, 300, 1000), (300,), (100,)), lags=1,
        autocorrelation=grid.pick(("weak", "strong"), ("weak", "strong"), ("weak",)),
        noise=grid.pick(NOISES, NOISES, NOISES[:1]),
    )  # fmt: skip


def draw(task: Task) -> SimulatedSeries:
    """Draw the series of a task; the graph depends on the seed, the variables and the lags."""
    cell: Any = task.cell
    return simulate_series(
        cell["d"],
        cell["n"],
        lags=cell["lags"],
        noise=cell["noise"],
        autocorrelation=AUTOCORRELATIONS[cell["autocorrelation"]],
        random_state=FIRST_SEED + task.seed,
    )


def learn(method: str, drawn: SimulatedSeries) -> tuple[Estimate, Row]:
    """Return the graph over the present and its lags that a method learns, and its seconds."""
    lags = len(drawn.past)
    began = time.process_time()
    if method in OTHERS:
        other = OTHER_PACKAGES[method].learn_series
        assert other is not None
        found = other(drawn.data, lags)
        return found, {"fit_seconds": time.process_time() - began}
    model = Golem(lags=lags).fit(drawn.data)
    searched = time.process_time() - began
    model.check_directions(drawn.data)
    graph = model.graph_.matrix()
    found = Estimate(graph, False, graph, direction_from=dict(model.graph_.directions()))
    return found, {"fit_seconds": time.process_time() - began, "search_seconds": searched}


def run(task: Task) -> Row:
    """Learn a graph and compare it with the true one."""
    drawn = draw(task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows per column, in many cells
        found, seconds = learn(task.method, drawn)
    return measurements(drawn, found) | seconds


def measurements(drawn: SimulatedSeries, found: Estimate) -> Row:
    """Return the two F1, and the numbers of claimed arrows within a step, and of those that are right."""
    d = len(drawn.present)
    truth, graph = drawn.present != 0, found.graph[:d, :d]
    links = np.zeros((d, d), dtype=bool)
    for (i, j), source in found.direction_from.items():
        links[i % d, j % d] |= source in LINK_SOURCES and max(i, j) < d
    claimed = graph & ~links
    own = np.eye(d, dtype=bool)
    past = drawn.past != 0
    estimated = found.graph[d:, :d].reshape(past.shape)
    row: Row = {
        "f1_within": _f1(np.triu(truth | truth.T), np.triu(graph | graph.T)),
        "f1_lagged": _f1(past & ~own, estimated & ~own),
        "claimed": int(claimed.sum()),
        "claimed_right": int((claimed & truth).sum()),
    }
    row["claimed_wrong"] = int(claimed.sum()) - int((claimed & truth).sum())
    return row


def _f1(truth: BoolMatrix, found: BoolMatrix) -> float | None:
    """Return the F1 of a set of edges; None if there are neither true edges nor found ones."""
    both = int(truth.sum()) + int(found.sum())
    return 2 * int((truth & found).sum()) / both if both else None


_CELL = ("d", "n", "autocorrelation", "noise")


def _cells(table: Table) -> Iterable[tuple[str, Table]]:
    """Yield the cells of a table with a short name each."""
    for values in dict.fromkeys(tuple(row[name] for name in _CELL) for row in table):
        d, n, autocorrelation, noise = values
        name = f"d = {d}, T = {n}, {autocorrelation}, {str(noise).partition('-')[0]}"
        yield name, where(table, **dict(zip(_CELL, values, strict=True)))


@judge(*METHODS, title="F1, order minus the other", criterion="not lower by two standard errors", partial=True)
def _not_behind(table: Table) -> Iterable[Finding]:
    for name, rows in _cells(table):
        for other in OTHERS:
            for metric, what in F1.items():
                more = paired(rows, metric, "order", other)
                if more.count > 2:
                    yield f"{name}, {what} ({other}): {more.signed()}", more.value >= -2 * more.error


@judge("order", "pcmci-plus", title="Seconds of PCMCI+ / seconds of order", criterion=f"at least {_TIMES_FASTER}")
def _faster(table: Table) -> Iterable[Finding]:
    for name, rows in _cells(table):
        if int(rows[0]["d"] or 0) >= _FASTER_FROM:
            found = matched_times(rows, "order", "pcmci-plus")
            if found is not None:
                yield f"{name}: {found}", found.reaches(_TIMES_FASTER)


@judge("order", title="Share of right arrows", criterion=f"at least {_RIGHT:.0%}, from {_FEWEST_CLAIMS} claims on")
def _claims_are_right(table: Table) -> Iterable[Finding]:
    few: list[Row] = []
    for name, rows in _cells(done(where(table, method="order", noise="gaussian-nv"))):
        count = sum(int(row["claimed"] or 0) for row in rows)
        if count < _FEWEST_CLAIMS:
            few += rows
            continue
        right = sum(int(row["claimed_right"] or 0) for row in rows)
        yield f"{name}: {right} of {count}", right >= _RIGHT * count
    if few:
        found = share(few, "claimed_right", ["claimed_right", "claimed_wrong"])
        count = sum(int(row["claimed"] or 0) for row in few)
        yield f"cells with fewer claims, together: {found} ({count} claims)", _reaches(found)


def _reaches(found: Mean) -> bool | None:
    """Return whether a share is at least the bound; None if the interval does not decide it."""
    return True if found.value >= _RIGHT else within(found, _RIGHT, math.inf)


CLAIMS = {
    "order is not behind PCMCI+ or VARLiNGAM in any cell.": _not_behind,
    "order is at least ten times faster than PCMCI+ from 10 variables on.": _faster,
    "The arrows within a step that order claims are right, with normal noise.": _claims_are_right,
}
FIGURE = Panels(
    ("f1_within", "f1_lagged", "fit_seconds"), "n", ("autocorrelation", "noise"), METHODS, columns="d", log_x=True,
    log_y=("fit_seconds",),
)  # fmt: skip


def figure(table: Table) -> Figure:
    """Draw both F1 and seconds by autocorrelation, noise, variables and rows."""
    return FIGURE(table)


EXPERIMENT = Experiment(
    "series", "Beyond the paper: time series", tuple(CLAIMS), tasks, run, figure, verdicts(CLAIMS),
    lambda task: compile_method("order"),
)  # fmt: skip
