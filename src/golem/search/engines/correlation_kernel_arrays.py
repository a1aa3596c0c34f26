"""The arrays of the correlation engine, and the names of their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

from golem.search.order_kernel_arrays import Agenda

# Lower bound of residual variances in logarithms.
TINY = 1e-14
# A candidate is determined by the parents if they leave less than this share of its variance; the rest is rounding
# error. In dense graphs with strong effects, columns that are needed as parents leave 1e-11.
COLLINEAR = 1e-13
# Rows of `CorrelationProblem.values`: the penalty of k parents; one more is worth it if it lowers r by a larger share
# than the threshold; the centre of the prior of every node.
PENALTY, THRESHOLD, CENTRE = 0, 1, 2
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
    values: Any
    # A prior on the log residual variances adds the cost tightness (log r - centre)^2. Tightness 0 is likelihood-NV.
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

    W has whitened parents.
    """

    nodes: Any
    vectors: Any
    K: Any
    W: Any


class CorrelationArrays(NamedTuple):
    """The engine: the score, the states, and scratch space for the moving node and for the nodes that it passes."""

    problem: CorrelationProblem
    candidates: Candidates
    state: State
    agenda: Agenda
    work: Work
    own: Work
