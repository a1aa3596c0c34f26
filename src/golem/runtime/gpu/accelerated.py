"""Accelerated matrix functions: for one large matrix that moves in small steps on a GPU. Approximate, and opt-in."""

from __future__ import annotations

import math

from golem.runtime.arrays import namespace
from golem.runtime.expm import ExpmPlan, cheapest_plan, expm_by_plan, power_norms, suffices
from golem.runtime.gpu import LARGE
from golem.runtime.gpu.half_precision import supports_half_products
from golem.runtime.gpu.host_copy import HostCopy
from golem.runtime.gpu.warm_inverse import WarmInverse
from golem.runtime.matrix_functions import EXACT, MatrixFunctions
from golem.runtime.types import Array

# Steps of a descent do not see the seventh digit of an exponential, which costs a product or two more.
_EPSILON = 1e-6
# How much larger norms may become in one step before the plan for exp no longer suffices.
_GROWTH_PER_STEP = 1.25


class Accelerated(MatrixFunctions):
    """Each inverse from the one before, by products in half precision; exp to six digits.

    The determinant is not computed.
    """

    def __init__(self) -> None:
        self.inverse = WarmInverse()
        self._plan: ExpmPlan | None = None

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return NaN in place of log|det M|, and M^-T."""
        return M[0, 0] * namespace(M).nan, self.inverse.follow(M)

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A), with a truncation error of half of 1e-6 at most."""
        powers, plan = [A, A @ A], self._plan
        norms = HostCopy(power_norms(*powers))
        # The plan of the step before is used while the norms are on their way, and checked when they arrive.
        E = None if plan is None else expm_by_plan(powers, plan)
        found = norms.read()
        if not math.isfinite(sum(found)):
            return A * namespace(A).nan
        self._plan = cheapest_plan([_GROWTH_PER_STEP * norm for norm in found], _EPSILON)
        if plan is not None and suffices(plan, found, _EPSILON):
            return E
        return expm_by_plan(powers, self._plan)


def accelerated_functions(B: Array) -> MatrixFunctions:
    """Return the accelerated functions for a matrix, or the exact ones where it is too small to gain.

    Raises
    ------
    ValueError
        If B is not one matrix of float64 on an NVIDIA GPU whose PyTorch multiplies half-precision matrices.
    """
    if B.ndim != 2:
        raise ValueError("accelerate=True solves one problem at a time; leave it out for a stack of problems")
    if not supports_half_products(B):
        raise ValueError("accelerate=True needs an NVIDIA GPU (device='cuda') and PyTorch 2.8 or later; leave it out")
    if B.dtype != namespace(B).float64:
        raise ValueError("accelerate=True needs dtype='float64': half precision comes on top of it")
    return Accelerated() if B.shape[-1] >= LARGE else EXACT
