"""Beyond the paper: the same data with its columns scaled to variance one.

In the paper's simulations the variance of a column grows along the causal order, and methods that compare variances
read the order from it (Reisach, Seiler and Weichwald 2021). Here each data set is analysed as drawn and standardized,
which changes the units and nothing else: ER2 and ER4 graphs, noise of equal and unequal variances, n = 1000. The
claims: methods that live on the units (GOLEM, NOTEARS, equal variances, sorting by variance) collapse; methods that do
not care for them (free variances over orders, FGS, PC, sorting by R2) find the same graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from golem.experiments import sweep
from golem.experiments.analysis import figures
from golem.experiments.analysis.comparisons import claim_better, missing, not_run, present
from golem.experiments.analysis.inference import Mean, all_hold, is_higher, within
from golem.experiments.analysis.tables import contrast, where
from golem.experiments.engine.task import Grid, Task
from golem.experiments.experiment import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BY_UNITS = ("golem-ev", "golem-nv", "notears-l1", "order-ev", "sort-regress-var")
SCALE_FREE = ("order-nv", "fgs", "pc", "sort-regress-r2")
METHODS = (*BY_UNITS, "order", *SCALE_FREE)
CLAIMS = (
    "Methods that live on the units of the columns lose accuracy when these are standardized.",
    "Scale-free methods find the same equivalence class on standardized columns (SHD-C).",
    "Letting the data choose the noise model (order) does not collapse: on standardized columns it stays below the "
    "methods that live on units (SHD-C).",
)
# A difference a node, of two or four edges a node, that is taken as none.
_SAME = 0.02


def tasks(grid: Grid) -> list[Task]:
    """All cells, seeds and methods."""
    sizes = grid.choose_sizes((20, 50, 100), (10, 20), (6,))
    cells = [
        {"graph": graph, "noise": noise, "columns": columns, "d": d, "n": 1000, "steps": sweep.steps(grid)}
        for graph in grid.pick(("ER2", "ER4"), ("ER2",), ("ER2",))
        for noise in grid.pick(("gaussian-ev", "gaussian-nv"), ("gaussian-ev", "gaussian-nv"), ("gaussian-ev",))
        for columns in ("raw", "standardized")
        for d in sizes
    ]
    return sweep.product("standardized", cells, grid.choose_seeds(quick=3), grid.choose_methods(METHODS))


def figure(table: Table) -> Figure:
    """Draw SHD, SHD-C and TPR of each method from raw to standardized columns, by graph, noise and d."""
    table = [row | {"panel": f"{row['graph']} {row['noise']}"} for row in table]
    return figures.metric_grids(
        table, ("shd", "shd_c", "tpr"), x="columns", rows="panel", columns="d", methods=present(table, METHODS),
        across=3,
    )  # fmt: skip


def verdicts(table: Table) -> list[Verdict]:
    """Judge what was expected."""
    others = [name for name in BY_UNITS if name != "sort-regress-var"]
    pairs = [("order", name) for name in others]
    return [
        _loss(table),
        _same(table),
        claim_better(CLAIMS[2], table, "shd_c", pairs, columns="standardized"),
    ]


def _loss(table: Table) -> Verdict:
    gaps = _gaps(table, "shd", BY_UNITS)
    outcomes = [is_higher(gap) for gap in gaps.values()]
    return _told(CLAIMS[0], table, BY_UNITS, gaps, "SHD / d, standardized - raw", outcomes)


def _same(table: Table) -> Verdict:
    gaps = _gaps(table, "shd_c", SCALE_FREE)
    outcomes = [within(gap, -_SAME, _SAME) for gap in gaps.values()]
    title = f"SHD-C / d, standardized - raw, the same up to {_SAME}"
    return _told(CLAIMS[1], table, SCALE_FREE, gaps, title, outcomes)


def _told(
    claim: str, table: Table, methods: Sequence[str], gaps: dict[str, Mean], title: str, outcomes: list[bool | None]
) -> Verdict:
    """Put methods together: all have to agree, and those that were not run leave it open."""
    if not gaps:
        return not_run(claim, table, *methods)
    measured = f"{title}: {'; '.join(f'{name} {gap.signed()}' for name, gap in gaps.items())}"
    if absent := missing(table, *methods):
        return Verdict(claim, f"{measured}. {absent}", all_hold([*outcomes, None]))
    return Verdict(claim, measured, all_hold(outcomes))


def _gaps(table: Table, name: str, methods: Sequence[str]) -> dict[str, Mean]:
    """Standardized minus raw, on the same data sets, of each method that has both."""
    on = ("graph", "noise", "d", "method")
    columns = {"columns": "standardized"}, {"columns": "raw"}
    gaps = {method: contrast(where(table, method=method), name, *columns, on) for method in present(table, methods)}
    return {method: gap for method, gap in gaps.items() if gap.count}


EXPERIMENT = sweep.experiment(
    "standardized", "Beyond the paper: columns in other units", CLAIMS, tasks, figure, verdicts
)
