"""How far columns are from linear combinations of others, compared with rounding errors.

Take the columns in any order, and let W = U^-T for the Cholesky factor U of their covariance S = U'U. Row t of W is
(-b, 1) / sqrt(D), where b are the coefficients of column t on its predecessors and D is the variance that remains. An
entry of S is known up to a relative rounding error, e = 2.2e-16 times the standard deviations s of its two columns. So
D is known up to e (s_t + sum_p |b_p| s_p)^2, which is a share e (sum_p |W_tp| s_p)^2 of D. The errors of many entries
do not all have the worst sign: a share 3 e sum_p (W_tp s_p)^2 is enough, which is less with more than three columns.
If this share is small, the column is not a linear combination of the others, however little of its variance remains.
It hardly depends on the order: for exact combinations it is 0.3 and more in any order, whatever their scales and means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from golem.runtime.arrays import namespace
from golem.runtime.threads import blas_threads_for
from golem.runtime.types import Array, Matrix

if TYPE_CHECKING:
    from golem.data.moments import Moments

# With a larger share of a remaining variance that may be rounding error, the column counts as a linear combination.
LARGEST_SHARE = 0.1
# Rounding errors of this many columns may all have the worst sign.
SOME = 3.0
# Correlations closer to 1 than this are those of a column and its copy.
COPY = 1e-13


def rounding_share(W: Array, deviations: Array) -> float:
    """Return the largest share of a remaining variance that may be rounding error.

    Parameters
    ----------
    W : array of shape (d, d)
        The inverse transpose of the Cholesky factor of the covariance, in any order of the columns.
    deviations : array of shape (d,)
        The standard deviations of the columns, in this order.
    """
    xp = namespace(W)
    shares = xp.minimum((xp.abs(W) @ deviations) ** 2, SOME * (W**2 @ deviations**2))
    return float(xp.finfo(W.dtype).eps) * float(xp.max(shares))


def correlations(moments: Moments) -> Matrix:
    """Return the correlations of columns that vary, shape (d, d)."""
    inverse = 1 / np.sqrt(moments.variances)
    R = moments.covariance * inverse
    R *= inverse[:, None]
    return R


def rounding_share_of(R: Matrix) -> float:
    """Return the `rounding_share` of a correlation matrix; infinity if it is not positive definite."""
    from scipy.linalg import lapack

    with blas_threads_for(len(R)):
        U, failed = lapack.dpotrf(R, lower=False, clean=True)
        if failed:
            return float("inf")
        inverse, _ = lapack.dtrtri(U, lower=False, overwrite_c=True)
        return rounding_share(inverse.T, np.ones(len(R)))


def most_determined(R: Matrix) -> tuple[int, list[int], float]:
    """Return the column that others determine best, these others, and the share of its variance that remains."""
    from scipy.linalg import lapack

    factor, pivots, rank, _ = lapack.dpstrf(R, tol=len(R) * float(np.finfo(float).eps))
    order, rank = pivots - 1, min(int(rank), len(R) - 1)
    L = np.triu(factor).T  # R = L L' in the order of the pivots; LAPACK does not clear the triangle below U
    coefficients = np.linalg.solve(L[:rank, :rank].T, L[rank, :rank])
    used = order[:rank][np.abs(coefficients) > 1e-6]
    remaining = max(1 - float(L[rank, :rank] @ L[rank, :rank]), 0.0)
    return int(order[rank]), used.tolist(), remaining
