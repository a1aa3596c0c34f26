"""Candidates among very many columns: pairs of nodes that an edge may connect.

A screening finds strong correlations. Where the effects of parents cancel, correlations are weak, but not given the
rest of the Markov blanket: candidates of candidates find these. What is still missed shows in the graph: given their
parents, all columns are uncorrelated, except for pairs without an edge that should have one (`missed_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.unusable import Unusable, unusable_error
from golem.graphs.edges import Edges
from golem.runtime.threads import in_chunks
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.wide_score import regress_columns
from golem.search.engines import correlation_kernel_arrays as arrays
from golem.search.engines.correlation_candidates import scratch
from golem.search.order_kernel_arrays import ALLOWED
from golem.search.wide import column_kernels as kernels
from golem.search.wide import list_kernels
from golem.search.wide.screening import MOST_PER_NODE, Columns, Pairs, screen, threshold_for

# Independent columns that pass a screening per node, on average: that of columns, and that of residuals.
_FALSE_PAIRS, _FALSE_MISSED = 8.0, 0.5
# Blankets are chosen with this share of the penalty, and have at most so many nodes.
_LENIENT, _MOST_IN_BLANKET = 0.5, 40
# Rounds of looking at candidates of candidates.
_ROUNDS = 3
# Strongest correlations of each node that are candidates whatever the blankets say.
_STRONGEST = 5
# Columns with larger correlations are copies of each other: they are in single precision.
_COPY = 1e-6
# Nodes per task of a thread.
_AT_ONCE = 512

Check = Callable[[str, float], None]


@dataclass(frozen=True)
class WideCandidates:
    """Pairs of nodes that an edge may connect, each once.

    Parameters
    ----------
    one, other : ndarray of int
        The pairs.
    likely : ndarray of bool
        Whether one is in the Markov blanket of the other.
    explained : ndarray of shape (d,)
        The share of the variance of each column that its blanket explains.
    """

    one: Indices
    other: Indices
    likely: NDArray[np.bool_]
    explained: Vector


class Blankets(NamedTuple):
    """The Markov blankets in rows, followed by -1, the coefficients, and the residual variances."""

    chosen: NDArray[np.int64]
    weights: Matrix
    r: Vector


def share_of(penalty: float, n: int) -> float:
    """Return the share of a variance that an edge must explain to be worth a penalty."""
    return float(-np.expm1(-penalty / n))


def find_candidates(
    Z: Columns, names: Sequence[str], penalty: float, most_parents: int, device: str, check: Check
) -> WideCandidates:
    """Find candidates by a screening; `penalty` is that of an edge. Raise a ValueError for copies of columns."""
    d, n = Z.shape
    strong = screen(Z, Z, threshold_for(n, d, _FALSE_PAIRS), device, lambda share: check("screening", share))
    _require_distinct(strong, names)
    problem = simple_problem(n, d, _LENIENT * penalty, most_parents)
    blankets = Blankets(np.full((d, _MOST_IN_BLANKET), -1), np.zeros((d, _MOST_IN_BLANKET)), np.ones(d))
    changed = np.arange(d)
    for _ in range(_ROUNDS):
        first, others = lists_of(_preferring(strong, blankets, d), d)
        _choose(problem, Z, first, others, changed, blankets, check)
        new = _indirect(Z, first, others, blankets, penalty, check)
        strong, changed = _joined(strong, new), np.unique(np.append(new.one, new.other))
        if not len(changed):
            break
    return _chosen_pairs(strong, blankets, d)


def _require_distinct(strong: Pairs, names: Sequence[str]) -> None:
    """Raise a ValueError for pairs of columns that are equal up to shift and scale."""
    equal = np.abs(strong.r) > 1 - _COPY
    if equal.any():
        copies = dict(zip(strong.other[equal].tolist(), strong.one[equal].tolist(), strict=True))
        raise unusable_error([Unusable.determined(names[j], [names[i]]) for j, i in sorted(copies.items())])


def _preferring(strong: Pairs, blankets: Blankets, d: int) -> Pairs:
    """Return the pairs, with those within blankets first in the lists of their nodes."""
    children, places = np.nonzero(blankets.chosen >= 0)
    if not len(children):
        return strong
    inside = np.isin(_keys(strong.one, strong.other, d), _keys(children, blankets.chosen[children, places], d))
    return strong._replace(r=np.where(inside, np.abs(strong.r) + 2.0, strong.r))


def _joined(strong: Pairs, new: Pairs) -> Pairs:
    """Add pairs, which come first in the lists of their nodes."""
    one, other = np.minimum(new.one, new.other), np.maximum(new.one, new.other)
    # A pair that matters given the blanket must not fall out of the list of the strongest.
    return Pairs(np.append(strong.one, one), np.append(strong.other, other), np.append(strong.r, new.r + 1.0))


def lists_of(pairs: Pairs, d: int, most: int = MOST_PER_NODE) -> tuple[Indices, Indices]:
    """Return the others of each node with the strongest correlations, in one array, and where those of a node begin."""
    degree = np.bincount(pairs.one, minlength=d) + np.bincount(pairs.other, minlength=d)
    first = np.append(0, np.cumsum(degree))
    others, back, pair = (np.empty(first[-1], dtype=np.int64) for _ in range(3))
    list_kernels.fill_lists(pairs.one, pairs.other, first.copy(), others, back, pair)
    strength, kept = np.abs(pairs.r)[pair], np.empty(d, dtype=np.int64)
    in_chunks(
        lambda a, b: list_kernels.keep_strongest(first, others, strength, most, a, b, kept), d, max(_AT_ONCE, d // 256)
    )
    ends = np.append(0, np.cumsum(kept))
    inside = np.arange(len(others)) - np.repeat(first[:-1], degree) < np.repeat(kept, degree)
    return ends, others[inside]


def simple_problem(n: int, d: int, penalty: float, most_parents: int) -> arrays.CorrelationProblem:
    """Return the score with a penalty per edge."""
    values = np.zeros((3, d))
    values[arrays.PENALTY] = penalty * np.arange(d)
    values[arrays.THRESHOLD] = share_of(penalty, n)
    return arrays.CorrelationProblem(
        S=np.ones((1, 1)), n=float(n), values=values, tightness=0.0, most_parents=min(most_parents, d - 1)
    )


def _choose(
    problem: arrays.CorrelationProblem,
    Z: Columns,
    first: Indices,
    others: Indices,
    nodes: Indices,
    blankets: Blankets,
    check: Check,
) -> None:
    """Choose the blankets of some nodes."""
    problem = problem._replace(most_parents=min(problem.most_parents, _MOST_IN_BLANKET))
    longest, rows = int(np.diff(first).max(initial=0)), np.arange(Z.shape[1])

    def choose(a: int, b: int) -> None:
        m = longest + 1
        kernels.find_blankets(
            problem, scratch(m, problem.most_parents), Z, rows, first, others, nodes[a:b], np.full(m, ALLOWED),
            *spaces(m), np.zeros(m * m), *blankets,
        )  # fmt: skip

    check("Markov blankets", 0.0)
    in_chunks(choose, len(nodes), _AT_ONCE)


def spaces(m: int) -> tuple[NDArray[np.int64], Matrix, Vector, Matrix]:
    """Return scratch space for the correlations of m nodes."""
    return np.zeros(m, dtype=np.int64), np.zeros((kernels.TILE, m)), np.zeros(m), np.zeros((m, m))


def _indirect(Z: Columns, first: Indices, others: Indices, blankets: Blankets, penalty: float, check: Check) -> Pairs:
    """Return pairs of a node and a candidate of its blanket that explains what the blanket leaves."""
    d, n = Z.shape
    share = share_of(_LENIENT * penalty, n)
    found: list[NDArray[np.int64]] = []

    def find(a: int, b: int) -> None:
        seen, room, number = np.full(d, -1), 16 * (b - a), 0
        while True:
            pairs = np.zeros((room, 2), dtype=np.int64)
            number = kernels.find_indirect(Z, first, others, *blankets, share, a, b, np.zeros(n), seen, pairs)
            if number <= room:
                break
            room, seen = 4 * room, np.full(d, -1)
        found.append(pairs[:number])

    check("candidates of candidates", 0.0)
    in_chunks(find, d, max(_AT_ONCE, d // 256))
    pairs = np.concatenate(found)
    return _distinct(pairs[:, 0], pairs[:, 1], d)


def missed_pairs(Z: Columns, edges: Edges, device: str, check: Check) -> Pairs:
    """Return pairs of columns of which more is correlated than the edges of a graph explain."""
    d, n = Z.shape
    fit = regress_columns(Z, edges).fit
    first = np.searchsorted(edges.children, np.arange(d + 1))
    E = np.empty_like(Z)

    def fill(a: int, b: int) -> None:
        r = fit.residual_variances
        kernels.fill_residuals(Z, first, edges.causes, fit.weights, r, a, b, np.zeros(n), E)

    in_chunks(fill, d, _AT_ONCE)
    return screen(
        E, E, threshold_for(n, d, _FALSE_MISSED), device, lambda share: check("screening of residuals", share)
    )


def _distinct(one: Indices, other: Indices, d: int) -> Pairs:
    """Return pairs once each."""
    keys = np.unique(_keys(one, other, d))
    return Pairs(keys // d, keys % d, np.zeros(len(keys)))


def _chosen_pairs(strong: Pairs, blankets: Blankets, d: int) -> WideCandidates:
    """Return the pairs within blankets and the strongest correlations of each node."""
    first, others = lists_of(strong, d, _STRONGEST)
    nodes = np.repeat(np.arange(d), np.diff(first))
    children, places = np.nonzero(blankets.chosen >= 0)
    causes = blankets.chosen[children, places]
    keys = np.concatenate([_keys(nodes, others, d), _keys(children, causes, d)])
    unique, place = np.unique(keys, return_inverse=True)
    likely = np.zeros(len(unique), dtype=bool)
    likely[place[len(nodes) :]] = True
    return WideCandidates(unique // d, unique % d, likely, 1 - blankets.r)


def _keys(one: Indices, other: Indices, d: int) -> Indices:
    """Return a number per pair."""
    return np.asarray(np.minimum(one, other) * d + np.maximum(one, other))
