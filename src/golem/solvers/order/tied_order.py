"""Between equal and free noise variances: search with a common prior on them, and choose by one score.

Candidates come from two sides. From equal variances: their order, then searches with the prior, whose mean and spread
are estimated anew from each graph found. From free variances: their graph, then such searches again. Each round can
only lower the joint score of graph, mean and spread. `noise_choice` decides between the candidates.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix, Vector
from golem.score.likelihood import GaussianTied
from golem.score.sparsity import L0
from golem.solvers.order.covered_edges import prefer_equal_variances
from golem.solvers.order.effort import Effort
from golem.solvers.order.exact_order import LARGEST_EXACT
from golem.solvers.order.free_order import FoundGraph, OrderProblem, Prior, find_order
from golem.solvers.order.noise_choice import NoiseChoice, NoiseScores
from golem.solvers.solution import Status

# The rounds settle after two or three.
_MOST_ROUNDS = 5
_SETTLED = 0.01
_AGREEMENT = 1e-2
# Columns in units this far apart cannot have noise of one size; their order by variance would be rounding.
_WIDEST_SCALES = 1e6


def choose_and_search(
    problem: OrderProblem,
    likelihood: GaussianTied,
    sparsity: L0,
    *,
    effort: Effort = "default",
    time_limit: float | None = None,
    init: NDArray[np.intp] | None = None,
    stage: str = "",
) -> tuple[FoundGraph, NoiseChoice]:
    """Find a graph under the noise assumption that the data speak for; a given tau leaves no choice."""
    search = _TiedSearch(problem, NoiseScores(problem.moments, sparsity, likelihood), effort, time_limit, stage)
    search.from_free_variances(init)
    search.from_equal_variances()
    search.settle()
    graph, choice = search.scores.choose(search.candidates, search.free.graph)
    trace, perturbations = search.free.trace, sum(found.perturbations for found in search.found)
    return FoundGraph(graph, search.status(choice), perturbations, trace), choice


class _TiedSearch:
    """Candidates so far, and the clock."""

    def __init__(
        self, problem: OrderProblem, scores: NoiseScores, effort: Effort, time_limit: float | None, stage: str
    ) -> None:
        self.problem, self.scores, self.effort, self.stage = problem, scores, effort, stage
        self.candidates: list[BoolMatrix] = []
        self.found: list[FoundGraph] = []
        self._ends: list[BoolMatrix] = []
        self._deadline = None if time_limit is None else time.perf_counter() + time_limit

    @property
    def stopped(self) -> bool:
        """Whether a search was cut short."""
        return any(not found.status.is_final for found in self.found)

    def status(self, choice: NoiseChoice) -> Status:
        """How it ended: the first search that was cut short, else the one that made the choice."""
        cut = [found.status for found in self.found if not found.status.is_final]
        if cut:
            return cut[0]
        decisive = self.free if choice.kind == "free" else self.found[-1]
        return decisive.status

    def from_free_variances(self, init: NDArray[np.intp] | None) -> None:
        """Search without a prior, and from there with one."""
        starts: tuple[str | NDArray[Any], ...] = ("r2", "random") if init is None else (init, "r2")
        found = self._find(starts, self.effort, None, 0.5)
        moments, masks = self.problem.moments, (self.problem.allowed, self.problem.required)
        graph = prefer_equal_variances(found.graph, moments.covariance, *masks)
        self.free = FoundGraph(graph, found.status, found.perturbations, found.trace)
        self.candidates.append(graph)
        if moments.d > LARGEST_EXACT:  # an exact search gains nothing by a second start
            self._climb(graph, self.scores.residuals(graph))

    def from_equal_variances(self) -> None:
        """Start from the order that equal variances give."""
        scale = np.sqrt(self.problem.moments.variances)
        if self.stopped or scale.max() > _WIDEST_SCALES * scale.min():
            return
        graph, r = self._equal_variances()
        if graph is None:
            # A prior without spread but for sampling is as good as equal variances, and the search exact.
            mu, _ = self.scores.likelihood.prior(r)
            graph = self._find((), self.effort, Prior(float(mu), 2 / self.problem.moments.n)).graph
        self._climb(graph, r)

    def settle(self) -> None:
        """Search at full effort, unless both sides have come to the same score or a search would be exact anyway."""
        if self.stopped or self.effort == "fast" or self.problem.moments.d <= LARGEST_EXACT:
            return
        ends = sorted(self._ends, key=self.scores.tied)
        if len(ends) < 2 or self.scores.tied(ends[-1]) - self.scores.tied(ends[0]) < _AGREEMENT:
            return
        graph = self._find(tuple(ends), self.effort, self._prior(ends[0])).graph
        self._climb(graph, self.scores.residuals(graph))

    def _climb(self, graph: BoolMatrix, r: Vector) -> None:
        """Alternate between the prior's mean and spread and the graph until the score no longer falls."""
        mu, v = map(float, self.scores.likelihood.prior(r))
        lowest = self.scores.tied(graph)
        self.candidates.append(graph)
        for _ in range(_MOST_ROUNDS):
            if self.stopped:
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

    def _find(
        self, starts: tuple[str | NDArray[Any], ...], effort: Effort, prior: Prior | None, share: float = 1.0
    ) -> FoundGraph:
        """Search once, within a share of the time left."""
        left = None if self._deadline is None else max((self._deadline - time.perf_counter()) * share, 1e-3)
        stage = f"{self.stage} ({'free' if prior is None else 'tied'} variances)"
        found = find_order(self.problem, starts, effort=effort, prior=prior, time_limit=left, stage=stage)
        self.found.append(found)
        return found

    def _equal_variances(self) -> tuple[BoolMatrix | None, Vector]:
        """Return the graph of equal variances (None for few nodes) and variances to start the prior from."""
        from golem.solvers.order.equal_variances import learn_equal_variances
        from golem.solvers.order.variance_order import precedence, robust_variance_order

        moments, masks = self.problem.moments, (self.problem.allowed, self.problem.required)
        if moments.d <= LARGEST_EXACT:
            _, factor = robust_variance_order(moments.covariance, moments.n, precedence(moments.d, *masks))
            return None, np.diagonal(factor) ** 2
        deadline = math.inf if self._deadline is None else self._deadline
        fit = learn_equal_variances(moments.covariance, moments.n, self.problem.penalties, *masks, deadline)
        return fit.graph, np.maximum(fit.residual_variances, np.finfo(float).eps * moments.variances)
