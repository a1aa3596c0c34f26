"""S(B) = L(B) + R_sparse(B) + R_DAG(B) (paper, eq. 1 and 4): the weighted sum, every term by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from array_api_compat import device

from golem.runtime.arrays import namespace
from golem.runtime.in_place import absorb, add_entrywise, clear_diagonal
from golem.runtime.types import Array, BoolMatrix, Matrix, Vector
from golem.score.acyclicity import Acyclicity, Expm
from golem.score.likelihood import Likelihood
from golem.score.regression import regressions
from golem.score.sparsity import L1, Sparsity


@dataclass(frozen=True, eq=False)
class Objective:
    """The score of weights B given a covariance, or a stack of them.

    Parameters
    ----------
    S : array of shape (..., d, d)
        Covariance.
    likelihood, sparsity, acyclicity
        The three terms.
    lambda_sparsity, lambda_dag : float
        Their weights, lambda_1 and lambda_2 in the paper.
    allowed : array of shape (d, d), bool, optional
        Entries that may be nonzero; the diagonal never may.
    unpenalized : array of shape (d, d), bool, optional
        Entries free of the sparsity penalty: edges that are required anyway.

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
        # Without knowledge, and most are, masks of the diagonal alone need no pass over the matrix.
        object.__setattr__(self, "_all_free", bool(allowed.sum() == d * (d - 1)))
        object.__setattr__(self, "_all_penalized", bool((penalized == allowed).all()))
        # Masks of ones and zeros in the numbers' own type and place: one product masks a gradient anywhere.
        for name, mask in (("free", allowed), ("_penalized", penalized)):
            object.__setattr__(self, name, xp.zeros_like(self.S) + xp.asarray(mask, device=device(self.S)))

    @property
    def d(self) -> int:
        """Number of nodes."""
        return int(self.S.shape[-1])

    @property
    def l1_weights(self) -> Array:
        """Penalty of a unit of |B| in each entry: lambda_sparsity, or 0 for required edges."""
        return self.lambda_sparsity * self._penalized

    def smooth_value_and_grad(self, B: Array, S: Array | None = None) -> tuple[Array, Array]:
        """Value and masked gradient of L(B) + lambda_dag h(B), all but the sparsity term.

        Another covariance, say of a minibatch, can stand in for that of the objective.
        """
        with np.errstate(all="ignore"):  # a non-finite score is an answer that solvers act on
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
        """Return lambda_sparsity R_sparse(B), and add its subgradient to the gradient of the other terms, in place."""
        if not self.lambda_sparsity:
            return 0.0
        size, sign = self.sparsity.value_and_grad(B if self._all_penalized else B * self._penalized)
        absorb(grad, sign, self.lambda_sparsity)
        return self.lambda_sparsity * size

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Value and masked (sub)gradient of S(B), for B that is zero where no weight is allowed."""
        value, grad = self.smooth_value_and_grad(B)
        return value + self.add_sparsity(B, grad), grad

    def terms(self, B: Array) -> Mapping[str, Array]:
        """Every term of S(B) as it enters the sum, the sum itself, and the bare ||B||_1 and h(B)."""
        with np.errstate(all="ignore"):
            likelihood, _ = self.likelihood.value_and_grad(B, self.S)
            size, _ = self.sparsity.value_and_grad(B)
            penalized, _ = self.sparsity.value_and_grad(B * self._penalized)
            h, _ = self.acyclicity.value_and_grad(B)
            sparsity = self.lambda_sparsity * penalized
            # 0 * inf: where the DAG penalty is off, a start outside its domain is no obstacle.
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
        """Largest entry of B - prox(B - gradient): zero exactly at stationary points of S, the l1 term included.

        The plain subgradient never vanishes at a sparse solution, as |sign| jumps there; the proximal residual does.
        """
        xp = namespace(B)
        moved = B - smooth_grad
        shrunk = xp.sign(moved) * xp.clip(xp.abs(moved) - self.l1_weights, min=0.0)
        return xp.max(xp.abs(B - shrunk) * self.free, axis=(-2, -1))


# lambda_1 and lambda_2 of the paper (appendix F), by noise model.
PAPER_PENALTIES = {"ev": (2e-2, 5.0), "nv": (2e-3, 5.0)}


def graph_bic(adjacency: BoolMatrix, S: Matrix, n: int) -> float:
    """Return the BIC of a DAG at its best weights, with free noise variances."""
    found = regressions(adjacency, S)
    return graph_scores(found.matrix, found.residual_variances, n)["bic_nv"]


def graph_scores(B: Matrix, r: Vector, n: int) -> dict[str, float]:
    """Scores of a DAG by which the answers of different solvers can be compared, whatever each minimized.

    They follow from the weights and the residual variances r (`golem.score.regression.residual_variances`). Returns
    both likelihoods, the paper's S(B) for both noise models (on a DAG h = 0 and log|det(I - B)| = 0, and neither is
    computed) and the BIC for both, -2 log-likelihood + (edges + noise variances + intercepts) log n.
    """
    d = len(B)
    edges, size = np.count_nonzero(B), np.abs(B).sum()
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
