"""exp(A) of nonnegative matrices, for h(B) = tr exp(B * B) - d: accurate to rounding, in few matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from golem.arrays import Array, add_scaled, identity_like, namespace


class _TaylorScheme(NamedTuple):
    """A Taylor polynomial of exp as two nested products, with nonnegative coefficients.

    With X = [I, A, A^2, ...] up to the highest power H and the rows k, l, p, q, c of `rows`,

        Q = H (k X) + l X,    exp(A) ~ (Q + p X)(Q + q X) + c X.

    Paterson and Stockmeyer's scheme needs a product more for the same degree. The rows solve the equations "coefficient
    of A^i = 1/i!" for i up to `degree`; the constant in c is 1 and the others are in q or k alone, which keeps the
    diagonal of a DAG's exponential exactly one.
    """

    degree: int
    products: int
    rows: tuple[tuple[float, ...], ...]


class ExpmPlan(NamedTuple):
    """A scheme, and how often its result is squared, the matrix having been halved as often before."""

    scheme: _TaylorScheme
    squarings: int

    @property
    def products(self) -> int:
        """Matrix products."""
        return self.scheme.products + self.squarings


_TAYLOR_SCHEMES = (
    _TaylorScheme(
        degree=8,
        products=3,
        rows=(
            (0.0, 0.019920476822239894, 0.004980119205559973),
            (0.0, 0.0, 0.07665265321119147),
            (0.0, 0.0, 0.04589946180001601),
            (2.9743072048476265, 0.8765009801785554, 0.0),
            (1.0, 1.0, 0.13549236135285064),
        ),
    ),
    _TaylorScheme(
        degree=12,
        products=4,
        rows=(
            (0.016248202146986992, 0.0021931723165325634, 0.0002741465395665704, 4.569108992776174e-05),
            (0.0, 0.16709177069573491, 0.03954965153965499, 0.0),
            (0.0, 0.0, 0.0, 0.0014977666122807474),
            (5.0192866999814205, 0.9751403315784705, 0.154473548631408, 0.0),
            (1.0, 0.16131849767055254, 0.11063137552360125, 0.0),
        ),
    ),
)
# Up to this size one product makes all sums of powers faster than they are added up term by term; beyond, the stack
# of powers no longer fits a CPU's cache.
_SUMS_AT_ONCE_UP_TO = 128


def expm_nonnegative(A: Array) -> Array:
    """Exponential of entrywise nonnegative matrices `(..., d, d)` by scaling and squaring.

    No term of the Taylor series cancels, so rounding errors stay small, and truncation is bounded rigorously: with
    X = A / 2^s and the series of exp(X) cut after degree m, the error relative to exp(A) is in the 1-norm at most

        2^s ||X^(m+1)||_1 / (m+1)!

    The norms of powers of a nonnegative matrix are exact and cheap, as ||A^k||_1 is the largest entry of the vector
    1'A^k. This sees that a nearly acyclic matrix is nearly nilpotent, where ||A||_1 alone would ask for many squarings.
    Degree and scaling are the cheapest pair whose bound is below the unit roundoff.

    Examples
    --------
    >>> import numpy as np
    >>> expm_nonnegative(np.array([[0.0, 2.0], [0.0, 0.0]]))
    array([[1., 2.],
           [0., 1.]])
    """
    square = A @ A
    norms = power_norms(A, square).tolist()
    if not math.isfinite(sum(norms)):
        return A * namespace(A).nan
    return expm_by_plan(A, square, cheapest_plan(norms, epsilon_of(A)))


def expm_by_plan(A: Array, square: Array, plan: ExpmPlan) -> Array:
    """Exponential by a given scheme and number of squarings; `square` is A^2."""
    powers = [A, square]
    while len(powers) < len(plan.scheme.rows[0]) - 1:
        powers.append(powers[-1] @ A)
    # Halving the matrix s times divides its k-th power by 2^(s k): the coefficients take that on.
    scales = [2.0 ** (-plan.squarings * k) for k in range(len(powers) + 1)]
    rows = [[c * scale for c, scale in zip(row, scales, strict=True)] for row in plan.scheme.rows]
    rows[0] = [c * scales[-1] for c in rows[0]]  # which multiplies the highest power
    kernel, low, left, right, constant = _sums_of_powers(powers, rows)
    Q = powers[-1] @ kernel
    Q += low
    left += Q
    right += Q
    E = left @ right
    E += constant
    for _ in range(plan.squarings):
        E = E @ E
    return E


def _sums_of_powers(powers: list[Array], rows: list[list[float]]) -> list[Array]:
    """Return one linear combination of I, A, A^2, ... for each row of coefficients."""
    A, xp = powers[0], namespace(powers[0])
    eye = identity_like(A)
    if type(A) is np.ndarray and A.ndim == 2 and A.shape[-1] <= _SUMS_AT_ONCE_UP_TO:
        sums = np.asarray(rows, dtype=A.dtype) @ np.stack([eye, *powers]).reshape(len(powers) + 1, -1)
        return list(sums.reshape(-1, *A.shape))
    result = []
    for row in rows:
        total = xp.zeros_like(A)
        for coefficient, power in zip(row, [eye, *powers], strict=True):
            if coefficient:
                add_scaled(total, power, coefficient)
        result.append(total)
    return result


def epsilon_of(A: Array) -> float:
    """Return the distance of 1 to the next number, in the type of an array."""
    return float(namespace(A).finfo(A.dtype).eps)


def power_norms(A: Array, square: Array) -> Array:
    """||A^k||_1 for k = 1, 2, ..., as many as the schemes ask for, each the largest over the stack."""
    xp = namespace(A)
    first = xp.sum(A, axis=-2, keepdims=True)
    # 1'A and 1'A^2 times A^2 are 1'A^3 and 1'A^4, and so on: half the products.
    sums = [xp.concat([first, first @ A], axis=-2)]
    for _ in range(_TAYLOR_SCHEMES[-1].degree // 2):
        sums.append(sums[-1] @ square)
    largest = xp.max(xp.concat(sums, axis=-2), axis=-1)
    return largest if largest.ndim == 1 else xp.max(xp.reshape(largest, (-1, largest.shape[-1])), axis=0)


def cheapest_plan(norms: Sequence[float], epsilon: float) -> ExpmPlan:
    """Return the plan with the fewest products whose truncation error is below half of `epsilon`, the unit roundoff."""
    plans = [ExpmPlan(scheme, _squarings(scheme, norms, epsilon)) for scheme in _TAYLOR_SCHEMES]
    return min(plans, key=lambda plan: plan.products)


def suffices(plan: ExpmPlan, norms: Sequence[float], epsilon: float) -> bool:
    """Tell whether the truncation error of a plan is below the unit roundoff for matrices with these norms."""
    return math.isfinite(sum(norms)) and _squarings(plan.scheme, norms, epsilon) <= plan.squarings


def _squarings(scheme: _TaylorScheme, norms: Sequence[float], epsilon: float) -> int:
    """Fewest squarings with which a scheme is exact to rounding."""
    norm, roundoff = norms[scheme.degree], epsilon / 2
    # In logarithms, as powers of large norms overflow; 2^s ||A^(m+1)|| / 2^(s(m+1)) falls by 2^m a squaring.
    excess = math.log2(norm / roundoff) - math.log2(math.factorial(scheme.degree + 1)) if norm > 0 else 0.0
    return max(0, math.ceil(excess / scheme.degree))
