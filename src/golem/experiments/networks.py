"""Beyond the paper: linear Gaussian networks from applications, ecoli70, magic-niab, magic-irri and arth150.

Graphs learned from real data with 44 to 107 nodes, unequal noise variances and small weights: none of it as in the
paper's simulations. Rows are drawn from the networks, n = 300, 1000 and 5000, and analysed as they are and with
standardized columns. `network_files.py` says where the files come from. `--sizes` chooses networks by their number of
nodes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from golem.data.moments import Moments
from golem.experiments import sweep
from golem.experiments.analysis import figures
from golem.experiments.analysis.comparisons import claim_better, is_there, means, not_run, present
from golem.experiments.analysis.inference import all_hold, is_lower, within
from golem.experiments.analysis.tables import average, contrast, distinct, done, paired, where
from golem.experiments.engine.task import Grid, Row, Task
from golem.experiments.experiment import Experiment, Table, Verdict
from golem.experiments.learners import Learned, is_paper_recipe, learn, learn_batch, measurements
from golem.experiments.network_files import digest, network_file, read_network
from golem.model.linear_sem import LinearSEM
from golem.runtime.types import Matrix
from golem.score.objective import graph_bic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NETWORKS = ("ecoli70", "magic-niab", "magic-irri", "arth150")
FREE = ("order-nv", "order", "fgs", "pc")
EQUAL = ("order-ev", "golem-ev", "notears-l1", "sort-regress-var")
METHODS = (*FREE, *EQUAL, "golem-nv", "sort-regress-r2")
CLAIMS = (
    "With free noise variances over orders (order-nv) the SHD-C is lower than with methods that assume equal variances "
    "or read the order from the variances.",
    "order-nv has a lower SHD-C than FGS and PC.",
    "order-nv approaches the true class with more rows.",
    "The paper's recipe (golem-nv) is behind order-nv, on raw and on standardized columns.",
    "Letting the data choose the noise model (order) costs nothing against order-nv.",
    "The score of the graph that order-nv finds is not worse than that of the true graph: what is missing, the data do "
    "not show.",
)
# A difference a node that is taken as none.
_SAME = 0.02


def tasks(grid: Grid) -> list[Task]:
    """All networks, numbers of rows, columns as they are and standardized, seeds and methods.

    Raises
    ------
    ValueError
        If the file of a network is missing.
    """
    cells: list[dict[str, Any]] = []
    for name in grid.pick(NETWORKS, NETWORKS[:2], NETWORKS[:1]):
        path = network_file(name)
        d = read_network(path).d
        if grid.sizes is not None and d not in grid.sizes:
            continue
        for n in grid.pick((300, 1000, 5000), (300, 1000), (200,)):
            for columns in ("raw", "standardized"):
                cell = {"network": name, "columns": columns, "d": d, "n": n, "steps": grid.pick(100_000, 2_000, 100)}
                cells.append(cell | {"file": digest(path)})
    return sweep.product("networks", cells, grid.choose_seeds(quick=1), grid.choose_methods(METHODS))


def draw(task: Task) -> tuple[LinearSEM, Matrix]:
    """Return the network of a task, and rows drawn from it: the same whatever becomes of the columns."""
    cell: Any = task.cell
    sem = read_network(network_file(cell["network"]))
    X = sem.sample(cell["n"], random_state=task.seed)
    if cell["columns"] == "standardized":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return sem, X


def measured(sem: LinearSEM, X: Matrix, learned: Learned) -> Row:
    """Return the distances to the network, and the BIC of the learned graph less that of the true one."""
    row = measurements(sem.adjacency, learned)
    member = learned.estimate.member
    if member is None:
        return row | {"excess_bic": None}
    moments = Moments.from_rows(X)
    S, n = moments.covariance, moments.n
    bic = [graph_bic(graph, S, n) for graph in (member, sem.adjacency)]
    return row | {"excess_bic": bic[0] - bic[1] if math.isfinite(bic[0]) else None}


def run(task: Task) -> Row:
    """Draw, learn and measure."""
    sem, X = draw(task)
    return measured(sem, X, learn(task.method, task.cell, X))


def run_batch(tasks: list[Task], device: str) -> list[Row]:
    """Draw, learn all in one stack, and measure."""
    drawn = [draw(task) for task in tasks]
    learned = learn_batch(tasks[0].method, tasks[0].cell, [X for _, X in drawn], device)
    return [measured(sem, X, one) for (sem, X), one in zip(drawn, learned, strict=True)]


def shape(task: Task) -> Hashable:
    """Batches have one size and number of rows; only the recipe takes them."""
    cell = task.cell
    return (task.method, cell["d"], cell["n"], cell["steps"]) if is_paper_recipe(task.method) else None


def figure(table: Table) -> Figure:
    """Draw SHD-C, TPR and time against n, networks down, raw and standardized columns across."""
    return figures.metric_grids(
        table, ("shd_c", "tpr", "fit_seconds"), x="n", rows="network", columns="columns",
        methods=present(table, METHODS), log_x=True, log_y=("fit_seconds",), across=3,
    )  # fmt: skip


def verdicts(table: Table) -> list[Verdict]:
    """Judge what was expected."""
    raw = where(done(table), columns="raw")
    # A recipe that was stopped early says nothing of the recipe.
    if any(int(row["steps"] or 0) < sweep.PAPER_STEPS for row in table):
        table = [row for row in table if not is_paper_recipe(str(row["method"]))]
    return [
        claim_better(CLAIMS[0], table, "shd_c", [("order-nv", name) for name in EQUAL]),
        claim_better(CLAIMS[1], raw, "shd_c", [("order-nv", name) for name in ("fgs", "pc")]),
        _more_rows(raw),
        claim_better(CLAIMS[3], table, "shd_c", [("order-nv", "golem-nv")]),
        _no_cost(raw),
        _score(raw),
    ]


def _more_rows(table: Table) -> Verdict:
    sizes = distinct(table, "n")
    if not is_there(table, "order-nv") or len(sizes) < 2:
        return not_run(CLAIMS[2], table, "order-nv")
    parts, outcomes = [], []
    for network in distinct(table, "network"):
        rows = where(table, network=network, method="order-nv")
        gain = contrast(rows, "shd_c", {"n": sizes[-1]}, {"n": sizes[0]}, ("columns",))
        told = ", ".join(f"n = {n}: {average(rows, 'shd_c', n=n)}" for n in sizes)
        parts.append(f"{network} {told}")
        outcomes.append(is_lower(gain))
    return Verdict(CLAIMS[2], f"SHD-C / d: {'; '.join(parts)}", all_hold(outcomes))


def _no_cost(table: Table) -> Verdict:
    if not is_there(table, "order", "order-nv"):
        return not_run(CLAIMS[4], table, "order", "order-nv")
    more = paired(table, "shd_c", "order", "order-nv")
    measured = f"SHD-C / d, order - order-nv: {more.signed()}. Nothing is taken as at most {_SAME}"
    return Verdict(CLAIMS[4], measured, within(more, -math.inf, _SAME))


def _score(table: Table) -> Verdict:
    if not is_there(table, "order-nv"):
        return not_run(CLAIMS[5], table, "order-nv")
    own = average(table, "excess_bic", method="order-nv")
    measured = f"BIC - BIC of the true graph: {means(table, 'excess_bic', present(table, METHODS))}"
    return Verdict(CLAIMS[5], measured, within(own, -math.inf, 0.0))


EXPERIMENT = Experiment(
    "networks",
    "Beyond the paper: networks from applications",
    CLAIMS,
    tasks,
    run,
    figure,
    verdicts,
    sweep.prepare,
    shape,
    run_batch,
)
