"""What an edge is worth to the score, and whether the weights lead to a stationary point of the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from golem.graphs.dag import is_dag
from golem.model.interventions import number_of
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.likelihood import GaussianEV
from golem.score.objective import PAPER_PENALTIES, Objective
from golem.score.regression import regressions, residual_variance
from golem.solvers.certificate import Certificate
from golem.solvers.certificate import certify as certify_objective

if TYPE_CHECKING:
    from golem.estimator.golem import Golem


@dataclass(frozen=True)
class EdgeLoss:
    """What the score loses without an edge, in units of the deviance (twice the log-likelihood).

    Parameters
    ----------
    drop : float
        Loss when the edge is left out and its target regressed on the other parents. Positive where it pays.
    reverse : float
        Loss when the edge is turned round, all others kept: about 0 where the data cannot decide its direction. NaN
        where another path from source to target makes the turned edge close a cycle. One edge alone is turned: a
        chain a -> b -> c can be turned as a whole at no loss, but b -> c alone makes a collider at b and costs much.
        `model.undecided_` tells which directions are open.
    """

    drop: float
    reverse: float


def edge_loss(model: Golem, source: str | int, target: str | int) -> EdgeLoss:
    """Tell what the score loses by dropping or reversing one edge of a fitted model.

    The score is that of the order solver, 2 n L(B) + penalty on the edges (`model.edge_penalty_`), under the model's
    noise assumption, with the remaining weights refitted.

    Examples
    --------
    >>> from golem import Golem
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1)) + rng.normal(size=(500, 2))
    >>> model = Golem().fit(X)
    >>> loss = edge_loss(model, *np.argwhere(model.adjacency_)[0])
    >>> loss.drop > 10, abs(loss.reverse) < 1e-6
    (True, True)
    """
    check_is_fitted(model, "moments_")
    names = model.moments_.names
    i, j = number_of(source, names), number_of(target, names)
    graph = model.adjacency_
    if not graph[i, j]:
        raise ValueError(f"the learned graph has no edge {names[i]!r} -> {names[j]!r}")
    dropped = graph.copy()
    dropped[i, j] = False
    turned = dropped.copy()
    turned[j, i] = True
    now = _deviance(model, graph)
    return EdgeLoss(
        drop=_deviance(model, dropped) - now,
        reverse=_deviance(model, turned) - now if is_dag(turned) else float("nan"),
    )


def drop_losses(model: Golem) -> Matrix:
    """Tell what the score loses by dropping each edge: `edge_loss(...).drop` of all edges, 0 where there is none.

    Only the residual variance of the edge's target changes, so that all edges cost little more than one.

    Examples
    --------
    >>> from golem import Golem
    >>> rng = np.random.default_rng(0)
    >>> model = Golem().fit(rng.normal(size=(500, 1)) + rng.normal(size=(500, 2)))
    >>> losses = drop_losses(model)
    >>> i, j = np.argwhere(model.adjacency_)[0]
    >>> bool(abs(losses[i, j] - edge_loss(model, i, j).drop) < 1e-6)
    True
    """
    check_is_fitted(model, "moments_")
    graph, moments = model.adjacency_, model.moments_
    S, n, d = moments.covariance, moments.n, moments.d
    penalties = model.edge_penalty_.penalties(n, d)

    r = regressions(graph, S).residual_variances
    now = float(model.likelihood_.on_dag(r))
    losses = np.zeros((d, d))
    for i, j in np.argwhere(graph):
        parents, without = np.nonzero(graph[:, j])[0], r.copy()
        without[j] = residual_variance(S, j, parents[parents != i])
        saved = penalties[len(parents)] - penalties[len(parents) - 1]
        losses[i, j] = 2 * n * (float(model.likelihood_.on_dag(without)) - now) - saved
    return losses


def certify(model: Golem, tolerance: float = 1e-6) -> Certificate:
    """Find a stationary point of the paper's GOLEM-EV score from a model's weights.

    The certificate's `score` is S(B) of the paper with its l1 and DAG penalties, to be set beside that of the recipe
    (`Golem.paper("ev").fit(X).solution_.terms["score"]`): the lower one is the better solution of the same problem.

    Raises
    ------
    ValueError
        If the model has free noise variances: the tie-break, not the data, would choose the stationary point.
    """
    check_is_fitted(model, "moments_")
    if model.noise != "ev":
        raise ValueError("a certificate is for noise='ev', whose graph is a start for the paper's GOLEM-EV score")
    lambda_sparsity, lambda_dag = PAPER_PENALTIES["ev"]
    objective = Objective(
        model.moments_.covariance,
        GaussianEV(),
        lambda_sparsity=lambda_sparsity,
        lambda_dag=lambda_dag,
        allowed=model.knowledge_.allowed,
        unpenalized=model.knowledge_.required,
    )
    return certify_objective(objective, model.weights_, tolerance)


def _deviance(model: Golem, graph: BoolMatrix) -> float:
    """2 n L(B) + the penalty on the edges, at the best weights for a graph."""
    moments = model.moments_
    S, n, d = moments.covariance, moments.n, moments.d
    penalties = model.edge_penalty_.penalties(n, d)
    r = regressions(graph, S).residual_variances
    return float(2 * n * model.likelihood_.on_dag(r) + penalties[graph.sum(axis=0)].sum())
