"""Directions that the equivalence class leaves open: which member to show, and whether variances decide them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from golem.graph import BoolMatrix
from golem.likelihood import GaussianEV, GaussianTied, Likelihood
from golem.moments import Matrix
from golem.objective import grouped

_LEAST_GAIN = 1e-9
_MOST_ROUNDS = 100
_LEAST_EVIDENCE = 2.0


def prefer_equal_variances(
    adjacency: BoolMatrix, S: Matrix, allowed: BoolMatrix | None = None, required: BoolMatrix | None = None
) -> BoolMatrix:
    """Move within the Markov equivalence class to a member with a higher EV likelihood.

    Members of a class fit Gaussian data with free noise variances equally well. Any two of them are joined by a chain
    of reversals of covered edges (i -> j where j has the parents of i and i itself; Chickering 1995); such a
    reversal keeps the product of the two residual variances and changes their sum. Edges are reversed as long as
    the total residual variance falls, so the member shown is the one that equal noise variances find likelier, up
    to a local optimum. Forbidden edges are not made and required ones not undone.

    Examples
    --------
    >>> S = np.array([[1.0, 1.0], [1.0, 2.0]])  # x0 -> x1 with equal noise variances
    >>> prefer_equal_variances(np.array([[False, False], [True, False]]), S).astype(int)
    array([[0, 1],
           [0, 0]])
    """
    graph = adjacency.copy()
    fixed = np.zeros_like(graph)
    if allowed is not None:
        fixed |= ~allowed.T
    if required is not None:
        fixed |= required
    r = np.array([residual_variance(S, j, graph[:, j]) for j in range(len(graph))])
    for _ in range(_MOST_ROUNDS):
        changed = False
        for i, j, first, second in _covered_edges(graph, S, fixed):
            if first + second < (r[i] + r[j]) * (1 - _LEAST_GAIN):
                graph[:, j] = graph[:, i]
                graph[j, i] = True
                r[i], r[j] = second, first
                changed = True
        if not changed:
            break
    return graph


def _covered_edges(
    graph: BoolMatrix, S: Matrix, fixed: BoolMatrix | None = None
) -> Iterator[tuple[int, int, float, float]]:
    """Yield the covered edges i -> j with the variances that j first and then i would have, were they reversed.

    The caller may reverse the edge before asking for the next.
    """
    for i, j in np.argwhere(graph if fixed is None else graph & ~fixed):
        parents = graph[:, i].copy()
        parents[i] = True
        if np.array_equal(parents, graph[:, j]):
            parents[i] = False
            first = residual_variance(S, j, parents)
            parents[j] = True
            yield int(i), int(j), first, residual_variance(S, i, parents)


def without_evidence(adjacency: BoolMatrix, S: Matrix, likelihood: Likelihood) -> BoolMatrix:
    """Edges for whose direction, where the equivalence class leaves it open, the noise model has no evidence either.

    Free variances have none for any edge, equal ones for all. Under tied variances these are the covered edges that can
    be turned round (see `prefer_equal_variances`) for less than 2 units of deviance, odds of e to 1.
    """
    if not isinstance(likelihood, GaussianTied):
        return np.full_like(adjacency, not isinstance(likelihood, GaussianEV))
    weak = np.zeros_like(adjacency)
    r = np.array([residual_variance(S, j, adjacency[:, j]) for j in range(len(S))])
    now = float(likelihood.on_dag(r))
    for i, j, first, second in _covered_edges(adjacency, S):
        turned = r.copy()
        turned[i], turned[j] = second, first
        weak[i, j] = 2 * likelihood.n * (float(likelihood.on_dag(turned)) - now) < _LEAST_EVIDENCE
    return weak


def residual_variance(S: Matrix, j: int, parents: BoolMatrix) -> float:
    """Variance of a node given its parents."""
    where = np.nonzero(parents)[0]
    if not len(where):
        return float(S[j, j])
    return float(S[j, j] - S[j, where] @ np.linalg.solve(S[np.ix_(where, where)], S[where, j]))


def least_squares_weights(adjacency: BoolMatrix, S: Matrix) -> Matrix:
    """Weights of every node on its parents, by least squares."""
    B = np.zeros(S.shape)
    for j, where in grouped(*np.nonzero(np.ascontiguousarray(adjacency.T))):
        # Rows of a symmetric S lie together in memory, its columns do not.
        B[where, j] = np.linalg.solve(S[np.ix_(where, where)], S[j, where])
    return B
