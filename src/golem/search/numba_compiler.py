"""Parts of numba's compiler that kernels use, or replace, so that they compile faster; see `jit`.

Most of this is not documented by numba. `jit` uses it with versions that are known to fit.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import DeadBranchPrune, InlineClosureLikes

# Types of results, by function and types of arguments.
_KNOWN_TYPES: dict[Any, Any] = {}
# Passes of numba for array expressions, closures and optional arguments.
_NEEDLESS = (NopythonRewrites, InlineClosureLikes, DeadBranchPrune)


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


class EntryCache(FunctionCache):
    """Numba's cache, which also notices changes in other files of kernels and goes on without files that fail."""

    def __init__(self, function: Callable[..., Any], warn_of_failure: Callable[[], None]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = self._cache_file._source_stamp, _kernel_stamps(Path(__file__).parent)
        self._warn_of_failure = warn_of_failure

    @contextlib.contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        # Only on Windows would numba go on without its cache when the disk is full or a file is damaged.
        try:
            yield
        except (OSError, EOFError, pickle.PickleError):
            self._warn_of_failure()


def _kernel_stamps(folder: Path) -> list[tuple[str, float, int]]:
    """Return the names of the files that change compiled code, the times of their last changes, and their sizes."""
    files = sorted([*folder.rglob("*kernel*.py"), *folder.glob("jit.py"), *folder.glob("numba_compiler.py")])
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


# Options of `numba.njit` for each kind of kernel.
OPTIONS: dict[str, dict[str, Any]] = {
    "entry": {"pipeline_class": _EntryCompiler},
    "kernel": {"pipeline_class": _KernelCompiler, "no_cpython_wrapper": True},
    "outlined": {"pipeline_class": _OutlinedCompiler, "no_cpython_wrapper": True},
    "inlined": {"inline": "always"},
}
