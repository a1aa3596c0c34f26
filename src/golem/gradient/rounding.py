"""From raw weights to a directed acyclic graph: threshold, then cycle removal (paper, section 4.2).

The paper drops weights below omega = 0.3. This suits data in which all true effects are larger. With threshold="lr",
every threshold gives a candidate graph, whose weights are refitted by least squares. The candidate with the lowest

    2 n L(refitted weights) + penalty on the edges

is chosen. Then edges are dropped whose likelihood ratio (the increase of the deviance 2 n L without them) is below
their penalty. Weights are compared in units of the noise, B_ij sigma_i / sigma_j with sigma_j^2 = (M'SM)_jj and
M = I - raw B, so that the result does not depend on the units of the columns. With equal noise variances these are
the weights themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from golem.data.moments import Moments
from golem.graphs.dag import edges_are_acyclic
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.likelihood import Likelihood
from golem.score.regression import regressions, residual_variance, residual_variances, variances_without_each
from golem.score.sparsity import L0

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


# Raw weights of Adam are never exactly zero. At most this many per node, the largest, are considered.
_MOST_ENTRIES = 20
# A regression with more parents than this fraction of the rows would fit noise, whatever the penalty.
_MOST_PARENTS = 1 / 3


@dataclass(frozen=True, eq=False)
class ChosenEdges:
    """The chosen graph.

    `weights` are its least-squares weights, of shape (d, d). `threshold` is the smallest absolute raw weight kept, or
    infinity if there is none. `scores` are those of the candidates, sparsest first. `cut` counts the raw weights that
    were skipped because they closed a cycle.
    """

    weights: Matrix
    threshold: float
    scores: Vector
    cut: int


def choose_edges(
    raw: Matrix,
    moments: Moments,
    likelihood: Likelihood,
    penalty: L0,
    required: BoolMatrix | None = None,
    cycles: CycleRemoval = "gentle",
) -> ChosenEdges:
    """Choose edges among the raw weights of Adam or L-BFGS by likelihood ratio, and refit their weights.

    Required edges, which must be acyclic, are always kept. If a weight closes a cycle, cycles="gentle" skips it, and
    cycles="paper" ends the list of candidates there.

    Examples
    --------
    >>> from golem.score.likelihood import GaussianEV
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> moments = Moments.from_rows(np.column_stack([x, 0.2 * x + rng.normal(size=500)]))
    >>> raw = np.array([[0, 0.15], [0.01, 0]])  # shrunk, and below 0.3
    >>> choose_edges(raw, moments, GaussianEV(), L0()).weights.round(2)
    array([[0. , 0.2],
           [0. , 0. ]])
    """
    if cycles == "none":
        raise ValueError("A likelihood ratio needs acyclic candidates. With cycles='none', use a number as threshold.")
    from scipy.sparse.csgraph import dijkstra

    d, n, S = moments.d, moments.n, moments.covariance
    graph = np.zeros((d, d), dtype=bool) if required is None else required.copy()
    fixed, penalties = graph.copy(), penalty.penalties(n, d)
    r, parents = regressions(graph, S).residual_variances, graph.sum(axis=0)
    most_parents = max(1, int(n * _MOST_PARENTS))
    scores, steps, cut = [_score(r, parents, likelihood, penalties, n)], [], [0]
    closing = 0
    reaches = np.isfinite(dijkstra(graph, unweighted=True))  # [a, b]: b is a or a descendant of a
    for i, j in _in_order(raw, moments, fixed):
        if reaches[j, i]:
            closing += 1
            if cycles == "paper":
                break
            continue
        if parents[j] >= most_parents:
            break
        graph[i, j] = True
        reaches[reaches[:, i]] |= reaches[j]
        parents[j] += 1
        r[j] = residual_variance(S, j, np.nonzero(graph[:, j])[0])
        steps.append((i, j))
        scores.append(_score(r, parents, likelihood, penalties, n))
        cut.append(closing)
    best = int(np.argmin(scores))
    for i, j in steps[best:]:
        graph[i, j] = False
    _drop_unsupported_edges(graph, fixed, moments, likelihood, penalties)
    kept = np.abs(raw[graph & ~fixed])
    weights = regressions(graph, S).matrix
    return ChosenEdges(weights, float(kept.min(initial=np.inf)), np.array(scores), cut[best])


def _in_order(raw: Matrix, moments: Moments, fixed: BoolMatrix) -> NDArray[np.intp]:
    """Return the entries that may become edges, largest first in units of the noise; ties are in index order."""
    scale = np.sqrt(residual_variances(raw, moments.covariance))
    size = np.where(fixed, 0.0, np.abs(raw) * scale[:, None] / scale[None, :])
    np.fill_diagonal(size, 0.0)
    order = np.argsort(-size, axis=None, kind="stable")[: _MOST_ENTRIES * len(raw)]
    order = order[size.ravel()[order] > 0]
    return np.column_stack(np.unravel_index(order, size.shape))


def _score(r: Vector, parents: NDArray[np.intp], likelihood: Likelihood, penalties: Vector, n: int) -> float:
    return 2 * n * float(likelihood.on_dag(r)) + float(penalties[parents].sum())


def _drop_unsupported_edges(
    graph: BoolMatrix, fixed: BoolMatrix, moments: Moments, likelihood: Likelihood, penalties: Vector
) -> None:
    """Drop the edge whose removal lowers the score most, in place, until no removal lowers it."""
    n, S = moments.n, moments.covariance
    r = regressions(graph, S).residual_variances
    without = np.zeros_like(S)  # [i, j]: residual variance of j without the edge i -> j
    stale = range(len(S))
    while True:
        for j in stale:
            where = np.nonzero(graph[:, j])[0]
            without[where, j] = variances_without_each(S, j, where)
        free = np.argwhere(graph & ~fixed)
        if not len(free):
            return
        changed = np.repeat(r[None, :], len(free), axis=0)
        changed[np.arange(len(free)), free[:, 1]] = without[tuple(free.T)]
        ratios = 2 * n * (likelihood.on_dag(changed) - likelihood.on_dag(r))
        parents = graph.sum(axis=0)[free[:, 1]]
        gain = penalties[parents] - penalties[parents - 1] - ratios
        k = int(np.argmax(gain))
        if gain[k] <= 0:
            return
        i, j = free[k]
        graph[i, j], r[j], stale = False, without[i, j], range(j, j + 1)
