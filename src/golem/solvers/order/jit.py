"""How kernels are compiled: once, and in a time that a first call can afford.

Numba optimizes a kernel together with all that it calls, and so everything below it anew: a leaf under seven levels of
calls is compiled seven times. What keeps that short, without a change of the code that runs:

- Only an `entry` has a place in the cache, and the wrapper through which Python calls it. That unpacks every array of
  every tuple, and takes longer to compile than most kernels.
- A short function that calls much, and is called in one or two places, is `inlined`; any other is a `kernel`.
- A loop that is needed twice is a kernel of its own. It takes arrays, not the tuples they lie in: to LLVM a call with
  hundreds of arguments is dearer than another copy of the loop.
- No kernel is called with a literal. A literal is a type of its own, for which numba compiles the kernel again.

An entry and all that it calls stand in one file, because the cache looks for changes in the file of the entry alone.
NumPy's division keeps checks for zero, and what would raise, out of the loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def entry(function: Function) -> Function:
    """Compile a kernel that Python calls; it lets other threads run."""
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
