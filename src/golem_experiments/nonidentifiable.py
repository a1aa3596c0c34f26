"""Figure 7, section 5.3: accuracy if the graph is not identifiable, under Gaussian noise of unequal variances.

ER1, ER2 and ER4 graphs, d = 10, 20, 50, 100, n = 1000, 12 simulations. The claims: GOLEM-NV improves much on GOLEM-EV,
and on NOTEARS-L1 if graphs are dense. Of the two that assume equal variances NOTEARS-L1 is better on ER1 and GOLEM-EV
on ER4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, below, judge, lower
from golem_experiments.analysis.comparisons import LARGE, MOST, count_pairs, difference
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import is_lower
from golem_experiments.analysis.tables import paired, where
from golem_experiments.experiment import Grid, Table, Task

PAPER_METHODS = ("golem-nv", "golem-ev", "notears-l1")
METHODS = (*PAPER_METHODS, "order-nv", "order-ev", "order")


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all cells, seeds and methods."""
    return sweep.tasks(
        "nonidentifiable", grid, METHODS, seeds=grid.choose_seeds(quick=4),
        graph=grid.pick(("ER1", "ER2", "ER4"), ("ER1", "ER4"), ("ER1",)), noise="gaussian-nv",
        d=grid.choose_sizes((10, 20, 50, 100), (10, 20), (5,)), n=1000,
    )  # fmt: skip


@judge("golem-nv", "golem-ev", title="SHD / d of golem-nv compared with golem-ev")
def _most_settings(table: Table) -> Iterable[Finding]:
    found = count_pairs(table, "shd", ["golem-nv"], ["golem-ev"], ("graph", "d"))
    pooled = difference(table, "shd", "golem-nv", "golem-ev")
    yield f"by graph and d: {found}. Over all, {pooled}", found.judge(MOST), found.reason


@judge("golem-nv", "notears-l1", title="SHD / d", criterion=f"lower by {LARGE} or more")
def _dense(table: Table) -> Iterable[Finding]:
    """Check for the margin on each of the denser graphs, over all sizes."""
    for graph in ("ER2", "ER4"):
        gap = paired(table, "shd", "golem-nv", "notears-l1", graph=graph)
        found = count_pairs(where(table, graph=graph), "shd", ["golem-nv"], ["notears-l1"], ("d",))
        yield f"{graph} golem-nv - notears-l1: {gap.signed()}, by d {found}", below(gap, LARGE)


@judge("notears-l1", "golem-ev", title="SHD / d")
def _sparse_and_dense(table: Table) -> Iterable[Finding]:
    for graph, pair in (("ER1", ("notears-l1", "golem-ev")), ("ER4", ("golem-ev", "notears-l1"))):
        found = paired(table, "shd", *pair, graph=graph)
        yield f"{graph} {pair[0]} - {pair[1]}: {found.signed()}", is_lower(found)


CLAIMS = {
    "GOLEM-NV improves significantly on GOLEM-EV in most settings.": _most_settings,
    "GOLEM-NV beats NOTEARS-L1 by a large margin on denser graphs (ER2, ER4).": _dense,
    "NOTEARS-L1 does better than GOLEM-EV on sparse graphs (ER1), and GOLEM-EV better than NOTEARS-L1 on "
    "ER4.": _sparse_and_dense,
    "Beyond the paper: the order search recovers the equivalence class better than GOLEM-NV (SHD-C).": lower(
        "shd_c", ("order-nv", "golem-nv"), ("order", "golem-nv")
    ),
}
ALL_METHODS = Panels(("shd", "shd_c", "sid", "tpr"), "d", ("graph",), METHODS, log_x=True)
FIGURE = replace(ALL_METHODS, methods=PAPER_METHODS)
EXPERIMENT = sweep.experiment("nonidentifiable", "Figure 7, section 5.3", CLAIMS, tasks, FIGURE, ALL_METHODS)
