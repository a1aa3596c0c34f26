"""Tied noise variances: search with a common prior on them, and choose between equal, tied and free ones.

Candidates come from two starts: the order by variance, which is best if the variances are equal, and the graph found
with free variances. From both, searches with the prior follow, and the prior's mean and spread are re-estimated from
each graph found. Each round can only lower the joint score of graph, mean and spread. With few nodes a search is exact
and fast. It is then repeated at every point of a grid over mean and spread, which does not depend on a start.
`noise_choice` decides between the candidates.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.threads import blas_threads_for
from golem.runtime.types import BoolMatrix, Vector
from golem.score.noise_choice import NoiseChoice, NoiseScores
from golem.score.solution import TIE, Status, TracePoint
from golem.search.equal.variance_order import precedence, robust_variance_order
from golem.search.exact_order import LARGEST_EXACT
from golem.search.free_order import Prior, find_exact, find_free_order, find_order
from golem.search.order_problem import Effort, FittedGraph, OrderProblem

# Two or three rounds are usually enough.
_MOST_ROUNDS = 5
_SETTLED = 0.01
_AGREEMENT = 1e-2
# With a spread above that of a prior worth one row, free variances have a better score.
_LARGEST_SPREAD = 2.0
_SPREADS = 8
# Means in the grid, in standard errors sqrt(spread / d) from that of the graph with free variances.
_MEANS = (-2.0, 0.0, 2.0)
# Graphs around whose own means and spreads the grid is refined.
_REFINED = 4
# Columns with scales this far apart cannot have similar noise; their order by variance would be due to rounding.
_WIDEST_SCALES = 1e6


def choose_and_search(
    problem: OrderProblem,
    scores: NoiseScores,
    init: NDArray[np.intp] | None,
    effort: Effort,
    time_limit: float | None,
    stage: str,
) -> tuple[FittedGraph, NoiseChoice]:
    """Find a graph with the noise variances that the data support; a given tau leaves no choice."""
    search = _TiedSearch(problem, scores, effort, time_limit, stage)
    search.find_free(init)
    try:
        search.find_tied()
        search.find_free_again()
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
        self.found: list[FittedGraph] = []
        # Status of the first search that was cut short. No further search begins after it.
        self.cut: Status | None = None
        self._ends: list[BoolMatrix] = []
        self._tied: FittedGraph | None = None  # the last search with a prior
        self._began = time.perf_counter()
        self._deadline = math.inf if time_limit is None else self._began + time_limit

    def find_free(self, init: NDArray[np.intp] | None) -> None:
        """Search without a prior; with many nodes briefly, as it may turn out that another search decides."""
        effort = self.effort if self.scores.scales_are_equal else "fast"
        self.free = self._find_free(init, effort, self._time_left() / 2)
        self.candidates.append(self.free.graph)

    def find_tied(self) -> None:
        """Search with a prior, from both starts."""
        if self.scores.scales_are_equal:
            return
        if self.problem.moments.d <= LARGEST_EXACT:
            self._search_grid()
        else:
            self._from_equal_variances()
            self._climb(self.free.graph)
            self._settle()

    def find_free_again(self) -> None:
        """Search without a prior at full effort, unless the variances are clearly not free."""
        exact = self.problem.moments.d <= LARGEST_EXACT
        if exact or self.cut or self.effort == "fast" or self.scores.scales_are_equal:
            return
        tied = min(min(self.scores.tied(graph), self.scores.equal(graph)) for graph in self.candidates)
        penalties = self.problem.penalties
        # More perturbations lower a score by the penalty of a few edges.
        margin = float(penalties[1] - penalties[0]) * math.sqrt(len(penalties))
        if self.scores.likelihood.tau is not None or tied < self.scores.free(self.free.graph)[0] - margin:
            return
        again = self._find_free(self.free.order, self.effort, self._time_left())
        if again.score < self.free.score - TIE * self.problem.moments.n:
            self.free = again
            self.candidates.append(again.graph)

    def chosen(self) -> tuple[FittedGraph, NoiseChoice]:
        """Choose between the candidates."""
        graph, choice = self.scores.choose(self.candidates, self.free.graph)
        decisive = self.free if choice.kind == "free" else self._tied or self.free
        # An exact search knows that no graph is better for its prior, but not that no prior is better.
        status = Status.GRID if decisive.status is Status.EXACT else decisive.status
        # The scores on the way can be compared with the final one only if the search had the chosen noise model.
        recorded = {"free": self.free, "tied": self._tied}.get(choice.kind)
        found = dataclasses.replace(
            self.free.with_graph(graph, self.problem.moments.covariance),
            score=choice.scores[choice.kind],
            status=self.cut or status,
            perturbations=self._perturbations,
            trace=() if recorded is None else recorded.trace,
        )
        return found, choice

    def _search_grid(self) -> None:
        """Search exactly at each point of a grid over mean and spread, then at finer points around the best graphs."""
        n, d = self.problem.moments.n, self.problem.moments.d
        likelihood, start = self.scores.likelihood, self._prior(self.free.graph)
        spreads = np.geomspace(2 / n, _LARGEST_SPREAD, _SPREADS) if likelihood.tau is None else [start.spread]
        steps = _MEANS if likelihood.centre is None else (0.0,)
        points = [Prior(start.centre + step * math.sqrt(v / d), float(v)) for v in spreads for step in steps]
        best = math.inf
        for _ in range(_MOST_ROUNDS):
            exact = find_exact(self.problem, points)
            self.candidates += [self._note(found).graph for found in exact]
            self._tied = exact[-1]
            distinct = {graph.tobytes(): graph for graph in self.candidates}
            self.candidates = sorted(distinct.values(), key=self.scores.tied)
            lowest = self.scores.tied(self.candidates[0])
            if lowest > best - _SETTLED:
                break
            best, points = lowest, [self._prior(graph) for graph in self.candidates[:_REFINED]]

    def _from_equal_variances(self) -> None:
        """Start from the order by variance, with the variances given all predecessors as a first estimate."""
        moments = self.problem.moments
        scale = np.sqrt(moments.variances)
        if self.cut or scale.max() > _WIDEST_SCALES * scale.min():
            return
        before = precedence(moments.d, *self.problem.masks)
        with blas_threads_for(moments.d):
            order, variances = robust_variance_order(moments.covariance, moments.n, before)
        prior = self._prior_of(variances)
        self._climb(self._find((order,), "fast", prior).graph)

    def _settle(self) -> None:
        """Search at full effort from both ends, which can be the same, and from an independent start."""
        if self.cut or self.effort == "fast":
            return
        ends = sorted(self._ends, key=self.scores.tied)
        same = self.scores.tied(ends[-1]) - self.scores.tied(ends[0]) < _AGREEMENT
        found = self._find((*ends[: 1 if same else 2], "r2"), self.effort, self._prior(ends[0]))
        if self.scores.tied(found.graph) < self.scores.tied(ends[0]) - _AGREEMENT:
            self._climb(found.graph)

    def _climb(self, graph: BoolMatrix) -> None:
        """Alternate between estimating the prior and the graph until the score no longer falls."""
        prior, lowest = self._prior(graph), self.scores.tied(graph)
        self.candidates.append(graph)
        for _ in range(_MOST_ROUNDS):
            if self.cut:
                break
            graph = self._find((graph,), "fast", prior).graph
            self.candidates.append(graph)
            score, before, prior = self.scores.tied(graph), prior, self._prior(graph)
            if score > lowest - TIE * self.problem.moments.n or abs(math.log(prior.spread / before.spread)) < _SETTLED:
                break
            lowest = score
        self._ends.append(graph)

    def _prior(self, graph: BoolMatrix) -> Prior:
        """Estimate the prior from a graph."""
        return self._prior_of(self.scores.residuals(graph))

    def _prior_of(self, variances: Vector) -> Prior:
        """Estimate the prior from residual variances."""
        return Prior(*map(float, self.scores.likelihood.prior(variances)))

    def _find(self, starts: Sequence[str | NDArray[Any]], effort: Effort, prior: Prior) -> FittedGraph:
        """Search with a prior, within the time left."""
        stage, left, began = f"{self.stage} (tied variances)", self._time_left(), time.perf_counter()
        found = find_order(self.problem, starts, effort=effort, prior=prior, time_limit=left, stage=stage)
        self._tied = self._note(self._later(found, began))
        return self._tied

    def _find_free(self, init: NDArray[np.intp] | None, effort: Effort, time_limit: float) -> FittedGraph:
        """Search without a prior."""
        stage, began = f"{self.stage} (free variances)", time.perf_counter()
        return self._note(self._later(find_free_order(self.problem, init, effort, time_limit, stage), began))

    def _later(self, found: FittedGraph, began: float) -> FittedGraph:
        """Return a result whose trace continues the iterations and the clock of the searches before it."""
        before, offset = self._perturbations, began - self._began
        points = (TracePoint(before + p.iteration, offset + p.seconds, p.terms) for p in found.trace)
        return dataclasses.replace(found, trace=tuple(points))

    @property
    def _perturbations(self) -> int:
        return sum(found.perturbations for found in self.found)

    def _time_left(self) -> float:
        return max(self._deadline - time.perf_counter(), 2e-3)

    def _note(self, found: FittedGraph) -> FittedGraph:
        """Record the result of a search, and return it."""
        self.found.append(found)
        self.scores.remember(found.regressions)
        if found.status.is_cut_short:
            self.cut = self.cut or found.status
        return found
