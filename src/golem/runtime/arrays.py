"""Arrays of NumPy and torch: their namespaces, copies between libraries and devices, and operations in few passes.

Kernels are written once against the array API standard, for stacks of matrices `(..., d, d)`. NumPy arrays stay NumPy
arrays and torch tensors stay torch tensors on their device.

The cost of a sum is its passes over memory for large matrices and its temporary arrays for small ones. NumPy and torch
avoid them in different ways, so sums and products in place are written for each.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeGuard

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np

from golem.runtime.machine import available_cores
from golem.runtime.types import Array

_THREADS_DIVIDE_FROM = 2**24


def namespace(array: Array) -> Any:
    """Return the array API namespace of an array."""
    # A shortcut for the usual case, ten times as fast: kernels on small matrices call this several times.
    return numpy_namespace if type(array) is np.ndarray else array_api_compat.array_namespace(array)


def is_tensor(array: Array) -> TypeGuard[Any]:
    """Return whether an array is a torch tensor."""
    return type(array) is not np.ndarray and array_api_compat.is_torch_array(array)


def to_numpy(array: Array) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array of any library and device as a NumPy array."""
    if not is_tensor(array):
        return np.asarray(array)
    if str(array.dtype) == "torch.bfloat16":  # NumPy has no such type
        array = array.float()
    if array.device.type == "cpu":
        return np.asarray(array.detach())
    import torch

    # New memory is mapped page by page when it is first written. `zeros` does so with many threads.
    host = torch.zeros(array.shape, dtype=array.dtype)
    host.copy_(array)
    return np.asarray(host)


def as_floats(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return values in float64; NumPy warns of some kinds of NaN in float32."""
    with np.errstate(invalid="ignore"):
        return np.asarray(values, dtype=float)


def divided(array: np.ndarray[Any, np.dtype[Any]], by: float) -> np.ndarray[Any, np.dtype[Any]]:
    """Divide a matrix by a number, with many threads if it is large."""
    if array.size < _THREADS_DIVIDE_FROM:
        return array / by
    result, cores = np.empty_like(array), available_cores()
    edges = np.linspace(0, len(array), 4 * cores + 1).astype(int)
    with ThreadPoolExecutor(cores) as pool:
        list(
            pool.map(
                lambda k: np.divide(array[edges[k] : edges[k + 1]], by, out=result[edges[k] : edges[k + 1]]),
                range(4 * cores),
            )
        )
    return result


def identity_like(A: Array) -> Array:
    """Return the identity matrix in the size, type and device of `A`; do not write to it."""
    if type(A) is np.ndarray:
        return _identity(A.shape[-1], A.dtype.char)
    return namespace(A).eye(A.shape[-1], dtype=A.dtype, device=array_api_compat.device(A))


@functools.lru_cache(maxsize=4)
def _identity(d: int, dtype: str) -> np.ndarray[Any, np.dtype[Any]]:
    eye = np.eye(d, dtype=dtype)
    eye.flags.writeable = False
    return eye


def transpose(A: Array) -> Array:
    """Transpose the last two axes."""
    return namespace(A).linalg.matrix_transpose(A)


def identity_minus(B: Array) -> Array:
    """Return I - B for a stack of square matrices."""
    if not is_tensor(B):
        return identity_like(B) - B
    M = -B
    add_to_diagonal(M, 1.0)
    return M


def add_to_diagonal(A: Array, value: float) -> None:
    """Add a number to the diagonals of a stack of square matrices, in place."""
    diagonal = _diagonal(A)
    diagonal += value


def clear_diagonal(A: Array) -> None:
    """Set the diagonals of a stack of square matrices to zero, in place."""
    if type(A) is np.ndarray and A.ndim == 2 and A.flags.c_contiguous:  # the usual case, twice as fast
        A.reshape(-1)[:: len(A) + 1] = 0.0
    else:
        _diagonal(A)[...] = 0.0


def _diagonal(A: Array) -> Array:
    """Return a writable view of the diagonals."""
    return A.diagonal(dim1=-2, dim2=-1) if is_tensor(A) else np.einsum("...ii->...i", A)


def plus_scaled(A: Array, B: Array, factor: float) -> Array:
    """Return A + factor B; on tensors in one pass over memory."""
    if is_tensor(A):
        return A.add(B, alpha=factor)
    total = B * factor
    total += A
    return total


def add_scaled(A: Array, B: Array, factor: float) -> None:
    """Add factor B to A, in place; on tensors in one pass over memory."""
    if is_tensor(A):
        A.add_(B, alpha=factor)
    else:
        A += factor * B


def absorb(A: Array, B: Array, factor: float) -> None:
    """Add factor B to A, in place; B may be overwritten, which saves NumPy a temporary array."""
    if is_tensor(A):
        A.add_(B, alpha=factor)
    else:
        B *= factor
        A += B


def minus_scaled(A: Array, B: Array, factors: Array) -> Array:
    """Return A - B * factors, entry by entry; B may be overwritten."""
    if is_tensor(A):
        return A.addcmul(B, factors, value=-1)
    B *= factors
    return A - B


def add_squares(A: Array, B: Array, factor: float) -> None:
    """Add factor B^2, entry by entry, to A, in place; B may be overwritten."""
    if is_tensor(A):
        A.addcmul_(B, B, value=factor)
    else:
        B *= B
        B *= factor
        A += B


def add_entrywise(A: Array, B: Array, C: Array, factor: float) -> None:
    """Add factor B * C, entry by entry, to A, in place."""
    if is_tensor(A):
        A.addcmul_(B, C, value=factor)
    else:
        product = B * C
        product *= factor
        A += product


def move_towards(A: Array, B: Array, share: float) -> None:
    """Replace A by (1 - share) A + share B, in place."""
    if is_tensor(A):
        A.lerp_(B, share)
    else:
        A *= 1 - share
        A += share * B


def minus_ratio(A: Array, B: Array, C: Array, factor: Any) -> Array:
    """Return A - factor B / C for a factor that is a number or an array."""
    if is_tensor(A) and not is_tensor(factor):
        import torch

        return torch.addcdiv(A, B, C, value=-factor)
    ratio = B / C
    ratio *= factor
    return A - ratio


def product(B: Array, C: Array, factor: float) -> Array:
    """Return factor times the matrix product B C."""
    if is_tensor(B) and B.ndim in (2, 3):
        result = B.new_empty((*B.shape[:-1], C.shape[-1]))
        add_product(result, B, C, 0.0, factor)
        return result
    result = B @ C
    result *= factor
    return result


def add_product(A: Array, B: Array, C: Array, share: float = 1.0, factor: float = 1.0) -> None:
    """Replace A by share A + factor B C with the matrix product of B and C, in place; with share = 0, A is not read."""
    if is_tensor(A) and A.ndim in (2, 3):
        add = A.addmm_ if A.ndim == 2 else A.baddbmm_
        add(B, C, beta=share, alpha=factor)
        return
    added = B @ C
    if factor != 1:
        added *= factor
    if not share:
        A[...] = added
        return
    if share != 1:
        A *= share
    A += added


def inner_product(A: Array, B: Array) -> Array:
    """Return the sum of A * B over the entries of each matrix."""
    if is_tensor(A) and A.ndim == 2:
        import torch

        return torch.vdot(A.reshape(-1), B.reshape(-1))
    return namespace(A).sum(A * B, axis=(-2, -1))


def sign(A: Array) -> Array:
    """Return the sign of every entry; faster than the array API, which treats NaN separately."""
    return A.sign() if is_tensor(A) else np.sign(A)


def total_size(A: Array) -> Array:
    """Return the sum of the absolute values of each matrix; on tensors in one pass over memory."""
    if is_tensor(A):
        import torch

        return torch.linalg.vector_norm(A, ord=1, dim=(-2, -1))
    return np.abs(A).sum(axis=(-2, -1))


def half_precision(array: np.ndarray[Any, np.dtype[Any]], factor: float, device: str) -> Any:
    """Return a multiple of an array in half precision on a device of torch; on the CPU, in single precision."""
    import torch

    dtype = torch.float32 if device.startswith("cpu") else torch.float16
    copy, step = torch.empty(array.shape, dtype=dtype, device=device), 1 << 15
    for k in range(0, len(array), step):
        copy[k : k + step] = (torch.from_numpy(array[k : k + step]).to(device) * factor).to(dtype)
    return copy


def large_products(A: Any, B: Any, least: float) -> tuple[Any, Any, Any]:
    """Return where the entries of A B' exceed a number in size, and their sizes, as NumPy arrays."""
    C = (A @ B.T).abs_()
    i, j = (least < C).nonzero(as_tuple=True)
    return to_numpy(i), to_numpy(j), to_numpy(C[i, j].float())
