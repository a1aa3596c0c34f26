"""What a gradient solver is: how it is run, and what it can do. `golem.solvers` lists those there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from golem.gradient.checkpoint import Checkpoint
from golem.runtime.devices import Placement
from golem.runtime.types import Array, Matrix
from golem.score.acyclicity import Acyclicity
from golem.score.objective import Objective
from golem.score.solution import Callback, Solution


@dataclass(frozen=True, eq=False)
class SolverRun:
    """One run of a gradient solver.

    Parameters
    ----------
    placement : Placement
        Device and number type of the weights.
    rows : array of shape (n, d), optional
        Centred rows, for minibatches.
    random_state : int, Generator or None
        Random seed of minibatches.
    callback, stage
        For a progress bar.
    checkpoint : Checkpoint, optional
        File that keeps the state.
    """

    placement: Placement
    rows: Array | None = None
    random_state: int | np.random.Generator | None = None
    callback: Callback | None = None
    stage: str = ""
    checkpoint: Checkpoint | None = None


class GradientSolver(ABC):
    """A way to minimize an `Objective` by its gradient; frozen dataclasses of hyperparameters inherit from it.

    Each has `time_limit` and `max_iter` among its hyperparameters.
    """

    counts_edges: ClassVar[bool] = False
    # What messages call it, and the number of columns from which on a GPU is faster, if it can use one.
    label: ClassVar[str]
    gpu_from: ClassVar[int | None] = None
    keeps_checkpoints: ClassVar[bool] = False
    # Whether R_sparse must be the l1 norm.
    needs_l1: ClassVar[bool] = True

    @abstractmethod
    def run(self, objective: Objective, init: Matrix | None, how: SolverRun) -> Solution:
        """Minimize the objective from a start matrix, by default zeros."""

    @abstractmethod
    def peak_matrices(self, acyclicity: Acyclicity, lambda_dag: float, d: int, on_cpu: bool = False) -> int:
        """Return the largest number of (d, d) matrices that a solve holds."""

    @property
    def uses_rows(self) -> bool:
        """Whether the solver draws minibatches of rows."""
        return False

    def require_device(self, device: str, dtype: str) -> None:  # noqa: B027 - most allow all
        """Raise a ValueError if the hyperparameters do not allow a device or number type."""
