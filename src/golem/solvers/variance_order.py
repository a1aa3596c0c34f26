"""Equal noise variances: order the nodes by residual variance, then choose parents by counting edges.

When all noise variances are equal, a node whose parents have all been placed has the smallest variance given
the placed nodes, so a Cholesky factorization that always pivots on the *smallest* residual variance finds a
causal order (Chen, Drton and Wang 2019). Its factor holds the regressions of every node on all predecessors,
which screen the edges; what remains is one small regression a node. No threshold is put on weights.
"""

from __future__ import annotations

import contextlib
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from array_api_compat import device
from numpy.typing import ArrayLike, NDArray

from golem.arrays import Array, available_cores, blas_threads_for, namespace, on_accelerator, to_numpy
from golem.graph import BoolMatrix, is_dag
from golem.moments import Matrix, Vector

if TYPE_CHECKING:
    from golem.solvers import variance_kernels as kernels

# Pivots a panel: enough for the matrix product to dominate, few enough for a panel to stay in cache.
_PANEL = 128
# Candidates for a pivot beyond the two of the smallest variance: more are seldom needed.
_MORE_CANDIDATES = 6
_SMALL = 64
# Below this there is hardly a hint of an edge.
_LEAST_T_SQUARED = 4.0
_MOST_SWEEPS = 100
# Room for parents that a node may get beyond those it has.
_ROOM = 16
# From this many nodes on, threads share the regressions.
_THREADS_PAY_FROM = 300


Ending = Literal["settled", "unsettled", "time limit", "interrupted"]


@dataclass(frozen=True, eq=False)
class EqualVarianceFit:
    """A DAG fitted under equal noise variances.

    Attributes
    ----------
    order : ndarray of shape (d,)
        Nodes, causes first.
    graph : ndarray of shape (d, d), bool
        Entry [i, j] tells whether there is an edge i -> j.
    weights : ndarray of shape (d, d)
        B: entry [i, j] is the least-squares weight of the edge i -> j, zero where there is none.
    residual_variances : ndarray of shape (d,)
        Variance r_j of each node given its parents, divided by n.
    score : float
        n d log(sum_j r_j / d) + sum_j penalty[number of parents of j]; lower is better.
    ending : {"settled", "unsettled", "time limit", "interrupted"}
        Whether no edge added or dropped along the order, and no edge turned, was found to lower the score any more, or
        why the sweeps ended before.
    """

    order: NDArray[np.intp]
    graph: BoolMatrix
    weights: Matrix
    residual_variances: Vector
    score: float
    ending: Ending


class Screen(NamedTuple):
    """What the regressions on all predecessors say: where the choice of parents starts.

    `causes` are likely parents of `children`, edge by edge, those of one child one after the other; `variances` (d,)
    are the residual variances, a first guess; `precisions` (d,) are 1 / (variance of a node given all others).
    """

    children: NDArray[np.intp]
    causes: NDArray[np.intp]
    variances: Vector
    precisions: Vector


def fit_equal_variances(
    S: Array,
    n: int,
    penalty: ArrayLike,
    allowed: BoolMatrix | None = None,
    required: BoolMatrix | None = None,
    deadline: float = math.inf,
    working: Array | None = None,
) -> EqualVarianceFit:
    """Learn a DAG with equal noise variances from a covariance matrix.

    Parameters
    ----------
    S : array of shape (d, d)
        Covariance divided by n, a NumPy array or a torch tensor.
    n : int
        Number of rows behind S, more than d.
    penalty : array of shape (d,)
        `penalty[k]` is the price of k parents, such as k (log n + 2 log d).
    allowed, required : ndarray of shape (d, d), bool, optional
        `allowed[i, j]`: the edge i -> j may be. `required[i, j]`: it must be.
    deadline : float
        Moment of `time.perf_counter()` after which no further sweep begins.
    working : array of shape (d, d), optional
        S on another device or in another precision: order and screening are computed there, the small regressions
        by numba on the CPU, from S in double precision.

    Raises
    ------
    ValueError
        If n <= d or S is singular, where regressions on all predecessors do not exist (`variance_order` of a
        regularized S and `fit_order` do without), or if required edges have a cycle or are not allowed.

    Examples
    --------
    >>> S = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> fit_equal_variances(S, n=100, penalty=[0, math.log(100)]).weights
    array([[0., 2.],
           [0., 0.]])
    """
    working = S if working is None else working
    xp, d = namespace(working), S.shape[0]
    if n <= d:
        raise ValueError(f"ordering {d} variables by variance needs more than {d} rows; there are {n}")
    before = precedence(d, allowed, required)
    with blas_threads_for(d):
        order, factor = variance_order(working, before)
        W = inverse_factor(factor)
        variances = xp.linalg.diagonal(factor) ** 2
        del factor
        # The t-statistic of a true edge shrinks where other predecessors are correlated with the parent, so
        # the screen is far below the price of an edge, and growing finds what it missed.
        step = float(np.diff(np.asarray(penalty, dtype=float))[0]) if d > 1 else 0.0
        precisions = xp.sum(W * W, axis=0)
        candidates = t_squared(W, n) > max(_LEAST_T_SQUARED, step / 4)
        del W
        order = to_numpy(order)
        children, causes = (order[to_numpy(places)] for places in xp.nonzero(candidates))
        place = np.argsort(order)
        numbers = (to_numpy(x)[place].astype(float) for x in (variances, precisions))
        screen = Screen(children, causes, *numbers)
    return fit_order(S, n, order, penalty, allowed, required, screen, deadline)


def learn_equal_variances(
    S: Matrix,
    n: int,
    penalty: ArrayLike,
    allowed: BoolMatrix | None = None,
    required: BoolMatrix | None = None,
    deadline: float = math.inf,
    working: Array | None = None,
) -> EqualVarianceFit:
    """Learn a DAG with equal noise variances, also where rows are too few for regressions on all predecessors."""
    d = len(S)
    if n > d:
        return fit_equal_variances(S, n, penalty, allowed, required, deadline, working)
    order, _ = robust_variance_order(S, n, precedence(d, allowed, required))
    # Parents are then added one by one.
    return fit_order(S, n, order, penalty, allowed, required, deadline=deadline)


def robust_variance_order(S: Matrix, n: int, before: BoolMatrix | None = None) -> tuple[Array, Array]:
    """Order nodes as `variance_order` does, with a ridge where S is singular because of few rows.

    The ridge is a third of the smallest variance, which is about the common noise variance: enough to rank the nodes.
    """
    ridge = 0.0 if n > len(S) else 0.3 * float(np.diagonal(S).min())
    return variance_order(S + ridge * np.eye(len(S)) if ridge else S, before)


def precedence(d: int, allowed: BoolMatrix | None, required: BoolMatrix | None) -> BoolMatrix | None:
    """Tell which nodes must be placed before which, or None where nothing is known.

    These are the required edges, and the allowed edges from one strongly connected component of the allowed
    graph to another: if i may cause j, but no allowed path leads from j to i, then i comes first, and no
    allowed DAG is lost by that. Tiers are a case of it. A forbidden edge i -> j alone does not place j before
    i, as i may cause j through others; it only bars i from the parents of j.

    Raises
    ------
    ValueError
        If required edges form a cycle or are not allowed.
    """
    if allowed is None and required is None:
        return None
    must = np.zeros((d, d), dtype=bool) if required is None else np.asarray(required, dtype=bool)
    may = np.ones((d, d), dtype=bool) if allowed is None else np.asarray(allowed, dtype=bool)
    if np.any(must & ~may) or not is_dag(must):
        raise ValueError("required edges must be allowed and must not form a cycle")
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    possible = may & ~must.T
    _, component = connected_components(csr_array(possible), directed=True, connection="strong")
    before: BoolMatrix = must | (possible & np.not_equal.outer(component, component))
    return before


def variance_order(S: Array, before: BoolMatrix | None = None) -> tuple[Array, Array]:
    """Order nodes by a Cholesky factorization that pivots on the smallest residual variance.

    Within a panel only the rows of the pivots are brought up to date; after it one matrix product updates the
    nodes not yet placed: (2/3) d^3 flops in all, nearly all of them in matrix products.

    Parameters
    ----------
    S : array of shape (d, d)
        Positive definite covariance. Where it is not (n <= d), regularize it first.
    before : ndarray of shape (d, d), bool, optional
        `before[i, j]`: i must be placed before j; acyclic, see `precedence`.

    Returns
    -------
    order : array of shape (d,), int
        Nodes, causes first.
    factor : array of shape (d, d)
        Upper triangular U with U'U = S[order][:, order]; U[t, t]^2 is the t-th residual variance.

    Raises
    ------
    ValueError
        If S is not finite, or is singular to working precision.

    Examples
    --------
    >>> variance_order(np.array([[5.0, 2.0], [2.0, 1.0]]))[0]
    array([1, 0])
    """
    xp, d = namespace(S), S.shape[0]
    floor = xp.linalg.diagonal(S) * (float(xp.finfo(S.dtype).eps) * d)
    if not bool(xp.all(xp.isfinite(S))) or not bool(xp.all(floor > 0)):
        raise ValueError("the covariance must be finite and its variances positive")
    follows = None if before is None else xp.asarray(before, dtype=S.dtype, device=device(S))
    # `nodes` are those not placed, ascending; T is their covariance given the placed ones.
    nodes, T = xp.arange(d, device=device(S)), S
    panels, pieces = [], []
    while nodes.shape[0]:
        panel, picked, pivots = _factor_panel(T, min(_PANEL, nodes.shape[0]), follows)
        if not bool(xp.all(pivots > xp.take(floor, picked))):
            if S.dtype == xp.float32:
                raise ValueError("the covariance is singular in single precision; use dtype='float64'")
            raise ValueError("the covariance is singular: some variables are linear combinations of others")
        panels.append(panel)
        pieces.append(xp.take(nodes, picked))
        kept = _complement(picked, nodes.shape[0])
        nodes, floor = xp.take(nodes, kept), xp.take(floor, kept)
        if follows is not None:
            follows = xp.take(xp.take(follows, kept, axis=0), kept, axis=1)
        T = xp.take(xp.take(T, kept, axis=0), kept, axis=1)
        tail = xp.take(panel, kept, axis=1)
        T -= tail.T @ tail
    order = xp.concat(pieces)
    factor = xp.zeros((d, d), dtype=S.dtype, device=device(S))
    start = 0
    for panel in panels:
        stop = start + panel.shape[0]
        # The columns of a panel are the nodes left at its time, ascending: rank those as the order does.
        columns = xp.argsort(xp.argsort(order[start:]))
        factor[start:stop, start:] = xp.triu(xp.take(panel, columns, axis=1))
        start = stop
    return order, factor


def _factor_panel(T: Array, size: int, follows: Array | None) -> tuple[Array, Array, Array]:
    """Place up to `size` nodes: rows of the factor, places in T, pivots."""
    if on_accelerator(T):
        return _factor_panel_ahead(T, size, follows)
    xp = namespace(T)
    edges = None if follows is None else to_numpy(follows)
    none = np.zeros(0, dtype=np.intp)
    waiting = None if edges is None else edges.sum(axis=0)
    panel = _pivot(to_numpy(T), size, waiting, edges, none, np.zeros((0, len(T))))
    return tuple(xp.asarray(x) for x in (panel.rows, panel.places, panel.pivots))


def _factor_panel_ahead(T: Array, size: int, follows: Array | None) -> tuple[Array, Array, Array]:
    """Do the same with few operations on T.

    Pivoting step by step on a GPU would spend its time on starting small kernels. So the CPU pivots among a few hundred
    candidates. Then all rows are made by one product, and every other node is checked:
    those whose variance would have been below a pivot's become candidates as well, and the panel is done again from
    there. The order is that of pivoting among all nodes.
    """
    xp = namespace(T)
    variances = xp.linalg.diagonal(T)
    waits_for = None if follows is None else xp.sum(follows, axis=0)
    eligible = variances if waits_for is None else xp.where(waits_for < 0.5, variances, xp.inf)
    # The next nodes are those of the smallest variance, and those that will have one once one of these is placed.
    first = xp.argsort(eligible)[: 2 * size]
    explained = xp.max(xp.take(T, first, axis=0) ** 2 / xp.take(variances, first)[:, None], axis=0)
    candidates = xp.argsort(variances - explained)[: (2 + _MORE_CANDIDATES) * size]
    known = xp.zeros((0, candidates.shape[0]), dtype=T.dtype, device=device(T))
    chosen = np.zeros(0, dtype=np.intp)
    while True:
        block = to_numpy(xp.take(xp.take(T, candidates, axis=0), candidates, axis=1))
        waiting = edges = None
        if follows is not None:
            waiting = to_numpy(xp.take(waits_for, candidates))
            edges = to_numpy(xp.take(xp.take(follows, candidates, axis=0), candidates, axis=1))
        with blas_threads_for(_SMALL):
            found = _pivot(block, size, waiting, edges, chosen, to_numpy(known))
            if found.pivots[-1] > 0:
                inverse = inverse_factor(np.triu(found.rows[:, found.places]))
        picked = xp.take(candidates, xp.asarray(found.places, device=device(T)))
        pivots = xp.asarray(found.pivots, device=device(T))
        if not found.pivots[-1] > 0:
            return xp.zeros_like(T[: picked.shape[0], :]), picked, pivots  # singular: to be refused
        panel = xp.asarray(inverse, device=device(T)) @ xp.take(T, picked, axis=0)
        step, missed = _missed(panel, pivots, picked, candidates, variances, follows, waits_for)
        if not len(missed):
            return panel, picked, pivots
        # What was chosen before the first miss stays.
        candidates = xp.concat([candidates, xp.asarray(missed, device=device(T))])
        chosen, known = found.places[:step], xp.take(panel[:step, :], candidates, axis=1)


class _Panel(NamedTuple):
    """Nodes placed one after the other, their rows of the factor, and the pivots, the last <= 0 where S is singular."""

    places: NDArray[np.intp]
    rows: Matrix
    pivots: Vector


def _pivot(
    block: Matrix, size: int, waiting: Vector | None, follows: Matrix | None, chosen: NDArray[np.intp], known: Matrix
) -> _Panel:
    """Pivot on the smallest variance, on from the nodes chosen, whose rows are known."""
    count, done = len(block), len(chosen)
    rows = np.zeros((min(size, count), count), dtype=block.dtype)
    rows[:done] = known
    places = np.zeros(len(rows), dtype=np.intp)
    places[:done] = chosen
    pivots = np.zeros(len(rows), dtype=block.dtype)
    pivots[:done] = rows[np.arange(done), places[:done]] ** 2
    variances = np.diagonal(block) - (rows[:done] ** 2).sum(axis=0)
    variances[places[:done]] = np.inf
    if waiting is not None and follows is not None:
        waiting = waiting - follows[places[:done]].sum(axis=0)
    for k in range(done, len(rows)):
        j = int(np.argmin(variances if waiting is None else np.where(waiting < 0.5, variances, np.inf)))
        if waiting is not None and (waiting[j] > 0.5 or np.isinf(variances[j])):
            break  # none of the candidates may come next
        row = block[j] - rows[:k, j] @ rows[:k]
        places[k], pivots[k], done = j, row[j], k + 1
        if row[j] <= 0:
            break  # singular
        rows[k] = row / np.sqrt(row[j])
        variances -= rows[k] ** 2
        variances[j] = np.inf
        if waiting is not None and follows is not None:
            waiting = waiting - follows[j]
    return _Panel(places[:done], rows[:done], pivots[:done])


def _missed(
    panel: Array,
    pivots: Array,
    picked: Array,
    candidates: Array,
    variances: Array,
    follows: Array | None,
    waits_for: Array | None,
) -> tuple[int, NDArray[np.intp]]:
    """Nodes, not among the candidates, whose variance given the pivots before was below that of the next pivot.

    Returns the first pivot for which there is one, and the nodes.
    """
    xp = namespace(panel)
    explained = xp.cumulative_sum(panel**2, axis=0, include_initial=True)[:-1, :]
    # Rounding must not send a node back and forth.
    below = variances - explained < pivots[:, None] * (1 - 1e-9)
    if follows is not None:
        placed = xp.cumulative_sum(xp.take(follows, picked, axis=0), axis=0, include_initial=True)[:-1, :]
        below = below & (waits_for - placed < 0.5)
    nodes = to_numpy(xp.nonzero(xp.any(below, axis=0))[0])
    nodes = nodes[~np.isin(nodes, to_numpy(candidates))]
    if not len(nodes):
        return 0, nodes
    steps = xp.any(xp.take(below, xp.asarray(nodes, device=device(panel)), axis=1), axis=1)
    return int(np.argmax(to_numpy(steps))), nodes


def _complement(picked: Array, m: int) -> Array:
    """Numbers 0 .. m - 1 without those picked, ascending."""
    xp = namespace(picked)
    left = np.ones(m, dtype=bool)
    left[to_numpy(picked)] = False
    return xp.asarray(np.nonzero(left)[0], device=device(picked))


def inverse_factor(U: Array) -> Array:
    """Return W = U^-T, lower triangular, of an upper triangular U: by halves, so by matrix products."""
    xp = namespace(U)
    if U.shape[0] <= _SMALL:
        return xp.tril(xp.linalg.inv(U).T)
    half, W = U.shape[0] // 2, xp.zeros_like(U)
    W[:half, :half] = inverse_factor(U[:half, :half])
    W[half:, half:] = inverse_factor(U[half:, half:])
    W[half:, :half] = -(W[half:, half:] @ U[:half, half:].T) @ W[:half, :half]
    return W


def t_squared(W: Array, n: int) -> Array:
    """Squared t-statistics of the regressions of every node on all its predecessors, in O(d^2).

    W is the `inverse_factor`. Its first t rows give the inverse covariance of the first t nodes, W' W, and
    row t is (-b, 1) / sqrt(D_t) with the coefficients b of node t on them and its residual variance D_t.
    Hence, with n - 1 - t degrees of freedom,

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
        # Exactly where p >= t nothing has been summed yet.
        t2[start:stop, :] *= freedom[:, None] / xp.where(sums[:-1, :] > 0, sums[:-1, :], xp.inf)
        above = sums[-1:, :]
    return t2


def fit_order(
    S: Array,
    n: int,
    order: Array,
    penalty: ArrayLike,
    allowed: BoolMatrix | None = None,
    required: BoolMatrix | None = None,
    screen: Screen | None = None,
    deadline: float = math.inf,
) -> EqualVarianceFit:
    """Choose parents along an order, fit their weights by least squares, and improve the order.

    The score is n d log R + sum_j penalty[k_j], where R is the sum of the residual variances r_j. Dropping an
    edge raises one r_j by delta, hence the score by

        n d log(1 + delta / R) - (penalty[k] - penalty[k-1]):

    to first order n delta / s2 with the common variance s2 = R / d, a squared t-statistic, against the price.
    Nodes see each other through R alone, so a sweep treats them in parallel at the R it began with, until
    nothing changes: edges dropped (or added) together lower the score at least by the sum of what each does
    alone. Then nodes move in the order where turning an edge lowers the score.

    Parameters
    ----------
    S, n, penalty, allowed, required
        As for `fit_equal_variances`; S may be singular here.
    order : array of shape (d,), int
        Nodes, causes first.
    screen : Screen, optional
        Where to start; by default from no edges: a forward selection, which works where n <= d too.
    deadline : float
        Moment of `time.perf_counter()` after which no further sweep begins.
    """
    from golem.solvers import variance_kernels as kernels  # brings numba

    d = S.shape[0]
    C = np.ascontiguousarray(to_numpy(S), dtype=np.float64)
    order = np.array(to_numpy(order), dtype=np.intp)
    place = np.argsort(order)
    may, must = (_by_child(mask) for mask in (allowed, required))
    if len(must) and np.any(must & (place[None, :] > place[:, None])):
        raise ValueError("the order places a required edge backwards")
    # Under equal variances the column of smallest variance is a node without parents.
    residuals, precisions = np.full(d, np.diagonal(C).min()), np.full(d, np.inf)
    parents, number = np.zeros((d, _ROOM), dtype=np.int64), np.zeros(d, dtype=np.int64)
    if screen is not None:
        parents, number = _lists(screen.children, screen.causes, d)
        residuals, precisions = screen.variances.copy(), screen.precisions
    price = np.asarray(penalty, dtype=float)
    steps = np.full(d + 1, np.inf)
    # Regressions on more than n / 2 parents say nothing any more. Where the price falls with k, as the EBIC's
    # does near k = d, an edge is free.
    most = min(d - 1, n // 2)
    steps[1 : most + 1] = np.maximum(np.diff(price)[:most], 0)
    with np.errstate(over="ignore"):
        bounds = np.expm1(steps / (n * d)), -np.expm1(-steps / (n * d))
    weights = np.zeros(parents.shape)
    stands = np.full(d, np.inf), np.full(d, -np.inf)
    nodes = C, np.diagonal(C).copy(), place
    choice = kernels.Choice(*nodes, parents, number, weights, residuals, may, must, precisions, *bounds, *stands)
    workers = available_cores() if d >= _THREADS_PAY_FROM else 1
    wanting = np.zeros(d, dtype=bool)
    ending: Ending = "unsettled"
    with ThreadPoolExecutor(workers) as pool, contextlib.suppress(KeyboardInterrupt):

        def share(of: NDArray[np.intp]) -> list[NDArray[np.intp]]:
            # Late nodes have more predecessors: deal them out in turn.
            return [of[k::workers].copy() for k in range(workers)]

        ending = "interrupted"  # unless the sweeps come to another end
        for sweep in range(_MOST_SWEEPS):
            if sweep and time.perf_counter() >= deadline:
                ending = "time limit"
                break
            total = residuals.sum()
            active = order[((total < stands[0]) | (total > stands[1]))[order]]
            if len(active):
                jobs = [pool.submit(kernels.select_parents, choice, some, total) for some in share(active)]
                choice = _with_room(choice, max(job.result() for job in jobs))
                continue
            last = _last_parents(choice)
            searches = [
                pool.submit(kernels.find_wanting, choice, order, last, some, total, wanting) for some in share(order)
            ]
            for search in searches:
                search.result()
            if kernels.turn_edges(choice, order, price, float(n * d), last, wanting) == 0:
                ending = "settled"
                break
        else:
            ending = "unsettled"
    graph, B = _matrices(choice)
    score = n * d * math.log(residuals.mean()) + float(price[number].sum())
    return EqualVarianceFit(order, graph.T, B.T, residuals, score, ending)


def _by_child(mask: BoolMatrix | None) -> BoolMatrix:
    """Return the mask with the parents of a node in its row; without rows where there is no mask."""
    return np.zeros((0, 0), dtype=bool) if mask is None else np.array(np.transpose(mask), dtype=bool, order="C")


def _lists(children: NDArray[np.intp], causes: NDArray[np.intp], d: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the causes of each node in its row, and their number; edges into a child follow each other."""
    number = np.bincount(children, minlength=d)
    begins = np.nonzero(np.diff(children, prepend=-1))[0]
    slots = np.arange(len(children)) - np.repeat(begins, number[children[begins]])
    parents = np.zeros((d, int(number.max(initial=0)) + _ROOM), dtype=np.int64)
    parents[children, slots] = causes
    return parents, number.astype(np.int64)


def _with_room(choice: kernels.Choice, most: int) -> kernels.Choice:
    """Return a choice with room for the most parents of a node, and for what turning an edge can add."""
    room = choice.parents.shape[1]
    if 2 * most <= room:
        return choice
    more = ((0, 0), (0, 2 * most + _ROOM - room))
    return choice._replace(parents=np.pad(choice.parents, more), weights=np.pad(choice.weights, more))


def _last_parents(choice: kernels.Choice) -> NDArray[np.int64]:
    """Return the place of the last parent of every node, -1 where it has none."""
    filled = np.arange(choice.parents.shape[1]) < choice.number[:, None]
    last: NDArray[np.int64] = np.where(filled, choice.place[choice.parents], -1).max(axis=1)
    return last


def _matrices(choice: kernels.Choice) -> tuple[BoolMatrix, Matrix]:
    """Edges and weights as (d, d) matrices, the parents of a node in its row."""
    d, number = len(choice.S), choice.number
    children = np.repeat(np.arange(d), number)
    filled = np.arange(choice.parents.shape[1]) < number[:, None]
    causes = choice.parents[filled]
    graph, B = np.zeros((d, d), dtype=bool), np.zeros((d, d))
    graph[children, causes] = True
    B[children, causes] = choice.weights[filled]
    return graph, B
