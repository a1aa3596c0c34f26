"""Adam on the whole score, subgradient of the l1 term included: the paper's solver (appendix F)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device

from golem.arrays import Array, Message, blas_threads_for, namespace
from golem.matrix_functions import MatrixFunctions, functions_for
from golem.objective import Objective
from golem.passes import add_squares, minus_ratio, move_towards
from golem.solvers.solution import Callback, Recorder, Solution, Status
from golem.solvers.steps_ahead import StepsAhead, pays_to_replay

_MOST_HALVINGS = 40
_CHECK_EVERY = 100


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma and Ba 2014) from a start matrix, by default zeros.

    The defaults are the paper's recipe: 1e5 steps of learning rate 1e-3 on all rows, no early stopping. A stack of
    covariances `(..., d, d)` is solved as one, each problem on its own path.

    Parameters
    ----------
    max_iter : int
        Number of steps.
    learning_rate, beta1, beta2, epsilon : float
        Adam's parameters. Larger steps than 1e-3 diverge on dense graphs.
    tolerance : float
        Early stopping: end when the proximal residual of the score, which respects the l1 term, is at most this.
        0 takes all steps. Adam hovers around a solution at a distance of the order of the learning rate; 0.01 is a
        useful tolerance for the default rate.
    batch_size : int, optional
        Estimate each gradient from this many rows, reshuffled every epoch, instead of the whole covariance. It
        needs the rows, and it is an approximation: the gradient of the logarithm of a sum over a batch is a biased
        estimate of that over all rows, the more the smaller the batch.
    time_limit : float, optional
        Seconds after which the weights reached are returned.
    """

    max_iter: int = 100_000
    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    tolerance: float = 0.0
    batch_size: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if not (self.max_iter >= 1 and self.learning_rate > 0 and (self.batch_size is None or self.batch_size >= 1)):
            raise ValueError(
                "Adam needs max_iter >= 1, learning_rate > 0 and batch_size >= 1; got "
                f"{self.max_iter}, {self.learning_rate} and {self.batch_size}"
            )

    def solve(
        self,
        objective: Objective,
        init: Array | None = None,
        *,
        rows: Array | None = None,
        random_state: int | np.random.Generator | None = None,
        callback: Callback | None = None,
        stage: str = "",
    ) -> Solution:
        """Minimize the objective; `rows` (centred) and `random_state` are for minibatches."""
        if self.batch_size is not None and rows is None:
            raise ValueError("minibatches need the rows of the data; a covariance alone has none")
        # Steps beyond all numbers are seen and halved.
        with blas_threads_for(objective.d), np.errstate(all="ignore"):
            return self._descend(objective, init, rows, random_state, Recorder(objective, self, callback, stage))

    def _descend(
        self,
        objective: Objective,
        init: Array | None,
        rows: Array | None,
        random_state: int | np.random.Generator | None,
        recorder: Recorder,
    ) -> Solution:
        """Take the steps."""
        xp = namespace(objective.S)
        covariances = self._covariances(rows, objective.S, random_state)
        last = B = (xp.zeros_like(objective.S) if init is None else init) * objective.free
        m, v = xp.zeros_like(B), xp.zeros_like(B)
        functions = functions_for(B)
        ahead = None
        if self.batch_size is None and pays_to_replay(objective):
            ahead = StepsAhead(objective, self._moved, self.beta1, self.beta2)
        status, step = Status.COMPLETED, 0
        try:
            while step <= self.max_iter:
                B, grad = self._finite(objective, B, last, next(covariances), functions)
                if grad is None:
                    status = Status.NON_FINITE
                    break
                last = B
                if step == self.max_iter:
                    break
                recorder.observe(step, B)
                if recorder.out_of_time():
                    status = Status.TIME_LIMIT
                    break
                if self.tolerance and step % _CHECK_EVERY == 0:
                    residual = objective.stationarity(B, objective.smooth_value_and_grad(B)[1])
                    if float(xp.max(residual)) <= self.tolerance:
                        status = Status.CONVERGED
                        break
                # Up to the next step at which something is looked at.
                many = min(_CHECK_EVERY - step % _CHECK_EVERY, self.max_iter - step)
                if ahead is not None and (taken := ahead.take(many, step, B, m, v)) is not None:
                    step += taken[0]
                    B, m, v = taken[1]
                    continue
                B = self._moved(B, m, v, grad, self.beta1 ** (step + 1), self.beta2 ** (step + 1))
                step += 1
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        finally:
            if ahead is not None:
                ahead.close()
        if status is Status.COMPLETED and self.tolerance:
            status = Status.MAX_ITER
        return recorder.solution(last, status, step)

    def _moved(self, B: Array, m: Array, v: Array, grad: Array, decay1: Any, decay2: Any) -> Array:
        """Update the moments by a gradient, which is used up; return B after the step."""
        # In place where it can be: at d = 100 temporaries are a tenth of a step, at d = 3200 passes over memory are.
        move_towards(m, grad, 1 - self.beta1)
        v *= self.beta2
        add_squares(v, grad, 1 - self.beta2)
        # B - rate m/(1 - decay1) / (sqrt(v/(1 - decay2)) + epsilon)
        size, balance = namespace(v).sqrt(v), (1 - decay2) ** 0.5
        size += self.epsilon * balance
        return minus_ratio(B, m, size, self.learning_rate * balance / (1 - decay1))

    def _finite(
        self, objective: Objective, B: Array, last: Array, S: Array, functions: MatrixFunctions
    ) -> tuple[Array, Array | None]:
        """Gradient at B, after halving the step from `last` in the problems where the score is not finite."""
        xp = namespace(B)
        for _ in range(_MOST_HALVINGS):
            # Where the score is not finite, neither is the gradient.
            grad = objective.smooth_value_and_grad(B, S, functions)[1]
            total = xp.sum(grad, axis=(-2, -1))
            message = Message(xp.sum(total) if total.ndim else total)  # one number tells for all problems of a stack
            objective.add_sparsity(B, grad)
            if math.isfinite(message.read()):
                return B, grad
            B = xp.where(xp.isfinite(total)[..., None, None], B, (B + last) / 2)
        return last, None

    def _covariances(
        self, rows: Array | None, S: Array, random_state: int | np.random.Generator | None
    ) -> Iterator[Array]:
        """Yield the covariance for each step: that of all rows, or of one minibatch after the other."""
        if self.batch_size is None or rows is None:
            while True:
                yield S
        xp, n = namespace(rows), rows.shape[0]
        rng = np.random.default_rng(0 if random_state is None else random_state)
        size = min(self.batch_size, n)
        while True:
            order = rng.permutation(n)
            for start in range(0, n - size + 1, size):
                where = xp.asarray(order[start : start + size], device=device(rows))
                batch = xp.take(rows, where, axis=0)
                yield xp.matrix_transpose(batch) @ batch / size
