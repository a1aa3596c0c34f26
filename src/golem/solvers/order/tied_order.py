"""Tied noise variances: search with a common prior on them, and choose between equal, tied and free ones.

Candidates come from two starts: the order found with equal variances, and the graph found with free variances. From
both, searches with the prior follow, and the prior's mean and spread are re-estimated from each graph found. Each round
can only lower the joint score of graph, mean and spread. `noise_choice` decides between the candidates.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix, Vector
from golem.solvers.order.exact_order import LARGEST_EXACT
from golem.solvers.order.found_graph import FoundGraph
from golem.solvers.order.free_order import Effort, OrderProblem, Prior, find_free_order, find_order
from golem.solvers.order.noise_choice import NoiseChoice, NoiseScores
from golem.solvers.solution import Status

# Two or three rounds are usually enough.
_MOST_ROUNDS = 5
_SETTLED = 0.01
_AGREEMENT = 1e-2
# Columns with scales this far apart cannot have similar noise; their order by variance would be due to rounding.
_WIDEST_SCALES = 1e6


def choose_and_search(
    problem: OrderProblem,
    scores: NoiseScores,
    init: NDArray[np.intp] | None,
    effort: Effort,
    time_limit: float | None,
    stage: str,
) -> tuple[FoundGraph, NoiseChoice]:
    """Find a graph with the noise variances that the data support; a given tau leaves no choice."""
    search = _TiedSearch(problem, scores, effort, time_limit, stage)
    search.find_free(init)
    try:
        search.find_tied()
    except KeyboardInterrupt:  # before a search had anything to return
        search.cut = search.cut or Status.INTERRUPTED
    return search.chosen()


class _TiedSearch:
    """The candidates so far, and the time left."""

    def __init__(
        self, problem: OrderProblem, scores: NoiseScores, effort: Effort, time_limit: float | None, stage: str
    ) -> None:
        self.problem, self.scores, self.effort, self.stage = problem, scores, effort, stage
        self.candidates: list[BoolMatrix] = []
        self.found: list[FoundGraph] = []
        # Status of the first search that was cut short. No further search begins after it.
        self.cut: Status | None = None
        self._ends: list[BoolMatrix] = []
        self._deadline = math.inf if time_limit is None else time.perf_counter() + time_limit

    def find_free(self, init: NDArray[np.intp] | None) -> None:
        """Search without a prior."""
        stage = f"{self.stage} (free variances)"
        self.free = self._note(find_free_order(self.problem, init, self.effort, self._time_left() / 2, stage))
        self.candidates.append(self.free.graph)

    def find_tied(self) -> None:
        """Search with a prior, from both starts."""
        if self.problem.moments.d > LARGEST_EXACT:  # an exact search does not need a second start
            self._climb(self.free.graph, self.scores.residuals(self.free.graph))
        self._from_equal_variances()
        self._settle()

    def chosen(self) -> tuple[FoundGraph, NoiseChoice]:
        """Choose between the candidates."""
        graph, choice = self.scores.choose(self.candidates, self.free.graph)
        decisive = self.free if choice.kind == "free" else self.found[-1]
        found = dataclasses.replace(
            self.free.with_graph(graph, self.problem.moments.covariance),
            score=choice.scores[choice.kind],
            status=self.cut or decisive.status,
            perturbations=sum(found.perturbations for found in self.found),
        )
        return found, choice

    def _from_equal_variances(self) -> None:
        """Start from the order found with equal variances."""
        from golem.solvers.order.equal_variances import learn_equal_variances
        from golem.solvers.order.variance_order import precedence, robust_variance_order

        moments = self.problem.moments
        scale = np.sqrt(moments.variances)
        if self.cut or scale.max() > _WIDEST_SCALES * scale.min():
            return
        if moments.d <= LARGEST_EXACT:
            before = precedence(moments.d, *self.problem.masks)
            _, factor = robust_variance_order(moments.covariance, moments.n, before)
            r = np.diagonal(factor) ** 2
            # A prior with only the sampling spread is as good as equal variances, and the search is exact.
            mu, _ = self.scores.likelihood.prior(r)
            found = self._find((), self.effort, Prior(float(mu), 2 / moments.n))
        else:
            found = self._note(learn_equal_variances(self.problem, self._deadline))
            r = np.maximum(found.regressions.residual_variances, np.finfo(float).eps * moments.variances)
        self._climb(found.graph, r)

    def _settle(self) -> None:
        """Search at full effort, unless both starts led to the same score or all searches were exact."""
        if self.cut or self.effort == "fast" or self.problem.moments.d <= LARGEST_EXACT:
            return
        ends = sorted(self._ends, key=self.scores.tied)
        if len(ends) < 2 or self.scores.tied(ends[-1]) - self.scores.tied(ends[0]) < _AGREEMENT:
            return
        graph = self._find(ends, self.effort, self._prior(ends[0])).graph
        self._climb(graph, self.scores.residuals(graph))

    def _climb(self, graph: BoolMatrix, r: Vector) -> None:
        """Alternate between estimating the prior and the graph until the score no longer falls."""
        mu, v = map(float, self.scores.likelihood.prior(r))
        lowest = self.scores.tied(graph)
        self.candidates.append(graph)
        for _ in range(_MOST_ROUNDS):
            if self.cut:
                break
            graph = self._find((graph,), "fast", Prior(mu, v)).graph
            self.candidates.append(graph)
            score, before = self.scores.tied(graph), v
            mu, v = map(float, self.scores.likelihood.prior(self.scores.residuals(graph)))
            if score >= lowest or abs(math.log(v / before)) < _SETTLED:
                break
            lowest = score
        self._ends.append(graph)

    def _prior(self, graph: BoolMatrix) -> Prior:
        """Estimate the prior from a graph."""
        return Prior(*map(float, self.scores.likelihood.prior(self.scores.residuals(graph))))

    def _find(self, starts: Sequence[BoolMatrix], effort: Effort, prior: Prior) -> FoundGraph:
        """Search with a prior, within the time left."""
        stage, left = f"{self.stage} (tied variances)", self._time_left()
        return self._note(find_order(self.problem, starts, effort=effort, prior=prior, time_limit=left, stage=stage))

    def _time_left(self) -> float:
        return max(self._deadline - time.perf_counter(), 2e-3)

    def _note(self, found: FoundGraph) -> FoundGraph:
        """Record the result of a search, and return it."""
        self.found.append(found)
        self.scores.remember(found.regressions)
        if found.status.is_cut_short:
            self.cut = self.cut or found.status
        return found
