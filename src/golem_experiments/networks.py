"""Beyond the paper: linear Gaussian networks from applications, ecoli70, magic-niab, magic-irri and arth150.

Graphs learned from real data with 44 to 107 nodes, unequal noise variances and small weights, unlike the paper's
simulations. Rows are drawn from the networks, n = 300, 1000 and 5000, and analysed raw and with standardized columns.
`network_files.py` says where the files come from. `--sizes` chooses networks by their number of nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from golem.data.moments import Moments
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.objective import graph_bic
from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, closer_with_rows, finished, judge, lower
from golem_experiments.analysis.comparisons import means
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import within
from golem_experiments.analysis.tables import average, distinct, paired
from golem_experiments.experiment import Grid, Row, Table, Task
from golem_experiments.learners import Learned, is_paper_recipe, measurements
from golem_experiments.network_files import digest, network_file, read_network

NETWORKS = ("ecoli70", "magic-niab", "magic-irri", "arth150")
EQUAL = ("order-ev", "golem-ev", "notears-l1", "sort-regress-var")
FLOPSEARCH = ("flopsearch", "flopsearch-mbic")
METHODS = ("order-nv", "order", *FLOPSEARCH, "fgs", "fgs-bic", "pc", *EQUAL, "golem-nv", "sort-regress-r2")
# A difference per node that counts as none.
_SAME = 0.02
_RAW = finished(columns="raw")


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all networks, numbers of rows, raw and standardized columns, seeds and methods.

    Methods of packages that are not installed are left out, unless they are asked for.

    Raises
    ------
    ValueError
        If the file of a network or a package that was asked for is missing.
    """
    found = []
    methods = [name for name in METHODS if sweep.is_installed(name, grid)]
    for name in grid.pick(NETWORKS, NETWORKS[:2], NETWORKS[:1]):
        path = network_file(name)
        d = read_network(path).d
        if grid.sizes is None or d in grid.sizes:
            found += sweep.tasks(
                "networks", grid, methods, seeds=grid.choose_seeds(quick=1), network=name,
                columns=("raw", "standardized"), d=d, n=grid.pick((300, 1000, 5000), (300, 1000), (200,)),
                steps=grid.pick(sweep.PAPER_STEPS, 2_000, 100), file=digest(path),
            )  # fmt: skip
    return found


def draw(task: Task) -> tuple[BoolMatrix, Matrix]:
    """Return the graph of a task and rows drawn from the network; raw and standardized columns share the draw."""
    cell: Any = task.cell
    sem = read_network(network_file(cell["network"]))
    return sem.adjacency, sweep.in_units(cell["columns"], sem.sample(cell["n"], random_state=task.seed))


def _measure(truth: BoolMatrix, rows: Matrix, learned: Learned) -> Row:
    """Measure the distances to the network, and the BIC of the learned graph minus that of the true one."""
    excess, member = math.inf, learned.estimate.member
    if member is not None:
        moments = Moments.from_rows(rows)
        bic = [graph_bic(graph, moments.covariance, moments.n) for graph in (member, truth)]
        excess = bic[0] - bic[1]
    return measurements(truth, learned) | {"excess_bic": excess if math.isfinite(excess) else None}


def _full_recipes(table: Table) -> Table:
    """Leave out the paper's recipe if it made fewer steps than in the paper, which says nothing about it."""
    if all(int(row["steps"] or 0) >= sweep.PAPER_STEPS for row in table):
        return table
    return [row for row in table if not is_paper_recipe(str(row["method"]))]


@judge("order", "order-nv", title="SHD-C / d, order - order-nv", criterion=f"at most {_SAME}", select=_RAW)
def _no_cost(table: Table) -> Iterable[Finding]:
    more = paired(table, "shd_c", "order", "order-nv")
    yield more.signed(), within(more, -math.inf, _SAME)


@judge("order-nv", title="BIC - BIC of the true graph", select=_RAW)
def _score(table: Table) -> Iterable[Finding]:
    run = [name for name in METHODS if name in distinct(table, "method")]
    yield means(table, "excess_bic", run), within(average(table, "excess_bic", method="order-nv"), -math.inf, 0.0)


CLAIMS = {
    "The order search with free noise variances (order-nv) has a lower SHD-C than methods that assume equal variances "
    "or read the order from the variances.": lower(
        "shd_c", *(("order-nv", name) for name in EQUAL), select=_full_recipes
    ),
    "order-nv has a lower SHD-C than FGS, with either score, and PC.": lower(
        "shd_c", *(("order-nv", name) for name in ("fgs", "fgs-bic", "pc")), select=_RAW
    ),
    "order-nv approaches the true equivalence class with more rows.": closer_with_rows("order-nv", select=_RAW),
    "The paper's recipe (golem-nv) is less accurate than order-nv, on raw and on standardized columns.": lower(
        "shd_c", ("order-nv", "golem-nv"), select=_full_recipes
    ),
    "Choosing the noise model from the data (order) costs nothing compared with order-nv.": _no_cost,
    "The score of the graph that order-nv finds is not worse than that of the true graph: the data give no evidence "
    "for what is missing.": _score,
    "order-nv is as accurate as flopsearch, with the settings that flopsearch recommends and with the same penalty "
    "per edge.": lower("shd_c", *(("order-nv", name) for name in FLOPSEARCH), margin=-_SAME, select=_RAW),
}
FIGURE = Panels(("shd_c", "tpr"), "n", ("network",), METHODS, columns="columns", log_x=True)
EXPERIMENT = sweep.experiment(
    "networks", "Beyond the paper: networks from applications", CLAIMS, tasks, FIGURE, data=draw, measure=_measure
)
