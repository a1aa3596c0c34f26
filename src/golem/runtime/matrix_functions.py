"""The two matrix functions of a score, exp and the inverse: on the spot, with the step before at hand, or by plan.

Solvers whose matrices move in small steps hand one of the latter to the terms of the score.
"""

from __future__ import annotations

import math
from typing import Protocol

from golem.runtime.arrays import HostCopy, namespace
from golem.runtime.expm import (
    ExpmPlan,
    cheapest_plan,
    epsilon_of,
    expm_by_plan,
    expm_nonnegative,
    power_norms,
    suffices,
)
from golem.runtime.gpu.half_precision import half_products_pay
from golem.runtime.gpu.warm_inverse import WarmInverse
from golem.runtime.linear_algebra import logabsdet_and_inverse_transpose
from golem.runtime.types import Array

# From this size on a product takes far longer than to start it, and LU a dozen times as long as that.
LARGE = 1024
# Steps of a descent do not see the seventh digit of an exponential, which costs a product or two more.
_EXP_EPSILON = 1e-6
# How much larger norms may become, in many steps and in one, before a plan for exp no longer suffices; a squaring more
# is good for 2^8 to 2^14.
_ROOM = 8.0
_ROOM_OF_A_STEP = 1.25


class MatrixFunctions(Protocol):
    """How the terms of a score get at matrix functions."""

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return log|det M|, NaN where it is not followed, and M^-T for a stack of square matrices."""

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A) for a stack of nonnegative matrices."""


class Direct:
    """By LU, and by a Taylor polynomial chosen for the matrix at hand."""

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return log|det M| and M^-T."""
        return logabsdet_and_inverse_transpose(M)

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A)."""
        return expm_nonnegative(A)


DIRECT = Direct()


class Warm(Direct):
    """For one large matrix that moves in small steps: inverses each from the one before, exp to six digits.

    The determinant is not followed.
    """

    def __init__(self) -> None:
        self.inverse = WarmInverse()
        self._plan: ExpmPlan | None = None

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return NaN and M^-T."""
        return M[0, 0] * namespace(M).nan, self.inverse.follow(M)

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A), with a truncation error of half of 1e-6 at most."""
        powers, plan = [A, A @ A], self._plan
        norms = HostCopy(power_norms(*powers))
        # On by the plan of the step before, while the norms are on their way.
        E = None if plan is None else expm_by_plan(powers, plan)
        found = norms.read()
        if not math.isfinite(sum(found)):
            return A * namespace(A).nan
        self._plan = cheapest_plan([_ROOM_OF_A_STEP * norm for norm in found], _EXP_EPSILON)
        if plan is not None and E is not None and suffices(plan, found, _EXP_EPSILON):
            return E
        return expm_by_plan(powers, self._plan)


class Foreseen(Direct):
    """exp by a plan made beforehand, without a look at norms on the host: what a GPU can replay.

    While matrices move, the largest norms that the plan depends on are noted where the matrices are. `review` reads
    them afterwards: were all results as exact as those of `Direct`, and which plan would have been enough?

    Parameters
    ----------
    A : array of shape (..., d, d)
        Matrices to be exponentiated, as they are now.
    """

    def __init__(self, A: Array) -> None:
        norms = power_norms(A, A @ A)
        self._largest, self._epsilon = namespace(A).zeros_like(norms), epsilon_of(A)
        self.plan = self._plan(norms.tolist())

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A)."""
        square = A @ A
        self._largest[...] = namespace(A).maximum(self._largest, power_norms(A, square))  # NaN, if there is one
        return expm_by_plan([A, square], self.plan)

    def review(self) -> tuple[bool, ExpmPlan]:
        """Tell whether the plan was enough since the last review, and the plan to go on with."""
        norms = self._largest.tolist()
        self._largest[...] = 0.0
        if not math.isfinite(sum(norms)):
            return False, self.plan
        return suffices(self.plan, norms, self._epsilon), self._plan(norms)

    def _plan(self, norms: list[float]) -> ExpmPlan:
        # Norms beyond all numbers matter only where something is exponentiated, and no plan will do there.
        finite = math.isfinite(sum(norms))
        return cheapest_plan([_ROOM * norm if finite else 0.0 for norm in norms], self._epsilon)


def functions_for(M: Array) -> MatrixFunctions:
    """Return what is fast for a matrix that moves in small steps: warm where rough products are cheap beside LU."""
    large = M.ndim == 2 and M.shape[-1] >= LARGE and M.dtype == namespace(M).float64
    return Warm() if large and half_products_pay(M) else DIRECT
