"""Inverses by a fixed number of products, so that a CUDA graph can replay them; the accuracy is checked afterwards."""

from __future__ import annotations

from collections import deque

from array_api_compat import device

from golem.runtime.arrays import namespace, transpose
from golem.runtime.expm import epsilon_of
from golem.runtime.gpu.elimination import inverse_by_halves
from golem.runtime.gpu.review import PATIENCE, Review
from golem.runtime.in_place import add_to_diagonal, product
from golem.runtime.linear_algebra import logabsdet_and_inverse_transpose
from golem.runtime.types import Array

_FIRST_ITERATIONS, _MOST_ITERATIONS = 2, 6
# Allowed growth of the residuals until the next review.
_GROWTH = 100.0


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
        self._recent.append(_iterations_for(residuals, self._bound / _GROWTH))
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
