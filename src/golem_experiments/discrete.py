"""Beyond the paper: discrete networks from applications, asia, child, insurance, alarm and hailfinder.

Networks of 8 to 56 categories with 2 to 11 levels. Rows are drawn from them, n = 1000 and 10000. `order` chooses the
score, the other methods of golem have a given one, and order-nv treats the codes of the levels as numbers. They are
compared with the learners of pgmpy and causal-learn, with their default settings. Categories with one level in a table
are left out of it, and count as isolated. `network_files.py` says where the files come from. `--sizes` chooses networks
by their number of nodes. Seeds start at 5000; the rule by which `order` chooses was found on seeds below 1000.
"""

from __future__ import annotations

import functools
import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.comparison.other_packages import CATEGORY_PACKAGES, Estimate
from golem.comparison.registry import compile_method
from golem.runtime.messages import counted
from golem.runtime.types import BoolMatrix
from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, closer_with_rows, finished, judge, lower, verdicts
from golem_experiments.analysis.comparisons import matched_times
from golem_experiments.analysis.figures import Panels
from golem_experiments.analysis.inference import within
from golem_experiments.analysis.tables import distinct, paired, where
from golem_experiments.experiment import Experiment, Grid, Row, Table, Task
from golem_experiments.learners import Learned, build, measurements, settings
from golem_experiments.network_files import DiscreteNetwork, digest, network_file, read_bif

NETWORKS = ("asia", "child", "insurance", "alarm", "hailfinder")
SCORES = ("order-bdeu", "order-discrete-bic", "order-mixed")
CODES_AS_NUMBERS = "order-nv"
PACKAGES = tuple(CATEGORY_PACKAGES)
METHODS = ("order", *SCORES, CODES_AS_NUMBERS, *PACKAGES)
FIRST_SEED = 5000
_FILE = ".bif.gz"
# A difference per node that counts as none, and a ratio of times.
_SAME, _TIMES_FASTER = 0.05, 10
_DONE = finished()


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all networks, numbers of rows, seeds and methods.

    Methods of packages that are not installed are left out, unless they are asked for.

    Raises
    ------
    ValueError
        If the file of a network or a package that was asked for is missing.
    """
    found = []
    methods = [name for name in METHODS if sweep.is_installed(name, grid)]
    # GES of other packages takes half a minute per table of child, too long for a quick run.
    for name in grid.pick(NETWORKS, NETWORKS[:1], NETWORKS[:1]):
        path = network_file(name, _FILE)
        d = len(_network(name).names)
        if grid.sizes is None or d in grid.sizes:
            found += sweep.tasks(
                "discrete", grid, methods, seeds=grid.choose_seeds(quick=6), network=name, d=d,
                n=grid.pick((1000, 10_000), (1000, 10_000), (200,)), file=digest(path),
            )  # fmt: skip
    return found


@functools.cache
def _network(name: str) -> DiscreteNetwork:
    """Read a network."""
    return read_bif(network_file(name, _FILE))


def run(task: Task) -> Row:
    """Learn a graph from the categories that have several levels, and measure its distances to the network."""
    cell: Any = task.cell
    network = read_bif(network_file(cell["network"], _FILE))
    codes = network.sample(cell["n"], random_state=FIRST_SEED + task.seed)
    kept = np.flatnonzero([len(np.unique(column)) > 1 for column in codes.T])
    learned = _learn(task, codes[:, kept])
    graph = _among(learned.estimate.graph, kept, len(network.names))
    return measurements(network.adjacency, replace(learned, estimate=replace(learned.estimate, graph=graph)))


def _among(graph: BoolMatrix, kept: NDArray[np.intp], d: int) -> BoolMatrix:
    """Return a graph of some of d nodes as one of all of them."""
    found = np.zeros((d, d), dtype=bool)
    found[np.ix_(kept, kept)] = graph
    return found


def _learn(task: Task, codes: NDArray[np.intp]) -> Learned:
    """Run a method on codes of levels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare levels, in many tables
        if task.method in CATEGORY_PACKAGES:
            began = time.perf_counter()
            estimate = CATEGORY_PACKAGES[task.method].learn(codes)
        else:
            table = codes.astype(float) if task.method == CODES_AS_NUMBERS else table_of(codes)
            model = build(task.method, task.cell)
            began = time.perf_counter()
            graph = model.fit(table).adjacency_
            estimate = Estimate(graph, False, graph)
        return Learned(estimate, None, time.perf_counter() - began, "")


def table_of(codes: NDArray[np.intp]) -> Any:
    """Return a PyArrow table of text, in which no level looks like a number."""
    import pyarrow as pa

    return pa.table({f"x{j:03d}": [f"level {code}" for code in column] for j, column in enumerate(codes.T.tolist())})


def _cells(table: Table) -> Iterable[tuple[str, Table]]:
    """Yield the rows of each network and number of rows, with a short name."""
    for network in distinct(table, "network"):
        for n in distinct(table, "n"):
            yield f"{network}, n = {n}", where(table, network=network, n=n)


@judge("order", *PACKAGES, title="SHD-C / d, order - other", criterion=f"at most {_SAME}", partial=True)
def _as_accurate(table: Table) -> Iterable[Finding]:
    missing = []
    for place, rows in _cells(table):
        for name in PACKAGES:
            more = paired(rows, "shd_c", "order", name)
            if more.count:
                yield f"{place}: {name} {more.signed()}", within(more, -math.inf, _SAME)
            else:
                missing.append(f"{place}: {name}")
    yield from _not_compared(missing)


def _not_compared(missing: list[str]) -> Iterable[Finding]:
    """Yield that some comparisons were not made, which leaves a claim about all of them undecided."""
    if missing:
        were = "was" if len(missing) == 1 else "were"
        reason = f"{counted(len(missing), 'comparison')} {were} not run or did not finish."
        yield f"not run or not finished: {'; '.join(missing)}", None, reason


@judge("order", *PACKAGES, title="Seconds / seconds of order", criterion=f"at least {_TIMES_FASTER}", partial=True)
def _faster(table: Table) -> Iterable[Finding]:
    missing = []
    for place, rows in _cells(table):
        for name in PACKAGES:
            found = matched_times(rows, "order", name)
            if found is None:
                missing.append(f"{place}: {name}")
            else:
                yield f"{place}: {name} {found}", found.reaches(_TIMES_FASTER)
    yield from _not_compared(missing)


@judge("order", *SCORES, title="SHD-C / d, order - score", criterion=f"at most {_SAME}", select=_DONE)
def _choice(table: Table) -> Iterable[Finding]:
    for name in SCORES:
        more = paired(table, "shd_c", "order", name)
        yield f"{name}: {more.signed()}", within(more, -math.inf, _SAME)


CLAIMS = {
    "order has a lower SHD-C than the same search on codes as numbers (order-nv).": lower(
        "shd_c", ("order", CODES_AS_NUMBERS), select=_DONE
    ),
    "order is not less accurate than the learners of pgmpy and causal-learn, on any network.": _as_accurate,
    "order is at least ten times faster than the learners of pgmpy and causal-learn.": _faster,
    "The choice of the score costs nothing: no single score is better than order on average.": _choice,
    "order approaches the true equivalence class with more rows.": closer_with_rows("order", select=_DONE),
}
FIGURE = Panels(("shd_c", "fit_seconds"), "n", ("network",), METHODS, log_x=True, log_y=("fit_seconds",))


def _prepare(task: Task) -> None:
    """Compile and import what a method needs."""
    if task.method in CATEGORY_PACKAGES:
        CATEGORY_PACKAGES[task.method].load()
    else:
        compile_method("order-mixed" if task.method == "order" else task.method)


EXPERIMENT = Experiment(
    "discrete", "Beyond the paper: discrete networks from applications", tuple(CLAIMS), tasks, run, FIGURE,
    verdicts(CLAIMS), _prepare, settings=settings,
)  # fmt: skip
