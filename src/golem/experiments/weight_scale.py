"""Figure 9, section 5.5: sensitivity to the scale of the weights.

ER2 graphs of 50 nodes, Gaussian noise of equal variances, n = 1000, weights from alpha ([-2, -0.5] u [0.5, 2]) with
alpha = 0.3, 0.4, ..., 1.0, and the threshold at 0.1 for all methods that have one. The claims: GOLEM-EV has low SHD and
SID at all scales; NOTEARS-L1 has a low TPR at small scales and a high SHD at large ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from golem.experiments import sweep
from golem.experiments.analysis import figures
from golem.experiments.analysis.comparisons import (
    better,
    claim_better,
    difference,
    is_there,
    means,
    metric_label,
    not_run,
    present,
)
from golem.experiments.analysis.inference import all_hold, within
from golem.experiments.analysis.tables import average, distinct, metric
from golem.experiments.engine.task import Grid, Task
from golem.experiments.experiment import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
METHODS = ("golem-ev", "notears-l1", "order-ev", "order")
CLAIMS = (
    "GOLEM-EV has consistently low SHD and SID over the scales: it is robust to weight scaling.",
    "NOTEARS-L1 has a low TPR at small weight scales.",
    "NOTEARS-L1 has a high SHD at large weight scales.",
    "Beyond the paper: counting edges over orders needs no threshold, and has a lower SHD than GOLEM-EV.",
)
# Errors a node that still count as low: a tenth of the true edges of these graphs, which have two a node.
_LOW = 0.2
# Errors a node that count as high: a quarter of the true edges.
_HIGH = 0.5
# A share of the true edges that counts as low.
_LOW_TPR = 0.8
# A share of the pairs with a wrong intervention distribution that counts as low.
_LOW_SID = 0.05


def tasks(grid: Grid) -> list[Task]:
    """All scales, seeds and methods."""
    sizes = grid.choose_sizes((50,), (15,), (5,))
    scales = grid.pick(SCALES, (0.3, 0.5, 0.7, 1.0), (0.3, 1.0))
    cells = [
        {
            "graph": "ER2", "noise": "gaussian-ev", "d": d, "n": 1000, "weight_scale": scale, "threshold": 0.1,
            "steps": sweep.steps(grid),
        }
        for d in sizes
        for scale in scales
    ]  # fmt: skip
    return sweep.product("weight-scale", cells, grid.choose_seeds(quick=4), grid.choose_methods(METHODS))


def figure(table: Table) -> Figure:
    """Draw a row of panels for each size: SHD, SHD-C, SID, TPR against the scale."""
    metrics = ("shd", "shd_c", "sid", "tpr")
    return figures.metric_rows(table, metrics, x="weight_scale", rows="d", methods=present(table, METHODS))


def verdicts(table: Table) -> list[Verdict]:
    """Judge the claims of section 5.5."""
    scales = distinct(table, "weight_scale")
    table = [row | {"wrong_pairs": metric(row, "sid") / (float(row["d"] or 0) - 1)} for row in table]
    small, large = scales[: len(scales) // 2], scales[-(len(scales) // 2) :]
    return [
        _robust(table, scales),
        _notears(CLAIMS[1], table, "tpr", small, 0, _LOW_TPR),
        _notears(CLAIMS[2], table, "shd", large, _HIGH, math.inf),
        claim_better(CLAIMS[3], table, "shd", [("order-ev", "golem-ev"), ("order", "golem-ev")]),
    ]


def _robust(table: Table, scales: list[float]) -> Verdict:
    """Ask for few errors at every scale, in edges and in intervention distributions."""
    if not is_there(table, "golem-ev"):
        return not_run(CLAIMS[0], table, "golem-ev")
    parts, outcomes = [], []
    for scale in scales:
        shd, sid = (average(table, name, method="golem-ev", weight_scale=scale) for name in ("shd", "wrong_pairs"))
        outcomes += [within(shd, 0, _LOW), within(sid, 0, _LOW_SID)]
        per_node = average(table, "sid", method="golem-ev", weight_scale=scale)
        parts.append(f"alpha {scale:g}: SHD / d {shd}, SID / d {per_node} ({sid} of the pairs)")
    measured = f"{'; '.join(parts)}. Low is at most {_LOW} errors a node, and a SID of {_LOW_SID} of the pairs"
    return Verdict(CLAIMS[0], measured, all_hold(outcomes))


def _notears(claim: str, table: Table, metric: str, scales: list[float], low: float, high: float) -> Verdict:
    """Ask that a number of NOTEARS-L1 lies between bounds at some scales, and is worse than that of GOLEM-EV."""
    if not is_there(table, "golem-ev", "notears-l1"):
        return not_run(claim, table, "golem-ev", "notears-l1")
    worse = better(table, metric, "golem-ev", "notears-l1", higher=metric == "tpr", weight_scale=scales)
    own = average(table, metric, method="notears-l1", weight_scale=scales)
    values = "; ".join(
        f"alpha {scale:g}: {means(table, metric, ('notears-l1', 'golem-ev'), weight_scale=scale)}" for scale in scales
    )
    overall = difference(table, metric, "notears-l1", "golem-ev", weight_scale=scales)
    asked = f"above {low:g}" if low > 0 else f"below {high:g}"
    measured = f"{metric_label(metric)}: {values}. Over these notears-l1 {own}, asked for {asked}; {overall}"
    return Verdict(claim, measured, all_hold([worse, within(own, low, high)]))


EXPERIMENT = sweep.experiment("weight-scale", "Figure 9, section 5.5", CLAIMS, tasks, figure, verdicts)
