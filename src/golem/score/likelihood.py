"""L(B): how well the weights explain the covariance (paper, section 4.1 and appendix C).

Each term maps weights B and a covariance S, both stacks `(..., d, d)`, to a value `(...,)` and a gradient. With
M = I - B, the residual variance of node j is r_j = (M'SM)_jj. The paper does not divide sums of squares by n, which
shifts its values by the constant d/2 log n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from golem.runtime.arrays import identity_minus, inner_product, minus_scaled, namespace
from golem.runtime.linear_algebra import invert
from golem.runtime.types import Array


class Likelihood(Protocol):
    """A data term of the score.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.score import GaussianEV, Likelihood
    >>> likelihood: Likelihood = GaussianEV()
    >>> value, gradient = likelihood.value_and_grad(np.zeros((2, 2)), np.eye(2))
    """

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""

    def on_dag(self, r: Array) -> Array:
        """Return the value `(...,)` for a DAG, where log|det M| = 0, given its residual variances `(..., d)`."""

    def noise_variances(self, r: Array) -> Array:
        """Return the estimated noise variances `(..., d)` given the residual variances."""


@dataclass(frozen=True)
class GaussianNV:
    """Gaussian noise with free variances (likelihood-NV), the variances profiled out.

    L = 1/2 sum_j log r_j - log|det M|, with gradient -S M diag(1/r) + M^-T.

    Examples
    --------
    >>> import numpy as np
    >>> B, S = np.array([[0.0, 0.5], [0.0, 0.0]]), np.array([[1.0, 0.5], [0.5, 1.25]])
    >>> from golem.score import GaussianNV
    >>> value, gradient = GaussianNV().value_and_grad(B, S)
    >>> round(float(value), 4)
    0.0
    """

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""
        M, SM = _residuals(B, S)
        r = namespace(B).sum(M * SM, axis=-2)
        return _with_determinant(M, SM, self.on_dag(r), 1 / r[..., None, :])

    def on_dag(self, r: Array) -> Array:
        """Return 1/2 sum_j log r_j."""
        xp = namespace(r)
        return xp.sum(xp.log(r), axis=-1) / 2

    def noise_variances(self, r: Array) -> Array:
        """Return r: one variance per node."""
        return r


@dataclass(frozen=True)
class GaussianTied:
    """Gaussian noise with tied variances: their logarithms are draws from N(mu, tau^2), and are integrated out.

    With n rows, log r_j is approximately normal with variance 2/n around the log noise variance of node j. With
    v = tau^2 + 2/n, Laplace's approximation gives, up to a constant,

        L = 1/2 sum_j log r_j + 1/(2n) sum_j [(log r_j - mu)^2 / v + log v] - log|det M|.

    tau = 0 is close to likelihood-EV, a large tau to likelihood-NV. The term log v makes values at different tau
    comparable. With w_j = 1 + 2 (log r_j - mu) / (n v), the gradient is -S M diag(w/r) + M^-T. This also holds where
    mu and tau are estimated, because the value is minimal in both (docs/how.md has the derivation).

    Parameters
    ----------
    n : int
        Number of rows.
    tau : float, optional
        Standard deviation of the log noise variances; by default the maximum-likelihood estimate at each B.
    centre : float, optional
        Mean mu of the log noise variances; by default estimated in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> B, S = np.array([[0.0, 0.5], [0.0, 0.0]]), np.array([[1.0, 0.5], [0.5, 1.25]])
    >>> from golem.score import GaussianTied
    >>> value, gradient = GaussianTied(n=100, tau=1.0).value_and_grad(B, S)
    >>> round(float(value), 4)
    0.0002
    """

    n: int
    tau: float | None = None
    centre: float | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether mu and tau are given, so that the value on a DAG is a sum over the nodes."""
        return self.tau is not None and self.centre is not None

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""
        xp = namespace(B)
        M, SM = _residuals(B, S)
        r = xp.sum(M * SM, axis=-2)
        away, v = self._away(xp.log(r))
        return _with_determinant(M, SM, self.on_dag(r), ((1 + 2 * away / (self.n * v)) / r)[..., None, :])

    def on_dag(self, r: Array) -> Array:
        """Return 1/2 sum_j [log r_j + ((log r_j - mu)^2 / v + log v) / n]."""
        xp = namespace(r)
        log_r = xp.log(r)
        away, v = self._away(log_r)
        return xp.sum(log_r + (away**2 / v + xp.log(v)) / self.n, axis=-1) / 2

    def noise_variances(self, r: Array) -> Array:
        """Return exp(posterior mean of the log variances): log r shrunk towards mu by the share of 2/n in v."""
        xp = namespace(r)
        log_r = xp.log(r)
        away, v = self._away(log_r)
        return xp.exp(log_r - away * (2 / self.n / v))

    def prior(self, r: Array) -> tuple[Array, Array]:
        """Return mu and v `(...,)`, given or estimated from residual variances `(..., d)`."""
        log_r = namespace(r).log(r)
        away, v = self._away(log_r)
        return (log_r - away)[..., 0], v[..., 0]

    def fixed_at(self, r: Array) -> GaussianTied:
        """Return the likelihood with mu and tau as estimated from residual variances `(d,)`, a sum over the nodes."""
        centre, v = self.prior(r)
        return GaussianTied(self.n, math.sqrt(max(float(v) - 2 / self.n, 0.0)), float(centre))

    def _away(self, log_r: Array) -> tuple[Array, Array]:
        """Return log r - mu `(..., d)` and v `(..., 1)`."""
        xp = namespace(log_r)
        mu = xp.mean(log_r, axis=-1, keepdims=True) if self.centre is None else self.centre
        away = log_r - mu
        if self.tau is None:
            v = xp.clip(xp.mean(away**2, axis=-1, keepdims=True), min=2 / self.n)
        else:
            v = xp.zeros_like(away[..., :1]) + (self.tau**2 + 2 / self.n)
        return away, v


@dataclass(frozen=True)
class GaussianEV:
    """Gaussian noise with equal variances (likelihood-EV, eq. 2), the variance profiled out.

    L = d/2 log tr(M'SM) - log|det M|, with gradient -d S M / tr(M'SM) + M^-T.

    Examples
    --------
    >>> import numpy as np
    >>> B, S = np.array([[0.0, 0.5], [0.0, 0.0]]), np.array([[1.0, 0.5], [0.5, 1.25]])
    >>> from golem.score import GaussianEV
    >>> value, gradient = GaussianEV().value_and_grad(B, S)
    >>> round(float(value), 4)
    0.6931
    """

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""
        d = B.shape[-1]
        M, SM = _residuals(B, S)
        total = inner_product(M, SM)
        return _with_determinant(M, SM, d / 2 * namespace(B).log(total), (d / total)[..., None, None])

    def on_dag(self, r: Array) -> Array:
        """Return d/2 log sum_j r_j."""
        xp = namespace(r)
        return r.shape[-1] / 2 * xp.log(xp.sum(r, axis=-1))

    def noise_variances(self, r: Array) -> Array:
        """Return the mean of r for every node (appendix C.2 omits the factor 1/d)."""
        xp = namespace(r)
        return xp.mean(r, axis=-1, keepdims=True) + xp.zeros_like(r)


@dataclass(frozen=True)
class LeastSquares:
    """Half the total residual variance, 1/2 tr(M'SM): the data term of NOTEARS (section 4.4).

    Without the term log|det M| of the likelihoods, only a hard constraint makes the weights acyclic.

    Examples
    --------
    >>> import numpy as np
    >>> B, S = np.array([[0.0, 0.5], [0.0, 0.0]]), np.array([[1.0, 0.5], [0.5, 1.25]])
    >>> from golem.score import LeastSquares
    >>> value, gradient = LeastSquares().value_and_grad(B, S)
    >>> round(float(value), 4)
    1.0
    """

    def value_and_grad(self, B: Array, S: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the gradient `(..., d, d)` at B."""
        M, SM = _residuals(B, S)
        return inner_product(M, SM) / 2, -SM

    def on_dag(self, r: Array) -> Array:
        """Return 1/2 sum_j r_j."""
        return namespace(r).sum(r, axis=-1) / 2

    def noise_variances(self, r: Array) -> Array:
        """Return r: one variance per node."""
        return r


def _with_determinant(M: Array, SM: Array, value: Array, weights: Array) -> tuple[Array, Array]:
    """Return the value - log|det M| and the gradient M^-T - S M * weights."""
    logabsdet, inverse_transpose = invert(M)
    return value - logabsdet, minus_scaled(inverse_transpose, SM, weights)


def _residuals(B: Array, S: Array) -> tuple[Array, Array]:
    """Return M = I - B and S M."""
    M = identity_minus(B)
    return M, S @ M
