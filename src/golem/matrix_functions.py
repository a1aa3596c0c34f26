"""The two matrix functions of a score, exp and the inverse: on the spot, on from the step before, or by plan.

Solvers whose matrices move in small steps hand one of the latter to the terms of the score.
"""

from __future__ import annotations

import math
from typing import Protocol

from golem.arrays import (
    Array,
    identity_minus,
    logabsdet_and_inverse_transpose,
    namespace,
    on_accelerator,
    transpose,
)
from golem.expm import ExpmPlan, cheapest_plan, epsilon_of, expm_by_plan, expm_nonnegative, power_norms, suffices

_WARM_INVERSE_PAYS_FROM = 1024
_MOST_NEWTON_STEPS = 3
_LONGEST_PAUSE = 32
# Largest residual of an inverse, in the Frobenius norm.
_TOLERANCE = 1e-10
# How much larger norms may become before a plan for exp no longer suffices: a squaring more is good for 2^12.
_ROOM = 8.0


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
    """Inverses of a matrix that moves in small steps, each from the one before.

    With X the last inverse and R = I - M X its residual, a step of Newton and Schulz, X + X R, has the residual R^2,
    the next one R^4, then R^8. Each costs two products, where LU and inverse cost as much as a dozen on a GPU. The
    residual is measured at every call, so errors do not pile up; where a few steps do not suffice, LU is the fallback,
    and after that for some calls without a trial, the more the more often that happens. The determinant is not
    followed.
    """

    def __init__(self) -> None:
        self.calls = self.cold_starts = self.products = 0
        self._inverse: Array | None = None
        self._pause = self._resume = 0

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return NaN and M^-T."""
        self.calls += 1
        trying = self._inverse is not None and self._inverse.shape == M.shape and self.calls > self._resume
        if trying and self._improve(M):
            self._pause //= 2
        else:
            self.cold_starts += 1
            self._inverse = transpose(logabsdet_and_inverse_transpose(M)[1])
            if trying:
                self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE)
                self._resume = self.calls + self._pause
        return _no_determinant(M), transpose(self._inverse)

    def _improve(self, M: Array) -> bool:
        """Take Newton's steps from the last inverse; False where they do not reach the tolerance."""
        X = self._inverse
        R = identity_minus(M @ X)
        size = float(_largest_norm(R))
        self.products += 1
        for _ in range(_MOST_NEWTON_STEPS):
            if not size < 1:  # also where it is NaN
                return False
            X = X + X @ R
            self.products += 1
            if size**2 <= _TOLERANCE:
                self._inverse = X
                return True
            R = R @ R
            self.products += 1
            size = float(_largest_norm(R))
        return False


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
        return expm_by_plan(A, square, self.plan)

    def review(self) -> tuple[bool, ExpmPlan]:
        """Tell whether the plan was enough since the last review, and the plan to go on with."""
        norms = self._largest.tolist()
        self._largest[...] = 0.0
        return suffices(self.plan, norms, self._epsilon), self._plan(norms)

    def _plan(self, norms: list[float]) -> ExpmPlan:
        # Norms beyond all numbers matter only where something is exponentiated, and no plan will do there.
        finite = math.isfinite(sum(norms))
        return cheapest_plan([_ROOM * norm if finite else 0.0 for norm in norms], self._epsilon)


def functions_for(M: Array) -> MatrixFunctions:
    """Return what is fast for a matrix that moves in small steps: warm where products are cheap beside LU."""
    return Warm() if on_accelerator(M) and M.shape[-1] >= _WARM_INVERSE_PAYS_FROM else DIRECT


def _no_determinant(M: Array) -> Array:
    return M[..., 0, 0] * namespace(M).nan


def _largest_norm(A: Array) -> Array:
    """Largest Frobenius norm of a stack of matrices."""
    xp = namespace(A)
    return xp.sqrt(xp.max(xp.sum(A * A, axis=(-2, -1))))
