"""exp with a number of products fixed in advance, so that a CUDA graph can replay it; checked afterwards."""

from __future__ import annotations

import math

from golem.runtime.arrays import namespace
from golem.runtime.expm import ExpmPlan, cheapest_plan, epsilon_of, expm_by_plan, power_norms, suffices
from golem.runtime.matrix_functions import MatrixFunctions
from golem.runtime.types import Array

# How much larger norms may become until the next review before the plan no longer suffices; one more squaring is good
# for a factor of 2^8 to 2^14.
_GROWTH = 8.0


class PlannedExponential(MatrixFunctions):
    """exp without a look at norms on the host.

    While matrices move, the largest norms that the plan depends on are noted on their device. `review` reads them
    afterwards: were all results exact to rounding, and which plan would have sufficed?

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
        """Tell whether the plan sufficed since the last review, and return the plan to go on with."""
        norms = self._largest.tolist()
        self._largest[...] = 0.0
        if not math.isfinite(sum(norms)):
            return False, self.plan
        return suffices(self.plan, norms, self._epsilon), self._plan(norms)

    def _plan(self, norms: list[float]) -> ExpmPlan:
        # Infinite norms matter only where something is exponentiated, and no plan suffices there.
        finite = math.isfinite(sum(norms))
        return cheapest_plan([_GROWTH * norm if finite else 0.0 for norm in norms], self._epsilon)
