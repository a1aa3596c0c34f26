"""Equal noise variances, second part: choose parents along an order, with a penalty per edge.

The regressions of all nodes on all their predecessors screen the edges. Then one small regression per node remains.
"""

from __future__ import annotations

import dataclasses
import math
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.data.checks import most_parents
from golem.data.collinearity import LARGEST_SHARE, rounding_share
from golem.runtime.arrays import namespace, to_numpy
from golem.runtime.devices import Placement
from golem.runtime.machine import available_cores
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Array, BoolMatrix, Matrix, Vector
from golem.score.regression import regress_lists
from golem.score.solution import Status
from golem.search.equal.backward_elimination import eliminate_parents
from golem.search.equal.variance_order import (
    inverse_factor,
    precedence,
    robust_variance_order,
    singular,
    t_squared,
    variance_order,
)
from golem.search.order_problem import FittedGraph, OrderProblem

if TYPE_CHECKING:
    from golem.search.equal import variance_kernels as kernels

# Candidates for edges have larger squared t-statistics.
_LEAST_T_SQUARED = 4.0
_MOST_SWEEPS = 100
# With a larger `rounding_share`, rounding errors of the kernels decide about edges (measured).
_ACCURATE_KERNELS = 1e-6
# Free slots for further parents of a node.
_ROOM = 16
# From this many nodes on, threads share the regressions.
_THREADS_PAY_FROM = 300


class ScreenedEdges(NamedTuple):
    """Results of the regressions on all predecessors, from which the choice of parents starts.

    Candidate edge e leads from `causes[e]` to `children[e]`; edges are grouped by child. `variances` (d,) are the
    residual variances, and `precisions` (d,) are 1 / (variance of a node given all others).
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
) -> FittedGraph:
    """Learn a DAG with equal noise variances from the covariance S of more than d rows.

    Parameters
    ----------
    S, n, penalty, allowed, required
        As for `golem.search.solver.Order.solve`; `penalty` is that of nodes with 0, 1, ..., d - 1 parents. S may be a
        torch tensor.
    deadline : float
        Time of `time.perf_counter()` after which no further sweep begins.
    working : array of shape (d, d), optional
        S on another device or in another precision, for the order and the screening. The small regressions always run
        on the CPU in double precision.

    Raises
    ------
    ValueError
        If S is singular, as with d rows or fewer (use `learn_equal_variances`), or if required edges form a cycle or
        are forbidden.

    Examples
    --------
    >>> S = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> fit_equal_variances(S, n=100, penalty=[0, math.log(100)]).weights
    array([[0., 2.],
           [0., 0.]])
    """
    working = S if working is None else working
    xp, d = namespace(working), S.shape[0]
    before = precedence(d, allowed, required)
    with blas_threads_for(d):
        order, factor = variance_order(working, before)
        W = inverse_factor(factor)
        variances = xp.linalg.diagonal(factor) ** 2
        del factor
        # The t-statistic of a true edge shrinks if other predecessors are correlated with the parent. So the screen is
        # far below the penalty per edge, and parents are added later if it missed them. The last bound admits a few
        # false candidates per node, whatever the number of nodes.
        step = float(np.diff(np.asarray(penalty, dtype=float))[0]) if d > 1 else 0.0
        precisions = xp.sum(W * W, axis=0)
        rounding = rounding_share(W, xp.take(xp.sqrt(xp.linalg.diagonal(working)), order))
        if not rounding < LARGEST_SHARE:
            raise singular(working)
        if rounding > _ACCURATE_KERNELS:
            found = eliminate_parents(
                np.asarray(to_numpy(W), dtype=float),
                to_numpy(order),
                n,
                np.asarray(penalty),
                allowed,
                required,
                deadline,
            )
            return dataclasses.replace(found, rounding=rounding)
        candidates = t_squared(W, n) > max(_LEAST_T_SQUARED, step / 4, 2 * math.log(d) - 6)
        del W
        order = to_numpy(order)
        children, causes = (order[to_numpy(places)] for places in xp.nonzero(candidates))
        place = np.argsort(order)
        numbers = (to_numpy(x)[place].astype(float) for x in (variances, precisions))
        screen = ScreenedEdges(children, causes, *numbers)
    found = fit_order(S, n, order, penalty, allowed, required, screen, deadline)
    return dataclasses.replace(found, rounding=rounding)


def learn_equal_variances(
    problem: OrderProblem, deadline: float, init: NDArray[np.intp] | None = None, placement: Placement | None = None
) -> FittedGraph:
    """Learn a DAG with equal noise variances from any number of rows, or improve a given order."""
    S, n, d = problem.moments.covariance, problem.moments.n, problem.moments.d
    if init is None and n > d:
        working = None if placement is None else placement.put(S)
        return fit_equal_variances(S, n, problem.penalties, *problem.masks, deadline, working)
    # With few rows there are no regressions on all predecessors. Parents are added one by one instead.
    order = robust_variance_order(S, n, precedence(d, *problem.masks))[0] if init is None else init
    return fit_order(S, n, order, problem.penalties, *problem.masks, deadline=deadline)


def fit_order(
    S: Array,
    n: int,
    order: Array,
    penalty: ArrayLike,
    allowed: BoolMatrix | None = None,
    required: BoolMatrix | None = None,
    screen: ScreenedEdges | None = None,
    deadline: float = math.inf,
) -> FittedGraph:
    """Choose parents along an order, fit their weights by least squares, and improve the order.

    The score is n d log R + sum_j penalty[k_j], where R is the sum of the residual variances r_j. Dropping an edge
    raises one r_j by delta, and so changes the score by

        n d log(1 + delta / R) - (penalty[k] - penalty[k-1]).

    To first order, with the common variance s2 = R / d, this compares a squared t-statistic n delta / s2 with the
    penalty. Nodes influence each other only through R. So each sweep treats all nodes in parallel with the R of its
    start: edges dropped or added together lower the score at least by the sum of their separate effects. When a
    sweep changes nothing, nodes move in the order if reversing an edge lowers the score.

    S may be singular. `order` (d,) lists the nodes, causes first. Without a screen, the choice starts from no edges.
    """
    C = np.ascontiguousarray(to_numpy(S), dtype=np.float64)
    order, penalties = np.array(to_numpy(order), dtype=np.intp), np.asarray(penalty, dtype=float)
    choice = _start(C, n, order, penalties, allowed, required, screen)
    choice, status = _sweep(choice, order, penalties, n, deadline)
    # The kernels' weights have lost digits while parents were added and dropped.
    fit = regress_lists(choice.parents, choice.number, C)
    score = len(C) * n * math.log(fit.residual_variances.mean()) + float(penalties[choice.number].sum())
    return FittedGraph(order, fit, score, status)


def _start(
    C: Matrix,
    n: int,
    order: NDArray[np.intp],
    penalties: Vector,
    allowed: BoolMatrix | None,
    required: BoolMatrix | None,
    screen: ScreenedEdges | None,
) -> kernels.Choice:
    """Return the problem in the form that the kernels use, with the initial parents."""
    from golem.search.equal import variance_kernels as kernels  # imports numba

    d, place = len(C), np.argsort(order)
    may, must = (_by_child(mask) for mask in (allowed, required))
    if len(must) and np.any(must & (place[None, :] > place[:, None])):
        raise ValueError("The order reverses a required edge: it lists an effect before its cause.")
    residuals, precisions = np.diagonal(C).copy(), np.full(d, np.inf)
    parents, number = np.zeros((d, _ROOM), dtype=np.int64), np.zeros(d, dtype=np.int64)
    if screen is not None:
        parents, number = _lists(screen.children, screen.causes, d)
        residuals, precisions = screen.variances.copy(), screen.precisions
    steps = np.full(d + 1, np.inf)
    # Where the penalty falls with k, as that of EBIC does near k = d, an edge is free.
    most = min(d - 1, most_parents(n))
    steps[1 : most + 1] = np.maximum(np.diff(penalties)[:most], 0)
    with np.errstate(over="ignore"):
        bounds = np.expm1(steps / (n * d)), -np.expm1(-steps / (n * d))
    weights = np.zeros(parents.shape)
    stable = np.full(d, np.inf), np.full(d, -np.inf)
    nodes = C, np.diagonal(C).copy(), place
    return kernels.Choice(*nodes, parents, number, weights, residuals, may, must, precisions, *bounds, *stable)


def _sweep(
    choice: kernels.Choice, order: NDArray[np.intp], penalties: Vector, n: int, deadline: float
) -> tuple[kernels.Choice, Status]:
    """Improve the parents, and the order in place, until nothing changes."""
    from golem.search.equal import reversal_kernels
    from golem.search.equal import variance_kernels as kernels

    d = len(order)
    workers = available_cores() if d >= _THREADS_PAY_FROM else 1
    improvable = np.zeros(d, dtype=bool)

    def share(of: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        # Late nodes have more predecessors, so that each worker gets every k-th node.
        return [of[k::workers].copy() for k in range(workers)]

    with ThreadPoolExecutor(workers) as pool:
        # Starting a thread takes longer than a sweep over few nodes.
        each: Any = pool.map if workers > 1 else map
        try:
            for sweep in range(_MOST_SWEEPS):
                if sweep and time.perf_counter() >= deadline:
                    return choice, Status.TIME_LIMIT
                total = choice.residuals.sum()
                active = order[((total < choice.stable_from) | (total > choice.stable_to))[order]]
                if len(active):
                    found = each(kernels.select_parents, repeat(choice), share(active), repeat(total))
                    choice = _with_room(choice, max(found))
                    continue
                last = _last_parents(choice)
                known = repeat(choice), repeat(order), repeat(last)
                list(each(reversal_kernels.find_improvable, *known, share(order), repeat(total), repeat(improvable)))
                if reversal_kernels.reverse_edges(choice, order, penalties, float(n * d), last, improvable) == 0:
                    return choice, Status.SEARCHED
        except KeyboardInterrupt:
            return choice, Status.INTERRUPTED
    return choice, Status.STALLED


def _by_child(mask: BoolMatrix | None) -> BoolMatrix:
    """Return the mask indexed [child, parent], of shape (0, 0) if there is no mask."""
    return np.zeros((0, 0), dtype=bool) if mask is None else np.array(np.transpose(mask), dtype=bool, order="C")


def _lists(children: NDArray[np.intp], causes: NDArray[np.intp], d: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the causes of each node in its row, and their number, from edges grouped by child."""
    number = np.bincount(children, minlength=d)
    begins = np.nonzero(np.diff(children, prepend=-1))[0]
    slots = np.arange(len(children)) - np.repeat(begins, number[children[begins]])
    parents = np.zeros((d, int(number.max(initial=0)) + _ROOM), dtype=np.int64)
    parents[children, slots] = causes
    return parents, number.astype(np.int64)


def _with_room(choice: kernels.Choice, most: int) -> kernels.Choice:
    """Return a choice with room for twice the largest number of parents, as reversing an edge can add some."""
    room = choice.parents.shape[1]
    if 2 * most <= room:
        return choice
    more = ((0, 0), (0, 2 * most + _ROOM - room))
    return choice._replace(parents=np.pad(choice.parents, more), weights=np.pad(choice.weights, more))


def _last_parents(choice: kernels.Choice) -> NDArray[np.int64]:
    """Return the position of the last parent of every node, or -1."""
    filled = np.arange(choice.parents.shape[1]) < choice.number[:, None]
    last: NDArray[np.int64] = np.where(filled, choice.place[choice.parents], -1).max(axis=1)
    return last
