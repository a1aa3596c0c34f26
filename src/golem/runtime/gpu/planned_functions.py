"""Both matrix functions of a score by plans that need no decision on the host, so that a CUDA graph can replay them.

The number of products is fixed in advance. A review checks afterwards whether it was enough.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

from array_api_compat import device

from golem.runtime.arrays import add_to_diagonal, namespace, product, transpose
from golem.runtime.expm import ExpmPlan, cheapest_plan, epsilon_of, expm_by_plan, power_norms, suffices
from golem.runtime.gpu.elimination import inverse_by_halves
from golem.runtime.linear_algebra import MatrixFunctions, logabsdet_and_inverse_transpose
from golem.runtime.types import Array

# A plan is shortened if a shorter one would have sufficed in this many reviews in a row. Each change of a plan costs as
# much as many steps.
PATIENCE = 20
# Allowed growth of norms until the next review: the plan suffices up to this factor. One more squaring would allow a
# factor of 2^8 to 2^14.
_NORM_GROWTH = 8.0
_FIRST_ITERATIONS, _MOST_ITERATIONS = 2, 6
# Allowed growth of the residuals until the next review.
_RESIDUAL_GROWTH = 100.0


class Review(NamedTuple):
    """Whether all results since the last review were exact to rounding, and whether the plan has changed."""

    exact: bool
    replanned: bool


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
        return cheapest_plan([_NORM_GROWTH * norm if finite else 0.0 for norm in norms], self._epsilon)


class PlannedInverse:
    """Transposed inverses by elimination without pivoting, refined by a number of iterations that is fixed in advance.

    Let Y be an approximate M^-T, and E = I - M'Y its residual. A Newton-Schulz iteration, Y + Y E, squares the
    residual. The result is exact to rounding if the residual before the last iteration is at most the square root of
    the rounding error. `review` checks this for all matrices since the last review. Nearly all operations are products,
    which on a GPU take a small part of the time of LU, above all for stacks.

    Attributes
    ----------
    iterations : int
        The plan: iterations per matrix, or 0 for LU.
    """

    def __init__(self, M: Array) -> None:
        self.iterations = _FIRST_ITERATIONS
        self._bound = epsilon_of(M) ** 0.5
        self._recent: deque[int] = deque(maxlen=PATIENCE)
        # The largest residual before each iteration.
        self._residuals = namespace(M).zeros(_MOST_ITERATIONS, dtype=M.dtype, device=device(M))

    def transposed_inverse(self, M: Array) -> Array:
        """Return M^-T for a stack of square matrices."""
        if not self.iterations:
            return logabsdet_and_inverse_transpose(M)[1]
        xp, Y = namespace(M), inverse_by_halves(transpose(M))
        for k in range(self.iterations):
            E = product(transpose(M), Y, -1.0)
            add_to_diagonal(E, 1.0)
            size = xp.max(xp.linalg.vector_norm(E, axis=(-2, -1)))
            self._residuals[k] = xp.maximum(self._residuals[k], size)  # keeps NaN
            Y = Y + Y @ E
        return Y

    def review(self) -> Review:
        """Return whether all inverses since the last review were exact to rounding, and plan for the next ones."""
        before, residuals = self.iterations, self._residuals.tolist()[: self.iterations]
        self._residuals[...] = 0.0
        exact = not residuals or residuals[-1] <= self._bound
        self._recent.append(_iterations_for(residuals, self._bound / _RESIDUAL_GROWTH))
        if not exact or not before:
            self.iterations = self._recent[-1]
        elif len(self._recent) == PATIENCE and 0 < max(self._recent) < before:
            self.iterations = max(self._recent)
        if self.iterations != before:
            self._recent.clear()
        return Review(exact, self.iterations != before)


def _iterations_for(residuals: list[float], bound: float) -> int:
    """Return how many iterations bring the residual before the last one below a bound; 0, for LU, if too many would.

    After steps by LU there are no residuals, and iterations are tried again.
    """
    if not residuals:
        return _FIRST_ITERATIONS
    small = next((k for k, size in enumerate(residuals) if size <= bound), None)
    if small is not None:
        return small + 1
    size, count = residuals[-1], len(residuals)
    while bound < size < 1 and count <= _MOST_ITERATIONS:
        size, count = size**2, count + 1
    return count if size <= bound and count <= _MOST_ITERATIONS else 0


class PlannedFunctions(MatrixFunctions):
    """exp(B * B) and (I - B)^-T for weights B of shape (..., d, d) that change in small steps."""

    def __init__(self, B: Array) -> None:
        self.exponential = PlannedExponential(B * B)
        self.inverse = PlannedInverse(B)

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return NaN in place of log|det M|, which a gradient does not need, and M^-T."""
        return M[..., 0, 0] * namespace(M).nan, self.inverse.transposed_inverse(M)

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A)."""
        return self.exponential.exponentiate(A)

    def review(self) -> Review:
        """Return whether all results since the last review were exact to rounding, and plan for the next ones."""
        reviews = (self.exponential.review(), self.inverse.review())
        return Review(all(one.exact for one in reviews), any(one.replanned for one in reviews))
