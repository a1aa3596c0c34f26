"""Beyond the paper: learning from experiments, with hard and soft interventions.

`dcdi` is the linear benchmark of Brouillard et al. (2020): random DAGs with 1 or 4 edges per node, weights of 0.25 to 1
in size, noise standard deviations 0.4 sqrt(U[1, 2]), an observational environment and one hard intervention on each
node (drawn from N(2, 1) or N(-2, 1)), 10000 rows in all. `er` has ER2 graphs with the weights of the paper, noise of
different variances, and single interventions on none, a quarter or all of the nodes: hard ones, or soft ones that
double the noise variance or the slopes of the target. Two graphs are compared as interventional classes: SHD-I counts
the pairs that the classes join or direct differently. Seeds start at 1000.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.comparison.other_packages import OTHER_PACKAGES
from golem.comparison.registry import compile_method
from golem.estimator.golem import Golem
from golem.graphs.edges import Edges
from golem.graphs.interventional import interventional_reversible
from golem.graphs.metrics import shd
from golem.model.linear_sem import LinearSEM
from golem.model.simulation import erdos_renyi, parse_graph, random_sem, simulate_environments, single_targets
from golem.runtime.types import BoolMatrix, Matrix
from golem_experiments import chordless_gies, sweep
from golem_experiments.analysis.claims import Finding, finished, judge, verdicts
from golem_experiments.analysis.comparisons import VISIBLE, matched_times
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import Mean, within
from golem_experiments.analysis.tables import average, contrast, done, paired, share, where
from golem_experiments.experiment import Experiment, Grid, Row, Table, Task
from golem_experiments.learners import build, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_SEED = 1000
OURS = ("order-hard", "order-soft")
# gies has the score of hard interventions, so that only the searches and the penalties differ.
GIES = {"gies": OTHER_PACKAGES["gies"], chordless_gies.NAME: chordless_gies.PACKAGE}
METHODS = (*OURS, *GIES)
DCDI_ROWS = 10_000
# Published best SHD and the bounds of the claim, by nodes and edges per node.
DCDI_BOUNDS = {(10, "ER1"): 0.3, (10, "ER4"): 0.3, (20, "ER1"): 0.5, (20, "ER4"): 2.0}
CHANGES = ("hard", "variance", "slopes")
_RIGHT, _TIMES_FASTER = 0.95, 10
# A difference per node that counts as none.
_SAME = 0.02


class Drawn(NamedTuple):
    """The true graph, the rows of each environment, and its targets."""

    truth: BoolMatrix
    tables: list[Matrix]
    targets: list[list[int]]


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of both designs; methods of packages that are not installed are left out."""
    found = []
    for cell in _cells(grid):
        for seed in grid.choose_seeds(full=10, quick=2):
            for method in grid.choose_methods(METHODS):
                if _runs(method, cell, grid):
                    found.append(Task("interventions", cell, seed, method))
    return found


def _cells(grid: Grid) -> list[dict[str, Any]]:
    """Return the cells; n is the number of rows per environment."""
    cells: list[dict[str, Any]] = [
        {"design": "dcdi", "graph": graph, "change": "hard", "targets": "all", "d": d, "n": DCDI_ROWS // (d + 1)}
        for d in _sizes(grid, (10, 20), (10,))
        for graph in ("ER1", "ER4")
    ]
    for d in _sizes(grid, (20, 50), (20,)):
        for change in CHANGES:
            for targets in grid.pick(("none", "quarter", "all"), ("quarter", "all"), ("all",)):
                for n in grid.pick((100, 1000), (100, 1000), (100,)):
                    if change == "hard" or targets != "none":
                        about = {"graph": "ER2", "change": change, "targets": targets, "d": d, "n": n}
                        cells.append({"design": "er"} | about)
    # As in other experiments, versions of an experiment share no task.
    steps = grid.pick(sweep.PAPER_STEPS, sweep.QUICK_STEPS, sweep.TINY_STEPS)
    return [cell | {"steps": steps} for cell in cells]


def _sizes(grid: Grid, full: tuple[int, ...], quick: tuple[int, ...]) -> list[int]:
    """Return the sizes of a design, or those of them that were asked for."""
    return [d for d in grid.pick(full, quick, (5,)) if grid.sizes is None or d in grid.sizes]


def _runs(method: str, cell: dict[str, Any], grid: Grid) -> bool:
    """Return whether a method can run on a cell; raise a ValueError if a package that was asked for is missing."""
    # gies takes minutes per dense graph.
    unsuited = method in GIES and (cell["change"] != "hard" or cell["design"] == "dcdi")
    return not unsuited and sweep.is_installed("gies" if method in GIES else method, grid)


def draw(cell: dict[str, Any], seed: int) -> Drawn:
    """Draw the data of a cell; all changes and numbers of rows of one seed have the same graph."""
    rng, d = np.random.default_rng(FIRST_SEED + seed), cell["d"]
    sem = _dcdi_model(d, cell["graph"], rng) if cell["design"] == "dcdi" else random_sem(
        d, cell["graph"], "gaussian-nv", random_state=rng
    )  # fmt: skip
    count = {"none": 0, "quarter": d // 4, "all": d}[cell["targets"]]
    targets = single_targets(sem, count, "hard", rng)
    if cell["change"] == "hard":
        drawn = simulate_environments(sem, targets, cell["n"] * len(targets), "hard", rng)
        tables = [drawn.data[drawn.labels == label] for label in targets]
    else:
        factor = {"variance": 2.0} if cell["change"] == "variance" else {"weights": 2.0}
        tables = [sem.change(some, **factor).sample(cell["n"], rng) for some in targets.values()]
    return Drawn(sem.adjacency, tables, [[sem.names.index(one) for one in some] for some in targets.values()])


def _dcdi_model(d: int, graph: str, rng: np.random.Generator) -> LinearSEM:
    """Draw a model of the benchmark of Brouillard et al. (2020)."""
    adjacency = erdos_renyi(d, parse_graph(graph)[1], rng)
    weights = rng.uniform(0.25, 1.0, (d, d)) * rng.choice([-1.0, 1.0], (d, d)) * adjacency
    return LinearSEM(weights, 0.16 * rng.uniform(1.0, 2.0, d))


def run(task: Task) -> Row:
    """Learn a graph and measure its distances to the truth."""
    cell: Any = task.cell
    drawn = draw(cell, task.seed)
    intervention = "hard" if cell["change"] == "hard" else "soft"
    row: Row = {"true_edges": int(drawn.truth.sum())}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows per column, in many cells
        began = time.perf_counter()
        if task.method in GIES:
            learn: Any = GIES[task.method].learn_environments
            graph = learn(drawn.tables, drawn.targets).graph
            seconds = time.perf_counter() - began
        else:
            model = fit(build(task.method, cell), drawn)
            seconds = time.perf_counter() - began
            graph = interventional_cpdag(model.adjacency_, drawn.targets, intervention)
            claimed = model.by_intervention_
            row |= {
                "shd": shd(drawn.truth, model.adjacency_),
                "claimed": int(claimed.sum()),
                "claimed_right": int((claimed & drawn.truth).sum()),
                "claimed_reversed": int((claimed & drawn.truth.T).sum()),
            }
    truth = interventional_cpdag(drawn.truth, drawn.targets, intervention)
    edges = int(np.triu(graph | graph.T).sum())
    return row | {"edges": edges, "shd_i": class_distance(truth, graph), "fit_seconds": seconds}


def fit(model: Golem, drawn: Drawn) -> Golem:
    """Fit a model to environments, as a user would."""
    labels = np.repeat(np.arange(len(drawn.tables)), [len(table) for table in drawn.tables])
    return model.fit(np.concatenate(drawn.tables), environments=labels, targets=dict(enumerate(drawn.targets)))


def interventional_cpdag(graph: BoolMatrix, targets: list[list[int]], intervention: Any) -> BoolMatrix:
    """Return the interventional class of a DAG; edges with both directions set are undirected."""
    edges, found = Edges.from_matrix(graph), graph.copy()
    undirected = interventional_reversible(edges, targets, intervention)
    found[edges.children[undirected], edges.causes[undirected]] = True
    return found


def class_distance(one: BoolMatrix, other: BoolMatrix) -> int:
    """Return the number of pairs of nodes that two classes join or direct differently."""
    differs: NDArray[np.bool_] = one != other
    return int(np.triu(differs | differs.T).sum())


def _seen(table: Table, *columns: str) -> Iterable[tuple[str, Table]]:
    """Yield the cells of a table with a short name each."""
    cells = list(dict.fromkeys(tuple(row[name] for name in columns) for row in table))
    for values in cells:
        here = dict(zip(columns, values, strict=True))
        yield (
            ", ".join(f"{name} = {value}" if name in ("d", "n") else f"{value}" for name, value in here.items()),
            where(table, **here),
        )


@judge("order-hard", title="SHD", criterion="at most the bound", select=finished(design="dcdi"))
def _dcdi(table: Table) -> Iterable[Finding]:
    for name, rows in _seen(where(table, method="order-hard"), "d", "graph"):
        bound = DCDI_BOUNDS.get((int(rows[0]["d"] or 0), str(rows[0]["graph"])))
        found = _times_d(average(rows, "shd"), rows)
        if bound is not None:
            yield f"{name}: {found} (bound {bound})", within(found, -math.inf, bound)


def _times_d(share: Mean, rows: Table) -> Mean:
    """Undo the division by the number of nodes."""
    d = float(rows[0]["d"] or 1)
    return Mean(share.value * d, share.error * d, share.count)


def _peer(rows: Table) -> str:
    """Return the version of gies to compare with in a cell: the plain one if it finished there."""
    return "gies" if done(where(rows, method="gies")) else chordless_gies.NAME


@judge("order-hard", "gies", title="SHD-I, order-hard minus gies", criterion=f"at most {VISIBLE} more per node")
def _as_accurate_as_gies(table: Table) -> Iterable[Finding]:
    missing = []
    for name, rows in _seen(where(table, change="hard", design="er"), "d", "targets", "n"):
        peer = _peer(rows)
        more = paired(rows, "shd_i", "order-hard", peer)
        if more.count:
            yield f"{name} ({peer}): {more.signed()}", within(more, -math.inf, VISIBLE * float(rows[0]["d"] or 1))
        else:
            missing.append(name)
    if missing:
        text = f"gies was not run or did not finish: {'; '.join(missing)}"
        yield text, None, f"gies was not run or did not finish in {len(missing)} cells."


@judge("order-hard", "gies", title="Seconds of gies / seconds of order-hard", criterion=f"at least {_TIMES_FASTER}")
def _faster_than_gies(table: Table) -> Iterable[Finding]:
    missing = []
    for name, rows in _seen(where(table, change="hard", design="er", d=50), "targets", "n"):
        peer = _peer(rows)
        found = matched_times(rows, "order-hard", peer)
        if found is None:
            missing.append(name)
        else:
            yield f"{name} ({peer}): {found}", found.reaches(_TIMES_FASTER)
    if missing:
        yield f"gies was not run: {'; '.join(missing)}", None, f"gies was not run in {len(missing)} cells."


@judge("order-soft", "order-hard", title="SHD-I / d", criterion=f"at most {_SAME} above that of hard interventions")
def _soft_as_good_as_hard(table: Table) -> Iterable[Finding]:
    for name, rows in _seen(where(table, design="er", targets=("quarter", "all")), "d", "targets", "n"):
        d = float(rows[0]["d"] or 1)
        hard = {"method": "order-hard", "change": "hard"}
        for change in CHANGES[1:]:
            soft = {"method": "order-soft", "change": change}
            # The same seed draws the same graph for every change.
            more = contrast(rows, "shd_i", soft, hard, ("d",))
            if more.count:
                own, other = (average(rows, "shd_i", **one).value / d for one in (soft, hard))
                yield f"{name}: {own:.3f} ({change}), {other:.3f} (hard)", within(more, -math.inf, _SAME * d)


@judge(*OURS, title="Share of right directions among real edges", criterion=f"at least {_RIGHT:.0%}", partial=True)
def _claims_are_right(table: Table) -> Iterable[Finding]:
    for method, changes in (("order-hard", ("hard",)), ("order-soft", CHANGES[1:])):
        for change in changes:
            rows = done(where(table, method=method, change=change))
            found = share(rows, "claimed_right", ["claimed_right", "claimed_reversed"])
            if found.count:
                count = sum(int(row[f"claimed_{what}"] or 0) for row in rows for what in ("right", "reversed"))
                yield f"{method}, {change}: {found} ({count} directions)", within(found, _RIGHT, math.inf)


CLAIMS = {
    "On the benchmark of DCDI, the graph of order-hard is nearly the true one.": _dcdi,
    "order-hard is not less accurate than GIES, in any cell.": _as_accurate_as_gies,
    "order-hard is at least ten times faster than GIES with 50 nodes.": _faster_than_gies,
    "Soft interventions, which double a variance or slopes, decide as much as hard ones.": _soft_as_good_as_hard,
    "The directions that rest on interventions are right.": _claims_are_right,
}
FIGURE = Panels(
    ("shd_i", "fit_seconds"), "n", ("change", "targets"), METHODS, columns="d", log_x=True, log_y=("fit_seconds",)
)


def figure(table: Table) -> Figure:
    """Draw SHD-I and seconds of the ER2 graphs by kind of intervention, targets, nodes and rows."""
    return FIGURE(where(table, design="er"))


EXPERIMENT = Experiment(
    "interventions", "Beyond the paper: experiments", tuple(CLAIMS), tasks, run, figure, verdicts(CLAIMS),
    lambda task: compile_method(task.method), settings=settings,
)  # fmt: skip
