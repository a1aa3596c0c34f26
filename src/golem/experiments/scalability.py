"""Figure 8, section 5.4: large graphs, accuracy and time.

ER2 graphs with Gaussian noise of equal variances, n = 5000, d = 100, 200, 400, ..., 3200, 12 simulations: SHD, TPR and
seconds. The claims: GOLEM-EV remains accurate on large graphs, NOTEARS-L1 gets worse as they grow, and GOLEM-EV takes
much less time. The paper ran GOLEM-EV on a GPU and NOTEARS-L1 on four cores; here each row tells its hardware. A method
that exceeds the time limit at a size has rows that say so, and the verdict names the largest size of each.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from golem.experiments import comparisons, figures, sweep
from golem.experiments.comparisons import claim_better, is_there, means, present
from golem.experiments.experiment import Experiment, Table, Verdict
from golem.experiments.learners import learn, measurements
from golem.experiments.tables import SURE, average, distinct, done, where
from golem.experiments.task import Grid, Row, Task, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("golem-ev", "notears-l1", "order-ev", "order")
CLAIMS = (
    "GOLEM-EV remains competitive on large graphs: its SHD a node does not grow with d.",
    "NOTEARS-L1 gets worse as the graph grows.",
    "GOLEM-EV takes much less time than NOTEARS-L1 on large graphs.",
    "Beyond the paper: counting edges over orders (order-ev) is as accurate as GOLEM-EV and faster.",
)


def tasks(grid: Grid) -> list[Task]:
    """All sizes, seeds and methods, small sizes first."""
    sizes = grid.choose_sizes((100, 200, 400, 800, 1600, 3200), (20, 40, 80), (10, 20))
    cells: list[dict[str, Value]] = [
        {"graph": "ER2", "noise": "gaussian-ev", "d": d, "n": 5000, "steps": sweep.steps(grid)} for d in sorted(sizes)
    ]
    return sweep.product("scalability", cells, grid.choose_seeds(), grid.choose_methods(METHODS))


def run(task: Task) -> Row:
    """Simulate, learn, and measure SHD and TPR; SHD-C and SID take too long here, as in the paper."""
    drawn = sweep.draw(task)
    return measurements(drawn.sem.adjacency, learn(task.method, task.cell, drawn.data), classes=False)


def shape(task: Task) -> Hashable:
    """Leave every task of the recipe alone in its batch, so that its time is its own; a device still takes it."""
    return None if sweep.shape(task) is None else task.key


def run_batch(tasks: list[Task], device: str) -> list[Row]:
    """Run one on a device."""
    pairs = sweep.learned_batch(tasks, device)
    return [measurements(drawn.sem.adjacency, learned, classes=False) for drawn, learned in pairs]


def figure(table: Table) -> Figure:
    """Draw SHD, TPR and the time against d."""
    return figures.metric_rows(
        table, ("shd", "tpr", "fit_seconds"), x="d", rows="graph", methods=present(table, METHODS), log_x=True,
        log_y=("fit_seconds",),
    )  # fmt: skip


def verdicts(table: Table) -> list[Verdict]:
    """Judge the claims of section 5.4, and name the largest size of each method."""
    reached = _largest_sizes(table)
    ours = claim_better(CLAIMS[3], table, "fit_seconds", [("order-ev", "golem-ev")])
    if is_there(table, "order-ev", "golem-ev"):
        worse = comparisons.better(table, "shd", "golem-ev", "order-ev")
        measured = f"{comparisons.difference(table, 'shd', 'order-ev', 'golem-ev')} SHD / d; {ours.measured}"
        ours = Verdict(ours.claim, f"{measured}. {reached}", False if worse else ours.holds)
    return [
        _growth(CLAIMS[0], table, "golem-ev", grows=False),
        _growth(CLAIMS[1], table, "notears-l1", grows=True),
        _time(table),
        ours,
    ]


def _largest_sizes(table: Table) -> str:
    """Say how far each method came."""
    sizes = {name: distinct(where(done(table), method=name), "d") for name in distinct(table, "method")}
    return "Largest size run: " + ", ".join(f"{name} d = {max(d)}" for name, d in sizes.items() if d)


def _growth(claim: str, table: Table, method: str, *, grows: bool) -> Verdict:
    """Compare the SHD a node at the largest size with that at the smallest."""
    sizes = distinct(where(done(table), method=method), "d")
    if len(sizes) < 2:
        return Verdict(claim, comparisons.NOT_RUN if not sizes else f"{method} was run at one size alone.", None)
    listed = ", ".join(f"d = {d}: {average(table, 'shd', method=method, d=d)}" for d in sizes)
    small, large = (average(table, "shd", method=method, d=d) for d in (sizes[0], sizes[-1]))
    gap, error = large.value - small.value, (large.error**2 + small.error**2) ** 0.5
    measured = f"SHD / d of {method}: {listed}; largest - smallest {gap:+.3g} ± {error:.2g}"
    if min(small.count, large.count) < 3:
        return Verdict(claim, measured, None)
    if grows:
        return Verdict(claim, measured, None if abs(gap) <= SURE * error else gap > 0)
    return Verdict(claim, measured, gap <= SURE * error)


def _time(table: Table) -> Verdict:
    if not is_there(table, "golem-ev", "notears-l1"):
        return Verdict(CLAIMS[2], comparisons.NOT_RUN, None)
    both = [d for d in distinct(table, "d") if _both_done(table, d)]
    if not both:
        return Verdict(CLAIMS[2], f"No size was done by both methods. {_largest_sizes(table)}", None)
    largest = both[-1]
    listed = "; ".join(f"d = {d}: {means(table, 'fit_seconds', ('golem-ev', 'notears-l1'), d=d)}" for d in both)
    outcome = comparisons.better(table, "fit_seconds", "golem-ev", "notears-l1", d=largest)
    return Verdict(CLAIMS[2], f"Seconds, {listed}. {_largest_sizes(table)}", outcome)


def _both_done(table: Table, d: int) -> bool:
    return is_there(where(done(table), d=d), "golem-ev", "notears-l1")


EXPERIMENT = Experiment(
    "scalability", "Figure 8, section 5.4", CLAIMS, tasks, run, figure, verdicts, sweep.prepare, shape, run_batch
)
