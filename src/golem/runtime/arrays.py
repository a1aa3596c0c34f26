"""Arrays of any library: which namespace they belong to, and copies between libraries and devices.

Kernels are written once against the array API standard, for stacks of matrices `(..., d, d)`. NumPy arrays stay NumPy
arrays and torch tensors stay torch tensors on their device.
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
    # The usual case at a tenth of the cost: a kernel on small matrices asks several times.
    return numpy_namespace if type(array) is np.ndarray else array_api_compat.array_namespace(array)


def is_tensor(array: Array) -> TypeGuard[Any]:
    """Tell torch's tensors from other arrays."""
    return type(array) is not np.ndarray and array_api_compat.is_torch_array(array)


def to_numpy(array: Array) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array of any library and device as a NumPy array."""
    if not is_tensor(array):
        return np.asarray(array)
    if array.device.type == "cpu":
        return np.asarray(array.detach())
    import torch

    # Fresh memory is handed out page by page at the first touch: gigabytes of it by many threads, then filled.
    host = torch.zeros(array.shape, dtype=array.dtype)
    host.copy_(array)
    return np.asarray(host)


def divided(array: np.ndarray[Any, np.dtype[Any]], by: float) -> np.ndarray[Any, np.dtype[Any]]:
    """Divide a matrix by a number, by many threads where it has gigabytes."""
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
    """Return the identity matrix in the size, type and place of others; not to be written to."""
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
