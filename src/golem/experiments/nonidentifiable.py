"""Figure 7, section 5.3: accuracy where the graph is not identifiable, under Gaussian noise of unequal variances.

ER1, ER2 and ER4 graphs, d = 10, 20, 50, 100, n = 1000, 12 simulations. The claims: GOLEM-NV improves much on GOLEM-EV,
and on NOTEARS-L1 where graphs are dense; of the two that assume equal variances NOTEARS-L1 is better on ER1 and
GOLEM-EV on ER4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem.experiments import sweep
from golem.experiments.analysis import figures
from golem.experiments.analysis.comparisons import (
    LARGE,
    MOST,
    claim_better,
    count_pairs,
    difference,
    is_there,
    join,
    not_run,
    present,
)
from golem.experiments.analysis.tables import where
from golem.experiments.engine.task import Grid, Task
from golem.experiments.experiment import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("golem-nv", "golem-ev", "notears-l1", "order-nv", "order-ev", "order")
CLAIMS = (
    "GOLEM-NV improves significantly on GOLEM-EV in most settings.",
    "GOLEM-NV beats NOTEARS-L1 by a large margin on denser graphs (ER2, ER4).",
    "NOTEARS-L1 does better than GOLEM-EV on sparse graphs (ER1), and GOLEM-EV better than NOTEARS-L1 on ER4.",
    "Beyond the paper: counting edges over orders recovers the equivalence class better than GOLEM-NV (SHD-C).",
)


def tasks(grid: Grid) -> list[Task]:
    """All cells, seeds and methods."""
    sizes = grid.choose_sizes((10, 20, 50, 100), (10, 20), (5,))
    graphs = grid.pick(("ER1", "ER2", "ER4"), ("ER1", "ER4"), ("ER1",))
    cells = [
        {"graph": graph, "noise": "gaussian-nv", "d": d, "n": 1000, "steps": sweep.steps(grid)}
        for graph in graphs
        for d in sizes
    ]
    return sweep.product("nonidentifiable", cells, grid.choose_seeds(quick=4), grid.choose_methods(METHODS))


def figure(table: Table) -> Figure:
    """Draw a row of panels for each graph: SHD, SHD-C, SID, TPR against d."""
    metrics = ("shd", "shd_c", "sid", "tpr")
    return figures.metric_rows(table, metrics, x="d", rows="graph", methods=present(table, METHODS), log_x=True)


def verdicts(table: Table) -> list[Verdict]:
    """Judge the claims of section 5.3."""
    return [
        _most_settings(table),
        _dense(table),
        join(
            CLAIMS[2],
            claim_better("ER1", table, "shd", [("notears-l1", "golem-ev")], graph="ER1"),
            claim_better("ER4", table, "shd", [("golem-ev", "notears-l1")], graph="ER4"),
        ),
        claim_better(CLAIMS[3], table, "shd_c", [("order-nv", "golem-nv"), ("order", "golem-nv")]),
    ]


def _most_settings(table: Table) -> Verdict:
    if not is_there(table, "golem-nv", "golem-ev"):
        return not_run(CLAIMS[0], table, "golem-nv", "golem-ev")
    found = count_pairs(table, "shd", ["golem-nv"], ["golem-ev"], ("graph", "d"))
    pooled = difference(table, "shd", "golem-nv", "golem-ev")
    measured = f"SHD of golem-nv against golem-ev, by graph and d: {found}. SHD / d over all, {pooled}"
    return Verdict(CLAIMS[0], measured, found.judge(MOST))


def _dense(table: Table) -> Verdict:
    """Ask for the margin on each of the denser graphs, over all sizes."""
    parts = []
    for graph in ("ER2", "ER4"):
        part = claim_better(graph, table, "shd", [("golem-nv", "notears-l1")], margin=LARGE, graph=graph)
        found = count_pairs(where(table, graph=graph), "shd", ["golem-nv"], ["notears-l1"], ("d",))
        parts.append(Verdict(graph, f"{part.measured}; by d: {found}" if found.total else part.measured, part.holds))
    return join(CLAIMS[1], *parts)


EXPERIMENT = sweep.experiment("nonidentifiable", "Figure 7, section 5.3", CLAIMS, tasks, figure, verdicts)
