"""The correlation engine: likelihood-NV with a penalty per edge (paper, section 3, with l0 instead of l1).

Given an order of the nodes, log|det(I - B)| = 0 and the score is a sum of one regression per node,

    sum_j  n log r_j(parents of j) + penalty[number of parents of j],

where r_j is the residual variance of node j. It uses the correlation matrix, so that only a start given by the user can
depend on the units of the columns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from golem.data.checks import most_parents
from golem.data.factors import principal_factors
from golem.graphs.edges import Edges
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.gaussian_columns import GaussianColumns
from golem.score.regression import regress_edges
from golem.search.chain import Chain, Lists, Start, empty_agenda
from golem.search.engines import correlation_kernel_arrays as arrays
from golem.search.engines import correlation_kernels  # noqa: F401  registers the kernels
from golem.search.engines.correlation_candidates import (
    candidate_lists,
    choose_parents,
    empty_state,
    markov_blankets,
    most_correlated,
    scratch,
)
from golem.search.engines.engine import Engine
from golem.search.order_kernel_arrays import NODE, POSITION

# How often every named start is tried, up to so many nodes. With more nodes, starts take most of the time.
_TRIES = {75: 4, 150: 3}
_LEAST_TRIES = 2
# From so many nodes on, graphs with so many edges per node are searched for at length only if they do not imitate a few
# hidden factors. With fewer nodes, searches take seconds anyway.
_MANY_NODES, _MANY_EDGES = 300, 3
# Rows of a matrix that are treated at a time, so that they stay in the CPU cache.
_ROWS = 128


class CorrelationEngine(Engine):
    """The fast engine, for one covariance and one column per node. Searches of one table share their candidates."""

    def __init__(self, score: GaussianColumns, allowed: BoolMatrix | None, required: BoolMatrix | None) -> None:
        super().__init__(score, allowed, required)
        self.score, d, penalty = score, score.d, np.asarray(score.penalty, dtype=float)
        most = most_parents(score.n)
        if required is not None:
            most = max(most, int(required.sum(axis=0).max(initial=0)))
        self.edge_penalty = float(penalty[1] - penalty[0]) if d > 1 else 0.0
        self.problem = correlation_problem(_correlations(score), score.n, penalty, min(most, d - 1))
        with blas_threads_for(d):
            self.likely, self.explained = markov_blankets(self.problem)
        children, causes = np.nonzero(self.likely)
        self.blankets = Edges(causes, children, d)
        self.connected |= self.likely | most_correlated(self.problem.S)
        self.set_prior(score.centre, score.spread)

    @staticmethod
    def tiny_score() -> GaussianColumns:
        """Return a score of few nodes."""
        return GaussianColumns(np.eye(4) + 0.5, 50, np.arange(4.0))

    def set_prior(self, centre: float, spread: float) -> None:
        """Change the prior on the log noise variances. Searches with different priors share the candidates."""
        values = self.problem.values.copy()
        values[arrays.CENTRE] = centre - np.log(self.score.variances)
        self.problem = self.problem._replace(values=values, tightness=0.0 if np.isinf(spread) else 1.0 / spread)

    def prepare(self, check: Callable[[], None]) -> None:
        """Do nothing, as searches with different priors share the neighbours."""

    @property
    def tries(self) -> int:
        """How often a named start is tried."""
        return next((tries for d, tries in _TRIES.items() if self.d <= d), _LEAST_TRIES)

    def new_lists(self, before: Lists | None) -> Lists:
        """Return the candidates that the connected pairs imply."""
        earlier = None if before is None else before.candidates
        lists = candidate_lists(self.problem.S, self.connected, self.likely, self.known, earlier)
        return Lists(self.problem, lists, lists.slots.shape[1] == self.d**2)

    def first_parents(self, start: Start) -> Start:
        """Choose parents in an order, from the blankets; those of a graph are kept."""
        return start if start.is_graph else self.choose_among_all(start, lambda: None)

    def choose_among_all(self, start: Start, check: Callable[[], None]) -> Start:
        """Improve the parents in an order by a choice among all predecessors."""
        chosen, _ = choose_parents(self.problem, start.edges, False, np.argsort(start.order), self.known)
        return Start(start.order.copy(), chosen)

    def chains(self, lists: Lists, starts: Sequence[Start], seeds: Sequence[int]) -> list[Chain]:
        """Return one chain per start."""
        first, total = lists.candidates.first, lists.candidates.slots.shape[1]
        most = int(np.diff(first).max(initial=0)), self.problem.most_parents

        def arrays_of_chain() -> arrays.CorrelationArrays:
            state, agenda = empty_state(self.d, total), empty_agenda(0, 0, 0)
            return arrays.CorrelationArrays(
                self.problem, lists.candidates, state, agenda, scratch(*most), scratch(*most)
            )

        return [_CorrelationChain(arrays_of_chain(), start, seed) for start, seed in zip(starts, seeds, strict=True)]

    def imitates_factors(self, edges: Edges) -> bool:
        """Return whether a large, dense graph imitates a few factors that explain nearly all correlations."""
        return self.d >= _MANY_NODES and len(edges) > _MANY_EDGES * self.d and self._has_factors

    @functools.cached_property
    def _has_factors(self) -> bool:
        with blas_threads_for(self.d):
            return principal_factors(self.problem.S, self.score.n) > 0

    def costs(self, edges: Edges) -> Vector:
        """Return the cost of every node of a graph."""
        log_r = np.log(regress_edges(edges.children, edges.causes, self.problem.S).residual_variances)
        prior = self.problem.tightness * (log_r - self.problem.values[arrays.CENTRE]) ** 2
        number = np.bincount(edges.children, minlength=self.d)
        return np.asarray(self.problem.n * log_r + prior + self.problem.values[arrays.PENALTY, number])


class _CorrelationChain(Chain):
    """A chain with hashes of the predecessors of every node."""

    def begin_state(self, owners: NDArray[np.int64]) -> None:
        """Compute the hashes, and then the costs."""
        (_, candidates, state, *_), nodes = self.arrays, self.arrays.candidates.slots[NODE]
        position, hashes = state.nodes[POSITION], state.hashes
        precedes = position[nodes] < position[owners]
        hashes[:] = 0
        np.add.at(hashes[arrays.BEFORE], owners[precedes], candidates.keys[0, nodes[precedes]])
        super().begin_state(owners)


def correlation_problem(R: Matrix, n: int, penalty: Vector, most: int) -> arrays.CorrelationProblem:
    """Return the problem of a correlation matrix without a prior."""
    return arrays.CorrelationProblem(
        S=R,
        n=float(n),
        values=np.stack([penalty, -np.expm1(-np.append(np.diff(penalty), np.inf) / n), np.zeros(len(R))]),
        tightness=0.0,
        most_parents=most,
    )


def _correlations(score: GaussianColumns) -> Matrix:
    """Return the correlation matrix, exactly symmetric."""
    d, scale = score.d, 1 / np.sqrt(score.variances)
    R: Matrix = score.covariance * scale
    R *= scale[:, None]
    for start in range(0, d, _ROWS):  # a covariance can be asymmetric by rounding
        rows, rest = slice(start, start + _ROWS), slice(start, d)
        R[rows, rest] = (R[rows, rest] + R[rest, rows].T) / 2
        R[rest, rows] = R[rows, rest].T
    np.fill_diagonal(R, 1.0)
    return R
