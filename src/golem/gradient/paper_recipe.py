"""The paper's recipe: minimize the penalized score by gradient descent, GOLEM-NV starting at GOLEM-EV."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from golem.data.knowledge import Knowledge
from golem.gradient.adam import Adam
from golem.gradient.checkpoint import Checkpoint, hash_of
from golem.gradient.lbfgs import LBFGS
from golem.runtime.arrays import namespace
from golem.runtime.devices import Placement
from golem.runtime.types import Array, Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.objective import PAPER_PENALTIES, Objective
from golem.score.solution import Callback, Solution


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
        self,
        covariance: Matrix,
        n: int,
        noise: NoiseModel,
        name: str,
        init: Matrix | None,
        rows: Array | None = None,
        checkpoint: Path | None = None,
    ) -> tuple[Solution, Solution | None]:
        """Minimize the score from `init`, by default the solution of GOLEM-EV; return the solution and that start.

        With a checkpoint file (Adam only), continue where an earlier call with the same data and settings has stopped.
        """
        start: Solution | None = None
        objective = self.objective(covariance, n, noise)
        rows = rows if isinstance(self.solver, Adam) and self.solver.batch_size is not None else None
        file = None
        if checkpoint is not None:
            file = Checkpoint(checkpoint, self._identity(covariance, n, noise, name, init, rows))
        if init is None:
            golem_ev = self.objective(covariance, n, NOISE_MODELS["ev"])
            start = self._solve(golem_ev, None, rows, "golem-ev (start)", file)
            if start.status.is_cut_short:
                return start, start
            init = start.weights
        elif not np.isfinite(float(objective.value_and_grad(self.placement.put(init))[0].sum())):
            raise ValueError("The score is not finite at the start matrix 'init'. Choose smaller weights.")
        return self._solve(objective, init, rows, f"golem-{name}", file), start

    def _solve(
        self, objective: Objective, init: Matrix | None, rows: Array | None, stage: str, checkpoint: Checkpoint | None
    ) -> Solution:
        """Run the solver."""
        if isinstance(self.solver, LBFGS):
            return self.solver.solve(objective, init, callback=self.callback, stage=stage)
        return self.solver.solve(
            objective,
            None if init is None else self.placement.put(init),
            rows=None if rows is None else self.placement.put(_centred(rows)),
            random_state=self.random_state,
            callback=self.callback,
            stage=stage,
            checkpoint=checkpoint,
        )

    def _identity(
        self, covariance: Matrix, n: int, noise: NoiseModel, name: str, init: Matrix | None, rows: Array | None
    ) -> dict[str, str]:
        """Return what the result depends on; the device and the time limit may change between calls."""
        settings = {
            "noise": name,
            "lambda_sparsity": noise.lambda_sparsity,
            "lambda_dag": noise.lambda_dag,
            "solver": dataclasses.replace(self.solver, time_limit=None),
            "acyclicity": self.acyclicity,
            "dtype": self.placement.dtype,
            "random_state": None if rows is None else self.random_state or 0,
        }
        return {name: str(value) for name, value in settings.items()} | {
            "data": f"{n} rows, {hash_of(covariance, rows)}",
            "start": hash_of(init),
            "knowledge": hash_of(self.knowledge.forbidden, self.knowledge.required),
        }


def _centred(rows: Array) -> Array:
    """Subtract the means in double precision, as large means would cost single precision its digits."""
    xp = namespace(rows)
    rows = xp.astype(rows, xp.float64, copy=False)
    return rows - xp.mean(rows, axis=0)
