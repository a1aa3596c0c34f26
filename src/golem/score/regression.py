"""Regression of nodes on their parents, by least squares from a covariance S: weights b = S_PP^-1 S_Pj.

Required edges can make parents collinear. If S_PP is singular, the weights have the smallest norm, and the residual
variance is the one without the redundant parents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.moments import Moments
from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, Indices, Matrix, Vector
from golem.score.incomplete import edge_rows
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.sparsity import L0

_STACK_NUMBERS = 1 << 22
# From this number of nodes on, weights are so sparse that dense matrix products are wasteful.
_SPARSE_FROM = 500
_LEAST_VARIANCE = np.finfo(float).tiny


class Regressions(NamedTuple):
    """The regressions of all nodes as a list of edges: for large sparse graphs a matrix would take gigabytes.

    Edge e has weight `weights[e]` and leads from `causes[e]` to `children[e]`. Edges are grouped by child.
    `residual_variances`, of shape (d,), are the variances of the nodes given their parents.
    """

    children: Indices
    causes: Indices
    weights: Vector
    residual_variances: Vector

    @property
    def number_of_parents(self) -> Indices:
        """Number of parents of each node, shape (d,)."""
        return np.bincount(self.children, minlength=len(self.residual_variances))

    @property
    def edges(self) -> Edges:
        """The edges without their weights."""
        return Edges(self.causes, self.children, len(self.residual_variances))

    @property
    def graph(self) -> BoolMatrix:
        """Adjacency matrix: entry [i, j] is true if there is an edge i -> j."""
        return self.edges.matrix()

    @property
    def matrix(self) -> Matrix:
        """Weights B: entry [i, j] is the weight of the edge i -> j, or zero."""
        return self.edges.matrix(self.weights)

    def renumbered(self, numbers: Indices) -> Regressions:
        """Return the same regressions with node j called `numbers[j]`; edges are sorted by child, then cause."""
        children, causes = numbers[self.children], numbers[self.causes]
        order = np.lexsort((causes, children))
        r = np.empty_like(self.residual_variances)
        r[numbers] = self.residual_variances
        return Regressions(children[order], causes[order], self.weights[order], r)


def regressions(adjacency: BoolMatrix, S: Matrix) -> Regressions:
    """Regress every node on its parents in a graph."""
    return regress_edges(*_edges(adjacency), S)


def regress_lists(parents: NDArray[np.int64], number: NDArray[np.int64], S: Matrix) -> Regressions:
    """Regress every node j on the first `number[j]` nodes in row j of `parents`."""
    filled = np.arange(parents.shape[1]) < number[:, None]
    return regress_edges(np.repeat(np.arange(len(S)), number), parents[filled], S)


def regress_edges(children: Indices, causes: Indices, S: Matrix) -> Regressions:
    """Regress every node on its parents, given as a list of edges grouped by child."""
    r, weights = np.diagonal(S).copy(), np.zeros(len(children))
    for nodes, edges in _stacks(children, len(S)):
        weights[edges], r[nodes] = _regress(S, nodes, causes[edges])
    return Regressions(children, causes, weights, np.maximum(r, _LEAST_VARIANCE))


def weighted_edges(B: Matrix, S: Matrix) -> Regressions:
    """Return any weights B as a list of edges, with the residual variances that they leave."""
    children, causes = _edges(B != 0)
    return Regressions(children, causes, B[causes, children], residual_variances(B, S))


def residual_variance(S: Matrix, j: int, parents: Indices) -> float:
    """Return the variance of node j given its parents."""
    if not len(parents):
        return float(max(S[j, j], _LEAST_VARIANCE))
    return float(max(_regress(S, np.array([j]), parents[None, :])[1][0], _LEAST_VARIANCE))


class FamilyRegressions(NamedTuple):
    """The regressions of m nodes with k parents each; `chosen` are their places in the list of families."""

    chosen: Indices
    nodes: Indices
    parents: Indices  # (m, k)
    weights: Matrix  # (m, k)
    residual_variances: Vector


def family_regressions(S: Matrix, families: Sequence[tuple[int, Sequence[int]]]) -> Iterator[FamilyRegressions]:
    """Regress nodes on their parents, given as pairs; yield all with the same number of parents at once."""
    nodes = np.array([j for j, _ in families], dtype=np.intp)
    sizes = np.array([len(parents) for _, parents in families], dtype=np.intp)
    for k in np.unique(sizes).tolist():
        chosen = np.flatnonzero(sizes == k)
        step = max(_STACK_NUMBERS // max(k * k, 1), 1)
        for some in (chosen[start : start + step] for start in range(0, len(chosen), step)):
            parents = np.array([families[f][1] for f in some], dtype=np.intp).reshape(len(some), k)
            b, r = _regress(S, nodes[some], parents) if k else (np.zeros((len(some), 0)), S[nodes[some], nodes[some]])
            yield FamilyRegressions(some, nodes[some], parents, b, np.maximum(r, _LEAST_VARIANCE))


def family_variances(S: Matrix, families: Sequence[tuple[int, Sequence[int]]]) -> Vector:
    """Return the variance of a node given its parents, for each pair of a node and its parents."""
    found = np.zeros(len(families))
    for some in family_regressions(S, families):
        found[some.chosen] = some.residual_variances
    return found


def variances_without_each(S: Matrix, j: int, parents: Indices) -> Vector:
    """Return the residual variances of node j without each of its parents in turn: r_j + b_i^2 / (S_PP^-1)_ii."""
    try:
        inverse = np.linalg.inv(S[np.ix_(parents, parents)])
    except np.linalg.LinAlgError:
        return np.array([residual_variance(S, j, np.delete(parents, i)) for i in range(len(parents))])
    b = inverse @ S[parents, j]
    return np.asarray(residual_variance(S, j, parents) + b**2 / np.diagonal(inverse))


def standard_errors(found: Regressions, S: Matrix, n: int | Vector) -> Vector:
    """Return the standard error of every weight: sqrt(s_j^2 (S_PP^-1)_ii / n), with s_j^2 = n r_j / (n - 1 - |P|).

    They take the parents as given and the rows as independent, with noise of the same variance in all rows. NaN where
    the parents are collinear or as many as the rows. n may differ between edges (`golem.score.incomplete`).
    """
    errors, freedom = np.full(len(found.weights), np.nan), n - 1.0 - found.number_of_parents[found.children]
    for nodes, edges in _stacks(found.children, len(S)):
        blocks, _ = _blocks(S, nodes, found.causes[edges])
        try:
            inverse = np.linalg.inv(blocks)
        except np.linalg.LinAlgError:
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = found.residual_variances[nodes, None] / np.where(freedom[edges] > 0, freedom[edges], np.nan)
            errors[edges] = np.sqrt(spread * np.diagonal(inverse, axis1=1, axis2=2))
    return errors


def residual_variances(B: Matrix, S: Matrix) -> Vector:
    """Return the residual variances r_j = (M'SM)_jj, with M = I - B, for any weights B; positive even if n <= d."""
    d = len(B)
    if d < _SPARSE_FROM:
        M = np.eye(d) - B
        r = np.einsum("ij,ij->j", M, S @ M)
    else:
        r = np.diagonal(S).copy()
        children, causes = _edges(B != 0)
        for nodes, edges in _stacks(children, d):
            parents = causes[edges]
            b = B[parents, nodes[:, None]]
            block, target = _blocks(S, nodes, parents)
            r[nodes] += np.einsum("mi,mi->m", b, (block @ b[..., None])[..., 0] - 2 * target)
    return np.asarray(np.maximum(r, _LEAST_VARIANCE))


def _edges(adjacency: BoolMatrix) -> tuple[Indices, Indices]:
    """Return the children and causes of the edges, grouped by child."""
    edges = Edges.from_matrix(adjacency).by_child()
    return edges.children, edges.causes


def _stacks(children: Indices, d: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield groups of nodes with equally many parents, and the indices of the edges into each node, one row per node.

    One regression is so small that calling NumPy costs more than solving it. Therefore a group is solved in one call.
    """
    count = np.bincount(children, minlength=d)
    first = np.cumsum(count) - count
    for k in (np.flatnonzero(np.bincount(count)[1:]) + 1).tolist():
        nodes = np.flatnonzero(count == k)
        step = max(_STACK_NUMBERS // (k * k), 1)
        for start in range(0, len(nodes), step):
            some = nodes[start : start + step]
            yield some, first[some, None] + np.arange(k)


def _blocks(S: Matrix, nodes: Indices, parents: Indices) -> tuple[Matrix, Matrix]:
    """Return S_PP and S_Pj for each node j, where row j of `parents` is P."""
    # S is symmetric. Rows are contiguous in memory, columns are not.
    return S[parents[:, :, None], parents[:, None, :]], S[nodes[:, None], parents]


def _regress(S: Matrix, nodes: Indices, parents: Indices) -> tuple[Matrix, Vector]:
    """Return the weights (m, k) and residual variances (m,) of m nodes, each with the k parents in its row."""
    blocks, targets = _blocks(S, nodes, parents)
    b = _solve(blocks, targets)
    return b, S[nodes, nodes] - np.einsum("mi,mi->m", targets, b)


def _solve(blocks: Matrix, targets: Matrix) -> Matrix:
    try:
        return np.asarray(np.linalg.solve(blocks, targets[..., None])[..., 0])
    except np.linalg.LinAlgError:
        if len(blocks) == 1:
            return np.asarray(np.linalg.lstsq(blocks[0], targets[0])[0][None])
        # One by one, so that the weights of a node do not depend on the other nodes of its group.
        return np.concatenate([_solve(blocks[i : i + 1], targets[i : i + 1]) for i in range(len(blocks))])


def edge_losses(fit: Regressions, moments: Moments, likelihood: Likelihood, penalty: L0) -> Vector:
    """Return the loss of score by dropping each edge of a least-squares fit; negative if the edge is not supported.

    Only the residual variance of the target changes, so that all edges together cost little more than one. After EM,
    the deviance and the penalty are those of the number of rows that know the partial correlation of the edge.
    """
    S, n, d = moments.covariance, moments.n, moments.d
    rises, parents = np.zeros(len(fit.children)), fit.number_of_parents[fit.children]
    first = np.searchsorted(fit.children, np.arange(d + 1))
    for j in np.unique(fit.children).tolist():
        into = slice(first[j], first[j + 1])
        deviance = _deviance_by_node(j, fit.residual_variances, n, likelihood)
        now = deviance(fit.residual_variances[j])
        rises[into] = [deviance(variance) - now for variance in variances_without_each(S, j, fit.causes[into])]
    if moments.patterns is None:
        return np.asarray(rises - np.diff(penalty.penalties(n, d))[parents - 1])
    rows = np.maximum(edge_rows(fit.children, fit.causes, S, moments.patterns).correlations, 2.0)
    steps = [np.diff(penalty.penalties(own, d))[k - 1] for own, k in zip(rows, parents, strict=True)]
    losses = rises * rows / n - np.array(steps)
    # So many parents fit so few rows whatever the values are (`most_parents`); the weakest goes first.
    crowded = parents > np.maximum((rows - 2) / 2, 0)
    return np.asarray(np.where(crowded, rises - rises.max(initial=0.0) - 1.0, losses))


def unsupported_edges(
    fit: Regressions, moments: Moments, likelihood: Likelihood, penalty: L0, required: BoolMatrix | None
) -> Indices:
    """Return edges that too few rows support, weakest first; none if no values are missing.

    After EM a search counts the same rows for all columns, although far fewer may know an edge. Of unsupported edges
    with a common node only the weakest is returned, because the evidence for the others changes without it.
    """
    if moments.patterns is None:
        return np.zeros(0, dtype=np.intp)
    losses = edge_losses(fit, moments, likelihood, penalty)
    if required is not None:
        losses[required[fit.causes, fit.children]] = 0.0
    found: list[int] = []
    nodes: set[int] = set()
    for k in np.argsort(losses, kind="stable")[: np.sum(losses < 0)].tolist():
        ends = {int(fit.causes[k]), int(fit.children[k])}
        if not ends & nodes:
            found.append(k)
            nodes |= ends
    return np.array(found, dtype=np.intp)


def _deviance_by_node(j: int, r: Vector, n: int, likelihood: Likelihood) -> Callable[[float], float]:
    """Return the deviance, up to a constant, as a function of the residual variance of one node.

    Where the noise model allows it, the cost does not depend on the number of other nodes.
    """
    if isinstance(likelihood, GaussianEV):
        rest = float(r.sum() - r[j])
        return lambda variance: n * len(r) * math.log(rest + variance)
    if isinstance(likelihood, GaussianNV) or (isinstance(likelihood, GaussianTied) and likelihood.is_fixed):
        return lambda variance: 2 * n * float(likelihood.on_dag(np.array([variance])))

    def of_all_nodes(variance: float) -> float:
        changed = r.copy()
        changed[j] = variance
        return 2 * n * float(likelihood.on_dag(changed))

    return of_all_nodes
