"""The inverses of small blocks, in place: one launch of a Triton kernel on a GPU, LU elsewhere."""

from __future__ import annotations

import functools
from typing import Any

from golem.runtime.arrays import is_tensor
from golem.runtime.linear_algebra import inverse_of_small
from golem.runtime.types import Array

# The kernel holds a block in the registers of one multiprocessor. A power of 2.
LARGEST_BLOCK = 64
_WARPS = 4


def invert_block(M: Array) -> None:
    """Replace each matrix of a stack `(..., d, d)`, d at most 64, by its inverse; undefined if one is singular.

    The kernel does not pivot. It takes half the time of LU for a stack.
    """
    on_gpu = is_tensor(M) and M.device.type == "cuda" and M.ndim <= 3
    if not (on_gpu and (kernel := _kernel())):
        M[...] = inverse_of_small(M)
        return
    stack = M if M.ndim == 3 else M[None]
    kernel[(len(stack),)](stack, *stack.stride(), d=M.shape[-1], SIZE=LARGEST_BLOCK, num_warps=_WARPS)


@functools.cache
def _kernel() -> Any:
    """Return the compiled kernel, or None where Triton is not installed."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    # Triton resolves annotations when it compiles, so parameters have none.
    @triton.jit  # type: ignore[untyped-decorator]
    def gauss_jordan(start, stack_stride, row_stride, column_stride, d, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
        index = tl.arange(0, SIZE)
        i, j = index[:, None], index[None, :]
        where = start + tl.program_id(0) * stack_stride + i * row_stride + j * column_stride
        inside = (i < d) & (j < d)
        A = tl.load(where, mask=inside, other=0.0)
        for k in range(d):
            row = tl.sum(tl.where(i == k, A, 0.0), axis=0)
            column = tl.sum(tl.where(j == k, A, 0.0), axis=1)
            pivot = tl.sum(tl.where(index == k, row, 0.0), axis=0)
            row = tl.where(index == k, 1.0, row) / pivot
            column = tl.where(index == k, -1.0, column)
            A = tl.where((i == k) | (j == k), 0.0, A) - column[:, None] * row[None, :]
        tl.store(where, A, mask=inside)

    return gauss_jordan
