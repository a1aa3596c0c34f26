"""Adam steps on a GPU, replayed in blocks as a CUDA graph.

Each block follows a plan for the matrix functions. It is checked afterwards, and repeated if the plan was too short.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from array_api_compat import device

from golem.runtime.arrays import namespace
from golem.runtime.gpu.cuda_graphs import ReplayedStep, can_replay
from golem.runtime.gpu.planned_functions import PlannedFunctions
from golem.runtime.linear_algebra import using
from golem.runtime.types import Array
from golem.score.acyclicity import Acyclicity, Expm
from golem.score.objective import Objective

# Replayed steps need twice the memory of single ones, and beyond this size gain little.
_LARGEST = 4096
_TRIES = 4
_LONGEST_PAUSE = 64
_FIRST_STEPS = 25
# Longest time in seconds without checking the clock, Ctrl-C and the numbers.
_LONGEST_BLINDNESS = 0.3

Moved = Callable[[Array, Array, Array, Array, Any, Any], Array]


def pays_to_replay(objective: Objective) -> bool:
    """Return whether the steps on an objective can be replayed, which makes them faster."""
    return can_replay(objective.S) and is_replayable(objective.acyclicity, objective.lambda_dag, objective.d)


def is_replayable(acyclicity: Acyclicity, lambda_dag: float, d: int) -> bool:
    """Return whether steps on d variables need no decision on the host, so that a device can replay them."""
    return (isinstance(acyclicity, Expm) or not lambda_dag) and d <= _LARGEST


class ReplayedAdam:
    """Takes many Adam steps at once, following a plan that is checked afterwards.

    At d = 100 a step consists of about eighty small operations, and launching them takes longer than running them.
    A replayed step is launched as one operation. But then the host cannot choose in each step how many products an
    inverse or an exponential needs. So it plans a few more, and checks the recorded norms after all steps. If the plan
    was too short, the steps are discarded and repeated with a better plan. If numbers are not finite, the solver takes
    some steps itself, more each time this happens. `moved` is `Adam._moved`.
    """

    def __init__(self, objective: Objective, moved: Moved, beta1: float, beta2: float) -> None:
        self._objective, self._moved, self._betas = objective, moved, (beta1, beta2)
        xp, S = namespace(objective.S), objective.S
        # A replayed step works on fixed addresses: B, the two moments, and the powers of the betas.
        self._B, self._m, self._v = (xp.zeros_like(S) for _ in range(3))
        self._decays = tuple(xp.zeros((1, 1), dtype=xp.float64, device=device(S)) for _ in range(2))
        self._functions: PlannedFunctions | None = None
        self._step: Callable[[], None] | None = None
        self._pause, self._resume, self._affordable = 0, 0, _FIRST_STEPS

    def take(self, count: int, done: int, *state: Array) -> tuple[int, tuple[Array, ...]] | None:
        """Take at most `count` steps from (B, m, v) at step `done`; return their number and the new state.

        Return None if the solver has to take the steps itself.
        """
        if done < self._resume:
            return None
        xp, kept, count = namespace(self._B), (self._B, self._m, self._v), min(count, self._affordable)
        for _ in range(_TRIES):
            for ours, given in zip(kept, state, strict=True):
                ours[...] = given
            for decay, beta in zip(self._decays, self._betas, strict=True):
                decay[...] = beta**done
            began, recorded = time.perf_counter(), self._step is not None
            try:
                enough = self._try(count)
            except RuntimeError:  # something in the score cannot be recorded
                self._resume = sys.maxsize
                return None
            if not bool(xp.isfinite(xp.sum(self._B))):
                break
            if enough:
                self._pause //= 2
                if recorded:  # the time of a recording says nothing about later steps
                    each = (time.perf_counter() - began) / count
                    self._affordable = max(1, min(2 * self._affordable, int(_LONGEST_BLINDNESS / each)))
                return count, tuple(xp.asarray(ours, copy=True) for ours in kept)
        self._pause = min(max(2 * self._pause, count), _LONGEST_PAUSE * count)
        self._resume = done + self._pause
        return None

    def close(self) -> None:
        """Free the memory on the device."""
        self._functions = self._step = None

    def _try(self, count: int) -> bool:
        """Take steps and return whether the plan was long enough; replace a plan that is too short or too long."""
        if self._functions is None:
            self._functions = PlannedFunctions(self._B)
        if self._step is None:
            self._step = ReplayedStep(partial(self._advance, self._functions), device(self._B))
        for _ in range(count):
            self._step()
        review = self._functions.review()
        if review.replanned:
            self._step = None
        return review.exact

    def _advance(self, functions: PlannedFunctions) -> None:
        """Take one step, in place."""
        with using(functions):
            _, grad = self._objective.value_and_grad(self._B)
        for decay, beta in zip(self._decays, self._betas, strict=True):
            decay *= beta
        self._B[...] = self._moved(self._B, self._m, self._v, grad, *self._decays)
