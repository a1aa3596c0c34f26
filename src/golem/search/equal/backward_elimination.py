"""Equal noise variances if columns are nearly collinear: choose parents by dropping predecessors one by one.

The kernels add parents, for which they need variances given the present parents. These are small differences of large
numbers if a column nearly is a linear combination of others. Dropping a parent needs only the inverse covariance H of
the present parents and the weights b of their child:

    the loss of parent i is  b_i^2 / H_ii;    without it, b and H are  b - b_i H_i / H_ii  and  H - H_i H_i' / H_ii.

H and b have the size of the noise, however large the variances of the columns are, and those of all predecessors follow
from the inverse factor that the order needs anyway.
"""

from __future__ import annotations

import math
import time

import numpy as np

from golem.runtime.types import BoolMatrix, BoolVector, Indices, Matrix, Vector
from golem.score.regression import Regressions
from golem.score.solution import Status
from golem.search.order_problem import FittedGraph

_MOST_SWEEPS = 100
# With more predecessors, those with a small loss are dropped together.
_SCREENED_FROM = 300


class _Node:
    """A node with its present parents, all given by their places in the order."""

    def __init__(self, W: Matrix, t: int, forbidden: BoolVector, required: BoolVector) -> None:
        self.parents = np.arange(t)
        self.fixed = required
        self.H = W[:t, :t].T @ W[:t, :t]
        self.b = -W[t, :t] / W[t, t]
        self.variance = float(W[t, t] ** -2.0)
        self._drop(forbidden)

    def screen(self, bound: float) -> None:
        """Drop all parents at once whose loss is below a bound, if there are so many that one by one takes long."""
        if len(self.parents) > _SCREENED_FROM:
            self._drop(self._losses() < bound)

    def shrink(self, total: float, drop_below: Vector) -> bool:
        """Drop parents as long as the loss is below its bound, a share of the total variance; tell whether any was."""
        before = len(self.parents)
        while len(self.parents):
            losses = self._losses()
            weakest = np.argmin(losses)
            if losses[weakest] >= total * drop_below[len(self.parents)]:
                break
            self._drop(np.arange(len(losses)) == weakest)
        return len(self.parents) < before

    def _losses(self) -> Vector:
        """Return the increase of the residual variance without each parent; infinite for required ones."""
        return np.where(self.fixed, np.inf, self.b**2 / np.diagonal(self.H))

    def _drop(self, out: BoolVector) -> None:
        kept = ~out
        if kept.all():
            return
        # For several parents at once, H_ii is a block.
        rows = np.linalg.solve(self.H[np.ix_(out, out)], np.column_stack([self.H[out], self.b[out]]))
        self.variance += float(self.b[out] @ rows[:, -1])
        self.b = (self.b - self.H[:, out] @ rows[:, -1])[kept]
        self.H = self.H[np.ix_(kept, kept)] - self.H[np.ix_(kept, out)] @ rows[:, :-1][:, kept]
        self.parents, self.fixed = self.parents[kept], self.fixed[kept]


def eliminate_parents(
    W: Matrix,
    order: Indices,
    n: int,
    penalties: Vector,
    allowed: BoolMatrix | None,
    required: BoolMatrix | None,
    deadline: float,
) -> FittedGraph:
    """Choose the parents of all nodes along an order, from all predecessors.

    Parameters
    ----------
    W : ndarray of shape (d, d)
        The inverse factor of the covariance in this order (see `variance_order.inverse_factor`).
    order : ndarray of shape (d,)
        Nodes, causes first.
    n, penalties, allowed, required, deadline
        As for `golem.search.equal.equal_variances.fit_equal_variances`.
    """
    d = len(order)
    steps = np.maximum(np.diff(penalties), 0)
    steps[n // 2 :] = np.inf  # regressions on more than n / 2 parents are not informative
    drop_below = np.append(0.0, np.expm1(np.minimum(steps / (n * d), 700)))
    none = np.zeros((d, d), dtype=bool)
    forbidden, fixed = none if allowed is None else ~allowed, none if required is None else required
    nodes = [_Node(W, t, forbidden[order[:t], j], fixed[order[:t], j]) for t, j in enumerate(order)]
    bound = sum(node.variance for node in nodes) * drop_below[1] / 4
    for node in nodes:
        node.screen(bound)
    status = _shrink_all(nodes, drop_below, deadline)
    number = np.array([len(node.parents) for node in nodes])
    places, variances = np.repeat(np.arange(d), number), np.array([node.variance for node in nodes])
    causes, weights = (np.concatenate([getattr(node, name) for node in nodes]) for name in ("parents", "b"))
    fit = Regressions(places, causes, weights, variances).renumbered(order)
    score = d * n * math.log(variances.mean()) + float(penalties[number].sum())
    return FittedGraph(order, fit, score, status)


def _shrink_all(nodes: list[_Node], drop_below: Vector, deadline: float) -> Status:
    """Drop parents until nothing changes."""
    try:
        for _ in range(_MOST_SWEEPS):
            total = sum(node.variance for node in nodes)
            # All nodes are treated with the same total, so that their order does not matter.
            changed = [node.shrink(total, drop_below) for node in nodes]
            if not any(changed):
                return Status.SEARCHED
            if time.perf_counter() >= deadline:
                return Status.TIME_LIMIT
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    return Status.STALLED
