"""The paper's recipe: minimize the penalized score by gradient descent, GOLEM-NV starting at GOLEM-EV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from golem.data.knowledge import Knowledge
from golem.runtime.arrays import namespace
from golem.runtime.devices import Placement
from golem.runtime.types import Array, Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.objective import PAPER_PENALTIES, Objective
from golem.solvers import LBFGS, Adam, Callback, Solution


@dataclass(frozen=True)
class NoiseModel:
    """A likelihood, given the number of rows, with the paper's penalties for it (appendix F)."""

    likelihood: Callable[[int], Likelihood]
    lambda_sparsity: float
    lambda_dag: float


NOISE_MODELS = {
    "auto": NoiseModel(GaussianTied, *PAPER_PENALTIES["nv"]),
    "ev": NoiseModel(lambda n: GaussianEV(), *PAPER_PENALTIES["ev"]),
    "nv": NoiseModel(lambda n: GaussianNV(), *PAPER_PENALTIES["nv"]),
}


@dataclass(frozen=True, eq=False)
class PaperRecipe:
    """A solver and its settings, for one covariance or (Adam only) a stack of covariances."""

    solver: Adam | LBFGS
    acyclicity: Acyclicity
    knowledge: Knowledge
    placement: Placement
    random_state: int | np.random.Generator | None = None
    callback: Callback | None = None

    def objective(self, covariance: Matrix, n: int, noise: NoiseModel) -> Objective:
        """Return the score S(B)."""
        return Objective(
            self.placement.put(covariance),
            noise.likelihood(n),
            acyclicity=self.acyclicity,
            lambda_sparsity=noise.lambda_sparsity,
            lambda_dag=noise.lambda_dag,
            allowed=self.knowledge.allowed,
            unpenalized=self.knowledge.required,
        )

    def run(
        self, covariance: Matrix, n: int, noise: NoiseModel, name: str, init: Matrix | None, rows: Array | None = None
    ) -> tuple[Solution, Solution | None]:
        """Minimize the score from `init`, by default the solution of GOLEM-EV; return the solution and that start."""
        start: Solution | None = None
        objective = self.objective(covariance, n, noise)
        if init is None:
            golem_ev = self.objective(covariance, n, NOISE_MODELS["ev"])
            start = self._solve(golem_ev, None, rows, stage="golem-ev (start)")
            if start.status.is_cut_short:
                return start, start
            init = start.weights
        elif not np.isfinite(float(objective.value_and_grad(self.placement.put(init))[0].sum())):
            raise ValueError("The score is not finite at the start matrix 'init'. Choose smaller weights.")
        return self._solve(objective, init, rows, stage=f"golem-{name}"), start

    def _solve(self, objective: Objective, init: Matrix | None, rows: Array | None, stage: str) -> Solution:
        """Run the solver; pass it the rows if it uses minibatches."""
        if isinstance(self.solver, LBFGS):
            return self.solver.solve(objective, init, callback=self.callback, stage=stage)
        return self.solver.solve(
            objective,
            None if init is None else self.placement.put(init),
            rows=None if rows is None or self.solver.batch_size is None else self.placement.put(_centred(rows)),
            random_state=self.random_state,
            callback=self.callback,
            stage=stage,
        )


def _centred(rows: Array) -> Array:
    """Subtract the means in double precision, as large means would cost single precision its digits."""
    xp = namespace(rows)
    rows = xp.astype(rows, xp.float64, copy=False)
    return rows - xp.mean(rows, axis=0)
