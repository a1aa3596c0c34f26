"""Scores that are sums over the nodes: the cost of a node given its parents, in units of the deviance; lower is better.

`GaussianBlocks` has a matrix per set of environments and nodes of several columns, `Counts` has categories. Both are
differences of a function of sets of nodes, F(parents and node) - F(parents), plus a penalty. Graphs with low scores are
found in `search`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.data.checks import most_parents
from golem.runtime.types import BoolMatrix, Indices, Matrix, Vector
from golem.score.sparsity import L0, choice_of_categories

# A column is determined by others if they leave less than this share of its variance; the rest is rounding error. As a
# parent it is skipped, and as a child this is its residual variance, so that scores are finite.
COLLINEAR = 1e-10
_STACK_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class NodePenalty:
    """The penalty of node j with parents P.

    It is `per_coefficient[j]` times their coefficients, plus `by_parents[|P|]`, plus `by_groups` of the groups of i and
    j for every parent i.
    """

    per_coefficient: Vector  # (d,)
    by_parents: Vector  # (d,), for 0, 1, ..., d - 1 parents
    groups: Indices  # (d,), from 0
    by_groups: Matrix  # symmetric, so that members of an equivalence class have equal penalties

    def of_edges(self, j: int, parents: Sequence[int]) -> float:
        """Return the part that does not depend on the number of coefficients."""
        return float(self.by_parents[len(parents)] + self.by_groups[self.groups[j], self.groups[list(parents)]].sum())

    def of_edge_sets(self, members: BoolMatrix) -> Matrix:
        """Return the same for all nodes and sets of parents, given as rows."""
        number = np.minimum(members.sum(axis=1), len(self.groups) - 1)  # sets of all nodes are not used
        return np.asarray(self.by_parents[number][:, None] + members @ self.by_groups[self.groups][:, self.groups])


def node_penalty(sparsity: L0, rows: Sequence[Sequence[float]]) -> NodePenalty:
    """Return the penalty of nodes whose coefficients are estimated from these numbers of rows, once from each.

    Node j has log n per coefficient for every n in `rows[j]`. What "mbic" and "ebic" add for the choice among the nodes
    is added once per parent. A number lambda is 2 n lambda per coefficient. The coefficients of a category are the free
    parameters of its conditional distributions.
    """
    d = len(rows)
    one_group = np.zeros(d, dtype=np.intp), np.zeros((1, 1))
    if not isinstance(sparsity.criterion, str):
        weight = 2.0 * sparsity.criterion
        return NodePenalty(np.array([weight * sum(own) for own in rows]), np.zeros(d), *one_group)
    per_coefficient = np.array([np.log(np.maximum(own, 1.0)).sum() for own in map(np.array, rows)])
    # With n = 1, only the part that does not depend on n is left.
    return NodePenalty(per_coefficient, sparsity.penalties(1, d), *one_group)


@dataclass(frozen=True, eq=False)
class GaussianBlocks:
    """Nodes of one or more columns, scored on one or more covariances.

        cost_j(P) = sum over the terms t of j of  rows[t] logdet(S[J,J] - S[J,P] S[P,P]^-1 S[P,J]) + penalty,

    where S = matrices[t] and J and P are the columns of j and of its parents. Use `gaussian_blocks` to make one.

    Parameters
    ----------
    matrices : array of shape (m, p, p)
        Covariances.
    rows : array of shape (m,)
        The number of rows (degrees of freedom) of each.
    first : array of shape (d + 1,)
        Node j has the columns first[j], ..., first[j + 1] - 1.
    terms : tuple of d tuples of int
        The matrices that each node uses.
    penalty : NodePenalty
        An edge i -> j has (columns of i) (columns of j) coefficients.
    """

    matrices: NDArray[np.float64]
    rows: Vector
    first: Indices
    terms: tuple[tuple[int, ...], ...]
    penalty: NodePenalty

    @property
    def d(self) -> int:
        """Number of nodes."""
        return len(self.terms)

    @property
    def sizes(self) -> Vector:
        """Number of columns of every node."""
        return np.diff(self.first).astype(float)

    @property
    def limits(self) -> Vector:
        """The largest number of columns of the parents: near as many as rows, the likelihood is unbounded."""
        return np.array([float(most_parents(int(min(self.rows[t] for t in own)))) for own in self.terms])

    def scales(self, t: int) -> Vector:
        """Return the standard deviations of the columns in matrix t; 1 for constant columns."""
        variances = np.diagonal(self.matrices[t])
        return np.sqrt(np.where(variances > 0, variances, 1.0))

    def block(self, t: int, columns: Indices) -> Matrix:
        """Return the correlations of some columns in matrix t."""
        scale = self.scales(t)[columns]
        R: Matrix = self.matrices[t][np.ix_(columns, columns)] / np.outer(scale, scale)
        R[np.diag_indices_from(R)] = 1.0
        return R

    @functools.cached_property
    def constants(self) -> Vector:
        """The part of every node's cost that depends on the units of its columns, shape (d,)."""
        logs = np.array([np.log(self.scales(t)) for t in range(len(self.matrices))])
        # Categories that have one level in this half of the rows have no columns.
        sums = np.add.reduceat(np.pad(logs, ((0, 0), (0, 1))), self.first[:-1], axis=1) * (self.sizes > 0)
        return np.array([2.0 * (self.rows[list(own)] @ sums[list(own), j]) for j, own in enumerate(self.terms)])

    def columns(self, nodes: Iterable[int]) -> Indices:
        """Return the columns of some nodes."""
        return np.concatenate([np.zeros(0, int), *(np.arange(self.first[i], self.first[i + 1]) for i in nodes)])

    def cost(self, j: int, parents: Iterable[int]) -> float:
        """Return the cost of node j with these parents."""
        parents = sorted(parents)
        P, J = self.columns(parents), self.columns([j])
        total = self.constants[j] + self.penalty.of_edges(j, parents)
        for t in self.terms[j]:
            R = self.block(t, np.concatenate([P, J]))
            total += self.rows[t] * np.log(_residual_variances(R[None], len(J))).sum()
        return float(total + self.penalty.per_coefficient[j] * len(P) * len(J))

    @property
    def table_seconds(self) -> float:
        """About how long `cost_table` takes on a usual machine, from the sizes alone."""
        width = (self.first[-1] + self.sizes) / 2  # of a node and half of the others
        matrices = np.array([len(own) for own in self.terms])
        return float(1.5e-9 * (matrices @ width**3) * 2.0 ** (self.d - 1))

    def cost_table(self, members: BoolMatrix) -> Matrix:
        """Return the cost of all nodes with all sets of parents."""
        width = members @ self.sizes
        table = self.penalty.per_coefficient * self.sizes * width[:, None] + self.constants
        table += self.penalty.of_edge_sets(members)
        for j, own in enumerate(self.terms):
            for t in own:
                table[:, j] += self.rows[t] * self._logdets(t, j, members)
        return np.asarray(table)

    def _logdets(self, t: int, j: int, members: BoolMatrix) -> Vector:
        """Return the log determinant of the residual block of node j for all sets of parents without j, else zero."""
        if not self.sizes[j]:  # of a category that has one level in this half of the rows
            return np.zeros(len(members))
        order = np.argsort(np.arange(self.d) == j, kind="stable")  # j comes last
        R = self.block(t, self.columns(order))
        inside = np.repeat(members[:, order], np.diff(self.first)[order], axis=1)
        J = int(self.sizes[j])
        logdet, width = np.zeros(len(members)), inside[:, :-J].sum(axis=1)
        inside[:, -J:] = True
        for k in np.unique(width).tolist():
            where = np.flatnonzero((width == k) & ~members[:, j])
            step = max(_STACK_NUMBERS // (k + J) ** 2, 1)
            for some in (where[i : i + step] for i in range(0, len(where), step)):
                columns = np.nonzero(inside[some])[1].reshape(len(some), k + J)
                blocks = R[columns[:, :, None], columns[:, None, :]]
                logdet[some] = np.log(_residual_variances(blocks, J)).sum(axis=1)
        return logdet


def gaussian_blocks(
    matrices: ArrayLike,
    rows: ArrayLike,
    *,
    first: ArrayLike | None = None,
    terms: Sequence[Sequence[int]] | None = None,
    sparsity: L0 | None = None,
) -> GaussianBlocks:
    """Return the score of some covariances; see `GaussianBlocks` and `node_penalty`.

    By default every node has one column and uses the first matrix.

    Examples
    --------
    >>> S = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> score = gaussian_blocks([S], [1000], sparsity=L0("mbic"))
    >>> round(score.cost(1, []) - score.cost(1, [0]), 1)  # of these, 2 log 2 is the choice of a parent
    438.0
    """
    given, n = np.asarray(matrices, dtype=float), np.asarray(rows, dtype=float)
    starts = np.arange(given.shape[1] + 1) if first is None else np.asarray(first, dtype=np.intp)
    used = ((0,),) * (len(starts) - 1) if terms is None else tuple(tuple(own) for own in terms)
    penalty = node_penalty(sparsity or L0(), [[n[t] for t in own] for own in used])
    return GaussianBlocks(given, n, starts, used, penalty)


@dataclass(frozen=True, eq=False)
class Counts:
    """Categories, scored by how often their levels occur together.

    - "bdeu": minus twice the log of the marginal likelihood under a uniform Dirichlet prior (Heckerman et al. 1995).
    - "bic": minus twice the log-likelihood.

    Both have a penalty: see `node_penalty`, and `choice_of_categories` for "mbic". A marginal likelihood contains log n
    per parameter already, so that of "mbic", "ebic" and "bic" only the choice among the nodes is left for "bdeu".

    Parameters
    ----------
    codes : array of shape (n, d), int
        Levels of the categories, from 0 to levels - 1.
    levels : array of shape (d,), int
        Number of levels of each category.
    kind : {"bdeu", "bic"}
        The score.
    equivalent_sample_size : float
        Rows that the prior of "bdeu" is worth.
    sparsity : L0
        The penalty.

    Examples
    --------
    >>> codes = np.array([[0, 0], [1, 1]] * 50)
    >>> score = Counts(codes, np.array([2, 2]))
    >>> score.cost(1, [0]) < score.cost(1, [])
    True
    """

    codes: NDArray[Any]
    levels: NDArray[np.integer]
    kind: Literal["bdeu", "bic"] = "bdeu"
    equivalent_sample_size: float = 1.0
    sparsity: L0 = field(default_factory=L0)

    @property
    def d(self) -> int:
        """Number of nodes."""
        return len(self.levels)

    @property
    def sizes(self) -> Vector:
        """Logarithms of the numbers of levels."""
        return np.asarray(np.log(self.levels), dtype=float)

    @property
    def limits(self) -> Vector:
        """The parents of a node have at most as many combinations of levels as there are rows."""
        return np.full(self.d, np.log(max(len(self.codes), 2)) + 1e-9)

    @functools.cached_property
    def penalty(self) -> NodePenalty:
        """The penalty of every node."""
        n, d = self.codes.shape
        is_name = isinstance(self.sparsity.criterion, str)
        penalty = node_penalty(self.sparsity, [[1.0 if is_name and self.kind == "bdeu" else n]] * d)
        if self.kind == "bdeu" or self.sparsity.criterion != "mbic":
            return penalty
        levels, groups = np.unique(self.levels, return_inverse=True)
        more = choice_of_categories(np.outer(levels - 1.0, levels - 1.0), max(n, 1), d)
        return replace(penalty, by_parents=np.zeros(d), groups=groups, by_groups=self.sparsity.gamma * more)

    def cost(self, j: int, parents: Iterable[int]) -> float:
        """Return the cost of node j with these parents."""
        parents = sorted(parents)
        inside = np.zeros(self.d, dtype=bool)
        inside[parents] = True
        combination = _combinations(self.codes, self.levels, parents)
        without = self._set_value(np.bincount(combination), inside)
        inside[j] = True
        both = _add_node(combination, self.codes[:, j], int(self.levels[j]))
        difference = self._set_value(np.bincount(both), inside) - without
        parameters = (self.levels[j] - 1) * np.prod(self.levels[parents], dtype=float)
        return float(difference + self.penalty.per_coefficient[j] * parameters + self.penalty.of_edges(j, parents))

    @property
    def table_seconds(self) -> float:
        """About how long `cost_table` takes on a usual machine, from the sizes alone."""
        distinct_rows = min(len(self.codes), np.prod(self.levels, dtype=float))
        return float(1e-8 * distinct_rows * 2.0**self.d)

    def cost_table(self, members: BoolMatrix) -> Matrix:
        """Return the cost of all nodes with all sets of parents."""
        values, sets, bits = np.zeros(len(members)), np.arange(len(members)), 1 << np.arange(self.d)
        rows = _combinations(self.codes, self.levels, range(self.d))
        _, which, repeats = np.unique(rows, return_index=True, return_counts=True)
        for number, combination in _all_combinations(self.codes[which], self.levels):
            values[number] = self._set_value(np.bincount(combination, weights=repeats), members[number])
        parameters = np.exp(members @ self.sizes)[:, None] * (self.levels - 1)
        table = values[sets[:, None] | bits] - values[:, None] + self.penalty.per_coefficient * parameters
        return np.asarray(table + self.penalty.of_edge_sets(members))

    def _set_value(self, cells: NDArray[Any], inside: NDArray[np.bool_]) -> float:
        """Return F(Q), minus twice the log-likelihood or log marginal likelihood of a table of the nodes in Q."""
        from scipy.special import gammaln, xlogy

        counts = cells[cells > 0]
        if self.kind == "bic":
            return -2.0 * float(xlogy(counts, counts).sum())
        share = self.equivalent_sample_size / np.prod(self.levels[inside], dtype=float)
        return -2.0 * float((gammaln(counts + share) - gammaln(share)).sum())


def _residual_variances(blocks: Matrix, J: int) -> Matrix:
    """Return the variances of the last J columns given all before them, (m, J), from m correlation matrices.

    This is a Cholesky factorization that skips columns which the ones before them determine.
    """
    A, k = blocks.copy(), blocks.shape[-1]
    left = np.ones((len(A), J))
    for i in range(k):
        pivot = A[:, i, i].copy()
        skipped = pivot <= COLLINEAR
        pivot[skipped] = np.inf
        if i >= k - J:
            left[:, i - k + J] = np.where(skipped, COLLINEAR, pivot)
        row = A[:, i, i + 1 :]
        A[:, i + 1 :, i + 1 :] -= row[:, :, None] * (row / pivot[:, None])[:, None, :]
    return left


def _add_node(combination: NDArray[np.intp], codes: NDArray[Any], levels: int) -> NDArray[np.intp]:
    """Return numbers of the combinations of levels with one more node, renumbered if they become too large."""
    combined = combination * levels + codes
    if len(combined) and combined.max() > 4 * len(combined) + 100:
        combined = np.unique(combined, return_inverse=True)[1]
    return np.asarray(combined, dtype=np.intp)


def _combinations(codes: NDArray[Any], levels: NDArray[np.integer], nodes: Sequence[int]) -> NDArray[np.intp]:
    """Return the number of the combination of levels of some nodes in every row."""
    combination = np.zeros(len(codes), dtype=np.intp)
    for i in nodes:
        combination = _add_node(combination, codes[:, i], int(levels[i]))
    return combination


def _all_combinations(codes: NDArray[Any], levels: NDArray[np.integer]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield every set of nodes, as a number, and the combinations of their levels; each adds a node to another set."""
    stack = [(0, 0, np.zeros(len(codes), dtype=np.intp))]
    while stack:
        number, begin, combination = stack.pop()
        yield number, combination
        stack += [
            (number | 1 << i, i + 1, _add_node(combination, codes[:, i], int(levels[i])))
            for i in range(begin, codes.shape[1])
        ]
