"""Distances between an estimated and a true graph (paper, appendix G.3).

Every function takes `(truth, estimate)` as adjacency or weight matrices, i -> j where entry [i, j] is nonzero. The
truth is a DAG. An estimate with both directions of an edge set is either a CPDAG, whose undirected edges
`cpdag=True` counts as right wherever the truth has the edge in one direction (the paper's favourable convention), or
a directed graph with a cycle of length two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from golem.graphs.dag import as_adjacency, cycle_text, find_cycle, is_dag
from golem.graphs.dag import cpdag as to_cpdag
from golem.runtime.types import BoolMatrix

__all__ = [
    "GraphScores",
    "as_estimate",
    "as_truth",
    "evaluate",
    "f1",
    "fdr",
    "precision",
    "shd",
    "shd_c",
    "sid",
    "tpr",
]


def shd(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False, normalize: bool = False) -> float:
    """Structural Hamming distance: additions, deletions and reversals, each counted once.

    Examples
    --------
    >>> shd([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 1], [0, 0, 0]])  # reversed, missing, extra
    3.0
    """
    T, E = _pair(truth, estimate)
    return _differing_pairs(T, _favoured(T, E) if cpdag else E) / _divisor(T, normalize)


def shd_c(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False, normalize: bool = False) -> float:
    """SHD between the CPDAGs of both graphs: how well the Markov equivalence class is recovered.

    NaN where the estimate is a directed graph with a cycle, which has no CPDAG.
    """
    T, E = _pair(truth, estimate)
    if is_dag(E):  # a CPDAG that is a DAG is its own CPDAG
        E = to_cpdag(E)
    elif not cpdag:
        return float("nan")
    return _differing_pairs(to_cpdag(T), E) / _divisor(T, normalize)


def sid(truth: ArrayLike, estimate: ArrayLike, *, normalize: bool = False) -> float:
    """Structural intervention distance (Peters and Bühlmann 2015).

    The number of ordered pairs whose interventional distribution is wrong when the estimate's parents are adjusted
    for. NaN where the estimate is no DAG.
    """
    import gadjid

    T, E = _pair(truth, estimate)
    if not is_dag(E):
        return float("nan")
    if not len(T):
        return 0.0
    _, mistakes = gadjid.sid(T.astype(np.int8), E.astype(np.int8), edge_direction="from row to column")
    return float(mistakes) / _divisor(T, normalize)


def tpr(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Share of the true edges that are found with their direction; NaN where there are none."""
    true, _, right = _counts(truth, estimate, cpdag)
    return _ratio(right, true)


def precision(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Share of the estimated edges that are true, direction included; NaN where there are none."""
    _, found, right = _counts(truth, estimate, cpdag)
    return _ratio(right, found)


def fdr(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Return the false discovery rate, the share of the estimated edges that are absent or reversed in the truth."""
    return 1 - precision(truth, estimate, cpdag=cpdag)


def f1(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False) -> float:
    """Harmonic mean of precision and TPR; NaN where both graphs are empty."""
    true, found, right = _counts(truth, estimate, cpdag)
    return _ratio(2 * right, true + found)


@dataclass(frozen=True)
class GraphScores:
    """All metrics of one estimate; NaN where one is not defined."""

    edges: int
    shd: float
    shd_c: float
    sid: float
    tpr: float
    fdr: float
    precision: float
    f1: float


def evaluate(truth: ArrayLike, estimate: ArrayLike, *, cpdag: bool = False, normalize: bool = False) -> GraphScores:
    """Compute all metrics at once; `normalize` divides SHD, SHD-C and SID by the number of nodes."""
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
    """Read a graph to compare others with, and refuse one with a cycle.

    Examples
    --------
    >>> as_truth([[0, 1], [1, 0]], ["a", "b"])
    Traceback (most recent call last):
    ValueError: the truth must be a directed acyclic graph, and has a cycle: 'a' -> 'b' -> 'a'
    """
    T = as_adjacency(graph)
    if cycle := find_cycle(T):
        raise ValueError(f"the truth must be a directed acyclic graph, and has a cycle: {cycle_text(cycle, names)}")
    return T


def as_estimate(graph: ArrayLike, names: Sequence[str] | None = None, called: str = "the estimate") -> BoolMatrix:
    """Read a graph to compare, and refuse an edge from a variable to itself, which no metric counts.

    Examples
    --------
    >>> as_estimate([[0, 1], [0, 1]], ["a", "b"])
    Traceback (most recent call last):
    ValueError: the estimate has an edge from a variable to itself, 'b' -> 'b'; leave it out
    """
    E = as_adjacency(graph)
    if E.diagonal().any():
        loop = cycle_text([int(E.diagonal().argmax())], names)
        raise ValueError(f"{called} has an edge from a variable to itself, {loop}; leave it out")
    return E


def _pair(truth: Any, estimate: Any) -> tuple[BoolMatrix, BoolMatrix]:
    """Read both graphs, tables of pandas by their labels, and check that they can be compared."""
    if hasattr(truth, "reindex") and hasattr(estimate, "reindex"):
        for label, other in ((truth.index, estimate.index), (truth.columns, estimate.columns)):
            if set(label) != set(other):
                raise ValueError(f"the truth has the labels {list(label)}, and the estimate {list(other)}")
        estimate = estimate.loc[truth.index, truth.columns]
    T, E = as_truth(truth), as_estimate(estimate)
    if T.shape != E.shape:
        raise ValueError(f"truth and estimate must have the same nodes; got shapes {T.shape} and {E.shape}")
    return T, E


def _favoured(truth: BoolMatrix, estimate: BoolMatrix) -> BoolMatrix:
    """Direct the undirected edges of a CPDAG as the truth does, where the truth has the edge."""
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
