"""Panels: an intercept per unit, and the bias that estimating it has in short ones.

Centring the windows of a unit over W windows takes the mean out of the covariances: with autocovariances G(h), the
expected products of centred columns that lie j and k steps back are G(k - j) minus the mean of G(t - s + k - j) over
all pairs of windows. For W of a few rows this bias (Nickell 1981) looks like a strong negative effect of the past. It
is linear in G, and a stationary autoregression gives G at all lags from those that are observed. So the correction is a
fixed point: correct the covariance, fit the autoregression, extend G, and correct again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import Indices, Matrix, Vector

# Units with fewer rows than this are short: the bias is corrected, and a warning says so.
SHORT = 20
_STEPS, _TOLERANCE = 200, 1e-9
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
        What centring takes from the covariance; zeros in long panels, whose covariance is divided by the degrees of
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


def unit_means(raw: Matrix, windows: Vector, d: int, lags: int, periods: float) -> UnitMeans:
    """Return the correction, given the covariance of centred windows (divided by their number) and windows per unit."""
    total = float(windows.sum())
    share = (total - len(windows)) / total
    if periods >= SHORT or not lags:
        return UnitMeans(share, np.zeros_like(raw))
    sizes, counts = np.unique(windows.astype(int), return_counts=True)
    weight = counts * sizes / total
    bias = np.zeros_like(raw)
    for _ in range(_STEPS):
        autocovariance = _extended(raw + bias, d, lags, int(sizes.max()) + lags)
        new = np.zeros_like(raw)
        for size, share_of in zip(sizes.tolist(), weight.tolist(), strict=True):
            new += share_of * _taken(autocovariance, d, lags, size)
        change, scale = np.abs(new - bias).max(), np.abs(raw).max()
        bias = (bias + new) / 2
        if change < _TOLERANCE * scale:
            break
    return UnitMeans(share, bias)


def _extended(covariance: Matrix, d: int, lags: int, most: int) -> list[Matrix]:
    """Return the autocovariances E[x_t' x_(t-h)], h = 0 to `most`, of the stationary autoregression of a covariance."""
    past = slice(d, d * (lags + 1))
    A = np.linalg.lstsq(covariance[past, past], covariance[past, :d], rcond=None)[0]  # x_t = past A
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


def _taken(autocovariance: list[Matrix], d: int, lags: int, size: int) -> Matrix:
    """Return what centring over `size` windows takes from the covariance of the columns."""
    offsets = np.arange(1 - size, size)
    weights = (size - np.abs(offsets)) / size**2

    def at(h: int) -> Matrix:
        return autocovariance[h] if h >= 0 else autocovariance[-h].T

    # Columns j and k steps back: the product of x_(t-j) and x_(s-k), so h = (t - s) + k - j.
    means = {
        step: sum(w * at(int(o) + step) for o, w in zip(offsets, weights, strict=True))
        for step in range(-lags, lags + 1)
    }
    taken = np.zeros((d * (lags + 1), d * (lags + 1)))
    for j in range(lags + 1):
        for k in range(lags + 1):
            taken[j * d : (j + 1) * d, k * d : (k + 1) * d] = means[k - j]
    return taken
