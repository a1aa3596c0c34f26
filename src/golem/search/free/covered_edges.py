"""Moves within an equivalence class: reversals of covered edges."""

from __future__ import annotations

import numpy as np

from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag, bits_to_columns
from golem.runtime.types import BoolMatrix, Indices, Matrix
from golem.score.regression import regressions, residual_variance
from golem.score.solution import TIE

_MOST_ROUNDS = 100
_DIGITS = 9


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
