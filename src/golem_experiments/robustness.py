"""Beyond the paper: how often each kind of evidence for a direction is right when an assumption is violated.

A direction rests on the structure (the equivalence class), the noise variances, the shape of the noise, or nothing. All
three kinds of evidence assume a linear model with independent noise, no hidden common causes and independent rows.
Here one assumption at a time is violated (`violations.py`): hidden common causes, curved effects, 1% of outliers, rows
that depend on each other, errors of measurement. An edge is real if the true graph joins the same variables; the
direction of a real edge is right or reversed. The checks of `golem.diagnose` that could notice are counted as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.assessment.diagnostics import diagnose
from golem.runtime.types import BoolMatrix, Matrix
from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, Judge, finished
from golem_experiments.analysis.inference import Mean, within
from golem_experiments.analysis.styles import EVIDENCE_STYLES
from golem_experiments.analysis.tables import average, distinct, done, share, where
from golem_experiments.experiment import Grid, Row, Table, Task
from golem_experiments.learners import Learned, measurements
from golem_experiments.violations import NOISES, VIOLATIONS, draw_violated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("order", "order-ev")
SOURCES = ("structure", "variances", "shape", "none")
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


def _by_evidence(title: str, measure: Callable[[Table, str], Mean], source: str) -> Judge:
    """Return the judge of a claim about the edges that one kind of evidence directs."""

    def findings(table: Table) -> Iterable[Finding]:
        directed = [(violation, rows) for violation, rows in _violated(table) if measure(rows, source).count]
        for violation, rows in directed:
            found, used = measure(rows, source), claimed(rows, source)
            yield f"{violation} {found} ({used.value:.0%} of the edges)", within(found, _RIGHT, math.inf)
        if not directed:
            yield "none", None, "There are no such edges under any violation."

    criterion = f"at least {_RIGHT:.0%}; violations without such edges are left out"
    return Judge(findings, ("order",), title, criterion, finished(method="order"))


def _real_edges(table: Table) -> Iterable[Finding]:
    for violation, rows in _violated(table):
        found = real(rows, *SOURCES)
        yield f"{violation} {found}", within(found, _RIGHT, math.inf)


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
        f"Under every violation the directions of real edges are right if they rest on the {words}.": _by_evidence(
            "Share of right directions among real edges", right, source
        )
        for words, source in (("structure", "structure"), ("noise variances", "variances"), ("noise shape", "shape"))
    },
    "Under every violation noise shape directs hardly any edge that is not real.": _by_evidence(
        "Share of real edges among those directed by shape", real, "shape"
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
                shares, errors = (np.array([getattr(one, name) for one in found]) for name in ("value", "error"))
                axes.errorbar(
                    place, shares, yerr=np.minimum(errors, [shares, 1 - shares]), capsize=2, elinewidth=0.8,
                    label="no evidence" if source == "none" else f"by {source}",
                    **EVIDENCE_STYLES[source].options() | {"linestyle": ""},
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
    handles, names = panels[0][0].get_legend_handles_labels()
    whole.legend(handles, names, loc="outside lower center", ncols=len(SOURCES), frameon=False, fontsize=9)
    return whole


EXPERIMENT = sweep.experiment(
    "robustness", "Beyond the paper: violated assumptions", CLAIMS, tasks, figure, data=draw, measure=_measure,
    shape=None,
)  # fmt: skip
