"""The score of tables with very many columns: regressions from standardized columns, without a covariance."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.wide_columns import WideMoments
from golem.graphs.edges import Edges
from golem.runtime.threads import in_chunks
from golem.runtime.types import BoolMatrix, Indices, Vector
from golem.score.likelihood import GaussianNV
from golem.score.node_score import Families, NodeScore, Variant
from golem.score.objective import graph_scores
from golem.score.regression import Regressions
from golem.score.sparsity import L0
from golem.score.table_regression import LevelCoefficient, TableRegression

# Numbers of columns that are gathered at a time.
_NUMBERS = 1 << 21
_LEAST_VARIANCE = np.finfo(float).tiny


@dataclass(frozen=True)
class WideColumns:
    """What the search over very many columns needs."""

    moments: WideMoments
    sparsity: L0


class ColumnRegressions(NamedTuple):
    """Regressions of standardized columns; `precision` has the diagonals of the inverse correlations of parents."""

    fit: Regressions
    precision: Vector


def regress_columns(Z: NDArray[np.float32], edges: Edges) -> ColumnRegressions:
    """Regress standardized columns, given in rows, on their parents; the edges are grouped by child."""
    n, r = Z.shape[1], np.ones(len(Z))
    weights, precision = np.zeros(len(edges)), np.zeros(len(edges))
    number = np.bincount(edges.children, minlength=len(Z))
    begins = np.cumsum(number) - number
    for k in np.unique(number[number > 0]).tolist():
        nodes = np.flatnonzero(number == k)
        into = begins[nodes, None] + np.arange(k)

        def solve(a: int, b: int, nodes: Indices = nodes, into: Indices = into) -> None:
            P = Z[edges.causes[into[a:b]]].astype(float)
            target = np.einsum("mkn,mn->mk", P, Z[nodes[a:b]].astype(float)) / n
            R = P @ P.transpose(0, 2, 1) / n
            inverse = np.linalg.inv(R + 1e-12 * np.eye(R.shape[1]))
            found = np.einsum("mij,mj->mi", inverse, target)
            weights[into[a:b]], precision[into[a:b]] = found, np.diagonal(inverse, axis1=1, axis2=2)
            r[nodes[a:b]] = 1 - np.einsum("mk,mk->m", found, target)

        in_chunks(solve, len(nodes), max(1, _NUMBERS // (n * (k + 1))))
    fit = Regressions(edges.children, edges.causes, weights, np.maximum(r, _LEAST_VARIANCE))
    return ColumnRegressions(fit, precision)


@dataclass(frozen=True, eq=False)
class ColumnRegression(TableRegression):
    """Least squares in a table with very many columns."""

    @property
    def _moments(self) -> WideMoments:
        moments = self.table.parts[0].moments
        assert isinstance(moments, WideMoments)
        return moments

    def columns(self, edges: Edges) -> ColumnRegressions:
        """Regress the standardized columns; the last answer is kept."""
        key = ("regressions", edges.causes.tobytes(), edges.children.tobytes())
        memory = self._moments.memory
        if memory.get("last regressions") != key:
            memory["last regressions"] = key
            memory["regressions"] = regress_columns(self._moments.standardized_columns, edges)
        found: ColumnRegressions = memory["regressions"]
        return found

    def weights(self, edges: Edges) -> Regressions:
        """Regress every number on its parents."""
        fit, scale = self.columns(edges).fit, self._moments.deviations
        weights = fit.weights * scale[edges.children] / scale[edges.causes]
        return Regressions(edges.children, edges.causes, weights, fit.residual_variances * scale**2)

    def variances(self) -> Vector:
        """Return the variances of the columns."""
        return self._moments.variances

    def standard_errors(self, found: Regressions) -> Vector:
        """Return the standard error of every weight."""
        edges, scale = found.edges, self._moments.deviations
        columns = self.columns(edges)
        freedom = self.table.n - 1.0 - found.number_of_parents[edges.children]
        r = columns.fit.residual_variances[edges.children]
        errors = np.sqrt(r * columns.precision / np.maximum(freedom, 1.0))
        return np.asarray(errors * scale[edges.children] / scale[edges.causes])

    def intercepts_of(self, edges: Edges, weights: Vector) -> Vector:
        """Return the mean of every number minus what its parents explain."""
        mean = self._moments.mean
        return np.asarray(mean - np.bincount(edges.children, weights * mean[edges.causes], edges.d))

    def coefficients(self, edges: Edges) -> list[LevelCoefficient]:
        """Return nothing: all columns are numbers."""
        return []


@dataclass(frozen=True, eq=False)
class WideScore(NodeScore):
    """The score of very many numbers with free noise variances."""

    name = "gaussian"
    stage = "order-nv"
    is_sparse = True

    @property
    def moments(self) -> WideMoments:
        """The columns."""
        moments = self.table.parts[0].moments
        assert isinstance(moments, WideMoments)
        return moments

    def engine(self) -> WideColumns:
        """Return the data of the search."""
        return WideColumns(self.moments, self.sparsity)

    def variants(self) -> list[Variant]:
        """Return the score of the columns; the check of directions ranks them itself."""
        return [Variant("raw", self.table, self.with_table)]

    @functools.cached_property
    def regression(self) -> ColumnRegression:
        """The regressions of nodes on their parents."""
        return ColumnRegression(self.table, self.intercepts)

    def cost(self, j: int, parents: Iterable[int]) -> float:
        """Return the cost of node j with these parents."""
        own = np.array(sorted(parents), dtype=np.intp)
        edges = Edges(np.arange(len(own)), np.full(len(own), len(own)), len(own) + 1)
        Z = self.moments.columns[self.moments.place[[*own.tolist(), j]]]
        r = regress_columns(Z, edges).fit.residual_variances[-1]
        r *= self.moments.variances[j]
        return float(self.table.n * np.log(r) + self.sparsity.penalties(self.table.n, self.d)[len(own)])

    def total(self, graph: BoolMatrix) -> float:
        """Return the score of a DAG at its best weights."""
        fit = self.refit(Edges.from_matrix(graph).by_child())
        penalties = self.sparsity.penalties(self.table.n, self.d)
        return float(2 * self.table.n * GaussianNV().on_dag(fit.residual_variances)) + float(
            penalties[fit.number_of_parents].sum()
        )

    def losses(self, edges: Edges) -> Vector:
        """Return how much the score rises without each edge."""
        found = self.regression.columns(edges)
        r, k = found.fit.residual_variances[edges.children], found.fit.number_of_parents[edges.children]
        penalties = self.sparsity.penalties(self.table.n, self.d)
        rise = np.log1p(found.fit.weights**2 / found.precision / r)
        return np.asarray(self.table.n * rise - (penalties[k] - penalties[k - 1]))

    def family_costs(self, fit: Regressions) -> Callable[[Families], Vector]:
        """Return the deviance of nodes given their parents."""
        deviance = self.deviance()
        return lambda families: np.array([deviance.cost(j, parents) for j, parents in families])

    def graph_scores(self, weights: Vector, residual_variances: Vector) -> dict[str, float]:
        """Return scores of a graph that are comparable between solvers, given its edges."""
        return graph_scores(weights, residual_variances, self.table.n)

    def bic(self, edges: Edges) -> float | None:
        """Return the BIC of a graph with free noise variances."""
        fit = self.refit(edges)
        return graph_scores(fit.weights, fit.residual_variances, self.table.n)["bic_nv"]

    def why_free(self) -> str:
        """Return why every variable has its own noise variance."""
        return "With very many columns, every variable has its own noise variance."
