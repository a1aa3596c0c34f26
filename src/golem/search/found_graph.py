"""The result of every search over orders."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import topological_order
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.regression import Regressions, regressions
from golem.score.solution import Status, TracePoint


@dataclass(frozen=True, eq=False)
class FoundGraph:
    """The best graph of a search over orders of the nodes."""

    order: NDArray[np.intp]  # nodes, causes first
    regressions: Regressions  # edges, weights and residual variances, in the units of the data
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

    def with_graph(self, graph: BoolMatrix, S: Matrix) -> FoundGraph:
        """Return the result for another graph with the same score."""
        if np.array_equal(graph, self.graph):
            return self
        return dataclasses.replace(self, order=topological_order(graph), regressions=regressions(graph, S))
