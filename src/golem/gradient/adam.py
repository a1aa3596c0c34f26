"""Adam on the score, including the subgradient of the l1 term: the paper's solver (appendix F)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from golem.gradient.checkpoint import Arrays, Checkpoint, StageWriter
from golem.gradient.gradient_solver import GradientSolver, SolverRun
from golem.gradient.replayed_adam import ReplayedAdam, is_replayable, pays_to_replay
from golem.runtime.arrays import add_squares, minus_ratio, move_towards, namespace, to_numpy
from golem.runtime.gpu.accelerated import accelerated_functions, is_accelerated
from golem.runtime.gpu.cuda_graphs import HostCopy
from golem.runtime.linear_algebra import EXACT, MatrixFunctions, using
from golem.runtime.problems import ProblemError
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Array, Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.objective import Objective
from golem.score.solution import Callback, Recorder, Solution, Status

_MOST_HALVINGS = 40
_CHECK_EVERY = 100


@dataclass(frozen=True)
class Adam(GradientSolver):
    """Adam (Kingma and Ba 2014) from a start matrix, by default zeros.

    The defaults are the paper's recipe: 1e5 steps with learning rate 1e-3 on all rows, without early stopping. A stack
    of covariances `(..., d, d)` is solved at once; the problems do not influence each other.

    Parameters
    ----------
    max_iter : int
        Number of steps.
    learning_rate, beta1, beta2, epsilon : float
        Adam's parameters. Learning rates above 1e-3 diverge on dense graphs.
    tolerance : float
        Early stopping: stop when the proximal residual of the score (`Objective.stationarity`) is at most this. 0 takes
        all steps. Adam oscillates around a solution with an amplitude near the learning rate; 0.01 is a useful
        tolerance for the default rate.
    batch_size : int, optional
        Estimate each gradient from this many rows, reshuffled every epoch, instead of the whole covariance. This needs
        the rows. It is an approximation: the gradient estimate is biased, more so for smaller batches.
    time_limit : float, optional
        Seconds after which the current weights are returned.
    accelerate : bool
        On an NVIDIA GPU, from 1024 variables on: compute inverses by half-precision updates of the previous step's
        inverse, checked in double precision, and exponentials to six digits. A quarter faster at 3200 variables
        (benchmarks/gpu.md). Smaller problems still use exact functions.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> from golem.solvers import Adam
    >>> model = Golem("ev", solver=Adam(max_iter=500)).fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> model.solution_.iterations
    500
    """

    max_iter: int = 100_000
    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    tolerance: float = 0.0
    batch_size: int | None = None
    time_limit: float | None = None
    accelerate: bool = False

    label = "Adam"
    gpu_from = 200
    keeps_checkpoints = True
    needs_l1 = False

    def __post_init__(self) -> None:
        counts = (self.max_iter, 1 if self.batch_size is None else self.batch_size)
        if not (all(count >= 1 and count == int(count) for count in counts) and self.learning_rate > 0):
            raise ValueError(
                "Adam needs integers max_iter >= 1 and batch_size >= 1, and learning_rate > 0; got "
                f"{self.max_iter}, {self.batch_size} and {self.learning_rate}."
            )
        if not (0 <= self.beta1 < 1 and 0 <= self.beta2 < 1 and self.epsilon > 0 and self.tolerance >= 0):
            raise ValueError(
                "Adam needs 0 <= beta1 < 1, 0 <= beta2 < 1, epsilon > 0 and tolerance >= 0; got "
                f"{self.beta1}, {self.beta2}, {self.epsilon} and {self.tolerance}."
            )

    def peak_matrices(self, acyclicity: Acyclicity, lambda_dag: float, d: int, on_cpu: bool = False) -> int:
        """Return the largest number of (d, d) matrices that a solve holds (measured, rounded up)."""
        exact = not (self.accelerate and is_accelerated(d))
        replayed = not on_cpu and self.batch_size is None and exact and is_replayable(acyclicity, lambda_dag, d)
        return 48 if replayed else 24

    @property
    def uses_rows(self) -> bool:
        """Whether the solver draws minibatches of rows."""
        return self.batch_size is not None

    def require_device(self, device: str, dtype: str) -> None:
        """Raise a ValueError if acceleration is not possible."""
        if self.accelerate and not device.startswith("cuda"):
            raise ProblemError.of("accelerate=True needs {device='cuda'}; got {device=}.", device=device)
        if self.accelerate and dtype != "float64":
            raise ValueError(f"accelerate=True needs dtype='float64'; got dtype={dtype!r}.")

    def run(self, objective: Objective, init: Matrix | None, how: SolverRun) -> Solution:
        """Minimize the objective from a start matrix, by default zeros."""
        return self.solve(
            objective,
            None if init is None else how.placement.put(init),
            rows=None if how.rows is None else how.placement.put(how.rows),
            random_state=how.random_state,
            callback=how.callback,
            stage=how.stage,
            checkpoint=how.checkpoint,
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
        checkpoint: Checkpoint | None = None,
    ) -> Solution:
        """Minimize the objective; `rows` (centred) and `random_state` are for minibatches.

        With a checkpoint, continue the stage of that name where an earlier call has stopped.
        """
        if self.batch_size is not None and rows is None:
            raise ValueError("Minibatches need the rows of the data. Pass `rows`, or leave out batch_size.")
        if checkpoint is not None and (ended := checkpoint.solution(stage)) is not None:
            return ended
        writer = StageWriter(checkpoint, stage)
        earlier = writer.restored
        # Steps that overflow are detected and halved.
        with blas_threads_for(objective.d), np.errstate(all="ignore"):
            recorder = Recorder(objective, self.max_iter, self.time_limit, callback, stage, earlier=earlier)
            solution = self._descend(
                objective, init, self._covariances(rows, objective.S, random_state), recorder, writer
            )
        if checkpoint is not None:
            checkpoint.end(stage, solution)
        return solution

    def _descend(
        self,
        objective: Objective,
        init: Array | None,
        covariances: _Covariances,
        recorder: Recorder,
        writer: StageWriter,
    ) -> Solution:
        B, m, v, step = self._start(objective, init, covariances, writer.restored)
        ended = _Ended(B, writer.restored)
        last = B
        functions = accelerated_functions(B) if self.accelerate else EXACT
        replayed = None
        if self.batch_size is None and functions is EXACT and pays_to_replay(objective):
            replayed = ReplayedAdam(objective, self._moved, self.beta1, self.beta2)
        status = Status.MAX_ITER if self.tolerance else Status.COMPLETED

        def state() -> dict[str, Array]:
            # B is replaced in each step, the moments change in place.
            copies = {"B": B, "m": _copied(m), "v": _copied(v), "step": np.array(step)}
            return copies | ended.arrays() | covariances.arrays() | recorder.arrays()

        try:
            while step <= self.max_iter:
                B, grad = self._finite(objective, B, last, covariances.draw(), functions, ended)
                last = B
                if step == self.max_iter or ended.all():
                    break
                stopping = recorder.out_of_time()
                writer.offer(state, last=stopping)
                if stopping:
                    status = Status.TIME_LIMIT
                    break
                recorder.observe(step, B)
                if self.tolerance and step % _CHECK_EVERY == 0:
                    residual = to_numpy(objective.stationarity(B, objective.smooth_value_and_grad(B)[1]))
                    ended.note(residual <= self.tolerance, B, Status.CONVERGED)
                    if ended.all():
                        break
                # Steps until the next check.
                many = min(_CHECK_EVERY - step % _CHECK_EVERY, self.max_iter - step)
                if replayed is not None and (taken := replayed.take(many, step, B, m, v)) is not None:
                    step += taken[0]
                    B, m, v = taken[1]
                else:
                    B = self._moved(B, m, v, grad, self.beta1 ** (step + 1), self.beta2 ** (step + 1))
                    step += 1
                B = ended.restored(B)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
            writer.flush()
        finally:
            if replayed is not None:
                replayed.close()
        return recorder.solution(last, ended.statuses(status), step)

    def _start(
        self, objective: Objective, init: Array | None, covariances: _Covariances, earlier: Arrays
    ) -> tuple[Array, Array, Array, int]:
        """Return B, the two moments and the number of the step: at the start, or where an earlier call has stopped."""
        xp, S = namespace(objective.S), objective.S
        if not earlier:
            B = (xp.zeros_like(S) if init is None else init) * objective.free
            return B, xp.zeros_like(B), xp.zeros_like(B), 0
        step = int(earlier["step"])
        covariances.restore(step, earlier)
        B, m, v = (xp.asarray(earlier[name], dtype=S.dtype, device=device(S)) for name in ("B", "m", "v"))
        return B, m, v, step

    def _moved(self, B: Array, m: Array, v: Array, grad: Array, decay1: Any, decay2: Any) -> Array:
        """Update the moments m and v, overwriting the gradient, and return B after the step."""
        # In place where possible: temporaries (at d = 100) or passes over memory (at d = 3200) are a tenth of a step.
        move_towards(m, grad, 1 - self.beta1)
        v *= self.beta2
        add_squares(v, grad, 1 - self.beta2)
        # B - rate m/(1 - decay1) / (sqrt(v/(1 - decay2)) + epsilon)
        size, balance = namespace(v).sqrt(v), (1 - decay2) ** 0.5
        size += self.epsilon * balance
        return minus_ratio(B, m, size, self.learning_rate * balance / (1 - decay1))

    def _finite(
        self, objective: Objective, B: Array, last: Array, S: Array, functions: MatrixFunctions, ended: _Ended
    ) -> tuple[Array, Array]:
        """Return B and the gradient there, after halving the step from `last` while the score is not finite.

        A problem for which no halving helps ends at `last`.
        """
        xp = namespace(B)
        for _ in range(_MOST_HALVINGS):
            # If the score is not finite, neither is the gradient.
            with using(functions):
                grad = objective.smooth_value_and_grad(B, S)[1]
            total = ended.without(xp.sum(grad, axis=(-2, -1)))
            message = HostCopy(xp.sum(total) if total.ndim else total)  # one number for the whole stack
            objective.add_sparsity(B, grad)
            if math.isfinite(message.read()):
                return B, grad
            finite = xp.isfinite(total)
            B = xp.where(finite[..., None, None], B, (B + last) / 2)
        ended.note(~to_numpy(finite), last, Status.NON_FINITE)
        return ended.restored(B), grad

    def _covariances(
        self, rows: Array | None, S: Array, random_state: int | np.random.Generator | None
    ) -> _Covariances:
        """Return the covariances of the steps: of all rows, or of minibatches."""
        if self.batch_size is None or rows is None:
            return _Covariances(S)
        return _Minibatches(S, rows, self.batch_size, random_state)


def _copied(array: Array) -> Array:
    return namespace(array).asarray(array, copy=True)


class _Covariances:
    """The covariance for each step: of all rows."""

    def __init__(self, S: Array) -> None:
        self._S = S

    def draw(self) -> Array:
        """Return the covariance for the next step."""
        return self._S

    def arrays(self) -> dict[str, Array]:
        """Return what a checkpoint has to keep."""
        return {}

    def restore(self, step: int, earlier: Arrays) -> None:
        """Continue at a step with what a checkpoint has kept."""


class _Minibatches(_Covariances):
    """The covariance for each step: of the next minibatch. The rows are shuffled in every epoch."""

    def __init__(self, S: Array, rows: Array, size: int, random_state: int | np.random.Generator | None) -> None:
        super().__init__(S)
        self._rows, self._size = rows, min(size, rows.shape[0])
        self._rng = np.random.default_rng(0 if random_state is None else random_state)
        self._drawn, self._order, self._epoch = 0, np.zeros(0, dtype=int), self._rng.bit_generator.state

    def draw(self) -> Array:
        xp, n, size = namespace(self._rows), self._rows.shape[0], self._size
        begin = self._drawn % (n // size) * size
        if begin == 0 or not len(self._order):
            self._epoch = self._rng.bit_generator.state
            self._order = self._rng.permutation(n)
        self._drawn += 1
        where = xp.asarray(self._order[begin : begin + size], device=device(self._rows))
        batch = xp.take(self._rows, where, axis=0)
        return xp.matrix_transpose(batch) @ batch / size

    def arrays(self) -> dict[str, Array]:
        """Return the state of the generator before it shuffled the rows for the present epoch."""
        return {"generator": np.array(json.dumps(self._epoch))}

    def restore(self, step: int, earlier: Arrays) -> None:
        self._rng.bit_generator.state = json.loads(str(earlier["generator"]))
        self._drawn = step


class _Ended:
    """The problems of a stack that have ended while others continue: which, at which weights, and with which status."""

    def __init__(self, B: Array, earlier: Arrays) -> None:
        self._which = np.zeros(B.shape[:-2], dtype=bool)
        self._how = np.empty(B.shape[:-2], dtype=object)
        self._mask: Array | None = None  # `_which` on the device of B
        self._weights = B
        if "ended" in earlier:
            names = earlier["ended"]
            weights = namespace(B).asarray(earlier["ended_weights"], dtype=B.dtype, device=device(B))
            for name in set(names.reshape(-1).tolist()) - {""}:
                self.note(names == name, weights, Status[name])

    def arrays(self) -> dict[str, Array]:
        """Return what a checkpoint has to keep: the names of the statuses, and the weights."""
        if self._mask is None:
            return {}
        names = [how.name if how else "" for how in self._how.reshape(-1).tolist()]
        return {"ended": np.array(names).reshape(self._how.shape), "ended_weights": self._weights}

    def all(self) -> bool:
        """Return whether all problems have ended."""
        return bool(self._which.all())

    def note(self, which: NDArray[np.bool_], B: Array, status: Status) -> None:
        """Record that some problems end at B; those that ended earlier do not change."""
        new = np.asarray(which & ~self._which)
        if not new.any():
            return
        xp, where = namespace(B), device(B)
        self._weights = xp.where(xp.asarray(new, device=where)[..., None, None], B, self._weights)
        self._which, self._how[new] = np.asarray(self._which | new), status
        self._mask = xp.asarray(self._which, device=where)

    def restored(self, B: Array) -> Array:
        """Return B with the final weights of the problems that have ended."""
        return B if self._mask is None else namespace(B).where(self._mask[..., None, None], self._weights, B)

    def without(self, numbers: Array) -> Array:
        """Return the numbers, one per problem, with zeros for the problems that have ended."""
        if self._mask is None:
            return numbers
        xp = namespace(numbers)
        return xp.where(self._mask, xp.zeros_like(numbers), numbers)

    def statuses(self, otherwise: Status) -> Status | list[Status]:
        """Return the status of each problem, `otherwise` for those that have not ended."""
        found = [how or otherwise for how in self._how.reshape(-1).tolist()]
        return found if self._how.ndim else found[0]
