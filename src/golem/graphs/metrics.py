"""Distances between an estimated and a true graph (paper, appendix G.3).

Every function takes `(truth, estimate)` as adjacency or weight matrices of shape (d, d); entry [i, j] is nonzero for
i -> j. The truth is a DAG. An estimate can have both directions of an edge. With `cpdag=True` it is a CPDAG, and this
edge is undirected; it counts as right if the truth has an edge in either direction (the paper's favourable convention).
Otherwise it is a directed graph with a cycle of length two.

`golem score`, `golem compare` and the report share one rule for undecided edges: in a DAG they count as drawn; where
they are undirected (`NamedGraph.partially_directed`), they count as right in either direction.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from golem.graphs.dag import as_adjacency, cycle_text, find_cycle, is_dag
from golem.graphs.dag import cpdag as to_cpdag
from golem.runtime.types import BoolMatrix

__all__ = [
    "EdgeCounts", "GraphScores", "as_estimate", "as_truth", "count_edges", "evaluate", "f1", "fdr", "precision", "shd",
    "shd_c", "sid", "tpr",
]  # fmt: skip


def shd(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False, normalize: bool = False) -> float:
    """Return the structural Hamming distance: edges to add, remove or reverse, each counted once.

    Examples
    --------
    >>> shd([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 1], [0, 0, 0]])  # reversed, missing, extra
    3.0
    """
    T, E = _pair(truth, estimate)
    return _differing_pairs(T, _favoured(T, E) if cpdag else E) / _divisor(T, normalize)


def shd_c(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False, normalize: bool = False) -> float:
    """Return the SHD between the CPDAGs of both graphs; NaN if the estimate has a cycle and therefore no CPDAG.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> shd_c(truth, estimate)
    3.0
    """
    T, E = _pair(truth, estimate)
    if is_dag(E):  # a CPDAG that is a DAG is its own CPDAG
        E = to_cpdag(E)
    elif not cpdag:
        return float("nan")
    return _differing_pairs(to_cpdag(T), E) / _divisor(T, normalize)


def sid(truth: ArrayLike, estimate: ArrayLike, *, normalize: bool = False) -> float:
    """Return the structural intervention distance (Peters and Bühlmann 2015); NaN if the estimate is not a DAG.

    This is the number of ordered pairs of nodes whose interventional distribution is wrong after adjustment for the
    parents in the estimate.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> sid(truth, estimate)
    3.0
    """
    import gadjid

    T, E = _pair(truth, estimate)
    if not is_dag(E):
        return float("nan")
    if len(T) < 2:  # there are no pairs, and gadjid needs one
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its first call reads an old name of NumPy
        _, mistakes = gadjid.sid(T.astype(np.int8), E.astype(np.int8), edge_direction="from row to column")
    return float(mistakes) / _divisor(T, normalize)


def tpr(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Return the share of the true edges that are found with their direction; NaN if there are no true edges.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> round(tpr(truth, estimate), 3)
    0.333
    """
    true, _, right = _counts(truth, estimate, cpdag)
    return _ratio(right, true)


def precision(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Return the share of the estimated edges that are true with their direction; NaN if the estimate is empty.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> round(precision(truth, estimate), 3)
    0.5
    """
    _, found, right = _counts(truth, estimate, cpdag)
    return _ratio(right, found)


def fdr(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Return the false discovery rate: the share of the estimated edges that the truth lacks or has reversed.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> round(fdr(truth, estimate), 3)
    0.5
    """
    return 1 - precision(truth, estimate, cpdag=cpdag)


def f1(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Return the harmonic mean of precision and TPR; NaN if both graphs are empty.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> round(f1(truth, estimate), 3)
    0.4
    """
    true, found, right = _counts(truth, estimate, cpdag)
    return _ratio(2 * right, true + found)


@dataclass(frozen=True)
class EdgeCounts:
    """Pairs of variables that two graphs connect alike, in other directions, or only in one of them.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> count_edges(truth, estimate)
    EdgeCounts(true=1, reversed=1, extra=0, missing=1)
    """

    true: int
    reversed: int
    extra: int
    missing: int


def count_edges(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> EdgeCounts:
    """Count the true, reversed, extra and missing edges of an estimate.

    Examples
    --------
    >>> count_edges([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 1], [0, 0, 0]])
    EdgeCounts(true=0, reversed=1, extra=1, missing=1)
    """
    T, E = _pair(truth, estimate)
    E = _favoured(T, E) if cpdag else E
    joined = T | T.T, E | E.T
    extra, missing = (int(np.sum(np.triu(a & ~b))) for a, b in (joined[::-1], joined))
    reversed_ = _differing_pairs(T, E) - extra - missing
    return EdgeCounts(int(T.sum()) - missing - reversed_, reversed_, extra, missing)


@dataclass(frozen=True)
class GraphScores:
    """All metrics of one estimate; NaN if a metric is not defined.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> evaluate(truth, estimate).shd
    2.0
    """

    edges: int
    shd: float
    shd_c: float
    sid: float
    tpr: float
    fdr: float
    precision: float
    f1: float


def evaluate(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False, normalize: bool = False) -> GraphScores:
    """Return all metrics; `normalize` divides SHD, SHD-C and SID by the number of nodes.

    Examples
    --------
    >>> truth = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0 -> 1, 0 -> 2, 1 -> 2
    >>> estimate = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]  # 0 -> 1, 2 -> 1
    >>> evaluate(truth, estimate).edges
    2
    """
    T, E = _pair(truth, estimate)
    return GraphScores(
        edges=_counts(T, E, cpdag)[1],
        shd=shd(T, E, cpdag=cpdag, normalize=normalize),
        shd_c=shd_c(T, E, cpdag=cpdag, normalize=normalize),
        sid=float("nan") if cpdag else sid(T, E, normalize=normalize),
        tpr=tpr(T, E, cpdag=cpdag),
        fdr=fdr(T, E, cpdag=cpdag),
        precision=precision(T, E, cpdag=cpdag),
        f1=f1(T, E, cpdag=cpdag),
    )


def as_truth(graph: ArrayLike, names: Sequence[str] | None = None) -> BoolMatrix:
    """Return the adjacency matrix of a true graph; refuse one with a cycle.

    Examples
    --------
    >>> as_truth([[0, 1], [1, 0]], ["a", "b"])
    Traceback (most recent call last):
    ValueError: The truth must be a directed acyclic graph but has a cycle: 'a' -> 'b' -> 'a'.
    """
    T = as_adjacency(graph)
    if cycle := find_cycle(T):
        raise ValueError(f"The truth must be a directed acyclic graph but has a cycle: {cycle_text(cycle, names)}.")
    return T


def as_estimate(graph: ArrayLike, names: Sequence[str] | None = None, called: str = "The estimate") -> BoolMatrix:
    """Return the adjacency matrix of an estimated graph; refuse an edge from a variable to itself.

    Examples
    --------
    >>> as_estimate([[0, 1], [0, 1]], ["a", "b"])
    Traceback (most recent call last):
    ValueError: The estimate has an edge from a variable to itself, 'b' -> 'b'. Remove it.
    """
    E = as_adjacency(graph)
    if E.diagonal().any():
        loop = cycle_text([int(E.diagonal().argmax())], names)
        raise ValueError(f"{called} has an edge from a variable to itself, {loop}. Remove it.")
    return E


def _pair(truth: Any, estimate: Any) -> tuple[BoolMatrix, BoolMatrix]:
    """Read both graphs and check that they have the same nodes; DataFrames are matched by their labels."""
    if hasattr(truth, "reindex") and hasattr(estimate, "reindex"):
        for label, other in ((truth.index, estimate.index), (truth.columns, estimate.columns)):
            if set(label) != set(other):
                raise ValueError(f"The truth has the labels {list(label)}, but the estimate has {list(other)}.")
        estimate = estimate.loc[truth.index, truth.columns]
    T, E = as_truth(truth), as_estimate(estimate)
    if T.shape != E.shape:
        raise ValueError(f"Truth and estimate must have the same nodes; got shapes {T.shape} and {E.shape}.")
    return T, E


def _favoured(truth: BoolMatrix, estimate: BoolMatrix) -> BoolMatrix:
    """Direct the undirected edges of a CPDAG as in the truth, if the truth has an edge there."""
    undirected = estimate & estimate.T
    return (estimate & ~undirected) | (undirected & (truth | ~(truth | truth.T)))


def _counts(truth: ArrayLike, estimate: ArrayLike, cpdag: bool) -> tuple[int, int, int]:
    """Count the true edges, the estimated edges, and those of the estimated edges that are true."""
    T, E = _pair(truth, estimate)
    if not cpdag:
        return int(T.sum()), int(E.sum()), int(np.sum(T & E))
    # An undirected edge between two nodes without a true edge is one wrong edge, not two.
    return int(T.sum()), int(np.sum(np.triu(E | E.T))), int(np.sum(T & _favoured(T, E)))


def _differing_pairs(first: BoolMatrix, second: BoolMatrix) -> int:
    """Count the pairs of nodes whose edge differs in presence or direction."""
    different = first != second
    return int(np.sum(np.triu(different | different.T)))


def _divisor(truth: BoolMatrix, normalize: bool) -> int:
    return max(1, len(truth)) if normalize else 1


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
