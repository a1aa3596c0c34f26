"""Acyclicity as a hard constraint: the augmented Lagrangian of NOTEARS (Zheng et al. 2018)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from golem.gradient.lbfgs import LBFGS
from golem.runtime.arrays import transpose
from golem.runtime.expm import expm_nonnegative
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Array, Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.objective import Objective
from golem.score.solution import Callback, Recorder, Solution, Status

# Iterations after which the scales are recomputed from the curvature.
_LEG = 200


@dataclass(frozen=True)
class AugmentedLagrangian:
    """Minimize L(B) + R_sparse(B) subject to h(B) = 0 by a sequence of unconstrained problems.

    Each minimizes L + R_sparse + alpha h + rho/2 h^2, starting at the previous solution. If h fell to a quarter or
    less, the multiplier alpha grows by rho h. Otherwise rho grows tenfold.

    The curvatures come to differ by many orders of magnitude: for an entry that would close a cycle, the constraint
    adds 2 (alpha + rho h) exp(B*B)_ji. Scaling the variables by the square roots of the curvatures saves most
    iterations.

    Parameters
    ----------
    tolerance : float
        Stop when h is at most this.
    largest_rho : float
        Stop when rho reaches this.
    max_iter : int
        Largest number of L-BFGS iterations, over all problems.
    time_limit : float, optional
        Seconds after which the current weights are returned.
    inner : LBFGS
        Solver of the unconstrained problems. Only its tolerances and its memory are used.

    Examples
    --------
    >>> from golem.baselines import Notears
    >>> from golem.simulate import simulate
    >>> model = Notears(l1=0.1).fit(simulate(4, 300, "ER1", random_state=0).data)  # uses this solver
    >>> model.solution_.status.name
    'ACYCLIC'
    """

    tolerance: float = 1e-8
    largest_rho: float = 1e16
    max_iter: int = 200_000
    time_limit: float | None = None
    inner: LBFGS = field(default_factory=lambda: LBFGS(tolerance=1e-5, score_tolerance=2.2e-9))

    def solve(
        self, objective: Objective, init: Matrix | None = None, *, callback: Callback | None = None, stage: str = ""
    ) -> Solution:
        """Minimize from a start matrix, by default zeros. The objective's `lambda_dag` is ignored."""
        bare = dataclasses.replace(objective, lambda_dag=0.0)
        B = np.zeros_like(objective.S) if init is None else np.asarray(init, dtype=float) * objective.free
        with blas_threads_for(objective.d):
            return self._ascend(bare, B, Recorder(bare, self.max_iter, self.time_limit, callback, stage, 1000))

    def _ascend(self, objective: Objective, B: Matrix, recorder: Recorder) -> Solution:
        """Increase alpha and rho until the weights are acyclic."""
        alpha, rho, h, iterations = 0.0, 1.0, np.inf, 0
        status = Status.STALLED
        try:
            while rho < self.largest_rho:
                term = _Multiplied(objective.acyclicity, alpha, rho)
                B, status, iterations = self._descend(objective, term, B, recorder, iterations)
                if status.is_cut_short or status in (Status.MAX_ITER, Status.NON_FINITE):
                    break
                reached = float(objective.acyclicity.value_and_grad(B)[0])
                fell = reached <= h / 4
                if not fell:
                    rho *= 10
                if fell or rho >= self.largest_rho:
                    h = reached
                    alpha += rho * h
                status = Status.ACYCLIC if h <= self.tolerance else Status.STALLED
                if status is Status.ACYCLIC:
                    break
        except KeyboardInterrupt:  # between two descents
            status = Status.INTERRUPTED
        return recorder.solution(B, status, iterations)

    def _descend(
        self, objective: Objective, term: _Multiplied, B: Matrix, recorder: Recorder, iterations: int
    ) -> tuple[Matrix, Status, int]:
        """Minimize for fixed alpha and rho, rescaling the variables every few iterations."""
        problem = dataclasses.replace(objective, acyclicity=term, lambda_dag=1.0)
        status = Status.MAX_ITER
        while status is Status.MAX_ITER and iterations < self.max_iter:
            leg = dataclasses.replace(self.inner, max_iter=min(iterations + _LEG, self.max_iter))
            scale = _curvature_scale(objective.S, B, term)
            B, status, iterations = leg.descend(problem, B, recorder, scale=scale, done=iterations)
        return B, status, iterations


@dataclass(frozen=True)
class _Multiplied(Acyclicity):
    """The penalty alpha h + rho/2 h^2."""

    acyclicity: Acyclicity
    alpha: float
    rho: float

    def value_and_slope(self, A: Array) -> tuple[Array, Array]:
        """Return the value and its derivative with respect to A = B * B."""
        h, slope = self.acyclicity.value_and_slope(A)
        slope *= self.alpha + self.rho * h
        return h * (self.alpha + self.rho * h / 2), slope


def _curvature_scale(S: Matrix, B: Matrix, term: _Multiplied) -> Matrix:
    """Return the square roots of the Hessian's diagonal, without the part from the gradient of h."""
    multiplier = term.alpha + term.rho * float(term.acyclicity.value_and_grad(B)[0])
    walks = transpose(expm_nonnegative(B * B))
    return np.asarray(np.sqrt(np.diagonal(S)[:, None] + 2 * multiplier * walks))
