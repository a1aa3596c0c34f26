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
- A kernel that calls functions of an engine is written once. The type of their first argument chooses among the
  implementations when the kernel is compiled. Numba caches this, unlike functions that are arguments or closures.

Kernels, and the constants compiled into them, are in files with "kernel" in their names: a change in one of these
files makes the cache compile all entries again. Numba by itself would only notice changes in the file of the entry.
NumPy's division rules keep zero checks and exceptions out of the loops.

`numba_compiler` has the parts of numba that these rules need. Most are not documented. With a version of numba that is
not known to have them, kernels are compiled as usual: three times slower, with the same results. The cache then notices
only changes in the file of the entry.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba
from numba import njit
from numba.core import event
from numba.extending import overload

from golem.runtime.messages import warn_user

Function = TypeVar("Function", bound=Callable[..., Any])
# The newest version of numba that `numba_compiler` is known to fit.
_NEWEST_KNOWN = (0, 68)
# The implementations of every declared kernel, by the type of the problem.
_IMPLEMENTATIONS: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}
_IS_KNOWN = tuple(int(part) for part in numba.__version__.split(".")[:2]) <= _NEWEST_KNOWN


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls and numba caches if it can; it releases the interpreter lock."""
    return _cached(function, allocates=False)


def kernel(function: Function) -> Function:
    """Compile a kernel that other kernels call."""
    return _compiled(function, "kernel")


def outlined(function: Function) -> Function:
    """Compile a kernel once per entry, and not into its callers."""
    return _compiled(function, "outlined")


def inlined(function: Function) -> Function:
    """Compile a function into each of its callers."""
    return _compiled(function, "inlined")


def allocating_entry(function: Function) -> Function:
    """Compile an entry that allocates arrays, or calls a kernel that does."""
    return _cached(function, allocates=True)


def allocating_kernel(function: Function) -> Function:
    """Compile a kernel that allocates arrays, or calls one that does."""
    return _compiled(function, "kernel", allocates=True)


def engine_kernel(declared: Function) -> Function:
    """Declare a kernel that every engine implements; the type of the first argument, a named tuple, chooses."""
    implementations = _IMPLEMENTATIONS.setdefault(declared, {})

    options: Any = _options("kernel")

    @overload(declared, options, strict=False)
    def choose(first: Any, *others: Any) -> Any:
        return implementations.get(first.instance_class)

    return declared


def implements(declared: Callable[..., Any], problem: type) -> Callable[[Function], Function]:
    """Make a function the implementation of an engine's kernel for one type of problem."""

    def register(function: Function) -> Function:
        _IMPLEMENTATIONS[declared][problem] = function
        return function

    return register


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


def _cached(function: Function, allocates: bool) -> Function:
    """Compile an entry, and save it in numba's cache."""
    compiled: Any = _compiled(function, "entry", allocates, nogil=True)
    try:
        if _IS_KNOWN:
            from golem.search.numba_compiler import EntryCache

            compiled._cache = EntryCache(function, _warn_without_cache)
        else:
            compiled.enable_caching()
    except RuntimeError:  # no folder is writable
        _warn_without_cache()
    return cast(Function, compiled)


def _compiled(function: Function, kind: str, allocates: bool = False, **documented: Any) -> Function:
    """Return the function as numba compiles it at its first call."""
    return cast(Function, njit(**_options(kind, allocates), **documented)(function))


def _options(kind: str, allocates: bool = False) -> dict[str, Any]:
    """Return the options of `njit` for a kind of kernel."""
    chosen: dict[str, Any] = {"error_model": "numpy"}
    if _IS_KNOWN:
        from golem.search.numba_compiler import OPTIONS

        chosen |= {"no_cfunc_wrapper": True, "_nrt": allocates} | OPTIONS[kind]
    return chosen


@functools.cache
def _warn_without_cache() -> None:
    """Warn once that the kernels are compiled again in every process."""
    warn_user(
        "Compiled code could not be read from or saved in numba's cache, so that every run compiles the search again "
        "(up to half a minute). Set the environment variable NUMBA_CACHE_DIR to a writable folder."
    )
