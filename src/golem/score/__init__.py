"""The score S(B) = L(B) + R_sparse(B) + R_DAG(B) (paper, eq. 1): one file per term.

`likelihood` is L, `sparsity` is R_sparse, `acyclicity` is R_DAG, and `objective` is their weighted sum. `regression`
regresses nodes on their parents, which is all that L needs on a DAG. `node_scores` are sums over nodes for tables that
one covariance does not describe: environments and categories. How to minimize a score belongs to `search` and
`gradient`.
"""

from golem.score.acyclicity import Acyclicity, Expm, LogDet, Polynomial
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, LeastSquares, Likelihood
from golem.score.objective import Objective
from golem.score.sparsity import L0, L1, Sparsity

__all__ = [
    "L0",
    "L1",
    "Acyclicity",
    "Expm",
    "GaussianEV",
    "GaussianNV",
    "GaussianTied",
    "LeastSquares",
    "Likelihood",
    "LogDet",
    "Objective",
    "Polynomial",
    "Sparsity",
]
