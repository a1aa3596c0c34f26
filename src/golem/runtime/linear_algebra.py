"""Linear algebra that differs between libraries: determinants, inverses, orthonormal bases, products X'X.

The two matrix functions of a score, `invert` and `exponentiate`, are exact to rounding unless a solver evaluates the
score inside `using(...)`, with functions that are faster for matrices that change in small steps.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from golem.runtime.arrays import is_tensor, namespace, transpose
from golem.runtime.devices import imported_torch
from golem.runtime.expm import expm_nonnegative
from golem.runtime.types import Array, Matrix

# OpenBLAS 0.3.31 crashes if several threads compute X'X with more than 19 000 columns.
_WIDEST = 8192


def logabsdet_and_inverse_transpose(M: Array) -> tuple[Array, Array]:
    """Return log|det M| and M^-T, the gradient of the former, for a stack of square matrices.

    A singular matrix gives log|det M| = -inf and an inverse of NaNs instead of an exception in the middle of a stack.
    The caller sees a score that is not finite and steps back.
    """
    if is_tensor(M):
        import torch

        if M.device.type == "cuda":
            _prefer_cusolver()
        lu, pivots, _ = torch.linalg.lu_factor_ex(M)
        diagonal = torch.diagonal(lu, dim1=-2, dim2=-1)
        eye = torch.eye(M.shape[-1], dtype=M.dtype, device=M.device).expand(M.shape)
        # M' Y = I gives the transposed inverse from the same factors.
        inverse_transpose = torch.linalg.lu_solve(lu, pivots, eye, adjoint=True)
        singular = (diagonal == 0).any(dim=-1)[..., None, None]
        return diagonal.abs().log().sum(dim=-1), inverse_transpose.masked_fill(singular, math.nan)
    if M.ndim == 2:
        return _lapack_logabsdet_and_inverse_transpose(M)
    xp = namespace(M)
    sign, logabsdet = xp.linalg.slogdet(M)
    singular = (sign == 0)[..., None, None]
    inverse = xp.linalg.inv(xp.where(singular, xp.eye(M.shape[-1], dtype=M.dtype), M))
    return logabsdet, transpose(xp.where(singular, xp.nan, inverse))


def gram(X: Matrix, out: Matrix | None = None) -> Matrix:
    """Return X'X, in `out` if it is given; a wide X is multiplied in blocks of columns."""
    d = X.shape[1]
    if d <= _WIDEST:
        product: Matrix = np.matmul(X.T, X, out=out)
        return product
    found = np.empty((d, d), dtype=X.dtype) if out is None else out
    for start in range(0, d, _WIDEST):
        block, later = slice(start, start + _WIDEST), slice(start + _WIDEST, d)
        own = X[:, block]
        found[block, block] = own.T @ own
        found[block, later] = own.T @ X[:, later]
        found[later, block] = found[block, later].T
    return found


def orthonormal(W: Array) -> Array:
    """Return orthonormal columns with the span of the columns of a tall matrix; undefined if they are dependent.

    The Cholesky factor of W'W takes a few small operations on a GPU, where Householder reflections take milliseconds.
    """
    xp = namespace(W)
    gram = transpose(W) @ W
    if is_tensor(W):
        import torch

        factor, _ = torch.linalg.cholesky_ex(gram, upper=True)
        return torch.linalg.solve_triangular(factor, W, upper=True, left=False)
    try:
        return W @ transpose(xp.linalg.inv(xp.linalg.cholesky(gram)))
    except np.linalg.LinAlgError:
        return W * xp.nan


def inverse_of_small(A: Array) -> Array:
    """Return the inverse of a small matrix without copying it to the host; undefined if it is singular."""
    if is_tensor(A):
        import torch

        return torch.linalg.inv_ex(A).inverse
    try:
        return np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return A * np.nan


@functools.cache
def _prefer_cusolver() -> None:
    """Let PyTorch use cuSOLVER also for stacks: twice as fast as its default, and CUDA graphs can replay it."""
    cuda = imported_torch().backends.cuda
    if cuda.preferred_linalg_library().name != "Cusolver":
        cuda.preferred_linalg_library("cusolver")


def _lapack_logabsdet_and_inverse_transpose(M: Array) -> tuple[Array, Array]:
    """Compute determinant and inverse of one NumPy matrix from a single LU factorization."""
    factorize, invert, workspace = _lapack(M.dtype.char, M.shape[0])
    lu, pivots, info = factorize(M)
    if info != 0:
        return M.dtype.type(-np.inf), np.full_like(M, np.nan)
    logabsdet = np.log(np.abs(lu.diagonal())).sum()
    inverse, _ = invert(lu, pivots, lwork=workspace, overwrite_lu=True)
    # LAPACK returns Fortran order, so the transpose is in C order without a copy.
    return logabsdet, inverse.T


@functools.lru_cache
def _lapack(dtype: str, d: int) -> tuple[Any, Any, int]:
    """Return LAPACK's LU factorization and inversion for a type, and the workspace for a size."""
    from scipy.linalg.lapack import get_lapack_funcs

    factorize, invert, query = get_lapack_funcs(("getrf", "getri", "getri_lwork"), dtype=dtype)
    return factorize, invert, int(query(d)[0].real)


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
