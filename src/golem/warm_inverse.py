"""The inverse of a matrix that moves in small steps, from the one before: rough work, checked by an exact product."""

from __future__ import annotations

import functools
import math

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from golem.arrays import (
    Array,
    Message,
    inverse_of_small,
    logabsdet_and_inverse_transpose,
    namespace,
    orthonormal,
    transpose,
)
from golem.passes import absorb, add_product, add_to_diagonal, identity_minus
from golem.rough import HALF_ROUNDOFF, half, half_of_product, in_halves, rough_product

# Directions in which a step may change an inverse by any amount.
_DIRECTIONS = 64
# Largest residual of an inverse, in the Frobenius norm.
_TOLERANCE = 1e-5
_MOST_CHECKS = 3


class WarmInverse:
    """The transposed inverses of a matrix that moves in small steps.

    With Y = M^-T before the step, and M' - D the transposed matrix after it, (M' - D) Y = I - R, where R = D Y. So the
    new inverse is Y (I - R)^-1. Steps are small, but R is not where M is nearly singular. It is large in few
    directions though, those of the largest singular values of Y. Let the columns of V span them. Then R = R_1 + U V'
    with U = R V and a rest R_1 so small that its powers soon vanish, and by Woodbury's formula

        (I - R)^-1 = K + K U (I - V'K U)^-1 V'K,    K = (I - R_1)^-1 ~ I + R_1 + R_1^2 + ... + R_1^5.

    All large products here are rough. One in double precision then measures the residual of the inverse, and a step of
    Newton and Schulz takes it off. Where that does not reach the tolerance, LU is the fallback. So no error piles up,
    and none goes unseen.

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
                V = _some_directions(M)
                for _ in range(3):
                    V = _towards_largest(half(Y), V)
                self._directions = V
        self._matrix, self._inverse = M, Y
        return Y

    def _guess(self, M: Array) -> Array:
        """Return the inverse that the last one leads to, by rough arithmetic."""
        xp, Y = namespace(M), self._inverse
        D, halves = transpose(self._matrix - M), in_halves(Y)
        self._directions = V = _towards_largest(halves[0], self._directions)
        U = D @ (Y @ V)
        rest = rough_product(half(D), halves[0])
        add_product(rest, xp.astype(-U, xp.float32), xp.astype(transpose(V), xp.float32))  # R_1
        C = half(_sum_of_powers(rest))  # K - I
        KU = U + rough_product(C, half(U))
        VK = transpose(V) + rough_product(half(transpose(V)), C)
        T = inverse_of_small(identity_minus(transpose(V) @ KU))
        guess = Y + rough_product(halves, C)
        add_product(guess, (Y @ KU) @ T, VK)
        return guess

    def _corrected(self, M: Array, Y: Array) -> Array | None:
        """Take the residual R off an inverse, Y (I + R + R^2), in place; None where that does not suffice."""
        scale = HALF_ROUNDOFF / len(M)
        for _ in range(_MOST_CHECKS):
            self.checks += 1
            residual = transpose(M) @ Y
            add_to_diagonal(residual, -1.0)
            message = Message(namespace(M).linalg.vector_norm(residual))
            # On with the correction, while the size is on its way; in numbers that half precision can tell apart.
            halves, R = in_halves(Y), half_of_product(residual, -1 / scale)
            absorb(Y, rough_product(halves, R), scale)
            size = message.read()
            if not size < 0.5:  # also where it is NaN
                return None
            if size**2 + HALF_ROUNDOFF * size <= _TOLERANCE:
                return Y
            square = rough_product(R, R)
            square *= scale
            absorb(Y, rough_product(halves, half(square)), scale)
            if size**3 + HALF_ROUNDOFF * size <= _TOLERANCE:
                return Y
        return None


def _sum_of_powers(R: Array) -> Array:
    """Return R + R^2 + ... + R^5 as (I + R + R^2)(I + R^3) - I."""
    first = half(R)
    square = rough_product(first, first)
    cube = rough_product(first, half(square))
    square += R
    total = rough_product(half(square), half(cube))
    total += square
    total += cube
    return total


def _towards_largest(Y: Array, V: Array) -> Array:
    """Turn directions towards those that Y, in half precision, lengthens most: a step of subspace iteration."""
    W = rough_product(transpose(Y), half(rough_product(Y, half(V))))
    return orthonormal(namespace(V).astype(W, V.dtype))


def _some_directions(M: Array) -> Array:
    """Return directions to begin with, in the type and place of a matrix."""
    start = _random_directions(len(M), min(_DIRECTIONS, math.ceil(len(M) / 2)))
    return namespace(M).asarray(start, dtype=M.dtype, device=array_api_compat.device(M))


@functools.lru_cache(maxsize=1)
def _random_directions(d: int, count: int) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((d, count))
