"""`NodeScore`: the cost of each node given its parents, and all that depends on the kind of table.

What comes after a table is read asks its score: the search for its engine, directions for the sources of evidence,
checks and documents for costs and regressions. Costs are in units of the deviance, minus twice the log-likelihood;
lower is better.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from golem.data.table import Intercepts, Intervention, Table
from golem.graphs.edges import Edges
from golem.runtime.types import Array, BoolMatrix, Vector
from golem.score.likelihood import GaussianNV, Likelihood
from golem.score.noise_choice import NoiseChoice
from golem.score.regression import Regressions
from golem.score.score_settings import ScoreName
from golem.score.sparsity import L0
from golem.score.table_regression import LevelCoefficient, TableRegression

Families = Sequence[tuple[int, Sequence[int]]]


@dataclass(frozen=True)
class Correlation:
    """What the search over one covariance needs: the engine of tables of numbers without experiments."""

    table: Table
    likelihood: Likelihood
    sparsity: L0


class Variant(NamedTuple):
    """A table, and the score of it or of a part of its rows."""

    name: str
    table: Table
    score: Callable[[Table], NodeScore]


@dataclass(frozen=True, eq=False)
class NodeScore(ABC):
    """The score of a table.

    Parameters
    ----------
    table : Table
        The data.
    sparsity : L0
        The penalty per edge.
    intercepts : {"separate", "shared"}
        Whether every environment has means of its own.
    intervention : {"soft", "hard"}
        What experiments do to their targets.
    """

    table: Table
    sparsity: L0
    intercepts: Intercepts = "separate"
    intervention: Intervention = "soft"
    # The noise model; interventions and categories leave the variance of each node free.
    likelihood: Likelihood = field(default_factory=GaussianNV, kw_only=True)
    # What the shape of the noise cannot be used for, as the end of "because ..."; empty if it can, or if it is unknown.
    no_shape: str = field(default="", kw_only=True)
    # Tables with more columns are not learned many times unless the user asks.
    quick_columns: ClassVar[int] = 20
    # Whether correlations are computed when they are needed, and not all of them.
    is_sparse: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> ScoreName:
        """What users call the score."""

    @property
    @abstractmethod
    def stage(self) -> str:
        """What the progress of the search calls it."""

    @abstractmethod
    def engine(self) -> Any:
        """Return the data of the search: `golem.search` has an engine per type."""

    def costs(self) -> Any:
        """Return the costs of nodes given their parents, with free noise variances, for a search."""
        return self.engine()

    @abstractmethod
    def variants(self) -> list[Variant]:
        """Return tables and scores that should give the same directions if these are real."""

    def evidence(self) -> tuple[str, ...]:
        """Return the sources, besides the structure, that can direct edges: `golem.directions` has one per name."""
        return ()

    def penalized(self, sparsity: L0) -> NodeScore:
        """Return the score with another penalty."""
        return replace(self, sparsity=sparsity)

    def deviance(self) -> NodeScore:
        """Return the score without its penalty: minus twice the log-likelihood."""
        return self.penalized(L0(0.0))

    @abstractmethod
    def cost(self, j: int, parents: Iterable[int]) -> float:
        """Return the cost of node j with these parents; of a table of numbers, that with free noise variances."""

    @abstractmethod
    def total(self, graph: BoolMatrix) -> float:
        """Return the score of a DAG at its best weights."""

    @abstractmethod
    def losses(self, edges: Edges) -> Vector:
        """Return how much the score of a graph rises without each of its edges."""

    @abstractmethod
    def family_costs(self, fit: Regressions) -> Callable[[Families], Vector]:
        """Return a function for the deviance of nodes given their parents, near the graph of `fit`."""

    def rise_of_deviance(self, rise: float, fit: Regressions) -> float:
        """Return the deviance for a rise of the sum of `family_costs` over the graph of `fit`."""
        return rise

    @property
    def d(self) -> int:
        """Number of nodes."""
        return self.table.d

    @functools.cached_property
    def regression(self) -> TableRegression:
        """The regressions of nodes on their parents."""
        return TableRegression(self.table, self.intercepts)

    def refit(self, edges: Edges) -> Regressions:
        """Return the least-squares weights and residual variances of a graph, whose edges are grouped by child."""
        return self.regression.weights(edges)

    def strengths(self, edges: Edges) -> Vector:
        """Return how much the deviance rises without each edge, if its weight does not say how strong it is, or NaN."""
        return np.full(len(edges), np.nan)

    def coefficients(self, edges: Edges) -> list[LevelCoefficient]:
        """Return the coefficients of edges with a category at one of their ends."""
        return self.regression.coefficients(edges)

    def graph_scores(self, weights: Vector, residual_variances: Vector) -> dict[str, float]:
        """Return scores of a graph that are comparable between solvers, given its edges."""
        return {"edges": float(len(weights))}

    def bic(self, edges: Edges) -> float | None:
        """Return the BIC of a graph with free noise variances; None where no common covariance defines it."""
        return None

    @property
    def counted_rows(self) -> Array | None:
        """All coded rows, if the score counts them; None if it needs only moments."""
        return None

    @property
    def noise_model(self) -> Likelihood | None:
        """The noise model of all variables; None if some of them are categories, which have no noise."""
        return self.likelihood if self.table.coding.is_numeric else None

    def why_free(self) -> str:
        """Return why every variable has its own noise variance, if that is not the choice of the user or the data."""
        return ""

    def prior_settings(self) -> dict[str, float]:
        """Return the settings of the prior on the parameters of the nodes, by name, if there is one."""
        return {}

    def chosen(self, choice: NoiseChoice | None) -> NodeScore:
        """Return the score with the noise model that was chosen from the data, if it was open."""
        return self if choice is None else replace(self, likelihood=choice.likelihood)

    def without_rows(self) -> NodeScore:
        """Return the same score of a table without its rows."""
        return self.with_table(self.table.without_rows())

    def with_table(self, table: Table) -> NodeScore:
        """Return the same score of the same moments, which may have other names, or rows."""
        return replace(self, table=table)

    def reordered(self, names: Sequence[str]) -> NodeScore:
        """Return the same score with the variables in another order."""
        return replace(self, table=self.table.reordered(names))

    def selected(self, nodes: Sequence[int]) -> NodeScore:
        """Return the score of some nodes, by number."""
        return replace(self, table=self.table.selected(nodes))
