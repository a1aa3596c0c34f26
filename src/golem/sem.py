"""LinearSEM: a linear structural equation model over a directed acyclic graph (paper, section 2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.graph import BoolMatrix, is_dag, topological_order
from golem.moments import Matrix, Moments, Vector, column_names, is_table

NOISE_SHAPES = ("gaussian", "exponential", "gumbel")


@dataclass(frozen=True, eq=False)
class LinearSEM:
    """The model x = c + x B + e, with independent noise e and an acyclic B.

    Parameters
    ----------
    weights : array of shape (d, d)
        B: entry [i, j] is the effect of i on j.
    noise_variances : array of shape (d,)
        Variances of e.
    intercepts : array of shape (d,), optional
        c; zero by default. e has mean zero.
    names : sequence of str, optional
        Names of the variables.
    noise : {"gaussian", "exponential", "gumbel"}
        Shape of the noise that `sample` draws; the second moments do not depend on it.

    Raises
    ------
    ValueError
        If the weights have a cycle, a variance is not positive, or shapes disagree.

    Examples
    --------
    >>> sem = LinearSEM([[0, 2.0], [0, 0]], [1.0, 1.0])
    >>> sem.covariance
    array([[1., 2.],
           [2., 5.]])
    """

    weights: Matrix
    noise_variances: Vector
    intercepts: Vector
    names: tuple[str, ...]
    noise: str

    def __init__(
        self,
        weights: ArrayLike,
        noise_variances: ArrayLike,
        intercepts: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        noise: str = "gaussian",
    ) -> None:
        B, variances = np.array(weights, dtype=float), np.array(noise_variances, dtype=float)
        if not is_dag(B):
            raise ValueError("the weights of a LinearSEM must form a directed acyclic graph, and have a cycle")
        d = len(B)
        c = np.zeros(d) if intercepts is None else np.array(intercepts, dtype=float)
        if variances.shape != (d,) or c.shape != (d,):
            raise ValueError(
                f"weights of {d} variables need {d} noise variances and intercepts; "
                f"got shapes {variances.shape} and {c.shape}"
            )
        if not (
            np.isfinite(B).all() and np.isfinite(c).all() and np.all(variances > 0) and np.isfinite(variances).all()
        ):
            raise ValueError("weights and intercepts must be finite, noise variances finite and positive")
        if noise not in NOISE_SHAPES:
            raise ValueError(f"noise must be one of {', '.join(NOISE_SHAPES)}; got {noise!r}")
        for name, value in (
            ("weights", B),
            ("noise_variances", variances),
            ("intercepts", c),
            ("names", column_names(names, d)),
            ("noise", noise),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_moments(cls, weights: ArrayLike, noise_variances: ArrayLike, moments: Moments) -> LinearSEM:
        """Return the model of weights and noise variances learned from data, with intercepts that fit the means."""
        # Where n <= d a residual can vanish; a model needs a positive variance all the same.
        floor = np.finfo(float).eps * moments.variances
        intercepts = moments.mean - moments.mean @ np.asarray(weights)
        return cls(weights, np.maximum(noise_variances, floor), intercepts, moments.names)

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def adjacency(self) -> BoolMatrix:
        """Boolean matrix of the edges."""
        return np.not_equal(self.weights, 0)

    @property
    def mean(self) -> Vector:
        """Mean of x, c (I - B)^-1."""
        return np.asarray(np.linalg.solve(np.eye(self.d) - self.weights.T, self.intercepts), dtype=float)

    @property
    def covariance(self) -> Matrix:
        """Implied covariance, (I - B)^-T Omega (I - B)^-1."""
        effects = np.linalg.inv(np.eye(self.d) - self.weights)
        return (effects.T * self.noise_variances) @ effects

    @property
    def precision(self) -> Matrix:
        """Implied precision, (I - B) Omega^-1 (I - B)'."""
        M = np.eye(self.d) - self.weights
        return (M / self.noise_variances) @ M.T

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> NDArray[np.float64]:
        """Draw n rows, node by node in topological order."""
        rng = np.random.default_rng(random_state)
        X: Matrix = self._draw_noise(n, rng) * np.sqrt(self.noise_variances) + self.intercepts
        for j in topological_order(self.weights):
            parents = np.nonzero(self.weights[:, j])[0]
            X[:, j] += X[:, parents] @ self.weights[parents, j]
        return X

    def _draw_noise(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw noise of mean 0 and variance 1."""
        shape = (n, self.d)
        if self.noise == "exponential":
            return rng.exponential(size=shape) - 1
        if self.noise == "gumbel":
            return np.asarray((rng.gumbel(size=shape) - np.euler_gamma) * (np.sqrt(6) / np.pi))
        return rng.standard_normal(shape)

    def log_likelihood(self, data: Moments | ArrayLike) -> float:
        """Gaussian log-likelihood of all rows (log|det(I - B)| = 0 on a DAG, Lemma 1)."""
        moments = self._moments(data)
        M = np.eye(self.d) - self.weights
        bias = moments.mean @ M - self.intercepts
        r = np.sum(M * (moments.covariance @ M), axis=0) + bias**2
        return float(-moments.n / 2 * np.sum(np.log(2 * np.pi * self.noise_variances) + r / self.noise_variances))

    def _moments(self, data: Moments | ArrayLike) -> Moments:
        """Moments of the data with the columns in the model's order; tables are matched by name."""
        if isinstance(data, Moments):
            return data.reordered(self.names)
        if is_table(data):
            return Moments.from_table(data).reordered(self.names)
        return Moments.from_rows(data, self.names)

    def bic(self, data: Moments | ArrayLike, *, equal_variances: bool = False) -> float:
        """Bayesian information criterion, -2 log-likelihood + k log n; lower is better.

        k counts the edges, the noise variances (one, if `equal_variances`) and the intercepts.
        """
        moments = self._moments(data)
        k = int(self.adjacency.sum()) + (1 if equal_variances else self.d) + self.d
        return -2 * self.log_likelihood(moments) + k * float(np.log(moments.n))
