"""Single edges: their value for the score and their scatter plots; and stationary points of the paper's score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from golem.assessment.diagnostics.checked_model import complete_row_numbers, rows_of_model
from golem.directions.by_variance import rises_of_deviance
from golem.directions.equivalence_class import components
from golem.directions.learned_graph import known
from golem.estimator.golem import Golem, plain_model
from golem.gradient.certificate import Certificate, certify_objective
from golem.graphs.dag import is_dag
from golem.model.linear_equations import number_of
from golem.runtime.problems import ProblemError
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.likelihood import GaussianEV
from golem.score.objective import PAPER_PENALTIES, Objective

_MOST_POINTS, _FEWEST_POINTS = 300, 30
# Values of all columns together in the plots of a model; above this many columns there are no plots.
_MOST_VALUES, _MOST_COLUMNS = 30_000, 1000


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
    counts the rows that know the edge (docs/how.md).

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
    names = model.table_.names
    i, j = number_of(source, names), number_of(target, names)
    graph = model.graph_.matrix()
    if not graph[i, j]:
        raise ValueError(f"The learned graph has no edge {names[i]!r} -> {names[j]!r}.")
    dropped = graph.copy()
    dropped[i, j] = False
    turned = dropped.copy()
    turned[j, i] = True
    now, losses = model.fit_.score.total(graph), [np.nan]
    if is_dag(turned):
        losses.append(model.fit_.score.total(turned) - now)
    if model.graph_.partially_directed(known(model.graph_.reversible))[j, i]:
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


@dataclass(frozen=True, eq=False)
class EdgeScatter:
    """Points and line of one edge.

    Parameters
    ----------
    source, target : int
        The edge.
    x : ndarray of shape (m,)
        Values of the source, in its units.
    y : ndarray of shape (m,)
        Values of the target minus the effects of its other parents (relative to their means), in its units.
    slope, intercept : float
        The fitted line; the slope is the weight of the edge.

    Examples
    --------
    >>> from golem import Golem, Moments
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> from golem.diagnostics import edge_scatters
    >>> scatter = edge_scatters(drawn.sem.weights, drawn.sem.adjacency, drawn.data, most=50)[0]
    >>> scatter.x.shape, scatter.y.shape
    ((50,), (50,))
    """

    source: int
    target: int
    x: Vector
    y: Vector
    slope: float
    intercept: float

    @property
    def residuals(self) -> Vector:
        """The residuals of the target on all its parents: the vertical distances of the points from the line."""
        return self.y - self.intercept - self.slope * self.x


def edge_scatters(weights: Matrix, graph: BoolMatrix, X: Matrix, most: int = _MOST_POINTS) -> list[EdgeScatter]:
    """Return the scatter plots of all edges, at the same rows: all of them, or `most` at equal distances.

    Parameters
    ----------
    weights, graph : ndarray of shape (d, d)
        Weights and edges.
    X : ndarray of shape (n, d)
        Complete rows.
    most : int
        Largest number of points per edge.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)) @ [[1, 2], [0, 1]]
    >>> (edge,) = edge_scatters(np.array([[0, 2.0], [0, 0]]), np.array([[0, 1], [0, 0]], dtype=bool), X)
    >>> len(edge.x), edge.slope
    (300, 2.0)
    """
    n = len(X)
    rows = np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.intp)
    mean, sample = X.mean(axis=0), X[rows]
    residuals = (sample - mean) - (sample - mean) @ weights
    found = []
    for i, j in np.argwhere(graph):
        slope = float(weights[i, j])
        intercept = float(mean[j] - slope * mean[i])
        x = sample[:, i]
        found.append(EdgeScatter(int(i), int(j), x, residuals[:, j] + intercept + slope * x, slope, intercept))
    return found


def model_scatters(model: Golem, X: Any) -> list[EdgeScatter]:
    """Return the scatter plots of a fitted model, with fewer points if there are many columns.

    There are none if the graph has a cycle, has categories or more than 1000 columns, or if no row of X is complete.
    """
    model = plain_model(model)
    graph, d = model.graph_, model.table_.d
    if graph.reversible is None or np.isnan(graph.residual_variances).any() or d > _MOST_COLUMNS:
        return []
    rows = rows_of_model(X, model.table_.coding)
    rows = rows[complete_row_numbers(rows)]
    most = min(_MOST_POINTS, max(_FEWEST_POINTS, _MOST_VALUES // d))
    return edge_scatters(graph.matrix(graph.weights), graph.matrix(), rows, most) if len(rows) else []
