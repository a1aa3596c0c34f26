"""Arrays of NumPy and torch: their namespaces, and copies between libraries and devices.

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
