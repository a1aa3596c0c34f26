"""exp with a fixed number of products, so that a CUDA graph can replay it; the accuracy is checked afterwards."""

from __future__ import annotations

import math
from collections import deque

from golem.runtime.arrays import namespace
from golem.runtime.expm import ExpmPlan, cheapest_plan, epsilon_of, expm_by_plan, power_norms, suffices
from golem.runtime.gpu.review import PATIENCE, Review
from golem.runtime.types import Array

# Allowed growth of norms until the next review: the plan suffices up to this factor. One more squaring would allow a
# factor of 2^8 to 2^14.
_GROWTH = 8.0


class PlannedExponential:
    """exp by a plan that does not read norms on the host.

    The plan is made for matrices A of shape (..., d, d). While they change, the largest norms are kept on their device.
    `review` reads them: were all results exact to rounding, and which plan is the cheapest from now on?
    """

    def __init__(self, A: Array) -> None:
        norms = power_norms(A, A @ A)
        self._largest, self._epsilon = namespace(A).zeros_like(norms), epsilon_of(A)
        self._recent: deque[list[float]] = deque(maxlen=PATIENCE)
        self.plan = self._plan(norms.tolist())

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A)."""
        square = A @ A
        self._largest[...] = namespace(A).maximum(self._largest, power_norms(A, square))  # keeps NaN
        return expm_by_plan([A, square], self.plan)

    def review(self) -> Review:
        """Return whether the plan was exact to rounding since the last review, and plan for the next matrices."""
        norms = self._largest.tolist()
        self._largest[...] = 0.0
        if not math.isfinite(sum(norms)):
            return Review(False, False)
        self._recent.append(norms)
        exact, better = suffices(self.plan, norms, self._epsilon), self._plan(norms)
        if exact and len(self._recent) == PATIENCE:
            better = self._plan([max(sizes) for sizes in zip(*self._recent, strict=True)])
        replanned = not exact or (len(self._recent) == PATIENCE and better.products < self.plan.products)
        if replanned:
            self.plan = better
            self._recent.clear()
        return Review(exact, replanned)

    def _plan(self, norms: list[float]) -> ExpmPlan:
        # No plan suffices for infinite norms; `review` reports them if such matrices are exponentiated.
        finite = math.isfinite(sum(norms))
        return cheapest_plan([_GROWTH * norm if finite else 0.0 for norm in norms], self._epsilon)
