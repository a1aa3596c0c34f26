"""The two matrix functions of a score, inverse and exp, and the only place where a solver can replace them.

The terms of the score call `invert` and `exponentiate`. Both are exact to rounding unless a solver evaluates the score
inside `using(...)`, with functions that are faster for matrices that change in small steps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from golem.runtime.expm import expm_nonnegative
from golem.runtime.linear_algebra import logabsdet_and_inverse_transpose
from golem.runtime.types import Array


class MatrixFunctions:
    """The exact functions: LU, and a Taylor polynomial chosen for the given matrix."""

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return log|det M| and M^-T for a stack of square matrices."""
        return logabsdet_and_inverse_transpose(M)

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A) for a stack of nonnegative matrices."""
        return expm_nonnegative(A)


EXACT = MatrixFunctions()
_current: ContextVar[MatrixFunctions] = ContextVar("matrix_functions", default=EXACT)


@contextlib.contextmanager
def using(functions: MatrixFunctions) -> Iterator[None]:
    """Evaluate scores with other functions inside the block, only in this thread."""
    before = _current.set(functions)
    try:
        yield
    finally:
        _current.reset(before)


def invert(M: Array) -> tuple[Array, Array]:
    """Return log|det M| and M^-T, the gradient of the former, for a stack of square matrices."""
    return _current.get().invert(M)


def exponentiate(A: Array) -> Array:
    """Return exp(A) for a stack of nonnegative matrices."""
    return _current.get().exponentiate(A)
