"""How often edges and their directions occur in graphs from resampled rows or from halves of the rows."""

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
