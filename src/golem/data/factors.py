"""A few hidden factors that explain nearly all correlations between columns: their principal components."""

from __future__ import annotations

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import Matrix

# Tables with fewer columns say too little about factors, and more take too long.
_FEWEST, _MOST = 20, 3000
# Of very many columns, so many are looked at.
_SAMPLE = 1000
# One factor per so many columns and rows at most, and never more than these.
_COLUMNS_PER_FACTOR, _ROWS_PER_FACTOR, _MOST_FACTORS = 20, 10, 30
# Share of the squared correlations that factors leave. Simulated factor models leave at most 0.11, random graphs (ER
# and SF with 1 to 4 edges per node) at least 0.3.
_LEFT = 0.15


def few_factors(moments: Moments) -> int:
    """Return how many principal components explain nearly all correlations between the columns; 0 if few do not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> factors, loadings = rng.normal(size=(500, 2)), rng.normal(size=(2, 40))
    >>> few_factors(Moments.from_rows(factors @ loadings + rng.normal(size=(500, 40))))
    2
    >>> few_factors(Moments.from_rows(rng.normal(size=(500, 40))))
    0
    """
    if not moments.has_scatter:
        sample = np.linspace(0, moments.d - 1, min(moments.d, _SAMPLE)).astype(int)
        moments = moments.selected([moments.names[j] for j in sample])
    scale = np.sqrt(np.maximum(moments.variances, np.finfo(float).tiny))
    return principal_factors(moments.covariance / scale / scale[:, None], moments.n)


def principal_factors(R: Matrix, n: float) -> int:
    """Return how many principal components explain nearly all correlations R of n rows; 0 if few do not."""
    from scipy.sparse.linalg import eigsh

    d = len(R)
    most = int(min(d // _COLUMNS_PER_FACTOR, n // _ROWS_PER_FACTOR, _MOST_FACTORS))
    if not _FEWEST <= d <= _MOST or most < 1:
        return 0
    whole = _dependence(R, n)
    if whole <= d:  # hardly more than chance: less than one pair per column
        return 0
    values, vectors = eigsh(R, most, which="LA", v0=np.random.default_rng(0).normal(size=d))
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    for k in range(1, most + 1):
        largest, V = values[-k:], vectors[:, -k:]
        # What is left on the diagonal is at most 1 each, so that this is less than the dependence left.
        if whole - np.sum(largest**2) + largest.sum() >= _LEFT * whole:
            continue
        rest = R - V * largest @ V.T
        left = np.sqrt(np.maximum(np.diagonal(rest), 1e-12))
        if _dependence(rest / left / left[:, None], n) < _LEFT * whole:
            return k
    return 0


def _dependence(R: Matrix, n: float) -> float:
    """Return the sum of squared correlations, without what is expected from n rows by chance."""
    d = len(R)
    return float(np.sum(R**2) - np.sum(np.diagonal(R) ** 2) - d * (d - 1) / n)
