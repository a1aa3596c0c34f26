"""Fit by a search over orders: what the settings and the knowledge of a fit mean for the search of its score."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from golem.data.checks import require_independent
from golem.data.knowledge import Knowledge
from golem.estimator.name_order import NameOrder, name_order
from golem.estimator.settings import Settings
from golem.runtime.problems import ProblemError
from golem.score.likelihood import GaussianEV
from golem.score.node_scores import Counts, GaussianBlocks
from golem.score.regression import Regressions
from golem.score.solution import Progress, Solution, Status, TracePoint
from golem.score.table_score import Correlation, NodeScore
from golem.search.equal.variance_order import SingularCovarianceError
from golem.search.search_order import STARTS, search_order
from golem.search.solver import Order


def search_graph(score: NodeScore, settings: Settings, knowledge: Knowledge) -> tuple[Solution, Solution | None]:
    """Search over orders of the variables, sorted by name for this; return the solution and that of its start."""
    order = name_order(score.table.names)
    by_name = score.reordered(order.names)
    solver = settings.chosen_solver
    assert isinstance(solver, Order)
    task = _Search(by_name, settings, solver, order, knowledge)
    solution, start = _run(by_name.engine(), task)
    return order.restore_solution(solution), None if start is None else order.restore_solution(start)


@dataclass(frozen=True, eq=False)
class _Search:
    """What all searches need: the score of the variables sorted by name, and the settings."""

    score: NodeScore
    settings: Settings
    solver: Order
    order: NameOrder
    knowledge: Knowledge

    @property
    def masks(self) -> dict[str, Any]:
        """The edges that are allowed and required; None if nothing is known."""
        if self.knowledge.is_empty:
            return {"allowed": None, "required": None}
        return {
            "allowed": self.order.sort(self.knowledge.allowed),
            "required": self.order.sort(self.knowledge.required),
        }


@functools.singledispatch
def _run(engine: Any, task: _Search) -> tuple[Solution, Solution | None]:
    """Search with an engine."""
    raise TypeError(f"There is no search for {type(engine).__name__}.")


@_run.register
def _(engine: Correlation, task: _Search) -> tuple[Solution, Solution | None]:
    """Search with one covariance; the noise variances are equal, tied or free."""
    settings, init, start = task.settings, task.settings.init, None
    moments = engine.table.moments()
    solver = dataclasses.replace(task.solver, placement=settings.placement(moments.d))
    solver.placement.require_memory(solver.peak_matrices, moments.d, "The order")
    if isinstance(init, str):
        if init != "ev" or settings.noise == "ev":
            raise ProblemError.of(
                "init={init!r} does not fit {solver='order'} with {noise=}. Use an order or a graph.",
                init=init,
                noise=settings.noise,
            )
        start = task.solver.solve(moments, GaussianEV(), engine.sparsity, **task.masks)
        if start.status.is_cut_short:
            return start, start
        init = start.weights
    elif init is not None:
        init = task.order.sort_start(np.asarray(init))
    is_factored = settings.factors_covariance(moments.n, moments.d)
    try:
        solution = solver.solve(
            moments,
            engine.likelihood,
            engine.sparsity,
            init,
            **task.masks,
            random_state=settings.random_state,
            callback=settings.callback,
            stage=task.score.stage,
        )
    except SingularCovarianceError:
        if is_factored:
            require_independent(moments, math.inf)  # raises an error that names the columns
        raise
    if is_factored:
        require_independent(moments, solution.rounding)
    return solution, start


@_run.register(GaussianBlocks)
@_run.register(Counts)
def _(engine: GaussianBlocks | Counts, task: _Search) -> tuple[Solution, Solution | None]:
    """Search with costs of nodes given their parents. Scores that others see are divided by 2 n, as with numbers."""
    settings, n, stage = task.settings, task.score.table.n, task.score.stage
    trace: list[TracePoint] = []

    def report(progress: Progress) -> None:
        value = progress.score / (2 * n)
        trace.append(TracePoint(progress.iteration, progress.seconds, {"score": value}))
        if settings.callback is not None:
            settings.callback(dataclasses.replace(progress, stage=stage, score=value))

    began = time.perf_counter()
    found = search_order(
        engine,
        **task.masks,
        starts=STARTS if settings.init is None else (task.order.sort_start(np.asarray(settings.init)), *STARTS),
        effort=task.solver.effort,
        time_limit=task.solver.time_limit,
        random_state=0 if settings.random_state is None else settings.random_state,
        on_progress=report,
    )
    weights = task.score.refit(found.edges)
    deviance = task.score.deviance().total(found.graph) if len(found.costs) else 0.0
    terms = _terms(weights, deviance / (2 * n), found.score / (2 * n))
    seconds = time.perf_counter() - began
    status = _last_report(settings.callback, Progress(stage, 1, 1, seconds, terms["score"], 0.0), found.status)
    solution = Solution(
        raw=weights,
        status=status,
        terms=terms,
        trace=(*trace, TracePoint(found.perturbations, seconds, terms)),
        iterations=found.perturbations,
        seconds=seconds,
        stationarity=float("nan"),  # a combinatorial minimum has no gradient
    )
    return solution, None


def _last_report(callback: Callable[[Progress], None] | None, progress: Progress, status: Status) -> Status:
    """Report that a search has ended; return how it ended."""
    if callback is not None:
        try:
            callback(progress)
        except KeyboardInterrupt:
            return Status.INTERRUPTED
    return status


def _terms(weights: Regressions, likelihood: float, total: float) -> dict[str, float]:
    """Return the terms of the score. The weights of edges with categories are NaN and count nothing."""
    size = float(np.nansum(np.abs(weights.weights)))
    return {"likelihood": likelihood, "sparsity": total - likelihood, "dag": 0.0, "score": total, "l1": size, "h": 0.0}
