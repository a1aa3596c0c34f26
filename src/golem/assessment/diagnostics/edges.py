"""The value of single edges for the score, and stationary points of the paper's score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from golem.directions.by_variance import rises_of_deviance
from golem.directions.equivalence_class import components
from golem.gradient.certificate import Certificate, certify_objective
from golem.graphs.dag import is_dag
from golem.model.linear_equations import number_of
from golem.runtime.problems import ProblemError
from golem.runtime.types import Matrix, Vector
from golem.score.likelihood import GaussianEV
from golem.score.objective import PAPER_PENALTIES, Objective

if TYPE_CHECKING:
    from golem.estimator.golem import Golem


@dataclass(frozen=True)
class EdgeLoss:
    """The loss of score without an edge, in units of the deviance (twice the log-likelihood).

    Parameters
    ----------
    drop : float
        Loss when the edge is removed and its target regressed on the other parents. Positive for a useful edge.
    reverse : float
        Loss when the edge is reversed, alone or together with other edges of the equivalence class, whichever costs
        less: a chain a -> b -> c can be reversed as a whole at no loss, although reversing only b -> c makes b a
        collider and costs much. Members of the class have the same number of edges, so only their fit counts. Less than
        2 for an undecided edge, and 0 with free noise variances. NaN if the class has only this direction and the
        reversed edge would close a cycle.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> model = Golem().fit(drawn.data)
    >>> from golem.diagnostics import edge_loss
    >>> edge = model.edges_[0]
    >>> loss = edge_loss(model, edge.source, edge.target)
    >>> loss.drop > 10  # very strong evidence for the edge
    True
    """

    drop: float
    reverse: float


def edge_loss(model: Golem, source: str | int, target: str | int) -> EdgeLoss:
    """Return the loss of score by dropping or by reversing one edge of a fitted model.

    The score is that of the order solver, 2 n L(B) + penalty on the edges (`model.edge_penalty_`), under the model's
    noise assumption, with the remaining weights refitted; or the score of a table with categories. After EM, `drop`
    counts the rows that know the edge (docs/how/missing.md).

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
    names = model.moments_.variables
    i, j = number_of(source, names), number_of(target, names)
    graph = model.adjacency_
    if not graph[i, j]:
        raise ValueError(f"The learned graph has no edge {names[i]!r} -> {names[j]!r}.")
    dropped = graph.copy()
    dropped[i, j] = False
    turned = dropped.copy()
    turned[j, i] = True
    now, losses = model.fit_.score.total(graph), [np.nan]
    if is_dag(turned):
        losses.append(model.fit_.score.total(turned) - now)
    if model.cpdag_[j, i]:
        losses.append(_loss_in_class(model, i, j))
    place = np.flatnonzero((model.graph_.causes == i) & (model.graph_.children == j))
    return EdgeLoss(drop=float(listed_drop_losses(model)[place[0]]), reverse=float(np.fmin.reduce(losses)))


def drop_losses(model: Golem) -> Matrix:
    """Return the loss of score by dropping each edge, (d, d): `edge_loss(...).drop` of all edges, 0 elsewhere.

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
    losses: Matrix = model.graph_.matrix(listed_drop_losses(model))
    return losses


def listed_drop_losses(model: Golem) -> Vector:
    """Return the loss of score by dropping each edge, in the order of `model.graph_`.

    Only the residual variance of the target changes, so that all edges together cost little more than one.
    """
    return model.fit_.score.losses(model.graph_)


def certify(model: Golem, tolerance: float = 1e-6) -> Certificate:
    """Find a stationary point of the paper's GOLEM-EV score from a model's weights.

    The `score` of the certificate is S(B) of the paper with its l1 and DAG penalties. Compare it with the score of the
    recipe (`Golem.paper("ev").fit(X).solution_.terms["score"]`): the lower one is the better solution.

    Raises
    ------
    ValueError
        If the model does not have noise="ev".

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.diagnostics import certify
    >>> from golem.simulate import simulate
    >>> model = Golem("ev").fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> certify(model).stationarity < 1e-6
    True
    """
    check_is_fitted(model, "moments_")
    if model.noise != "ev":
        raise ProblemError.of(
            "A certificate needs a model of numbers with {noise='ev'}; got {noise=}.", noise=model.noise
        )
    allowed, required = model.knowledge_.allowed, model.knowledge_.required
    l1, dag = PAPER_PENALTIES["ev"]
    S = model.moments_.covariance
    objective = Objective(S, GaussianEV(), lambda_sparsity=l1, lambda_dag=dag, allowed=allowed, unpenalized=required)
    return certify_objective(objective, model.weights_, tolerance)


def _loss_in_class(model: Golem, i: int, j: int) -> float:
    """Return the loss of fit to the best member of the equivalence class with j -> i, if the graph has i -> j."""
    graph = model.graph_
    assert graph.reversible is not None
    found = components(graph, graph.reversible, np.zeros(len(graph), dtype=bool), np.arange(graph.d))
    component = next(one for one in found if i in one.nodes and j in one.nodes)
    score = model.fit_.score
    return rises_of_deviance(score, score.refit(graph), [component])[j, i]
