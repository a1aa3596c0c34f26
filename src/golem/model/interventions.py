"""What follows from weights and noise: implied covariances, samples, and what do(...) makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from golem.graphs.dag import topological_order
from golem.runtime.messages import quoted
from golem.runtime.types import Matrix, Vector

NOISE_SHAPES = ("gaussian", "exponential", "gumbel")


@dataclass(frozen=True, eq=False)
class Intervened:
    """The distribution of x when some variables are set from outside (Pearl's do; `LinearSEM.do` makes it).

    A variable that is set no longer listens to its parents: its column of B is zero, its noise has variance zero, and
    its intercept is the value. All others keep their equations.

    Parameters
    ----------
    weights, noise_variances, intercepts, names, noise
        Those of the model after the intervention; see `LinearSEM`.
    values : mapping of str to float
        What was set.

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

    weights: Matrix
    noise_variances: Vector
    intercepts: Vector
    names: tuple[str, ...]
    noise: str
    values: Mapping[str, float]

    @property
    def mean(self) -> Vector:
        """Mean of x."""
        return implied_mean(self.weights, self.intercepts)

    @property
    def covariance(self) -> Matrix:
        """Covariance of x: zero in the rows and columns of what was set."""
        return implied_covariance(self.weights, self.noise_variances)

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> Matrix:
        """Draw n rows."""
        return draw_rows(self.weights, self.noise_variances, self.intercepts, self.noise, n, random_state)


def number_of(variable: str | int, names: tuple[str, ...]) -> int:
    """Find a variable by its name or number.

    Raises
    ------
    ValueError
        If there is none, with the names there are; or if a number is the name of another variable as well.
    """
    if isinstance(variable, str):
        if variable not in names:
            raise ValueError(f"no variable {variable!r} among {quoted(names)}")
        return names.index(variable)
    if isinstance(variable, bool) or not isinstance(variable, int | np.integer):
        raise ValueError(f"a variable is given by its name or its number, a whole one from 0 on; got {variable!r}")
    number, name = int(variable), str(variable)
    if name in names and names.index(name) != number:
        at_number = f", or {names[number]!r}, which has the number {number}" if 0 <= number < len(names) else ""
        raise ValueError(
            f"{number} is the name of variable number {names.index(name)}; give the name as text, {name!r}{at_number}"
        )
    if not 0 <= number < len(names):
        raise ValueError(f"no variable number {number}; they are numbered 0 to {len(names) - 1}")
    return number


def implied_mean(weights: Matrix, intercepts: Vector) -> Vector:
    """Mean of x, c (I - B)^-1."""
    return np.asarray(np.linalg.solve(np.eye(len(weights)) - weights.T, intercepts), dtype=float)


def implied_covariance(weights: Matrix, noise_variances: Vector) -> Matrix:
    """Covariance of x, (I - B)^-T Omega (I - B)^-1."""
    effects = np.linalg.inv(np.eye(len(weights)) - weights)
    return np.asarray((effects.T * noise_variances) @ effects)


def draw_rows(
    weights: Matrix,
    noise_variances: Vector,
    intercepts: Vector,
    noise: str,
    n: int,
    random_state: int | np.random.Generator | None,
) -> Matrix:
    """Draw n rows, node by node in topological order."""
    rng = np.random.default_rng(random_state)
    X: Matrix = _draw_noise(noise, (n, len(weights)), rng) * np.sqrt(noise_variances) + intercepts
    for j in topological_order(weights):
        parents = np.nonzero(weights[:, j])[0]
        X[:, j] += X[:, parents] @ weights[parents, j]
    return X


def _draw_noise(noise: str, shape: tuple[int, int], rng: np.random.Generator) -> Matrix:
    """Draw noise of mean 0 and variance 1."""
    if noise == "exponential":
        return rng.exponential(size=shape) - 1
    if noise == "gumbel":
        return np.asarray((rng.gumbel(size=shape) - np.euler_gamma) * (np.sqrt(6) / np.pi))
    return rng.standard_normal(shape)
