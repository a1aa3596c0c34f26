"""Figure 9, section 5.5: sensitivity to the scale of the weights.

ER2 graphs of 50 nodes, Gaussian noise of equal variances, n = 1000, weights from alpha ([-2, -0.5] u [0.5, 2]) with
alpha = 0.3, 0.4, ..., 1.0, and the threshold at 0.1 for all methods that have one. The claims: GOLEM-EV has low SHD and
SID at all scales; NOTEARS-L1 has a low TPR at small scales and a high SHD at large ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, Judge, judge, lower
from golem_experiments.analysis.comparisons import better, difference, means
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import within
from golem_experiments.analysis.tables import average, distinct, label, metric
from golem_experiments.experiment import Grid, Table, Task

SCALES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PAPER_METHODS = ("golem-ev", "notears-l1")
METHODS = (*PAPER_METHODS, "order-ev", "order")
# Errors per node that count as low and as high: a tenth and a quarter of the true edges, two per node in these graphs.
_LOW, _HIGH = 0.2, 0.5
# Shares that count as low: of the true edges, and of the pairs with a wrong intervention distribution.
_LOW_TPR, _LOW_SID = 0.8, 0.05


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all scales, seeds and methods."""
    return sweep.tasks(
        "weight-scale", grid, METHODS, seeds=grid.choose_seeds(quick=4), graph="ER2", noise="gaussian-ev",
        d=grid.choose_sizes((50,), (15,), (5,)), n=1000,
        weight_scale=grid.pick(SCALES, (0.3, 0.5, 0.7, 1.0), (0.3, 1.0)), threshold=0.1,
    )  # fmt: skip


@judge("golem-ev", criterion=f"at most {_LOW} errors per node, and a SID of at most {_LOW_SID} of the pairs")
def _robust(table: Table) -> Iterable[Finding]:
    """Check for few errors at every scale, in edges and in intervention distributions."""
    table = [row | {"wrong_pairs": metric(row, "sid") / (float(row["d"] or 0) - 1)} for row in table]
    for scale in distinct(table, "weight_scale"):
        shd, sid, pairs = (
            average(table, name, method="golem-ev", weight_scale=scale) for name in ("shd", "sid", "wrong_pairs")
        )
        yield f"alpha {scale:g}: SHD / d {shd}", within(shd, 0, _LOW)
        yield f"SID / d {sid} ({pairs} of the pairs)", within(pairs, 0, _LOW_SID)


def _notears(metric: str, low: float, high: float, criterion: str) -> Judge:
    """Judge whether NOTEARS-L1 is within bounds and worse than GOLEM-EV: its TPR at small scales, its SHD at large."""

    @judge("golem-ev", "notears-l1", title=label(metric), criterion=f"{criterion} than that of golem-ev")
    def findings(table: Table) -> Iterable[Finding]:
        scales = distinct(table, "weight_scale")
        scales = scales[: len(scales) // 2] if metric == "tpr" else scales[-(len(scales) // 2) :]
        values = [
            f"alpha {scale:g}: {means(table, metric, ('notears-l1', 'golem-ev'), weight_scale=scale)}"
            for scale in scales
        ]
        own = average(table, metric, method="notears-l1", weight_scale=scales)
        yield f"{'; '.join(values)}. Over these scales notears-l1 {own}", within(own, low, high)
        outcome = better(table, metric, "golem-ev", "notears-l1", higher=metric == "tpr", weight_scale=scales)
        yield difference(table, metric, "notears-l1", "golem-ev", weight_scale=scales), outcome

    return findings


CLAIMS = {
    "GOLEM-EV has consistently low SHD and SID over the scales: it is robust to weight scaling.": _robust,
    "NOTEARS-L1 has a low TPR at small weight scales.": _notears("tpr", 0, _LOW_TPR, f"below {_LOW_TPR}, and lower"),
    "NOTEARS-L1 has a high SHD at large weight scales.": _notears("shd", _HIGH, math.inf, f"above {_HIGH}, and higher"),
    "Beyond the paper: the order search needs no threshold, and has a lower SHD than GOLEM-EV.": lower(
        "shd", ("order-ev", "golem-ev"), ("order", "golem-ev")
    ),
}
ALL_METHODS = Panels(("shd", "shd_c", "sid", "tpr"), "weight_scale", ("d",), METHODS)
FIGURE = replace(ALL_METHODS, methods=PAPER_METHODS)
EXPERIMENT = sweep.experiment("weight-scale", "Figure 9, section 5.5", CLAIMS, tasks, FIGURE, ALL_METHODS)
