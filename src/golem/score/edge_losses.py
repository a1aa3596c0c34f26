"""The loss of score without an edge: how much the deviance rises, minus the penalty of the edge."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import BoolMatrix, Indices, Vector
from golem.score.incomplete import edge_rows
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.regression import Regressions, variances_without_each
from golem.score.sparsity import L0


def edge_losses(fit: Regressions, moments: Moments, likelihood: Likelihood, penalty: L0) -> Vector:
    """Return the loss of score by dropping each edge of a least-squares fit; negative if the edge is not supported.

    Only the residual variance of the target changes, so that all edges together cost little more than one. After EM,
    the deviance and the penalty are those of the number of rows that know the partial correlation of the edge.
    """
    S, n, d = moments.covariance, moments.n, moments.d
    rises, parents = np.zeros(len(fit.children)), fit.number_of_parents[fit.children]
    first = np.searchsorted(fit.children, np.arange(d + 1))
    for j in np.unique(fit.children).tolist():
        into = slice(first[j], first[j + 1])
        deviance = _deviance_by_node(j, fit.residual_variances, n, likelihood)
        now = deviance(fit.residual_variances[j])
        rises[into] = [deviance(variance) - now for variance in variances_without_each(S, j, fit.causes[into])]
    if moments.patterns is None:
        return np.asarray(rises - np.diff(penalty.penalties(n, d))[parents - 1])
    rows = np.maximum(edge_rows(fit.children, fit.causes, S, moments.patterns).correlations, 2.0)
    steps = [np.diff(penalty.penalties(own, d))[k - 1] for own, k in zip(rows, parents, strict=True)]
    losses = rises * rows / n - np.array(steps)
    # So many parents fit so few rows whatever the values are (`most_parents`); the weakest goes first.
    crowded = parents > np.maximum((rows - 2) / 2, 0)
    return np.asarray(np.where(crowded, rises - rises.max(initial=0.0) - 1.0, losses))


def unsupported_edges(
    fit: Regressions, moments: Moments, likelihood: Likelihood, penalty: L0, required: BoolMatrix | None
) -> Indices:
    """Return edges that too few rows support, weakest first; none if no values are missing.

    After EM a search counts the same rows for all columns, although far fewer may know an edge. Of unsupported edges
    with a common node only the weakest is returned, because the evidence for the others changes without it.
    """
    if moments.patterns is None:
        return np.zeros(0, dtype=np.intp)
    losses = edge_losses(fit, moments, likelihood, penalty)
    if required is not None:
        losses[required[fit.causes, fit.children]] = 0.0
    found: list[int] = []
    nodes: set[int] = set()
    for k in np.argsort(losses, kind="stable")[: np.sum(losses < 0)].tolist():
        ends = {int(fit.causes[k]), int(fit.children[k])}
        if not ends & nodes:
            found.append(k)
            nodes |= ends
    return np.array(found, dtype=np.intp)


def _deviance_by_node(j: int, r: Vector, n: int, likelihood: Likelihood) -> Callable[[float], float]:
    """Return the deviance, up to a constant, as a function of the residual variance of one node.

    Where the noise model allows it, the cost does not depend on the number of other nodes.
    """
    if isinstance(likelihood, GaussianEV):
        rest = float(r.sum() - r[j])
        return lambda variance: n * len(r) * math.log(rest + variance)
    if isinstance(likelihood, GaussianNV) or (isinstance(likelihood, GaussianTied) and likelihood.is_fixed):
        return lambda variance: 2 * n * float(likelihood.on_dag(np.array([variance])))

    def of_all_nodes(variance: float) -> float:
        changed = r.copy()
        changed[j] = variance
        return 2 * n * float(likelihood.on_dag(changed))

    return of_all_nodes
