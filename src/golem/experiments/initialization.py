"""Section 4.1, initialization scheme: GOLEM-NV from zeros, and from the solution of GOLEM-EV.

The claim: GOLEM-NV is susceptible to local solutions, and starting it at the raw weights of GOLEM-EV helps dramatically
to avoid undesired ones. The paper shows no figure; here it is ER1, ER2 and ER4 graphs with noise of unequal and equal
variances, d = 10, 20, 50, 100, n = 1000. The score of both solutions is kept too: where zeros reach the lower score
with the worse graph, the start is not to be chosen by the score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from golem.experiments import sweep
from golem.experiments.analysis import figures
from golem.experiments.analysis.comparisons import LARGE, better, claim_better, difference, is_there, not_run, present
from golem.experiments.analysis.tables import done, metric, where
from golem.experiments.engine.task import Grid, Row, Task
from golem.experiments.experiment import Table, Verdict
from golem.experiments.learners import Learned, learn, measurements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from golem.model.simulation import Simulation

METHODS = ("golem-nv", "golem-nv-zeros", "golem-ev", "order-nv")
CLAIMS = (
    "Starting GOLEM-NV at the solution of GOLEM-EV gives much lower SHD than starting it at zero.",
    "Beyond the paper, which shows no score: the undesired solutions from zero are local ones, of a higher score S(B).",
    "Beyond the paper: a search over orders that counts edges needs no such start, and is more accurate (SHD-C).",
)


def tasks(grid: Grid) -> list[Task]:
    """All cells, seeds and methods."""
    sizes = grid.choose_sizes((10, 20, 50, 100), (10, 20), (5,))
    graphs = grid.pick(("ER1", "ER2", "ER4"), ("ER2", "ER4"), ("ER1",))
    cells = [
        {"graph": graph, "noise": noise, "d": d, "n": 1000, "steps": sweep.steps(grid)}
        for noise in grid.pick(("gaussian-nv", "gaussian-ev"), ("gaussian-nv",), ("gaussian-nv",))
        for graph in graphs
        for d in sizes
    ]
    return sweep.product("initialization", cells, grid.choose_seeds(quick=4), grid.choose_methods(METHODS))


def run(task: Task) -> Row:
    """Simulate, learn, and measure distances and the score reached."""
    drawn = sweep.draw(task)
    return _measured(drawn, learn(task.method, task.cell, drawn.data))


def run_batch(tasks: list[Task], device: str) -> list[Row]:
    """Run some in one stack."""
    return [_measured(drawn, learned) for drawn, learned in sweep.learned_batch(tasks, device)]


def _measured(drawn: Simulation, learned: Learned) -> Row:
    terms: Any = learned.model.solution_.terms
    return measurements(drawn.sem.adjacency, learned) | {"score": float(terms["score"])}


def figure(table: Table) -> Figure:
    """Draw SHD, SHD-C and TPR against d, by graph and noise."""
    return figures.metric_grids(
        table, ("shd", "shd_c", "tpr"), x="d", rows="graph", columns="noise", methods=present(table, METHODS),
        log_x=True, across=3,
    )  # fmt: skip


def verdicts(table: Table) -> list[Verdict]:
    """Judge the claim of section 4.1."""
    return [
        claim_better(CLAIMS[0], table, "shd", [("golem-nv", "golem-nv-zeros")], margin=LARGE),
        _score(table),
        claim_better(CLAIMS[2], table, "shd_c", [("order-nv", "golem-nv"), ("order-nv", "golem-nv-zeros")]),
    ]


def _score(table: Table) -> Verdict:
    if not is_there(table, "golem-nv", "golem-nv-zeros"):
        return not_run(CLAIMS[1], table, "golem-nv", "golem-nv-zeros")
    rows = {
        name: {_place(row): row for row in where(done(table), method=name)} for name in ("golem-nv", "golem-nv-zeros")
    }
    both = [
        (rows["golem-nv"][place], other) for place, other in rows["golem-nv-zeros"].items() if place in rows["golem-nv"]
    ]
    lower = [pair for pair in both if metric(pair[1], "score") < metric(pair[0], "score")]
    worse = sum(metric(zeros, "shd") > metric(start, "shd") for start, zeros in lower)
    outcome = better(table, "score", "golem-nv", "golem-nv-zeros")
    measured = (
        f"S(B) {difference(table, 'score', 'golem-nv-zeros', 'golem-nv')}; from zeros it is the lower in {len(lower)} "
        f"of {len(both)} runs, and in {worse} of these the SHD is the higher one"
    )
    return Verdict(CLAIMS[1], measured, outcome)


def _place(row: Row) -> tuple[Any, ...]:
    return (row["graph"], row["noise"], row["d"], row["seed"])


EXPERIMENT = sweep.experiment(
    "initialization", "The initialization scheme of section 4.1", CLAIMS, tasks, figure, verdicts, run, run_batch
)
