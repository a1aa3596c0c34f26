"""How kernels are compiled, so that the first call stays fast.

Numba optimizes a kernel together with everything it calls: a function under seven levels of calls is compiled seven
times. These rules keep that short:

- Only an `entry` is cached and has the wrapper through which Python calls it. The wrapper unpacks every array of every
  tuple and takes longer to compile than most kernels.
- A short function that calls many others, and is called in one or two places, is `inlined`. All others are `kernel`.
- A loop that is needed twice is a kernel of its own. It takes arrays rather than the tuples that contain them, because
  LLVM handles a call with hundreds of arguments more slowly than another copy of the loop.
- No kernel is called with a literal, as numba would compile it again for the literal's type.

An entry and everything it calls are in one file, because the cache only notices changes in the file of the entry.
NumPy's division rules keep zero checks and exceptions out of the loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls; it releases the interpreter lock."""
    return _compiled(function, cache=True, nogil=True)


def kernel(function: Function) -> Function:
    """Compile a kernel that other kernels call."""
    return _compiled(function, no_cpython_wrapper=True)


def inlined(function: Function) -> Function:
    """Compile a function into each of its callers."""
    return _compiled(function, inline="always")


def _compiled(function: Function, **options: Any) -> Function:
    options |= {"error_model": "numpy", "no_cfunc_wrapper": True}
    return cast(Function, njit(**options)(function))
