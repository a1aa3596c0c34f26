"""Both matrix functions of a score by plans that need no decision on the host, so that a CUDA graph can replay them.

The number of products is fixed in advance. A review checks afterwards whether it was enough.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from typing import Any, NamedTuple

from array_api_compat import device

from golem.runtime.arrays import add_product, add_to_diagonal, is_tensor, namespace, product, transpose
from golem.runtime.expm import ExpmPlan, cheapest_plan, epsilon_of, expm_by_plan, power_norms, suffices
from golem.runtime.linear_algebra import MatrixFunctions, inverse_of_small, logabsdet_and_inverse_transpose
from golem.runtime.types import Array

# A plan is shortened if a shorter one would have sufficed in this many reviews in a row. Each change of a plan costs as
# much as many steps.
PATIENCE = 20
# Allowed growth of norms until the next review: the plan suffices up to this factor. One more squaring would allow a
# factor of 2^8 to 2^14.
_NORM_GROWTH = 8.0
_FIRST_ITERATIONS, _MOST_ITERATIONS = 2, 6
# Allowed growth of the residuals until the next review.
_RESIDUAL_GROWTH = 100.0
# The kernel holds a block in the registers of one multiprocessor. A power of 2.
LARGEST_BLOCK = 64
_WARPS = 4


class Review(NamedTuple):
    """Whether all results since the last review were exact to rounding, and whether the plan has changed."""

    exact: bool
    replanned: bool


class PlannedExponential:
    """exp by a plan that does not read norms on the host.

    The plan is made for matrices A of shape (..., d, d). While they change, the largest norms are kept on their device.
    `review` reads them: were all results exact to rounding, and which plan is the cheapest from now on?
    """

    def __init__(self, A: Array) -> None:
        norms = power_norms(A, A @ A)
        self._largest, self._epsilon = namespace(A).zeros_like(norms), epsilon_of(A)
        self._recent: deque[list[float]] = deque(maxlen=PATIENCE)
        self.plan = self._plan(norms.tolist())

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A)."""
        square = A @ A
        self._largest[...] = namespace(A).maximum(self._largest, power_norms(A, square))  # keeps NaN
        return expm_by_plan([A, square], self.plan)

    def review(self) -> Review:
        """Return whether the plan was exact to rounding since the last review, and plan for the next matrices."""
        norms = self._largest.tolist()
        self._largest[...] = 0.0
        if not math.isfinite(sum(norms)):
            return Review(False, False)
        self._recent.append(norms)
        exact, better = suffices(self.plan, norms, self._epsilon), self._plan(norms)
        if exact and len(self._recent) == PATIENCE:
            better = self._plan([max(sizes) for sizes in zip(*self._recent, strict=True)])
        replanned = not exact or (len(self._recent) == PATIENCE and better.products < self.plan.products)
        if replanned:
            self.plan = better
            self._recent.clear()
        return Review(exact, replanned)

    def _plan(self, norms: list[float]) -> ExpmPlan:
        # No plan suffices for infinite norms; `review` reports them if such matrices are exponentiated.
        finite = math.isfinite(sum(norms))
        return cheapest_plan([_NORM_GROWTH * norm if finite else 0.0 for norm in norms], self._epsilon)


class PlannedInverse:
    """Transposed inverses by elimination without pivoting, refined by a number of iterations that is fixed in advance.

    Let Y be an approximate M^-T, and E = I - M'Y its residual. A Newton-Schulz iteration, Y + Y E, squares the
    residual. The result is exact to rounding if the residual before the last iteration is at most the square root of
    the rounding error. `review` checks this for all matrices since the last review. Nearly all operations are products,
    which on a GPU take a small part of the time of LU, above all for stacks.

    Attributes
    ----------
    iterations : int
        The plan: iterations per matrix, or 0 for LU.
    """

    def __init__(self, M: Array) -> None:
        self.iterations = _FIRST_ITERATIONS
        self._bound = epsilon_of(M) ** 0.5
        self._recent: deque[int] = deque(maxlen=PATIENCE)
        # The largest residual before each iteration.
        self._residuals = namespace(M).zeros(_MOST_ITERATIONS, dtype=M.dtype, device=device(M))

    def transposed_inverse(self, M: Array) -> Array:
        """Return M^-T for a stack of square matrices."""
        if not self.iterations:
            return logabsdet_and_inverse_transpose(M)[1]
        xp, Y = namespace(M), inverse_by_halves(transpose(M))
        for k in range(self.iterations):
            E = product(transpose(M), Y, -1.0)
            add_to_diagonal(E, 1.0)
            size = xp.max(xp.linalg.vector_norm(E, axis=(-2, -1)))
            self._residuals[k] = xp.maximum(self._residuals[k], size)  # keeps NaN
            Y = Y + Y @ E
        return Y

    def review(self) -> Review:
        """Return whether all inverses since the last review were exact to rounding, and plan for the next ones."""
        before, residuals = self.iterations, self._residuals.tolist()[: self.iterations]
        self._residuals[...] = 0.0
        exact = not residuals or residuals[-1] <= self._bound
        self._recent.append(_iterations_for(residuals, self._bound / _RESIDUAL_GROWTH))
        if not exact or not before:
            self.iterations = self._recent[-1]
        elif len(self._recent) == PATIENCE and 0 < max(self._recent) < before:
            self.iterations = max(self._recent)
        if self.iterations != before:
            self._recent.clear()
        return Review(exact, self.iterations != before)


def _iterations_for(residuals: list[float], bound: float) -> int:
    """Return how many iterations bring the residual before the last one below a bound; 0, for LU, if too many would.

    After steps by LU there are no residuals, and iterations are tried again.
    """
    if not residuals:
        return _FIRST_ITERATIONS
    small = next((k for k, size in enumerate(residuals) if size <= bound), None)
    if small is not None:
        return small + 1
    size, count = residuals[-1], len(residuals)
    while bound < size < 1 and count <= _MOST_ITERATIONS:
        size, count = size**2, count + 1
    return count if size <= bound and count <= _MOST_ITERATIONS else 0


class PlannedFunctions(MatrixFunctions):
    """exp(B * B) and (I - B)^-T for weights B of shape (..., d, d) that change in small steps."""

    def __init__(self, B: Array) -> None:
        self.exponential = PlannedExponential(B * B)
        self.inverse = PlannedInverse(B)

    def invert(self, M: Array) -> tuple[Array, Array]:
        """Return NaN in place of log|det M|, which a gradient does not need, and M^-T."""
        return M[..., 0, 0] * namespace(M).nan, self.inverse.transposed_inverse(M)

    def exponentiate(self, A: Array) -> Array:
        """Return exp(A)."""
        return self.exponential.exponentiate(A)

    def review(self) -> Review:
        """Return whether all results since the last review were exact to rounding, and plan for the next ones."""
        reviews = (self.exponential.review(), self.inverse.review())
        return Review(all(one.exact for one in reviews), any(one.replanned for one in reviews))


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
