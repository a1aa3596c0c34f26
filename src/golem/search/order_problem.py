"""What all searches over orders of one table share: data, settings and effort."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from golem.data.moments import Moments
from golem.runtime.types import BoolMatrix, Vector
from golem.score.gaussian_columns import GaussianColumns
from golem.score.solution import Callback
from golem.search.exact_order import ExactOrders
from golem.search.masks import checked_masks

if TYPE_CHECKING:
    from golem.search.engines.correlation import CorrelationEngine

Effort = Literal["fast", "default", "thorough"]
# Starts, and perturbations per start: (how many, base, times sqrt(d) or, for many nodes, d / 20).
EFFORTS: dict[Effort, tuple[int, int, int]] = {"fast": (1, 20, 2), "default": (2, 150, 20), "thorough": (4, 500, 200)}


@dataclass(frozen=True, eq=False)
class OrderProblem:
    """The data and settings that all searches over orders of one table share."""

    moments: Moments
    penalties: Vector  # of nodes with 0, 1, ..., d - 1 parents
    allowed: BoolMatrix | None = None
    required: BoolMatrix | None = None
    random_state: int | np.random.Generator = 0
    callback: Callback | None = None

    @property
    def masks(self) -> tuple[BoolMatrix | None, BoolMatrix | None]:
        """Allowed and required edges."""
        return self.allowed, self.required

    @functools.cached_property
    def exact(self) -> ExactOrders:
        """The residual variances that exact searches share, for few nodes."""
        return ExactOrders(GaussianColumns(self.moments.standardized().covariance, self.moments.n, self.penalties))

    @functools.cached_property
    def engine(self) -> CorrelationEngine:
        """What searches over orders of many nodes share."""
        from golem.search.engines.correlation import CorrelationEngine  # imports numba

        score = GaussianColumns(self.moments.covariance, self.moments.n, self.penalties)
        return CorrelationEngine(score, *checked_masks(score.d, *self.masks))
