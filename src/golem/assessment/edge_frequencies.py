"""Many graphs, of resampled rows or of halves: how often edges and directions occur, and a DAG on which most agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from golem.runtime.types import BoolMatrix, Matrix


def edge_frequencies(graphs: Sequence[BoolMatrix]) -> tuple[Matrix, Matrix]:
    """Return the shares of PDAGs that join i and j, and that have i -> j, both of shape (d, d).

    An undecided edge, which has both directions, counts half for each. If it counted as drawn, a tie-break, which is
    always the same, would look certain.

    Examples
    --------
    >>> decided, undecided = np.array([[[0, 1], [0, 0]], [[0, 1], [1, 0]]], dtype=bool)
    >>> edge_frequencies([decided, undecided])[1]
    array([[0.  , 0.75],
           [0.25, 0.  ]])
    """
    drawn = np.sum(graphs, axis=0, dtype=float)
    undecided = np.sum([graph & graph.T for graph in graphs], axis=0, dtype=float)
    return (drawn + drawn.T - undecided) / len(graphs), (drawn - undecided / 2) / len(graphs)


def ranked_pairs(adjacency: Matrix, direction: Matrix, tie_break: Matrix | None = None) -> BoolMatrix:
    """Join the pairs that most graphs join, in the direction of the majority, as far as the result stays acyclic.

    Pairs with an adjacency frequency above 1/2 are taken in turn, the most one-sided first (Tideman's ranked pairs,
    1987). A pair gets its more frequent direction, or the other one if that would close a cycle. A pair is left out
    only if no graph has the other direction, as when knowledge forbids it.

    Parameters
    ----------
    adjacency, direction : ndarray of shape (d, d)
        Share of the graphs that join i and j, and share with i -> j.
    tie_break : ndarray of shape (d, d), optional
        For equally frequent directions the larger of [i, j] and [j, i] decides, then the lower number.

    Examples
    --------
    In a cycle of three votes the weakest edge is reversed:

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
