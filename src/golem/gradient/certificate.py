"""Find a stationary point of the paper's score near a start, and measure its optimality conditions.

Near a minimum the score changes by less than its rounding error, so that line searches fail, but its gradient is still
accurate. On the nonzero entries the penalty is smooth. There Newton's equations are solved by conjugate gradients, with
Hessian products from differences of gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from golem.gradient.lbfgs import LBFGS
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.objective import Objective

_MOST_DESCENTS = 4
_MOST_NEWTON_STEPS = 30
_MOST_HALVINGS = 12
_DIFFERENCE = 1e-6


@dataclass(frozen=True, eq=False)
class Certificate:
    """A stationary point of the paper's l1 score: `weights` of shape (d, d), with S(B) there and at the start.

    `stationarity` is the largest violation of the optimality (KKT) conditions at `weights`.
    """

    weights: Matrix
    score: float
    stationarity: float
    start_score: float


def certify_objective(objective: Objective, start: Matrix, tolerance: float = 1e-6) -> Certificate:
    """Descend from a start to a stationary point by L-BFGS and Newton's method in turns."""
    B = start
    for _ in range(_MOST_DESCENTS):
        solution = LBFGS(tolerance=tolerance).solve(objective, B)
        B, residual = solution.weights, solution.stationarity
        for _ in range(_MOST_NEWTON_STEPS):
            if residual <= tolerance:
                break
            improved = _newton_step(objective, B, residual)
            if improved is None:  # the set of nonzero entries is not final yet
                break
            B, residual = improved
        if residual <= tolerance:
            break
    start_score, score = (float(objective.value_and_grad(W)[0]) for W in (start * objective.free, B))
    return Certificate(B, score, residual, start_score)


def _newton_step(objective: Objective, B: Matrix, residual: float) -> tuple[Matrix, float] | None:
    """Take a Newton step on the nonzero and entering entries; return None if no step length helps."""
    from scipy.sparse.linalg import LinearOperator, cg

    grad, penalties = _gradient(objective, B), np.asarray(objective.l1_weights)
    entering = (B == 0) & (np.abs(grad) > penalties) & (np.asarray(objective.free) != 0)
    active = (B != 0) | entering
    sign = np.where(B != 0, np.sign(B), -np.sign(grad))
    F = (grad + penalties * sign)[active]

    def hessian_times(v: Vector) -> Vector:
        size = np.abs(v).max()
        if size == 0:
            return np.zeros_like(v)
        V = np.zeros_like(B)
        V[active] = v * (_DIFFERENCE / size)
        difference = _gradient(objective, B + V) - _gradient(objective, B - V)
        return np.asarray(difference[active] * (size / (2 * _DIFFERENCE)))

    k = len(F)
    regressions = _column_solver(np.asarray(objective.S), active)
    preconditioner = LinearOperator((k, k), matvec=lambda v: regressions(np.ravel(v)))
    step, _ = cg(LinearOperator((k, k), matvec=hessian_times), -F, rtol=1e-4, maxiter=500, M=preconditioner)
    length = 1.0
    for _ in range(_MOST_HALVINGS):
        trial = B.copy()
        trial[active] += length * step
        # An entry that would change its sign stops at zero, where the penalty has a kink.
        trial[active & (np.sign(trial) * sign < 0)] = 0.0
        stationarity = float(objective.stationarity(trial, _gradient(objective, trial)))
        if stationarity < residual:
            return trial, stationarity
        length /= 2
    return None


def _column_solver(S: Matrix, active: BoolMatrix) -> Callable[[Vector], Vector]:
    """Return a preconditioner: solve with the main part of the Hessian, one block of S per column."""
    from scipy.linalg import cho_factor, cho_solve

    where = [np.nonzero(column)[0] for column in active.T]
    factors = [cho_factor(S[np.ix_(rows, rows)]) if len(rows) else None for rows in where]

    def solve(v: Vector) -> Vector:
        V = np.zeros_like(S)
        V[active] = v
        for j, (rows, factor) in enumerate(zip(where, factors, strict=True)):
            if factor is not None:
                V[rows, j] = cho_solve(factor, V[rows, j])
        return np.asarray(V[active])

    return solve


def _gradient(objective: Objective, B: Matrix) -> Matrix:
    return np.asarray(objective.smooth_value_and_grad(B)[1])
