"""Order: count edges instead of shrinking them, by searching over orders of the nodes.

Given an order the graph is acyclic by construction: log|det(I - B)| and h(B) vanish, and likelihood + l0 becomes one
small regression a node. What stays combinatorial is the order. With equal noise variances a Cholesky factorization
finds it (`variance_order`); with free ones it is searched for (`order_search`), exactly where there are few nodes
(`exact_order`).
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from golem.graph import BoolMatrix, is_dag, topological_order
from golem.likelihood import GaussianEV, Likelihood
from golem.moments import Matrix, Moments
from golem.objective import graph_scores
from golem.solvers.exact_order import LARGEST_EXACT, exact_minimum
from golem.solvers.solution import Callback, Progress, Solution, Status, TracePoint
from golem.solvers.tie_break import least_squares_weights, prefer_equal_variances
from golem.sparsity import L0

EFFORTS = ("fast", "default", "thorough")


@dataclass(frozen=True)
class Order:
    """Search over orders of the nodes for the minimum of L(B) + the price of the edges.

    Parameters
    ----------
    effort : {"fast", "default", "thorough"}
        How many starts and perturbations the search with free noise variances makes; it ends early when independent
        starts agree. Up to 12 nodes the minimum is exact whatever the effort. Equal variances need no search.
    time_limit : float, optional
        Seconds after which the best graph so far is returned.
    """

    effort: Literal["fast", "default", "thorough"] = "default"
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.effort not in EFFORTS:
            raise ValueError(f"effort must be one of {', '.join(EFFORTS)}; got {self.effort!r}")

    def solve(
        self,
        moments: Moments,
        likelihood: Likelihood,
        sparsity: L0,
        init: NDArray[Any] | None = None,
        *,
        allowed: BoolMatrix | None = None,
        required: BoolMatrix | None = None,
        random_state: int | np.random.Generator | None = None,
        callback: Callback | None = None,
        stage: str = "",
    ) -> Solution:
        """Find a graph and its least-squares weights.

        Parameters
        ----------
        moments : Moments
            The data.
        likelihood : GaussianEV or GaussianNV
            The noise model.
        sparsity : L0
            The price of edges.
        init : array of shape (d,) or (d, d), optional
            An order of the nodes, causes first, or a graph, as a start. It may come from the scales of the columns,
            which the search itself does not look at.
        allowed, required : array of shape (d, d), bool, optional
            Edges that may be, and that must be.
        random_state : int, Generator or None
            Seed of the search; None is seed 0, so that the same data give the same graph.
        callback, stage
            For a progress bar.
        """
        start = None if init is None else as_order(init, moments.d)
        equal = isinstance(likelihood, GaussianEV)
        if equal or moments.d > LARGEST_EXACT:
            compile_search(equal)  # before the clock starts: it happens once, and is no part of the solve
        began = time.perf_counter()
        solve = self._equal_variances if equal else self._free_variances
        graph, status, iterations, trace = solve(
            moments, sparsity.prices(moments.n, moments.d), start, allowed, required, random_state, callback, stage
        )
        B = least_squares_weights(graph, moments.covariance)
        terms = _terms(B, moments, likelihood, sparsity)
        seconds = time.perf_counter() - began
        trace.append(TracePoint(iterations, seconds, terms))
        if callback is not None:
            callback(Progress(stage, 1, 1, seconds, terms["score"], 0.0))
        # A combinatorial minimum has no gradient to measure.
        return Solution(B, status, terms, tuple(trace), iterations, seconds, stationarity=float("nan"))

    def _equal_variances(
        self,
        moments: Moments,
        prices: NDArray[np.float64],
        init: NDArray[Any] | None,
        allowed: BoolMatrix | None,
        required: BoolMatrix | None,
        random_state: Any,
        callback: Callback | None,
        stage: str,
    ) -> tuple[BoolMatrix, Status, int, list[TracePoint]]:
        """Order by residual variance, then choose parents."""
        from golem.solvers.variance_order import fit_equal_variances, fit_order, precedence, variance_order

        S, n, d = moments.covariance, moments.n, moments.d
        deadline = time.perf_counter() + (np.inf if self.time_limit is None else self.time_limit)
        if init is None and n > d:
            fit = fit_equal_variances(S, n, prices, allowed, required, deadline)
        elif init is None:
            # S is singular: a ridge of a third of the smallest variance, about the common noise variance, at least
            # ranks the nodes; parents are then added one by one.
            ridge = 0.3 * float(moments.variances.min()) * np.eye(d)
            order, _ = variance_order(S + ridge, precedence(d, allowed, required))
            fit = fit_order(S, n, order, prices, allowed, required, deadline=deadline)
        else:
            fit = fit_order(S, n, init, prices, allowed, required, deadline=deadline)
        status = {
            "settled": Status.SEARCHED,
            "unsettled": Status.STALLED,
            "time limit": Status.TIME_LIMIT,
            "interrupted": Status.INTERRUPTED,
        }[fit.ending]
        return fit.weights != 0, status, 0, []

    def _free_variances(
        self,
        moments: Moments,
        prices: NDArray[np.float64],
        init: NDArray[Any] | None,
        allowed: BoolMatrix | None,
        required: BoolMatrix | None,
        random_state: Any,
        callback: Callback | None,
        stage: str,
    ) -> tuple[BoolMatrix, Status, int, list[TracePoint]]:
        """Search over orders, then show the member of the class with the higher EV likelihood."""
        S, n, d = moments.covariance, moments.n, moments.d
        if d <= LARGEST_EXACT:
            R = moments.standardized().covariance
            # Near n parents the likelihood is unbounded; with fewer than 2 d rows the minimum is one under this cap.
            most = max(1, (n - 2) // 2)
            exact = exact_minimum(R, n, prices, allowed, required, most)
            status = Status.EXACT if most >= d - 1 else Status.SEARCHED
            return prefer_equal_variances(exact, S, allowed, required), status, 0, []
        from golem.solvers.order_search import planned_perturbations, search_orders

        # The search's score is the deviance of standardized columns; L(B) of the columns as they are differs by this.
        offset = float(np.log(moments.variances).sum() / 2)
        trace: list[TracePoint] = []

        def report(progress: Any) -> None:
            score = progress.score / (2 * n) + offset
            trace.append(TracePoint(progress.perturbations, progress.seconds, {"score": score}))
            if callback is not None:
                planned = planned_perturbations(self.effort, d)
                callback(Progress(stage, progress.perturbations, planned, progress.seconds, score, 0.0))

        starts = ("r2", "random") if init is None else (init, "r2")
        found = search_orders(
            S,
            n,
            prices,
            allowed=allowed,
            required=required,
            starts=starts,
            effort=self.effort,
            time_limit=self.time_limit,
            random_state=0 if random_state is None else random_state,
            on_progress=report,
        )
        status = {
            "agreed": Status.AGREED,
            "exhausted": Status.SEARCHED,
            "time limit": Status.TIME_LIMIT,
            "interrupted": Status.INTERRUPTED,
        }[found.ending]
        graph = prefer_equal_variances(found.weights != 0, S, allowed, required)
        return graph, status, found.perturbations, trace


@functools.cache
def compile_search(equal_variances: bool) -> None:
    """Compile the kernels of a search, or load them from numba's cache, by solving a tiny problem."""
    S = np.eye(4) + 0.5
    prices = np.arange(4.0)
    if equal_variances:
        from golem.solvers.variance_order import fit_equal_variances

        fit_equal_variances(S, 50, prices)
    else:
        from golem.solvers.order_search import search_orders

        search_orders(S, 50, prices)


def as_order(init: NDArray[Any], d: int) -> NDArray[np.intp]:
    """Read an order of d nodes or a graph on them as an order."""
    given = np.asarray(init)
    if given.shape == (d, d):
        if not is_dag(given):
            raise ValueError(
                "the start (init) has a directed cycle; it must be an order of the nodes or an acyclic graph"
            )
        return topological_order(given)
    if given.shape != (d,) or not np.array_equal(np.sort(given), np.arange(d)):
        raise ValueError(
            f"a start is an order of the nodes 0 .. {d - 1} or a ({d}, {d}) graph; got shape {given.shape}"
        )
    return given.astype(np.intp)


def _terms(B: Matrix, moments: Moments, likelihood: Likelihood, sparsity: L0) -> dict[str, float]:
    """Terms of the score on a DAG, where log|det(I - B)| and h vanish and are not computed."""
    n = moments.n
    scores = graph_scores(B, moments.covariance, n)
    L = scores["likelihood_ev" if isinstance(likelihood, GaussianEV) else "likelihood_nv"]
    price = float(sparsity.prices(n, moments.d)[np.count_nonzero(B, axis=0)].sum()) / (2 * n)
    return {
        "likelihood": L,
        "sparsity": price,
        "dag": 0.0,
        "score": L + price,
        "l1": float(np.abs(B).sum()),
        "h": 0.0,
    }
