"""exp(A) of nonnegative matrices, as needed for h(B) = tr exp(B * B) - d, exact to rounding in few products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from golem.runtime.arrays import (
    add_product,
    add_scaled,
    add_to_diagonal,
    identity_like,
    namespace,
    plus_scaled,
    product,
)
from golem.runtime.types import Array


class _TaylorScheme(NamedTuple):
    """A Taylor polynomial of exp as two nested products, with nonnegative coefficients.

    With X = [I, A, A^2, ...] up to the highest power H and the rows k, l, p, q, c of `rows`,

        Q = H (k X) + l X,    exp(A) ~ (Q + p X)(Q + q X) + c X.

    Paterson and Stockmeyer's scheme needs one more product for the same degree. The rows solve the equations
    "coefficient of A^i = 1/i!" for i up to `degree`. The constant in c is 1 and other constants are only in q and k, so
    the diagonal of a DAG's exponential is exactly one.
    """

    degree: int
    products: int
    rows: tuple[tuple[float, ...], ...]

    @property
    def powers(self) -> int:
        """Number of powers of A that the scheme needs."""
        return len(self.rows[0]) - 1

    def evaluate(self, powers: list[Array], squarings: int) -> Array:
        """Return the polynomial of A / 2^s from the powers of A."""
        # Halving the matrix s times divides its k-th power by 2^(s k). This goes into the coefficients.
        scales = [2.0 ** (-squarings * k) for k in range(len(powers) + 1)]
        rows = [[c * scale for c, scale in zip(row, scales, strict=True)] for row in self.rows]
        rows[0] = [c * scales[-1] for c in rows[0]]  # this row multiplies the highest power
        if type(powers[0]) is np.ndarray and powers[0].ndim == 2 and len(powers[0]) <= _SUMS_AT_ONCE_UP_TO:
            kernel, Q, left, right, E = _sums_at_once(powers, rows)
            Q += powers[-1] @ kernel
            left += Q
            right += Q
            E += left @ right
            return E
        kernel, factor = _monic_sum(powers, rows[0])
        if any(rows[1]):
            Q, share = _monic_sum(powers, rows[1])
            add_product(Q, powers[-1], kernel, share, factor)
        else:
            Q = product(powers[-1], kernel, factor)
        return _last_product(powers, rows[4], _plus_sum(Q, powers, rows[2]), _plus_sum(Q, powers, rows[3]))


class _NestedScheme:
    """The Taylor polynomial of degree 14 as three nested products, with nonnegative coefficients.

        Y = A^2 (a_2 A^2 + a_1 A),   Z = (Y + b_2 A^2 + b_1 A)(Y + c_2 A^2 + c_1 A),
        exp(A) ~ (Z + p_3 Y + p_2 A^2)(Z + q_3 Y + q_2 A^2 + q_1 A) + r_3 Z + r_2 A^2 + A + I.

    It needs as many products as the scheme of degree 12 and more sums, so it is faster for large matrices. Its terms in
    A^15 and A^16 are 0.77 and 0.32 times those of the series, so the truncation bound of the series holds.
    """

    degree, products, powers = 14, 4, 2
    _a = (0.003393164910937191, 0.00035213185731340846)
    _b = (0.17890948894528913, 0.010158179061225937)
    _c = (0.06830512706744572, 0.023106289221143904)
    _p = (0.0, 0.03809849370428072, 0.13505596611306656)
    _q = (1.6018695338113311, 0.2672246994623871, 7.341133229137308)
    _r = (1.0, 0.28215315081883996, 17.82643927804369)

    def evaluate(self, powers: list[Array], squarings: int) -> Array:
        """Return the polynomial of A / 2^s from A and A^2."""
        once, twice = 2.0**-squarings, 4.0**-squarings

        def scaled(row: tuple[float, ...]) -> list[float]:
            return [0.0, row[0] * once, row[1] * twice, *row[2:]]

        kernel, factor = _monic_sum(powers, scaled(self._a))
        Y = product(powers[1], kernel, factor * twice)
        Z = _plus_sum(Y, powers, scaled(self._b)) @ _plus_sum(Y, powers, scaled(self._c))
        left, right = (_plus_sum(Z, [*powers, Y], scaled(row)) for row in (self._p, self._q))
        return _last_product([*powers, Z], [1.0, *scaled(self._r)[1:]], left, right)


_Scheme = _TaylorScheme | _NestedScheme


class ExpmPlan(NamedTuple):
    """A scheme, and how often the matrix is halved before it and the result squared after it."""

    scheme: _Scheme
    squarings: int

    @property
    def products(self) -> int:
        """Number of matrix products."""
        return self.scheme.products + self.squarings


_TAYLOR_SCHEMES = (
    _TaylorScheme(
        degree=8,
        products=3,
        rows=(
            (0.07665265321119147, 0.019920476822239894, 0.004980119205559973),
            (0.0, 0.0, 0.0),
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
_NESTED_SCHEME = _NestedScheme()
# Up to this size it is faster to compute all sums of powers by one product than term by term. Beyond it, the stack of
# powers does not fit the cache of a CPU.
_SUMS_AT_ONCE_UP_TO = 128
# From this size on, a product takes longer than six sums.
_NESTED_FROM = 512


def expm_nonnegative(A: Array) -> Array:
    """Return the exponential of entrywise nonnegative matrices `(..., d, d)` by scaling and squaring.

    No terms of the Taylor series cancel, so rounding errors stay small. If the series of exp(X), X = A / 2^s, is cut
    after degree m, the relative error of exp(A) in the 1-norm is at most

        2^s ||X^(m+1)||_1 / (m+1)!

    The norms of powers of a nonnegative matrix are exact and cheap: ||A^k||_1 is the largest entry of the vector 1'A^k.
    They show that a nearly acyclic matrix is nearly nilpotent; ||A||_1 would require many squarings. Degree and scaling
    are the cheapest pair with a bound below the unit roundoff.

    Examples
    --------
    >>> import numpy as np
    >>> expm_nonnegative(np.array([[0.0, 2.0], [0.0, 0.0]]))
    array([[1., 2.],
           [0., 1.]])
    """
    square = A @ A
    norms = power_norms(A, square).tolist()
    if math.isfinite(sum(norms)):
        return expm_by_plan([A, square], cheapest_plan(norms, epsilon_of(A)))
    if A.ndim == 2:
        return A * namespace(A).nan
    # One by one, so that an overflow in one matrix does not affect the others of the stack.
    return namespace(A).stack([expm_nonnegative(A[k, ...]) for k in range(A.shape[0])])


def expm_by_plan(powers: list[Array], plan: ExpmPlan) -> Array:
    """Return the exponential by a given plan from A, A^2 and possibly higher powers."""
    powers = powers[: plan.scheme.powers]
    while len(powers) < plan.scheme.powers:
        powers.append(powers[-1] @ powers[0])
    E = plan.scheme.evaluate(powers, plan.squarings)
    for _ in range(plan.squarings):
        E = E @ E
    return E


def _sums_at_once(powers: list[Array], rows: list[list[float]]) -> list[Array]:
    """Return one linear combination of I, A, A^2, ... per row of coefficients, all by one product."""
    A = powers[0]
    sums = np.asarray(rows, dtype=A.dtype) @ np.stack([identity_like(A), *powers]).reshape(len(powers) + 1, -1)
    return list(sums.reshape(-1, *A.shape))


def _plus_sum(other: Array, powers: list[Array], row: list[float]) -> Array:
    """Return the sum of a matrix and a linear combination of I and powers, in one pass over memory per power."""
    (power, coefficient), *rest = _terms(powers, row)
    return _with_terms(plus_scaled(other, power, coefficient), rest, row[0])


def _monic_sum(powers: list[Array], row: list[float]) -> tuple[Array, float]:
    """Return a linear combination divided by its first coefficient, which saves a pass, and that coefficient."""
    (power, factor), (other, coefficient), *rest = _terms(powers, row)
    rest = [(power, c / factor) for power, c in rest]
    return _with_terms(plus_scaled(power, other, coefficient / factor), rest, row[0] / factor), factor


def _last_product(powers: list[Array], row: list[float], left: Array, right: Array) -> Array:
    """Return the product of two matrices plus a linear combination of I and powers."""
    E, share = _monic_sum(powers, [0.0, *row[1:]])
    add_product(E, left, right, share)
    add_to_diagonal(E, row[0])  # last, so that 1 stays exactly 1
    return E


def _terms(powers: list[Array], row: list[float]) -> list[tuple[Array, float]]:
    return [(power, coefficient) for power, coefficient in zip(powers, row[1:], strict=True) if coefficient]


def _with_terms(total: Array, terms: list[tuple[Array, float]], constant: float) -> Array:
    for power, coefficient in terms:
        add_scaled(total, power, coefficient)
    if constant:
        add_to_diagonal(total, constant)
    return total


def epsilon_of(A: Array) -> float:
    """Return the distance from 1 to the next larger number in the type of an array."""
    return float(namespace(A).finfo(A.dtype).eps)


def power_norms(A: Array, square: Array) -> Array:
    """Return the largest ||A^k||_1 over the stack for k = 1, 3, ..., as many as the schemes for this size need."""
    xp = namespace(A)
    degree = (_NESTED_SCHEME if A.shape[-1] >= _NESTED_FROM else _TAYLOR_SCHEMES[-1]).degree
    sums = [xp.sum(A, axis=-2, keepdims=True)]
    for _ in range(degree // 2):
        sums.append(sums[-1] @ square)
    largest = xp.max(xp.concat(sums, axis=-2), axis=-1)
    return largest if largest.ndim == 1 else xp.max(xp.reshape(largest, (-1, largest.shape[-1])), axis=0)


def cheapest_plan(norms: Sequence[float], epsilon: float) -> ExpmPlan:
    """Return the plan with the fewest products and a truncation error below the unit roundoff, `epsilon` / 2."""
    schemes = [scheme for scheme in (*_TAYLOR_SCHEMES, _NESTED_SCHEME) if scheme.degree // 2 < len(norms)]
    plans = [ExpmPlan(scheme, _squarings(scheme, norms, epsilon)) for scheme in schemes]
    return min(plans, key=lambda plan: plan.products)


def suffices(plan: ExpmPlan, norms: Sequence[float], epsilon: float) -> bool:
    """Return whether the truncation error of a plan is below the unit roundoff for matrices with these norms."""
    return math.isfinite(sum(norms)) and _squarings(plan.scheme, norms, epsilon) <= plan.squarings


def _squarings(scheme: _Scheme, norms: Sequence[float], epsilon: float) -> int:
    """Return the fewest squarings with which a scheme is exact to rounding."""
    norm, roundoff = norms[scheme.degree // 2], epsilon / 2  # the norm of A^(m+1)
    # In logarithms, because powers of large norms overflow. The bound falls by a factor of 2^m per squaring.
    excess = math.log2(norm / roundoff) - math.log2(math.factorial(scheme.degree + 1)) if norm > 0 else 0.0
    return max(0, math.ceil(excess / scheme.degree))
