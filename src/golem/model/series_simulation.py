"""Random structural autoregressions, and series and panels drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.model.simulation import NOISES, NoiseName, RandomState, random_dag
from golem.runtime.messages import quoted
from golem.runtime.names import column_names
from golem.runtime.problems import Parameter, ProblemError
from golem.runtime.types import Matrix

__all__ = ["SimulatedSeries", "sample_series", "simulate_series"]

# Steps before the first row, after which the start no longer matters.
_BEFORE = 200
# The largest root of a random series; larger ones forget their past too slowly.
_LARGEST_ROOT = 0.95


@dataclass(frozen=True, eq=False)
class SimulatedSeries:
    """A structural autoregression x_t = x_t present + sum over k of x_(t-k) past[k - 1] + noise, and rows of it.

    Parameters
    ----------
    present : ndarray of shape (d, d)
        Weights within a step: a DAG.
    past : ndarray of shape (p, d, d)
        Weights of one to p steps back.
    data : ndarray of shape (n, d)
        The rows in the order of time, one unit after the other.
    unit : ndarray of shape (n,)
        The unit of each row; zeros for a single series.

    Examples
    --------
    >>> drawn = simulate_series(3, 100, lags=2, random_state=0)
    >>> drawn.data.shape, drawn.past.shape, drawn.names
    ((100, 3), (2, 3, 3), ('x0', 'x1', 'x2'))
    """

    present: Matrix
    past: NDArray[np.float64]
    data: Matrix
    unit: NDArray[np.intp]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return column_names(None, len(self.present))

    @property
    def edges(self) -> int:
        """Number of edges, at all lags."""
        return int((self.present != 0).sum() + (self.past != 0).sum())


def simulate_series(
    d: int,
    n: int = 1000,
    *,
    lags: int = 1,
    graph: str = "ER1",
    noise: NoiseName = "gaussian-nv",
    units: int = 1,
    autocorrelation: tuple[float, float] = (0.2, 0.7),
    weights: tuple[float, float] = (0.2, 0.6),
    random_state: RandomState = None,
) -> SimulatedSeries:
    """Draw a stationary structural autoregression and n rows of it.

    Parameters
    ----------
    d, n : int
        Number of variables, and of rows in all.
    lags : int
        Number of lags p. Every variable depends on its own last step; other lagged edges are as many as within a step,
        at a random lag each.
    graph : str
        The graph within a step, such as "ER1".
    noise : {"gaussian-ev", "gaussian-nv", "exponential", "gumbel"}
        As in `random_sem`, with mean 0.
    units : int
        Number of units of a panel, each with an intercept and n / units rows.
    autocorrelation, weights : (float, float)
        Ranges of the effects of variables on themselves, and of the size of all others, which have random signs.
    random_state : int, Generator or None
        Random seed.

    Examples
    --------
    >>> drawn = simulate_series(4, 60, units=10, random_state=0)
    >>> drawn.data.shape, len(set(drawn.unit.tolist()))
    ((60, 4), 10)
    """
    if lags < 1:
        raise ProblemError(Parameter("lags"), f" must be at least 1; got {lags}.")
    rng = np.random.default_rng(random_state)

    def sizes(shape: tuple[int, ...]) -> NDArray[np.float64]:
        return np.asarray(rng.uniform(*weights, shape) * rng.choice((-1.0, 1.0), shape))

    adjacency = random_dag(d, graph, rng)
    present = adjacency * sizes((d, d))
    past = np.zeros((lags, d, d))
    others = np.argwhere(~np.eye(d, dtype=bool))
    chosen = others[rng.permutation(len(others))[: int(adjacency.sum())]]
    past[rng.integers(lags, size=len(chosen)), chosen[:, 0], chosen[:, 1]] = sizes((len(chosen),))
    past[0, np.arange(d), np.arange(d)] = rng.uniform(*autocorrelation, d)
    past = _stationary(present, past)
    data = sample_series(present, past, n, noise=noise, units=units, random_state=rng)
    return SimulatedSeries(present, past, data, np.arange(n) * units // n)


def sample_series(
    present: ArrayLike,
    past: ArrayLike,
    n: int,
    *,
    noise: NoiseName = "gaussian-ev",
    units: int = 1,
    random_state: RandomState = None,
) -> Matrix:
    """Draw n rows of a structural autoregression, or of a panel of `units` with intercepts; see `SimulatedSeries`.

    Examples
    --------
    >>> sample_series([[0, 0.5], [0, 0]], [[[0.5, 0], [0, 0.5]]], 5, random_state=0).shape
    (5, 2)
    """
    B, A = np.asarray(present, dtype=float), np.asarray(past, dtype=float)
    d, p = len(B), len(A)
    if noise not in NOISES:
        raise ProblemError(Parameter("noise"), f" must be one of {quoted(NOISES)}; got {noise!r}.")
    if not 1 <= units <= n:
        raise ProblemError(Parameter("units"), f" must be from 1 to the number of rows; got {units} of {n} rows.")
    if _largest_root(B, A) >= 1:
        raise ValueError("The series is not stationary: it grows without limit. Use smaller weights of the past.")
    rng = np.random.default_rng(random_state)
    M, length = np.linalg.inv(np.eye(d) - B), -(-n // units)
    deviation = rng.uniform(1.0, 2.0, d) if noise == "gaussian-nv" else np.ones(d)
    reduced = A @ M
    rows = np.zeros((p + _BEFORE + length, units, d))
    for t in range(p, len(rows)):
        rows[t] = _noise(rng, noise, (units, d)) * deviation @ M
        for k in range(p):
            rows[t] += rows[t - k - 1] @ reduced[k]
    found = rows[p + _BEFORE :].transpose(1, 0, 2)
    if units > 1:
        found = found + rng.normal(size=(units, 1, d))
    # Units have equal numbers of rows, or one more.
    counts = np.bincount(np.arange(n) * units // n)
    return np.concatenate([one[:count] for one, count in zip(found, counts, strict=True)])


def _noise(rng: np.random.Generator, noise: NoiseName, shape: tuple[int, ...]) -> NDArray[np.float64]:
    if noise == "exponential":
        return rng.exponential(size=shape) - 1
    if noise == "gumbel":
        return rng.gumbel(size=shape) - np.euler_gamma
    return rng.normal(size=shape)


def _largest_root(B: Matrix, A: NDArray[np.float64]) -> float:
    """Return the largest root of the autoregression in size; below 1, it is stationary."""
    d, p = len(B), len(A)
    if not p:
        return 0.0
    companion = np.eye(d * p, k=d)
    companion[:, :d] = np.concatenate(A @ np.linalg.inv(np.eye(d) - B))
    return float(np.abs(np.linalg.eigvals(companion)).max())


def _stationary(B: Matrix, A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the past, made smaller if the series would not forget it."""
    root = _largest_root(B, A)
    if root <= _LARGEST_ROOT:
        return A
    shrink: Sequence[float] = [(_LARGEST_ROOT / root) ** (k + 1) for k in range(len(A))]
    return np.asarray(A * np.array(shrink)[:, None, None])
