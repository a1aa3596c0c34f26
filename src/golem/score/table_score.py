"""The scores of tables. `score_of` is the only place that asks what kind of table it has.

With experiments, environment e changes the mechanisms of its targets T_e. A node j is scored on the environments that
do not target it, pooled: n_j log r_j + penalty, with r_j the residual variance of j given its parents. This is exact
for hard interventions, which cut the influence of the parents (Hauser and Buhlmann 2012). A soft intervention keeps the
parents but changes how j depends on them: every environment that targets j adds n_e log r_je, from a regression of its
own, with its own coefficients in the penalty. Without this term the wrong arrow can win, because an environment that is
left out for j but not for its neighbour makes them look less dependent.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from golem.data.table import Intercepts, Intervention, Table
from golem.data.variables import Codes
from golem.data.wide_columns import WideMoments
from golem.graphs.edges import Edges
from golem.runtime.names import positions
from golem.runtime.types import Array, BoolMatrix, Matrix, Vector
from golem.score.gaussian_columns import GaussianColumns
from golem.score.likelihood import GaussianEV, GaussianTied
from golem.score.node_score import Correlation, Families, NodeScore, Variant
from golem.score.node_scores import Counts, GaussianBlocks, gaussian_blocks
from golem.score.objective import graph_scores
from golem.score.regression import Regressions, edge_losses, family_variances, regressions, residual_variance
from golem.score.score_settings import LIKELIHOODS, ScoreName, ScoreSettings
from golem.score.sparsity import L0
from golem.score.wide_score import WideScore


@dataclass(frozen=True, eq=False)
class CovarianceScore(NodeScore):
    """The score of numbers from one environment: everything follows from one covariance."""

    noise: str = field(kw_only=True)

    name = "gaussian"
    quick_columns = 60

    @property
    def stage(self) -> str:
        """What the progress of the search calls it."""
        return "order" if self.noise == "auto" else f"order-{self.noise}"

    def engine(self) -> Correlation:
        """Return the data of the search, which may choose the noise model."""
        return Correlation(self.table, LIKELIHOODS[self.noise](self.table.n), self.sparsity)

    def costs(self) -> GaussianColumns:
        """Return the costs with free noise variances."""
        moments = self.table.moments()
        return GaussianColumns(moments.covariance, moments.n, self.sparsity.penalties(moments.n, moments.d))

    def variants(self) -> list[Variant]:
        """Return the score of the columns and that of their normal scores."""
        return _raw_and_ranked(self)

    def evidence(self) -> tuple[str, ...]:
        """Return the sources: with equal variances by assumption, the shape of the noise is not asked."""
        return {"ev": ("variances",), "nv": ("shape",)}.get(self.noise, ("variances", "shape"))

    def cost(self, j: int, parents: Iterable[int]) -> float:
        """Return the cost of node j with these parents and its own noise variance."""
        moments, own = self.table.moments(), np.array(sorted(parents), dtype=np.intp)
        fit = moments.n * np.log(residual_variance(moments.covariance, j, own))
        return float(fit + self.sparsity.penalties(moments.n, moments.d)[len(own)])

    def total(self, graph: BoolMatrix) -> float:
        """Return the score of a DAG at its best weights."""
        moments = self.table.moments()
        r = regressions(graph, moments.covariance).residual_variances
        penalties = self.sparsity.penalties(moments.n, moments.d)
        return float(2 * moments.n * self.likelihood.on_dag(r) + penalties[graph.sum(axis=0)].sum())

    def losses(self, edges: Edges) -> Vector:
        """Return how much the score rises without each edge."""
        return edge_losses(self.refit(edges), self.table.moments(), self.likelihood, self.sparsity)

    def graph_scores(self, weights: Vector, residual_variances: Vector) -> dict[str, float]:
        """Return scores of a graph that are comparable between solvers, given its edges."""
        return graph_scores(weights, residual_variances, self.table.n)

    def bic(self, edges: Edges) -> float | None:
        """Return the BIC of a graph with free noise variances; None for a node with as many parents as rows."""
        n, fit = self.table.n, self.refit(edges)
        crowded = fit.number_of_parents.max(initial=0) >= n - 1
        return None if crowded else graph_scores(fit.weights, fit.residual_variances, n)["bic_nv"]

    def family_costs(self, fit: Regressions) -> Callable[[Families], Vector]:
        """Return the costs; the deviance of equal variances grows with the sum of all residual variances.

        If the mean and the spread of tied variances are estimated, they are those of the graph of `fit`.
        """
        S, n, likelihood = self.table.moments().covariance, self.table.n, self.likelihood
        if isinstance(likelihood, GaussianEV):
            return lambda families: family_variances(S, families)
        if isinstance(likelihood, GaussianTied) and not likelihood.is_fixed:
            likelihood = likelihood.fixed_at(fit.residual_variances)
        return lambda families: np.asarray(2 * n * likelihood.on_dag(family_variances(S, families)[:, None]))

    def rise_of_deviance(self, rise: float, fit: Regressions) -> float:
        """Return the deviance for a rise of the sum of `family_costs`."""
        if not isinstance(self.likelihood, GaussianEV):
            return rise
        r = fit.residual_variances
        return float(self.table.n * len(r) * np.log1p(rise / r.sum()))


@dataclass(frozen=True, eq=False)
class _SumScore(NodeScore):
    """A score that is a sum of costs over the nodes, whatever the other nodes are."""

    @abstractmethod
    def engine(self) -> GaussianBlocks | Counts:
        """Return the costs."""

    @property
    def stage(self) -> str:
        """What the progress of the search calls it."""
        return f"order-{self.name}"

    def cost(self, j: int, parents: Iterable[int]) -> float:
        """Return the cost of node j with these parents."""
        return self.engine().cost(j, parents)

    def cost_table(self, members: BoolMatrix) -> Matrix:
        """Return the cost of all nodes with all sets of parents, given as rows."""
        return self.engine().cost_table(members)

    def total(self, graph: BoolMatrix) -> float:
        """Return the score of a DAG at its best weights."""
        engine = self.engine()
        return sum(engine.cost(j, np.flatnonzero(column).tolist()) for j, column in enumerate(graph.T))

    def losses(self, edges: Edges) -> Vector:
        """Return how much the score rises without each edge."""
        engine, losses = self.engine(), np.zeros(len(edges))
        for j in np.unique(edges.children).tolist():
            into = np.flatnonzero(edges.children == j)
            parents = edges.causes[into].tolist()
            now = engine.cost(j, parents)
            losses[into] = [engine.cost(j, [other for other in parents if other != i]) - now for i in parents]
        return losses

    def family_costs(self, fit: Regressions) -> Callable[[Families], Vector]:
        """Return the deviance of nodes given their parents."""
        engine = self.deviance().engine()
        return lambda families: np.array([engine.cost(child, list(parents)) for child, parents in families])


@dataclass(frozen=True, eq=False)
class BlockScore(_SumScore):
    """The score of categories, of environments, or of both: nodes of one or more columns on one or more covariances."""

    @property
    def name(self) -> ScoreName:
        """What users call the score."""
        return "gaussian" if self.table.coding.is_numeric else "mixed"

    @property
    def stage(self) -> str:
        """What the progress of the search calls it."""
        return "order-nv" if self.name == "gaussian" else f"order-{self.name}"

    @functools.cached_property
    def _blocks(self) -> GaussianBlocks:
        return table_blocks(self.table, self.sparsity, self.intervention, self.intercepts)

    def engine(self) -> GaussianBlocks:
        """Return the data of the search."""
        return self._blocks

    def variants(self) -> list[Variant]:
        """Return the score of the columns and that of the normal scores of numbers; of categories alone, all scores."""
        if self.table.coding.is_discrete and not self.table.has_environments:
            return _category_scores(self)
        return _raw_and_ranked(self)

    def evidence(self) -> tuple[str, ...]:
        """Return the sources that can direct edges."""
        return ("interventions",) if self.table.has_environments else ()

    def why_free(self) -> str:
        """Return why every variable has its own noise variance."""
        return "With environments, every variable has its own noise variance." if self.table.has_environments else ""

    def strengths(self, edges: Edges) -> Vector:
        """Return how much the deviance rises without each edge."""
        return super().strengths(edges) if self.name == "gaussian" else self.deviance().losses(edges)


@dataclass(frozen=True, eq=False)
class CountScore(_SumScore):
    """The score of a table of categories by how often their levels occur together."""

    codes: Codes = field(kw_only=True)
    prior: Literal["bdeu", "discrete-bic"] = field(kw_only=True)
    is_deviance: bool = False

    @property
    def name(self) -> ScoreName:
        """What users call the score."""
        return self.prior

    def engine(self) -> Counts:
        """Return the data of the search."""
        is_bdeu = self.name == "bdeu" and not self.is_deviance
        return Counts(self.codes, self.table.coding.levels, "bdeu" if is_bdeu else "bic", sparsity=self.sparsity)

    def variants(self) -> list[Variant]:
        """Return all scores of categories."""
        return _category_scores(self)

    @property
    def counted_rows(self) -> Array:
        """All coded rows."""
        return self.codes

    def prior_settings(self) -> dict[str, float]:
        """Return the settings of the Dirichlet prior of BDeu."""
        return {"equivalent_sample_size": Counts.equivalent_sample_size} if self.prior == "bdeu" else {}

    def deviance(self) -> CountScore:
        """Return the score without its penalty."""
        return replace(self, sparsity=L0(0.0), is_deviance=True)

    def strengths(self, edges: Edges) -> Vector:
        """Return how much the deviance rises without each edge."""
        return self.deviance().losses(edges)

    def reordered(self, names: Sequence[str]) -> CountScore:
        """Return the same score with the variables in another order."""
        codes = np.asfortranarray(self.codes[:, positions(names, self.table.names)])
        return replace(self, table=self.table.reordered(names), codes=codes)


def _raw_and_ranked(score: NodeScore) -> list[Variant]:
    """Return a score of the columns as they are, and of their normal scores, if the rows are at hand."""
    table, variants = score.table, [Variant("raw", score.table, score.with_table)]
    if not table.is_ranked and all(part.has_all_rows and part.unit_means is None for part in table.parts):
        variants.append(Variant("ranks", table.with_ranks(), score.with_table))
    return variants


def _category_scores(score: NodeScore) -> list[Variant]:
    """Return the scores of a table of categories."""
    settings = ScoreSettings(sparsity=score.sparsity)
    return [
        Variant(name, score.table, lambda table, name=name: score_of(table, replace(settings, function=name)))  # type: ignore[misc]
        for name in ("discrete-bic", "bdeu", "mixed")
    ]


def table_blocks(
    table: Table,
    sparsity: L0 | None = None,
    intervention: Intervention = "soft",
    intercepts: Intercepts = "separate",
) -> GaussianBlocks:
    """Return the cost of every node given its parents, in units of the deviance.

    There is one matrix per set of parts that do not target a node and, for soft interventions, one per part with
    targets; a table without experiments has one matrix.

    Examples
    --------
    >>> from golem.data.moments import Moments
    >>> def example(noise):  # x -> y with slope 1
    ...     return Moments.from_covariance([[1.0, 1.0], [1.0, 1.0 + noise]], 1000, names=["x", "y"])
    >>> both = Table.of({"control": example(1.0), "louder": example(1.2)}, {"control": [], "louder": ["y"]})
    >>> for kind in ("soft", "hard"):
    ...     score = table_blocks(both, L0(0.0), kind)  # without a penalty
    ...     right, wrong = score.cost(0, []) + score.cost(1, [0]), score.cost(1, []) + score.cost(0, [1])
    ...     print(kind, round(wrong - right))
    soft 6
    hard -600
    """
    matrices: list[Matrix] = []
    rows: list[int] = []
    terms: list[list[int]] = [[] for _ in range(table.d)]

    def add(which: tuple[int, ...], nodes: list[int]) -> None:
        pool = table.pooled(which, intercepts)
        for j in nodes:
            terms[j].append(len(matrices))
        matrices.append(pool.covariance)
        rows.append(pool.n)

    for which, nodes in table.groups().items():
        add(which, nodes)
    if intervention == "soft":
        for e, targets in enumerate(table.targets):
            if targets:
                add((e,), list(targets))
    return gaussian_blocks(matrices, rows, first=table.coding.first, terms=terms, sparsity=sparsity)


def score_of(table: Table, settings: ScoreSettings) -> NodeScore:
    """Return the score of a table; raise a ValueError if the settings do not suit it."""
    return SCORES[settings.function](table, settings)


def _by_columns(table: Table, settings: ScoreSettings) -> NodeScore:
    """Return the score that suits the types of the columns."""
    name = settings.name_for(table)
    if isinstance(table.parts[0].moments, WideMoments):
        return WideScore(table, settings.sparsity)
    shared: dict[str, Any] = {"table": table, "sparsity": settings.sparsity, "intercepts": settings.intercepts}
    shared |= {"intervention": settings.intervention}
    if name == "bdeu" or name == "discrete-bic":
        return CountScore(**shared, prior=name, codes=_all_codes(table))
    if table.has_environments:
        return BlockScore(**shared, no_shape="interventions change it")
    if name == "mixed":
        return BlockScore(**shared, no_shape="" if table.coding.is_discrete else "the table has categories")
    # The past has the variances of the present, so only the present could have equal noise: every variable its own.
    noise = settings.noise if table.series is None else "nv"
    return CovarianceScore(**shared, likelihood=LIKELIHOODS[noise](table.n), noise=noise)


def _all_codes(table: Table) -> Codes:
    """Return the levels of all complete rows as integers; raise a ValueError if not all rows are in memory."""
    part = table.parts[0]
    found = part.read_rows()
    complete = None if found is None else np.asarray(found)[~np.isnan(found).any(axis=1)]
    if complete is None or len(complete) != part.moments.n:
        raise ValueError(
            "Discrete scores count all rows, and not all of them are in memory. Use fewer rows, or the score 'mixed', "
            "which needs only moments."
        )
    return table.coding.codes(complete)


# The scores that have a name, and how they are made; a new one is one more function here.
SCORES: dict[str, Callable[[Table, ScoreSettings], NodeScore]] = dict.fromkeys(
    ("auto", "gaussian", "mixed", "bdeu", "discrete-bic"), _by_columns
)
