"""Evidence for the directions that the equivalence class gives.

One wrong or missing edge turns the edges next to it, so the class of the best graph is not evidence by itself. Two
things are:

- **The margin.** How much worse is the best graph with the reverse? Its score loses at most about the penalty of the
  edges that it needs in addition: evidence for a direction is evidence for the absence of an edge. So the penalty must
  be honest. It is log n per edge plus twice the log odds that a pair has no edge, estimated from the graph itself.
- **Stability.** How often do random halves of the rows give the same direction?

Both are asked of variants of the table that should not matter: the columns and their normal scores, or all scores of
categories. A direction is claimed if its margin is large in all variants and halves agree; benchmarks/claims.py
measures how often such claims are wrong.

Real tables are seldom normal, and hidden causes or curved effects give them an edge too many or too few. Where a test
rejects normal columns, or fewer than 200 rows say little about them, the graph with the reverse gets one edge for free:
what only the absence of a single edge shows is then not claimed.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, replace

import numpy as np

from golem.data.dependence import dependence
from golem.data.knowledge import Knowledge
from golem.data.table import Table
from golem.directions.by_structure_wide import WideRule, wide_evidence
from golem.directions.equivalence_class import open_edges
from golem.directions.factors import hidden_factors, is_too_dense
from golem.directions.learned_graph import LearnedGraph
from golem.directions.residual_tests import normality_test
from golem.graphs.edges import Edges
from golem.graphs.interventional import reversible_after
from golem.runtime.arrays import to_numpy
from golem.runtime.machine import available_cores
from golem.runtime.progress import Counter
from golem.runtime.threads import blas_threads_for, in_parallel
from golem.runtime.types import BoolMatrix, BoolVector, Vector
from golem.score.node_score import NodeScore, Variant
from golem.score.sparsity import L0
from golem.score.wide_score import WideScore
from golem.search.exact_order import LARGEST_EXACT
from golem.search.search_order import search_order

# What a direction needs to be claimed: the loss of score of the best graph with the reverse, in units of the deviance,
# and the share of halves with the same direction. They were chosen on other tables than benchmarks/claims.py has.
LEAST_MARGIN = 6.0
LEAST_STABILITY = 0.5
# With fewer rows, or columns that are not normal at this level, the reverse gets one edge for free.
_FEW_ROWS, _NORMAL_LEVEL = 200, 0.01
# The test of normality needs so many rows.
_FEWEST_TESTED = 20
# More rows count as this many. No linear model is right to the precision of more of them: what only they show is as
# small as its errors.
MOST_ROWS = 2000
# Pairs of halves per variant, for tables with at most so many columns.
_PAIRS = {100: 6, 400: 3}
_FEWEST_PAIRS = 2
# Edges that one thread takes at a time.
_AT_ONCE = 16
# A check that takes up to about two seconds is quick. The size says so, not a clock, so that machines agree.
_QUICK_NUMBERS, _QUICK_SECONDS = 1e8, 0.02


@dataclass(frozen=True, eq=False)
class StructureEvidence:
    """The evidence for the directions of the edges of a graph.

    Parameters
    ----------
    margin : ndarray of shape (e,)
        The loss of score of the best graph with the reverse, the smallest over all variants; where one edge is free,
        without its penalty. NaN for edges that were not in question, or that halves do not agree on.
    stability : ndarray of shape (e,)
        Share of halves, over all variants, with this direction; NaN for edges that were not in question.
    """

    margin: Vector
    stability: Vector

    @property
    def claimed(self) -> BoolVector:
        """Whether each direction has evidence."""
        return np.asarray((self.margin >= LEAST_MARGIN) & (self.stability >= LEAST_STABILITY))


def is_quick(score: NodeScore) -> bool:
    """Return whether the check of a table takes up to about two seconds, and its rows are in memory."""
    table = score.table
    if isinstance(score, WideScore):  # its columns are kept anyway
        return True
    if table.n * table.d**2 > _QUICK_NUMBERS or not all(part.is_in_memory for part in table.parts):
        return False
    if table.d <= LARGEST_EXACT:
        return bool(score.costs().table_seconds <= _QUICK_SECONDS)
    return table.d <= score.quick_columns


def evidence_by_structure(
    score: NodeScore,
    graph: Edges,
    asked: BoolVector,
    knowledge: Knowledge,
    *,
    random_state: int = 0,
    callback: Counter | None = None,
) -> StructureEvidence:
    """Return the evidence for the directions of some edges of a graph; `score` has the table with its rows."""
    # Where a few hidden causes explain the table better, no edge is real, and neither is its direction. In a graph that
    # is dense for its rows many edges are not, and checking all directions would take minutes.
    margin, stability = np.full(len(graph), np.nan), np.full(len(graph), np.nan)
    dense = is_too_dense(len(graph), graph.d, score.table.n)
    if not asked.any() or dense or hidden_factors(score.table, score.intercepts, graph):
        return StructureEvidence(margin, stability)
    if isinstance(score, WideScore):
        rule = WideRule(LEAST_MARGIN, LEAST_STABILITY, MOST_ROWS, _FEW_ROWS, _NORMAL_LEVEL)
        penalty = _honest_penalty(score.d, len(graph))
        return StructureEvidence(*wide_evidence(score, graph, asked, penalty, rule, random_state, callback))
    variants, block = _variants(score, len(graph))
    pairs = next((few for most, few in _PAIRS.items() if graph.d <= most), _FEWEST_PAIRS)
    masks = (None, None) if knowledge.is_empty else (knowledge.allowed, knowledge.required)
    progress = _Progress(callback, len(variants) * 2 * pairs)
    arrows = graph.pairs(asked)
    found = dict.fromkeys(arrows, 0)
    halves = (
        (variant, half)
        for variant in variants
        for half in variant.table.halves(pairs, np.random.default_rng(random_state), block)
    )
    count = 0
    with blas_threads_for(graph.d):
        learn_half = functools.partial(_half_directions, knowledge, masks)
        with contextlib.closing(in_parallel(learn_half, halves, available_cores())) as arriving:
            for _, directed in arriving:
                progress.step()
                count += 1
                for arrow in directed & found.keys():
                    found[arrow] += 1
        stability[asked] = [found[arrow] / count for arrow in arrows]
        stable = asked & (stability >= LEAST_STABILITY)
        margin[stable] = np.inf
        progress.add(len(variants) * int(stable.sum()))
        one_free = score.table.n < _FEW_ROWS or not _is_normal(score.table)
        for variant in variants:
            left, own = stable & (margin >= LEAST_MARGIN), variant.score(variant.table)
            free = own.sparsity.penalties(own.table.n, own.d)[1] if one_free else 0.0
            losses = _losses(own, graph, masks, graph.pairs(left), random_state, progress)
            margin[left] = np.minimum(margin[left], losses - free)
    return StructureEvidence(margin, stability)


def _variants(score: NodeScore, edges: int) -> tuple[list[Variant], int]:
    """Return the variants, with an honest penalty and number of rows, and how many neighbouring rows stay together."""
    penalty = _honest_penalty(score.d, edges, len(score.table.past))
    independent = _independent_share(score.table)
    block = 1 if independent == 1.0 else int(np.ceil(2 / independent))
    variants = score.penalized(penalty).variants()
    counted = min(independent, MOST_ROWS / score.table.n)
    return [_counting(variant, counted) for variant in variants] if counted < 1 else variants, block


def _honest_penalty(d: int, edges: int, past: int = 0) -> L0:
    """Return log n per edge plus twice the log odds that a pair has no edge, of the pairs that are not both past."""
    pairs = (d * (d - 1) - past * (past - 1)) / 2
    share = min(0.5, (edges + 1) / (pairs + 2))
    return L0("mbic", gamma=float(np.log((1 - share) / share) / np.log(max(d, 2))))


def _counting(variant: Variant, share: float) -> Variant:
    """Return a variant whose scores count a share of the rows."""
    return variant._replace(score=lambda table: variant.score(table.counting(share)))


def _independent_share(table: Table) -> float:
    """Return the effective number of rows as a share of all, if neighbouring rows of a part depend on each other."""
    shares = [1.0]
    if table.series is not None:  # given the past, or the unit, rows are independent
        return 1.0
    numbers = [variable.name for variable in table.coding.variables if not variable.is_category]
    columns = [j for j, variable in enumerate(table.coding.variables) if not variable.is_category]
    for part in table.parts:
        rows = part.read_rows()
        if rows is not None and len(columns) > 1:
            found = dependence(tuple(numbers), np.nan_to_num(np.asarray(to_numpy(rows), dtype=float)[:, columns]))
            if found is not None and found.is_found:
                shares.append(found.share)
    return min(shares)


def _is_normal(table: Table) -> bool:
    """Return whether the columns of every part may be normal; not if they are categories, or if rows are unknown."""
    if not table.coding.is_numeric:
        return False
    level = _NORMAL_LEVEL / (table.d * len(table.parts))
    for part in table.parts:
        rows = part.read_rows()
        if rows is None:
            return False
        for column in np.asarray(to_numpy(rows), dtype=float).T:
            known = column[~np.isnan(column)]
            if len(known) >= _FEWEST_TESTED and normality_test(known[:, None])[0] < level:
                return False
    return True


class _Progress:
    """Counts steps, whose number may grow."""

    def __init__(self, callback: Counter | None, total: int) -> None:
        self._callback, self._total, self._done = callback, total, 0

    def add(self, steps: int) -> None:
        """Expect more steps."""
        self._total += steps

    def step(self, steps: int = 1) -> None:
        """Report steps."""
        self._done += steps
        if self._callback is not None:
            self._callback(min(self._done, self._total), self._total)


def _half_directions(
    knowledge: Knowledge, masks: tuple[BoolMatrix | None, BoolMatrix | None], half: tuple[Variant, Table]
) -> set[tuple[int, int]]:
    """Return the directions that the class of the best graph of a half has, together with the knowledge."""
    variant, table = half
    edges = search_order(variant.score(table).costs(), allowed=masks[0], required=masks[1], effort="fast").edges
    directed = ~open_edges(edges, reversible_after(edges, table.past), knowledge)
    return set(edges.pairs(directed))


def _losses(
    score: NodeScore,
    graph: Edges,
    masks: tuple[BoolMatrix | None, BoolMatrix | None],
    arrows: list[tuple[int, int]],
    random_state: int,
    progress: _Progress,
) -> Vector:
    """Return how much worse the best graphs with the reverses of some edges are."""
    from golem.search.reversals import Reversals  # imports numba

    if not arrows:
        return np.zeros(0)
    search = Reversals(score.costs(), *masks, graph.by_child(), random_state)
    losses: dict[tuple[int, int], float] = {}
    chunks = [tuple(arrows[begin : begin + _AT_ONCE]) for begin in range(0, len(arrows), _AT_ONCE)]
    with contextlib.closing(in_parallel(lambda some: list(search.reversed(some)), chunks, available_cores())) as found:
        for some, graphs in found:
            progress.step(len(some))
            losses |= {arrow: other.score - search.best.score for arrow, other in zip(some, graphs, strict=True)}
    return np.array([losses[arrow] for arrow in arrows])


def with_structure(graph: LearnedGraph, evidence: StructureEvidence) -> LearnedGraph:
    """Return the graph with the directions of its class that have evidence; the others are links."""
    assert graph.sources is not None
    assert graph.reversible is not None
    asked = graph.directed_by("unchecked")
    # A direction that the class leaves open follows from knowledge.
    named = np.where(graph.reversible, "follows", "structure")
    sources = np.where(asked, np.where(evidence.claimed, named, "none"), graph.sources)
    before = np.full(len(graph), np.nan) if graph.strength is None else graph.strength
    strength = np.where(asked & evidence.claimed, evidence.margin, before)
    return replace(graph, sources=sources, strength=strength, stability=evidence.stability)
