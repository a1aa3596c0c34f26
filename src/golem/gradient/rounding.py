"""From raw weights to a directed acyclic graph: threshold, then cycle removal (paper, section 4.2).

The paper drops weights below omega = 0.3, which suits data in which all true effects are larger.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import edges_are_acyclic
from golem.runtime.types import BoolMatrix, Matrix

CycleRemoval = Literal["paper", "gentle", "none"]
_TINY_WEIGHT = 1e-300


@dataclass(frozen=True, eq=False)
class Rounded:
    """Rounded weights, and the number of edges above the threshold that were removed because of cycles."""

    weights: Matrix
    cut: int


def round_to_dag(
    weights: Matrix, threshold: float, required: BoolMatrix | None = None, cycles: CycleRemoval = "paper"
) -> Rounded:
    """Drop edges below the threshold, then remove cycles.

    Parameters
    ----------
    weights : ndarray of shape (d, d)
        Raw weights.
    threshold : float
        Edges with |weight| < threshold are dropped (omega in the paper).
    required : ndarray of shape (d, d), bool, optional
        Edges that are kept whatever their weight. They must be acyclic.
    cycles : {"paper", "gentle", "none"}
        "paper": drop the smallest edges, on a cycle or not, until no cycle is left. "gentle": go through the edges,
        largest first, and drop only those that close a cycle with the edges kept so far. "none": keep cycles, as in
        section 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0, 0.9, 0.4], [0.5, 0, 0.8], [0, 0.1, 0]])
    >>> round_to_dag(B, 0.3).weights
    array([[0. , 0.9, 0. ],
           [0. , 0. , 0.8],
           [0. , 0. , 0. ]])
    >>> round_to_dag(B, 0.3, cycles="gentle").weights  # 0.4 is not on a cycle
    array([[0. , 0.9, 0.4],
           [0. , 0. , 0.8],
           [0. , 0. , 0. ]])
    """
    if not threshold >= 0:
        raise ValueError(f"The threshold must be at least 0; got {threshold}.")
    d = len(weights)
    kept = np.zeros((d, d), dtype=bool) if required is None else required.copy()
    above = (np.abs(weights) >= threshold) & (weights != 0) & ~kept & ~np.eye(d, dtype=bool)
    candidates = np.argwhere(above)
    # Largest first; ties are in index order.
    candidates = candidates[np.argsort(-np.abs(weights[above]), kind="stable")]
    if cycles == "none":
        accepted = candidates
    else:
        accepted = _acyclic_prefixes(np.argwhere(kept), candidates, d, skip_and_go_on=cycles == "gentle")
    kept[accepted[:, 0], accepted[:, 1]] = True
    return Rounded(np.where(kept, weights, 0.0), len(candidates) - len(accepted))


def with_required(weights: Matrix, required: BoolMatrix) -> Matrix:
    """Replace zero weights of required edges by 1e-300, so that `weights[i, j] != 0` means i -> j everywhere.

    Exactly uncorrelated columns lead to zero weights. 1e-300 does not change any sum.
    """
    lost = required & (weights == 0)
    # Single precision cannot represent 1e-300.
    return np.where(lost, _TINY_WEIGHT, np.asarray(weights, dtype=float)) if lost.any() else weights


def _acyclic_prefixes(
    kept: NDArray[np.intp], candidates: NDArray[np.intp], d: int, skip_and_go_on: bool
) -> NDArray[np.intp]:
    """Accept the longest acyclic prefix of the candidates; then skip one candidate and continue, or stop."""
    accepted = np.empty((0, 2), dtype=np.intp)
    while len(candidates):
        fits = _longest_acyclic_prefix(np.concatenate([kept, accepted]), candidates, d)
        accepted = np.concatenate([accepted, candidates[:fits]])
        candidates = candidates[fits + 1 :] if skip_and_go_on else candidates[:0]
    return accepted


def _longest_acyclic_prefix(kept: NDArray[np.intp], candidates: NDArray[np.intp], d: int) -> int:
    """Return how many of the first candidates fit with the kept edges without a cycle, by galloping bisection."""

    def fits(count: int) -> bool:
        edges = np.concatenate([kept, candidates[:count]])
        return edges_are_acyclic(edges[:, 0], edges[:, 1], d)

    if fits(len(candidates)):
        return len(candidates)
    high = 1
    while high < len(candidates) and fits(high):
        high *= 2
    counts = range(high // 2, min(high, len(candidates)))
    return counts.start + bisect_left(counts, True, key=lambda count: not fits(count)) - 1
