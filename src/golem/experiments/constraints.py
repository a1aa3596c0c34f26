"""Figures 4 and 5, section 5.1: the role of the l1 and the DAG penalty.

ER1 and ER4 graphs of 100 nodes, n = 100, 300, 1000, 3000, 10000, 12 simulations: GOLEM-EV, -L1 (no DAG penalty) and
-Plain (without any) under noise of equal variances, GOLEM-NV and its variants under unequal ones. Weights are
thresholded at 0.3 and no more, as in the paper, so that estimates may be cyclic: SHD, TPR and h(B) are of these, and
`h_raw` is h of the weights before the threshold (a row without a number there: h is beyond all numbers). SHD-C
and SID need a directed acyclic graph, and are taken after cycle removal (section 4.2); the share of cyclic estimates
stands beside them. Where n <= d the likelihood is unbounded below and the -Plain variants have no minimum.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from golem.estimator.settings import PAPER_THRESHOLD
from golem.experiments import sweep
from golem.experiments.analysis import figures
from golem.experiments.analysis.comparisons import better, difference, is_there, join, metric_label, not_run, present
from golem.experiments.analysis.inference import MIN_SEEDS, all_hold, is_higher, is_lower, within
from golem.experiments.analysis.tables import average, distinct, done, interaction, metric, paired, where
from golem.experiments.engine.store import DONE
from golem.experiments.engine.task import Grid, Row, Task
from golem.experiments.experiment import Table, Verdict
from golem.experiments.learners import Learned, learn, measurements
from golem.graphs import metrics
from golem.graphs.dag import is_dag
from golem.score.acyclicity import Expm
from golem.solvers.rounding import round_to_dag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from golem.model.simulation import Simulation

METHODS = ("golem-ev", "golem-ev-l1", "golem-ev-plain", "golem-nv", "golem-nv-l1", "golem-nv-plain")
CLAIMS = (
    "Equal variances, many samples: GOLEM-EV and GOLEM-EV-L1 come close to the true graph with a high TPR, "
    "GOLEM-EV-Plain does not.",
    "Equal variances: the gap between GOLEM-EV-L1 and GOLEM-EV gets smaller with more samples.",
    "Unequal variances: GOLEM-NV-L1 is worse than GOLEM-NV without the DAG penalty, above all in its TPR.",
    "The DAG penalty helps most with few samples and on dense graphs (equal variances).",
    "With both penalties h(B) is low in all settings, and lower than without the DAG penalty.",
)
_HIGH_TPR, _LOW_H, _CLOSE = 0.9, 1e-2, 0.1
# On a logarithmic scale: h of what is acyclic up to rounding, and h beyond all numbers.
_NO_H, _LOG_OVERFLOW = 1e-16, 308.0


def tasks(grid: Grid) -> list[Task]:
    """All cells, seeds and methods, each variant with the noise that it assumes."""
    sizes = grid.choose_sizes((100,), (20,), (6,))
    rows = grid.pick((100, 300, 1000, 3000, 10000), (30, 300, 3000), (100, 1000))
    cells = [
        {"graph": graph, "noise": noise, "d": d, "n": n, "cycles": "none", "steps": sweep.steps(grid)}
        for noise in ("gaussian-ev", "gaussian-nv")
        for graph in grid.pick(("ER1", "ER4"), ("ER1", "ER4"), ("ER1",))
        for d in sizes
        for n in rows
    ]
    found = sweep.product("constraints", cells, grid.choose_seeds(quick=2), grid.choose_methods(METHODS))
    return [task for task in found if str(task.cell["noise"])[-2:] in task.method.split("-")]


def run(task: Task) -> Row:
    """Simulate, learn, threshold and measure; then remove cycles and measure the rest."""
    drawn = sweep.draw(task)
    return _measured(drawn, learn(task.method, task.cell, drawn.data))


def run_batch(tasks: list[Task], device: str) -> list[Row]:
    """Run some in one stack."""
    return [_measured(drawn, learned) for drawn, learned in sweep.learned_batch(tasks, device)]


def _measured(drawn: Simulation, learned: Learned) -> Row:
    truth, raw = drawn.sem.adjacency, learned.model.raw_weights_
    row = measurements(truth, learned, classes=False)
    acyclic = round_to_dag(raw, PAPER_THRESHOLD).weights
    return row | {
        "cyclic": not is_dag(learned.estimate.graph),
        "h": _finite(round_to_dag(raw, PAPER_THRESHOLD, cycles="none").weights),
        "h_raw": _finite(raw),
        "shd_acyclic": metrics.shd(truth, acyclic),
        "shd_c": metrics.shd_c(truth, acyclic),
        "sid": metrics.sid(truth, acyclic),
    }


def _finite(weights: np.ndarray) -> float | None:
    """Return h(B), None where it is beyond all numbers."""
    with np.errstate(all="ignore"):
        h = float(Expm().value_and_grad(weights)[0])
    return max(h, 0.0) if math.isfinite(h) else None


def _h(row: Row) -> float:
    """Return h of the thresholded estimate, infinity where it was beyond all numbers."""
    return math.inf if row["h"] is None else float(row["h"])


def figure(table: Table) -> Figure:
    """Draw SHD, SHD-C, SID, TPR, h and the share of cyclic estimates against n, by graph and noise.

    Means of h leave out those beyond all numbers, which have no place on an axis; the verdict counts them.
    """
    table = [row | {"panel": f"{row['graph']} {row['noise']}"} for row in table]
    return figures.metric_rows(
        table, ("shd", "shd_c", "sid", "tpr", "h", "cyclic"), x="n", rows="panel", methods=present(table, METHODS),
        log_x=True, log_y=("shd", "shd_c", "sid", "h"),
    )  # fmt: skip


def verdicts(table: Table) -> list[Verdict]:
    """Judge the claims of section 5.1."""
    table = [row | _derived(row) for row in table]
    return [_many_samples(table), _gap(table), _without_dag(table), _where_it_helps(table), _acyclicity(table)]


def _derived(row: Row) -> Row:
    """Numbers that the claims are about, made of those of a row."""
    if row["status"] != DONE:
        return {}
    edges, missed = float(row["true_edges"] or 1), (1 - metric(row, "tpr")) * metric(row, "true_edges")
    return {
        "errors_per_edge": float(row["shd"] or 0) / edges,
        # True edges that are not there or turned around, less edges that are too many: both a node.
        "missed_less_extra": (2 * missed - float(row["shd"] or 0)) / float(row["d"] or 1),
        "log_h": math.log10(max(_h(row), _NO_H)) if math.isfinite(_h(row)) else _LOG_OVERFLOW,
    }


def _many_samples(table: Table) -> Verdict:
    names = ("golem-ev", "golem-ev-l1", "golem-ev-plain")
    if not is_there(table, *names):
        return not_run(CLAIMS[0], table, *names)
    most = distinct(table, "n")[-1]
    parts = []
    for graph in distinct(table, "graph"):
        rows = where(table, graph=graph, n=most)
        errors = {name: average(rows, "errors_per_edge", method=name) for name in names}
        tpr = {name: average(rows, "tpr", method=name) for name in names}
        outcomes = [within(errors[name], 0, _CLOSE) for name in names[:2]]
        outcomes += [within(tpr[name], _HIGH_TPR, math.inf) for name in names[:2]]
        outcomes.append(within(errors[names[2]], _CLOSE, math.inf))
        told = ", ".join(f"{name} {errors[name]} (TPR {tpr[name]})" for name in names)
        parts.append(Verdict(f"{graph}, n = {most}, SHD a true edge", told, all_hold(outcomes)))
    taken = Verdict("Close is taken as", f"at most {_CLOSE:g} errors a true edge, a high TPR as {_HIGH_TPR:g}", True)
    return join(CLAIMS[0], *parts, taken)


def _gap(table: Table) -> Verdict:
    """See whether the gap, whichever method is ahead with the fewest rows, is nearer to zero with the most."""
    if not is_there(table, "golem-ev", "golem-ev-l1"):
        return not_run(CLAIMS[1], table, "golem-ev", "golem-ev-l1")
    rows = distinct(table, "n")
    gaps = {n: paired(table, "shd", "golem-ev-l1", "golem-ev", n=n) for n in rows}
    change = interaction(table, "shd", "golem-ev-l1", "golem-ev", {"n": rows[-1]}, {"n": rows[0]})
    listed = ", ".join(f"n = {n}: {gap.signed()}" for n, gap in gaps.items())
    measured = f"SHD / d, golem-ev-l1 - golem-ev: {listed}; last less first {change.signed()}"
    first, last = gaps[rows[0]], gaps[rows[-1]]
    if is_lower(first) is None:
        # No gap to begin with: one at the end has grown, else there is nothing to see.
        return Verdict(CLAIMS[1], measured, None if is_lower(last) is None or is_lower(change) is None else False)
    shrinks = is_lower(change) if first.value > 0 else is_higher(change)
    return Verdict(CLAIMS[1], measured, False if shrinks and abs(last.value) >= abs(first.value) else shrinks)


def _without_dag(table: Table) -> Verdict:
    if not is_there(table, "golem-nv", "golem-nv-l1"):
        return not_run(CLAIMS[2], table, "golem-nv", "golem-nv-l1")
    parts = []
    for name, higher in (("tpr", True), ("shd", False)):
        measured = difference(table, name, "golem-nv-l1", "golem-nv")
        outcome = better(table, name, "golem-nv", "golem-nv-l1", higher=higher)
        parts.append(Verdict(metric_label(name), measured, outcome))
    more = paired(table, "missed_less_extra", "golem-nv-l1", "golem-nv")
    told = "True edges missed less false edges added by leaving out the penalty, a node"
    parts.append(Verdict(f"Above all the TPR. {told}", more.signed(), is_higher(more)))
    return join(CLAIMS[2], *parts)


def _where_it_helps(table: Table) -> Verdict:
    pair = ("golem-ev-l1", "golem-ev")
    if not is_there(table, *pair) or not {"ER1", "ER4"} <= set(distinct(table, "graph")):
        return not_run(CLAIMS[3], table, *pair)
    rows = distinct(table, "n")
    gains = [
        f"{graph}, n = {n}: {paired(table, 'shd', *pair, graph=graph, n=n).signed()}"
        for graph in ("ER1", "ER4")
        for n in (rows[0], rows[-1])
    ]
    few = interaction(table, "shd", *pair, {"n": rows[0]}, {"n": rows[-1]})
    dense = interaction(table, "shd", *pair, {"graph": "ER4"}, {"graph": "ER1"})
    return join(
        CLAIMS[3],
        Verdict("SHD / d saved by the DAG penalty", "; ".join(gains), is_higher(paired(table, "shd", *pair))),
        Verdict(f"More is saved with n = {rows[0]} than with {rows[-1]}", few.signed(), is_higher(few)),
        Verdict("More is saved on ER4 than on ER1", dense.signed(), is_higher(dense)),
    )


def _acyclicity(table: Table) -> Verdict:
    names = ("golem-ev", "golem-ev-l1", "golem-nv", "golem-nv-l1")
    parts = []
    for full, without in (names[:2], names[2:]):
        if not is_there(table, full, without):
            parts.append(not_run(full, table, full, without))
            continue
        told, outcomes = [], []
        for name in (full, without):
            rows = where(done(table), method=name)
            highest, cyclic = max(map(_h, rows), default=math.nan), average(rows, "cyclic")
            told.append(f"{name} at most {highest:.2g}, share of cyclic graphs {cyclic}")
            if name == full:
                # The highest is a number of these graphs: with enough of them it needs no interval.
                outcomes.append(None if cyclic.count < MIN_SEEDS else highest <= _LOW_H)
        less = paired(table, "log_h", full, without)
        outcomes.append(is_lower(less))
        told.append(f"log10 of h {full} - {without}: {less.signed()}, zero taken as {_NO_H:g}")
        parts.append(Verdict("h(B)", "; ".join(told), all_hold(outcomes)))
    return join(CLAIMS[4], *parts, Verdict("Low is taken as", f"at most {_LOW_H:g}", True))


EXPERIMENT = sweep.experiment(
    "constraints", "Figures 4 and 5, section 5.1", CLAIMS, tasks, figure, verdicts, run, run_batch
)
