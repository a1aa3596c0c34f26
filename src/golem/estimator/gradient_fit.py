"""Fit by a gradient solver, Adam or L-BFGS, and the rounding of its weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from golem.data.knowledge import Knowledge
from golem.estimator.settings import PAPER_THRESHOLD, Settings, named
from golem.gradient.gradient_solver import GradientSolver
from golem.gradient.paper_recipe import PaperRecipe
from golem.gradient.rounding import ChosenEdges, CycleRemoval, Rounded, choose_edges, round_to_dag
from golem.runtime.types import Matrix
from golem.score.acyclicity import ACYCLICITIES
from golem.score.solution import Solution
from golem.score.sparsity import SPARSITIES
from golem.score.table_score import NodeScore


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
