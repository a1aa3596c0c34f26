"""Arrays of any library: namespace, device, and the inverse with the determinant.

Kernels are written once against the array API standard, for stacks of matrices `(..., d, d)`. NumPy arrays stay
NumPy arrays and torch tensors stay torch tensors on their device. What torch does in its own way is here, and in
`passes`, `rough` and `replay`; the sums over the rows of a tensor are in `moments`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np

# Below this size a second BLAS thread costs more than it brings, and the pools of NumPy and SciPy get in each other's
# way: on two cores a step of Adam at d = 100 to 400 takes twice as long with threads as without.
_THREADS_PAY_FROM = 800
_THREADS_DIVIDE_FROM = 2**24

# The array API has no nominal type; an Array is whatever `namespace` accepts.
Array = Any

__all__ = [
    "Array",
    "Message",
    "Placement",
    "available_cores",
    "blas_threads_for",
    "divided",
    "gpu_is_there",
    "identity_like",
    "inverse_of_small",
    "is_tensor",
    "logabsdet_and_inverse_transpose",
    "namespace",
    "on_accelerator",
    "orthonormal",
    "to_numpy",
    "transpose",
]


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
    if not on_accelerator(array):
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


# Without torch there is nobody to ask which names it knows.
_DEVICES = re.compile(r"(cpu|cuda|mps|xpu|hpu|npu|xla)(:\d+)?")


@dataclass(frozen=True)
class Placement:
    """Where arrays live while a solver works on them.

    Parameters
    ----------
    device : str
        "cpu" keeps NumPy arrays; anything else is the name of a torch device, such as "cuda" or "cuda:1".
    dtype : {"float64", "float32"}
        Their numbers.
    """

    device: str = "cpu"
    dtype: Literal["float64", "float32"] = "float64"

    def __post_init__(self) -> None:
        if not (isinstance(self.device, str) and _DEVICES.fullmatch(self.device)):
            raise ValueError(
                f"device={self.device!r} is no device: there are 'cpu', 'cuda' (of several GPUs 'cuda:1' and so on) "
                "and, for a fit, 'auto'"
            )

    def put(self, array: Any) -> Array:
        """Place a NumPy array.

        Raises
        ------
        ValueError
            If torch is not installed or does not see the device.
        """
        if self.device == "cpu":
            return np.asarray(array, dtype=self.dtype)
        torch = self._torch()
        try:
            return torch.asarray(array, dtype=getattr(torch, self.dtype), device=torch.device(self.device))
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"PyTorch cannot use device={self.device!r} here ({reason}); use device='cpu'") from None

    def require_memory(self, matrices: float, d: int, task: str, stack: int = 1) -> None:
        """Check that so many (d, d) matrices fit the free memory of a GPU.

        Raises
        ------
        ValueError
            If they do not, with the need, the free memory and the remedy.
        """
        if not self.device.startswith("cuda"):
            return
        torch = self._torch()
        if not torch.cuda.is_available():
            return  # `put` says so in better words
        free, _ = torch.cuda.mem_get_info(torch.device(self.device))
        need = matrices * d * d * stack * np.dtype(self.dtype).itemsize
        if need > free:
            half = "dtype='float32' needs half, " if self.dtype == "float64" else ""
            fewer = "solve fewer problems at once" if stack > 1 else "take fewer columns"
            raise ValueError(
                f"{task} of {d} variables needs about {need / 2**30:.1f} GiB on {self.device}, of which "
                f"{free / 2**30:.1f} GiB are free: {half}{fewer}, or use device='cpu'"
            )

    def _torch(self) -> Any:
        try:
            return _imported_torch()
        except ImportError:
            raise ValueError(
                f"device={self.device!r} needs PyTorch, which is not installed: pip install 'golem-dag[gpu]', "
                "or use device='cpu'"
            ) from None


def on_accelerator(array: Array) -> bool:
    """Tell whether an array lies on a GPU or the like, where every operation has to be started from afar."""
    return is_tensor(array) and array.device.type != "cpu"


class Message:
    """A few numbers on their way from a GPU to the host, while the GPU goes on with what it is given meanwhile.

    To read a number in the usual way waits for all that was asked for before, and leaves the GPU idle until it is
    asked for more: a tenth of a millisecond each time.
    """

    def __init__(self, numbers: Array) -> None:
        self._numbers, self._sent = numbers, None
        if is_tensor(numbers) and numbers.device.type == "cuda":
            import torch

            self._numbers = numbers.to("cpu", non_blocking=True)
            self._sent = torch.cuda.current_stream(numbers.device).record_event()

    def read(self) -> Any:
        """Wait for the numbers, and return them as Python's: a float, or a list of floats."""
        if self._sent is not None:
            self._sent.synchronize()
        return self._numbers.tolist()


def gpu_is_there() -> bool:
    """Tell whether PyTorch is installed and sees an NVIDIA GPU."""
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(_imported_torch().cuda.is_available())


def _imported_torch() -> Any:
    """Import PyTorch, with the wish that it takes cuSOLVER: asked later, it prints that this is experimental."""
    os.environ.setdefault("TORCH_LINALG_PREFER_CUSOLVER", "1")
    import torch

    return torch


class _BlasLimit:
    """One limit on BLAS threads, shared by all solves that run at a time.

    The number of threads is a property of the process: were every solve to save and restore it, overlapping solves in
    different threads would restore each other's limit in the end.
    """

    def __init__(self) -> None:
        self._lock, self._solves, self._limit = threading.Lock(), 0, contextlib.ExitStack()

    def enter(self) -> None:
        """Limit BLAS to one thread, if this is the first of the running solves."""
        with self._lock:
            self._solves += 1
            if self._solves == 1:
                self._limit.enter_context(_blas_libraries().limit(limits=1, user_api="blas"))

    def leave(self) -> None:
        """Lift the limit, if this was the last of the running solves."""
        with self._lock:
            self._solves -= 1
            if self._solves == 0:
                self._limit.close()


_BLAS_LIMIT = _BlasLimit()


@functools.cache
def _blas_libraries() -> Any:
    """Find the BLAS libraries of NumPy and SciPy, once: it takes ten milliseconds."""
    import scipy.linalg  # noqa: F401  # loads its own
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


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


def physical_memory() -> int:
    """Bytes of memory of this machine; where the system does not tell, what most have at least."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 33


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


def orthonormal(W: Array) -> Array:
    """Return orthonormal columns that span what the columns of a tall matrix do; anything where they are dependent.

    By Cholesky's factors of W'W: a few small operations on a GPU, where Householder's reflections take milliseconds.
    """
    xp = namespace(W)
    gram = transpose(W) @ W
    if is_tensor(W):
        import torch

        factor, _ = torch.linalg.cholesky_ex(gram, upper=True)
        return torch.linalg.solve_triangular(factor, W, upper=True, left=False)
    try:
        return W @ xp.linalg.inv(xp.linalg.cholesky(gram)).T
    except np.linalg.LinAlgError:
        return W * xp.nan


def inverse_of_small(A: Array) -> Array:
    """Return the inverse of a small matrix, without a look at it on the host; anything where it is singular."""
    if is_tensor(A):
        import torch

        return torch.linalg.inv_ex(A).inverse
    try:
        return np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return A * np.nan


def transpose(A: Array) -> Array:
    """Transpose the last two axes."""
    return namespace(A).linalg.matrix_transpose(A)


def logabsdet_and_inverse_transpose(M: Array) -> tuple[Array, Array]:
    """Return log|det M| and M^-T, the gradient of the former, for a stack of square matrices.

    A singular matrix has log|det M| = -inf and an inverse of NaNs: the caller sees a non-finite score and steps
    back, instead of an exception in the middle of a batch.
    """
    if is_tensor(M):
        import torch

        if M.device.type == "cuda":
            _prefer_cusolver()
        lu, pivots, _ = torch.linalg.lu_factor_ex(M)
        diagonal = torch.diagonal(lu, dim1=-2, dim2=-1)
        eye = torch.eye(M.shape[-1], dtype=M.dtype, device=M.device).expand(M.shape)
        # M' Y = I gives the transposed inverse from the same factors.
        inverse_transpose = torch.linalg.lu_solve(lu, pivots, eye, adjoint=True)
        singular = (diagonal == 0).any(dim=-1)[..., None, None]
        return diagonal.abs().log().sum(dim=-1), inverse_transpose.masked_fill(singular, math.nan)
    if M.ndim == 2:
        return _lapack_logabsdet_and_inverse_transpose(M)
    xp = namespace(M)
    sign, logabsdet = xp.linalg.slogdet(M)
    singular = (sign == 0)[..., None, None]
    inverse = xp.linalg.inv(xp.where(singular, xp.eye(M.shape[-1], dtype=M.dtype), M))
    return logabsdet, transpose(xp.where(singular, xp.nan, inverse))


@functools.cache
def _prefer_cusolver() -> None:
    """Let PyTorch take cuSOLVER for stacks of matrices too: twice as fast as its own choice, and it can be replayed."""
    cuda = _imported_torch().backends.cuda
    if cuda.preferred_linalg_library().name != "Cusolver":
        cuda.preferred_linalg_library("cusolver")


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
