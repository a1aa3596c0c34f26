"""Partial correlations that a DAG implies to be zero, and their tests, from moments alone.

In a topological order, a node is independent of every earlier node that is not its parent, given its parents. These
statements, one per missing edge, imply all other independences of the graph (Pearl 1988).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.moments import Moments
from golem.graphs.dag import topological_order
from golem.runtime.machine import require_memory
from golem.runtime.types import BoolMatrix, Indices, Matrix, Vector

# Numbers of a pair here, and what the correction of p-values adds.
_BYTES_PER_PAIR = 64


class ImpliedZeros(NamedTuple):
    """The tests of a DAG, grouped by target.

    `correlations[m]` is the partial correlation of the nodes `sources[m]` and `targets[m]` given the parents of the
    target, and `p_values[m]` the p-value of its Fisher z. `node_p_values` test all statements about one target at once;
    they are NaN for targets without a statement. `exact` is whether they are exact for all targets.
    """

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    correlations: Vector
    p_values: Vector
    node_p_values: Vector
    exact: bool


def implied_zeros(graph: BoolMatrix, moments: Moments) -> ImpliedZeros:
    """Test every partial correlation that a DAG implies to be zero.

    With P the parents of j, the partial correlation r of i and j given P comes from one solve with S_PP per node. Its
    Fisher z, sqrt(n - 3 - |P|) atanh(r), is close to N(0, 1).

    The test of a node is the F test of its regression on all q earlier nodes that are not parents, next to its parents:
    F = ((RSS_P - RSS_all) / q) / (RSS_all / (n - 1 - k)) with k earlier nodes in all. Given the earlier nodes it has
    the same distribution whatever their values, if the noise is normal. Therefore the tests of different nodes are
    independent. All RSS_all are the pivots of one Cholesky factorization. A node with more earlier nodes than half of
    the rows has the smallest p-value of its pairs times their number instead (Bonferroni), which is conservative.
    """
    from scipy.special import ndtr

    n, d = moments.n, moments.d
    require_memory(f"The check of {d} variables", _BYTES_PER_PAIR * d * (d - 1) // 2, "Check a part of the graph.")
    S, order = moments.standardized().covariance, topological_order(graph)
    pivots = _pivots(S[np.ix_(order, order)], n)
    sources, targets, correlations, p_values = [], [], [], []
    nodes, exact = np.full(d, np.nan), True
    for k, j in enumerate(order):
        parents = np.nonzero(graph[:, j])[0]
        others = np.sort(order[:k][~graph[order[:k], j]])
        freedom = n - 3 - len(parents)
        if not len(others) or freedom < 1:
            continue
        r, residual = _partial_correlations(S, j, parents, others)
        p = 2 * ndtr(-np.sqrt(freedom) * np.arctanh(np.abs(r)))
        sources.append(others.astype(np.int32))
        targets.append(np.full(len(others), j, dtype=np.int32))
        correlations.append(r)
        p_values.append(p)
        if k < len(pivots):
            nodes[j] = _f_test(residual, pivots[k], len(others), n - 1 - k)
        else:
            nodes[j], exact = min(1.0, float(p.min()) * len(p)), False
    if not sources:
        none = np.empty(0, dtype=np.int32)
        return ImpliedZeros(none, none, np.empty(0), np.empty(0), nodes, exact)
    ends = np.concatenate(sources), np.concatenate(targets)
    return ImpliedZeros(*ends, np.concatenate(correlations), np.concatenate(p_values), nodes, exact)


def _pivots(S: Matrix, n: int) -> Vector:
    """Return the variance of each node given all before it, for the nodes with few enough before them."""
    m = min(len(S), n // 2)
    return np.asarray(np.diagonal(np.linalg.cholesky(S[:m, :m])) ** 2)


def _partial_correlations(S: Matrix, j: int, parents: Indices, others: Indices) -> tuple[Vector, float]:
    """Return the correlations of j with others given its parents, and the variance of j given its parents."""
    covariances, variances, own = S[others, j].copy(), np.diagonal(S)[others].copy(), float(S[j, j])
    if len(parents):
        # The columns of the inverse factor times S_P. are orthonormal coordinates of the nodes in the span of P.
        from scipy.linalg import solve_triangular

        L = np.linalg.cholesky(S[np.ix_(parents, parents)])
        explained = solve_triangular(L, S[parents][:, others], lower=True)
        target = solve_triangular(L, S[parents, j], lower=True)
        covariances -= target @ explained
        variances -= np.einsum("pi,pi->i", explained, explained)
        own -= float(target @ target)
    scale = np.sqrt(np.maximum(variances, np.finfo(float).tiny) * max(own, np.finfo(float).tiny))
    return np.clip(covariances / scale, -1 + 1e-15, 1 - 1e-15), own


def _f_test(restricted: float, full: float, q: int, freedom: int) -> float:
    """Return the p-value of q further regressors, from the residual variances without and with them."""
    from scipy.special import fdtrc

    return float(fdtrc(q, freedom, max(restricted - full, 0.0) / q / (full / freedom)))
