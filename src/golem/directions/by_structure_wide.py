"""Evidence for the directions of the class of very many columns: the rule of `by_structure`, by the sparse search."""

from __future__ import annotations

import functools

import numpy as np

from golem.graphs.edges import Edges
from golem.runtime.progress import Counter
from golem.runtime.types import BoolVector, Vector
from golem.score.sparsity import L0
from golem.score.wide_score import WideScore

# Pairs of halves per variant.
_PAIRS = 2


def wide_evidence(
    score: WideScore,
    graph: Edges,
    asked: BoolVector,
    penalty: L0,
    thresholds: tuple[float, float, int],
    random_state: int,
    callback: Counter | None,
) -> tuple[Vector, Vector]:
    """Return the margin and the stability of each edge, NaN where they were not asked.

    `thresholds` are the least margin and stability of a claim, and the number of rows that count at most.
    """
    from golem.search.wide import solve  # imports numba
    from golem.search.wide.search import Lists

    least_margin, least_stability, most_rows = thresholds
    moments, d = score.moments, score.d
    Z, n = moments.standardized_columns, moments.n

    done, total = 0, 4 * _PAIRS + 2

    def clock(stage: str, share: float) -> None:
        """Keep the caller informed; it may raise KeyboardInterrupt."""
        if callback is not None:
            callback(done, total)

    found = solve.candidates_of(moments, Z, solve.edge_penalty(penalty, n, d), "cpu", clock)
    lists = Lists.of(found.one, found.other, found.likely, d)
    order = np.argsort(found.explained.round(9), kind="stable")
    counted = functools.partial(solve.edge_penalty, penalty, d=d)
    edges, children = graph.causes[asked], graph.children[asked]
    halves = _halves(n, np.random.default_rng(random_state))
    variants = [Z] if score.table.is_ranked else [Z, solve.ranked(Z)]
    shares = []
    for columns in variants:
        for rows in halves:
            shares.append(solve.in_class(columns, rows, lists, order, counted(len(rows)), (edges, children), clock))
            done += 1
    margin, stability = np.full(len(graph), np.nan), np.full(len(graph), np.nan)
    stability[asked] = np.mean(shares, axis=0)
    stable = asked & (stability >= least_stability)
    margin[stable] = np.inf
    few = min(n, most_rows)
    for columns in variants:
        left = stable & (margin >= least_margin)
        arrows = graph.causes[left], graph.children[left]
        losses = solve.margins(columns, few, lists, graph.by_child(), counted(few), arrows, clock)
        margin[left] = np.minimum(margin[left], losses)
        done += 1
    return margin, stability


def _halves(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return random complementary halves of the rows."""
    halves = []
    for _ in range(_PAIRS):
        drawn = rng.permutation(n)
        halves += [np.sort(drawn[: n // 2]), np.sort(drawn[n // 2 :])]
    return halves
