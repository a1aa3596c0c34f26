"""Directions by the shape of the noise: which member of the equivalence class fits noise that is not Gaussian.

Shape decides directions only where the linear model with independent noise holds: elsewhere it gives strong evidence
for wrong directions. A direction is therefore claimed only if it passes the gate of `_Gate`.

Gaussian likelihoods are equal for all members. If the noise is not Gaussian, the residuals of wrong members mix several
noises and are closer to Gaussian. The log-likelihood of a member therefore grows with the negentropies of its
residuals: it contains n times the sum of J(u), with u a standardized residual and (Hyvärinen 1998)

    J(u) = 79.047 (E log cosh u - 0.37457)^2 + 7.4129 (E u exp(-u^2 / 2))^2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.dependence import without_sorting
from golem.directions.class_members import Blocks
from golem.directions.equivalence_class import Component, Family, Parents, parent_lists
from golem.directions.member_scores import BestMembers
from golem.directions.residual_tests import residual_dependence
from golem.directions.undirected_models import advantages
from golem.graphs.edges import Edges
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import BoolVector, Indices, Matrix, Vector

Edge = tuple[int, int]
# A claim needs evidence that Gaussian noise gives in at most this share of components.
LARGEST_ERROR_RATE = 0.01
# Level at which independence must not be rejected along a claim, and must be rejected against it.
_ALONG, _AGAINST = 0.05, 1e-4
# Log-likelihood by which a claim must exceed the models without a direction.
_LEAST_ADVANTAGE = 1.0
# If the linear model holds at all edges, the mean of -log p is 1. A few wrong edges may have very small p-values.
_SMALLEST_P, _MISFIT, _ERRORS = 0.01, 1.2, 1.64
# Nodes at which this is tested, evenly spread over larger graphs: the mean over so many has a small standard error.
_MOST_TESTED = 500
_MISFIT_REASON = "residuals depend on regressors: the linear model with independent noise does not hold"
_UNDIRECTED_REASON = "a hidden group of rows, shared heavy tails or curved scales would explain it as well"


class Support(NamedTuple):
    """The evidence for one direction.

    Parameters
    ----------
    strength : float
        Deviance by which the best member of the class with the other direction is worse.
    error_rate : float
        A p-value: bound on the probability that Gaussian noise, which has no information about directions, gives
        evidence this strong for any direction of the component.
    """

    strength: float
    error_rate: float


@dataclass(frozen=True, eq=False)
class ShapeEvidence:
    """What the shapes of the noise say about the directions that the equivalence class leaves open.

    Parameters
    ----------
    claimed : tuple of (int, int)
        The directions claimed.
    evidence : dict
        The support of each edge of the member that fits best.
    reason : str
        Why no direction could be claimed; empty if each edge was judged by itself.
    rows : int
        Number of complete rows that were used.
    """

    claimed: tuple[Edge, ...] = ()
    evidence: Mapping[Edge, Support] = field(default_factory=dict)
    reason: str = ""
    rows: int = 0


def directions_by_shape(
    rows: Matrix,
    edges: Edges,
    found: list[Component],
    rank: Indices,
    n: float | None = None,
    past: Indices | None = None,
) -> ShapeEvidence:
    """Find the member of an equivalence class that fits the shapes of the noise best, and the directions to claim.

    Parameters
    ----------
    rows : ndarray of shape (r, d)
        Rows, or a sample of them; rows with missing values (NaN) are left out.
    edges : Edges
        The edges of a DAG.
    found : list of Component
        The components of its CPDAG.
    rank : ndarray of shape (d,)
        The order in which nodes are visited.
    n : float, optional
        How many independent rows they are worth, by default their number.
    past : ndarray, optional
        The columns of a series that are lags of others.
    """
    Z = standardized_rows(rows)
    reason = why_unusable(Z, past)
    if reason:
        return ShapeEvidence(reason=reason, rows=len(Z))
    n, coarse = min(n or len(Z), len(Z)), coarse_columns(Z)
    # Regressions have the size of the components, whatever the number of columns.
    with blas_threads_for(max((len(component.nodes) for component in found), default=0)):
        scored = [ComponentScores(component, Z, n) for component in found if not coarse[component.nodes].any()]
        scored = [one for one in scored if one.is_open]
        if not scored:
            return ShapeEvidence(reason=COARSE_REASON, rows=len(Z))
        return replace(_claims(scored, _Gate(Z, n, coarse, rank), parent_lists(edges)), rows=len(Z))


def _claims(found: list[ComponentScores], gate: _Gate, parents: list[list[int]]) -> ShapeEvidence:
    """Return the evidence in all components, and the claims that pass the gate."""
    evidence, candidates = {}, []
    for one in found:
        nodes = one.component.nodes
        for node, inside in zip(nodes, one.best_parents, strict=True):
            parents[node] = _all_parents(one.component, inside)
        differences, gaussian = one.evidence(), one.gaussian_evidence()
        for e, (i, j) in enumerate(one.component.edges):
            if differences[e] == 0:
                continue
            size = abs(float(differences[e]))
            larger = len(gaussian) - int(np.searchsorted(gaussian, size))
            edge = (int(nodes[i]), int(nodes[j])) if differences[e] > 0 else (int(nodes[j]), int(nodes[i]))
            evidence[edge] = Support(2 * size, (1 + larger) / (1 + len(gaussian)))
            if evidence[edge].error_rate <= LARGEST_ERROR_RATE:
                candidates.append((edge, one, e))
    if candidates and not gate.model_holds(parents):
        return ShapeEvidence(evidence=evidence, reason=_MISFIT_REASON)
    candidates = [(edge, one, e) for edge, one, e in candidates if gate.passes(one, e)]
    claimed = gate.beyond_undirected_models(candidates)
    return ShapeEvidence(claimed, evidence, _UNDIRECTED_REASON if candidates and not claimed else "")


class _Gate:
    """The conditions for a claim, besides its evidence: tests of residuals against parents, and other models.

    1. In the whole graph, the mean of -log p is not larger than sampling errors and a few wrong edges explain.
    2. At the nodes whose parents differ between the member and its best opponent, independence is not rejected.
    3. In the opponent, it is rejected at one of these nodes.
    4. Models without a direction, such as a hidden group of rows, explain the noises of both ends less well.
    """

    def __init__(self, Z: Matrix, n: float, coarse: BoolVector, rank: Indices) -> None:
        self._Z, self._n, self._coarse, self._rank = Z, n, coarse, rank
        self._found: dict[tuple[int, frozenset[int]], Vector] = {}

    def model_holds(self, parents: list[list[int]]) -> bool:
        """Return whether residuals are independent of parents in most of the graph."""
        nodes = [int(j) for j in np.argsort(self._rank) if parents[j] and not self._coarse[j]]
        nodes = nodes[:: -(-len(nodes) // _MOST_TESTED)]
        p = np.concatenate([np.ones(0), *(self._p_values(j, parents[j]) for j in nodes)])
        misfit = -np.log(np.maximum(p, _SMALLEST_P))
        return not len(p) or float(misfit.mean()) <= _MISFIT + _ERRORS / np.sqrt(len(p))

    def beyond_undirected_models(self, candidates: list[tuple[Edge, ComponentScores, int]]) -> tuple[Edge, ...]:
        """Return the directions that explain the rows better than models without a direction."""
        # A bootstrap resample counts as fewer rows than it has.
        found = self._n / len(self._Z) * advantages(one.noises(e) for _, one, e in candidates)
        return tuple(edge for (edge, _, _), size in zip(candidates, found, strict=True) if size >= _LEAST_ADVANTAGE)

    def passes(self, found: ComponentScores, edge: int) -> bool:
        """Return whether the nodes that differ support the best member against the best one with an edge reversed."""
        differing = found.differing(edge)
        along = self._all_p_values(found.component, [(j, ours) for j, ours, _ in differing])
        against = self._all_p_values(found.component, [(j, theirs) for j, _, theirs in differing])
        return bool(along.min(initial=1.0) * len(along) >= _ALONG and against.min(initial=1.0) <= _AGAINST)

    def _all_p_values(self, component: Component, families: Iterable[tuple[int, list[int]]]) -> Vector:
        """Return the p-values of all edges into some nodes of a component, given their parents in it."""
        found = [self._p_values(int(component.nodes[j]), _all_parents(component, inside)) for j, inside in families]
        return np.concatenate([np.ones(0), *found])

    def _p_values(self, j: int, parents: list[int]) -> Vector:
        """Return the p-values of the residual of a node against each of its parents, which are sorted by rank."""
        key = (j, frozenset(parents))
        if key not in self._found:
            P = self._Z[:, sorted(parents, key=self._rank.__getitem__)]
            residual = self._Z[:, j] - P @ np.linalg.lstsq(P.T @ P, P.T @ self._Z[:, j])[0]
            self._found[key] = residual_dependence(residual, P, self._n).p_values if parents else np.ones(0)
        return self._found[key]


def _all_parents(component: Component, inside: list[int]) -> list[int]:
    """Return the parents of a node, given those inside its component."""
    return [*component.outside.tolist(), *component.nodes[inside].tolist()]


FEWEST_ROWS = 100
# A column is coarse if it has fewer distinct values, or if one of them has more than this share of the rows.
_FEWEST_VALUES, _LARGEST_SHARE = 30, 0.1
COARSE_REASON = (
    f"the undecided edges involve columns with fewer than {_FEWEST_VALUES} distinct values, or with one value in more "
    f"than {_LARGEST_SHARE:.0%} of the rows"
)
# A larger correlation of a column with itself one row later means that the rows depend on each other.
_LARGEST_LAG, _LAG_ERRORS = 0.2, 5.0


def standardized_rows(rows: Matrix) -> Matrix:
    """Return the complete rows with columns of mean 0 and variance 1; a constant column is 0."""
    chosen = rows[~np.isnan(rows).any(axis=1)]
    if not len(chosen):
        return chosen
    centred = chosen - chosen.mean(axis=0)
    scale = np.abs(centred).max(axis=0)  # squares of large units would overflow
    centred /= np.where(scale > 0, scale, 1.0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


def coarse_columns(Z: Matrix) -> NDArray[np.bool_]:
    """Return which columns repeat values too often for the shape of a continuous noise, shape (d,)."""
    ordered = np.sort(np.ascontiguousarray(Z.T), axis=1)
    coarse = np.zeros(len(ordered), dtype=bool)
    # Most columns of a table of measurements repeat no value.
    repeats = np.any(ordered[:, 1:] == ordered[:, :-1], axis=1)
    for j in np.flatnonzero(repeats | (ordered.shape[1] < max(_FEWEST_VALUES, 1 / _LARGEST_SHARE))):
        ends = np.flatnonzero(np.diff(ordered[j], append=np.inf))
        counts = np.diff(ends, prepend=-1)
        coarse[j] = len(counts) < _FEWEST_VALUES or counts.max() > _LARGEST_SHARE * len(Z)
    return coarse


def why_unusable(Z: Matrix, past: Indices | None = None) -> str:
    """Return why directions cannot be learned from standardized rows, or an empty string if they can.

    What the past of a series explains does not make its rows dependent.
    """
    n = len(Z)
    if n < FEWEST_ROWS:
        return f"it needs {FEWEST_ROWS} complete rows, and there are {n}"
    # A column that numbers or sorts the rows does not make them dependent.
    if past is not None and len(past):
        present = np.delete(Z, past, axis=1)
        others = present - Z[:, past] @ np.linalg.lstsq(Z[:, past], present, rcond=None)[0]
        others = others / np.maximum(others.std(axis=0), 1e-12)
    else:
        _, others = without_sorting(Z)
    lags = np.abs(np.einsum("ij,ij->j", others[1:], others[:-1])) / n
    if lags.max(initial=0.0) > max(_LARGEST_LAG, _LAG_ERRORS / np.sqrt(n)):
        return (
            "neighbouring rows depend on each other. If independent rows were only sorted, shuffle them and run again. "
            "Do not shuffle a time series or groups: that hides the dependence and does not repair it"
        )
    return ""


_EVEN, _GAUSSIAN, _ODD = 79.047, 0.37457, 7.4129
# Shares of the variance of the two means under Gaussian noise by degree of the Hermite polynomials of u. Degrees 0 to 2
# have no share, because u has mean 0 and variance 1. The last number includes all higher degrees.
_EVEN_SHARES, _ODD_SHARES = {4: 0.871, 6: 0.103, 8: 0.026}, {3: 0.695, 5: 0.217, 7: 0.088}
# Number of draws from the distribution of the evidence under Gaussian noise; fewer for components of many nodes.
_DRAWS, _FEWEST_DRAWS, _SCORES = 2000, 200, 400_000
# Scores beyond this number are drawn in parts, as if the parts were independent: a root of all correlations would take
# minutes. Neighbours in a tree are mostly in the same part.
_MOST_TOGETHER = 300


def negentropy(u: Vector) -> float:
    """Return Hyvärinen's approximation of the negentropy of a standardized column; 0 for a Gaussian one.

    Examples
    --------
    >>> u = np.random.default_rng(0).laplace(size=10_000)
    >>> bool(0.08 < negentropy((u - u.mean()) / u.std()) < 0.14)
    True
    """
    size = np.abs(u)
    # log cosh u without overflow
    even = float(np.mean(size + np.log1p(np.exp(-2 * size)))) - np.log(2) - _GAUSSIAN
    odd = float(np.mean(u * np.exp(-(u**2) / 2)))
    return float(_EVEN * even**2 + _ODD * odd**2)


class ComponentScores:
    """The members of a component, their scores, and the distribution of evidence under Gaussian noise.

    Parameters
    ----------
    component : Component
        The component.
    rows : ndarray of shape (r, d)
        Centred rows.
    n : float
        How many independent rows they are worth: a bootstrap resample of r rows counts as r / 2.

    Attributes
    ----------
    members : BestMembers
        The best of the members that agree with what is known. The score of a member is n times the sum of the
        negentropies of its residuals.
    """

    def __init__(self, component: Component, rows: Matrix, n: float) -> None:
        self.component, self._n = component, n
        self._Y = _residuals(rows[:, component.nodes], rows[:, component.outside])
        self._S = self._Y.T @ self._Y / len(rows)
        self._found: dict[Family, tuple[Indices, Vector, float]] = {}
        self._blocks = Blocks(component)
        scores = [n * self._regression(family)[2] for family in self._blocks.families]
        self.members = BestMembers(self._blocks, np.array([scores]))

    @property
    def is_open(self) -> bool:
        """Whether there are several members."""
        return bool(np.isfinite(self.members.directions[0]).sum() > len(self._blocks.edges))

    def evidence(self) -> Vector:
        """Return the evidence for i -> j of every edge; negative for j -> i."""
        return np.asarray(self.members.evidence()[0])

    def differing(self, edge: int) -> list[tuple[int, list[int], list[int]]]:
        """Return where the best member and the best one with an edge the other way differ: nodes and both parents."""
        other = 2 * edge + int(self.evidence()[edge] > 0)
        return self.members.differing(self.members.best(), self.members.best_with(other))

    @cached_property
    def best_parents(self) -> Parents:
        """The parents of every node in the best member."""
        return self.members.parents(self.members.best())

    def noises(self, edge: int) -> tuple[Vector, Vector, float]:
        """Return the standardized noises of the cause and the effect of an edge of the best member, and its slope."""
        i, j = self.component.edges[edge] if self.evidence()[edge] > 0 else self.component.edges[edge][::-1]
        parents = self.best_parents
        (causes, cause, _), (effects, effect, _) = (self._regression((k, tuple(parents[k]))) for k in (i, j))
        # The noise of the cause is its column plus others, times cause[0].
        slope = -float(effect[effects == i][0] / cause[0])
        return self._Y[:, causes] @ cause, self._Y[:, effects] @ effect, slope

    def gaussian_evidence(self) -> Vector:
        """Return draws of the largest evidence in the component if all noise is Gaussian, sorted.

        Then twice a node's score is close to the sum of two squared normal variables. If two residuals have the
        correlation r, the Hermite polynomials of degree k of the two have the correlation r^k.
        """
        draws, rng = int(np.clip(_SCORES // len(self.component.nodes), _FEWEST_DRAWS, _DRAWS)), np.random.default_rng(0)
        families, found = self._blocks.families, []
        for first in range(0, len(families), _MOST_TOGETHER):
            R = self._correlations(families[first : first + _MOST_TOGETHER])
            parts = ([share * R**k for k, share in shares.items()] for shares in (_EVEN_SHARES, _ODD_SHARES))
            halves = [_root(np.sum(part, axis=0)) @ rng.normal(size=(len(R), draws)) for part in parts]
            found.append((halves[0] ** 2 + halves[1] ** 2) / 2)
        drawn = BestMembers(self._blocks, np.concatenate(found).T)
        return np.asarray(np.sort(np.abs(drawn.evidence()).max(axis=1)))

    def _regression(self, family: Family) -> tuple[Indices, Vector, float]:
        """Return the standardized residual of a node as a combination of columns, and its negentropy."""
        if family not in self._found:
            where = np.array([family[0], *family[1]])
            weights = np.ones(len(where))
            if len(where) > 1:
                S = self._S[np.ix_(where, where)]
                weights[1:] = -np.linalg.lstsq(S[1:, 1:], S[1:, 0])[0]
            residual = self._Y[:, where] @ weights
            scale = float(residual.std())
            weights /= scale if scale > 0 else 1.0
            self._found[family] = where, weights, negentropy(residual / scale) if scale > 0 else 0.0
        return self._found[family]

    def _correlations(self, families: list[Family]) -> Matrix:
        """Return the correlations between the residuals of some families."""
        found = [self._regression(family)[:2] for family in families]
        columns, columns_of = np.unique(np.concatenate([where for where, _ in found]), return_inverse=True)
        W = np.zeros((len(found), len(columns)))
        rows = np.repeat(np.arange(len(found)), [len(where) for where, _ in found])
        W[rows, columns_of] = np.concatenate([weights for _, weights in found])
        return np.asarray(np.clip(W @ self._S[np.ix_(columns, columns)] @ W.T, -1.0, 1.0))


def _residuals(targets: Matrix, regressors: Matrix) -> Matrix:
    """Return the residuals of the columns of a matrix on those of another."""
    if not regressors.shape[1]:
        return targets
    weights = np.linalg.lstsq(regressors.T @ regressors, regressors.T @ targets)[0]
    return np.asarray(targets - regressors @ weights)


def _root(R: Matrix) -> Matrix:
    """Return a root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(R)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
