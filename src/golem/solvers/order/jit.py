"""How kernels are compiled, so that the first call stays fast.

Numba compiles a kernel into each entry that calls it. These rules keep that short:

- Only an `entry` is cached and has the wrapper through which Python calls it. The wrapper unpacks every array of every
  tuple and takes longer to compile than most kernels.
- Only an entry is optimized and translated to machine code, together with the kernels that it calls. By itself a
  `kernel` is only translated to LLVM's language.
- Kernels get all arrays from their callers, and return none. Then numba need not count the references to each array of
  each tuple, which would be a third of the code. Kernels that must allocate are an `allocating_kernel`.
- A short function that calls many others, and is called in one or two places, is `inlined`. All others are `kernel`.
- A loop that is needed twice is a kernel of its own. It takes arrays rather than the tuples that contain them, because
  LLVM handles a call with hundreds of arguments more slowly than another copy of the loop.
- No kernel is called with a literal, as numba would compile it again for the literal's type.

Kernels, and the constants compiled into them, are in files with "kernel" in their names: a change in one of these
files makes the cache compile all entries again. Numba by itself would only notice changes in the file of the entry.
NumPy's division rules keep zero checks and exceptions out of the loops.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

Function = TypeVar("Function", bound=Callable[..., Any])


def entry(function: Function, **options: Any) -> Function:
    """Compile a kernel that Python calls and numba caches if it can; it releases the interpreter lock."""
    compiled: Any = _compiled(function, nogil=True, pipeline_class=_EntryCompiler, **options)
    try:
        compiled._cache = _EntryCache(function)
    except RuntimeError:  # no folder is writable
        _warn_without_cache()
    return cast(Function, compiled)


def kernel(function: Function, **options: Any) -> Function:
    """Compile a kernel that other kernels call."""
    return _compiled(function, no_cpython_wrapper=True, pipeline_class=_KernelCompiler, **options)


def inlined(function: Function) -> Function:
    """Compile a function into each of its callers."""
    return _compiled(function, inline="always")


def allocating_entry(function: Function) -> Function:
    """Compile an entry that allocates arrays, or calls a kernel that does."""
    return entry(function, _nrt=True)


def allocating_kernel(function: Function) -> Function:
    """Compile a kernel that allocates arrays, or calls one that does."""
    return kernel(function, _nrt=True)


def _compiled(function: Function, **options: Any) -> Function:
    chosen: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False} | options
    return cast(Function, njit(**chosen)(function))


class _EntryCompiler(Compiler):
    """Numba's compiler, without the garbage collector, which would look for cycles among millions of objects."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        with _paused_collection():
            return super().compile_extra(func)


class _KernelCompiler(Compiler):
    """Numba's compiler, without machine code: that of the entries contains the kernel."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class _LinkedLibrary(JITCodeLibrary):
    """LLVM code of a kernel, to be linked with that of its callers; it has no address."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing, as kernels do not use Python objects."""


class _EntryCache(FunctionCache):
    """Numba's cache, which also notices changes in other files of kernels and goes on without files that fail."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = self._cache_file._source_stamp, _kernel_stamps(Path(__file__).parent)

    @contextlib.contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        # Only on Windows would numba go on without its cache when the disk is full or a file is damaged.
        try:
            yield
        except (OSError, EOFError, pickle.PickleError):
            _warn_without_cache()


def _kernel_stamps(folder: Path) -> list[tuple[str, float, int]]:
    """Return the names of the files of kernels and of this one, the times of their last changes, and their sizes."""
    files = sorted([*folder.glob("*kernel*.py"), *folder.glob("jit.py")])
    return [(file.name, (stat := file.stat()).st_mtime, stat.st_size) for file in files]


@contextlib.contextmanager
def _paused_collection() -> Iterator[None]:
    """Pause the garbage collector."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@functools.cache
def _warn_without_cache() -> None:
    """Warn once that the kernels are compiled again in every process."""
    warnings.warn(
        "Compiled code could not be read from or saved in numba's cache, so that every run compiles the search again "
        "(up to half a minute). Set the environment variable NUMBA_CACHE_DIR to a writable folder.",
        stacklevel=2,
    )
