"""The numbers of a scatter plot per edge: a parent, its child without the effects of other parents, and the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from golem.assessment.diagnostics.diagnosis import complete_rows, table_rows
from golem.assessment.plain_model import plain_model
from golem.estimator.golem import Golem
from golem.runtime.types import BoolMatrix, Matrix, Vector

_MOST_POINTS, _FEWEST_POINTS = 300, 30
# Values of all columns together in the plots of a model; above this many columns there are no plots.
_MOST_VALUES, _MOST_COLUMNS = 30_000, 1000


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
    moments = model.moments_
    if not hasattr(model, "sem_") or not moments.coding.is_numeric or moments.d > _MOST_COLUMNS:
        return []
    rows, _ = complete_rows(table_rows(X, moments.names))
    most = min(_MOST_POINTS, max(_FEWEST_POINTS, _MOST_VALUES // moments.d))
    return edge_scatters(model.weights_, model.adjacency_, rows, most) if len(rows) else []
