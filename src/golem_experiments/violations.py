"""Data that violate one assumption of a linear model with independent noise and independent rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from golem.graphs.dag import topological_order
from golem.model.simulation import random_dag, random_weights
from golem.runtime.types import BoolMatrix, Matrix

NOISES = ("gaussian", "laplace", "exponential")
VIOLATIONS = ("none", "confounded", "nonlinear", "outliers", "dependent rows", "measurement error")
# The sizes of the violations.
_CONFOUNDED_PAIRS = 0.25  # hidden common causes of two variables, per variable
_STEEPNESS = 2.0  # of tanh, in standard deviations
_OUTLIERS, _OUTLIER_SIZE = 0.01, 5.0
_AUTOCORRELATION = 0.8
_ERROR = 0.5  # in standard deviations of the column


class ViolatedData(NamedTuple):
    """The true graph over the observed variables, (d, d), and rows, (n, d)."""

    graph: BoolMatrix
    rows: Matrix


def draw_violated(violation: str, noise: str, graph: str, d: int, n: int, seed: int) -> ViolatedData:
    """Draw a random linear model with free noise variances, and rows that violate one of its assumptions.

    A seed has the same graph, weights and noise variances for all violations and noises: weights from +-[0.5, 2], noise
    deviations from [1, 2].

    Parameters
    ----------
    violation : str
        "confounded": hidden common causes of d/4 disjoint pairs. "nonlinear": effects w s tanh(2 x / s) of a parent
        with standard deviation s. "outliers": noise of 5 standard deviations on all columns of 1% of the rows.
        "dependent rows": noise with autocorrelation 0.8 from row to row. "measurement error": noise of half a standard
        deviation on each column. "none": the model itself.
    noise : str
        One of `NOISES`.
    graph : str
        Such as "ER1".
    d, n, seed : int
        Numbers of variables and rows, and the seed.

    Examples
    --------
    >>> draw_violated("outliers", "laplace", "ER1", d=5, n=100, seed=0).rows.shape
    (100, 5)
    """
    model = np.random.default_rng(seed)
    B = random_weights(random_dag(d, graph, model), model)
    deviations = model.uniform(1.0, 2.0, d)
    rng = np.random.default_rng([seed, VIOLATIONS.index(violation), NOISES.index(noise)])

    def draw(*shape: int) -> Matrix:
        return _standard_noise(noise, rng, shape)

    E = draw(n, d)
    if violation == "dependent rows":
        E = _autocorrelated(E)
    if violation == "confounded":
        E = E + _hidden_causes(draw, rng, n, d)
    bend = _bent if violation == "nonlinear" else _straight
    X = _grow(B, E * deviations, bend)
    if violation == "outliers":
        X = X + (rng.random((n, 1)) < _OUTLIERS) * rng.normal(size=(n, d)) * _OUTLIER_SIZE * X.std(axis=0)
    if violation == "measurement error":
        X = X + rng.normal(size=(n, d)) * _ERROR * X.std(axis=0)
    return ViolatedData(B != 0, X)


def _standard_noise(noise: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
    """Return noise with mean 0 and variance 1."""
    if noise == "gaussian":
        return rng.normal(size=shape)
    return rng.laplace(size=shape) / np.sqrt(2) if noise == "laplace" else rng.exponential(size=shape) - 1


def _autocorrelated(E: Matrix) -> Matrix:
    """Return noise of the same variance in which every row continues the one before."""
    out, share = E.copy(), np.sqrt(1 - _AUTOCORRELATION**2)
    for t in range(1, len(E)):
        out[t] = _AUTOCORRELATION * out[t - 1] + share * E[t]
    return out


def _hidden_causes(draw: Callable[..., Matrix], rng: np.random.Generator, n: int, d: int) -> Matrix:
    """Return the effects of hidden variables, each of which causes two of the observed ones."""
    effects, pairs = np.zeros((n, d)), max(1, round(_CONFOUNDED_PAIRS * d))
    for pair in rng.permutation(d)[: 2 * pairs].reshape(-1, 2):
        effects[:, pair] = draw(n, 1) * rng.uniform(0.7, 1.5, 2) * rng.choice([-1.0, 1.0], 2)
    return effects


def _straight(x: Matrix) -> Matrix:
    return x


def _bent(x: Matrix) -> Matrix:
    scale = x.std()
    return np.asarray(scale * np.tanh(_STEEPNESS * (x - x.mean()) / scale))


def _grow(B: Matrix, noise: Matrix, bend: Callable[[Matrix], Matrix]) -> Matrix:
    """Compute all variables from their parents and noise."""
    X = noise.copy()
    for j in topological_order(B):
        for i in np.nonzero(B[:, j])[0]:
            X[:, j] += B[i, j] * bend(X[:, i])
    return X
