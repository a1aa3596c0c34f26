"""L(B): how well weights explain the covariance (paper, section 4.1 and appendix C).

Each term maps weights B and a covariance S, both stacks `(..., d, d)`, to its value `(...,)` and gradient. With
M = I - B the residual variances of the nodes are r_j = (M'SM)_jj. The paper sums squares without dividing by n,
which shifts its values by the constant d/2 log n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from golem.arrays import Array, identity_minus, logabsdet_and_inverse_transpose, namespace


class Likelihood(Protocol):
    """A data term of the score."""

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""

    def noise_variances(self, B: Array, S: Array) -> Array:
        """Return the maximum likelihood noise variances `(..., d)` given B."""


@dataclass(frozen=True)
class GaussianNV:
    """Gaussian noise of any variances (likelihood-NV), the variances profiled out.

    L = 1/2 sum_j log r_j - log|det M|, with gradient -S M diag(1/r) + M^-T.
    """

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""
        xp = namespace(B)
        M, SM = _residuals(B, S)
        r = xp.sum(M * SM, axis=-2)
        logabsdet, inverse_transpose = logabsdet_and_inverse_transpose(M)
        value = xp.sum(xp.log(r), axis=-1) / 2 - logabsdet
        SM /= r[..., None, :]
        return value, inverse_transpose - SM

    def noise_variances(self, B: Array, S: Array) -> Array:
        """Return r, one variance a node."""
        M, SM = _residuals(B, S)
        return namespace(B).sum(M * SM, axis=-2)


@dataclass(frozen=True)
class GaussianEV:
    """Gaussian noise of one common variance (likelihood-EV, eq. 2), the variance profiled out.

    L = d/2 log tr(M'SM) - log|det M|, with gradient -d S M / tr(M'SM) + M^-T.
    """

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""
        xp = namespace(B)
        d = B.shape[-1]
        M, SM = _residuals(B, S)
        total = xp.sum(M * SM, axis=(-2, -1))
        logabsdet, inverse_transpose = logabsdet_and_inverse_transpose(M)
        value = d / 2 * xp.log(total) - logabsdet
        SM *= (d / total)[..., None, None]
        return value, inverse_transpose - SM

    def noise_variances(self, B: Array, S: Array) -> Array:
        """Return the mean of r for every node (appendix C.2 prints it without its 1/d)."""
        xp = namespace(B)
        M, SM = _residuals(B, S)
        r = xp.sum(M * SM, axis=-2)
        return xp.mean(r, axis=-1, keepdims=True) + xp.zeros_like(r)


@dataclass(frozen=True)
class LeastSquares:
    """Half the total residual variance, 1/2 tr(M'SM): the data term of NOTEARS (section 4.4).

    It lacks the log|det M| of the likelihoods, so it needs a hard constraint to be acyclic.
    """

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""
        M, SM = _residuals(B, S)
        return namespace(B).sum(M * SM, axis=(-2, -1)) / 2, -SM

    def noise_variances(self, B: Array, S: Array) -> Array:
        """Return r, one variance a node."""
        return GaussianNV().noise_variances(B, S)


def _residuals(B: Array, S: Array) -> tuple[Array, Array]:
    """Return M = I - B and S M."""
    M = identity_minus(B)
    return M, S @ M
