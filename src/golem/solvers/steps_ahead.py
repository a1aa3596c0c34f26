"""Many steps of a descent on a GPU without a look at what they do; afterwards they are checked, and kept or undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from golem.acyclicity import Expm
from golem.arrays import Array, identity_minus, namespace, on_accelerator
from golem.matrix_functions import Foreseen
from golem.objective import Objective
from golem.replay import Replay

# Beyond this size matrix products take so long that to start them costs nothing beside.
_REPLAY_PAYS_BELOW = 1024
_FIRST_NEWTON_STEPS, _MOST_NEWTON_STEPS = 5, 9
_LONGEST_PAUSE = 64

Move = Callable[[Array, Array, Array, Any, Any], Array]


def pays_to_replay(objective: Objective) -> bool:
    """Tell whether steps on an objective can be replayed and gain by it."""
    known = isinstance(objective.acyclicity, Expm) or not objective.lambda_dag
    return known and on_accelerator(objective.S) and objective.d < _REPLAY_PAYS_BELOW


class StepsAhead:
    """Takes many of Adam's steps at a time, by a plan for the matrix functions that is checked afterwards.

    A step at d = 100 is some eighty small operations, and to start them takes longer than they do. Replayed, they are
    started as one; but then the host cannot choose, step by step, how many products exp and the inverse take. So it
    plans with some to spare, and looks at the norms that were noted when all steps have been taken. Where the plan was
    not enough, or numbers are no longer finite, the steps count for nothing: the solver takes some on its own, with
    all care, before the next trial, the more the more often that happens.

    Parameters
    ----------
    objective : Objective
        The score.
    move : callable
        Updates Adam's moments by a gradient, given the powers of beta_1 and beta_2; returns the step.
    beta1, beta2 : float
        Adam's parameters.
    """

    def __init__(self, objective: Objective, move: Move, beta1: float, beta2: float) -> None:
        self._objective, self._move, self._betas = objective, move, (beta1, beta2)
        xp, S = namespace(objective.S), objective.S
        # What a replayed step works on stays in one place: B, the two moments, and the powers of the betas.
        self._B, self._m, self._v = (xp.zeros_like(S) for _ in range(3))
        self._decays = tuple(xp.zeros_like(S[..., :1, :1]) for _ in range(2))
        self._newton_steps = _FIRST_NEWTON_STEPS
        self._functions: Foreseen | None = None
        self._step: Callable[[], None] | None = None
        self._pause = self._resume = 0

    def take(self, count: int, done: int, *state: Array) -> tuple[Array, ...] | None:
        """Take steps from (B, m, v), after those done; None where they have to be taken with more care."""
        if done < self._resume:
            return None
        xp, kept = namespace(self._B), (self._B, self._m, self._v)
        for ours, given in zip(kept, state, strict=True):
            ours[...] = given
        for decay, beta in zip(self._decays, self._betas, strict=True):
            decay[...] = beta**done
        if self._functions is None or self._step is None:
            self._functions = Foreseen(identity_minus(self._B), self._B * self._B, self._newton_steps)
            self._step = Replay(partial(self._advance, self._functions))
        for _ in range(count):
            self._step()
        enough, plan = self._functions.review()
        self._newton_steps = min(plan.newton_steps, _MOST_NEWTON_STEPS)
        if not (enough and bool(xp.isfinite(xp.sum(self._B)))):
            self._functions = None
            self._pause = min(max(2 * self._pause, count), _LONGEST_PAUSE * count)
            self._resume = done + self._pause
            return None
        self._pause //= 2
        if plan.products < self._functions.plan.products:
            self._functions = None  # to go on with fewer products
        return tuple(xp.asarray(ours, copy=True) for ours in kept)

    def _advance(self, functions: Foreseen) -> None:
        """Take one step, in place."""
        _, grad = self._objective.value_and_grad(self._B, functions=functions)
        for decay, beta in zip(self._decays, self._betas, strict=True):
            decay *= beta
        self._B -= self._move(self._m, self._v, grad, *self._decays)
