"""Accelerated matrix functions for one large matrix that changes in small steps on a GPU. Approximate and opt-in."""

from __future__ import annotations

import math

from golem.runtime.arrays import namespace
from golem.runtime.expm import ExpmPlan, cheapest_plan, expm_by_plan, power_norms, suffices
from golem.runtime.gpu import LARGE
from golem.runtime.gpu.half_precision import supports_half_products
from golem.runtime.gpu.host_copy import HostCopy
from golem.runtime.gpu.warm_inverse import WarmInverse
from golem.runtime.matrix_functions import EXACT, MatrixFunctions
from golem.runtime.problems import ProblemError
from golem.runtime.types import Array

# Truncation error of exp. A descent does not need more digits, which would cost one or two more products.
_EPSILON = 1e-6
# Allowed growth of norms in one step: the plan for exp suffices up to this factor.
_GROWTH_PER_STEP = 1.25


class Accelerated(MatrixFunctions):
    """The inverse computed from the previous one by products in half precision, and exp to six digits."""

    def __init__(self) -> None:
        self.inverse = WarmInverse()
        self._plan: ExpmPlan | None = None

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return NaN in place of log|det M|, which is not computed, and M^-T."""
        return M[0, 0] * namespace(M).nan, self.inverse.follow(M)

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A) with a truncation error of at most 5e-7."""
        powers, plan = [A, A @ A], self._plan
        norms = HostCopy(power_norms(*powers))
        # Use the plan of the previous step while the norms are copied to the host, and check it afterwards.
        E = None if plan is None else expm_by_plan(powers, plan)
        found = norms.read()
        if not math.isfinite(sum(found)):
            return A * namespace(A).nan
        self._plan = cheapest_plan([_GROWTH_PER_STEP * norm for norm in found], _EPSILON)
        if plan is not None and suffices(plan, found, _EPSILON):
            return E
        return expm_by_plan(powers, self._plan)


def accelerated_functions(B: Array) -> MatrixFunctions:
    """Return the accelerated functions for a matrix, or the exact ones if it is small; refuse unsupported devices."""
    if B.ndim != 2:
        raise ValueError("accelerate=True solves one problem at a time. Remove it for a stack of problems.")
    if not supports_half_products(B):
        raise ProblemError.of(
            "accelerate=True needs an NVIDIA GPU ({device='cuda'}) and PyTorch 2.8 or later. Remove it otherwise."
        )
    if B.dtype != namespace(B).float64:
        raise ValueError("accelerate=True needs dtype='float64'. Set it, or remove accelerate.")
    return Accelerated() if is_accelerated(B.shape[-1]) else EXACT


def is_accelerated(d: int) -> bool:
    """Return whether matrices of this size are accelerated; exact functions are not slower for smaller ones."""
    return d >= LARGE
