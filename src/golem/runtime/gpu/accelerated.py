"""Accelerated matrix functions for one large matrix that changes in small steps on a GPU. Approximate and opt-in."""

from __future__ import annotations

import functools
import math
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from golem.runtime.arrays import absorb, add_product, add_to_diagonal, identity_minus, is_tensor, namespace, transpose
from golem.runtime.expm import ExpmPlan, cheapest_plan, expm_by_plan, power_norms, suffices
from golem.runtime.gpu.cuda_graphs import HostCopy
from golem.runtime.linear_algebra import (
    EXACT,
    MatrixFunctions,
    inverse_of_small,
    logabsdet_and_inverse_transpose,
    orthonormal,
)
from golem.runtime.problems import ProblemError
from golem.runtime.types import Array

# From this size on, accelerated functions replace exact ones. They are faster from about 2048 variables on, and as
# accurate from here on.
LARGE = 1024
# Truncation error of exp. A descent does not need more digits, which would cost one or two more products.
_EPSILON = 1e-6
# Allowed growth of norms in one step: the plan for exp suffices up to this factor.
_GROWTH_PER_STEP = 1.25
# Number of directions in which a step may change an inverse by any amount.
_DIRECTIONS = 64
# Largest allowed residual after a correction, in the Frobenius norm.
_TOLERANCE = 1e-5
_MOST_CHECKS = 3
# Matrices are scaled to the range of half precision, 6e-5 to 65504, before they are rounded: steps up to 16, residuals
# up to 1, images of directions up to 1e7. Larger numbers become infinite, and LU is used.
_STEP_SCALE = 2.0**12
_RESIDUAL_SCALE = 2.0**16
_IMAGE_SCALE = 2.0**-8
# Relative rounding error of half precision.
HALF_ROUNDOFF = 2.0**-11


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
    """Return whether matrices of this size are accelerated; exact functions are faster for smaller ones."""
    return d >= LARGE


class WarmInverse:
    """The transposed inverses of a matrix that changes in small steps.

    Let Y = M^-T be known, and let M - D^T be the matrix after the step. Its transpose times Y is I - R with R = D Y, so
    its transposed inverse is Y (I - R)^-1. Steps are small, but R is large if M is nearly singular, though only in the
    few directions of the largest singular values of Y. Let the columns of V span them. Then R = R_1 + U V^T with
    U = R V and a small rest R_1 whose powers vanish fast, and by Woodbury's formula

        (I - R)^-1 = K + K U (I - V^T K U)^-1 V^T K,    K = (I - R_1)^-1 ~ I + R_1 + R_1^2 + ... + R_1^5.

    All large products are in half precision. One product in double precision then gives the residual E, and a
    Newton-Schulz step Y (I + E), again in half precision, corrects it. The remaining error is of the size of E^2 and of
    the rounding of E to half precision. If this exceeds the tolerance, E^2 is corrected too, or the residual computed
    again; if that is not enough, LU is the fallback. Every call computes the residual, so errors do not accumulate.

    Attributes
    ----------
    calls, cold_starts, checks : int
        Number of inverses, of inverses by LU, and of residuals.
    """

    def __init__(self) -> None:
        self.calls = self.cold_starts = self.checks = 0
        self._matrix: Array | None = None
        self._inverse: Array | None = None
        self._directions: Array | None = None

    def follow(self, M: Array) -> Array:
        """Return M^-T for a square matrix; do not write to it."""
        self.calls += 1
        with np.errstate(all="ignore"):  # an overflow of half precision shows in the residual
            known = self._matrix is not None and self._matrix.shape == M.shape
            Y = self._corrected(M, self._guess(M)) if known else None
            if Y is None:
                self.cold_starts += 1
                Y = logabsdet_and_inverse_transpose(M)[1]
                self._directions = _largest_directions(Y)
        self._matrix, self._inverse = M, Y
        return Y

    def _guess(self, M: Array) -> Array:
        """Return an approximate inverse from the previous one, by products in half precision."""
        xp, Y = namespace(M), self._inverse
        D, halves = transpose(self._matrix - M), in_halves(Y)
        self._directions = V = orthonormal(_power_step(halves[0], self._directions))
        U = D @ (Y @ V)
        rest = half_product(half_of_product(D, _STEP_SCALE), halves[0])
        add_product(rest, xp.astype(U * -_STEP_SCALE, xp.float32), xp.astype(transpose(V), xp.float32))
        C = half(_sum_of_powers(rest, 1 / _STEP_SCALE))  # K - I
        guess = Y + half_product(halves, C)  # first, so that the GPU is busy while the small products start
        KU = U + half_product(C, half(U))
        VK = transpose(V) + half_product(half(transpose(V)), C)
        T = inverse_of_small(identity_minus(transpose(V) @ KU))
        add_product(guess, (Y @ KU) @ T, VK)
        return guess

    def _corrected(self, M: Array, Y: Array) -> Array | None:
        """Correct an inverse by its residual E, in place; return None if that is not enough."""
        for _ in range(_MOST_CHECKS):
            self.checks += 1
            minus_E = transpose(M) @ Y
            add_to_diagonal(minus_E, -1.0)
            message = HostCopy(namespace(M).linalg.vector_norm(minus_E))
            # Continue with the correction while the size is copied to the host.
            halves, E = in_halves(Y), half_of_product(minus_E, -_RESIDUAL_SCALE)
            absorb(Y, half_product(halves, E), 1 / _RESIDUAL_SCALE)
            size = message.read()
            if not size < 0.5:  # also where it is NaN
                return None
            if size**2 + HALF_ROUNDOFF * size <= _TOLERANCE:
                return Y
            square = half_of_product(half_product(E, E), 1 / _RESIDUAL_SCALE)
            absorb(Y, half_product(halves, square), 1 / _RESIDUAL_SCALE)
            if size**3 + HALF_ROUNDOFF * size <= _TOLERANCE:
                return Y
        return None


def _sum_of_powers(R: Array, scale: float) -> Array:
    """Return X + X^2 + ... + X^5 for X = scale R, as (I + X + X^2)(I + X^3) - I; R may be overwritten."""
    first = half_of_product(R, scale)
    square = half_product(first, first)
    cube = half_product(first, half(square))
    absorb(square, R, scale)
    left, right = half(square), half(cube)
    square += cube
    add_half_product(square, left, right)
    return square


def _power_step(Y: Array, V: Array) -> Array:
    """Return Y^T Y V up to a factor, for Y in half precision: a power step towards the largest singular vectors."""
    image = half_of_product(half_product(Y, half(V)), _IMAGE_SCALE)
    return namespace(V).astype(half_product(transpose(Y), image), V.dtype)


def _largest_directions(Y: Array) -> Array:
    """Return approximate right singular vectors of the largest singular values; arbitrary if Y overflows."""
    xp, start = namespace(Y), _random_directions(len(Y), min(_DIRECTIONS, math.ceil(len(Y) / 2)))
    V, halved = xp.asarray(start, dtype=Y.dtype, device=array_api_compat.device(Y)), half(Y)
    for _ in range(3):  # from random directions; later calls continue from the result
        W = _power_step(halved, V)
        if not bool(xp.all(xp.isfinite(W))):
            return V
        V = xp.linalg.qr(W)[0]
    return V


@functools.lru_cache(maxsize=1)
def _random_directions(d: int, count: int) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((d, count))


def half(A: Array) -> Array:
    """Return an array in half precision: 11 bits, at most 65504, and a spacing of 6e-8 near zero."""
    return namespace(A).astype(A, namespace(A).float16)


def half_of_product(A: Array, factor: float) -> Array:
    """Return factor A in half precision; on tensors in one pass over memory."""
    if is_tensor(A):
        import torch

        return torch.mul(A, factor, out=torch.empty_like(A, dtype=torch.float16))
    return half(A * factor)


def in_halves(A: Array) -> tuple[Array, Array]:
    """Split a matrix into the sum of two in half precision, with 22 bits together."""
    upper = half(A)
    if is_tensor(A):
        import torch

        return upper, torch.sub(A, upper, out=torch.empty_like(upper))
    return upper, half(A - upper)


def half_product(A: Array | tuple[Array, Array], B: Array) -> Array:
    """Return A B in single precision, for B and A in half precision; A can be split in two (`in_halves`)."""
    if isinstance(A, tuple):
        product = half_product(A[0], B)
        add_half_product(product, A[1], B)
        return product
    if is_tensor(A) and A.device.type == "cuda":
        import torch

        return torch.mm(A, B, out_dtype=torch.float32)
    xp = namespace(A)
    return xp.astype(A, xp.float32) @ xp.astype(B, xp.float32)


def add_half_product(total: Array, A: Array, B: Array) -> None:
    """Add A B to `total` in place, for A and B in half and `total` in single precision."""
    if is_tensor(A) and A.device.type == "cuda":
        import torch

        torch.addmm(total, A, B, out_dtype=torch.float32, out=total)
    else:
        total += half_product(A, B)


def supports_half_products(array: Array) -> bool:
    """Return whether the device of an array multiplies half-precision matrices fast."""
    return is_tensor(array) and array.device.type == "cuda" and _works_on(array.device)


@functools.cache
def _works_on(device: Any) -> bool:
    import torch

    one = torch.ones((1, 1), dtype=torch.float16, device=device)
    try:
        half_product((one, one), one)
    except torch.cuda.OutOfMemoryError:
        raise
    except (RuntimeError, TypeError):  # PyTorch before 2.8, or not an NVIDIA GPU
        return False
    return True
