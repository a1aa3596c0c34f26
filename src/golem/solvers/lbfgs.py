"""L-BFGS-B on split variables: the same stationary points as Adam, to a tolerance, in far fewer evaluations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.runtime.arrays import to_numpy
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Matrix, Vector
from golem.score.objective import Objective
from golem.solvers.solution import Callback, Recorder, Solution, Status

_MOST_RESTARTS = 5


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory quasi-Newton with bounds (Byrd et al. 1995, SciPy's L-BFGS-B), on the CPU.

    |B| has no gradient at zero, but with B = P - N and P, N >= 0 the penalty is linear: sum(P + N). Entries that
    bear no penalty keep one unbounded variable.

    Parameters
    ----------
    max_iter : int
        Most iterations; each takes little more than one evaluation of the score.
    tolerance : float
        Ends when no entry violates the optimality conditions by more than this.
    memory : int
        Number of past steps that model the curvature.
    time_limit : float, optional
        Seconds after which the weights reached are returned.
    score_tolerance : float
        Also ends, as stalled, when an iteration lowers the score by no more than this share of it; 0 goes on while
        the score falls at all.
    """

    max_iter: int = 10_000
    tolerance: float = 1e-4
    memory: int = 10
    time_limit: float | None = None
    score_tolerance: float = 0.0

    def solve(
        self,
        objective: Objective,
        init: Matrix | None = None,
        *,
        callback: Callback | None = None,
        stage: str = "",
    ) -> Solution:
        """Minimize the objective from a start matrix, by default zeros."""
        with blas_threads_for(objective.d):
            recorder = Recorder(objective, self.max_iter, self.time_limit, callback, stage, 1000, spacing=10)
            B = np.zeros_like(objective.S) if init is None else np.asarray(init, dtype=float) * objective.free
            return recorder.solution(*self.descend(objective, B, recorder))

    def descend(
        self, objective: Objective, B: Matrix, recorder: Recorder, *, scale: Matrix | None = None, done: int = 0
    ) -> tuple[Matrix, Status, int]:
        """Run SciPy's solver, again where a line search failed; return the best weights, status and iterations.

        A solve made of several descents shares one recorder, and `done` counts the iterations before this one. `scale`
        are the units of the variables, entry by entry or row by row: the square roots of the curvature, about.
        """
        from scipy.optimize import minimize

        split = _Split(objective, scale)
        run = _Run(objective, split, B)
        recorder.observe(done, B)
        if not split.bounds:  # knowledge forbids every edge, and SciPy cannot do with no variables
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
            # A line search that fails (a singular I - B is close) is tried again with the memory cleared.
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
    """Between a matrix B and the vector of variables: [free of penalty, positive parts, negative parts].

    By default the variables are effects per standard deviation of the cause, B_ij sqrt(S_ii): the curvature of the
    likelihood along B_ij grows with S_ii, which spans orders of magnitude on dense graphs.
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
        """Variables of a matrix."""
        flat = (B * self.scale).ravel()
        return np.concatenate(
            [flat[self.plain], np.maximum(flat[self.penalized], 0), np.maximum(-flat[self.penalized], 0)]
        )

    def matrix(self, x: Vector) -> Matrix:
        """Matrix of the variables."""
        flat = np.zeros(self.shape[0] * self.shape[1])
        k, p = len(self.plain), len(self.penalized)
        flat[self.plain] = x[:k]
        flat[self.penalized] = x[k : k + p] - x[k + p :]
        return flat.reshape(self.shape) / self.scale

    def penalty_and_grad(self, x: Vector, grad: Matrix) -> tuple[float, Vector]:
        """Linear penalty of the variables, and the gradient of all with that of the smooth part."""
        flat, k, p = (grad / self.scale).ravel(), len(self.plain), len(self.penalized)
        positive, negative = x[k : k + p], x[k + p :]
        size = float(self.penalties @ (positive + negative))
        penalized = flat[self.penalized]
        return size, np.concatenate([flat[self.plain], penalized + self.penalties, self.penalties - penalized])


class _Run:
    """Evaluates the score for SciPy and remembers the best weights seen."""

    def __init__(self, objective: Objective, split: _Split, B: Matrix) -> None:
        self.objective, self.split = objective, split
        self.B, self.score = B, np.inf
        self._grad: NDArray[np.float64] = np.zeros_like(B)
        self.value_and_grad(split.join(B))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        """Score and gradient; where not finite, a high value that turns the line search back."""
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
        """Largest violation of the optimality conditions at the best weights."""
        return float(self.objective.stationarity(self.B, self._grad))
