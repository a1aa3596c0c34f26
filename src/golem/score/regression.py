"""Regression of nodes on their parents, by least squares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix, Matrix, Vector

_STACK_NUMBERS = 1 << 22


class Regressions(NamedTuple):
    """The regressions of all nodes, edge by edge: a large graph has few edges, and its matrix gigabytes of zeros.

    `weights` are those of the edges from `causes` to `children`, those into one child one after the other;
    `residual_variances` (d,) are those of the nodes given their parents.
    """

    children: NDArray[np.intp]
    causes: NDArray[np.intp]
    weights: Vector
    residual_variances: Vector

    @property
    def number_of_parents(self) -> NDArray[np.intp]:
        """Parents of each node."""
        return np.bincount(self.children, minlength=len(self.residual_variances))

    @property
    def graph(self) -> BoolMatrix:
        """Entry [i, j] tells whether there is an edge i -> j."""
        graph = np.zeros((len(self.residual_variances),) * 2, dtype=bool)
        graph[self.causes, self.children] = True
        return graph

    @property
    def matrix(self) -> Matrix:
        """B: entry [i, j] is the weight of the edge i -> j, zero where there is none."""
        # Memory of zeros is handed out untouched, and takes up room only where something is written.
        B = np.zeros((len(self.residual_variances),) * 2)
        B[self.causes, self.children] = self.weights
        return B


def regressions(adjacency: BoolMatrix, S: Matrix) -> Regressions:
    """Regress every node on its parents."""
    children, causes = np.nonzero(np.ascontiguousarray(adjacency.T))
    return regress_along(children, causes, S)


def regress_along(children: NDArray[np.intp], causes: NDArray[np.intp], S: Matrix) -> Regressions:
    """Regress every node on its parents, given as edges, those into one child one after the other."""
    r = np.diagonal(S).copy()
    weights = np.zeros(len(children))
    count = np.bincount(children, minlength=len(S))
    first = np.cumsum(count) - count
    # All nodes with as many parents at once: the regressions are small, and a call costs more than they do.
    for k in np.unique(count[count > 0]):
        nodes = np.nonzero(count == k)[0]
        for some in np.array_split(nodes, -(-len(nodes) * k * k // _STACK_NUMBERS)):
            edges = first[some, None] + np.arange(k)
            where = causes[edges]
            # Rows of a symmetric S lie together in memory, its columns do not.
            target = S[some[:, None], where]
            b = np.linalg.solve(S[where[:, :, None], where[:, None, :]], target[..., None])[..., 0]
            weights[edges] = b
            r[some] -= np.einsum("ij,ij->i", target, b)
    return Regressions(children, causes, weights, np.maximum(r, np.finfo(float).tiny))


def regress_on_parents(adjacency: BoolMatrix, S: Matrix) -> tuple[Matrix, Vector]:
    """Weights of every node on its parents by least squares, and the residual variances."""
    found = regressions(adjacency, S)
    return found.matrix, found.residual_variances


def least_squares_weights(adjacency: BoolMatrix, S: Matrix) -> Matrix:
    """Weights of every node on its parents, by least squares."""
    return regressions(adjacency, S).matrix


def residual_variance(S: Matrix, j: int, parents: BoolMatrix) -> float:
    """Variance of a node given its parents."""
    return conditional_variance(S, j, np.nonzero(parents)[0])


def conditional_variance(S: Matrix, j: int, where: NDArray[np.intp]) -> float:
    """Variance of a node given some others."""
    if not len(where):
        return float(S[j, j])
    return float(S[j, j] - S[j, where] @ np.linalg.solve(S[np.ix_(where, where)], S[where, j]))
