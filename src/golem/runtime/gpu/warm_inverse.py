"""The inverse of a matrix that moves in small steps, from the one before; checked by a product in double precision."""

from __future__ import annotations

import functools
import math

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from golem.runtime.arrays import namespace, transpose
from golem.runtime.gpu.half_precision import (
    HALF_ROUNDOFF,
    add_half_product,
    half,
    half_of_product,
    half_product,
    in_halves,
)
from golem.runtime.gpu.host_copy import HostCopy
from golem.runtime.in_place import absorb, add_product, add_to_diagonal, identity_minus
from golem.runtime.linear_algebra import inverse_of_small, logabsdet_and_inverse_transpose, orthonormal
from golem.runtime.types import Array

# Directions in which a step may change an inverse by any amount.
_DIRECTIONS = 64
# Largest residual of an inverse, in the Frobenius norm, that is expected of a correction.
_TOLERANCE = 1e-5
_MOST_CHECKS = 3
# What is rounded to half precision is brought to its range before, from 6e-5 to 65504 with all bits: steps up to 16,
# residuals up to 1, images of directions up to 1e7. Numbers beyond become infinite, and are left to LU.
_STEP_SCALE = 2.0**12
_RESIDUAL_SCALE = 2.0**16
_IMAGE_SCALE = 2.0**-8


class WarmInverse:
    """The transposed inverses of a matrix that moves in small steps.

    Let Y = M^-T be known, and M - D^T be the matrix after the step. Its transpose times Y is I - R with R = D Y, so its
    transposed inverse is Y (I - R)^-1. Steps are small, but R is not where M is nearly singular. It is large in few
    directions though, those of the largest singular values of Y. Let the columns of V span them. Then R = R_1 + U V^T
    with U = R V and a rest R_1 so small that its powers soon vanish, and by Woodbury's formula

        (I - R)^-1 = K + K U (I - V^T K U)^-1 V^T K,    K = (I - R_1)^-1 ~ I + R_1 + R_1^2 + ... + R_1^5.

    All large products here are in half precision. One in double precision then measures the residual E of the result,
    and a step of Newton and Schulz takes it off, Y (I + E), by products in half precision again: what is left is of the
    size of E^2 and of E rounded to half precision. Where that is more than the tolerance, E^2 is taken off too, or the
    residual measured again; where that does not suffice, LU is the fallback. The next call measures anew, so no error
    piles up.

    Attributes
    ----------
    calls, cold_starts, checks : int
        Number of inverses, of those by LU, and of residuals that were measured.
    """

    def __init__(self) -> None:
        self.calls = self.cold_starts = self.checks = 0
        self._matrix: Array | None = None
        self._inverse: Array | None = None
        self._directions: Array | None = None

    def follow(self, M: Array) -> Array:
        """Return M^-T for a square matrix; not to be written to."""
        self.calls += 1
        with np.errstate(all="ignore"):  # numbers beyond half precision show up in the residual
            known = self._matrix is not None and self._matrix.shape == M.shape
            Y = self._corrected(M, self._guess(M)) if known else None
            if Y is None:
                self.cold_starts += 1
                Y = logabsdet_and_inverse_transpose(M)[1]
                self._directions = _largest_directions(Y)
        self._matrix, self._inverse = M, Y
        return Y

    def _guess(self, M: Array) -> Array:
        """Return the inverse that the last one leads to, in half precision."""
        xp, Y = namespace(M), self._inverse
        D, halves = transpose(self._matrix - M), in_halves(Y)
        self._directions = V = orthonormal(_lengthened(halves[0], self._directions))
        U = D @ (Y @ V)
        rest = half_product(half_of_product(D, _STEP_SCALE), halves[0])
        add_product(rest, xp.astype(U * -_STEP_SCALE, xp.float32), xp.astype(transpose(V), xp.float32))
        C = half(_sum_of_powers(rest, 1 / _STEP_SCALE))  # K - I
        guess = Y + half_product(halves, C)  # first, as a GPU is busy with it while the small products are sent
        KU = U + half_product(C, half(U))
        VK = transpose(V) + half_product(half(transpose(V)), C)
        T = inverse_of_small(identity_minus(transpose(V) @ KU))
        add_product(guess, (Y @ KU) @ T, VK)
        return guess

    def _corrected(self, M: Array, Y: Array) -> Array | None:
        """Take the residual E off an inverse, in place; None where that does not suffice."""
        for _ in range(_MOST_CHECKS):
            self.checks += 1
            minus_E = transpose(M) @ Y
            add_to_diagonal(minus_E, -1.0)
            message = HostCopy(namespace(M).linalg.vector_norm(minus_E))
            # On with the correction, while the size is on its way.
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
    """Return X + X^2 + ... + X^5 for X = scale R, as (I + X + X^2)(I + X^3) - I; R may be used up."""
    first = half_of_product(R, scale)
    square = half_product(first, first)
    cube = half_product(first, half(square))
    absorb(square, R, scale)
    left, right = half(square), half(cube)
    square += cube
    add_half_product(square, left, right)
    return square


def _lengthened(Y: Array, V: Array) -> Array:
    """Return Y^T Y V up to a factor, for Y in half precision: a step towards the directions that Y lengthens most."""
    image = half_of_product(half_product(Y, half(V)), _IMAGE_SCALE)
    return namespace(V).astype(half_product(transpose(Y), image), V.dtype)


def _largest_directions(Y: Array) -> Array:
    """Return directions that Y lengthens most, or nearly so; anything where Y is beyond half precision."""
    xp, start = namespace(Y), _random_directions(len(Y), min(_DIRECTIONS, math.ceil(len(Y) / 2)))
    V, halved = xp.asarray(start, dtype=Y.dtype, device=array_api_compat.device(Y)), half(Y)
    for _ in range(3):  # from anywhere; the steps that follow go on with it
        W = _lengthened(halved, V)
        if not bool(xp.all(xp.isfinite(W))):
            return V
        V = xp.linalg.qr(W)[0]
    return V


@functools.lru_cache(maxsize=1)
def _random_directions(d: int, count: int) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((d, count))
