"""The score S(B) = L(B) + R_sparse(B) + R_DAG(B) (paper, eq. 1): one file per term.

`likelihood` is L, `sparsity` is R_sparse, `acyclicity` is R_DAG, and `objective` is their weighted sum. `regression`
fits nodes to their parents, which is all that is left of L on a DAG. How to minimize the score is not decided here.
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
