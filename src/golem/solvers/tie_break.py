"""Which member of an equivalence class to show: a tie-break, not evidence."""

from __future__ import annotations

import numpy as np

from golem.graph import BoolMatrix
from golem.moments import Matrix

_LEAST_GAIN = 1e-9
_MOST_ROUNDS = 100


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
        for i, j in np.argwhere(graph & ~fixed):
            parents = graph[:, i].copy()
            parents[i] = True
            if not np.array_equal(parents, graph[:, j]):
                continue  # not covered
            parents[i] = False
            first = residual_variance(S, j, parents)
            parents[j] = True
            second = residual_variance(S, i, parents)
            if first + second < (r[i] + r[j]) * (1 - _LEAST_GAIN):
                graph[i, j], graph[j, i] = False, True
                graph[:, i] = parents
                parents[j] = False
                graph[:, j] = parents
                r[i], r[j] = second, first
                changed = True
        if not changed:
            break
    return graph


def residual_variance(S: Matrix, j: int, parents: BoolMatrix) -> float:
    """Variance of a node given its parents."""
    where = np.nonzero(parents)[0]
    if not len(where):
        return float(S[j, j])
    return float(S[j, j] - S[j, where] @ np.linalg.solve(S[np.ix_(where, where)], S[where, j]))


def least_squares_weights(adjacency: BoolMatrix, S: Matrix) -> Matrix:
    """Weights of every node on its parents, by least squares."""
    B = np.zeros_like(S)
    for j in np.nonzero(adjacency.any(axis=0))[0]:
        where = np.nonzero(adjacency[:, j])[0]
        B[where, j] = np.linalg.solve(S[np.ix_(where, where)], S[where, j])
    return B
