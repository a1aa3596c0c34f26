"""R_DAG(B): functions h(B) >= 0 that are zero exactly on directed acyclic graphs.

All three are weighted sums over the closed walks of the nonnegative matrix A = B * B (entrywise). A DAG has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import array_api_compat

from golem.runtime.arrays import namespace, transpose
from golem.runtime.linear_algebra import exponentiate, logabsdet_and_inverse_transpose
from golem.runtime.types import Array


@runtime_checkable
class Acyclicity(Protocol):
    """A smooth characterization of acyclicity, a function of A = B * B.

    By the chain rule, the gradient with respect to B is 2 B times the derivative with respect to A, entrywise.

    Examples
    --------
    >>> from golem.score import Acyclicity, Expm
    >>> isinstance(Expm(), Acyclicity)
    True
    """

    def value_and_slope(self, A: Array) -> tuple[Array, Array]:
        """Return h `(...,)` and its derivative with respect to A `(..., d, d)`."""

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return h(B) `(...,)` and its gradient `(..., d, d)`."""
        value, slope = self.value_and_slope(B * B)
        return value, 2 * B * slope


@dataclass(frozen=True)
class Expm(Acyclicity):
    """The paper's penalty (Zheng et al. 2018): h = tr exp(B*B) - d, with gradient 2 B * exp(B*B)'.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.score import Expm
    >>> h, gradient = Expm().value_and_grad(np.array([[0.0, 0.5], [0.5, 0.0]]))  # a cycle
    >>> round(float(h), 4)
    0.0628
    """

    def value_and_slope(self, A: Array) -> tuple[Array, Array]:
        """Return h `(...,)` and exp(A)'."""
        E = exponentiate(A)
        return namespace(A).linalg.trace(E) - A.shape[-1], transpose(E)


@dataclass(frozen=True)
class Polynomial(Acyclicity):
    """Yu et al. (2019): h = tr((I + B*B/d)^d) - d, with gradient 2 B * ((I + B*B/d)^(d-1))'.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.score import Polynomial
    >>> h, gradient = Polynomial().value_and_grad(np.array([[0.0, 0.5], [0.5, 0.0]]))  # a cycle
    >>> round(float(h), 4)
    0.0312
    """

    def value_and_slope(self, A: Array) -> tuple[Array, Array]:
        """Return h `(...,)` and ((I + A/d)^(d-1))'."""
        xp = namespace(A)
        d = A.shape[-1]
        base = A / d + xp.eye(d, dtype=A.dtype, device=array_api_compat.device(A))
        power = xp.linalg.matrix_power(base, d - 1)
        # tr(power @ base) without the product.
        trace = xp.sum(power * transpose(base), axis=(-2, -1))
        return trace - d, transpose(power)


@dataclass(frozen=True)
class LogDet(Acyclicity):
    """Bello et al. (2022): h = d log s - log det(sI - B*B), with gradient 2 B * (sI - B*B)^-T.

    It is defined where the spectral radius of B*B is below `s`. There sI - B*B is an M-matrix: its inverse is
    nonnegative. Elsewhere h is infinite and the gradient is NaN, so that solvers step back.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.score import LogDet
    >>> h, gradient = LogDet().value_and_grad(np.array([[0.0, 0.5], [0.5, 0.0]]))  # a cycle
    >>> round(float(h), 4)
    0.0645
    """

    s: float = 1.0

    def __post_init__(self) -> None:
        if not self.s > 0:
            raise ValueError(f"LogDet needs s > 0; got s={self.s}.")

    def value_and_slope(self, A: Array) -> tuple[Array, Array]:
        """Return h `(...,)` and (sI - A)^-T."""
        xp = namespace(A)
        d = A.shape[-1]
        M = self.s * xp.eye(d, dtype=A.dtype, device=array_api_compat.device(A)) - A
        # Not `invert`: its accelerated version does not compute the determinant.
        logabsdet, inverse_transpose = logabsdet_and_inverse_transpose(M)
        # Rounding can leave tiny negative entries where the exact inverse is zero. NaN counts as outside.
        slack = d * float(xp.finfo(A.dtype).eps) * xp.max(xp.abs(inverse_transpose), axis=(-2, -1))
        inside = (xp.min(inverse_transpose, axis=(-2, -1)) >= -slack) & (logabsdet > -xp.inf)
        h = d * math.log(self.s) - logabsdet
        return xp.where(inside, h, xp.inf), xp.where(inside[..., None, None], inverse_transpose, xp.nan)


# The terms that have a name.
ACYCLICITIES: dict[str, Acyclicity] = {"expm": Expm(), "polynomial": Polynomial(), "logdet": LogDet()}
