"""Beyond the paper: how often each kind of evidence for a direction is right when an assumption is violated.

A direction rests on the structure (the equivalence class), the noise variances, the shape of the noise, or nothing. All
three kinds of evidence assume a linear model with independent noise, no hidden common causes and independent rows.
Here one assumption at a time is violated (`draw_violated`): hidden common causes, curved effects, 1% of outliers, rows
that depend on each other, errors of measurement. An edge is real if the true graph joins the same variables; the
direction of a real edge is right or reversed. The checks of `golem.diagnose` that could notice are counted as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from golem.assessment.diagnostics import diagnose
from golem.graphs.dag import topological_order
from golem.model.simulation import random_dag, random_weights
from golem.runtime.types import BoolMatrix, Matrix
from golem_experiments import sweep
from golem_experiments.analysis.claims import Finding, Judge, finished
from golem_experiments.analysis.inference import Mean, within
from golem_experiments.analysis.styles import EVIDENCE_STYLES
from golem_experiments.analysis.tables import average, distinct, done, share, where
from golem_experiments.experiment import Grid, Row, Table, Task
from golem_experiments.learners import Learned, measurements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("order", "order-ev")
NOISES = ("gaussian", "laplace", "exponential")
VIOLATIONS = ("none", "confounded", "nonlinear", "outliers", "dependent rows", "measurement error")
# The sizes of the violations.
_CONFOUNDED_PAIRS = 0.25  # hidden common causes of two variables, per variable
_STEEPNESS = 2.0  # of tanh, in standard deviations
_OUTLIERS, _OUTLIER_SIZE = 0.01, 5.0
_AUTOCORRELATION = 0.8
_ERROR = 0.5  # in standard deviations of the column
SOURCES = ("structure", "variances", "shape", "none")
# Checks that can notice a violation; "linearity" of curved effects, for example.
FINDINGS = ("linearity", "independence", "outliers")
NOTICED = {"nonlinear": "linearity", "outliers": "outliers"}
_RIGHT, _RIGHT_WITHOUT_VIOLATION, _FEW = 0.9, 0.95, 0.1


def tasks(grid: Grid) -> list[Task]:
    """Return the tasks of all violations, noises, raw and standardized columns, seeds and methods."""
    return sweep.tasks(
        "robustness", grid, METHODS, seeds=grid.choose_seeds(quick=3),
        violation=grid.pick(VIOLATIONS, VIOLATIONS, VIOLATIONS[:2]),
        noise=grid.pick(NOISES, NOISES[:2], NOISES[1:2]),
        columns=grid.pick(("raw", "standardized"), ("raw", "standardized"), ("raw",)),
        graph=grid.pick(("ER1", "ER2"), ("ER1",), ("ER1",)), d=grid.choose_sizes((20,), (20,), (6,)),
        n=grid.pick(1000, 1000, 100),
    )  # fmt: skip


def draw(task: Task) -> tuple[BoolMatrix, Matrix]:
    """Return the true graph of a task and its rows; raw and standardized columns share the draw."""
    cell: Any = task.cell
    truth, X = draw_violated(cell["violation"], cell["noise"], cell["graph"], cell["d"], cell["n"], task.seed)
    return truth, sweep.in_units(cell["columns"], X)


class ViolatedData(NamedTuple):
    """The true graph over the observed variables, (d, d), and rows, (n, d)."""

    graph: BoolMatrix
    rows: Matrix


def draw_violated(violation: str, noise: str, graph: str, d: int, n: int, seed: int) -> ViolatedData:
    """Draw a random linear model with free noise variances, and rows that violate one of its assumptions.

    A seed has the same graph, weights and noise variances for all violations and noises: weights from +-[0.5, 2], noise
    deviations from [1, 2].

    Parameters
    ----------
    violation : str
        "confounded": hidden common causes of d/4 disjoint pairs. "nonlinear": effects w s tanh(2 x / s) of a parent
        with standard deviation s. "outliers": noise of 5 standard deviations on all columns of 1% of the rows.
        "dependent rows": noise with autocorrelation 0.8 from row to row. "measurement error": noise of half a standard
        deviation on each column. "none": the model itself.
    noise : str
        One of `NOISES`.
    graph : str
        Such as "ER1".
    d, n, seed : int
        Numbers of variables and rows, and the seed.

    Examples
    --------
    >>> draw_violated("outliers", "laplace", "ER1", d=5, n=100, seed=0).rows.shape
    (100, 5)
    """
    model = np.random.default_rng(seed)
    B = random_weights(random_dag(d, graph, model), model)
    deviations = model.uniform(1.0, 2.0, d)
    rng = np.random.default_rng([seed, VIOLATIONS.index(violation), NOISES.index(noise)])

    def draw(*shape: int) -> Matrix:
        return _standard_noise(noise, rng, shape)

    E = draw(n, d)
    if violation == "dependent rows":
        E = _autocorrelated(E)
    if violation == "confounded":
        E = E + _hidden_causes(draw, rng, n, d)
    bend = _bent if violation == "nonlinear" else _straight
    X = _grow(B, E * deviations, bend)
    if violation == "outliers":
        X = X + (rng.random((n, 1)) < _OUTLIERS) * rng.normal(size=(n, d)) * _OUTLIER_SIZE * X.std(axis=0)
    if violation == "measurement error":
        X = X + rng.normal(size=(n, d)) * _ERROR * X.std(axis=0)
    return ViolatedData(B != 0, X)


def _standard_noise(noise: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
    """Return noise with mean 0 and variance 1."""
    if noise == "gaussian":
        return rng.normal(size=shape)
    return rng.laplace(size=shape) / np.sqrt(2) if noise == "laplace" else rng.exponential(size=shape) - 1


def _autocorrelated(E: Matrix) -> Matrix:
    """Return noise of the same variance in which every row continues the one before."""
    out, share = E.copy(), np.sqrt(1 - _AUTOCORRELATION**2)
    for t in range(1, len(E)):
        out[t] = _AUTOCORRELATION * out[t - 1] + share * E[t]
    return out


def _hidden_causes(draw: Callable[..., Matrix], rng: np.random.Generator, n: int, d: int) -> Matrix:
    """Return the effects of hidden variables, each of which causes two of the observed ones."""
    effects, pairs = np.zeros((n, d)), max(1, round(_CONFOUNDED_PAIRS * d))
    for pair in rng.permutation(d)[: 2 * pairs].reshape(-1, 2):
        effects[:, pair] = draw(n, 1) * rng.uniform(0.7, 1.5, 2) * rng.choice([-1.0, 1.0], 2)
    return effects


def _straight(x: Matrix) -> Matrix:
    return x


def _bent(x: Matrix) -> Matrix:
    scale = x.std()
    return np.asarray(scale * np.tanh(_STEEPNESS * (x - x.mean()) / scale))


def _grow(B: Matrix, noise: Matrix, bend: Callable[[Matrix], Matrix]) -> Matrix:
    """Compute all variables from their parents and noise."""
    X = noise.copy()
    for j in topological_order(B):
        for i in np.nonzero(B[:, j])[0]:
            X[:, j] += B[i, j] * bend(X[:, i])
    return X


def _measure(truth: BoolMatrix, rows: Matrix, learned: Learned) -> Row:
    """Count the edges by what their direction rests on, those of them that are right, and those that are reversed."""
    names = learned.model.moments_.names
    place = {name: number for number, name in enumerate(names)}
    counts: dict[str, Any] = {f"{source}_{what}": 0 for source in SOURCES for what in ("edges", "right", "reversed")}
    for edge in learned.model.edges_:
        i, j = place[edge.source], place[edge.target]
        counts[f"{edge.direction_from}_edges"] += 1
        counts[f"{edge.direction_from}_right"] += int(truth[i, j])
        counts[f"{edge.direction_from}_reversed"] += int(truth[j, i])
    diagnosis = diagnose(learned.model, rows, refit=False)
    found = {f"finds_{name}": diagnosis[name].level != "ok" for name in FINDINGS}
    return measurements(truth, learned) | counts | found


def right(table: Table, source: str) -> Mean:
    """Return the share of the directions from one kind of evidence that are right, among edges that are real."""
    return share(table, f"{source}_right", [f"{source}_right", f"{source}_reversed"])


def claimed(table: Table, source: str) -> Mean:
    """Return the share of edges whose direction rests on one kind of evidence."""
    return share(table, f"{source}_edges", [f"{one}_edges" for one in SOURCES])


def real(table: Table, *sources: str) -> Mean:
    """Return the share of the edges, with their directions from some kinds of evidence, that the true graph has."""
    rows = [
        row | {"real": sum(int(row[f"{one}_{what}"] or 0) for one in sources for what in ("right", "reversed"))}
        for row in table
    ]
    return share(rows, "real", [f"{one}_edges" for one in sources])


def _violated(table: Table) -> Iterable[tuple[str, Table]]:
    """Yield each violation and its rows."""
    for violation in distinct(table, "violation"):
        if violation != "none":
            yield violation, where(table, violation=violation)


def _by_evidence(title: str, measure: Callable[[Table, str], Mean], source: str) -> Judge:
    """Return the judge of a claim about the edges that one kind of evidence directs."""

    def findings(table: Table) -> Iterable[Finding]:
        directed = [(violation, rows) for violation, rows in _violated(table) if measure(rows, source).count]
        for violation, rows in directed:
            found, used = measure(rows, source), claimed(rows, source)
            yield f"{violation} {found} ({used.value:.0%} of the edges)", within(found, _RIGHT, math.inf)
        if not directed:
            yield "none", None, "There are no such edges under any violation."

    criterion = f"at least {_RIGHT:.0%}; violations without such edges are left out"
    return Judge(findings, ("order",), title, criterion, finished(method="order"))


def _real_edges(table: Table) -> Iterable[Finding]:
    for violation, rows in _violated(table):
        found = real(rows, *SOURCES)
        yield f"{violation} {found}", within(found, _RIGHT, math.inf)


def _without_violation(table: Table) -> Iterable[Finding]:
    for source in SOURCES[:-1]:
        found = right(table, source)
        if found.count:
            yield f"{source} {found}", within(found, _RIGHT_WITHOUT_VIOLATION, math.inf)


def _noticed(table: Table) -> Iterable[Finding]:
    for violation, name in NOTICED.items():
        found = average(table, f"finds_{name}", violation=violation)
        yield f"{name} if {violation}: {found}", within(found, _RIGHT, math.inf)


def _silent(table: Table) -> Iterable[Finding]:
    for name in FINDINGS:
        found = average(table, f"finds_{name}")
        yield f"{name}: {found}", within(found, -math.inf, _FEW)


CLAIMS = {
    "If no assumption is violated, directions by structure, noise variances and noise shape are right.": Judge(
        _without_violation,
        ("order",),
        "Share of right directions among real edges",
        f"at least {_RIGHT_WITHOUT_VIOLATION:.0%}",
        finished(method="order", violation="none"),
    ),
    "Under every violation most learned edges are real: the true graph joins the same variables.": Judge(
        _real_edges, ("order",), "Share of real edges", f"at least {_RIGHT:.0%}", finished(method="order")
    ),
    **{
        f"Under every violation the directions of real edges are right if they rest on the {words}.": _by_evidence(
            "Share of right directions among real edges", right, source
        )
        for words, source in (("structure", "structure"), ("noise variances", "variances"), ("noise shape", "shape"))
    },
    "Under every violation noise shape directs hardly any edge that is not real.": _by_evidence(
        "Share of real edges among those directed by shape", real, "shape"
    ),
    "The checks report curved effects and outliers.": Judge(
        _noticed, ("order",), "Share of the tables", f"at least {_RIGHT:.0%}", finished(method="order")
    ),
    "The checks of linearity, independence and outliers are silent if no assumption is violated and the learned graph "
    "is the true one.": Judge(
        _silent,
        ("order",),
        "Share of the tables",
        f"at most {_FEW:.0%}",
        finished(method="order", violation="none", shd=0),
    ),
}


def figure(table: Table) -> Figure:
    """Draw the shares of right directions, of real edges, and of all edges, by violation and kind of evidence."""
    from matplotlib.figure import Figure

    table = done(table)
    cases = [(method, columns) for method in distinct(table, "method") for columns in distinct(table, "columns")]
    violations = distinct(table, "violation")
    measures: tuple[Callable[[Table, str], Mean], ...] = (right, real, claimed)
    whole = Figure(figsize=(4.2 * len(cases), 9.0), layout="constrained")
    panels: Any = whole.subplots(3, len(cases), squeeze=False, sharex=True, sharey=True)
    for column, (method, columns) in zip(panels.T, cases, strict=True):
        here = where(table, method=method, columns=columns)
        rows = [where(here, violation=violation) for violation in violations]
        for number, source in enumerate(SOURCES):
            place = np.arange(len(violations)) + 0.16 * (number - 1.5)
            for axes, measure in zip(column, measures, strict=True):
                found = [measure(one, source) for one in rows]
                shares, errors = (np.array([getattr(one, name) for one in found]) for name in ("value", "error"))
                axes.errorbar(
                    place, shares, yerr=np.minimum(errors, [shares, 1 - shares]), capsize=2, elinewidth=0.8,
                    label="no evidence" if source == "none" else f"by {source}",
                    **EVIDENCE_STYLES[source].options() | {"linestyle": ""},
                )  # fmt: skip
        column[0].set_title(f"{method}, {columns} columns", fontsize=10)
        column[-1].set_xticks(range(len(violations)), violations, rotation=35, ha="right", fontsize=9)
        for axes in column:
            axes.set_ylim(-0.03, 1.03)
            axes.grid(alpha=0.25, linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
    labels = ("right directions among real edges", "real edges", "share of all edges")
    for axes, text in zip(panels[:, 0], labels, strict=True):
        axes.set_ylabel(text)
    handles, names = panels[0][0].get_legend_handles_labels()
    whole.legend(handles, names, loc="outside lower center", ncols=len(SOURCES), frameon=False, fontsize=9)
    return whole


EXPERIMENT = sweep.experiment(
    "robustness", "Beyond the paper: violated assumptions", CLAIMS, tasks, figure, data=draw, measure=_measure,
    shape=None,
)  # fmt: skip
