"""Arrays of any library: namespace, device, and the two matrix functions that every score needs.

Kernels are written once against the array API standard, for stacks of matrices `(..., d, d)`. NumPy arrays stay
NumPy arrays and torch tensors stay torch tensors on their device. This is the only module that knows torch.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
from array_api_compat import is_torch_array

# Below this size a second BLAS thread costs more than it brings, and the pools of NumPy and SciPy get in each other's
# way: on two cores a step of Adam at d = 100 to 400 takes twice as long with threads as without.
_THREADS_PAY_FROM = 800

# The array API has no nominal type; an Array is whatever `namespace` accepts.
Array = Any


def namespace(array: Array) -> Any:
    """Return the array API namespace of an array."""
    # The usual case at a tenth of the cost: a kernel on small matrices asks several times.
    return numpy_namespace if type(array) is np.ndarray else array_api_compat.array_namespace(array)


def to_numpy(array: Array) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array of any library and device as a NumPy array."""
    return np.asarray(array.detach().cpu() if is_torch_array(array) else array)


def to_device(array: np.ndarray[Any, np.dtype[Any]], device: str) -> Array:
    """Place a NumPy array: `"cpu"` keeps NumPy, anything else is the name of a torch device.

    Raises
    ------
    ValueError
        If torch is not installed or does not see the device.
    """
    if device == "cpu":
        return array
    try:
        import torch
    except ImportError:
        raise ValueError(
            f"device={device!r} needs PyTorch, which is not installed: pip install 'golem-dag[gpu]', "
            "or use device='cpu'"
        ) from None
    try:
        return torch.asarray(array, device=torch.device(device))
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"PyTorch cannot use device={device!r} here ({reason}); use device='cpu'") from None


class _BlasLimit:
    """One limit on BLAS threads, shared by all solves that run at a time.

    The number of threads is a property of the process: were every solve to save and restore it, overlapping solves in
    different threads would restore each other's limit in the end.
    """

    def __init__(self) -> None:
        self._lock, self._solves, self._limit = threading.Lock(), 0, contextlib.ExitStack()

    def enter(self) -> None:
        """Limit BLAS to one thread, if this is the first of the running solves."""
        import threadpoolctl

        with self._lock:
            self._solves += 1
            if self._solves == 1:
                self._limit.enter_context(threadpoolctl.threadpool_limits(1, user_api="blas"))

    def leave(self) -> None:
        """Lift the limit, if this was the last of the running solves."""
        with self._lock:
            self._solves -= 1
            if self._solves == 0:
                self._limit.close()


_BLAS_LIMIT = _BlasLimit()


@contextlib.contextmanager
def blas_threads_for(d: int) -> Iterator[None]:
    """Keep BLAS to one thread where matrices are small."""
    if d >= _THREADS_PAY_FROM:
        yield
        return
    _BLAS_LIMIT.enter()
    try:
        yield
    finally:
        _BLAS_LIMIT.leave()


def available_cores() -> int:
    """Cores this process may use, which in a container or a batch job are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def identity_minus(B: Array) -> Array:
    """Return I - B for a stack of square matrices."""
    xp = namespace(B)
    return xp.eye(B.shape[-1], dtype=B.dtype, device=array_api_compat.device(B)) - B


def transpose(A: Array) -> Array:
    """Transpose the last two axes."""
    return namespace(A).linalg.matrix_transpose(A)


def logabsdet_and_inverse_transpose(M: Array) -> tuple[Array, Array]:
    """Return log|det M| and M^-T, the gradient of the former, for a stack of square matrices.

    A singular matrix has log|det M| = -inf and an inverse of NaNs: the caller sees a non-finite score and steps
    back, instead of an exception in the middle of a batch.
    """
    if is_torch_array(M):
        import torch

        inverse, _ = torch.linalg.inv_ex(M)
        return torch.linalg.slogdet(M)[1], inverse.mT
    if M.ndim == 2:
        return _lapack_logabsdet_and_inverse_transpose(M)
    xp = namespace(M)
    sign, logabsdet = xp.linalg.slogdet(M)
    singular = (sign == 0)[..., None, None]
    inverse = xp.linalg.inv(xp.where(singular, xp.eye(M.shape[-1], dtype=M.dtype), M))
    return logabsdet, transpose(xp.where(singular, xp.nan, inverse))


def _lapack_logabsdet_and_inverse_transpose(M: Array) -> tuple[Array, Array]:
    """One NumPy matrix: a single LU factorization serves both the determinant and the inverse."""
    factorize, invert, workspace = _lapack(M.dtype.char, M.shape[0])
    lu, pivots, info = factorize(M)
    if info != 0:
        return M.dtype.type(-np.inf), np.full_like(M, np.nan)
    logabsdet = np.log(np.abs(lu.diagonal())).sum()
    inverse, _ = invert(lu, pivots, lwork=workspace, overwrite_lu=True)
    # LAPACK answers in Fortran order, so its transpose is the C-ordered gradient without a copy.
    return logabsdet, inverse.T


@functools.lru_cache
def _lapack(dtype: str, d: int) -> tuple[Any, Any, int]:
    """LAPACK's LU factorization and inversion for a type, and the work space for a size."""
    from scipy.linalg.lapack import get_lapack_funcs

    factorize, invert, query = get_lapack_funcs(("getrf", "getri", "getri_lwork"), dtype=dtype)
    return factorize, invert, int(query(d)[0].real)


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
# of powers no longer fits the cache.
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
    xp = namespace(A)
    square = A @ A
    norms = _power_norms(A, square)
    if not math.isfinite(sum(norms)):
        return A * xp.nan
    scheme, squarings = _cheapest_scheme(norms, float(xp.finfo(A.dtype).eps) / 2)
    powers = [A, square]
    while len(powers) < len(scheme.rows[0]) - 1:
        powers.append(powers[-1] @ A)
    if squarings:
        powers = [power * 2.0 ** (-squarings * k) for k, power in enumerate(powers, start=1)]
    kernel, low, left, right, constant = _sums_of_powers(powers, scheme.rows)
    Q = powers[-1] @ kernel
    Q += low
    left += Q
    right += Q
    E = left @ right
    E += constant
    for _ in range(squarings):
        E = E @ E
    return E


def _sums_of_powers(powers: list[Array], rows: tuple[tuple[float, ...], ...]) -> list[Array]:
    """Return one linear combination of I, A, A^2, ... for each row of coefficients."""
    A, xp = powers[0], namespace(powers[0])
    d, where = A.shape[-1], array_api_compat.device(A)
    eye = xp.eye(d, dtype=A.dtype, device=where)
    if A.ndim == 2 and d <= _SUMS_AT_ONCE_UP_TO:
        sums = xp.asarray(rows, dtype=A.dtype, device=where) @ xp.reshape(xp.stack([eye, *powers]), (len(powers) + 1, d * d))
        return [xp.reshape(sums[k, :], (d, d)) for k in range(len(rows))]
    result = []
    for row in rows:
        total = xp.zeros_like(A)
        for coefficient, power in zip(row, [eye, *powers], strict=True):
            if coefficient:
                total += coefficient * power
        result.append(total)
    return result


def _power_norms(A: Array, square: Array) -> tuple[float, ...]:
    """||A^k||_1 for k = 1, 2, ..., as many as the schemes ask for, each the largest over the stack."""
    xp = namespace(A)
    first = xp.sum(A, axis=-2, keepdims=True)
    # 1'A and 1'A^2 times A^2 are 1'A^3 and 1'A^4, and so on: half the products.
    sums = [xp.concat([first, first @ A], axis=-2)]
    for _ in range(_TAYLOR_SCHEMES[-1].degree // 2):
        sums.append(sums[-1] @ square)
    largest = xp.max(xp.concat(sums, axis=-2), axis=-1)
    if largest.ndim > 1:
        largest = xp.max(xp.reshape(largest, (-1, largest.shape[-1])), axis=0)
    return tuple(largest.tolist())


def _cheapest_scheme(norms: tuple[float, ...], roundoff: float) -> tuple[_TaylorScheme, int]:
    """Choose the scheme and the squarings with the fewest products whose truncation error is below the roundoff."""
    plans = []
    for scheme in _TAYLOR_SCHEMES:
        norm = norms[scheme.degree]  # of the power degree + 1
        # In logarithms, as powers of large norms overflow; 2^s ||A^(m+1)|| / 2^(s(m+1)) falls by 2^m a squaring.
        excess = math.log2(norm / roundoff) - math.log2(math.factorial(scheme.degree + 1)) if norm > 0 else 0.0
        squarings = max(0, math.ceil(excess / scheme.degree))
        plans.append((scheme.products + squarings, squarings, scheme))
    _, squarings, scheme = min(plans, key=lambda plan: plan[0])
    return scheme, squarings
