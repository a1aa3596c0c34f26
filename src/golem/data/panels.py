"""Panels: an intercept per unit, and the bias that estimating it has in short ones.

Centring the windows of a unit over W windows takes the mean out of the covariances: with autocovariances G(h), the
expected products of centred columns that lie j and k steps back are G(k - j) minus the mean of G(t - s + k - j) over
all pairs of windows. For W of a few rows this bias (Nickell 1981) looks like a strong negative effect of the past. It
is linear in G, and a stationary autoregression gives G at all lags from those that are observed. So the correction is a
fixed point: correct the covariance, fit the autoregression, extend G, and correct again. Near a unit root plain
iterations take thousands of rounds; Anderson's (1965) extrapolation takes dozens. Long panels are corrected as well:
the bias falls with the rows per unit, but its errors fall with the number of units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import Indices, Matrix, Vector

# Units with fewer rows than this are short: a warning says that the bias was corrected.
SHORT = 20
_STEPS, _TOLERANCE, _REMEMBERED = 500, 1e-11, 5
# Units with more windows than this know their means well enough; the least share of rows that count; steps of
# derivatives.
_LONG, _LEAST, _SMALL = 100, 0.1, 1e-3
# Autoregressions with a larger root are scaled to it, because their autocovariances do not fade.
_LARGEST_ROOT = 0.97


@dataclass(frozen=True, eq=False)
class UnitMeans:
    """What intercepts of units take from the moments of centred windows.

    Parameters
    ----------
    share : float
        Degrees of freedom per window.
    bias : ndarray of shape (k, k)
        What centring takes from the covariance; zeros without lags, where the covariance is divided by the degrees of
        freedom instead.
    """

    share: float
    bias: Matrix

    def corrected(self, raw: Moments) -> Moments:
        """Return the moments of centred windows with the degrees of freedom, and without the bias."""
        n = max(2, round(raw.n * self.share))
        by = raw.n if self.bias.any() else n
        return replace(raw, n=n, lost=raw.n - n, scatter=(raw.scatter / by + self.bias) * n)

    def reordered(self, columns: Indices) -> UnitMeans:
        """Return the same for some of the columns."""
        return UnitMeans(self.share, self.bias[np.ix_(columns, columns)])


def centred_by_unit(rows: Matrix, unit: Indices) -> Matrix:
    """Return rows minus the mean of their unit, which has a number from 0."""
    counts = np.maximum(np.bincount(unit), 1)
    means = np.column_stack([np.bincount(unit, weights=column) for column in rows.T]) / counts[:, None]
    return np.asarray(rows - means[unit])


def unit_means(raw: Matrix, windows: Vector, d: int, lags: int) -> UnitMeans:
    """Return the correction, given the covariance of centred windows (divided by their number) and windows per unit."""
    total = float(windows.sum())
    share = (total - len(windows)) / total
    if not lags:
        return UnitMeans(share, np.zeros_like(raw))
    offsets = _offsets(windows.astype(int))
    if total < _LONG * len(windows):
        inflation = np.mean([_inflation(raw[j : j + d + 1 : d, j : j + d + 1 : d], offsets) for j in range(d)])
        share = max(share / float(inflation), _LEAST)
    return UnitMeans(share, _bias(raw, d, lags, offsets))


def _bias(raw: Matrix, d: int, lags: int, offsets: Vector) -> Matrix:
    def again(bias: Matrix) -> Matrix:
        return _taken(_extended(raw + bias, d, lags, len(offsets) - 1 + lags), d, lags, offsets)

    return _fixed_point(again, np.zeros_like(raw), _TOLERANCE * float(np.abs(raw).max()))


def _inflation(raw: Matrix, offsets: Vector) -> float:
    """Return how much larger the variance of a variable's effect on its next step is than with known means.

    Short units say little about slow changes. The errors of the covariance of centred windows, shape (2, 2), are those
    of Wishart's distribution; the derivatives of the corrected effect by its entries turn them into its error.
    """

    def effect(covariance: Matrix) -> float:
        S = covariance + _bias(covariance, 1, 1, offsets)
        return float(S[0, 1] / S[1, 1])

    if not raw[0, 0] * raw[1, 1] > raw[0, 1] ** 2:
        return 1.0
    L, own, variance = np.linalg.cholesky(raw), effect(raw), 0.0
    for E in (np.diag([np.sqrt(2), 0.0]), np.diag([0.0, np.sqrt(2)]), np.eye(2)[::-1]):
        variance += ((effect(raw + _SMALL * L @ E @ L.T) - own) / _SMALL) ** 2
    return max(1.0, variance / max(1 - own**2, _SMALL))


def _regression(covariance: Matrix, d: int) -> Matrix:
    """Return the coefficients A of the present on the past: x_t = past A."""
    return np.asarray(np.linalg.lstsq(covariance[d:, d:], covariance[d:, :d], rcond=None)[0])


def _offsets(windows: Indices) -> Vector:
    """Return how often windows of the same unit lie 0, 1, ... steps apart, per window and size of the unit."""
    sizes, counts = np.unique(windows, return_counts=True)
    apart = np.arange(sizes.max())
    return np.asarray(np.maximum(sizes - apart[:, None], 0) @ (counts / sizes) / windows.sum())


def _fixed_point(again: Callable[[Matrix], Matrix], start: Matrix, tolerance: float) -> Matrix:
    """Return x with again(x) = x by Anderson's extrapolation; where it fails, as for exact trends, the start."""
    x, images, steps = start, list[Vector](), list[Vector]()
    for _ in range(_STEPS):
        image = again(x)
        step = (image - x).ravel()
        if np.abs(step).max() <= tolerance:
            return x
        if steps and np.abs(step).max() > 2 * np.abs(steps[-1]).max():
            images, steps = [], []  # extrapolated too far
        images, steps = [*images, image.ravel()][-_REMEMBERED:], [*steps, step][-_REMEMBERED:]
        x = (x + image) / 2
        if len(steps) > 1:
            weights = np.linalg.lstsq(np.diff(steps, axis=0).T, step, rcond=None)[0]
            x = (images[-1] - np.diff(images, axis=0).T @ weights).reshape(start.shape)
    return start


def _extended(covariance: Matrix, d: int, lags: int, most: int) -> list[Matrix]:
    """Return the autocovariances E[x_t' x_(t-h)], h = 0 to `most`, of the stationary autoregression of a covariance."""
    A = _regression(covariance, d)
    companion = np.eye(d * lags, k=d)
    companion[:, :d] = A
    largest = np.abs(np.linalg.eigvals(companion)).max(initial=0.0)
    if largest > _LARGEST_ROOT:
        A = np.concatenate([block * (_LARGEST_ROOT / largest) ** (k + 1) for k, block in enumerate(np.split(A, lags))])
    blocks = np.split(A, lags)
    # Averages over the diagonals of blocks: the windows of one unit overlap.
    S = covariance.reshape(lags + 1, d, lags + 1, d).transpose(0, 2, 1, 3)
    found = [sum(S[j, j + h] for j in range(lags + 1 - h)) / (lags + 1 - h) for h in range(lags + 1)]
    for h in range(lags + 1, most + 1):
        found.append(sum(block.T @ found[h - k - 1] for k, block in enumerate(blocks)))
    return [np.asarray(one) for one in found]


def _taken(autocovariance: list[Matrix], d: int, lags: int, offsets: Vector) -> Matrix:
    """Return what centring takes from the covariance of the columns, given how far apart the windows of units lie."""
    # Columns j and k steps back: the product of x_(t-j) and x_(s-k), so h = (t - s) + k - j.
    G = np.array([*(one.T for one in autocovariance[:0:-1]), *autocovariance])  # G(-most) to G(most)
    both, middle, reach = np.concatenate([offsets[:0:-1], offsets]), len(autocovariance) - 1, len(offsets) - 1
    means = {
        step: np.tensordot(both, G[middle - reach + step : middle + reach + step + 1], 1)
        for step in range(-lags, lags + 1)
    }
    return np.block([[means[k - j] for k in range(lags + 1)] for j in range(lags + 1)])
