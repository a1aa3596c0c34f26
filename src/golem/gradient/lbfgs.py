"""L-BFGS-B on split variables: the stationary points of Adam, to a tolerance, in far fewer evaluations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.gradient.gradient_solver import GradientSolver, SolverRun
from golem.runtime.arrays import to_numpy
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Matrix, Vector
from golem.score.acyclicity import Acyclicity
from golem.score.objective import Objective
from golem.score.solution import Callback, Recorder, Solution, Status

_MOST_RESTARTS = 5


@dataclass(frozen=True)
class LBFGS(GradientSolver):
    """Limited-memory quasi-Newton with bounds (Byrd et al. 1995, SciPy's L-BFGS-B), on the CPU.

    `|B|` has no gradient at zero. With B = P - N and P, N >= 0 the penalty is linear: sum(P + N). Entries without a
    penalty keep one unbounded variable.

    Parameters
    ----------
    max_iter : int
        Largest number of iterations. Each takes little more than one evaluation of the score.
    tolerance : float
        Stop when no entry violates the optimality conditions by more than this.
    memory : int
        Number of past steps that model the curvature.
    time_limit : float, optional
        Seconds after which the current weights are returned.
    score_tolerance : float
        Also stop, as stalled, when an iteration lowers the score by at most this fraction. With 0, continue as long
        as the score falls.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> from golem.solvers import LBFGS
    >>> model = Golem("ev", solver=LBFGS(tolerance=1e-3)).fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> model.solution_.status.name
    'CONVERGED'
    """

    max_iter: int = 10_000
    tolerance: float = 1e-4
    memory: int = 10
    time_limit: float | None = None
    score_tolerance: float = 0.0

    label = "L-BFGS"

    def peak_matrices(self, acyclicity: Acyclicity, lambda_dag: float, d: int, on_cpu: bool = False) -> int:
        """Return the number of (d, d) matrices that a solve holds (measured); SciPy keeps pairs of both signs."""
        return 5 * (2 * self.memory + 5)

    def run(self, objective: Objective, init: Matrix | None, how: SolverRun) -> Solution:
        """Minimize the objective from a start matrix, by default zeros."""
        return self.solve(objective, init, callback=how.callback, stage=how.stage)

    def solve(
        self, objective: Objective, init: Matrix | None = None, *, callback: Callback | None = None, stage: str = ""
    ) -> Solution:
        """Minimize the objective from a start matrix, by default zeros."""
        with blas_threads_for(objective.d):
            recorder = Recorder(objective, self.max_iter, self.time_limit, callback, stage, 1000, spacing=10)
            B = np.zeros_like(objective.S) if init is None else np.asarray(init, dtype=float) * objective.free
            return recorder.solution(*self.descend(objective, B, recorder))

    def descend(
        self, objective: Objective, B: Matrix, recorder: Recorder, *, scale: Matrix | None = None, done: int = 0
    ) -> tuple[Matrix, Status, int]:
        """Run SciPy's solver, again if a line search fails; return the best weights, status and iterations.

        `done` counts the iterations of earlier descents that share the recorder. `scale` holds the units of the
        variables, of shape (d, d) or (d, 1): approximate square roots of the curvature.
        """
        from scipy.optimize import minimize

        split = _Split(objective, scale)
        run = _Run(objective, split, B)
        recorder.observe(done, B)
        if not split.bounds:  # knowledge forbids every edge; SciPy needs at least one variable
            return B, Status.CONVERGED, done
        iterations = done

        def each_iteration(intermediate_result: object) -> None:
            nonlocal iterations
            iterations += 1
            recorder.observe(iterations, run.B)
            if run.stationarity() <= self.tolerance or recorder.out_of_time() or iterations >= self.max_iter:
                raise StopIteration

        status = Status.STALLED if np.isfinite(run.score) else Status.NON_FINITE
        try:
            # A line search can fail near a singular I - B. It is tried again with an empty memory.
            for _ in range(_MOST_RESTARTS if status is Status.STALLED else 0):
                before = run.score
                minimize(
                    run.value_and_grad,
                    split.join(run.B),
                    jac=True,
                    method="L-BFGS-B",
                    bounds=split.bounds,
                    callback=each_iteration,
                    options={
                        "maxiter": self.max_iter,
                        "maxfun": 20 * self.max_iter,
                        "maxcor": self.memory,
                        "ftol": self.score_tolerance,
                        "gtol": 0.0,  # each_iteration judges, in the units of B
                    },
                )
                if run.stationarity() <= self.tolerance:
                    status = Status.CONVERGED
                elif recorder.out_of_time():
                    status = Status.TIME_LIMIT
                elif iterations >= self.max_iter:
                    status = Status.MAX_ITER
                elif run.score < before and not self.score_tolerance:
                    continue
                break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return run.B, status, iterations


class _Split:
    """Convert between a matrix B and the vector of variables: [unpenalized, positive parts, negative parts].

    By default the variables are effects per standard deviation of the cause, B_ij sqrt(S_ii): the curvature of the
    likelihood along B_ij grows with S_ii, which varies by orders of magnitude on dense graphs.
    """

    def __init__(self, objective: Objective, scale: Matrix | None = None) -> None:
        self.shape = objective.S.shape
        penalties = to_numpy(objective.l1_weights)
        free = to_numpy(objective.free) != 0
        self.plain = np.nonzero((free & (penalties == 0)).ravel())[0]
        self.penalized = np.nonzero((free & (penalties > 0)).ravel())[0]
        self.scale: Matrix = np.sqrt(np.diagonal(to_numpy(objective.S)))[:, None] if scale is None else scale
        self.penalties: Vector = (penalties / self.scale).ravel()[self.penalized]
        self.bounds = [(None, None)] * len(self.plain) + [(0.0, None)] * (2 * len(self.penalized))

    def join(self, B: Matrix) -> Vector:
        """Return the variables of a matrix."""
        flat = (B * self.scale).ravel()
        return np.concatenate(
            [flat[self.plain], np.maximum(flat[self.penalized], 0), np.maximum(-flat[self.penalized], 0)]
        )

    def matrix(self, x: Vector) -> Matrix:
        """Return the matrix of the variables."""
        flat = np.zeros(self.shape[0] * self.shape[1])
        k, p = len(self.plain), len(self.penalized)
        flat[self.plain] = x[:k]
        flat[self.penalized] = x[k : k + p] - x[k + p :]
        return flat.reshape(self.shape) / self.scale

    def penalty_and_grad(self, x: Vector, grad: Matrix) -> tuple[float, Vector]:
        """Return the linear penalty, and the gradient of the score given the gradient of its smooth part."""
        flat, k, p = (grad / self.scale).ravel(), len(self.plain), len(self.penalized)
        positive, negative = x[k : k + p], x[k + p :]
        size = float(self.penalties @ (positive + negative))
        penalized = flat[self.penalized]
        return size, np.concatenate([flat[self.plain], penalized + self.penalties, self.penalties - penalized])


class _Run:
    """Evaluates the score for SciPy and keeps the best weights."""

    def __init__(self, objective: Objective, split: _Split, B: Matrix) -> None:
        self.objective, self.split = objective, split
        self.B, self.score = B, np.inf
        self._grad: NDArray[np.float64] = np.zeros_like(B)
        self.value_and_grad(split.join(B))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        """Return score and gradient; if not finite, a high value from which the line search backs off."""
        B = self.split.matrix(x)
        smooth, grad = self.objective.smooth_value_and_grad(B)
        penalty, gradient = self.split.penalty_and_grad(x, grad)
        value = float(smooth) + penalty
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return self.score + 100.0 + abs(self.score), np.zeros_like(x)
        if value < self.score:
            self.B, self.score, self._grad = B, value, grad
        return value, gradient

    def stationarity(self) -> float:
        """Return the largest violation of the optimality conditions at the best weights."""
        return float(self.objective.stationarity(self.B, self._grad))
