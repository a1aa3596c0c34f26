"""Models of a cause and its effect that have no direction, with which a claim by the shape of the noise must compete.

A claim says that two noises are independent, each with a shape of its own. Two other models give similar shapes, and
tests of independence have little power against them:

- A hidden group: the rows come from two normal distributions, whose means differ and whose covariances are
  proportional. Different means are a group of rows, different scales are heavy tails that both columns share.
- Bent columns: both are monotone functions of two normal variables, as with the wrong scale or a saturated instrument.

The claim is compared with each by likelihood. The shape of a single column is a mixture of two normal distributions in
all of these models, so that they differ only in how the two columns depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from golem.data.normal_scores import normal_quantiles
from golem.runtime.types import Array, Matrix, Vector

# Of more rows, so many are used, evenly spread over the values of the cause.
_MOST_ROWS = 1000
# Pairs whose mixtures are fitted at once: their arrays stay in the cache.
_TOGETHER = 32
# Steps of EM from every start, and from the best of them.
_FIRST_STEPS, _STEPS = 5, 25
# Smallest share of a component, and largest ratio of variances: a component must not shrink to a few rows.
_SMALLEST_SHARE, _LARGEST_RATIO = 0.02, 25.0
# Positions of the border between the components at the start, in standard deviations.
_BORDERS = (-0.8, 0.0, 0.8)


def advantages(pairs: Iterable[tuple[Vector, Vector, float]]) -> Vector:
    """Return the log-likelihood of independent noises minus that of the better model without a direction.

    Parameters
    ----------
    pairs : iterable of (ndarray of shape (rows,), ndarray of shape (rows,), float)
        The standardized noises of a cause and of its effect, uncorrelated, and the slope: the effect is the second
        noise plus the slope times the first.

    Returns
    -------
    ndarray
        One number per pair, in natural units; of more than 1000 rows, 1000 are used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.laplace(size=(2, 1000)) / np.sqrt(2)
    >>> bool(advantages([(cause, noise, 1.0)])[0] > 10)
    True
    >>> cause, noise = rng.normal(size=(2, 1000)) * np.sqrt(5 / rng.chisquare(5, size=1000))
    >>> bool(advantages([(cause, noise, 1.0)])[0] < 1)
    True
    """
    thinned = [(_thinned(cause, noise), slope) for cause, noise, slope in pairs]
    found = [np.ones(0)]
    for first in range(0, len(thinned), _TOGETHER):
        some, slopes = zip(*thinned[first : first + _TOGETHER], strict=True)
        columns = np.stack(some)
        causes, effects = columns[:, 0], columns[:, 1] + np.array(slopes)[:, None] * columns[:, 0]
        cause, noise, effect = (_mixture_gains(one[:, None]) for one in (causes, columns[:, 1], effects))
        group, bent = _mixture_gains(columns), cause + effect + _bent_gains(causes, effects)
        found.append(cause + noise - np.maximum(group, bent))
    return np.concatenate(found)


def _thinned(cause: Vector, noise: Vector) -> Matrix:
    """Return at most 1000 rows of a pair, shape (2, rows), whatever the order of the rows."""
    order = np.lexsort((noise, cause))
    return np.asarray(np.stack([cause, noise])[:, order[:: -(-len(order) // _MOST_ROWS)]])


def _bent_gains(causes: Matrix, effects: Matrix) -> Vector:
    """Return the log-likelihood that normal columns gain if they are bent, without that of the single columns."""
    gains = []
    for pair in zip(causes, effects, strict=True):
        bent, straight = np.corrcoef([normal_quantiles(one) for one in pair])[0, 1], np.corrcoef(pair)[0, 1]
        gains.append(len(pair[0]) / 2 * (np.log1p(-(straight**2)) - np.log1p(-(bent**2))))
    return np.array(gains)


def _mixture_gains(columns: Array) -> Vector:
    """Return the log-likelihood that two normals gain on one, for m sets of k columns, shape (m, k, rows)."""
    columns = columns - columns.mean(axis=2, keepdims=True)
    m, k, rows = columns.shape
    products = (columns[:, :, None] * columns[:, None]).reshape(m, k * k, rows)
    terms = np.concatenate([np.ones((m, 1, rows)), columns, products], axis=1)
    best, shares = np.full(m, -np.inf), np.zeros((m, rows))
    for start in _starts(columns):
        found, reached = _expectation_maximization(terms, k, start, _FIRST_STEPS)
        shares[found > best] = reached[found > best]
        best = np.maximum(best, found)
    best = np.maximum(best, _expectation_maximization(terms, k, shares, _STEPS)[0])
    single = -0.5 * rows * (np.linalg.slogdet(columns @ columns.swapaxes(1, 2) / rows)[1] + k)
    return np.asarray(np.maximum(best - single, 0.0))


def _starts(columns: Array) -> Iterator[Array]:
    """Yield shares of the second component at the start, shape (m, rows): beyond borders, and far from the centre."""
    scaled = columns / columns.std(axis=2, keepdims=True)
    for k in range(columns.shape[1]):
        for border in _BORDERS:
            yield _logistic(3 * (scaled[:, k] - border))
    yield _logistic(2 * (np.mean(scaled**2, axis=1) - 2))


def _logistic(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return 0.5 + 0.5 * np.tanh(x / 2)


def _expectation_maximization(terms: Array, k: int, shares: Array, steps: int) -> tuple[Vector, Array]:
    """Return log-likelihoods, without the constant, and shares of the second component after some steps.

    Log-densities are sums of `terms`: 1, k columns and their k^2 products. A step thus takes two products of matrices.
    """
    rows, ratio = terms.shape[2], np.ones(len(terms))
    everything = terms.mean(axis=2)
    for _ in range(steps):
        sums = (terms @ shares[:, :, None])[:, :, 0] / rows
        weights = np.clip(sums[:, 0], _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)
        near, S = _centred(everything - sums, 1 - weights, k)
        far, S_far = _centred(sums, weights, k)
        covariance = S + S_far / ratio[:, None, None]
        spread = np.trace(np.linalg.solve(covariance, S_far), axis1=1, axis2=2) / (k * weights)
        ratio = np.clip(spread, 1 / _LARGEST_RATIO, _LARGEST_RATIO)
        covariance = S + S_far / ratio[:, None, None]
        precision, size = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
        first = _log_density(np.log(1 - weights) - size / 2, near, precision)
        second = _log_density(np.log(weights) - (size + k * np.log(ratio)) / 2, far, precision / ratio[:, None, None])
        odds = ((second - first)[:, None] @ terms)[:, 0]
        shares = _logistic(odds)
    return rows * np.sum(first * everything, axis=1) + np.logaddexp(0, odds).sum(axis=1), shares


def _centred(sums: Matrix, weights: Vector, k: int) -> tuple[Matrix, Array]:
    """Return the means of a component, shape (m, k), and its scatter around them, shape (m, k, k)."""
    means = sums[:, 1 : k + 1] / weights[:, None]
    cross = means[:, :, None] * sums[:, None, 1 : k + 1]
    squares = sums[:, 0, None, None] * means[:, :, None] * means[:, None]
    return means, sums[:, k + 1 :].reshape(-1, k, k) - cross - cross.swapaxes(1, 2) + squares


def _log_density(constants: Vector, means: Matrix, precisions: Array) -> Matrix:
    """Return the coefficients of the terms in the log-density of a component."""
    linear = (precisions @ means[:, :, None])[:, :, 0]
    constants = constants - 0.5 * np.sum(linear * means, axis=1)
    return np.column_stack([constants, linear, -0.5 * precisions.reshape(len(means), -1)])
