"""Inverses by a fixed number of products, so that a CUDA graph can replay them; the accuracy is checked afterwards."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from array_api_compat import device

from golem.runtime.arrays import namespace, transpose
from golem.runtime.expm import epsilon_of
from golem.runtime.gpu.review import PATIENCE, Review
from golem.runtime.in_place import add_product, add_to_diagonal, identity_minus, product
from golem.runtime.linear_algebra import inverse_of_small, logabsdet_and_inverse_transpose, orthonormal
from golem.runtime.types import Array

_FIRST_ITERATIONS, _MOST_ITERATIONS = 2, 6
# Allowed growth of the residuals until the next review.
_GROWTH = 100.0
# Number of directions in which a step may change an inverse by any amount.
_DIRECTIONS = 16
_POWER_STEPS = 3


class PlannedInverse:
    """Transposed inverses of matrices that change in small steps, by a number of iterations that is fixed in advance.

    Let Y be the inverse of the previous step, and E = I - M'Y its residual. The new inverse is Y (I - E)^-1. E is small
    but for the few directions of the largest singular values of Y. Let the columns of V span them. Then E = R + U V'
    with U = E V and a small rest R, and by Woodbury's formula

        (I - E)^-1 = K + K U (I - V'K U)^-1 V'K,    K = (I - R)^-1 ~ I + R + R^2.

    Newton-Schulz iterations Y + Y E follow, each of which squares the residual. If it is at most the square root of the
    rounding error before the last iteration, the result is exact to rounding. `review` checks this for all steps since
    the last review. All large operations are products, which on a GPU take a small part of the time of LU, above all
    for stacks.

    Attributes
    ----------
    iterations : int
        The plan: iterations per step, or 0 for LU.
    """

    def __init__(self, M: Array) -> None:
        xp = namespace(M)
        self.iterations = _FIRST_ITERATIONS
        self._bound = epsilon_of(M) ** 0.5
        self._recent: deque[int] = deque(maxlen=PATIENCE)
        self._inverse = xp.zeros_like(M)
        d = M.shape[-1]
        random = np.random.default_rng(0).standard_normal((d, min(_DIRECTIONS, math.ceil(d / 4))))
        self._directions = xp.asarray(random, dtype=M.dtype, device=device(M)) + xp.zeros_like(M[..., :1])
        # The largest residual before each iteration.
        self._residuals = xp.zeros(_MOST_ITERATIONS, dtype=M.dtype, device=device(M))

    def start(self, M: Array) -> None:
        """Start from the inverses of a stack of matrices, by LU."""
        self._inverse[...] = Y = logabsdet_and_inverse_transpose(M)[1]
        for _ in range(_POWER_STEPS):
            self._directions[...] = _power_step(Y, self._directions)

    def follow(self, M: Array) -> Array:
        """Return M^-T for matrices that differ little from those of the previous call."""
        xp = namespace(M)
        if self.iterations:
            Y = _woodbury(self._inverse, _residual(M, self._inverse), self._directions)
            self._directions[...] = _power_step(Y, self._directions)
        else:
            Y = logabsdet_and_inverse_transpose(M)[1]
        for k in range(self.iterations):
            E = _residual(M, Y)
            size = xp.max(xp.linalg.vector_norm(E, axis=(-2, -1)))
            self._residuals[k] = xp.maximum(self._residuals[k], size)  # keeps NaN
            Y = Y + Y @ E
        self._inverse[...] = Y
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
    while size > bound and count <= _MOST_ITERATIONS:
        size, count = size**2, count + 1
    return count if size <= bound and count <= _MOST_ITERATIONS else 0


def _residual(M: Array, Y: Array) -> Array:
    """Return I - M'Y."""
    E = product(transpose(M), Y, -1.0)
    add_to_diagonal(E, 1.0)
    return E


def _woodbury(Y: Array, E: Array, V: Array) -> Array:
    """Return approximately Y (I - E)^-1, for E that is small apart from the directions V; E is overwritten."""
    U = E @ V
    add_product(E, U, transpose(V), factor=-1.0)
    C = E + E @ E  # K - I
    KU, VK = U + C @ U, transpose(V) + transpose(V) @ C
    T = inverse_of_small(identity_minus(transpose(V) @ KU))
    # Y (K + K U T V'K)
    guess = Y + Y @ C
    add_product(guess, (Y @ KU) @ T, VK)
    return guess


def _power_step(Y: Array, V: Array) -> Array:
    """Return orthonormal columns closer to the right singular vectors of the largest singular values of Y."""
    return orthonormal(transpose(Y) @ (Y @ V))
