"""Fit of a table with categories: a search with local scores, and what follows from the graph edge by edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from golem.data.checks import warn_of_scarce_columns
from golem.data.inputs import read_knowledge
from golem.data.moments import Moments
from golem.data.table_errors import too_few_columns
from golem.data.unusable_variables import require_variables
from golem.data.variables import Codes, Coding
from golem.directions.equivalence_class import known_edges, open_edges
from golem.estimator.category_settings import DISCRETE, ScoreName, automatic_score, choose_score
from golem.estimator.direction_evidence import RowSource
from golem.estimator.learned_graph import LearnedGraph
from golem.estimator.local_fit import run_local
from golem.estimator.name_order import NameOrder, name_order
from golem.estimator.settings import edge_penalty
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.graphs.edges import Edges
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.block_regression import BlockRegression, regress_block
from golem.score.node_scores import (
    Counts,
    GaussianBlocks,
    gaussian_blocks,
    loss_per_edge,
    total_cost,
)
from golem.score.regression import Regressions
from golem.score.solution import Solution
from golem.score.sparsity import L0
from golem.search.found_graph import FoundGraph
from golem.search.solver import Order

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

_NO_SHAPE = "In tables with categories, golem cannot use the shape of the noise to find directions."


class LevelCoefficient(NamedTuple):
    """One coefficient of an edge with a category at one of its ends; `pandas.DataFrame` makes a table of them.

    Parameters
    ----------
    source, target : str
        The cause and the effect.
    source_level, target_level : str or None
        The levels that the coefficient is about; None at an end that is a number.
    coefficient : float
        Change of the target, or of the probability of its level, when the source is at its level instead of its
        reference level (or, if it is a number, grows by one unit) and the other parents stay fixed. By least squares.
    standard_error : float or None
        Its error if the graph is right and the rows are independent; None if the parents determine each other.
    """

    source: str
    source_level: str | None
    target: str
    target_level: str | None
    coefficient: float
    standard_error: float | None


@dataclass(frozen=True, eq=False)
class CategoryFit:
    """The table and the score of a fit, from which strengths and coefficients of edges follow.

    Parameters
    ----------
    coding : Coding
        The variables.
    moments : Moments
        Of the columns of the variables.
    score : GaussianBlocks or Counts
        The score that was minimized.
    deviance : GaussianBlocks or Counts
        Minus twice the log-likelihood: the score without its penalty.
    """

    coding: Coding
    moments: Moments
    score: GaussianBlocks | Counts
    deviance: GaussianBlocks | Counts

    def strengths(self, edges: Edges) -> Vector:
        """Return how much the deviance rises without each edge."""
        return loss_per_edge(self.deviance, edges)

    def drop_losses(self, edges: Edges) -> Vector:
        """Return the loss of score without each edge, in units of the deviance."""
        return loss_per_edge(self.score, edges)

    def regression(self, j: int, parents: Indices) -> BlockRegression:
        """Regress the columns of a node on those of its parents."""
        S, n, patterns = self.moments.covariance, self.moments.n, self.moments.patterns
        return regress_block(S, n, self._columns(np.array([j])), self._columns(parents), patterns)

    def _columns(self, nodes: Indices) -> Indices:
        """Return the columns of some nodes."""
        first = self.coding.first
        return np.concatenate([np.zeros(0, dtype=np.intp), *(np.arange(first[i], first[i + 1]) for i in nodes)])

    def coefficients(self, edges: Edges) -> list[LevelCoefficient]:
        """Return the coefficients of the edges with a category at one of their ends, sorted as the edges are."""
        variables, found = self.coding.variables, []
        for j, parents in _families(edges):
            regression, begin, target = self.regression(j, parents), 0, variables[j]
            for source in (variables[i] for i in parents.tolist()):
                begin, rows = begin + source.columns, range(begin, begin + source.columns)
                if not (source.is_category or target.is_category):
                    continue
                for row, a in enumerate(rows):
                    for b in range(target.columns):
                        error = float(regression.standard_errors[a, b])
                        levels = (
                            source.levels[row + 1] if source.is_category else None,
                            target.levels[b + 1] if target.is_category else None,
                        )
                        value = float(regression.coefficients[a, b]), error if np.isfinite(error) else None
                        found.append(LevelCoefficient(source.name, levels[0], target.name, levels[1], *value))
        return found

    def intercepts(self, edges: Edges) -> Vector:
        """Return the intercepts of numbers, with categories at their reference levels; NaN for categories."""
        mean, first = self.moments.mean, self.coding.first
        found = np.full(edges.d, np.nan)
        for j, parents in _families(edges, parentless=True):
            if not self.coding.variables[j].is_category:
                columns = self._columns(parents)
                found[j] = mean[first[j]] - mean[columns] @ self.regression(j, parents).coefficients[:, 0]
        return found

    def weights(self, edges: Edges) -> tuple[Regressions, Vector]:
        """Return the weights between numbers with the residual variances of numbers, and their standard errors.

        They are NaN where an end of an edge, or a node, is a category.
        """
        weights, errors = np.full((2, len(edges)), np.nan)
        residuals = np.full(edges.d, np.nan)
        for j in np.flatnonzero(self.coding.levels == 0).tolist():
            into = np.flatnonzero(edges.children == j)
            regression, begin = self.regression(j, edges.causes[into]), 0
            residuals[j] = max(float(regression.residual[0, 0]), np.finfo(float).tiny)
            for k in into.tolist():
                variable = self.coding.variables[edges.causes[k]]
                if not variable.is_category:
                    weights[k], errors[k] = regression.coefficients[begin, 0], regression.standard_errors[begin, 0]
                begin += variable.columns
        return Regressions(edges.children, edges.causes, weights, residuals), errors


def fit_categories(model: Golem, moments: Moments, rows: RowSource, solver: Order | Adam | LBFGS) -> None:
    """Learn the graph of a table with categories, and set the attributes of the fitted model.

    `moments` are those of the columns of the variables, and `rows` are coded rows, which discrete scores count.
    """
    coding = moments.coding
    assert coding is not None
    model.score_ = choose_score(model, solver, moments, rows)
    assert isinstance(solver, Order)  # other solvers are refused
    if len(coding.names) < 2:
        raise too_few_columns(coding.names)
    require_variables(moments)
    warn_of_scarce_columns(moments)
    model.moments_, model.missing_, model.variables_ = moments, moments.missing, coding.variables
    model.n_features_in_, model.feature_names_in_ = len(coding.names), np.array(coding.names, dtype=object)
    model.knowledge_ = read_knowledge(model.knowledge, coding.names)
    model.edge_penalty_ = edge_penalty(model, solver)
    codes = _all_codes(rows, moments, coding) if model.score_ in DISCRETE else None
    scores = (_score(model.score_, moments, codes, sparsity) for sparsity in (model.edge_penalty_, None))
    model.category_fit_ = CategoryFit(coding, moments, *scores)
    model.environments_ = model.start_solution_ = model.noise_choice_ = model.threshold_ = None
    conclude_categories(model, _search(model, codes, solver))


def conclude_categories(model: Golem, solution: Solution) -> None:
    """Set the attributes of a model that follow from a solution."""
    model.solution_, model.n_iter_ = solution, max(1, solution.iterations)
    model.graph_ = _learned(model)


def automatic_table_score(moments: Moments, rows: Matrix | None) -> tuple[ScoreName, GaussianBlocks | Counts]:
    """Return the score that "auto" chooses for a table with categories, with the default penalty, and its name."""
    coding = moments.coding
    assert coding is not None
    name = automatic_score(moments, rows is not None)
    codes = _all_codes(rows, moments, coding) if name in DISCRETE else None
    return name, _score(name, moments, codes, L0())


def _learned(model: Golem) -> LearnedGraph:
    """Return the graph with its equivalence class. All directions that the class leaves open are without evidence."""
    raw = model.solution_.raw
    assert isinstance(raw, Regressions)
    edges, nothing = raw.edges, np.zeros(len(raw.weights), dtype=bool)
    reversible = edges.find_reversible()
    undirected = open_edges(edges, reversible, model.knowledge_)
    has_numbers = not model.category_fit_.coding.is_discrete
    return LearnedGraph(
        edges.causes,
        edges.children,
        edges.d,
        raw.weights,
        raw.residual_variances,
        reversible=reversible,
        undecided=undirected,
        by_variance=nothing,
        by_shape=nothing,
        by_intervention=nothing,
        by_knowledge=known_edges(edges, model.knowledge_) | (reversible & ~undirected),
        shape_note=_NO_SHAPE if has_numbers and model.shape == "auto" and undirected.any() else "",
    )


def _search(model: Golem, codes: Codes | None, solver: Order) -> Solution:
    """Search with the variables sorted by name, so that the order of a table's columns does not matter."""
    fit = model.category_fit_
    order = name_order(fit.coding.names)
    by_name = None if codes is None else codes[:, np.argsort(order.place)]
    score = _score(model.score_, fit.moments.reordered(order.names), by_name, model.edge_penalty_)

    def explain(found: FoundGraph) -> tuple[Regressions, float]:
        edges = _restored(found, order)
        return fit.weights(edges)[0], total_cost(fit.deviance, edges.matrix())

    return run_local(model, solver, score, order, f"order-{model.score_}", fit.moments.n, explain)


def _score(name: ScoreName, moments: Moments, codes: Codes | None, sparsity: L0 | None) -> GaussianBlocks | Counts:
    """Return a score of a table; without sparsity, the deviance: minus twice the log-likelihood."""
    coding = moments.coding
    assert coding is not None
    penalty = L0(0.0) if sparsity is None else sparsity
    if codes is None:
        return gaussian_blocks([moments.covariance], [moments.n], first=coding.first, sparsity=penalty)
    is_bdeu = name == "bdeu" and sparsity is not None
    return Counts(codes, coding.levels, "bdeu" if is_bdeu else "bic", sparsity=penalty)


def _all_codes(rows: RowSource, moments: Moments, coding: Coding) -> Codes:
    """Return the levels of all complete rows as integers; raise a ValueError if not all rows are in memory."""
    found = rows() if callable(rows) else rows
    complete = None if found is None else np.asarray(found)[~np.isnan(found).any(axis=1)]
    if complete is None or len(complete) != moments.n:
        raise ValueError(
            "Discrete scores count all rows, and not all of them are in memory. Use fewer rows, or the score 'mixed', "
            "which needs only moments."
        )
    return coding.codes(complete)


def _restored(found: FoundGraph, order: NameOrder) -> Edges:
    """Return the edges with the variables in their original order."""
    unknown = np.full(len(found.edges), np.nan), np.full(len(order.names), np.nan)
    return Regressions(found.edges.children, found.edges.causes, *unknown).renumbered(np.argsort(order.place)).edges


def _families(edges: Edges, parentless: bool = False) -> Iterator[tuple[int, Indices]]:
    """Yield the nodes with their parents."""
    for j in range(edges.d):
        parents = edges.causes[edges.children == j]
        if parentless or len(parents):
            yield j, parents
