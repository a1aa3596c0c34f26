"""Fit by Adam or L-BFGS: the paper's recipe with the settings of an estimator, and the rounding of its weights."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golem.estimator.settings import (
    ACYCLICITIES,
    PAPER_THRESHOLD,
    is_counted,
    named,
    placement_for,
    plain_number,
    start_matrix,
)
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.gradient.likelihood_ratio import ChosenEdges, choose_edges
from golem.gradient.paper_recipe import NOISE_MODELS, NoiseModel, PaperRecipe
from golem.gradient.rounding import Rounded, round_to_dag, with_required
from golem.runtime.types import Array, Matrix
from golem.score.objective import PAPER_PENALTIES
from golem.score.regression import Regressions, weighted_edges
from golem.score.solution import Solution

if TYPE_CHECKING:
    from golem.estimator.golem import Golem


def paper_settings(noise: str, accelerate: bool, own_solver: bool) -> dict[str, Any]:
    """Return the parameters of the paper's recipe (appendix F); `own_solver`: whether the caller sets a solver."""
    if noise not in PAPER_PENALTIES:
        raise ValueError(f"noise must be 'ev' or 'nv' in the paper's recipe; got {noise!r}.")
    if accelerate and own_solver:
        raise ValueError("Set accelerate in the solver: solver=Adam(accelerate=True).")
    return {
        "noise": noise,
        "solver": Adam(accelerate=True) if accelerate else "adam",
        "lambda_sparsity": NOISE_MODELS[noise].lambda_sparsity,
        "lambda_dag": NOISE_MODELS[noise].lambda_dag,
        "threshold": PAPER_THRESHOLD,
        "init": "ev" if noise == "nv" else "zeros",
        "acyclicity": "expm",
        "cycles": "paper",
    }


def run_recipe(
    model: Golem, solver: Adam | LBFGS, noise: NoiseModel, rows: Array | None, checkpoint: Path | None
) -> tuple[Solution, Solution | None]:
    """Minimize the score from the start that the settings ask for; return the solution and its start."""
    moments = model.moments_
    init = start_matrix(model, moments.d)
    recipe = recipe_of(model, solver, moments.d)
    return recipe.run(moments.covariance, moments.n, penalized(model, noise), model.noise, init, rows, checkpoint)


def recipe_of(model: Golem, solver: Adam | LBFGS, d: int, stack: int = 1) -> PaperRecipe:
    """Return the procedure of the gradient solvers, for a stack of problems with d columns."""
    acyclicity = "expm" if model.acyclicity is None else model.acyclicity
    h = named(ACYCLICITIES, acyclicity, "acyclicity") if isinstance(acyclicity, str) else acyclicity
    placement = placement_for(model, solver, d)
    if isinstance(solver, Adam):
        lambda_dag = penalized(model, NOISE_MODELS[model.noise]).lambda_dag
        peak = solver.peak_matrices(h, lambda_dag, d, on_cpu=placement.device == "cpu")
        placement.require_memory(peak, d, "Adam", stack)
    else:
        placement.require_memory(solver.peak_matrices, d, "L-BFGS")
    return PaperRecipe(solver, h, model.knowledge_, placement, model.random_state, model.callback)


def penalized(model: Golem, noise: NoiseModel) -> NoiseModel:
    """Return the noise model with the user's penalties in place of the paper's."""
    penalties = {name: plain_number(getattr(model, name)) for name in ("lambda_sparsity", "lambda_dag")}
    return dataclasses.replace(noise, **{name: value for name, value in penalties.items() if value is not None})


def rounded_edges(model: Golem) -> Regressions:
    """Return the edges of the learned graph; round the weights first unless the solver counts edges."""
    raw, known, S = model.solution_.raw, model.knowledge_, model.moments_.covariance
    if isinstance(raw, Regressions) and (model.environments_ or (known.is_empty and raw.weights.all())):
        return raw
    weights = model.solution_.weights if is_counted(model) else round_solution(model)
    return weighted_edges(with_required(weights, known.required), S)


def round_solution(model: Golem) -> Matrix:
    """Round the raw weights to a graph, and record how many edges were removed to break cycles."""
    raw, required = model.solution_.weights, model.knowledge_.required
    rounded: ChosenEdges | Rounded
    if model.threshold == "lr":
        rounded = choose_edges(
            raw, model.moments_, model.likelihood_, model.edge_penalty_, required, model.cycles or "gentle"
        )
        model.threshold_ = rounded.threshold
    else:
        model.threshold_ = PAPER_THRESHOLD if model.threshold is None else float(model.threshold)
        rounded = round_to_dag(raw, model.threshold_, required, model.cycles or "paper")
    model.solution_ = dataclasses.replace(model.solution_, cut_edges=rounded.cut)
    return rounded.weights
