"""Beyond the paper: the same data with columns scaled to variance one.

In the paper's simulations the variance of a column grows along the causal order, and methods that compare variances
read the order from it (Reisach, Seiler and Weichwald 2021). Here each data set is analysed as drawn and standardized,
which changes nothing but the units: ER2 and ER4 graphs, noise of equal and unequal variances, n = 1000. The claims:
methods that depend on the units (GOLEM, NOTEARS, equal variances, sorting by variance) lose their accuracy; methods
that do not (free variances over orders, FGS, PC, sorting by R2) find the same graph.
"""

from __future__ import annotations

from collections.abc import Iterable

from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, finished, judge, lower
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import Mean, is_higher, within
from golem_experiments.analysis.tables import contrast, where
from golem_experiments.experiment import Grid, Table, Task

BY_UNITS = ("golem-ev", "golem-nv", "notears-l1", "order-ev", "sort-regress-var")
SCALE_FREE = ("order-nv", "fgs", "fgs-bic", "pc", "sort-regress-r2")
METHODS = (*BY_UNITS, "order", *SCALE_FREE)
# A difference per node that counts as none; these graphs have two or four edges per node.
_SAME = 0.02


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all cells, seeds and methods."""
    return sweep.tasks(
        "standardized", grid, METHODS, seeds=grid.choose_seeds(quick=3),
        graph=grid.pick(("ER2", "ER4"), ("ER2",), ("ER2",)),
        noise=grid.pick(("gaussian-ev", "gaussian-nv"), ("gaussian-ev", "gaussian-nv"), ("gaussian-ev",)),
        columns=("raw", "standardized"), d=grid.choose_sizes((20, 50, 100), (10, 20), (6,)), n=1000,
    )  # fmt: skip


def _gaps(table: Table, metric: str, methods: tuple[str, ...]) -> Iterable[tuple[str, Mean]]:
    """Yield the difference between standardized and raw columns, on the same data, for each method that has both."""
    columns = {"columns": "standardized"}, {"columns": "raw"}
    for method in methods:
        gap = contrast(where(table, method=method), metric, *columns, ("graph", "noise", "d", "method"))
        if gap.count:
            yield f"{method} {gap.signed()}", gap


@judge(*BY_UNITS, title="SHD / d, standardized - raw", partial=True)
def _loss(table: Table) -> Iterable[Finding]:
    return ((text, is_higher(gap)) for text, gap in _gaps(table, "shd", BY_UNITS))


@judge(*SCALE_FREE, title="SHD-C / d, standardized - raw", criterion=f"at most {_SAME}", partial=True)
def _same(table: Table) -> Iterable[Finding]:
    return ((text, within(gap, -_SAME, _SAME)) for text, gap in _gaps(table, "shd_c", SCALE_FREE))


CLAIMS = {
    "Methods that depend on the units of the columns lose accuracy when these are standardized.": _loss,
    "Scale-free methods find the same equivalence class on standardized columns (SHD-C).": _same,
    "Choosing the noise model from the data (order) does not fail: on standardized columns its SHD-C stays below that "
    "of the methods that depend on the units.": lower(
        "shd_c",
        *(("order", name) for name in BY_UNITS if name != "sort-regress-var"),
        select=finished(columns="standardized"),
    ),
}
FIGURE = Panels(("shd", "shd_c", "tpr"), "columns", ("graph", "noise"), METHODS, columns="d", across=3)
EXPERIMENT = sweep.experiment("standardized", "Beyond the paper: columns in other units", CLAIMS, tasks, FIGURE)
