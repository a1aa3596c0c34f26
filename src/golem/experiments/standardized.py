"""Beyond the paper: the same data with its columns scaled to variance one.

In the paper's simulations the variance of a column grows along the causal order, and methods that compare variances
read the order from it (Reisach, Seiler and Weichwald 2021). Here each data set is analysed as drawn and standardized,
which changes the units and nothing else: ER2 and ER4 graphs, noise of equal and unequal variances, n = 1000. The
claims: methods that live on the units (GOLEM, NOTEARS, equal variances, sorting by variance) collapse; methods that do
not care for them (free variances over orders, FGS, PC, sorting by R2) find the same graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem.experiments import comparisons, figures, sweep
from golem.experiments.comparisons import claim_better, present, signed
from golem.experiments.experiment import Experiment, Table, Verdict
from golem.experiments.tables import Mean, all_hold, done, is_lower, mean, metric, where
from golem.experiments.task import Grid, Task

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
    """Draw SHD, SHD-C and TPR against d: raw beside standardized columns, by noise; graphs together."""
    table = [row | {"panel": f"{row['graph']} {row['noise']}"} for row in table]
    return figures.metric_grids(
        table, ("shd", "shd_c", "tpr"), x="d", rows="panel", columns="columns", methods=present(table, METHODS),
        log_x=True, across=3,
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
    gaps = {name: _gap(table, "shd", name) for name in present(table, BY_UNITS)}
    gaps = {name: gap for name, gap in gaps.items() if gap.count}
    if not gaps:
        return Verdict(CLAIMS[0], comparisons.NOT_RUN, None)
    measured = "; ".join(f"{name} {signed(gap)}" for name, gap in gaps.items())
    lower = [is_lower(gap) for gap in gaps.values()]
    return Verdict(
        CLAIMS[0],
        f"SHD / d, standardized - raw: {measured}",
        all_hold(None if outcome is None else not outcome for outcome in lower),
    )


def _same(table: Table) -> Verdict:
    gaps = {name: _gap(table, "shd_c", name) for name in present(table, SCALE_FREE)}
    gaps = {name: gap for name, gap in gaps.items() if gap.count}
    if not gaps:
        return Verdict(CLAIMS[1], comparisons.NOT_RUN, None)
    measured = "; ".join(f"{name} {signed(gap)}" for name, gap in gaps.items())
    return Verdict(
        CLAIMS[1],
        f"SHD-C / d, standardized - raw: {measured}",
        all(abs(gap.value) <= _SAME + 2 * gap.error for gap in gaps.values()),
    )


def _gap(table: Table, name: str, method: str) -> Mean:
    """Standardized minus raw, on the same data sets."""
    rows = where(done(table), method=method)
    raw = {(row["graph"], row["noise"], row["d"], row["seed"]): metric(row, name) for row in where(rows, columns="raw")}
    scaled = where(rows, columns="standardized")
    places = [(row["graph"], row["noise"], row["d"], row["seed"]) for row in scaled]
    return mean(metric(row, name) - raw[place] for row, place in zip(scaled, places, strict=True) if place in raw)


EXPERIMENT = Experiment(
    "standardized",
    "Beyond the paper: columns in other units",
    CLAIMS,
    tasks,
    sweep.run_task,
    figure,
    verdicts,
    sweep.prepare,
    sweep.shape,
    sweep.run_batch,
)
