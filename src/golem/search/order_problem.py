"""What all searches over orders of one table share: data, settings and effort, and the edges they may and must have."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.data.moments import Moments
from golem.graphs.dag import is_dag, topological_order
from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.gaussian_columns import GaussianColumns
from golem.score.regression import Regressions, regressions
from golem.score.solution import Callback, Status, TracePoint
from golem.search.exact_order import ExactOrders
from golem.search.order_kernel_arrays import ALLOWED, REQUIRED

if TYPE_CHECKING:
    from golem.search.engines.correlation import CorrelationEngine
    from golem.search.exact_columns import ExactColumns
Effort = Literal["fast", "default", "thorough"]
# Starts, and perturbations per start: (how many, base, times sqrt(d) or, for many nodes, d / 20).
EFFORTS: dict[Effort, tuple[int, int, int]] = {"fast": (1, 20, 2), "default": (2, 150, 20), "thorough": (4, 500, 200)}


@dataclass(frozen=True, eq=False)
class OrderProblem:
    """The data and settings that all searches over orders of one table share."""

    moments: Moments
    penalties: Vector  # of nodes with 0, 1, ..., d - 1 parents
    allowed: BoolMatrix | None = None
    required: BoolMatrix | None = None
    random_state: int | np.random.Generator = 0
    callback: Callback | None = None

    @property
    def masks(self) -> tuple[BoolMatrix | None, BoolMatrix | None]:
        """Allowed and required edges."""
        return self.allowed, self.required

    @functools.cached_property
    def exact(self) -> ExactOrders:
        """The residual variances that exact searches share, for few nodes."""
        return ExactOrders(GaussianColumns(self.moments.standardized().covariance, self.moments.n, self.penalties))

    @functools.cached_property
    def exact_columns(self) -> ExactColumns:
        """The determinants that compiled exact searches share, for up to 20 nodes."""
        from golem.search.exact_columns import ExactColumns  # imports numba

        return ExactColumns(GaussianColumns(self.moments.covariance, self.moments.n, self.penalties))

    @functools.cached_property
    def engine(self) -> CorrelationEngine:
        """What searches over orders of many nodes share."""
        from golem.search.engines.correlation import CorrelationEngine  # imports numba

        score = GaussianColumns(self.moments.covariance, self.moments.n, self.penalties)
        return CorrelationEngine(score, *checked_masks(score.d, *self.masks))


def checked_masks(
    d: int, allowed: ArrayLike | None, required: ArrayLike | None
) -> tuple[BoolMatrix | None, BoolMatrix | None]:
    """Return the masks as arrays, None if they say nothing.

    Raises
    ------
    ValueError
        If a required edge is not allowed, or the required edges form a cycle.
    """
    may = None if allowed is None else np.asarray(allowed, dtype=bool) & ~np.eye(d, dtype=bool)
    must = None if required is None or not np.any(required) else np.asarray(required, dtype=bool)
    if must is not None and ((may is not None and np.any(must & ~may)) or not is_dag(must)):
        raise ValueError("Required edges must be allowed and must not form a cycle.")
    return may, must


def edge_kinds(d: int, allowed: BoolMatrix | None, required: BoolMatrix | None) -> NDArray[np.uint8]:
    """Return for each edge whether it is ALLOWED and REQUIRED, as bits, indexed [child, parent]."""
    kinds = np.uint8(ALLOWED) * (~np.eye(d, dtype=bool) if allowed is None else allowed.T)
    if required is not None:
        kinds = kinds | np.uint8(REQUIRED) * required.T
    return np.ascontiguousarray(kinds)  # kernels are compiled for one layout


def obeying(order: NDArray[Any], required: BoolMatrix | None) -> NDArray[Any]:
    """Return an order in which the required edges point forward, the given one if possible."""
    if required is not None:
        rank = np.argsort(order)
        if np.any(required & (rank[:, None] > rank)):
            return topological_order(required, order)
    return order


@dataclass(frozen=True, eq=False)
class FoundGraph:
    """The best graph of a search over orders, with any score."""

    order: NDArray[np.intp]  # nodes, causes first
    edges: Edges  # sorted by child, then cause
    costs: Vector  # of every node with its parents, in units of the deviance
    status: Status
    perturbations: int = 0

    @property
    def score(self) -> float:
        """The sum of the costs."""
        return float(self.costs.sum())

    @property
    def graph(self) -> BoolMatrix:
        """Adjacency matrix of shape (d, d)."""
        return self.edges.matrix()


@dataclass(frozen=True, eq=False)
class FittedGraph:
    """A graph with weights in the units of the data, and how it was found."""

    order: NDArray[np.intp]  # nodes, causes first
    regressions: Regressions  # edges, weights and residual variances
    score: float  # in units of the deviance
    status: Status
    perturbations: int = 0
    rounding: float | None = None  # see `Solution.rounding`
    trace: tuple[TracePoint, ...] = ()

    @property
    def graph(self) -> BoolMatrix:
        """Adjacency matrix of shape (d, d)."""
        return self.regressions.graph

    @property
    def weights(self) -> Matrix:
        """Weights of shape (d, d)."""
        return self.regressions.matrix

    def with_graph(self, graph: BoolMatrix, S: Matrix) -> FittedGraph:
        """Return the result for another graph with the same score."""
        if np.array_equal(graph, self.graph):
            return self
        return dataclasses.replace(self, order=topological_order(graph), regressions=regressions(graph, S))
