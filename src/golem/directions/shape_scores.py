"""How well the members of an equivalence class explain the shapes of the noise.

Gaussian likelihoods are equal for all members. If the noise is not Gaussian, the residuals of wrong members mix several
noises and are closer to Gaussian. The log-likelihood of a member therefore grows with the negentropies of its
residuals: it contains n times the sum of J(u), with u a standardized residual and (Hyvärinen 1998)

    J(u) = 79.047 (E log cosh u - 0.37457)^2 + 7.4129 (E u exp(-u^2 / 2))^2.
"""

from __future__ import annotations

import numpy as np

from golem.directions.members import Component, Member
from golem.runtime.types import Matrix, Vector

_EVEN, _GAUSSIAN, _ODD = 79.047, 0.37457, 7.4129
# Shares of the variance of the two means under Gaussian noise by degree of the Hermite polynomials of u. Degrees 0 to 2
# have no share, because u has mean 0 and variance 1. The last number includes all higher degrees.
_EVEN_SHARES, _ODD_SHARES = {4: 0.871, 6: 0.103, 8: 0.026}, {3: 0.695, 5: 0.217, 7: 0.088}
# Number of draws from the distribution of the evidence under Gaussian noise; fewer for components of many members.
_DRAWS, _FEWEST_DRAWS, _SCORES = 2000, 200, 400_000


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
    members : list of tuple of int
        The members that agree with what is known.
    scores : ndarray of shape (members,)
        n times the sum of the negentropies.
    forward : ndarray of shape (members, edges), bool
        Whether a member has the direction i -> j of `component.edges`.
    """

    def __init__(self, component: Component, rows: Matrix, n: float) -> None:
        self.component, self._n = component, n
        self._Y = _residuals(rows[:, component.nodes], rows[:, component.outside])
        self._S = self._Y.T @ self._Y / len(rows)
        self._found: dict[tuple[int, int], tuple[int, float]] = {}
        self._weights: list[Vector] = []
        self.members = component.members(self._score)
        self._uses = [[self._regression(j, parents)[0] for j, parents in enumerate(one)] for one in self.members]
        self.scores = np.array([sum(self._score(j, parents) for j, parents in enumerate(one)) for one in self.members])
        edges = component.edges
        self.forward = np.array([[one[j] >> int(i) & 1 for i, j in edges] for one in self.members], dtype=bool)

    def _score(self, j: int, parents: int) -> float:
        """Return n times the negentropy of the residual of a node."""
        return self._n * self._regression(j, parents)[1]

    def _regression(self, j: int, parents: int) -> tuple[int, float]:
        """Return the number of a regression and the negentropy of its residual."""
        if (j, parents) not in self._found:
            where = [i for i in range(len(self._S)) if parents >> i & 1]
            weights = np.zeros(len(self._S))
            weights[j] = 1.0
            if where:
                weights[where] = -np.linalg.lstsq(self._S[np.ix_(where, where)], self._S[where, j])[0]
            residual = self._Y @ weights
            scale = float(residual.std())
            weights /= scale if scale > 0 else 1.0
            self._found[j, parents] = len(self._weights), negentropy(residual / scale) if scale > 0 else 0.0
            self._weights.append(weights)
        return self._found[j, parents]

    def evidence(self, scores: Matrix) -> Matrix:
        """Return, for each row of member scores, the evidence for i -> j of every edge; negative for j -> i.

        This is the score of the best member with i -> j minus that of the best member with j -> i, and 0 if all members
        agree.
        """
        found = np.zeros((len(scores), self.forward.shape[1]))
        for e, forward in enumerate(self.forward.T):
            if forward.any() and not forward.all():
                found[:, e] = scores[:, forward].max(axis=1) - scores[:, ~forward].max(axis=1)
        return found

    def gaussian_evidence(self) -> Vector:
        """Return draws of the largest evidence in the component if all noise is Gaussian, sorted.

        Then twice a node's score is close to the sum of two squared normal variables. If two residuals have the
        correlation r, the Hermite polynomials of degree k of the two have the correlation r^k.
        """
        W = np.array(self._weights)
        R = np.clip(W @ self._S @ W.T, -1.0, 1.0)
        draws = int(np.clip(_SCORES // len(self.members), _FEWEST_DRAWS, _DRAWS))
        rng = np.random.default_rng(0)
        parts = ([share * R**k for k, share in shares.items()] for shares in (_EVEN_SHARES, _ODD_SHARES))
        halves = [_root(np.sum(part, axis=0)) @ rng.normal(size=(len(W), draws)) for part in parts]
        nodes = (halves[0] ** 2 + halves[1] ** 2) / 2
        scores = np.array([nodes[uses].sum(axis=0) for uses in self._uses]).T
        return np.asarray(np.sort(np.abs(self.evidence(scores)).max(axis=1)))


def opponent(found: ComponentScores, edge: int, best: int) -> Member:
    """Return the best of the members that have an edge the other way than member `best`."""
    others = np.flatnonzero(found.forward[:, edge] != found.forward[best, edge])
    return found.members[int(others[np.argmax(found.scores[others])])]


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
