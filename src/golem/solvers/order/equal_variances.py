"""Equal noise variances, second part: the parents along the order, by counting edges.

The regressions of every node on all its predecessors screen the edges; what remains is one small regression a node. No
threshold is put on weights.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.runtime.arrays import namespace, to_numpy
from golem.runtime.devices import Placement
from golem.runtime.machine import available_cores
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Array, BoolMatrix, Matrix, Vector
from golem.score.regression import regress_lists
from golem.solvers.order.found_graph import FoundGraph
from golem.solvers.order.free_order import OrderProblem
from golem.solvers.order.variance_order import (
    inverse_factor,
    precedence,
    robust_variance_order,
    t_squared,
    variance_order,
)
from golem.solvers.solution import Status

if TYPE_CHECKING:
    from golem.solvers.order import variance_kernels as kernels

# Below this there is hardly a hint of an edge.
_LEAST_T_SQUARED = 4.0
_MOST_SWEEPS = 100
# Room for parents that a node may get beyond those it has.
_ROOM = 16
# From this many nodes on, threads share the regressions.
_THREADS_PAY_FROM = 300


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
) -> FoundGraph:
    """Learn a DAG with equal noise variances from a covariance matrix.

    Parameters
    ----------
    S : array of shape (d, d)
        Covariance divided by n, a NumPy array or a torch tensor.
    n : int
        Number of rows behind S, more than d.
    penalty : array of shape (d,)
        `penalty[k]` is the penalty of k parents, such as k (log n + 2 log d).
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
        If S is singular, as it is from d rows or fewer: regressions on all predecessors do not exist then
        (`learn_equal_variances` does without); or if required edges have a cycle or are not allowed.

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
        # The t-statistic of a true edge shrinks where other predecessors are correlated with the parent, so
        # the screen is far below the penalty per edge, and growing finds what it missed. The second bound lets a few
        # false candidates a node pass, whatever the number of nodes.
        step = float(np.diff(np.asarray(penalty, dtype=float))[0]) if d > 1 else 0.0
        precisions = xp.sum(W * W, axis=0)
        candidates = t_squared(W, n) > max(_LEAST_T_SQUARED, step / 4, 2 * math.log(d) - 6)
        del W
        order = to_numpy(order)
        children, causes = (order[to_numpy(places)] for places in xp.nonzero(candidates))
        place = np.argsort(order)
        numbers = (to_numpy(x)[place].astype(float) for x in (variances, precisions))
        screen = Screen(children, causes, *numbers)
    return fit_order(S, n, order, penalty, allowed, required, screen, deadline)


def learn_equal_variances(
    problem: OrderProblem,
    deadline: float,
    init: NDArray[np.intp] | None = None,
    placement: Placement | None = None,
) -> FoundGraph:
    """Learn a DAG with equal noise variances from any number of rows, or improve a given order."""
    S, n, d = problem.moments.covariance, problem.moments.n, problem.moments.d
    if init is None and n > d:
        working = None if placement is None else placement.put(S)
        return fit_equal_variances(S, n, problem.penalties, *problem.masks, deadline, working)
    # Few rows allow no regressions on all predecessors: parents are added one by one.
    order = robust_variance_order(S, n, precedence(d, *problem.masks))[0] if init is None else init
    return fit_order(S, n, order, problem.penalties, *problem.masks, deadline=deadline)


def fit_order(
    S: Array,
    n: int,
    order: Array,
    penalty: ArrayLike,
    allowed: BoolMatrix | None = None,
    required: BoolMatrix | None = None,
    screen: Screen | None = None,
    deadline: float = math.inf,
) -> FoundGraph:
    """Choose parents along an order, fit their weights by least squares, and improve the order.

    The score is n d log R + sum_j penalty[k_j], where R is the sum of the residual variances r_j. Dropping an
    edge raises one r_j by delta, hence the score by

        n d log(1 + delta / R) - (penalty[k] - penalty[k-1]):

    to first order n delta / s2 with the common variance s2 = R / d, a squared t-statistic, against the penalty.
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
    C = np.ascontiguousarray(to_numpy(S), dtype=np.float64)
    order, penalties = np.array(to_numpy(order), dtype=np.intp), np.asarray(penalty, dtype=float)
    choice = _start(C, n, order, penalties, allowed, required, screen)
    choice, status = _sweep(choice, order, penalties, n, deadline)
    # Adding and dropping parents has cost the kernels' weights some digits.
    fit = regress_lists(choice.parents, choice.number, C)
    score = len(C) * n * math.log(fit.residual_variances.mean()) + float(penalties[choice.number].sum())
    return FoundGraph(order, fit, score, status)


def _start(
    C: Matrix,
    n: int,
    order: NDArray[np.intp],
    penalties: Vector,
    allowed: BoolMatrix | None,
    required: BoolMatrix | None,
    screen: Screen | None,
) -> kernels.Choice:
    """Return the problem in the form that the kernels take, with the parents to start from."""
    from golem.solvers.order import variance_kernels as kernels  # brings numba

    d, place = len(C), np.argsort(order)
    may, must = (_by_child(mask) for mask in (allowed, required))
    if len(must) and np.any(must & (place[None, :] > place[:, None])):
        raise ValueError("the order places a required edge backwards")
    # Under equal variances the column of smallest variance is a node without parents.
    residuals, precisions = np.full(d, np.diagonal(C).min()), np.full(d, np.inf)
    parents, number = np.zeros((d, _ROOM), dtype=np.int64), np.zeros(d, dtype=np.int64)
    if screen is not None:
        parents, number = _lists(screen.children, screen.causes, d)
        residuals, precisions = screen.variances.copy(), screen.precisions
    steps = np.full(d + 1, np.inf)
    # Regressions on more than n / 2 parents say nothing any more. Where the penalty falls with k, as the EBIC's
    # does near k = d, an edge is free.
    most = min(d - 1, n // 2)
    steps[1 : most + 1] = np.maximum(np.diff(penalties)[:most], 0)
    with np.errstate(over="ignore"):
        bounds = np.expm1(steps / (n * d)), -np.expm1(-steps / (n * d))
    weights = np.zeros(parents.shape)
    stands = np.full(d, np.inf), np.full(d, -np.inf)
    nodes = C, np.diagonal(C).copy(), place
    return kernels.Choice(*nodes, parents, number, weights, residuals, may, must, precisions, *bounds, *stands)


def _sweep(
    choice: kernels.Choice, order: NDArray[np.intp], penalties: Vector, n: int, deadline: float
) -> tuple[kernels.Choice, Status]:
    """Improve the parents and, in place, the order until nothing changes any more."""
    from golem.solvers.order import variance_kernels as kernels

    d = len(order)
    workers = available_cores() if d >= _THREADS_PAY_FROM else 1
    wanting = np.zeros(d, dtype=bool)

    def share(of: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        # Late nodes have more predecessors: deal them out in turn.
        return [of[k::workers].copy() for k in range(workers)]

    with ThreadPoolExecutor(workers) as pool:
        # To start a thread takes longer than a sweep over few nodes.
        each: Any = pool.map if workers > 1 else map
        try:
            for sweep in range(_MOST_SWEEPS):
                if sweep and time.perf_counter() >= deadline:
                    return choice, Status.TIME_LIMIT
                total = choice.residuals.sum()
                active = order[((total < choice.stands_from) | (total > choice.stands_to))[order]]
                if len(active):
                    found = each(kernels.select_parents, repeat(choice), share(active), repeat(total))
                    choice = _with_room(choice, max(found))
                    continue
                last = _last_parents(choice)
                known = repeat(choice), repeat(order), repeat(last)
                list(each(kernels.find_wanting, *known, share(order), repeat(total), repeat(wanting)))
                if kernels.turn_edges(choice, order, penalties, float(n * d), last, wanting) == 0:
                    return choice, Status.SEARCHED
        except KeyboardInterrupt:
            return choice, Status.INTERRUPTED
    return choice, Status.STALLED


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
