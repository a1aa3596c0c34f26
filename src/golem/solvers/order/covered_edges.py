"""Moves within an equivalence class: reversals of covered edges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from golem.runtime.types import BoolMatrix, Matrix
from golem.score.regression import regressions, residual_variance

_LEAST_GAIN = 1e-9
_MOST_ROUNDS = 100


def prefer_equal_variances(
    adjacency: BoolMatrix, S: Matrix, allowed: BoolMatrix | None = None, required: BoolMatrix | None = None
) -> BoolMatrix:
    """Return a member of the equivalence class with a higher EV likelihood.

    All members fit Gaussian data with free noise variances equally well. Any two are connected by reversals of covered
    edges (i -> j where the parents of j are i and the parents of i; Chickering 1995). A reversal keeps the product of
    the two residual variances and changes their sum. Edges are reversed as long as the total residual variance
    falls, so the result is a local maximum of the EV likelihood. Forbidden edges are not added and required edges are
    not reversed.

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
    r = regressions(graph, S).residual_variances
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


def _covered_edges(graph: BoolMatrix, S: Matrix, fixed: BoolMatrix) -> Iterator[tuple[int, int, float, float]]:
    """Yield the covered edges i -> j with the residual variances that j and i would have after the reversal.

    The caller may reverse an edge before it takes the next.
    """
    for i, j in np.argwhere(graph & ~fixed):
        parents = graph[:, i].copy()
        parents[i] = True
        if np.array_equal(parents, graph[:, j]):
            parents[i] = False
            first = residual_variance(S, j, np.nonzero(parents)[0])
            parents[j] = True
            yield int(i), int(j), first, residual_variance(S, i, np.nonzero(parents)[0])
