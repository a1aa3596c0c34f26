"""Acyclicity as a hard constraint: the augmented Lagrangian of NOTEARS (Zheng et al. 2018)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from golem.runtime.arrays import transpose
from golem.runtime.expm import expm_nonnegative
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Array, Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.objective import Objective
from golem.solvers.lbfgs import LBFGS
from golem.solvers.solution import Callback, Recorder, Solution, Status

# Iterations after which the curvature is measured anew.
_LEG = 200


@dataclass(frozen=True)
class AugmentedLagrangian:
    """Minimize L(B) + R_sparse(B) subject to h(B) = 0 by a sequence of smoother problems.

    Each minimizes L + R_sparse + alpha h + rho/2 h^2 from where the last one ended. When h fell to less than a quarter
    the multiplier alpha grows by rho h, otherwise rho grows tenfold.

    On the way the curvature of the problems becomes uneven by many orders of magnitude: an entry that would close a
    cycle has 2 (alpha + rho h) exp(B*B)_ji on top of that of the likelihood. The variables are measured in the square
    roots of these curvatures, which saves most of the iterations.

    Parameters
    ----------
    tolerance : float
        Ends when h is at most this.
    largest_rho : float
        Ends when rho has grown to this.
    max_iter : int
        Most iterations of L-BFGS, all problems together.
    time_limit : float, optional
        Seconds after which the weights reached are returned.
    inner : LBFGS
        Solves the problems; of its settings the tolerances and the memory count.
    """

    tolerance: float = 1e-8
    largest_rho: float = 1e16
    max_iter: int = 200_000
    time_limit: float | None = None
    inner: LBFGS = field(default_factory=lambda: LBFGS(tolerance=1e-5, score_tolerance=2.2e-9))

    def solve(
        self, objective: Objective, init: Matrix | None = None, *, callback: Callback | None = None, stage: str = ""
    ) -> Solution:
        """Minimize from a start matrix, by default zeros; the objective's own weight of h is not used."""
        bare = dataclasses.replace(objective, lambda_dag=0.0)
        B = np.zeros_like(objective.S) if init is None else np.asarray(init, dtype=float) * objective.free
        with blas_threads_for(objective.d):
            return self._ascend(bare, B, Recorder(bare, self.max_iter, self.time_limit, callback, stage, 1000))

    def _ascend(self, objective: Objective, B: Matrix, recorder: Recorder) -> Solution:
        """Raise alpha and rho until the weights are acyclic."""
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
        """Minimize for one alpha and rho, measuring the curvature anew from time to time."""
        problem = dataclasses.replace(objective, acyclicity=term, lambda_dag=1.0)
        status = Status.MAX_ITER
        while status is Status.MAX_ITER and iterations < self.max_iter:
            leg = dataclasses.replace(self.inner, max_iter=min(iterations + _LEG, self.max_iter))
            scale = _curvature_scale(objective.S, B, term)
            B, status, iterations = leg.descend(problem, B, recorder, scale=scale, done=iterations)
        return B, status, iterations


@dataclass(frozen=True)
class _Multiplied(Acyclicity):
    """alpha h + rho/2 h^2 in the place of h."""

    acyclicity: Acyclicity
    alpha: float
    rho: float

    def value_and_slope(self, A: Array) -> tuple[Array, Array]:
        """Return the value and its derivative by A = B * B."""
        h, slope = self.acyclicity.value_and_slope(A)
        slope *= self.alpha + self.rho * h
        return h * (self.alpha + self.rho * h / 2), slope


def _curvature_scale(S: Matrix, B: Matrix, term: _Multiplied) -> Matrix:
    """Square roots of the diagonal of the Hessian, without its part along the gradient of h."""
    multiplier = term.alpha + term.rho * float(term.acyclicity.value_and_grad(B)[0])
    walks = transpose(expm_nonnegative(B * B))
    return np.asarray(np.sqrt(np.diagonal(S)[:, None] + 2 * multiplier * walks))
