"""What every search over orders returns."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.graphs.dag import topological_order
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.regression import Regressions, regressions
from golem.solvers.solution import Status, TracePoint


@dataclass(frozen=True, eq=False)
class FoundGraph:
    """The best graph that a search over orders of the nodes found.

    Parameters
    ----------
    order : ndarray of shape (d,)
        Nodes, causes first.
    regressions : Regressions
        Edges, their least-squares weights, and the variance of each node given its parents, in the units of the data.
    score : float
        What the search minimized, in units of the deviance; lower is better.
    status : Status
        How the search ended.
    perturbations : int
        Work done.
    trace : tuple of TracePoint
        The way there.
    """

    order: NDArray[np.intp]
    regressions: Regressions
    score: float
    status: Status
    perturbations: int = 0
    trace: tuple[TracePoint, ...] = ()

    @property
    def graph(self) -> BoolMatrix:
        """Entry [i, j] tells whether there is an edge i -> j."""
        return self.regressions.graph

    @property
    def weights(self) -> Matrix:
        """B: entry [i, j] is the weight of the edge i -> j, zero where there is none."""
        return self.regressions.matrix

    def with_graph(self, graph: BoolMatrix, S: Matrix) -> FoundGraph:
        """Show another graph with the same score."""
        return dataclasses.replace(self, order=topological_order(graph), regressions=regressions(graph, S))
