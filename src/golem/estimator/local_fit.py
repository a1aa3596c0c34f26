"""The search with local scores for an estimator: settings, knowledge and progress, with the nodes sorted by name."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from golem.estimator.name_order import NameOrder
from golem.score.node_scores import Counts, GaussianBlocks
from golem.score.regression import Regressions
from golem.score.solution import Progress, Solution, Status, TracePoint
from golem.search.found_graph import FoundGraph
from golem.search.search_order import STARTS, search_order
from golem.search.solver import Order

if TYPE_CHECKING:
    from golem.estimator.golem import Golem


def run_local(
    model: Golem,
    solver: Order,
    score: GaussianBlocks | Counts,
    order: NameOrder,
    stage: str,
    n: int,
    explain: Callable[[FoundGraph], tuple[Regressions, float]],
) -> Solution:
    """Search for the graph with the lowest score.

    The score has its nodes sorted by name. `explain` returns the weights of the graph that was found, and its deviance:
    the score without its penalty. Scores that others see are divided by 2 n, as those of one table of numbers are.
    """
    knowledge = model.knowledge_
    allowed, required = None, None
    if not knowledge.is_empty:
        allowed, required = order.sort(knowledge.allowed), order.sort(knowledge.required)
    trace: list[TracePoint] = []

    def report(progress: Progress) -> None:
        value = progress.score / (2 * n)
        trace.append(TracePoint(progress.iteration, progress.seconds, {"score": value}))
        if model.callback is not None:
            model.callback(dataclasses.replace(progress, stage=stage, score=value))

    began = time.perf_counter()
    found = search_order(
        score,
        allowed=allowed,
        required=required,
        starts=STARTS if model.init is None else (order.sort_start(np.asarray(model.init)), *STARTS),
        effort=solver.effort,
        time_limit=solver.time_limit,
        random_state=0 if model.random_state is None else model.random_state,
        on_progress=report,
    )
    weights, deviance = explain(found)
    terms = _terms(weights, deviance / (2 * n), found.score / (2 * n))
    seconds, status = time.perf_counter() - began, found.status
    if model.callback is not None:
        try:
            model.callback(Progress(stage, 1, 1, seconds, terms["score"], 0.0))
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    return Solution(
        raw=weights,
        status=status,
        terms=terms,
        trace=(*trace, TracePoint(found.perturbations, seconds, terms)),
        iterations=found.perturbations,
        seconds=seconds,
        stationarity=float("nan"),  # a combinatorial minimum has no gradient
        graph_scores={"edges": float(len(found.edges))},
    )


def _terms(weights: Regressions, likelihood: float, total: float) -> dict[str, float]:
    """Return the terms of the score. The weights of edges with categories are NaN and count nothing."""
    size = float(np.nansum(np.abs(weights.weights)))
    return {"likelihood": likelihood, "sparsity": total - likelihood, "dag": 0.0, "score": total, "l1": size, "h": 0.0}
