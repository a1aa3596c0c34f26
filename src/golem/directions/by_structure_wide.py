"""Evidence for the directions of the class of very many columns: the rule of `by_structure`, by the sparse search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.dependence import dependence
from golem.data.factors import few_factors
from golem.data.wide_columns import ranked_columns, rows_by_content
from golem.directions.residual_tests import normality_test
from golem.graphs.edges import Edges
from golem.runtime.progress import Counter
from golem.runtime.threads import in_chunks
from golem.runtime.types import BoolVector, Indices, Vector
from golem.score.sparsity import L0
from golem.score.wide_score import WideScore

# Pairs of halves, for the columns and again for their normal scores.
_PAIRS = 2
# Columns that are looked at for rows that depend on each other.
_FOR_ROWS = 100
# If a larger share of the columns is not normal, the reverse of every arrow gets one edge for free, not only of those
# near such a column: the test does not find all of them.
_MANY_STRANGE = 0.01
# Columns that are tested at a time.
_AT_ONCE = 1024

Columns = NDArray[np.float32]


class WideRule(NamedTuple):
    """What a claim needs; see `golem.directions.by_structure`."""

    least_margin: float
    least_stability: float
    most_rows: int
    few_rows: int
    normal_level: float


def wide_evidence(
    score: WideScore,
    graph: Edges,
    asked: BoolVector,
    penalty: L0,
    rule: WideRule,
    random_state: int,
    callback: Counter | None,
) -> tuple[Vector, Vector]:
    """Return the margin and the stability of each edge, NaN where they were not asked."""
    from golem.search.wide.solve import ArrowChecks, edge_penalty  # imports numba

    margin, stability = np.full(len(graph), np.nan), np.full(len(graph), np.nan)
    moments, d = score.moments, score.d
    if few_factors(moments):
        return margin, stability
    Z, n = moments.standardized_columns, moments.n
    done, total = 0, 4 * _PAIRS + 2

    def clock(stage: str, share: float) -> None:
        """Keep the caller informed; it may raise KeyboardInterrupt."""
        if callback is not None:
            callback(done, total)

    share = _independent_share(Z[np.linspace(0, d - 1, min(d, _FOR_ROWS)).astype(int)])
    order, block = (rows_by_content(Z), 1) if share == 1.0 else (np.arange(n), int(np.ceil(2 / share)))
    halves = _halves(order, np.random.default_rng(random_state), block)
    checks = ArrowChecks(moments, Z, graph.by_child(), penalty, clock)
    arrows, found = (graph.causes[asked], graph.children[asked]), []
    ranked, changed = (Z, np.zeros(d, dtype=bool)) if score.table.is_ranked else ranked_columns(Z)
    variants = [(Z, np.ones(d, dtype=bool)), (ranked, checks.near(changed))] if changed.any() else [(Z, ~changed)]
    for columns, _ in variants:
        for rows in halves:
            counted = max(3, round(len(rows) * min(share, rule.most_rows / n)))
            found.append(checks.in_class(columns, rows, counted, arrows))
            done += 1
    stability[asked] = np.mean(found, axis=0)
    stable = asked & (stability >= rule.least_stability)
    margin[stable] = np.inf
    counted = max(3, round(min(n * share, rule.most_rows)))
    strange = ~_are_normal(Z, rule.normal_level / d)
    few = n < rule.few_rows or strange.mean() > _MANY_STRANGE
    near = np.ones(d, dtype=bool) if few else checks.near(strange)
    free = edge_penalty(penalty, counted, d) * (near[graph.causes] | near[graph.children])
    for columns, differs in variants:  # far from the columns that change, a margin stays as it is
        left = stable & (margin >= rule.least_margin) & (differs[graph.causes] | differs[graph.children])
        losses = checks.margins(columns, counted, (graph.causes[left], graph.children[left]))
        margin[left] = np.minimum(margin[left], losses - free[left])
        done += 1
    return margin, stability


def _halves(order: Indices, rng: np.random.Generator, block: int) -> list[Indices]:
    """Return random complementary halves of the rows; neighbours in this order stay together in blocks."""
    halves = []
    for _ in range(_PAIRS):
        blocks = np.array_split(order, max(2, len(order) // block))
        drawn = rng.permutation(len(blocks))
        for chosen in (drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]):
            halves.append(np.sort(np.concatenate([blocks[k] for k in chosen])))
    return halves


def _independent_share(Z: Columns) -> float:
    """Return the effective number of rows as a share of all, if neighbouring rows depend on each other."""
    found = dependence(tuple(f"x{j}" for j in range(len(Z))), Z.T.astype(float)) if len(Z) > 1 else None
    return found.share if found is not None and found.is_found else 1.0


def _are_normal(Z: Columns, level: float) -> BoolVector:
    """Return which columns may be normal, at this level each."""
    lowest = np.ones(len(Z))

    def test(a: int, b: int) -> None:
        lowest[a:b] = normality_test(Z[a:b].T.astype(float))

    in_chunks(test, len(Z), _AT_ONCE)
    return np.asarray(lowest >= level)
