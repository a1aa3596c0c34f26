"""The paper's recipe: minimize the penalized score by gradient descent, GOLEM-NV starting at GOLEM-EV."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from golem.data.knowledge import Knowledge
from golem.gradient.checkpoint import Checkpoint, hash_of
from golem.gradient.gradient_solver import GradientSolver, SolverRun
from golem.runtime.arrays import namespace
from golem.runtime.devices import Placement
from golem.runtime.types import Array, Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.objective import PAPER_PENALTIES, Objective
from golem.score.solution import Callback, Solution
from golem.score.sparsity import L1, Sparsity


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

    solver: GradientSolver
    acyclicity: Acyclicity
    sparsity: Sparsity
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
            sparsity=self.sparsity,
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
        rows = rows if self.solver.uses_rows else None
        file = None
        if checkpoint is not None:
            identity = self._identity(covariance, n, noise, name, init, rows)
            file = Checkpoint(checkpoint, identity, covariance.shape)
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
        how = SolverRun(
            self.placement,
            None if rows is None else _centred(rows),
            self.random_state,
            self.callback,
            stage,
            checkpoint,
        )
        return self.solver.run(objective, init, how)

    def _identity(
        self, covariance: Matrix, n: int, noise: NoiseModel, name: str, init: Matrix | None, rows: Array | None
    ) -> dict[str, str]:
        """Return what the result depends on; the device and the time limit may change between calls."""
        settings = {
            "noise": name,
            "lambda_sparsity": noise.lambda_sparsity,
            "lambda_dag": noise.lambda_dag,
            "solver": dataclasses.replace(self.solver, time_limit=None),  # type: ignore[type-var]
            "acyclicity": self.acyclicity,
            "dtype": self.placement.dtype,
            "random_state": None if rows is None else self.random_state or 0,
        }
        if self.sparsity != L1():
            settings["sparsity"] = self.sparsity
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
