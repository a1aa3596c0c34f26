"""Hidden common causes that can be seen: a few factors that explain nearly all correlations.

No check finds every hidden cause. But a few of them that reach most columns make a matrix of correlations of low rank,
and a graph that imitates it has many edges, none of which is real.
"""

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
    from scipy.linalg import eigh

    if not moments.has_scatter:
        sample = np.linspace(0, moments.d - 1, min(moments.d, _SAMPLE)).astype(int)
        moments = moments.selected([moments.names[j] for j in sample])
    d, n = len(moments.names), moments.n
    most = min(d // _COLUMNS_PER_FACTOR, n // _ROWS_PER_FACTOR, _MOST_FACTORS)
    if not _FEWEST <= d <= _MOST or most < 1:
        return 0
    scale = np.sqrt(np.maximum(moments.variances, np.finfo(float).tiny))
    R = moments.covariance / scale / scale[:, None]
    whole = _dependence(R, n)
    if whole <= d:  # hardly more than chance: less than one pair per column
        return 0
    values, vectors = eigh(R, subset_by_index=(d - most, d - 1))
    for k in range(1, most + 1):
        V = vectors[:, -k:]
        rest = R - V * values[-k:] @ V.T
        left = np.sqrt(np.maximum(np.diagonal(rest), 1e-12))
        if _dependence(rest / left / left[:, None], n) < _LEFT * whole:
            return k
    return 0


def _dependence(R: Matrix, n: int) -> float:
    """Return the sum of squared correlations, without what is expected from n rows by chance."""
    d = len(R)
    return float(np.sum(R**2) - np.sum(np.diagonal(R) ** 2) - d * (d - 1) / n)
