"""Fit by a search over orders: what the settings and the knowledge of a fit mean for the search of its score."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.checks import require_independent
from golem.data.knowledge import Knowledge
from golem.estimator.settings import Settings
from golem.runtime.problems import ProblemError
from golem.score.likelihood import GaussianEV, GaussianNV
from golem.score.node_score import Correlation, NodeScore
from golem.score.node_scores import Counts, GaussianBlocks
from golem.score.regression import Regressions
from golem.score.solution import Progress, Solution, TracePoint
from golem.score.wide_score import WideColumns
from golem.search.equal.variance_order import SingularCovarianceError
from golem.search.search_order import STARTS, search_order
from golem.search.solver import Order, as_order


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
    terms = deviance / (2 * n), found.score / (2 * n)
    end = (found.perturbations, began, trace, stage, settings.callback)
    return Solution.of_search(weights, found.status, terms, *end), None


@_run.register
def _(engine: WideColumns, task: _Search) -> tuple[Solution, Solution | None]:
    """Search over very many columns, whose correlations are computed when they are needed."""
    from golem.search.wide.solve import WideEffort, learn_wide  # imports numba

    settings, n, score = task.settings, engine.moments.n, task.score
    began = time.perf_counter()
    seed = settings.random_state if isinstance(settings.random_state, int) else 0
    device = settings.placement(engine.moments.d).device
    how = WideEffort(task.solver.effort, task.solver.time_limit, device, seed)
    found = learn_wide(engine.moments, engine.sparsity, how, settings.callback)
    weights = score.refit(found.edges)
    deviance = float(GaussianNV().on_dag(weights.residual_variances))
    penalty = float(engine.sparsity.penalties(n, score.d)[weights.number_of_parents].sum()) / (2 * n)
    terms = deviance, deviance + penalty
    end = (found.perturbations, began, (), score.stage, settings.callback)
    return Solution.of_search(weights, found.status, terms, *end), None


class NameOrder:
    """The order of columns by name, with numbers in names compared as numbers: `x2` comes before `x10`.

    Examples
    --------
    >>> order = NameOrder(["x10", "x2"])
    >>> order.names
    ('x2', 'x10')
    >>> order.sort(np.array([[1, 2], [3, 4]]))
    array([[4, 3],
           [2, 1]])
    """

    def __init__(self, names: Sequence[str]) -> None:
        index = _numbered(names)
        if index is None:
            index = np.array(sorted(range(len(names)), key=lambda j: _key(names[j])), dtype=np.intp)
        self._index = index
        self.place = np.argsort(self._index)  # of each column among the sorted ones
        self._is_sorted = bool(np.all(self._index[:-1] < self._index[1:]))
        self.names = tuple(names[j] for j in self._index)

    def sort(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Return a (d, d) matrix with rows and columns by name; without a copy if they are so already."""
        return matrix if self._is_sorted else matrix[np.ix_(self._index, self._index)]

    def restore(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Undo `sort`."""
        return matrix if self._is_sorted else matrix[np.ix_(self.place, self.place)]

    def sort_start(self, init: NDArray[Any]) -> NDArray[Any]:
        """Return a start of a search, an order (d,) or a graph (d, d), for the sorted columns."""
        d = len(self._index)
        return self.sort(init) if init.shape == (d, d) else self.place[as_order(init, d)]

    def restore_solution(self, solution: Solution) -> Solution:
        """Return a solution for the sorted columns as one for the original columns."""
        if self._is_sorted:
            return solution
        choice = solution.noise_choice
        if choice is not None:
            graphs = {kind: self.restore(graph) for kind, graph in choice.graphs.items()}
            choice = dataclasses.replace(choice, graphs=graphs)
        raw = (
            solution.raw.renumbered(self._index)
            if isinstance(solution.raw, Regressions)
            else self.restore(solution.raw)
        )
        return dataclasses.replace(solution, raw=raw, noise_choice=choice)


@functools.lru_cache(maxsize=4)
def name_order(names: tuple[str, ...]) -> NameOrder:
    """Return the order of some columns by name; cached, because a fit needs it twice and a bootstrap often."""
    return NameOrder(names)


def _numbered(names: Sequence[str]) -> NDArray[np.intp] | None:
    """Return the order of names that differ in a final number alone; a shortcut for very many columns."""
    shared = names[0].rstrip("0123456789") if names else ""
    numbers = [name[len(shared) :] for name in names if name.startswith(shared)]
    if len(numbers) < len(names) or not all(text.isdecimal() and text.isascii() and len(text) < 19 for text in numbers):
        return None
    values = np.array([int(text) for text in numbers])
    return np.argsort(values) if len(np.unique(values)) == len(values) else None


def _key(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return what names are sorted by: their parts, with numbers as numbers, then the whole name."""
    parts = re.findall(r"([0-9]*)([^0-9]*)", name)
    # int() refuses very long numbers. Without leading zeros, a longer number is larger.
    return [(len(number.lstrip("0")), number.lstrip("0") + text) for number, text in parts], name
