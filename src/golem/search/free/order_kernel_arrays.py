"""The arrays that kernels of the order search share, and the names of their rows.

Vectors of the same kind are rows of one array, because numba takes longer to compile calls with many arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.search import shared_kernel_arrays as shared

# Residual variances of standardized columns below this are rounding errors. Such candidates are skipped.
COLLINEAR = 1e-10
# Lower bound of residual variances in logarithms.
TINY = 1e-14
# Typed, because a literal would compile every kernel that takes it a second time.
TRY: Any = np.bool_(False)
DO: Any = np.bool_(True)

# Rows of `Candidates.slots`, and bits of its kinds.
NODE, BACK, RANKED, KIND = 0, 1, 2, 3
ALLOWED, REQUIRED, LIKELY, REQUIRED_BACK = shared.ALLOWED, shared.REQUIRED, shared.LIKELY, 8
# Rows of `State.nodes`, `State.values`, `State.hashes` and `State.vectors`, and values of `State.marks`.
ORDER, POSITION, COUNT = 0, 1, 2
COST, RESIDUAL = 0, 1
BEFORE, CHOSEN = 0, 1
G, H = 0, 1
NEITHER, USEFUL, PARENT = 0, 1, 2
# Rows of `Agenda.lists`, and entries of `Agenda.counts`, after those of `queue_kernels`.
TOUCHED, IS_TOUCHED = 2, 3
CHANGED, LOW, HIGH, KICKS = 2, 3, 4, 5
# Rows of `Work.nodes`, of which SIZE has one entry, and values of ROLE: whether a candidate can be added, is a parent,
# or neither.
PARENTS, GIVEN, BEST, ROLE, SIZE = 0, 1, 2, 3, 4
CLOSED, OPEN, INSIDE = 0, 1, 2
# Further rows of `Work.vectors`: scratch space, coefficients b on the parents, r, which has one entry, and the
# correlations of the node with its candidates.
Z, B, T, X, REST, TARGET = 2, 3, 4, 5, 6, 7


class Problem(NamedTuple):
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


class Agenda(NamedTuple):
    """Nodes to visit, nodes that differ from the best state, and values that are kept from one test to the next."""

    lists: Any
    counts: Any
    # Nodes at which perturbations begin; those that occur several times are drawn more often.
    pool: Any
    random: Any
    # Cost of a node with or without a candidate, valid while the hash of its predecessors and parents is the key.
    key: Any
    cost: Any
    # Change of the cost of all other nodes if the moving node has so many candidates before it.
    shift: Any


class Work(NamedTuple):
    """Scratch space for one node: lists of candidates, vectors along the parents or the candidates, K = R_PP^-1.

    W has whitened parents, and R is used for correlations of candidates that are not stored.
    """

    nodes: Any
    vectors: Any
    K: Any
    W: Any
    R: Any
