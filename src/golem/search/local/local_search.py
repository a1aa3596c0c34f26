"""Minimize a sum of costs of nodes given their parents: exactly for few nodes, otherwise by a search over orders."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from golem.graphs.dag import topological_order
from golem.graphs.edges import Edges
from golem.runtime.interrupts import losing_interrupts
from golem.runtime.types import BoolMatrix, Indices, Vector
from golem.score.node_scores import Counts, GaussianBlocks, gaussian_blocks
from golem.score.solution import TIE, Callback, Status
from golem.search.exact_order import LARGEST_EXACT, Subsets
from golem.search.masks import checked_masks
from golem.search.order_problem import Effort
from golem.search.search_clock import SearchClock

# Many levels or rows make the exact search slow, while the search over orders takes a fraction of a second for so few
# nodes. An exact search that would take longer than this is not begun.
_LONGEST_EXACT = 1.0  # seconds


@dataclass(frozen=True, eq=False)
class LocalResult:
    """The best graph of a search: edges sorted by child, then cause."""

    order: Indices  # nodes, causes first
    causes: Indices
    children: Indices
    costs: Vector  # (d,)
    status: Status
    perturbations: int = 0

    @property
    def score(self) -> float:
        """The sum of the costs."""
        return float(self.costs.sum())

    @property
    def edges(self) -> Edges:
        """The edges."""
        return Edges(self.causes, self.children, len(self.order))

    @property
    def graph(self) -> BoolMatrix:
        """Adjacency matrix of shape (d, d)."""
        return self.edges.matrix()


def search_local(
    score: GaussianBlocks | Counts,
    *,
    allowed: ArrayLike | None = None,
    required: ArrayLike | None = None,
    starts: Sequence[ArrayLike] = (),
    effort: Effort = "default",
    time_limit: float | None = None,
    random_state: int | np.random.Generator = 0,
    on_progress: Callback | None = None,
) -> LocalResult:
    """Find a DAG with a low sum of costs; up to 12 nodes the lowest, if that takes about a second at most.

    Parameters
    ----------
    score : GaussianBlocks or Counts
        The costs.
    allowed, required : array of shape (d, d), bool, optional
        Masks of the edges i -> j that are allowed, and that are required.
    starts : sequence
        Orders or graphs to begin with, in addition to those that the search chooses. An exact search ignores them.
    effort, time_limit, random_state, on_progress
        As for `golem.solvers.Order`.

    Examples
    --------
    >>> from golem.score.node_scores import gaussian_blocks
    >>> S = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
    >>> search_local(gaussian_blocks([S], [1000])).graph.astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    may, must = checked_masks(score.d, allowed, required)
    longest = _LONGEST_EXACT if time_limit is None else min(time_limit, _LONGEST_EXACT)
    if score.d <= LARGEST_EXACT and score.table_seconds <= longest:
        return _search_exactly(score, may, must)
    compile_local_search()  # once, and before the clock starts
    clock = SearchClock(time_limit, on_progress)
    return _search_orders(score, may, must, starts, effort, np.random.default_rng(random_state), clock)


@functools.cache
def compile_local_search() -> None:
    """Compile the kernels, or load them from numba's cache, by solving a tiny problem."""
    with losing_interrupts():
        tiny = gaussian_blocks([np.eye(4) + 0.5], [50])
        _search_orders(tiny, None, None, (), "fast", np.random.default_rng(0), SearchClock(None, None))


def _search_exactly(
    score: GaussianBlocks | Counts, allowed: BoolMatrix | None, required: BoolMatrix | None
) -> LocalResult:
    """Return the graph with the lowest score."""
    subsets, limits = Subsets(score.d), size_limits(score, required)
    cost = score.cost_table(subsets.members)
    scale = float(np.abs(cost[0]).max(initial=1.0))
    subsets.forbid(cost, allowed, required)
    cost[(subsets.members @ score.sizes)[:, None] > limits] = np.inf
    graphs, _ = subsets.best_dags(cost[:, :, None].copy(), TIE * scale)
    others = score.sizes.sum() - score.sizes
    status = Status.EXACT if np.all(limits >= others) else Status.SEARCHED
    children, causes = np.nonzero(np.ascontiguousarray(graphs[0].T))
    rows = graphs[0].T @ subsets.bits
    return LocalResult(topological_order(graphs[0]), causes, children, cost[rows, np.arange(score.d)], status)


def _search_orders(
    score: GaussianBlocks | Counts,
    allowed: BoolMatrix | None,
    required: BoolMatrix | None,
    starts: Sequence[ArrayLike],
    effort: Effort,
    rng: np.random.Generator,
    clock: SearchClock,
) -> LocalResult:
    """Return the best graph that chains from several starts find."""
    from golem.search.local.local_chains import Run  # imports numba
    from golem.search.local.local_problem import LocalProblem

    problem = LocalProblem(score, size_limits(score, required), allowed, required)
    run = Run(problem, starts, effort, rng, clock)
    status = run.run()
    order, parents, costs = run.result()
    children = np.repeat(np.arange(score.d), [len(own) for own in parents])
    return LocalResult(order, np.concatenate(parents), children, costs, status, run.perturbations)


def size_limits(score: GaussianBlocks | Counts, required: BoolMatrix | None) -> Vector:
    """Return the largest total size of the parents of every node, at least that of the required ones."""
    needed = np.zeros(score.d) if required is None else score.sizes @ required
    return np.maximum(score.limits, needed + 1e-9)
