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

from golem import metrics
from golem.acyclicity import Expm
from golem.estimator import PAPER_THRESHOLD
from golem.experiments import comparisons, figures, sweep
from golem.experiments.comparisons import better, difference, is_there, join, means, present
from golem.experiments.experiment import Experiment, Table, Verdict
from golem.experiments.learners import Learned, learn, measurements
from golem.experiments.tables import average, distinct, paired, where
from golem.experiments.task import Grid, Row, Task
from golem.graph import is_dag
from golem.rounding import round_to_dag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from golem.simulate import Simulation

METHODS = ("golem-ev", "golem-ev-l1", "golem-ev-plain", "golem-nv", "golem-nv-l1", "golem-nv-plain")
CLAIMS = (
    "Equal variances, many samples: GOLEM-EV and GOLEM-EV-L1 come close to the true graph with a high TPR, "
    "GOLEM-EV-Plain does not.",
    "Equal variances: the gap between GOLEM-EV-L1 and GOLEM-EV gets smaller with more samples.",
    "Unequal variances: GOLEM-NV-L1 is worse than GOLEM-NV without the DAG penalty, above all in its TPR.",
    "The DAG penalty helps most with few samples and on dense graphs (equal variances).",
    "With both penalties h(B) is low in all settings, and lower than without the DAG penalty.",
)
_HIGH_TPR, _LOW_H = 0.9, 1e-2


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
    """Draw SHD, SHD-C, SID, TPR, h and the share of cyclic estimates against n, by graph and noise."""
    table = [row | {"panel": f"{row['graph']} {row['noise']}"} for row in table]
    return figures.metric_rows(
        table, ("shd", "shd_c", "sid", "tpr", "h", "cyclic"), x="n", rows="panel", methods=present(table, METHODS),
        log_x=True, log_y=("shd", "shd_c", "sid", "h"),
    )  # fmt: skip


def verdicts(table: Table) -> list[Verdict]:
    """Judge the claims of section 5.1."""
    return [_many_samples(table), _gap(table), _without_dag(table), _where_it_helps(table), _acyclicity(table)]


def _many_samples(table: Table) -> Verdict:
    if not is_there(table, "golem-ev", "golem-ev-l1", "golem-ev-plain"):
        return Verdict(CLAIMS[0], comparisons.NOT_RUN, None)
    most = distinct(table, "n")[-1]
    names = ("golem-ev", "golem-ev-l1", "golem-ev-plain")
    tpr = {name: average(table, "tpr", method=name, n=most).value for name in names}
    measured = f"n = {most}, SHD / d: {means(table, 'shd', names, n=most)}; TPR: {means(table, 'tpr', names, n=most)}"
    worse = [better(table, "shd", name, "golem-ev-plain", n=most) for name in names[:2]]
    holds = None if None in worse else all(worse) and min(tpr["golem-ev"], tpr["golem-ev-l1"]) >= _HIGH_TPR
    return Verdict(CLAIMS[0], f"{measured}. A TPR of {_HIGH_TPR} is taken as high.", holds)


def _gap(table: Table) -> Verdict:
    if not is_there(table, "golem-ev", "golem-ev-l1"):
        return Verdict(CLAIMS[1], comparisons.NOT_RUN, None)
    rows = distinct(table, "n")
    gaps = {n: paired(table, "shd", "golem-ev-l1", "golem-ev", n=n) for n in rows}
    listed = ", ".join(f"n = {n}: {gap.value:+.3g} ± {gap.error:.2g}" for n, gap in gaps.items())
    first, last = gaps[rows[0]], gaps[rows[-1]]
    change, error = last.value - first.value, math.hypot(first.error, last.error)
    holds = None if min(first.count, last.count) < 3 or abs(change) < 2 * error else change < 0
    return Verdict(CLAIMS[1], f"SHD / d, golem-ev-l1 - golem-ev: {listed}", holds)


def _without_dag(table: Table) -> Verdict:
    if not is_there(table, "golem-nv", "golem-nv-l1"):
        return Verdict(CLAIMS[2], comparisons.NOT_RUN, None)
    parts = []
    for name, higher in (("tpr", True), ("shd", False)):
        measured = difference(table, name, "golem-nv-l1", "golem-nv")
        outcome = better(table, name, "golem-nv", "golem-nv-l1", higher=higher)
        parts.append(Verdict(comparisons.metric_label(name), measured, outcome))
    return join(CLAIMS[2], *parts)


def _where_it_helps(table: Table) -> Verdict:
    if not is_there(table, "golem-ev", "golem-ev-l1") or not {"ER1", "ER4"} <= set(distinct(table, "graph")):
        return Verdict(CLAIMS[3], comparisons.NOT_RUN, None)
    rows = distinct(table, "n")
    gain = {
        (graph, n): paired(table, "shd", "golem-ev-l1", "golem-ev", graph=graph, n=n)
        for graph in ("ER1", "ER4")
        for n in (rows[0], rows[-1])
    }
    listed = "; ".join(f"{graph}, n = {n}: {gap.value:+.3g} ± {gap.error:.2g}" for (graph, n), gap in gain.items())
    few, many = (sum(gain[graph, n].value for graph in ("ER1", "ER4")) for n in (rows[0], rows[-1]))
    dense, sparse = (sum(gain[graph, n].value for n in (rows[0], rows[-1])) for graph in ("ER4", "ER1"))
    enough = min(gap.count for gap in gain.values()) >= 3
    measured = f"SHD / d saved by the DAG penalty (golem-ev-l1 - golem-ev): {listed}"
    return Verdict(CLAIMS[3], measured, few > many and dense > sparse if enough else None)


def _acyclicity(table: Table) -> Verdict:
    pairs = [pair for pair in (("golem-ev", "golem-ev-l1"), ("golem-nv", "golem-nv-l1")) if is_there(table, *pair)]
    if not pairs:
        return Verdict(CLAIMS[4], comparisons.NOT_RUN, None)
    names = [name for pair in pairs for name in pair]
    highest = {
        name: max((_h(row) for row in where(table, method=name, status="done")), default=math.nan) for name in names
    }
    cyclic = {name: average(table, "cyclic", method=name) for name in names}
    measured = "; ".join(
        f"{name}: h at most {highest[name]:.2g}, share of cyclic graphs {cyclic[name]}" for name in names
    )
    holds = all(highest[full] <= _LOW_H and highest[full] < highest[without] for full, without in pairs)
    return Verdict(CLAIMS[4], f"{measured}. Low is taken as at most {_LOW_H:g}.", holds)


EXPERIMENT = Experiment(
    "constraints", "Figures 4 and 5, section 5.1", CLAIMS, tasks, run, figure, verdicts, sweep.prepare, sweep.shape,
    run_batch,
)  # fmt: skip
