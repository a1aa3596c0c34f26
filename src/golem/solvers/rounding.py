"""From raw weights to a directed acyclic graph: threshold, then cycle removal (paper, section 4.2)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import edges_are_acyclic
from golem.runtime.types import BoolMatrix, Matrix

CycleRemoval = Literal["paper", "gentle", "none"]
_NEXT_TO_NOTHING = 1e-300


@dataclass(frozen=True, eq=False)
class Rounded:
    """Rounded weights, and the number of edges that were cut because of cycles after thresholding."""

    weights: Matrix
    cut: int


def round_to_dag(
    weights: Matrix,
    threshold: float,
    required: BoolMatrix | None = None,
    cycles: CycleRemoval = "paper",
) -> Rounded:
    """Drop edges below the threshold, then remove cycles.

    Parameters
    ----------
    weights : ndarray of shape (d, d)
        Raw weights.
    threshold : float
        Edges with |weight| < threshold are dropped (omega in the paper).
    required : ndarray of shape (d, d), bool, optional
        Edges that stay whatever their weight; they must be acyclic.
    cycles : {"paper", "gentle", "none"}
        "paper": drop the smallest edges, on a cycle or not, until no cycle is left. As dropping edges cannot make a
        cycle, bisection finds how many must go in log2(edges) searches. "gentle": go through the edges from the
        largest and drop only those that close a cycle with the ones kept; every other edge stays. "none": leave
        cycles (section 5.1 thresholds only).

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0, 0.9, 0.4], [0.5, 0, 0.8], [0, 0.1, 0]])
    >>> round_to_dag(B, 0.3).weights
    array([[0. , 0.9, 0. ],
           [0. , 0. , 0.8],
           [0. , 0. , 0. ]])
    >>> round_to_dag(B, 0.3, cycles="gentle").weights  # 0.4 lies on no cycle
    array([[0. , 0.9, 0.4],
           [0. , 0. , 0.8],
           [0. , 0. , 0. ]])
    """
    if not threshold >= 0:
        raise ValueError(f"the threshold must be at least 0; got {threshold}")
    d = len(weights)
    kept = np.zeros((d, d), dtype=bool) if required is None else required.copy()
    above = (np.abs(weights) >= threshold) & (weights != 0) & ~kept & ~np.eye(d, dtype=bool)
    candidates = np.argwhere(above)
    # Largest first; equal sizes in the order of their indices.
    candidates = candidates[np.argsort(-np.abs(weights[above]), kind="stable")]
    if cycles == "none":
        accepted = candidates
    else:
        accepted = _acyclic_prefixes(np.argwhere(kept), candidates, d, skip_and_go_on=cycles == "gentle")
    kept[accepted[:, 0], accepted[:, 1]] = True
    return Rounded(np.where(kept, weights, 0.0), len(candidates) - len(accepted))


def with_required(weights: Matrix, required: BoolMatrix) -> Matrix:
    """Give a required edge of weight exactly 0 the weight 1e-300, nothing in any sum and an edge in every file.

    `weights[i, j] != 0` means i -> j to all that comes after: models, metrics, files. Columns without any correlation
    make such weights.
    """
    lost = required & (weights == 0)
    # In double precision: single has no such number.
    return np.where(lost, _NEXT_TO_NOTHING, np.asarray(weights, dtype=float)) if lost.any() else weights


def _acyclic_prefixes(
    kept: NDArray[np.intp], candidates: NDArray[np.intp], d: int, skip_and_go_on: bool
) -> NDArray[np.intp]:
    """Accept the longest run of candidates that closes no cycle; skip the next one and go on, or stop there."""
    accepted = np.empty((0, 2), dtype=np.intp)
    while len(candidates):
        fits = _longest_acyclic_prefix(np.concatenate([kept, accepted]), candidates, d)
        accepted = np.concatenate([accepted, candidates[:fits]])
        candidates = candidates[fits + 1 :] if skip_and_go_on else candidates[:0]
    return accepted


def _longest_acyclic_prefix(kept: NDArray[np.intp], candidates: NDArray[np.intp], d: int) -> int:
    """Count how many of the first candidates can join the kept edges without a cycle, by galloping bisection."""

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
