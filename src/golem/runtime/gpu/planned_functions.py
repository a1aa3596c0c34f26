"""Both matrix functions of a score by plans that need no decision on the host."""

from __future__ import annotations

from golem.runtime.arrays import namespace
from golem.runtime.gpu.planned_exponential import PlannedExponential
from golem.runtime.gpu.planned_inverse import PlannedInverse
from golem.runtime.gpu.review import Review
from golem.runtime.matrix_functions import MatrixFunctions
from golem.runtime.types import Array


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
