"""The score S(B) = L(B) + R_sparse(B) + R_DAG(B) (paper, eq. 1 and 4) and its terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from golem.runtime.arrays import absorb, add_entrywise, clear_diagonal, namespace
from golem.runtime.types import Array, BoolMatrix, Matrix, Vector
from golem.score.acyclicity import Acyclicity, Expm
from golem.score.likelihood import Likelihood
from golem.score.regression import regressions
from golem.score.sparsity import L1, Sparsity


@dataclass(frozen=True, eq=False)
class Objective:
    """The score of weights B given a covariance or a stack of covariances.

    Parameters
    ----------
    S : array of shape (..., d, d)
        Covariance.
    likelihood, sparsity, acyclicity
        The three terms.
    lambda_sparsity, lambda_dag : float
        Weights of the sparsity and acyclicity terms, lambda_1 and lambda_2 in the paper.
    allowed : array of shape (d, d), bool, optional
        Entries that may be nonzero. The diagonal is always zero.
    unpenalized : array of shape (d, d), bool, optional
        Entries without a sparsity penalty: required edges.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.score.likelihood import GaussianEV
    >>> objective = Objective(np.eye(2), GaussianEV(), lambda_sparsity=0.02, lambda_dag=5.0)
    >>> B = np.array([[0.0, 0.5], [0.0, 0.0]])
    >>> {name: round(float(value), 3) for name, value in objective.terms(B).items()}
    {'likelihood': 0.811, 'sparsity': 0.01, 'dag': 0.0, 'score': 0.821, 'l1': 0.5, 'h': 0.0}
    """

    S: Array
    likelihood: Likelihood
    sparsity: Sparsity = field(default_factory=L1)
    acyclicity: Acyclicity = field(default_factory=Expm)
    lambda_sparsity: float = 0.0
    lambda_dag: float = 0.0
    allowed: Array | None = None
    unpenalized: Array | None = None
    free: Array = field(init=False, repr=False)  # mask of ones where B may be nonzero
    _penalized: Array = field(init=False, repr=False)
    _all_free: bool = field(init=False, repr=False)
    _all_penalized: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        xp = namespace(self.S)
        d = self.S.shape[-1]
        allowed = np.ones((d, d), dtype=bool) if self.allowed is None else np.array(self.allowed)
        np.fill_diagonal(allowed, False)
        penalized = allowed if self.unpenalized is None else allowed & ~np.asarray(self.unpenalized)
        # Without knowledge, which is the usual case, only the diagonal is masked. That needs no pass over the matrix.
        object.__setattr__(self, "_all_free", bool(allowed.sum() == d * (d - 1)))
        object.__setattr__(self, "_all_penalized", bool((penalized == allowed).all()))
        # Masks are numbers of the type and on the device of S, so that one product masks a gradient.
        for name, mask in (("free", allowed), ("_penalized", penalized)):
            object.__setattr__(self, name, xp.zeros_like(self.S) + xp.asarray(mask, device=device(self.S)))

    @property
    def d(self) -> int:
        """Number of nodes."""
        return int(self.S.shape[-1])

    @property
    def l1_weights(self) -> Array:
        """Penalty per unit of `|B|` in each entry: lambda_sparsity, or 0 for required edges."""
        return self.lambda_sparsity * self._penalized

    def smooth_value_and_grad(self, B: Array, S: Array | None = None) -> tuple[Array, Array]:
        """Return the value and masked gradient of L(B) + lambda_dag h(B), without the sparsity term.

        S replaces the covariance of the objective, for example by that of a minibatch.
        """
        with np.errstate(all="ignore"):  # solvers handle non-finite scores
            value, grad = self.likelihood.value_and_grad(B, self.S if S is None else S)
            if self.lambda_dag:
                h, slope = self.acyclicity.value_and_slope(B * B)
                add_entrywise(grad, B, slope, 2 * self.lambda_dag)
                value = value + self.lambda_dag * h
            if self._all_free:
                clear_diagonal(grad)
            else:
                grad *= self.free
            return value, grad

    def add_sparsity(self, B: Array, grad: Array) -> Array | float:
        """Return lambda_sparsity R_sparse(B), and add its subgradient to `grad` in place."""
        if not self.lambda_sparsity:
            return 0.0
        size, sign = self.sparsity.value_and_grad(B if self._all_penalized else B * self._penalized)
        absorb(grad, sign, self.lambda_sparsity)
        return self.lambda_sparsity * size

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return the value and masked (sub)gradient of S(B), for B that is zero where no weight is allowed."""
        value, grad = self.smooth_value_and_grad(B)
        return value + self.add_sparsity(B, grad), grad

    def terms(self, B: Array) -> Mapping[str, Array]:
        """Return the weighted terms of S(B), their sum, and the unweighted ||B||_1 and h(B)."""
        with np.errstate(all="ignore"):
            likelihood, _ = self.likelihood.value_and_grad(B, self.S)
            size, _ = L1().value_and_grad(B)
            penalized, _ = self.sparsity.value_and_grad(B * self._penalized)
            h, _ = self.acyclicity.value_and_grad(B)
            sparsity = self.lambda_sparsity * penalized
            # Avoids 0 * inf: without a DAG penalty, B may lie outside the domain of h.
            dag = self.lambda_dag * h if self.lambda_dag else namespace(self.S).zeros_like(h)
        return {
            "likelihood": likelihood,
            "sparsity": sparsity,
            "dag": dag,
            "score": likelihood + sparsity + dag,
            "l1": size,
            "h": h,
        }

    def stationarity(self, B: Array, smooth_grad: Array) -> Array:
        """Return the largest entry of `|B - prox(B - gradient)|`, which is zero exactly at stationary points of S.

        This includes the l1 term. The subgradient itself does not vanish at a sparse solution, as sign(B) jumps there.
        With another penalty than l1, return the largest entry of the gradient.
        """
        xp = namespace(B)
        if not isinstance(self.sparsity, L1):
            grad = xp.asarray(smooth_grad, copy=True)
            self.add_sparsity(B, grad)
            return xp.max(xp.abs(grad) * self.free, axis=(-2, -1))
        moved = B - smooth_grad
        shrunk = xp.sign(moved) * xp.clip(xp.abs(moved) - self.l1_weights, min=0.0)
        return xp.max(xp.abs(B - shrunk) * self.free, axis=(-2, -1))


# lambda_1 and lambda_2 of the paper (appendix F), by noise model.
PAPER_PENALTIES = {"ev": (2e-2, 5.0), "nv": (2e-3, 5.0)}


def graph_bic(adjacency: BoolMatrix, S: Matrix, n: int) -> float:
    """Return the BIC of a DAG at its best weights, with free noise variances."""
    found = regressions(adjacency, S)
    return graph_scores(found.weights, found.residual_variances, n)["bic_nv"]


def graph_scores(weights: NDArray[np.float64], r: Vector, n: int) -> dict[str, float]:
    """Return scores of a DAG that are comparable between solvers, whatever each solver minimizes.

    For equal (ev) and free (nv) noise variances these are the likelihood, the paper's S(B), and the BIC, which is
    -2 log-likelihood + (edges + noise variances + intercepts) log n. On a DAG h = 0 and log|det(I - B)| = 0. The
    weights are a matrix or a list; the residual variances r are those of `golem.score.regression.residual_variances`.
    """
    d = len(r)
    edges, size = np.count_nonzero(weights), np.abs(weights).sum()
    likelihood = {"ev": d / 2 * np.log(r.sum()), "nv": np.log(r).sum() / 2}
    deviance = {"ev": n * d * np.log(r.mean()), "nv": n * np.log(r).sum()}
    variances = {"ev": 1, "nv": d}
    scores: dict[str, float] = {"edges": float(edges)}
    for noise, (lambda_1, _) in PAPER_PENALTIES.items():
        scores[f"likelihood_{noise}"] = float(likelihood[noise])
        scores[f"paper_score_{noise}"] = float(likelihood[noise] + lambda_1 * size)
        constant = n * d * (1 + np.log(2 * np.pi))
        scores[f"bic_{noise}"] = float(deviance[noise] + constant + (edges + variances[noise] + d) * np.log(n))
    return scores
