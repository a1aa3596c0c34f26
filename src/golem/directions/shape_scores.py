"""How well the members of an equivalence class explain the shapes of the noise.

Gaussian likelihoods are equal for all members. If the noise is not Gaussian, the residuals of wrong members mix several
noises and are closer to Gaussian. The log-likelihood of a member therefore grows with the negentropies of its
residuals: it contains n times the sum of J(u), with u a standardized residual and (Hyvärinen 1998)

    J(u) = 79.047 (E log cosh u - 0.37457)^2 + 7.4129 (E u exp(-u^2 / 2))^2.
"""

from __future__ import annotations

import numpy as np

from golem.directions.biconnected_blocks import Blocks
from golem.directions.equivalence_class import Component, Family
from golem.directions.member_scores import BestMembers
from golem.runtime.types import Indices, Matrix, Vector

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
