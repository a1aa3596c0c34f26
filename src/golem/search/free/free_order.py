"""The best order for free or tied noise variances: exactly for few nodes, otherwise by search."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.checks import most_parents
from golem.graphs.dag import topological_order
from golem.score.regression import regressions
from golem.score.solution import Progress, Status, TracePoint
from golem.search.exact_order import LARGEST_EXACT
from golem.search.found_graph import FoundGraph
from golem.search.free.covered_edges import prefer_equal_variances
from golem.search.order_problem import Effort, OrderProblem


@dataclass(frozen=True)
class Prior:
    """A prior N(centre, tau^2) on the log noise variances, in the units of the data; `spread` is tau^2 + 2/n."""

    centre: float
    spread: float


def find_free_order(
    problem: OrderProblem, init: NDArray[np.intp] | None, effort: Effort, time_limit: float | None, stage: str
) -> FoundGraph:
    """Search with free noise variances; return the member of the equivalence class with the higher EV likelihood."""
    starts: tuple[str | NDArray[Any], ...] = ("r2", "random") if init is None else (init, "r2")
    found = find_order(problem, starts, effort=effort, time_limit=time_limit, stage=stage)
    S = problem.moments.covariance
    return found.with_graph(prefer_equal_variances(found.graph, S, *problem.masks), S)


def find_order(
    problem: OrderProblem,
    starts: Sequence[str | NDArray[Any]],
    *,
    effort: Effort = "default",
    prior: Prior | None = None,
    time_limit: float | None = None,
    stage: str = "",
) -> FoundGraph:
    """Minimize sum_j n log r_j + penalty over orders and parents, plus (log r_j - centre)^2 / spread under a prior."""
    moments, n, d = problem.moments, problem.moments.n, problem.moments.d
    if d <= LARGEST_EXACT:
        return find_exact(problem, () if prior is None else (prior,))[0]
    centre, spread = (0.0, np.inf) if prior is None else (prior.centre, prior.spread)
    log_variances = np.log(moments.variances)
    # The search minimizes the deviance of standardized columns. L(B) of the original columns differs by this.
    offset = float(log_variances.sum() / 2) + (0.0 if prior is None else d * float(np.log(spread)) / (2 * n))
    trace: list[TracePoint] = []

    def report(progress: Progress) -> None:
        score = progress.score / (2 * n) + offset
        trace.append(TracePoint(progress.iteration, progress.seconds, {"score": score}))
        if problem.callback is not None:
            problem.callback(dataclasses.replace(progress, stage=stage, score=score))

    began = time.perf_counter()
    search = problem.search
    found = search.search(
        starts,
        effort=effort,
        time_limit=None if time_limit is None else time_limit - (time.perf_counter() - began),
        centre=centre,
        spread=spread,
        random_state=problem.random_state,
        on_progress=report,
    )
    return dataclasses.replace(found, trace=tuple(trace))


def find_exact(problem: OrderProblem, priors: Sequence[Prior] = ()) -> list[FoundGraph]:
    """Return the graph of few nodes with the lowest score for each prior, once each; without a prior if none is given.

    Of priors with the same graph, the first one gives its score.
    """
    moments = problem.moments
    # With fewer than 2 d rows the minimum is subject to this limit.
    most = most_parents(moments.n)
    centres, spreads = None, None
    if priors:
        centres = np.array([[prior.centre] for prior in priors]) - np.log(moments.variances)
        spreads = np.array([prior.spread for prior in priors])
    graphs, scores = problem.exact.minima(problem.penalties, *problem.masks, most, centres, spreads)
    status = Status.EXACT if most >= moments.d - 1 else Status.SEARCHED
    distinct: dict[bytes, FoundGraph] = {}
    for graph, score in zip(graphs, scores, strict=True):
        if graph.tobytes() not in distinct:
            fitted = regressions(graph, moments.covariance)
            distinct[graph.tobytes()] = FoundGraph(topological_order(graph), fitted, float(score), status)
    return list(distinct.values())
