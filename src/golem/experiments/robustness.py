"""Beyond the paper: how often each kind of evidence for a direction is right when an assumption is violated.

A direction rests on the structure (the equivalence class), the noise variances, the shape of the noise, or nothing. All
three kinds of evidence assume a linear model with independent noise, no hidden common causes and independent rows.
Here one assumption at a time is violated (`violations.py`): hidden common causes, curved effects, 1% of outliers, rows
that depend on each other, errors of measurement. An edge is real if the true graph joins the same variables; the
direction of a real edge is right or reversed. The checks of `golem.diagnose` that could notice are counted as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.assessment.diagnostics import diagnose
from golem.experiments import sweep
from golem.experiments.analysis.claims import Finding, Judge, finished
from golem.experiments.analysis.inference import Mean, within
from golem.experiments.analysis.styles import BLUE, GREEN, GREY, VERMILLION
from golem.experiments.analysis.tables import average, distinct, done, where
from golem.experiments.engine.task import Grid, Row, Task
from golem.experiments.experiment import Table
from golem.experiments.learners import Learned, measurements
from golem.experiments.violations import NOISES, VIOLATIONS, draw_violated
from golem.runtime.types import BoolMatrix, Matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("order", "order-ev")
SOURCES = ("structure", "variances", "shape", "none")
COLOURS = dict(zip(SOURCES, (BLUE, VERMILLION, GREEN, GREY), strict=True))
# Checks that can notice a violation; "linearity" of curved effects, for example.
FINDINGS = ("linearity", "independence", "outliers")
NOTICED = {"nonlinear": "linearity", "outliers": "outliers"}
_RIGHT, _RIGHT_WITHOUT_VIOLATION, _FEW = 0.9, 0.95, 0.1


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all violations, noises, raw and standardized columns, seeds and methods."""
    return sweep.tasks(
        "robustness", grid, METHODS, seeds=grid.choose_seeds(quick=3),
        violation=grid.pick(VIOLATIONS, VIOLATIONS, VIOLATIONS[:2]),
        noise=grid.pick(NOISES, NOISES[:2], NOISES[1:2]),
        columns=grid.pick(("raw", "standardized"), ("raw", "standardized"), ("raw",)),
        graph=grid.pick(("ER1", "ER2"), ("ER1",), ("ER1",)), d=grid.choose_sizes((20,), (20,), (6,)),
        n=grid.pick(1000, 1000, 100),
    )  # fmt: skip


def draw(task: Task) -> tuple[BoolMatrix, Matrix]:
    """Return the true graph of a task and its rows; raw and standardized columns share the draw."""
    cell: Any = task.cell
    truth, X = draw_violated(cell["violation"], cell["noise"], cell["graph"], cell["d"], cell["n"], task.seed)
    return truth, (X - X.mean(axis=0)) / X.std(axis=0) if cell["columns"] == "standardized" else X


def _measure(truth: BoolMatrix, rows: Matrix, learned: Learned) -> Row:
    """Count the edges by what their direction rests on, those of them that are right, and those that are reversed."""
    names = learned.model.moments_.names
    place = {name: number for number, name in enumerate(names)}
    counts: dict[str, Any] = {f"{source}_{what}": 0 for source in SOURCES for what in ("edges", "right", "reversed")}
    for edge in learned.model.edges_:
        i, j = place[edge.source], place[edge.target]
        counts[f"{edge.direction_from}_edges"] += 1
        counts[f"{edge.direction_from}_right"] += int(truth[i, j])
        counts[f"{edge.direction_from}_reversed"] += int(truth[j, i])
    diagnosis = diagnose(learned.model, rows, refit=False)
    found = {f"finds_{name}": diagnosis[name].level != "ok" for name in FINDINGS}
    return measurements(truth, learned) | counts | found


def share(table: Table, part: str, whole: Sequence[str]) -> Mean:
    """Return the share of a count in the sum of others, over all rows, with a standard error over seeds."""
    by_seed: dict[Any, list[float]] = {}
    for row in done(table):
        counts = by_seed.setdefault(row["seed"], [0.0, 0.0])
        counts[0] += float(row[part] or 0)
        counts[1] += sum(float(row[name] or 0) for name in whole)
    numbers = np.array([counts for counts in by_seed.values() if counts[1]])
    n = len(numbers)
    if not n:
        return Mean(math.nan, math.nan, 0)
    total = numbers.sum(axis=0)
    value = float(total[0] / total[1])
    # The standard error of a ratio of sums.
    spread = float(np.sum((numbers[:, 0] - value * numbers[:, 1]) ** 2))
    return Mean(value, math.sqrt(spread * n / (n - 1)) / float(total[1]) if n > 1 else math.nan, n)


def right(table: Table, source: str) -> Mean:
    """Return the share of the directions from one kind of evidence that are right, among edges that are real."""
    return share(table, f"{source}_right", [f"{source}_right", f"{source}_reversed"])


def claimed(table: Table, source: str) -> Mean:
    """Return the share of edges whose direction rests on one kind of evidence."""
    return share(table, f"{source}_edges", [f"{one}_edges" for one in SOURCES])


def real(table: Table, *sources: str) -> Mean:
    """Return the share of the edges, with their directions from some kinds of evidence, that the true graph has."""
    rows = [
        row | {"real": sum(int(row[f"{one}_{what}"] or 0) for one in sources for what in ("right", "reversed"))}
        for row in table
    ]
    return share(rows, "real", [f"{one}_edges" for one in sources])


def _violated(table: Table) -> Iterable[tuple[str, Table]]:
    """Yield each violation and its rows."""
    for violation in distinct(table, "violation"):
        if violation != "none":
            yield violation, where(table, violation=violation)


def _right_directions(source: str) -> Judge:
    """Return the judge of a claim about the directions from one kind of evidence."""

    def findings(table: Table) -> Iterable[Finding]:
        for violation, rows in _violated(table):
            found, used = right(rows, source), claimed(rows, source)
            text = f"{violation} {found} ({used.value:.0%} of the edges)" if found.count else f"{violation} no claims"
            yield text, within(found, _RIGHT, math.inf) if found.count else True

    title = "Share of right directions among real edges"
    return Judge(findings, ("order",), title, f"at least {_RIGHT:.0%}", finished(method="order"))


def _real_edges(table: Table) -> Iterable[Finding]:
    for violation, rows in _violated(table):
        found = real(rows, *SOURCES)
        yield f"{violation} {found}", within(found, _RIGHT, math.inf)


def _real_shape(table: Table) -> Iterable[Finding]:
    for violation, rows in _violated(table):
        found, used = real(rows, "shape"), claimed(rows, "shape")
        outcome = True if not found.count else within(found, _RIGHT, math.inf)
        rare = within(used, -math.inf, _FEW)
        text = f"{violation} {found} ({used.value:.0%} of the edges)" if found.count else f"{violation} no claims"
        yield text, True if outcome or rare else None if outcome is None or rare is None else False


def _without_violation(table: Table) -> Iterable[Finding]:
    for source in SOURCES[:-1]:
        found = right(table, source)
        if found.count:
            yield f"{source} {found}", within(found, _RIGHT_WITHOUT_VIOLATION, math.inf)


def _noticed(table: Table) -> Iterable[Finding]:
    for violation, name in NOTICED.items():
        found = average(table, f"finds_{name}", violation=violation)
        yield f"{name} if {violation}: {found}", within(found, _RIGHT, math.inf)


def _silent(table: Table) -> Iterable[Finding]:
    for name in FINDINGS:
        found = average(table, f"finds_{name}")
        yield f"{name}: {found}", within(found, -math.inf, _FEW)


CLAIMS = {
    "If no assumption is violated, directions by structure, noise variances and noise shape are right.": Judge(
        _without_violation,
        ("order",),
        "Share of right directions among real edges",
        f"at least {_RIGHT_WITHOUT_VIOLATION:.0%}",
        finished(method="order", violation="none"),
    ),
    "Under every violation most learned edges are real: the true graph joins the same variables.": Judge(
        _real_edges, ("order",), "Share of real edges", f"at least {_RIGHT:.0%}", finished(method="order")
    ),
    **{
        f"Under every violation the directions of real edges are right if they rest on the {words}.": judge
        for words, judge in (
            ("structure", _right_directions("structure")),
            ("noise variances", _right_directions("variances")),
            ("noise shape", _right_directions("shape")),
        )
    },
    "Under every violation noise shape directs hardly any edge that is not real.": Judge(
        _real_shape,
        ("order",),
        "Share of real edges among those directed by shape",
        f"at least {_RIGHT:.0%}, or at most {_FEW:.0%} of all edges directed by shape",
        finished(method="order"),
    ),
    "The checks report curved effects and outliers.": Judge(
        _noticed, ("order",), "Share of the tables", f"at least {_RIGHT:.0%}", finished(method="order")
    ),
    "The checks of linearity, independence and outliers are silent if no assumption is violated and the learned graph "
    "is the true one.": Judge(
        _silent,
        ("order",),
        "Share of the tables",
        f"at most {_FEW:.0%}",
        finished(method="order", violation="none", shd=0),
    ),
}


def figure(table: Table) -> Figure:
    """Draw the shares of right directions, of real edges, and of all edges, by violation and kind of evidence."""
    from matplotlib.figure import Figure

    table = done(table)
    cases = [(method, columns) for method in distinct(table, "method") for columns in distinct(table, "columns")]
    violations = distinct(table, "violation")
    measures: tuple[Callable[[Table, str], Mean], ...] = (right, real, claimed)
    whole = Figure(figsize=(4.2 * len(cases), 9.0), layout="constrained")
    panels: Any = whole.subplots(3, len(cases), squeeze=False, sharex=True, sharey=True)
    for column, (method, columns) in zip(panels.T, cases, strict=True):
        here = where(table, method=method, columns=columns)
        rows = [where(here, violation=violation) for violation in violations]
        for number, source in enumerate(SOURCES):
            place = np.arange(len(violations)) + 0.16 * (number - 1.5)
            for axes, measure in zip(column, measures, strict=True):
                found = [measure(one, source) for one in rows]
                axes.errorbar(
                    place, [one.value for one in found], yerr=[one.error for one in found], fmt="o", markersize=4,
                    capsize=2, color=COLOURS[source], label="no evidence" if source == "none" else f"by {source}",
                )  # fmt: skip
        column[0].set_title(f"{method}, {columns} columns", fontsize=10)
        column[-1].set_xticks(range(len(violations)), violations, rotation=35, ha="right", fontsize=9)
        for axes in column:
            axes.set_ylim(-0.03, 1.03)
            axes.grid(alpha=0.25, linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
    labels = ("right directions among real edges", "real edges", "share of all edges")
    for axes, text in zip(panels[:, 0], labels, strict=True):
        axes.set_ylabel(text)
    panels[-1][0].legend(frameon=False, fontsize=8)
    return whole


EXPERIMENT = sweep.experiment(
    "robustness", "Beyond the paper: violated assumptions", CLAIMS, tasks, figure, data=draw, measure=_measure,
    shape=None,
)  # fmt: skip
