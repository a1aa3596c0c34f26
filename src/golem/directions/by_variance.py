"""Directions by noise variances: how much worse the members of the class with the other direction fit, or the odds.

The odds assume that noise variances and weights are similar in the units of the columns. All members of an equivalence
class have the same maximized likelihood. So the prior at the estimates, and the volume of the likelihood around them
(Laplace), distinguish members. Let r_j be the residual variances of a member, b_ij its least-squares weights, and l_j =
log r_j. Either the units of the columns are comparable,

    l_j ~ N(mu, tau^2 + 2/n)         log|b_ij| ~ N(m, omega^2 + se_ij^2 / b_ij^2)

or they are arbitrary, as after standardizing, and the columns have similar variances,

    log S_jj ~ N(mu, tau^2 + 2/n)    log|w_ij| ~ N(m, omega^2 + se_ij^2 / b_ij^2)

with w_ij = b_ij (S_ii / r_j)^(1/2) or w_ij = b_ij (S_ii / S_jj)^(1/2), half each; the Jacobian of the latter is
r_j / S_jj. The volume of node j with parents P is (r_j / n)^(|P|/2) |S_PP|^(-1/2) / prod_i |b_ij|. With arbitrary
units, both directions of an edge have even odds.

The prior on weights matters as much as the one on variances. Reversing an edge from a noisy cause makes the noise
variances more similar, and pays with an unlikely weight.

mu has a flat prior and is integrated out, because the mean of l_j is the same for all members. tau, m and omega are
summed over a grid. Members are summed, not maximized.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from golem.directions.class_members import Blocks
from golem.directions.equivalence_class import Component, Family, parent_lists
from golem.directions.member_scores import MemberScores, global_directions, global_families, rises_of_cost
from golem.graphs.edges import Edges
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.node_score import NodeScore
from golem.score.regression import FamilyRegressions, Regressions, family_regressions, regress_edges

# A direction has evidence if all members with the other one have a deviance higher by this (odds of e to 1).
LEAST_EVIDENCE = 2.0


def evidence_in_variances(score: NodeScore, fit: Regressions, found: Iterable[Component]) -> Vector:
    """Return the evidence of the noise model for the direction of each edge, shape (e,).

    Free noise variances have no evidence for any direction. With equal or tied ones, the evidence is the deviance by
    which the best member of the equivalence class with the other direction is worse than the best one with this
    direction; at least 0, and 0 where all members agree.

    Parameters
    ----------
    score : NodeScore
        The score, with its noise model.
    fit : Regressions
        The edges, and the residual variances at the least-squares weights.
    found : iterable of Component
        The components of the CPDAG, with the directions of `fit`.
    """
    evidence = np.zeros(len(fit.children))
    rises = rises_of_deviance(score, fit, found)
    for k, (i, j) in enumerate(fit.edges.pairs()):
        other = rises.get((j, i), math.inf)
        if math.isfinite(other):
            evidence[k] = max(other - rises[i, j], 0.0)
    return evidence


def rises_of_deviance(score: NodeScore, fit: Regressions, found: Iterable[Component]) -> dict[tuple[int, int], float]:
    """Return for each direction i -> j how much higher the deviance of the best member with it is; inf if none has it.

    The deviance is compared with that of the graph of `fit`.
    """
    rises = rises_of_cost(found, score.family_costs(fit))
    return {way: score.rise_of_deviance(rise, fit) for way, rise in rises.items()}


# With fewer columns the spreads of variances and weights cannot be told from a few values: no rule was calibrated.
LEAST_COLUMNS = 5
# Log odds of a claim. If the class is right, 3 would do. In classes that are found from data with weak effects, 8 % of
# the claims are wrong from 3 on, 7 % from 4 on and 4 % from 5 on (benchmarks/directions.md).
LEAST_LOG_ODDS = 5.0
# With fewer rows 8 % of the claims from 5 on are wrong, and 4 % from 7 on.
_FEW_ROWS, _LEAST_OF_FEW_ROWS = 200, 7.0
_TAUS = np.array([0, 0.03, 0.06, 0.12, 0.2, 0.3, 0.45, 0.65, 0.95, 1.4, 2.0, 3.0, 4.5, 7.0])
_CENTRES = np.log([0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 6.0])
_SPREADS = np.array([0.15, 0.25, 0.4, 0.65, 1.0, 1.6, 2.5, 4.0])
# Points of the grid whose share of the evidence is below exp(-30) are left out.
_NEGLIGIBLE = 30.0
# Units in which weights can be similar: those of the columns, or without units, relative to the noise or the columns.
_RAW, *_WITHOUT_UNITS = _UNITS = ("raw", "noise", "column")

Way = tuple[int, int]


def least_log_odds(n: int) -> float:
    """Return the log odds that a claim needs, given the number of rows."""
    return LEAST_LOG_ODDS if n >= _FEW_ROWS else _LEAST_OF_FEW_ROWS


@dataclass(frozen=True, eq=False)
class CandidateClass:
    """An equivalence class that may contain the graph.

    Parameters
    ----------
    edges : Edges
        The edges of a member.
    found : list of Component
        The components of its CPDAG, with what is known.
    log_prior : float
        The logarithm of its prior probability, up to a constant.
    """

    edges: Edges
    found: list[Component]
    log_prior: float = 0.0


def direction_odds(classes: Sequence[CandidateClass], S: Matrix, n: int) -> dict[Way, float]:
    """Return the log odds of i -> j against j -> i for the edges i -> j of the first class; S has shape (d, d).

    The members of all classes are summed. An edge has odds only if one of the classes leaves its direction open: where
    classes contradict each other, which one is right depends on more than the members of these few. There are no odds
    with fewer than `LEAST_COLUMNS` columns, and none in components with members that cannot be compared.
    """
    blocks = [[Blocks(component) for component in one.found] for one in classes]
    complete = [[block.is_complete for block in own] for own in blocks]
    if len(S) < LEAST_COLUMNS or (len(classes) > 1 and not all(map(all, complete))):
        return {}
    found = [_ClassEvidence(one, own, S, n) for one, own in zip(classes, blocks, strict=True)]
    parts = zip(classes[0].found, complete[0], strict=True)
    left_out = {int(j) for component, is_complete in parts if not is_complete for j in component.nodes}
    odds = {}
    for i, j in classes[0].edges.pairs():
        if any(one.is_open(i, j) for one in found) and not {i, j} <= left_out:
            along, against = (np.logaddexp.reduce([one.of(way) for one in found]) for way in ((i, j), (j, i)))
            odds[i, j] = float(along - against)
    return odds


class _ClassEvidence:
    """The log evidence of a class, and of its members with each direction."""

    def __init__(self, one: CandidateClass, blocks: list[Blocks], S: Matrix, n: int) -> None:
        self._directed = set(one.edges.pairs())
        self._parts = list(zip(one.found, blocks, strict=True))
        families = [global_families(component, own) for component, own in self._parts]
        families.append(_families_outside(one))
        log_r, weights = _scores_of_families(S, n, [family for some in families for family in some])
        edges = one.edges.by_child()
        mean = float(np.log(regress_edges(edges.children, edges.causes, S).residual_variances).mean())
        fit = one.log_prior - n * len(S) / 2 * mean
        ends = np.cumsum([len(some) for some in families])[:-1]
        self._units = fit + _similar_columns(S, n) + self._sum_without_units(weights, ends)
        v = _TAUS**2 + 2 / n
        prior = _TAU_PRIOR - (len(S) - 1) / 2 * np.log(v)
        *away, away_outside = np.split((log_r - mean) ** 2, ends)
        *own, outside = np.split(weights[_RAW], ends, axis=1)
        start = np.add.outer(prior - away_outside.sum() / (2 * v), _WEIGHT_PRIOR + outside.sum(axis=1)).ravel()

        def scores(k: int) -> Matrix:
            """Return the scores of the families of component k at all points of the grid, tau first."""
            return np.asarray((own[k] - np.divide.outer(away[k], 2 * v).T[:, None]).reshape(-1, len(away[k])))

        totals = [np.logaddexp.reduce(self._members(k, scores(k)).totals, axis=1) for k in range(len(self._parts))]
        whole = fit + start + np.sum(totals, axis=0)
        self._whole = float(np.logaddexp.reduce(whole))
        self._ways: dict[Way, float] = {}
        rows = np.flatnonzero(whole > whole.max() - _NEGLIGIBLE)
        for k, total in enumerate(totals):
            rest = (whole - total)[rows, None]
            found = np.logaddexp.reduce(rest + self._members(k, scores(k)[rows]).directions, axis=0)
            self._ways |= dict(zip(global_directions(*self._parts[k]), found.tolist(), strict=True))

    def of(self, way: Way) -> float:
        """Return the log evidence of the members with a direction; -inf if none has it."""
        if way not in self._ways:
            return float(np.logaddexp(self._whole, self._units)) if way in self._directed else -np.inf
        if np.isneginf(self._ways[way]):
            return -np.inf
        even = np.log(2) if self.is_open(*way) else 0.0
        return float(np.logaddexp(self._ways[way], self._units - even))

    def is_open(self, i: int, j: int) -> bool:
        """Return whether the class has members with both directions of an edge."""
        return all(np.isfinite(self._ways.get(way, -np.inf)) for way in ((i, j), (j, i)))

    def _sum_without_units(self, weights: dict[str, Matrix], ends: Indices) -> float:
        """Return the log of the sum over all members and the grid of weights, if weights are similar without units."""
        sums = []
        for unit in _WITHOUT_UNITS:
            *own, outside = np.split(weights[unit], ends, axis=1)
            members = [self._members(k, some) for k, some in enumerate(own)]
            totals = [np.logaddexp.reduce(one.totals, axis=1) for one in members]
            sums.append(_WEIGHT_PRIOR + outside.sum(axis=1) + np.sum(totals, axis=0))
        return float(np.logaddexp.reduce(np.concatenate(sums)) - np.log(len(sums)))

    def _members(self, k: int, scores: Matrix) -> MemberScores:
        """Return the sums over the members of a component."""
        return MemberScores(self._parts[k][1], scores, np.logaddexp)


def _similar_columns(S: Matrix, n: int) -> float:
    """Return the log evidence of the variances of the columns, if they are similar."""
    log_S, v = np.log(np.diagonal(S)), _TAUS**2 + 2 / n
    away = np.sum((log_S - log_S.mean()) ** 2)
    return float(np.logaddexp.reduce(_TAU_PRIOR - away / (2 * v) - (len(S) - 1) / 2 * np.log(v)))


def _families_outside(one: CandidateClass) -> list[Family]:
    """Return the nodes that belong to no component, with their parents."""
    moving = {int(j) for component in one.found for j in component.nodes}
    return [(j, tuple(own)) for j, own in enumerate(parent_lists(one.edges)) if j not in moving]


def _scores_of_families(S: Matrix, n: int, families: list[Family]) -> tuple[Vector, dict[str, Matrix]]:
    """Return log r_j of each family, and in each unit the log prior of its weights plus the log volume, on the grid."""
    log_r = np.zeros(len(families))
    scores = {unit: np.zeros((len(_WEIGHT_PRIOR), len(families))) for unit in _UNITS}
    for some in family_regressions(S, families):
        log_r[some.chosen] = np.log(some.residual_variances)
        for unit in _UNITS:
            scores[unit][:, some.chosen] = _weight_scores(S, n, some, unit)
    return log_r, scores


def _weight_scores(S: Matrix, n: int, some: FamilyRegressions, unit: str) -> Matrix:
    """Return the log prior of the weights plus the log volume, of shape (grid, m)."""
    r, P, k = some.residual_variances, some.parents, some.parents.shape[1]
    blocks = S[P[:, :, None], P[:, None, :]]
    # The square of a weight is at least that of its standard error, so that its logarithm is finite.
    error = r[:, None] / n * np.diagonal(np.linalg.inv(blocks), axis1=1, axis2=2)
    square = some.weights**2 + error
    log_size = np.log(square) / 2
    left = np.log(r / S[some.nodes, some.nodes])
    place, jacobian = log_size, np.zeros_like(r)
    if unit != _RAW:
        place = log_size + np.log(S[P, P] / S[some.nodes, some.nodes][:, None]) / 2
    if unit == "noise":
        place = place - left[:, None] / 2
    elif unit == "column":
        jacobian = left
    v = _SPREADS[:, None, None] ** 2 + error / square
    terms = -((place - _CENTRES[:, None, None, None]) ** 2 / v + np.log(v)).sum(axis=-1) / 2
    volume = (k * np.log(r / n) - np.linalg.slogdet(blocks)[1]) / 2 - log_size.sum(axis=1)
    # Half of the weights of a size are negative.
    return np.asarray(terms.reshape(-1, len(r)) + volume + jacobian - k * np.log(2))


def _cell_weights(points: Vector, density: Vector) -> Vector:
    """Return the logarithms of a density times the widths of the cells around the points of a grid, normalized."""
    mass = density * np.gradient(points)
    return np.asarray(np.log(mass / mass.sum()))


_TAU_PRIOR = _cell_weights(_TAUS, 1 / (1 + _TAUS**2))
_WEIGHT_PRIOR = np.add.outer(
    _cell_weights(_CENTRES, np.exp(-((_CENTRES + 0.5) ** 2) / 2)),
    _cell_weights(_SPREADS, 1 / (1 + (_SPREADS / 0.5) ** 2)),
).ravel()
