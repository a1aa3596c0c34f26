"""`learn(table, settings)`: check, score, search or gradient, refit, directions. The result is a `Fit`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from golem.data.inputs import table_knowledge
from golem.data.knowledge import Knowledge
from golem.data.table import Table
from golem.data.table_checks import check_table
from golem.data.unusable import Unusable, unusable_error
from golem.directions.by_structure import evidence_by_structure, with_structure
from golem.directions.evidence import DirectionProblem, with_directions
from golem.directions.learned_graph import LearnedGraph
from golem.estimator.search_fit import name_order, search_graph
from golem.estimator.settings import PAPER_THRESHOLD, Settings, named
from golem.gradient.gradient_solver import GradientSolver
from golem.gradient.paper_recipe import PaperRecipe
from golem.gradient.rounding import ChosenEdges, CycleRemoval, Rounded, choose_edges, round_to_dag, with_required
from golem.graphs.edges import Edges
from golem.graphs.interventional import reversible_after
from golem.runtime.progress import Counter
from golem.runtime.types import BoolVector, Matrix, Vector
from golem.score.acyclicity import ACYCLICITIES
from golem.score.likelihood import GaussianNV
from golem.score.node_score import NodeScore
from golem.score.regression import Regressions, weighted_edges
from golem.score.solution import Solution
from golem.score.sparsity import SPARSITIES
from golem.score.table_score import score_of

# Share of the variance of a column that rounding errors may leave.
_PERFECT = 1e-12


@dataclass(frozen=True, eq=False)
class Fit:
    """A learned graph, and what it was learned from.

    Parameters
    ----------
    score : NodeScore
        The score that was minimized, with the noise model that was chosen. Its table has no rows any more.
    solution : Solution
        How the solve ended.
    graph : LearnedGraph
        The graph, and what its directions rest on.
    knowledge : Knowledge
        The masks that were obeyed.
    start : Solution, optional
        The solve of GOLEM-EV for a start.
    threshold : float, optional
        The threshold that rounded the weights of a gradient solver.
    """

    score: NodeScore
    solution: Solution
    graph: LearnedGraph
    knowledge: Knowledge
    start: Solution | None = None
    threshold: float | None = None

    @property
    def table(self) -> Table:
        """The data."""
        return self.score.table

    def checked(self, table: Table, random_state: int = 0, callback: Counter | None = None) -> Fit:
        """Return the fit with the directions of its class that have evidence, given its table with rows."""
        order = name_order(table.names)
        score = self.score.with_table(table).reordered(order.names)
        causes, children = order.place[self.graph.causes], order.place[self.graph.children]
        known = self.knowledge
        if not known.is_empty:
            known = Knowledge(order.sort(known.forbidden), order.sort(known.required))
        asked = self.graph.directed_by("unchecked")
        found = evidence_by_structure(
            score, Edges(causes, children, score.d), asked, known, random_state=random_state, callback=callback
        )
        return dataclasses.replace(self, graph=with_structure(self.graph, found))

    @functools.cached_property
    def robustness(self) -> Vector:
        """The robustness value of each edge (Cinelli and Hazlett 2020).

        An unmeasured common cause removes an edge if it explains this share of what the other parents leave of the
        variance of both ends. With R^2 the squared partial correlation and f^2 = R^2 / (1 - R^2), it is
        (sqrt(f^4 + 4 f^2) - f^2) / 2.
        """
        free = dataclasses.replace(self.score, likelihood=GaussianNV()).deviance()
        f2 = np.expm1(np.maximum(free.losses(self.graph), 0.0) / self.table.n)
        return np.asarray((np.sqrt(f2**2 + 4 * f2) - f2) / 2)

    @functools.cached_property
    def strengths(self) -> Vector:
        """How much the deviance rises without each edge, if its weight does not say how strong it is, or NaN."""
        return self.score.strengths(self.graph)

    @functools.cached_property
    def standardized_weights(self) -> Vector:
        """The weights in standard deviations of the columns; NaN where an end is a category."""
        scale = np.sqrt(self.score.regression.variances())
        return np.asarray(self.graph.weights * scale[self.graph.causes] / scale[self.graph.children])

    @functools.cached_property
    def standard_errors(self) -> Vector | None:
        """The standard errors of the weights, NaN if there is no weight; None if they are not least squares."""
        refit = self.score.refit(self.graph)
        if not np.allclose(refit.weights, self.graph.weights, rtol=1e-6, atol=0, equal_nan=True):
            return None
        return self.score.regression.standard_errors(refit)


def learn(table: Table, settings: Settings, checkpoint: Path | None = None) -> Fit:
    """Learn the graph of a table."""
    return learn_scored(*prepare(table, settings), settings, checkpoint)


def learn_scored(score: NodeScore, knowledge: Knowledge, settings: Settings, checkpoint: Path | None = None) -> Fit:
    """Learn the graph with the lowest score."""
    if settings.counts_edges:
        solution, start = search_graph(score, settings, knowledge)
    else:
        solution, start = follow_gradient(score, settings, knowledge, checkpoint)
    return conclude(score, settings, knowledge, solution, start)


def prepare(table: Table, settings: Settings) -> tuple[NodeScore, Knowledge]:
    """Return the score of a table and the knowledge about it, or raise a ValueError if no graph can be learned."""
    score = score_of(table, settings.score_settings)
    settings.require_score(score)
    is_equal = settings.noise == "ev"
    check_table(
        table,
        uses_scale=is_equal or not settings.counts_edges,
        equal_variances=is_equal,
        independent=settings.factors_covariance(table.n, table.d),
        bounded=settings.counts_edges,
        intervention=settings.intervention,
        intercepts=settings.intercepts,
    )
    return score, table_knowledge(settings.knowledge, table)


def conclude(
    score: NodeScore, settings: Settings, knowledge: Knowledge, solution: Solution, start: Solution | None
) -> Fit:
    """Turn a solution into a graph, and judge its directions."""
    score, threshold = score.chosen(solution.noise_choice), None
    if isinstance(solution.raw, Regressions):
        fit = solution.raw
        if not fit.weights.all():  # required edges may have a weight of 0
            fit = weighted_edges(with_required(fit.matrix, knowledge.required), score.table.moments().covariance)
    else:
        rounded = round_solution(solution, score, settings, knowledge)
        threshold, solution = rounded.threshold, dataclasses.replace(solution, cut_edges=rounded.cut)
        fit = weighted_edges(with_required(rounded.weights, knowledge.required), score.table.moments().covariance)
    graph = LearnedGraph(fit.causes, fit.children, score.d, fit.weights, fit.residual_variances)
    try:
        reversible = _reversible(graph, score)
    except ValueError:  # a cycle (cycles="none"): there is no equivalence class and no model
        return Fit(score.without_rows(), solution, graph, knowledge, start, threshold)
    _require_imperfect(score, fit)
    problem = DirectionProblem(
        dataclasses.replace(graph, reversible=reversible),
        score,
        knowledge,
        name_order(score.table.names).place,
        solution.noise_choice,
        settings.uses_shape,
    )
    shown = with_directions(problem)
    if shown.weights is not graph.weights:  # another member of the equivalence class than the one that was found
        raw = Regressions(shown.children, shown.causes, shown.weights, shown.residual_variances)
        solution = dataclasses.replace(solution, raw=raw)
    solution = dataclasses.replace(solution, graph_scores=score.graph_scores(shown.weights, shown.residual_variances))
    return Fit(score.without_rows(), solution, shown, knowledge, start, threshold)


def _reversible(graph: Edges, score: NodeScore) -> BoolVector:
    """Return for each edge whether the equivalence class leaves its direction open; refuse a graph with a cycle."""
    if not score.is_sparse:
        return reversible_after(graph, score.table.past)
    from golem.search.wide.solve import class_directions  # imports numba

    return ~class_directions(graph)


def _require_imperfect(score: NodeScore, fit: Regressions) -> None:
    """Raise a ValueError if parents explain a column exactly: a perfect fit is not evidence for its edges.

    With more rows than columns, linear combinations are refused before the search. With fewer, every column is one of
    all others, and only a graph shows which ones need few of them. Of very many columns, nothing else would show it.
    """
    table = score.table
    if table.n > table.d and table.moments().has_scatter:
        return
    perfect = np.flatnonzero(fit.residual_variances <= _PERFECT * score.regression.variances())
    if len(perfect):
        parents = {j: tuple(table.names[i] for i in fit.causes[fit.children == j]) for j in perfect}
        raise unusable_error([Unusable.determined(table.names[j], own) for j, own in parents.items()])


def follow_gradient(
    score: NodeScore, settings: Settings, knowledge: Knowledge, checkpoint: Path | None
) -> tuple[Solution, Solution | None]:
    """Minimize the paper's score from the start that the settings ask for; return the solution and its start."""
    moments = score.table.moments()
    init = settings.start_matrix(moments.d)
    recipe = recipe_of(settings, knowledge, moments.d)
    rows = score.table.parts[0].read_rows()
    return recipe.run(moments.covariance, moments.n, settings.noise_model, settings.noise, init, rows, checkpoint)


def recipe_of(settings: Settings, knowledge: Knowledge, d: int, stack: int = 1) -> PaperRecipe:
    """Return the procedure of the gradient solvers, for a stack of problems with d columns."""
    solver = settings.chosen_solver
    assert isinstance(solver, GradientSolver)
    h = _term(ACYCLICITIES, settings.acyclicity or "expm", "acyclicity")
    penalty = _term(SPARSITIES, settings.sparsity or "l1", "sparsity")
    placement = settings.placement(d)
    peak = solver.peak_matrices(h, settings.noise_model.lambda_dag, d, on_cpu=placement.device == "cpu")
    placement.require_memory(peak, d, solver.label, stack)
    return PaperRecipe(solver, h, penalty, knowledge, placement, settings.random_state, settings.callback)


def _term(table: Mapping[str, Any], given: Any, parameter: str) -> Any:
    """Return a term of the score, given as an object or by its name."""
    return named(table, given, parameter) if isinstance(given, str) else given


class RoundedSolution(NamedTuple):
    """The weights of a graph, the threshold used, and the number of edges removed to break cycles."""

    weights: Matrix
    threshold: float
    cut: int


def round_solution(solution: Solution, score: NodeScore, settings: Settings, knowledge: Knowledge) -> RoundedSolution:
    """Round the raw weights to a graph."""
    raw, required = solution.weights, knowledge.required
    rounded: ChosenEdges | Rounded
    if settings.threshold == "lr":
        cycles: CycleRemoval = settings.cycles or "gentle"
        rounded = choose_edges(raw, score.table.moments(), score.likelihood, score.sparsity, required, cycles)
        return RoundedSolution(rounded.weights, rounded.threshold, rounded.cut)
    threshold = PAPER_THRESHOLD if settings.threshold is None else float(settings.threshold)
    rounded = round_to_dag(raw, threshold, required, settings.cycles or "paper")
    return RoundedSolution(rounded.weights, threshold, rounded.cut)
