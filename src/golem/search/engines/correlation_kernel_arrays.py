"""The arrays of the correlation engine, and the names of their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Lower bound of residual variances in logarithms.
TINY = 1e-14
# Typed, because a literal would compile every kernel that takes it a second time.
TRY: Any = np.bool_(False)
DO: Any = np.bool_(True)

# The second row of `State.values`, the rows of `State.hashes` and `State.vectors`, and values of `State.marks`.
RESIDUAL = 1
BEFORE, CHOSEN = 0, 1
G, H = 0, 1
NEITHER, USEFUL, PARENT = 0, 1, 2
# Rows of `Work.nodes`, and values of ROLE: whether a candidate can be added, is a parent, or neither. SIZE has two
# entries, the number of parents and of the best ones.
PARENTS, GIVEN, BEST, ROLE, SIZE = 0, 1, 2, 3, 4
CLOSED, OPEN, INSIDE = 0, 1, 2
# Further rows of `Work.vectors`: scratch space, coefficients b on the parents, r with the window of `gain_window`, and
# the correlations of the node with its candidates.
Z, B, T, X, REST, TARGET = 2, 3, 4, 5, 6, 7
LEAST, MOST = 1, 2


class CorrelationProblem(NamedTuple):
    """The score."""

    S: Any
    n: float
    # penalty[k] is the penalty of k parents. One more is worth it if it lowers r by a larger share than threshold[k].
    penalty: Any
    threshold: Any
    # A prior on the log residual variances adds the cost tightness (log r - centre)^2. Tightness 0 is likelihood-NV.
    centre: Any
    tightness: float
    most_parents: int


class Candidates(NamedTuple):
    """The candidates of every node, and their correlations.

    Those of node j are `slots[:, first[j] : first[j + 1]]`: the node in each slot, the slot of j among that node's
    candidates, slots by position, and whether the edge to j is allowed, required and likely, and the reverse one
    required. `targets` has their correlations with j. The matrix R of node j starts at `corner[j]` of `blocks`. A node
    with very many candidates has all nodes in its list, itself included, so that R is S.
    """

    first: Any
    slots: Any
    targets: Any
    corner: Any
    blocks: Any
    # Random 64-bit keys of the nodes, to hash sets of predecessors and of parents.
    keys: Any


class State(NamedTuple):
    """An order with its parents (as slots), costs, residual variances r, and the vectors g and h of every node."""

    nodes: Any
    values: Any
    # Hashes of the preceding candidates and of the parents of every node.
    hashes: Any
    parents: Any
    vectors: Any
    # Whether each candidate is a parent, would lower the cost as another parent, or neither. Most tests end with a look
    # at these bytes, which fit into the CPU cache.
    marks: Any


class Work(NamedTuple):
    """Scratch space for one node: lists of candidates, vectors along the parents or the candidates, K = R_PP^-1.

    W has whitened parents, and R is used for correlations of candidates that are not stored.
    """

    nodes: Any
    vectors: Any
    K: Any
    W: Any
    R: Any
