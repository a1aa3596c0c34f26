"""The best order for free or tied noise variances: exactly for few nodes, otherwise by search.

With free variances a search finds an equivalence class. Its members are connected by reversals of covered edges, and
one of them is shown.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.checks import most_parents
from golem.graphs.dag import topological_order
from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag, bits_to_columns
from golem.runtime.types import BoolMatrix, Indices, Matrix
from golem.score.regression import regress_edges, regressions, residual_variance
from golem.score.solution import TIE, Progress, Status, TracePoint
from golem.search.exact_order import LARGEST_EXACT, LARGEST_EXACT_COLUMNS, exact_seconds
from golem.search.order_problem import Effort, FittedGraph, OrderProblem
from golem.search.search_order import search_with_engine

# Rounds in which covered edges are reversed, and digits to which variances are compared.
_MOST_ROUNDS = 100
_DIGITS = 9


@dataclass(frozen=True)
class Prior:
    """A prior N(centre, tau^2) on the log noise variances, in the units of the data; `spread` is tau^2 + 2/n."""

    centre: float
    spread: float


def find_free_order(
    problem: OrderProblem, init: NDArray[np.intp] | None, effort: Effort, time_limit: float | None, stage: str
) -> FittedGraph:
    """Search with free noise variances; return the member of the equivalence class with the higher EV likelihood."""
    starts: tuple[str | NDArray[Any], ...] = ("r2", "random") if init is None else (init, "r2")
    found = find_order(problem, starts, effort=effort, time_limit=time_limit, stage=stage)
    S = problem.moments.covariance
    return found.with_graph(prefer_equal_variances(found.graph, S, *problem.masks), S)


def find_order(
    problem: OrderProblem,
    starts: Sequence[str | NDArray[Any]],
    *,
    effort: Effort = "default",
    prior: Prior | None = None,
    time_limit: float | None = None,
    stage: str = "",
) -> FittedGraph:
    """Minimize sum_j n log r_j + penalty over orders and parents, plus (log r_j - centre)^2 / spread under a prior."""
    moments, n, d = problem.moments, problem.moments.n, problem.moments.d
    if d <= LARGEST_EXACT:
        return find_exact(problem, () if prior is None else (prior,))[0]
    # "fast" is for many similar tables, as those of a bootstrap, and for the way to another search.
    longest = np.inf if time_limit is None else time_limit
    if effort != "fast" and d <= LARGEST_EXACT_COLUMNS and exact_seconds(d) <= longest:
        return _find_exact_columns(problem, prior)
    centre, spread = (0.0, np.inf) if prior is None else (prior.centre, prior.spread)
    log_variances = np.log(moments.variances)
    # The search minimizes the deviance of standardized columns. L(B) of the original columns differs by this.
    offset = float(log_variances.sum() / 2) + (0.0 if prior is None else d * float(np.log(spread)) / (2 * n))
    trace: list[TracePoint] = []

    def report(progress: Progress) -> None:
        score = progress.score / (2 * n) + offset
        trace.append(TracePoint(progress.iteration, progress.seconds, {"score": score}))
        if problem.callback is not None:
            problem.callback(dataclasses.replace(progress, stage=stage, score=score))

    began = time.perf_counter()
    engine = problem.engine
    engine.set_prior(centre, spread)
    left = None if time_limit is None else time_limit - (time.perf_counter() - began)
    found = search_with_engine(engine, starts, effort, left, problem.random_state, report)
    fitted = regress_edges(found.edges.children, found.edges.causes, moments.covariance)
    return FittedGraph(found.order, fitted, found.score, found.status, found.perturbations, trace=tuple(trace))


def find_exact(problem: OrderProblem, priors: Sequence[Prior] = ()) -> list[FittedGraph]:
    """Return the graph of few nodes with the lowest score for each prior, once each; without a prior if none is given.

    Of priors with the same graph, the first one gives its score.
    """
    moments = problem.moments
    # With fewer than 2 d rows the minimum is subject to this limit.
    most = most_parents(moments.n)
    centres, spreads = None, None
    if priors:
        centres = np.array([[prior.centre] for prior in priors]) - np.log(moments.variances)
        spreads = np.array([prior.spread for prior in priors])
    graphs, scores = problem.exact.minima(*problem.masks, most, centres, spreads)
    status = Status.EXACT if most >= moments.d - 1 else Status.SEARCHED
    distinct: dict[bytes, FittedGraph] = {}
    for graph, score in zip(graphs, scores, strict=True):
        if graph.tobytes() not in distinct:
            fitted = regressions(graph, moments.covariance)
            distinct[graph.tobytes()] = FittedGraph(topological_order(graph), fitted, float(score), status)
    return list(distinct.values())


def _find_exact_columns(problem: OrderProblem, prior: Prior | None) -> FittedGraph:
    """Return the graph of up to 20 nodes with the lowest score for a prior."""
    moments, most = problem.moments, most_parents(problem.moments.n)
    centre, spread = (0.0, np.inf) if prior is None else (prior.centre, prior.spread)
    graph, score = problem.exact_columns.minimum(*problem.masks, most, centre, spread)
    # No other prior was tried.
    status = Status.EXACT if most >= moments.d - 1 and prior is None else Status.SEARCHED
    edges = Edges.from_matrix(graph).by_child()
    fitted = regress_edges(edges.children, edges.causes, moments.covariance)
    return FittedGraph(topological_order(graph), fitted, score, status)


def prefer_equal_variances(
    adjacency: BoolMatrix, S: Matrix, allowed: BoolMatrix | None = None, required: BoolMatrix | None = None
) -> BoolMatrix:
    """Return the member of the equivalence class to show: one with a high EV likelihood.

    All members fit Gaussian data with free noise variances equally well. Any two are connected by reversals of covered
    edges (i -> j where the parents of j are i and the parents of i; Chickering 1995). A reversal keeps the product of
    the two residual variances and changes their sum. The start is the member in which nodes with smaller variances are
    causes where possible. Edges are reversed as long as the total residual variance falls by more than rounding, so
    the result is a local maximum of the EV likelihood. It depends on the class, the masks and S, not on which member is
    given or on how the nodes are numbered. Forbidden edges are not added and required edges are not reversed.

    Examples
    --------
    >>> S = np.array([[1.0, 1.0], [1.0, 2.0]])  # x0 -> x1 with equal noise variances
    >>> prefer_equal_variances(np.array([[False, False], [True, False]]), S).astype(int)
    array([[0, 1],
           [0, 0]])
    """
    fixed = np.zeros_like(adjacency)
    if allowed is not None:
        fixed |= ~allowed.T
    if required is not None:
        fixed |= required
    if not Edges.from_matrix(adjacency).find_reversible().any():
        return adjacency.copy()
    order = _canonical_order(S)
    block = np.ix_(order, order)
    found = np.empty_like(adjacency)
    found[block] = _descended(_first_member(adjacency[block], fixed[block]), S[block], fixed[block])
    return found


def _canonical_order(S: Matrix) -> Indices:
    """Return the nodes sorted by their variances, those of standardized columns by their correlations; ties by numbers.

    With equal noise variances the variances grow along the edges, and so do squared correlations in most graphs.
    """
    precision = 1 / np.diagonal(S)
    correlations = np.einsum("ij,ij,j->i", S, S, precision) * precision
    return np.lexsort((correlations.round(_DIGITS), -np.log(precision).round(_DIGITS)))


def _descended(graph: BoolMatrix, S: Matrix, fixed: BoolMatrix) -> BoolMatrix:
    """Reverse covered edges of a graph, in place, as long as the total residual variance falls."""
    r = regressions(graph, S).residual_variances
    parents = [set(np.flatnonzero(row).tolist()) for row in np.ascontiguousarray(graph.T)]
    awake = set(range(len(graph)))
    for _ in range(_MOST_ROUNDS):
        # An edge between nodes that kept their parents was tested in the round before.
        edges = [(i, j) for i, j in np.argwhere(graph & ~fixed).tolist() if i in awake or j in awake]
        awake = set()
        for i, j in edges:
            if parents[j] != parents[i] | {i}:
                continue
            first = residual_variance(S, j, np.array(sorted(parents[i]), dtype=np.intp))
            second = residual_variance(S, i, np.array(sorted(parents[i] | {j}), dtype=np.intp))
            if first + second < (r[i] + r[j]) * (1 - TIE):
                parents[j] = set(parents[i])
                parents[i].add(j)
                graph[i, j], graph[j, i] = False, True
                r[i], r[j] = second, first
                awake |= {i, j}
        if not awake:
            break
    return graph


def _first_member(adjacency: BoolMatrix, fixed: BoolMatrix) -> BoolMatrix:
    """Return the member of the class in which earlier nodes are causes where possible, and fixed edges are kept."""
    edges = Edges.from_matrix(adjacency)
    reversible = edges.find_reversible()
    known = reversible & fixed[edges.causes, edges.children]
    # `extension` makes the first nodes sinks, so that the nodes are numbered from the end.
    last = edges.d - 1
    pdag = Pdag.from_edges(Edges(last - edges.causes, last - edges.children, edges.d), reversible & ~known)
    if known.any():
        pdag.close(fourth=True)
    parents = pdag.extension()
    assert parents is not None, "the class of a DAG has a member"
    return np.ascontiguousarray(bits_to_columns(parents)[::-1, ::-1])
