"""The results of searches over orders."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import topological_order
from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.regression import Regressions, regressions
from golem.score.solution import Status, TracePoint


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
