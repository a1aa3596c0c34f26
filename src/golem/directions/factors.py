"""Hidden common causes that can be seen: a few factors that explain nearly all correlations, or a dense graph.

No check finds every hidden cause. But a few of them that reach most columns make a matrix of correlations of low rank,
and a graph that imitates it has many edges, none of which is real. Up to some hundred columns, a factor model is
compared with the graph: it explains the table better if its BIC is lower. Of more columns, principal components are
looked at.
"""

from __future__ import annotations

import numpy as np

from golem.data.moments import Moments
from golem.data.table import Intercepts, Table
from golem.directions.equivalence_class import parent_lists
from golem.graphs.edges import Edges
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Matrix
from golem.score.regression import family_variances

# Factor models are compared for at most so many columns, with one factor per five columns and at most five of them.
_MOST_COMPARED, _COLUMNS_PER_MODEL, _MOST_IN_MODEL = 100, 5, 5
_STEPS, _LEAST_UNIQUE = 10, 0.005
# Tables with fewer columns say too little about factors, and more take too long.
_FEWEST, _MOST = 20, 3000
# Of very many columns, so many are looked at.
_SAMPLE = 1000
# One factor per so many columns and rows at most, and never more than these.
_COLUMNS_PER_FACTOR, _ROWS_PER_FACTOR, _MOST_FACTORS = 20, 10, 30
# Parents per variable of a dense graph, and the rows per parent that it needs.
MANY_PARENTS, _ROWS_PER_PARENT = 4.0, 50
# Share of the squared correlations that factors leave. Simulated factor models leave at most 0.11, random graphs (ER
# and SF with 1 to 4 edges per node) at least 0.3.
_LEFT = 0.15


def is_too_dense(edges: int, d: int, n: float) -> bool:
    """Return whether a graph has so many edges for its rows that many may imitate hidden causes, curves or long tails.

    Examples
    --------
    >>> is_too_dense(500, d=50, n=300), is_too_dense(500, d=50, n=3000), is_too_dense(100, d=50, n=50)
    (True, False, False)
    """
    return edges > MANY_PARENTS * d and n < _ROWS_PER_PARENT * edges / d


def hidden_factors(table: Table, intercepts: Intercepts, graph: Edges) -> int:
    """Return how many hidden factors explain the correlations of a table better than its graph; 0 if few do not."""
    moments = table.present_moments(intercepts)
    if not table.has_environments and (better := _better_factors(moments, graph)):
        return better
    return few_factors(moments)


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


def _better_factors(moments: Moments, graph: Edges) -> int:
    """Return the number of factors of the model with the lowest BIC, if it is lower than that of the graph, or 0."""
    d, n, most = graph.d, moments.n, min(graph.d // _COLUMNS_PER_MODEL, _MOST_IN_MODEL)
    if not (most >= 1 and d <= _MOST_COMPARED and d < n and len(moments.names) == d and moments.coding.is_numeric):
        return 0
    scale = np.sqrt(np.maximum(moments.variances, np.finfo(float).tiny))
    R = moments.covariance / scale / scale[:, None]
    left = family_variances(R, [(j, tuple(parents)) for j, parents in enumerate(parent_lists(graph))])
    own = n * np.log(np.maximum(left, np.finfo(float).tiny)).sum() + len(graph) * np.log(n)
    with blas_threads_for(d):
        bic = [n * _factor_deviance(R, k) + (d * k - k * (k - 1) / 2) * np.log(n) for k in range(1, most + 1)]
    return 1 + int(np.argmin(bic)) if min(bic) < own else 0


def _factor_deviance(R: Matrix, k: int) -> float:
    """Return the deviance per row of a model with k factors, fitted by some steps of maximum likelihood."""
    unique = np.full(len(R), 0.5)
    for _ in range(_STEPS):
        scale = np.sqrt(unique)
        values, vectors = np.linalg.eigh(R / scale / scale[:, None])
        loadings = scale[:, None] * vectors[:, -k:] * np.sqrt(np.maximum(values[-k:] - 1, 0.0))
        unique = np.maximum(1 - (loadings**2).sum(axis=1), _LEAST_UNIQUE)
    model = loadings @ loadings.T + np.diag(unique)
    return float(np.linalg.slogdet(model)[1] + np.trace(np.linalg.solve(model, R)) - len(R))


def _dependence(R: Matrix, n: int) -> float:
    """Return the sum of squared correlations, without what is expected from n rows by chance."""
    d = len(R)
    return float(np.sum(R**2) - np.sum(np.diagonal(R) ** 2) - d * (d - 1) / n)
