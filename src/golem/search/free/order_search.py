"""Search over orders of the nodes: likelihood-NV with a penalty per edge (paper, section 3, with l0 instead of l1).

Given an order of the nodes, log|det(I - B)| = 0 and the score is a sum of one regression per node,

    sum_j  n log r_j(parents of j) + penalty[number of parents of j],

where r_j is the residual variance of node j. From several starts, the search moves one node at a time to its best
position, then perturbs the order and searches again. It uses the correlation matrix, so that only a start given by the
user can depend on the units of the columns. Its compiled part is `order_kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.data.checks import most_parents
from golem.graphs.edges import Edges
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import BoolVector
from golem.score.solution import Callback
from golem.search.found_graph import FoundGraph
from golem.search.free import order_kernel_arrays as kernels
from golem.search.free.candidates import candidate_lists, markov_blankets, most_correlated
from golem.search.free.chains import Run, Start
from golem.search.masks import checked_masks, edge_kinds, obeying
from golem.search.order_problem import EFFORTS, Effort
from golem.search.search_clock import SearchClock

# From this number of nodes on, every named start is tried twice. With fewer, perturbations find more in the same time.
_TRIED_TWICE_FROM = 150
# Rows of a matrix that are treated at a time, so that they stay in the CPU cache.
_ROWS = 128


def search_orders(
    covariance: ArrayLike,
    n: int,
    penalty: ArrayLike,
    *,
    allowed: ArrayLike | None = None,
    required: ArrayLike | None = None,
    starts: Sequence[str | ArrayLike] = ("r2", "random"),
    effort: Effort = "default",
    time_limit: float | None = None,
    centre: float = 0.0,
    spread: float = np.inf,
    random_state: int | np.random.Generator = 0,
    on_progress: Callback | None = None,
) -> FoundGraph:
    """Minimize sum_j n log(r_j / S_jj) + penalty over orders and parents: the score of the standardized columns.

    Parameters
    ----------
    covariance, n : array of shape (d, d), int
        Covariance, and the number of rows it was computed from.
    penalty : array of shape (d,)
        `penalty[k]` is the penalty of k parents; see `golem.score.sparsity.L0.penalties`.
    allowed, required : array of shape (d, d), bool, optional
        Masks of the edges i -> j that are allowed, and that are required.
    starts : sequence
        Orders or graphs, or the names "r2" (nodes by the share of their variance that all others explain) and
        "random". Random starts are added if the effort asks for more.
    centre, spread : float
        A prior on the noise variances adds (log r - centre)^2 / spread per node, r in the units of the covariance.
    effort, time_limit, random_state, on_progress
        As for `golem.solvers.Order`.

    Examples
    --------
    >>> S = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
    >>> search_orders(S, 1000, np.arange(3) * 7.0).weights.round(2) + 0.0
    array([[0. , 0. , 0.6],
           [0. , 0. , 0.6],
           [0. , 0. , 0. ]])
    """
    return OrderSearch(covariance, n, penalty, allowed, required).search(
        starts,
        effort=effort,
        time_limit=time_limit,
        centre=centre,
        spread=spread,
        random_state=random_state,
        on_progress=on_progress,
    )


class OrderSearch:
    """Searches over orders of one table, and what they share."""

    def __init__(
        self,
        covariance: ArrayLike,
        n: int,
        penalty: ArrayLike,
        allowed: ArrayLike | None = None,
        required: ArrayLike | None = None,
    ) -> None:
        self.S = S = np.asarray(covariance, dtype=float)
        d, penalties = len(S), np.asarray(penalty, dtype=float)
        may, self.required = checked_masks(d, allowed, required)
        most = most_parents(n)
        if self.required is not None:
            most = max(most, int(self.required.sum(axis=0).max(initial=0)))
        self.known = None if may is None and self.required is None else edge_kinds(d, may, self.required)
        variances = np.diagonal(S)
        self.variances = np.where(variances > 0, variances, 1.0)
        scale = 1 / np.sqrt(self.variances)
        R = S * scale
        R *= scale[:, None]
        for start in range(0, d, _ROWS):  # a covariance can be asymmetric by rounding
            rows, rest = slice(start, start + _ROWS), slice(start, d)
            R[rows, rest] = (R[rows, rest] + R[rest, rows].T) / 2
            R[rest, rows] = R[rows, rest].T
        np.fill_diagonal(R, 1.0)
        self.problem = kernels.Problem(
            S=R,
            n=float(n),
            penalty=penalties,
            threshold=-np.expm1(-np.append(np.diff(penalties), np.inf) / n),
            centre=np.zeros(d),
            tightness=0.0,
            most_parents=min(most, d - 1),
        )
        with blas_threads_for(d):
            self.likely, self.r2 = markov_blankets(self.problem)
        children, causes = np.nonzero(self.likely)
        self.blankets = Edges(causes, children, d)
        # Pairs of candidates. Every search adds those that it missed, so that later ones begin with them.
        self._connected = self.likely | most_correlated(R)
        if self.required is not None:
            self._connected |= self.required
        self._candidates: kernels.Candidates | None = None
        self._is_stale = True

    def candidates(self) -> kernels.Candidates:
        """Return the candidates of every node."""
        if self._candidates is None or self._is_stale:
            lists = candidate_lists(self.problem.S, self._connected, self.likely, self.known, self._candidates)
            self._candidates, self._is_stale = lists, False
        return self._candidates

    def connect(self, one: NDArray[Any], other: NDArray[Any]) -> BoolVector:
        """Make pairs of nodes candidates of each other; return which nodes have new ones, shape (d,)."""
        added = (one != other) & ~self._connected[one, other] & ~self._connected[other, one]
        self._connected[one[added], other[added]] = True
        new = np.zeros(len(self.S), dtype=bool)
        new[one[added]] = new[other[added]] = True
        self._is_stale = self._is_stale or bool(new.any())
        return new

    def search(
        self,
        starts: Sequence[str | ArrayLike] = ("r2", "random"),
        *,
        effort: Effort = "default",
        time_limit: float | None = None,
        centre: float = 0.0,
        spread: float = np.inf,
        random_state: int | np.random.Generator = 0,
        on_progress: Callback | None = None,
    ) -> FoundGraph:
        """Search from some starts; see `search_orders`."""
        clock = SearchClock(time_limit, on_progress)
        rng = np.random.default_rng(random_state)
        problem = self.problem._replace(
            centre=centre - np.log(self.variances), tightness=0.0 if np.isinf(spread) else 1.0 / spread
        )
        wanted, base, factor = EFFORTS[effort]
        clock.planned = base + int(factor * max(np.sqrt(len(self.S)), len(self.S) / 20))
        tried = list(starts[:1])
        if effort != "fast":
            tried = [*starts, *["random"] * (wanted - len(starts))]
            if len(self.S) >= _TRIED_TWICE_FROM:
                # Much depends on the order of the visits. The best chains go on.
                tried += [start for start in tried if isinstance(start, str)]
        run = Run(self, problem, [self.start(start, rng) for start in tried], wanted, rng, clock)
        status, leader = run.run(), run.leader()
        return FoundGraph(
            order=leader.best.nodes[kernels.ORDER].astype(np.intp),
            regressions=leader.regressions(self.S),
            score=leader.score,
            status=status,
            perturbations=run.perturbations,
        )

    def start(self, start: str | ArrayLike, rng: np.random.Generator) -> Start:
        """Convert a start to an order that the required edges allow."""
        edges, is_graph = self.blankets, False
        if isinstance(start, str):
            order = np.argsort(self.r2.round(9), kind="stable") if start == "r2" else rng.permutation(len(self.S))
        else:
            order = np.asarray(start)
            is_graph = order.ndim == 2
            if is_graph:
                edges = Edges.from_matrix(order != 0).by_child()
                order = edges.order()
        order = obeying(order, self.required)
        if self.required is not None:
            # Required parents come first.
            must = Edges.from_matrix(self.required)
            causes, children = np.append(must.causes, edges.causes), np.append(must.children, edges.children)
            edges = Edges(causes, children, edges.d).by_child()
        return Start(order.astype(np.int64), edges, is_graph)
