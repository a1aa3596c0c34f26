"""Equal noise variances, first part: order the nodes by residual variance.

If all noise variances are equal, a node whose parents have all been placed has the smallest variance given the placed
nodes. So a Cholesky factorization that always pivots on the *smallest* residual variance finds a causal order (Chen,
Drton and Wang 2019). Its factor contains the regressions of every node on all its predecessors.
"""

from __future__ import annotations

import numpy as np
from array_api_compat import device

from golem.graphs.dag import is_dag
from golem.runtime.arrays import namespace, to_numpy
from golem.runtime.gpu.cuda_graphs import ReplayedStep, can_replay
from golem.runtime.linear_algebra import gram
from golem.runtime.types import Array, BoolMatrix, Matrix
from golem.score.solution import TIE

# Pivots per panel: enough for the matrix product to dominate, and few enough for a panel to stay in the CPU cache.
_PANEL = 128
_SMALL = 64


class SingularCovarianceError(ValueError):
    """The covariance is singular within rounding."""


def singular(S: Array) -> SingularCovarianceError:
    """Return the error for a covariance that is singular in its precision."""
    if S.dtype == namespace(S).float32:
        return SingularCovarianceError("The covariance is singular in single precision. Use dtype='float64'.")
    return SingularCovarianceError(
        "The covariance is singular: some columns are linear combinations of others. Remove them."
    )


def robust_variance_order(S: Matrix, n: int, before: BoolMatrix | None = None) -> tuple[Array, Array]:
    """Order nodes as `variance_order` does, with a ridge if S is singular because there are few rows.

    Returns the order and the variance of each node in it given its predecessors, without the factor.

    The ridge is 0.3 times the smallest variance, which is close to the common noise variance. This suffices to rank the
    nodes.
    """
    if n <= len(S):
        variances = np.diagonal(S)
        S = np.array(S)
        np.fill_diagonal(S, variances + 0.3 * float(variances.min()))
    order, _, variances = _placed(S, before)
    return order, variances


def precedence(d: int, allowed: BoolMatrix | None, required: BoolMatrix | None) -> BoolMatrix | None:
    """Return the mask [i, j] of nodes i that must precede j, or None without knowledge.

    It consists of the required edges, and of the allowed edges between different strongly connected components of the
    allowed graph: if i may cause j, but no allowed path leads from j to i, then i can precede j without excluding any
    allowed DAG. Tiers are a special case. A single forbidden edge i -> j does not place j before i, because i may
    still cause j through other nodes.
    """
    if allowed is None and required is None:
        return None
    must = np.zeros((d, d), dtype=bool) if required is None else np.asarray(required, dtype=bool)
    may = np.ones((d, d), dtype=bool) if allowed is None else np.asarray(allowed, dtype=bool)
    if np.any(must & ~may) or not is_dag(must):
        raise ValueError("Required edges must be allowed and must not form a cycle.")
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    possible = may & ~must.T
    _, component = connected_components(csr_array(possible), directed=True, connection="strong")
    before: BoolMatrix = must | (possible & np.not_equal.outer(component, component))
    return before


def variance_order(S: Array, before: BoolMatrix | None = None) -> tuple[Array, Array]:
    """Order nodes by a Cholesky factorization that pivots on the smallest residual variance.

    Within a panel only the rows of the pivots are updated. After each panel, one matrix product updates the nodes not
    yet placed. In total (2/3) d^3 flops are needed, nearly all of them in matrix products.

    Parameters
    ----------
    S : array of shape (d, d)
        Positive definite covariance.
    before : ndarray of shape (d, d), bool, optional
        `before[i, j]`: i must precede j (see `precedence`).

    Returns
    -------
    order : array of shape (d,), int
        Nodes, causes first.
    factor : array of shape (d, d)
        Upper triangular U with U'U = S[order][:, order]; U[t, t]^2 is the t-th residual variance.

    Examples
    --------
    >>> variance_order(np.array([[5.0, 2.0], [2.0, 1.0]]))[0]
    array([1, 0])
    """
    xp, d = namespace(S), S.shape[0]
    order, panels, _ = _placed(S, before)
    factor = xp.zeros((d, d), dtype=S.dtype, device=device(S))
    start = 0
    for panel in panels:
        stop = start + panel.shape[0]
        # The columns of a panel are the nodes that were left at that time, ascending. Sort them by the order.
        columns = xp.argsort(xp.argsort(order[start:]))
        factor[start:stop, start:] = xp.triu(xp.take(panel, columns, axis=1))
        start = stop
    return order, factor


def _placed(S: Array, before: BoolMatrix | None) -> tuple[Array, list[Array], Array]:
    """Return the order of the nodes, the rows of the factor in panels, and the residual variances in this order."""
    xp, d = namespace(S), S.shape[0]
    # Below this, all of a pivot is rounding error. `rounding_share` finds where a larger part is.
    floor = xp.linalg.diagonal(S) * (4 * float(xp.finfo(S.dtype).eps))
    if not bool(xp.all(xp.isfinite(S))) or not bool(xp.all(floor > 0)):
        raise ValueError("The covariance must be finite, and its variances must be positive.")
    follows = None if before is None else xp.asarray(before, dtype=S.dtype, device=device(S))
    # `nodes` are those not yet placed, ascending. T is their covariance given the placed ones.
    nodes, T = xp.arange(d, device=device(S)), S
    panels, pieces, variances = [], [], []
    # New memory for each T and for its update would take longer than the products.
    scratch = [np.empty(d * d, dtype=S.dtype) for _ in range(3)] if type(S) is np.ndarray else []
    while nodes.shape[0]:
        panel, picked, pivots = _factor_panel(T, min(_PANEL, nodes.shape[0]), follows)
        if not bool(xp.all(pivots > xp.take(floor, picked))):
            raise singular(S)
        panels.append(panel)
        variances.append(pivots)
        pieces.append(xp.take(nodes, picked))
        kept = _complement(picked, nodes.shape[0])
        nodes, floor = xp.take(nodes, kept), xp.take(floor, kept)
        if follows is not None:
            follows = xp.take(xp.take(follows, kept, axis=0), kept, axis=1)
        T = _given(T, kept, xp.take(panel, kept, axis=1), scratch)
    return xp.concat(pieces), panels, xp.concat(variances)


def _given(T: Array, kept: Array, tail: Array, scratch: list[Array]) -> Array:
    """Return the covariance of the nodes kept, given those just placed; `tail` are the rows of the factor.

    `scratch` is the memory for the result, for that of the next call, and for a product.
    """
    xp, m = namespace(T), kept.shape[0]
    if scratch:
        rest, product = (part[: m * m].reshape(m, m) for part in (scratch[0], scratch[2]))
        for start in range(0, m, _PANEL):
            rows = slice(start, start + _PANEL)
            np.take(T[kept[rows]], kept, axis=1, out=rest[rows], mode="clip")  # "raise" would not write in place
        rest -= gram(tail, out=product)
        scratch[:2] = scratch[1::-1]
        return rest
    T = xp.take(xp.take(T, kept, axis=0), kept, axis=1)
    T -= tail.T @ tail
    return T


def _factor_panel(T: Array, size: int, follows: Array | None) -> tuple[Array, Array, Array]:
    """Place `size` nodes; return rows of the factor, indices into T, and pivots (not positive if T is singular)."""
    xp, where = namespace(T), device(T)
    rows = xp.zeros((size, T.shape[0]), dtype=T.dtype, device=where)
    places, pivots = xp.zeros(size, dtype=xp.int64, device=where), xp.zeros(size, dtype=T.dtype, device=where)
    variances = xp.asarray(xp.linalg.diagonal(T), copy=True)
    waiting = None if follows is None else xp.sum(follows, axis=0)
    tie = max(TIE, 8 * float(xp.finfo(T.dtype).eps))
    at, never = xp.zeros(1, dtype=xp.int64, device=where), xp.full(1, xp.inf, dtype=T.dtype, device=where)

    def place_next(known: Array) -> None:
        eligible = variances if waiting is None else xp.where(waiting < 0.5, variances, never)
        # The first of several nodes with the same variance up to rounding, as in standardized columns.
        least = xp.min(eligible)
        j = xp.argmax(xp.astype(eligible <= least + tie * xp.abs(least), xp.int8), keepdims=True)
        row = T[j, :] - known[:, j].T @ known
        pivot = row[:, j][:, 0]
        row /= xp.sqrt(pivot)
        rows[at, :], places[at], pivots[at] = row, j, pivot
        variances[:] -= row[0, :] ** 2
        variances[j] = never
        if waiting is not None and follows is not None:
            waiting[:] -= follows[j, :][0, :]
        at[:] += 1

    if can_replay(T):
        # Later rows are zero and change nothing, so that all steps are the same.
        step = ReplayedStep(lambda: place_next(rows), where)
        for _ in range(size):
            step()
    else:
        with np.errstate(all="ignore"):
            for k in range(size):
                place_next(rows[:k, :])
    return rows, places, pivots


def _complement(picked: Array, m: int) -> Array:
    """Return the numbers 0 to m - 1 without those picked, ascending."""
    xp = namespace(picked)
    left = np.ones(m, dtype=bool)
    left[to_numpy(picked)] = False
    return xp.asarray(np.nonzero(left)[0], device=device(picked))


def inverse_factor(U: Array) -> Array:
    """Return W = U^-T, lower triangular, of an upper triangular U (of tensors by recursive halving)."""
    xp = namespace(U)
    if type(U) is np.ndarray:
        from scipy.linalg.lapack import get_lapack_funcs

        # U' is in Fortran order and lower triangular.
        inverse, _ = get_lapack_funcs("trtri", dtype=U.dtype)(U.T, lower=True)
        return np.ascontiguousarray(inverse)
    if U.shape[0] <= _SMALL:
        return xp.tril(xp.linalg.inv(U).T)
    half, W = U.shape[0] // 2, xp.zeros_like(U)
    W[:half, :half] = inverse_factor(U[:half, :half])
    W[half:, half:] = inverse_factor(U[half:, half:])
    W[half:, :half] = -(W[half:, half:] @ U[:half, half:].T) @ W[:half, :half]
    return W


def t_squared(W: Array, n: int) -> Array:
    """Return the squared t-statistics of the regressions of all nodes on all their predecessors, in O(d^2).

    W is the `inverse_factor`. Its first t rows give the inverse covariance W'W of the first t nodes. Row t is
    (-b, 1) / sqrt(D_t), where b are the coefficients of node t on them and D_t is its residual variance. Hence, with
    n - 1 - t degrees of freedom,

        t2[t, p] = (n - 1 - t) b_p^2 / (D_t [inverse covariance]_pp)
                 = (n - 1 - t) W[t, p]^2 / sum_{s < t} W[s, p]^2,    p < t, and 0 elsewhere.
    """
    xp, d = namespace(W), W.shape[0]
    t2 = W * W
    above = xp.zeros((1, d), dtype=W.dtype, device=device(W))
    for start in range(0, d, _PANEL):
        stop = min(start + _PANEL, d)
        sums = above + xp.cumulative_sum(t2[start:stop, :], axis=0, include_initial=True)
        freedom = n - 1 - xp.arange(start, stop, dtype=W.dtype, device=device(W))
        # The sums are zero exactly where p >= t.
        t2[start:stop, :] *= freedom[:, None] / xp.where(sums[:-1, :] > 0, sums[:-1, :], xp.inf)
        above = sums[-1:, :]
    return t2
