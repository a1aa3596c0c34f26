"""The inverse of a matrix by elimination of halves: nearly all work is in matrix products.

Small blocks are inverted by one launch of a Triton kernel on a GPU, and by LU elsewhere.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from array_api_compat import device

from golem.runtime.arrays import add_product, is_tensor, namespace
from golem.runtime.linear_algebra import inverse_of_small
from golem.runtime.types import Array

# The kernel holds a block in the registers of one multiprocessor. A power of 2.
LARGEST_BLOCK = 64
_WARPS = 4


def inverse_by_halves(M: Array) -> Array:
    """Return the inverse of each matrix of a stack `(..., d, d)`, without pivoting.

    With M = [[A, B], [C, D]] and the Schur complement S = D - C A^-1 B,

        M^-1 = [[A^-1 + A^-1 B S^-1 C A^-1, -A^-1 B S^-1], [-S^-1 C A^-1, S^-1]].

    A and S are inverted in the same way. In all, this has as many operations as one product of d x d matrices.

    Digits are lost if a leading block A is nearly singular. For M = I - B with acyclic weights B, every leading block
    has determinant 1, in any order of the variables, so that none is singular, though some can be ill-conditioned. With
    the weights of the paper's recipe, which are nearly acyclic, ||I - M M^-1|| stays below 1e-5 (checked for d = 100
    and 200). The caller has to check and refine the result.
    """
    # In C order also if M is a transposed view: the kernel for blocks reads rows.
    inverse = namespace(M).empty(M.shape, dtype=M.dtype, device=device(M))
    inverse[...] = M
    _invert(inverse)
    return inverse


def _invert(M: Array) -> None:
    """Replace a stack of matrices by their inverses."""
    if M.shape[-1] <= LARGEST_BLOCK:
        invert_block(M)
        return
    # A whole number of the largest blocks: aligned addresses halve the time of products and of the kernel for blocks.
    h = LARGEST_BLOCK * math.ceil(M.shape[-1] / (2 * LARGEST_BLOCK))
    A, B, C, D = M[..., :h, :h], M[..., :h, h:], M[..., h:, :h], M[..., h:, h:]
    _invert(A)
    left, right = A @ B, C @ A
    add_product(D, C, left, factor=-1.0)
    _invert(D)
    add_product(B, left, D, share=0.0, factor=-1.0)
    add_product(C, D, right, share=0.0, factor=-1.0)
    add_product(A, left, C, factor=-1.0)


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
