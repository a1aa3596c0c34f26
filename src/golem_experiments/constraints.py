"""Figures 4 and 5, section 5.1: the role of the l1 and the DAG penalty.

ER1 and ER4 graphs of 100 nodes, n = 100, 300, 1000, 3000, 10000, 12 simulations: GOLEM-EV, -L1 (no DAG penalty) and
-Plain (no penalty) under noise of equal variances, GOLEM-NV and its variants under unequal ones. As in the paper,
weights are only thresholded at 0.3, so that estimates may be cyclic. SHD, TPR and h(B) describe these estimates, and
`h_raw` is h of the weights before the threshold (empty if it overflows). SHD-C and SID need a DAG and are computed
after cycle removal (section 4.2); the share of cyclic estimates is shown next to them. If n <= d the likelihood is
unbounded below and the -Plain variants have no minimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from golem.estimator.settings import PAPER_THRESHOLD
from golem.gradient.rounding import round_to_dag
from golem.graphs import metrics
from golem.graphs.dag import is_dag
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.acyclicity import Expm
from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, judge
from golem_experiments.analysis.comparisons import better, difference, settings
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import MIN_SEEDS, all_hold, is_higher, is_lower, within
from golem_experiments.analysis.tables import average, distinct, done, interaction, label, metric, paired, where
from golem_experiments.engine.store import DONE
from golem_experiments.experiment import Grid, Row, Table, Task
from golem_experiments.learners import Learned, measurements

METHODS = ("golem-ev", "golem-ev-l1", "golem-ev-plain", "golem-nv", "golem-nv-l1", "golem-nv-plain")
_HIGH_TPR, _LOW_H, _CLOSE = 0.9, 1e-2, 0.1
# On a logarithmic scale: h of a graph that is acyclic up to rounding, and h that overflows.
_NO_H, _LOG_OVERFLOW = 1e-16, 308.0


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all cells, seeds and methods, each variant with the noise that it assumes."""
    found = sweep.tasks(
        "constraints", grid, METHODS, seeds=grid.choose_seeds(quick=2),
        graph=grid.pick(("ER1", "ER4"), ("ER1", "ER4"), ("ER1",)), noise=("gaussian-ev", "gaussian-nv"),
        d=grid.choose_sizes((100,), (20,), (6,)),
        n=grid.pick((100, 300, 1000, 3000, 10000), (30, 300, 3000), (100, 1000)), cycles="none",
    )  # fmt: skip
    return [task for task in found if str(task.cell["noise"])[-2:] in task.method.split("-")]


def _measure(truth: BoolMatrix, rows: Matrix, learned: Learned) -> Row:
    """Measure the thresholded estimate; then remove cycles and measure the rest."""
    raw = learned.model.raw_weights_
    acyclic = round_to_dag(raw, PAPER_THRESHOLD).weights
    return measurements(truth, learned, classes=False) | {
        "cyclic": not is_dag(learned.estimate.graph),
        "h": _finite(round_to_dag(raw, PAPER_THRESHOLD, cycles="none").weights),
        "h_raw": _finite(raw),
        "shd_acyclic": metrics.shd(truth, acyclic),
        "shd_c": metrics.shd_c(truth, acyclic),
        "sid": metrics.sid(truth, acyclic),
    }


def _finite(weights: np.ndarray) -> float | None:
    """Return h(B), None if it overflows."""
    with np.errstate(all="ignore"):
        h = float(Expm().value_and_grad(weights)[0])
    return max(h, 0.0) if math.isfinite(h) else None


def _h(row: Row) -> float:
    """Return h of the thresholded estimate, infinity if it overflowed."""
    return math.inf if row["h"] is None else float(row["h"])


def _with_derived(table: Table) -> Table:
    """Add the numbers that the claims are about, computed from those of a row."""
    return [row | _derived(row) if row["status"] == DONE else row for row in table]


def _derived(row: Row) -> Row:
    edges, missed = float(row["true_edges"] or 1), (1 - metric(row, "tpr")) * metric(row, "true_edges")
    return {
        "errors_per_edge": float(row["shd"] or 0) / edges,
        # True edges that are missing or reversed, minus edges that are too many, per node.
        "missed_less_extra": (2 * missed - float(row["shd"] or 0)) / float(row["d"] or 1),
        "log_h": math.log10(max(_h(row), _NO_H)) if math.isfinite(_h(row)) else _LOG_OVERFLOW,
    }


@judge(
    *METHODS[:3],
    title="SHD per true edge",
    criterion=f"close means at most {_CLOSE:g}, a high TPR at least {_HIGH_TPR:g}",
    select=_with_derived,
)
def _many_samples(table: Table) -> Iterable[Finding]:
    most = distinct(table, "n")[-1]
    for graph in distinct(table, "graph"):
        for name in METHODS[:3]:
            errors, tpr = (
                average(table, column, graph=graph, n=most, method=name) for column in ("errors_per_edge", "tpr")
            )
            text = f"{graph}, n = {most}: {name} {errors} (TPR {tpr})"
            if name == "golem-ev-plain":
                yield text, within(errors, _CLOSE, math.inf)
            else:
                yield text, all_hold([within(errors, 0, _CLOSE), within(tpr, _HIGH_TPR, math.inf)])


@judge(*METHODS[:2], title="SHD / d, golem-ev-l1 - golem-ev")
def _gap(table: Table) -> Iterable[Finding]:
    """Check whether the gap is closer to zero with the most rows than with the fewest, whichever method is ahead."""
    rows = distinct(table, "n")
    gaps = {n: paired(table, "shd", "golem-ev-l1", "golem-ev", n=n) for n in rows}
    change = interaction(table, "shd", "golem-ev-l1", "golem-ev", {"n": rows[-1]}, {"n": rows[0]})
    listed = ", ".join(f"n = {n}: {gap.signed()}" for n, gap in gaps.items())
    first, last = gaps[rows[0]], gaps[rows[-1]]
    shrinks = is_lower(change) if first.value > 0 else is_higher(change)
    if is_lower(first) is None:
        # There is no gap at first: one at the end has grown, otherwise there is nothing to see.
        shrinks = None if is_lower(last) is None or is_lower(change) is None else False
    elif shrinks and abs(last.value) >= abs(first.value):
        shrinks = False
    later = interaction(table, "shd", "golem-ev-l1", "golem-ev", {"n": rows[-1]}, {"n": rows[1]})
    yield f"{listed}; last minus first {change.signed()}, last minus second n {later.signed()}", shrinks


@judge(*METHODS[3:5], select=_with_derived)
def _without_dag(table: Table) -> Iterable[Finding]:
    # One number of samples at a time: with n = d, where the likelihood is unbounded, errors are many times as large.
    for n in distinct(table, "n"):
        for name in ("tpr", "shd"):
            outcome = better(table, name, "golem-nv", "golem-nv-l1", higher=name == "tpr", n=n)
            yield f"n = {n}: {label(name)}, {difference(table, name, 'golem-nv-l1', 'golem-nv', n=n)}", outcome
    more = paired(table, "missed_less_extra", "golem-nv-l1", "golem-nv")
    yield f"true edges missed minus false edges added without the penalty, per node: {more.signed()}", is_higher(more)


@judge(*METHODS[:2], title="SHD / d saved by the DAG penalty")
def _where_it_helps(table: Table) -> Iterable[Finding]:
    pair = ("golem-ev-l1", "golem-ev")
    if not {"ER1", "ER4"} <= set(distinct(table, "graph")):
        return
    rows = distinct(table, "n")
    gains = [
        f"{graph}, n = {n}: {paired(table, 'shd', *pair, graph=graph, n=n).signed()}"
        for graph in ("ER1", "ER4")
        for n in (rows[0], rows[-1])
    ]
    yield "; ".join(gains), is_higher(paired(table, "shd", *pair))
    few = interaction(table, "shd", *pair, {"n": rows[0]}, {"n": rows[-1]})
    yield f"with n = {rows[0]} minus that with {rows[-1]}: {few.signed()}", is_higher(few)
    dense = interaction(table, "shd", *pair, {"graph": "ER4"}, {"graph": "ER1"})
    yield f"on ER4 minus that on ER1: {dense.signed()}", is_higher(dense)


@judge(
    *METHODS[:2],
    *METHODS[3:5],
    title="h(B)",
    criterion=f"low means a mean of at most {_LOW_H:g} in each setting; {_NO_H:g} is taken for zero in log10",
    select=_with_derived,
    partial=True,
)
def _acyclicity(table: Table) -> Iterable[Finding]:
    for full in ("golem-ev", "golem-nv"):
        without = f"{full}-l1"
        if not {full, without} <= set(distinct(table, "method")):
            continue
        rows = where(done(table), method=full)
        other = where(done(table), method=without)
        if not rows or not other:
            continue
        found = [where(rows, **cell) for cell in settings(rows, ("graph", "n"))]
        # No interval is needed: these are means of the learned graphs. But there must be enough of them.
        enough = all(len(some) >= MIN_SEEDS for some in found)
        highest = max(math.fsum(map(_h, some)) / len(some) for some in found)
        yield (
            f"{full}: highest mean of a setting {highest:.2g}, of a single graph {max(map(_h, rows)):.2g}, share of "
            f"cyclic graphs {average(rows, 'cyclic')}",
            highest <= _LOW_H if enough else None,
        )
        less = paired(table, "log_h", full, without)
        yield (
            f"log10 of h, {full} - {without}: {less.signed()} (without the penalty h is at most "
            f"{max(map(_h, other)):.2g}, share of cyclic graphs {average(other, 'cyclic')})",
            is_lower(less),
        )


CLAIMS = {
    "Equal variances, many samples: GOLEM-EV and GOLEM-EV-L1 come close to the true graph with a high TPR, "
    "GOLEM-EV-Plain does not.": _many_samples,
    "Equal variances: the gap between GOLEM-EV-L1 and GOLEM-EV gets smaller with more samples.": _gap,
    "Unequal variances: without the DAG penalty GOLEM-NV-L1 is worse than GOLEM-NV, above all in TPR.": _without_dag,
    "The DAG penalty helps most with few samples and on dense graphs (equal variances).": _where_it_helps,
    "With both penalties h(B) is low in all settings, and lower than without the DAG penalty.": _acyclicity,
}
# h leaves out overflows, which have no place on an axis; the verdict counts them.
_METRICS, _LOGARITHMIC = ("shd", "shd_c", "sid", "tpr", "h", "cyclic"), ("shd", "shd_c", "sid", "h")
FIGURE = Panels(_METRICS, "n", ("noise", "graph"), METHODS, log_x=True, log_y=_LOGARITHMIC, medians=("h",))
EXPERIMENT = sweep.experiment("constraints", "Figures 4 and 5, section 5.1", CLAIMS, tasks, FIGURE, measure=_measure)
