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
from typing import Any

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


# Taylor polynomials of degree q * r cost (q - 1) + (r - 1) products by Paterson and Stockmeyer's scheme.
_TAYLOR_SCHEMES = ((2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (4, 4), (5, 4), (5, 5))
# Up to this size one product makes all blocks of the polynomial faster than they are added up term by term; beyond,
# the stack of powers no longer fits the cache.
_BLOCKS_AT_ONCE_UP_TO = 128
# Adding a term of the polynomial costs about this many matrix products, below and from the second size.
_COST_OF_A_TERM, _LARGER_COST_BELOW = (0.2, 0.05), 64


def expm_nonnegative(A: Array) -> Array:
    """Exponential of entrywise nonnegative matrices `(..., d, d)` by scaling and squaring.

    No term of the Taylor series cancels, so rounding errors stay small, and truncation is bounded rigorously: with
    X = A / 2^s and the series of exp(X) cut after degree m, the error relative to exp(A) is in the 1-norm at most

        2^s ||X^(m+1)||_1 / (m+1)!

    The norms of the first powers of a nonnegative matrix are exact and cheap, as ||A^k||_1 is the largest entry of
    the vector 1'A^k; those of higher powers follow from submultiplicativity. This sees that a nearly acyclic matrix
    is nearly nilpotent, where ||A||_1 alone would ask for many squarings. Degree and scaling are the cheapest pair
    whose bound is below the unit roundoff.

    Examples
    --------
    >>> import numpy as np
    >>> expm_nonnegative(np.array([[0.0, 2.0], [0.0, 0.0]]))
    array([[1., 2.],
           [0., 1.]])
    """
    xp = namespace(A)
    d = A.shape[-1]
    eye = xp.eye(d, dtype=A.dtype, device=array_api_compat.device(A))
    norms = _power_norms(A)
    if not math.isfinite(norms[-1]):
        return A * xp.nan
    q, r, squarings = _cheapest_scheme(norms, float(xp.finfo(A.dtype).eps) / 2, d)

    X = A * 2.0**-squarings if squarings else A
    powers = [X]
    for _ in range(q - 1):
        powers.append(powers[-1] @ X)
    # Horner's scheme in X^q; block k is sum_j X^j / (kq + j)!, j < q, and the highest takes the power q as well.
    E = powers[-1] * (1 / math.factorial(q * r))
    for k, block in zip(range(r - 1, -1, -1), _taylor_blocks(eye, powers[:-1], q, r), strict=True):
        if k < r - 1:
            E = E @ powers[-1]
        E += block
    for _ in range(squarings):
        E = E @ E
    return E


@functools.lru_cache
def _taylor_coefficients(q: int, r: int) -> tuple[tuple[float, ...], ...]:
    """1 / (kq + j)! for j = 0 .. q-1 in row r-1-k."""
    return tuple(tuple(1 / math.factorial(k * q + j) for j in range(q)) for k in range(r - 1, -1, -1))


def _taylor_blocks(eye: Array, powers: list[Array], q: int, r: int) -> Iterator[Array]:
    """Yield sum_j X^j / (kq + j)! over j = 0 .. q-1, for k = r-1 down to 0."""
    xp, X = namespace(eye), powers[0]
    d = X.shape[-1]
    coefficients = _taylor_coefficients(q, r)
    if X.ndim == 2 and d <= _BLOCKS_AT_ONCE_UP_TO:
        weights = xp.asarray(coefficients, dtype=X.dtype, device=array_api_compat.device(X))
        blocks = weights @ xp.reshape(xp.stack([eye, *powers]), (q, d * d))
        yield from (xp.reshape(blocks[k, :], (d, d)) for k in range(r))
        return
    for row in coefficients:
        block = row[0] * eye + row[1] * X
        for coefficient, power in zip(row[2:], powers[1:], strict=True):
            block += coefficient * power
        yield block


def _power_norms(A: Array) -> list[float]:
    """||A^k||_1 for k = 1, 2, ..., the largest over the stack."""
    xp, d = namespace(A), A.shape[-1]
    # A product with a vector is cheap beside one with a matrix, the more so the larger they are.
    count = 4 if d < 64 else 8 if d < 256 else 12
    sums = xp.sum(A, axis=-2, keepdims=True)
    norms = [sums.max()]
    for _ in range(count - 1):
        sums = sums @ A
        norms.append(sums.max())
    return [float(norm) for norm in norms]


@functools.lru_cache
def _scheme_table(exact: int, cost_of_a_term: float) -> list[tuple[int, int, int, int, int, float, float]]:
    """For every scheme: q, r, degree m, how ||A^(m+1)|| follows from exact norms, log2 (m+1)!, and its cost."""
    table = []
    for q, r in _TAYLOR_SCHEMES:
        power = q * r + 1
        # ||A^power|| <= ||A^exact||^quotient ||A^rest||, or the exact norm itself.
        quotient, rest = (0, power) if power <= exact else divmod(power, exact)
        cost = q + r - 2 + cost_of_a_term * q * r
        table.append((q, r, q * r, quotient, rest, math.log2(math.factorial(power)), cost))
    return table


def _cheapest_scheme(norms: list[float], roundoff: float, d: int) -> tuple[int, int, int]:
    """Choose (q, r, squarings) with the fewest products whose truncation error is below the roundoff."""
    # In logarithms, as high powers of large norms overflow; a power that vanishes (a DAG) makes all later ones vanish.
    logs = [0.0, *(math.log2(norm) if norm > 0 else -math.inf for norm in norms)]
    log_roundoff = math.log2(roundoff)
    cost_of_a_term = _COST_OF_A_TERM[0 if d < _LARGER_COST_BELOW else 1]
    best, lowest = (2, 1, 0), math.inf
    for q, r, degree, quotient, rest, log_factorial, cost in _scheme_table(len(norms), cost_of_a_term):
        log_norm = logs[-1] * quotient + logs[rest] if quotient else logs[rest]
        excess = log_norm - log_factorial - log_roundoff
        squarings = math.ceil(excess / degree) if excess > 0 else 0
        if cost + squarings < lowest:
            best, lowest = (q, r, squarings), cost + squarings
        elif cost > lowest:
            break  # the schemes that follow cost more even without squarings
    return best
