"""The inverse of a matrix by elimination of halves: nearly all work is in matrix products."""

from __future__ import annotations

from golem.runtime.arrays import namespace
from golem.runtime.in_place import add_product, product
from golem.runtime.linear_algebra import inverse_of_small
from golem.runtime.types import Array

# Blocks of at most this size are inverted by LU, one after the other.
_SMALLEST_BLOCK = 64


def inverse_by_halves(M: Array) -> Array:
    """Return the inverse of each matrix of a stack `(..., d, d)`; only blocks on the diagonal are pivoted.

    With M = [[A, B], [C, D]] and the Schur complement S = D - C A^-1 B,

        M^-1 = [[A^-1 + A^-1 B S^-1 C A^-1, -A^-1 B S^-1], [-S^-1 C A^-1, S^-1]].

    A and S are inverted in the same way. In all, this has as many operations as one product of d x d matrices.

    Without pivoting, digits are lost if a leading block A is nearly singular. For M = I - B with acyclic weights B this
    cannot happen: all leading blocks have determinant 1, in any order of the variables. With the weights of the paper's
    recipe, which are nearly acyclic, ||I - M M^-1|| stays below 1e-5 (checked for d = 100 and 200). The caller has to
    check and refine the result.
    """
    if M.shape[-1] <= _SMALLEST_BLOCK:
        return inverse_of_small(M)
    h = M.shape[-1] // 2
    A, B, C, D = M[..., :h, :h], M[..., :h, h:], M[..., h:, :h], M[..., h:, h:]
    xp, inverse = namespace(M), namespace(M).empty_like(M)
    of_A = inverse_by_halves(A)
    left = of_A @ B
    S = xp.asarray(D, copy=True)
    add_product(S, C, left, factor=-1.0)
    inverse[..., h:, h:] = of_S = inverse_by_halves(S)
    inverse[..., h:, :h] = below = product(of_S, C @ of_A, -1.0)
    inverse[..., :h, h:] = product(left, of_S, -1.0)
    add_product(of_A, left, below, factor=-1.0)
    inverse[..., :h, :h] = of_A
    return inverse
