"""A directed acyclic graph on which many graphs agree."""

from __future__ import annotations

import numpy as np

from golem.runtime.types import BoolMatrix, Matrix


def ranked_pairs(adjacency: Matrix, direction: Matrix, tie_break: Matrix | None = None) -> BoolMatrix:
    """Join the pairs that most graphs join, and direct them as most do, as far as it is acyclic.

    Pairs whose adjacency frequency is above 1/2 are taken in turn, the most one-sided first, and directed as in most
    graphs unless that closes a cycle with those before; then the other way, if any graph has it so, or not at all.
    This is Tideman's (1987) ranked pairs, a vote of the graphs on the order of the nodes. Both directions cannot close
    a cycle, so that a pair is left out only where knowledge forbids the other way.

    Parameters
    ----------
    adjacency : ndarray of shape (d, d)
        Share of the graphs that join i and j.
    direction : ndarray of shape (d, d)
        Share of the graphs with i -> j.
    tie_break : ndarray of shape (d, d), optional
        Decides where both directions are as frequent: the larger of [i, j] and [j, i], and then the lower number.

    Examples
    --------
    A cycle of three votes loses its weakest edge's direction:

    >>> direction = np.array([[0, 0.9, 0.4], [0.1, 0, 0.8], [0.6, 0.2, 0]])
    >>> ranked_pairs(direction + direction.T, direction).astype(int)
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    d = len(adjacency)
    preference = direction - direction.T
    fallback = np.zeros((d, d)) if tie_break is None else tie_break - tie_break.T
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(adjacency > 0.5, k=1))]
    pairs.sort(key=lambda pair: (-abs(preference[pair]), -adjacency[pair], pair))
    graph = np.zeros((d, d), dtype=bool)
    reaches = np.eye(d, dtype=bool)
    for i, j in pairs:
        forward = (preference[i, j], fallback[i, j]) >= (0.0, 0.0)
        first, second = (i, j) if forward else (j, i)
        if reaches[second, first]:
            first, second = second, first
            if not direction[first, second] > 0:
                continue
        graph[first, second] = True
        reaches |= np.outer(reaches[:, first], reaches[second])
    return graph
