"""Hidden common causes that can be seen: a few factors that explain nearly all correlations, or a dense graph.

No check finds every hidden cause. But a few of them that reach most columns make a matrix of correlations of low rank,
and a graph that imitates it has many edges, none of which is real. Up to some hundred columns, a factor model is
compared with the graph: it explains the table better if its BIC is lower. Of more columns, principal components are
looked at (`golem.data.factors`).
"""

from __future__ import annotations

import numpy as np

from golem.data.factors import few_factors
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
# Parents per variable of a dense graph, and the rows per parent that it needs.
MANY_PARENTS, _ROWS_PER_PARENT = 4.0, 50


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
