"""Regressions of the variables of a table on their parents in a graph: weights, coefficients of levels, errors.

A variable is regressed on the rows of all parts that do not target it, pooled. Between numbers this gives weights.
Where an end of an edge is a category, there is a coefficient per level instead, and the weight is NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from golem.data.missing import Patterns
from golem.data.moments import Moments
from golem.data.table import Intercepts, Table
from golem.graphs.edges import Edges
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.incomplete import edge_rows, family_rows
from golem.score.regression import Regressions, regress_edges, standard_errors


class LevelCoefficient(NamedTuple):
    """One coefficient of an edge with a category at one of its ends; `pandas.DataFrame` makes a table of them.

    Parameters
    ----------
    source, target : str
        The cause and the effect.
    source_level, target_level : str or None
        The levels that the coefficient is about; None at an end that is a number.
    coefficient : float
        Change of the target, or of the probability of its level, when the source is at its level instead of its
        reference level (or, if it is a number, grows by one unit) and the other parents stay fixed. By least squares.
    standard_error : float or None
        Its error if the graph is right and the rows are independent; None if the parents determine each other.
    """

    source: str
    source_level: str | None
    target: str
    target_level: str | None
    coefficient: float
    standard_error: float | None


class _Group(NamedTuple):
    """Nodes that are regressed on the same parts of the table, and the edges into them.

    `pool` has only the columns of these nodes and of their parents, if there are several groups. `first` is the first
    column of every node in `pool`, -1 for nodes that are not there.
    """

    nodes: Indices
    edges: Indices
    pool: Moments
    first: Indices


@dataclass(frozen=True, eq=False)
class TableRegression:
    """Least squares in a table.

    Parameters
    ----------
    table : Table
        The variables, and the moments of the parts.
    intercepts : {"separate", "shared"}
        Whether every environment has means of its own.

    Examples
    --------
    >>> from golem.data.moments import Moments
    >>> table = Table.single(Moments.from_covariance([[1.0, 2.0], [2.0, 5.0]], 100))
    >>> TableRegression(table).weights(Edges(np.array([0]), np.array([1]), 2)).weights
    array([2.])
    """

    table: Table
    intercepts: Intercepts = "separate"

    @functools.cached_property
    def _numbers(self) -> Indices:
        """The variables that are numbers."""
        return np.flatnonzero(self.table.coding.levels == 0)

    @property
    def _has_only_numbers(self) -> bool:
        return len(self._numbers) == self.table.d

    def weights(self, edges: Edges) -> Regressions:
        """Regress every number on its parents; weights and residual variances are NaN where a category is involved.

        The edges must be grouped by child.
        """
        weights, residuals = np.full(len(edges), np.nan), np.full(edges.d, np.nan)
        for group in self._groups(edges):
            if self._has_only_numbers:
                children, causes = group.first[edges.children[group.edges]], group.first[edges.causes[group.edges]]
                found = regress_edges(children, causes, group.pool.covariance)
                weights[group.edges], residuals[group.nodes] = (
                    found.weights,
                    found.residual_variances[group.first[group.nodes]],
                )
                continue
            for j, into, regression in self._numbers_of(group, edges):
                residuals[j] = max(float(regression.residual[0, 0]), np.finfo(float).tiny)
                for k, row in self._weights_of(edges, into):
                    weights[k] = regression.coefficients[row, 0]
        return Regressions(edges.children, edges.causes, weights, residuals)

    def standard_errors(self, fit: Regressions) -> Vector:
        """Return the standard error of every weight of `weights`; NaN where there is no weight."""
        errors, edges = np.full(len(fit.weights), np.nan), fit.edges
        for group in self._groups(edges):
            if self._has_only_numbers:
                children, causes = group.first[edges.children[group.edges]], group.first[edges.causes[group.edges]]
                r = np.ones(group.pool.d)
                r[group.first[group.nodes]] = fit.residual_variances[group.nodes]
                own = Regressions(children, causes, fit.weights[group.edges], r)
                errors[group.edges] = standard_errors(own, group.pool.covariance, self._rows(own, group.pool))
                continue
            for _, into, regression in self._numbers_of(group, edges):
                for k, row in self._weights_of(edges, into):
                    errors[k] = regression.standard_errors[row, 0]
        return errors

    def coefficients(self, edges: Edges) -> list[LevelCoefficient]:
        """Return the coefficients of the edges with a category at one of their ends, sorted by child, then cause."""
        if self._has_only_numbers:
            return []
        variables, found = self.table.coding.variables, []
        by_child = {
            j: (into, regression) for group in self._groups(edges) for j, into, regression in self._all_of(group, edges)
        }
        for j in sorted(by_child):
            (into, regression), begin, target = by_child[j], 0, variables[j]
            for source in (variables[i] for i in edges.causes[into].tolist()):
                begin, rows = begin + source.columns, range(begin, begin + source.columns)
                if not (source.is_category or target.is_category):
                    continue
                for row, a in enumerate(rows):
                    for b in range(target.columns):
                        error = float(regression.standard_errors[a, b])
                        levels = (
                            source.levels[row + 1] if source.is_category else None,
                            target.levels[b + 1] if target.is_category else None,
                        )
                        value = float(regression.coefficients[a, b]), error if np.isfinite(error) else None
                        found.append(LevelCoefficient(source.name, levels[0], target.name, levels[1], *value))
        return found

    def intercepts_of(self, edges: Edges, weights: Vector) -> Vector:
        """Return the intercepts of numbers, given the weights; NaN for categories.

        In a table with categories the weights are those of least squares, and categories are at their reference levels.
        """
        if self._has_only_numbers:
            return self.table.intercepts(edges.matrix(weights))
        found = np.full(edges.d, np.nan)
        for group in self._groups(edges):
            for j in np.intersect1d(group.nodes, self._numbers).tolist():
                parents = edges.causes[edges.children == j]
                mean, columns = group.pool.mean, self._columns(group, parents)
                found[j] = mean[group.first[j]] - mean[columns] @ self._regress(group, j, parents).coefficients[:, 0]
        return found

    def variances(self) -> Vector:
        """Return the variance of every number in the parts that do not target it; NaN for categories."""
        variances, first = np.full(self.table.d, np.nan), self.table.coding.first
        for which, nodes in self.table.groups().items():
            numbers = np.intersect1d(nodes, self._numbers)
            variances[numbers] = self.table.variances(which, self.intercepts)[first[numbers]]
        return variances

    def _rows(self, fit: Regressions, pool: Moments) -> int | Vector:
        """Return the number of rows of every weight; after EM, those that know it."""
        if pool.patterns is not None:
            return edge_rows(fit.children, fit.causes, pool.covariance, pool.patterns).weights
        # With environments, the means are subtracted from n already.
        return pool.n + self.table.has_environments

    def _groups(self, edges: Edges) -> Iterator[_Group]:
        """Yield the nodes and edges by the parts that do not target the child."""
        groups, coding = self.table.groups(), self.table.coding
        if len(groups) == 1:
            (which,) = groups
            pool = self.table.pooled(which, self.intercepts)
            yield _Group(np.arange(edges.d), np.arange(len(edges)), pool, coding.first[:-1])
            return
        for which, nodes in groups.items():
            into = np.flatnonzero(np.isin(edges.children, nodes))
            inside = np.union1d(nodes, edges.causes[into]).astype(np.intp)
            sizes = np.diff(coding.first)[inside]
            columns = np.concatenate([np.arange(coding.first[j], coding.first[j + 1]) for j in inside])
            first = np.full(edges.d, -1, dtype=np.intp)
            first[inside] = np.cumsum(sizes) - sizes
            yield _Group(np.array(nodes), into, self.table.pooled(which, self.intercepts, columns), first)

    def _columns(self, group: _Group, nodes: Indices) -> Indices:
        """Return the columns of some nodes in the moments of a group."""
        sizes = np.diff(self.table.coding.first)
        parts = (np.arange(group.first[i], group.first[i] + sizes[i]) for i in nodes)
        return np.concatenate([np.zeros(0, dtype=np.intp), *parts])

    def _regress(self, group: _Group, j: int, parents: Indices) -> BlockRegression:
        """Regress the columns of a node on those of its parents."""
        pool, own = group.pool, self._columns(group, np.array([j]))
        n = pool.n + self.table.has_environments
        return regress_block(pool.covariance, n, own, self._columns(group, parents), pool.patterns)

    def _all_of(self, group: _Group, edges: Edges) -> Iterator[tuple[int, Indices, BlockRegression]]:
        """Yield the nodes of a group with parents, the edges into them and their regressions."""
        for j in np.unique(edges.children[group.edges]).tolist():
            into = np.flatnonzero(edges.children == j)
            yield j, into, self._regress(group, j, edges.causes[into])

    def _numbers_of(self, group: _Group, edges: Edges) -> Iterator[tuple[int, Indices, BlockRegression]]:
        """Yield the numbers of a group, also those without parents, the edges into them and their regressions."""
        for j in np.intersect1d(group.nodes, self._numbers).tolist():
            into = np.flatnonzero(edges.children == j)
            yield j, into, self._regress(group, j, edges.causes[into])

    def _weights_of(self, edges: Edges, into: Indices) -> Iterator[tuple[int, int]]:
        """Yield the edges into a node whose cause is a number, and the row of their coefficient."""
        begin = 0
        for k in into.tolist():
            variable = self.table.coding.variables[edges.causes[k]]
            if not variable.is_category:
                yield k, begin
            begin += variable.columns


# Eigenvalues of the correlations of the parents below this are zero: columns that others determine.
_LEAST_EIGENVALUE = 1e-9


class BlockRegression(NamedTuple):
    """The regression of k columns on q others.

    `coefficients` and `standard_errors` have shape (q, k), the covariance of the `residual` (k, k). Where the q columns
    determine each other, the coefficients have the smallest norm, and the standard errors are NaN. The same holds for a
    column that does not vary.
    """

    coefficients: Matrix
    standard_errors: Matrix
    residual: Matrix


def regress_block(
    S: Matrix, n: int, columns: Indices, parents: Indices, patterns: Patterns | None = None
) -> BlockRegression:
    """Regress some columns of a covariance S of n rows on others; `patterns` are those of rows with missing values.

    Examples
    --------
    >>> S = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> regress_block(S, 100, np.array([1]), np.array([0])).coefficients
    array([[2.]])
    """
    target, cross = S[np.ix_(columns, columns)], S[np.ix_(parents, columns)]
    if not len(parents):
        return BlockRegression(cross, cross.copy(), target)
    varies = np.diagonal(S)[parents] > 0
    if not varies.all():  # levels that do not occur in these rows
        some = regress_block(S, n, columns, parents[varies], patterns)
        coefficients, errors = np.zeros(cross.shape), np.full(cross.shape, np.nan)
        coefficients[varies], errors[varies] = some.coefficients, some.standard_errors
        return BlockRegression(coefficients, errors, some.residual)
    scale = np.sqrt(np.diagonal(S)[parents])
    values, vectors = np.linalg.eigh(S[np.ix_(parents, parents)] / np.outer(scale, scale))
    kept = values > _LEAST_EIGENVALUE * values[-1]
    vectors, values = vectors[:, kept], values[kept]
    inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
    coefficients = inverse @ cross
    residual = target - cross.T @ coefficients
    if not kept.all():
        return BlockRegression(coefficients, np.full_like(coefficients, np.nan), residual)
    rows = np.full(coefficients.shape, float(n))
    if patterns is not None:
        families = [np.append(j, parents) for j in columns]
        rows = np.column_stack([family_rows(S[np.ix_(own, own)], patterns.selected(own)).weights for own in families])
    freedom = np.where(rows - 1 - len(parents) >= 1, rows - 1 - len(parents), np.nan)
    spread = np.maximum(np.diagonal(residual), 0)
    return BlockRegression(coefficients, np.sqrt(np.outer(np.diagonal(inverse), spread) / freedom), residual)
