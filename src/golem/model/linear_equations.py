"""Linear equations x = c + x B + e: implied moments, samples, interventions, predictions; matrices with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import topological_order
from golem.runtime.messages import quoted
from golem.runtime.types import Matrix, Vector

NOISE_SHAPES = ("gaussian", "exponential", "gumbel")


@dataclass(frozen=True, eq=False)
class LinearEquations:
    """The equations x = c + x B + e; what `LinearSEM` and `Intervened` have in common."""

    weights: Matrix
    noise_variances: Vector
    intercepts: Vector
    names: tuple[str, ...]
    noise: str

    @property
    def mean(self) -> Vector:
        """Mean of x, c (I - B)^-1, shape (d,)."""
        return np.asarray(np.linalg.solve(np.eye(len(self.weights)) - self.weights.T, self.intercepts), dtype=float)

    @property
    def covariance(self) -> Matrix:
        """Covariance of x, (I - B)^-T Omega (I - B)^-1, shape (d, d)."""
        effects = np.linalg.inv(np.eye(len(self.weights)) - self.weights)
        return np.asarray((effects.T * self.noise_variances) @ effects)

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> Matrix:
        """Draw n rows, node by node in topological order; the result has shape (n, d)."""
        rng = np.random.default_rng(random_state)
        noise = _draw_noise(self.noise, (n, len(self.weights)), rng)
        X: Matrix = noise * np.sqrt(self.noise_variances) + self.intercepts
        for j in topological_order(self.weights):
            parents = np.nonzero(self.weights[:, j])[0]
            X[:, j] += X[:, parents] @ self.weights[parents, j]
        return X


@dataclass(frozen=True, eq=False)
class Intervened(LinearEquations):
    """The distribution of x when some variables are set from outside (Pearl's do; `LinearSEM.do` returns it).

    A variable that is set no longer depends on its parents: its column of B is zero, its noise has variance zero, and
    its intercept is the value. All other equations stay the same.

    Parameters
    ----------
    weights, noise_variances, intercepts, names, noise
        The model after the intervention; see `LinearSEM`.
    values : mapping of str to float
        The values that were set, by variable.

    Examples
    --------
    >>> from golem import LinearSEM
    >>> chain = LinearSEM([[0, 2, 0], [0, 0, 3], [0, 0, 0]], [1, 1, 1], names=["a", "b", "c"])
    >>> forced = chain.do({"b": 5.0})
    >>> forced.mean
    array([ 0.,  5., 15.])
    >>> forced.covariance
    array([[1., 0., 0.],
           [0., 0., 0.],
           [0., 0., 1.]])
    """

    values: Mapping[str, float]


def number_of(variable: str | int, names: tuple[str, ...]) -> int:
    """Return the position of a variable that is given by name or number."""
    if isinstance(variable, str):
        if variable not in names:
            raise ValueError(f"There is no variable {variable!r}. The variables are {quoted(names)}.")
        return names.index(variable)
    if isinstance(variable, bool) or not isinstance(variable, int | np.integer):
        raise ValueError(f"A variable must be given by its name or its number (0, 1, ...); got {variable!r}.")
    number, name = int(variable), str(variable)
    if name in names and names.index(name) != number:
        other = f" or {names[number]!r} (number {number})" if 0 <= number < len(names) else ""
        raise ValueError(
            f"{number} is also the name of variable number {names.index(name)}. Give the name as text: {name!r}{other}."
        )
    if not 0 <= number < len(names):
        raise ValueError(f"There is no variable number {number}. The numbers are 0 to {len(names) - 1}.")
    return number


def _draw_noise(noise: str, shape: tuple[int, int], rng: np.random.Generator) -> Matrix:
    """Draw noise with mean 0 and variance 1."""
    if noise == "exponential":
        return rng.exponential(size=shape) - 1
    if noise == "gumbel":
        return np.asarray((rng.gumbel(size=shape) - np.euler_gamma) * (np.sqrt(6) / np.pi))
    return rng.standard_normal(shape)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Conditional means and covariance of variables given observed values of others; see `LinearSEM.predict`.

    Parameters
    ----------
    names : tuple of str
        The k predicted variables.
    mean : ndarray of shape (k,) or (rows, k)
        Conditional means; one row per row of the observed values, if several were given.
    covariance : ndarray of shape (k, k)
        Conditional covariance; it does not depend on the observed values.
    """

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    covariance: Matrix

    @property
    def variance(self) -> Vector:
        """Conditional variances of the predicted variables."""
        return np.diagonal(self.covariance).copy()


def condition(
    weights: Matrix, noise_variances: Vector, away: NDArray[np.float64], given: list[int], hidden: list[int]
) -> tuple[NDArray[np.float64], Matrix]:
    """Return the conditional mean (as a deviation from the mean) and covariance of the hidden variables.

    `away` holds the deviations of the given variables from their means. The hidden part of x - mean minimizes
    |(x - mean) (I - B) Omega^-1/2|^2. Least squares by QR is more precise than the inverse of a covariance, which may
    be nearly singular.
    """
    A = (np.eye(len(weights)) - weights) / np.sqrt(noise_variances)
    Q, R = np.linalg.qr(A[hidden].T)
    back = np.linalg.inv(R)
    return -(away @ A[given] @ Q @ back.T), back @ back.T


class NamedMatrix(np.ndarray[Any, np.dtype[np.float64]]):
    """A (d, d) array that also takes names as indices: `effects["a", "y"]`. Parts of it are plain arrays.

    Examples
    --------
    >>> effects = NamedMatrix.of(np.array([[1.0, 2.0], [0.0, 1.0]]), ["a", "y"])
    >>> float(effects["a", "y"]), effects.names
    (2.0, ('a', 'y'))
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Matrix, names: Sequence[str]) -> NamedMatrix:
        """Return a matrix with names for its rows and columns."""
        matrix = values.view(cls)
        matrix.names = tuple(names)
        return matrix

    def __getitem__(self, key: Any) -> Any:
        """Return an entry, or a part without names."""
        keys = key if isinstance(key, tuple) else (key,)
        places = tuple(self.names.index(one) if isinstance(one, str) else one for one in keys)
        return cast(Any, np.asarray(self))[places if isinstance(key, tuple) else places[0]]
