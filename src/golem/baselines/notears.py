"""NOTEARS: least squares under a hard acyclicity constraint (Zheng et al. 2018; paper, sections 4.4 and 5)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from golem.baselines.base import Baseline
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.gradient.augmented_lagrangian import AugmentedLagrangian
from golem.gradient.rounding import round_to_dag
from golem.runtime.messages import warn_user
from golem.runtime.problems import Parameter, ProblemError
from golem.runtime.types import Matrix
from golem.score.likelihood import LeastSquares
from golem.score.objective import Objective
from golem.score.solution import Callback


@dataclass(eq=False, repr=False)
class Notears(Baseline):
    """Learn a linear DAG by NOTEARS or NOTEARS-L1.

    Minimize 1/(2n) ||X - XB||_F^2 + l1 ||B||_1 subject to h(B) = tr exp(B*B) - d = 0 by the augmented Lagrangian method
    with L-BFGS-B on split variables, then round the weights as in the paper. The data term is 1/2 tr((I-B)'S(I-B)), so
    the cost does not depend on the number of rows. The result depends on the units of the columns.

    Parameters
    ----------
    l1 : float
        Weight of the l1 norm: 0 for NOTEARS, 0.1 for NOTEARS-L1 as in the paper.
    h_tolerance : float
        Stop when h(B) is at most this.
    largest_rho : float
        Stop when the quadratic penalty exceeds this, even if h(B) is above the tolerance.
    threshold : float
        Edges with smaller absolute weights are dropped; remaining cycles are removed as in the paper.
    max_iter : int
        Largest total number of iterations of L-BFGS-B.
    knowledge : Knowledge or NamedKnowledge, optional
        Forbidden edges stay at zero. Required edges have no penalty and are kept whatever their weight.
    time_limit : float, optional
        Time limit in seconds; the result is then what has been reached, and `solution_.status` says so.
    callback : callable, optional
        Called with a `golem.solvers.Progress` a few times per second.

    Attributes
    ----------
    weights_, adjacency_, cpdag_, sem_, moments_, knowledge_, n_features_in_, feature_names_in_
        As for `golem.Golem`.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.
    raw_weights_ : ndarray of shape (d, d)
        Weights before rounding.
    solution_ : Solution
        How the solve went: status, terms of the objective, trace, time.
    n_iter_ : int
        Iterations of L-BFGS-B.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(5, n=500, graph="ER1", random_state=1)
    >>> model = Notears(l1=0.1).fit(drawn.data)
    >>> bool((model.adjacency_ == drawn.sem.adjacency).all())
    True
    """

    _uses_scale = True
    l1: float = 0.0
    _: KW_ONLY
    h_tolerance: float = 1e-8
    largest_rho: float = 1e16
    threshold: float = 0.3
    max_iter: int = 200_000
    time_limit: float | None = None
    callback: Callback | None = None

    def _check_parameters(self) -> None:
        for name in ("l1", "threshold"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ProblemError(Parameter(name), f" must be at least 0 and finite; got {getattr(self, name)}.")
        for name in ("h_tolerance", "largest_rho", "max_iter", "time_limit"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ProblemError(Parameter(name), f" must be positive; got {value}.")

    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        objective = Objective(
            moments.covariance,
            LeastSquares(),
            lambda_sparsity=self.l1,
            allowed=knowledge.allowed,
            unpenalized=knowledge.required,
        )
        solver = AugmentedLagrangian(self.h_tolerance, self.largest_rho, self.max_iter, self.time_limit)
        solution = solver.solve(objective, callback=self.callback, stage="notears-l1" if self.l1 else "notears")
        rounded = round_to_dag(solution.weights, self.threshold, knowledge.required)
        self.raw_weights_ = solution.weights
        self.solution_ = replace(solution, cut_edges=rounded.cut)
        self.n_iter_ = max(1, solution.iterations)
        self._set_weights(rounded.weights)
        if not solution.status.is_final:
            warn_user(solution.status.value, ConvergenceWarning)
