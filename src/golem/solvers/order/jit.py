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
- A kernel with several loops that is called in several places is `outlined`: LLVM would copy it into each of them.
- No kernel is called with a literal, as numba would compile it again for the literal's type.
- Kernels have no array expressions, closures or optional arguments. So numba need not look for them.

Kernels, and the constants compiled into them, are in files with "kernel" in their names: a change in one of these
files makes the cache compile all entries again. Numba by itself would only notice changes in the file of the entry.
NumPy's division rules keep zero checks and exceptions out of the loops.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import DeadBranchPrune, InlineClosureLikes

from golem.runtime.user_warnings import warn_user

Function = TypeVar("Function", bound=Callable[..., Any])
# Types of results, by function and types of arguments.
_KNOWN_TYPES: dict[Any, Any] = {}
# Passes of numba for array expressions, closures and optional arguments.
_NEEDLESS = (NopythonRewrites, InlineClosureLikes, DeadBranchPrune)


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
    chosen: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": _KernelCompiler} | options
    return _compiled(function, **chosen)


def outlined(function: Function) -> Function:
    """Compile a kernel once per entry, and not into its callers."""
    return kernel(function, pipeline_class=_OutlinedCompiler)


def inlined(function: Function) -> Function:
    """Compile a function into each of its callers."""
    return _compiled(function, inline="always")


def allocating_entry(function: Function) -> Function:
    """Compile an entry that allocates arrays, or calls a kernel that does."""
    return entry(function, _nrt=True)


def allocating_kernel(function: Function) -> Function:
    """Compile a kernel that allocates arrays, or calls one that does."""
    return kernel(function, _nrt=True)


@contextlib.contextmanager
def logged_if_compiled(sentence: str) -> Iterator[None]:
    """Log a sentence, as a warning of the logger "golem", if numba compiles something and not only reads its cache."""
    with event.install_listener("numba:compile", _Announcement(sentence)):
        yield


class _Announcement(event.Listener):
    """A sentence that is logged once."""

    def __init__(self, sentence: str) -> None:
        self._sentence: str | None = sentence

    def on_start(self, event: Any) -> None:
        if self._sentence is not None:
            logging.getLogger("golem").warning(self._sentence)
        self._sentence = None

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def _compiled(function: Function, **options: Any) -> Function:
    chosen: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False} | options
    return cast(Function, njit(**chosen)(function))


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


class _OutlinedLibrary(_LinkedLibrary):
    """LLVM code of a kernel that is not copied into its callers."""

    def add_ir_module(self, module: Any) -> None:
        for function in module.functions:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(module)


class _EntryLibrary(JITCodeLibrary):
    """LLVM code of an entry. It is optimized once, together with its kernels, and not also before it is linked."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.linkage.name == "linkonce_odr":
                # Kernels are called from here only, so that LLVM may leave out the arguments that they do not use.
                function.linkage = "internal"
        super()._optimize_final_module()


class _KernelCompiler(Compiler):
    """Numba's compiler, without machine code: that of the entries contains the kernel."""

    library: type[JITCodeLibrary] = _LinkedLibrary

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return [_without_needless(passes) for passes in super().define_pipelines()]


def _without_needless(passes: Any) -> Any:
    """Return the passes that kernels need; the others would go through all of their code."""
    needed: Any = PassManager(passes.pipeline_name)
    for one, description in passes.passes:
        if one not in _NEEDLESS:
            needed.add_pass(one, description)
    needed.finalize()
    return needed


class _OutlinedCompiler(_KernelCompiler):
    """The compiler of `outlined` kernels."""

    library = _OutlinedLibrary


class _EntryCompiler(_KernelCompiler):
    """Numba's compiler, faster where it compiles an entry with all its kernels."""

    library = _EntryLibrary

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        with _paused_collection(), _remembered_types():
            return super().compile_extra(func)


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
def _remembered_types() -> Iterator[None]:
    """Remember the types of results: numba would go through all versions of an operator wherever it is used.

    Only the thread that compiles is concerned, as numba lets one compile at a time.
    """
    functions: Any = BaseFunction
    resolve, known = functions.get_call_type, _KNOWN_TYPES

    def remembered(function: Any, context: Any, args: Any, kws: Any) -> Any:
        # Of the options that an operator takes over from its kernel, only this one differs between kernels.
        key = id(function), args, tuple(kws.items()), ConfigStack.top_or_none().nrt
        if key not in known:
            known[key] = resolve(function, context, args, kws), function
        return known[key][0]

    functions.get_call_type = remembered
    try:
        yield
    finally:
        functions.get_call_type = resolve


@contextlib.contextmanager
def _paused_collection() -> Iterator[None]:
    """Pause the garbage collector, which would look for cycles among millions of objects."""
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
    warn_user(
        "Compiled code could not be read from or saved in numba's cache, so that every run compiles the search again "
        "(up to half a minute). Set the environment variable NUMBA_CACHE_DIR to a writable folder."
    )
