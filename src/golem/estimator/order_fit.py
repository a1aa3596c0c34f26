"""Fit by a search over orders: the settings, data and knowledge of an estimator, with the columns sorted by name."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from golem.data.checks import require_independent
from golem.data.moments import Moments
from golem.data.unusable import Unusable, unusable_error
from golem.estimator.name_order import name_order
from golem.estimator.settings import placement_for
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.gradient.paper_recipe import NoiseModel
from golem.score.likelihood import GaussianEV
from golem.score.regression import Regressions
from golem.score.solution import Solution
from golem.search.equal.variance_order import SingularCovarianceError
from golem.search.solver import Order

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

# Share of the variance of a column that rounding errors may leave.
_PERFECT = 1e-12


def checks_independence(model: Golem, solver: Order | Adam | LBFGS) -> bool:
    """Return whether the search factors the covariance of the data, and so finds columns that depend on others."""
    whole = model.noise == "ev" and model.init is None and model.dtype == "float64"
    return whole and isinstance(solver, Order) and model.moments_.n > model.moments_.d


def require_imperfect(moments: Moments, fit: Regressions) -> None:
    """Raise a ValueError if parents explain a column exactly: a perfect fit is not evidence for its edges.

    With more rows than columns, linear combinations are refused before the search. With fewer, every column is one of
    all others, and only a graph shows which ones need few of them.
    """
    if moments.n > moments.d:
        return
    perfect = np.flatnonzero(fit.residual_variances <= _PERFECT * moments.variances)
    if len(perfect):
        parents = {j: tuple(moments.names[i] for i in fit.causes[fit.children == j]) for j in perfect}
        raise unusable_error([Unusable(moments.names[j], own) for j, own in parents.items()])


def run_search(model: Golem, solver: Order, noise: NoiseModel) -> tuple[Solution, Solution | None]:
    """Search over orders of the columns, which are sorted by name for this; return the solution and its start."""
    start: Solution | None = None
    knowledge, sparsity, init = model.knowledge_, model.edge_penalty_, model.init
    order = name_order(model.moments_.names)
    moments, allowed, required = model.moments_.reordered(order.names), None, None
    if not knowledge.is_empty:
        allowed, required = order.sort(knowledge.allowed), order.sort(knowledge.required)
    placed = dataclasses.replace(solver, placement=placement_for(model, solver, moments.d))
    placed.placement.require_memory(placed.peak_matrices, moments.d, "The order")
    if isinstance(init, str):
        if init != "ev" or model.noise == "ev":
            raise ValueError(
                f"init={init!r} does not fit solver='order' with noise={model.noise!r}. Use an order or a graph."
            )
        start = solver.solve(moments, GaussianEV(), sparsity, allowed=allowed, required=required)
        init, start = start.weights, order.restore_solution(start)
        if start.status.is_cut_short:
            return start, start
    elif init is not None:
        init = order.sort_start(np.asarray(init))
    try:
        solution = placed.solve(
            moments,
            noise.likelihood(moments.n),
            sparsity,
            init,
            allowed=allowed,
            required=required,
            random_state=model.random_state,
            callback=model.callback,
            stage="order" if model.noise == "auto" else f"order-{model.noise}",
        )
    except SingularCovarianceError:
        if checks_independence(model, solver):
            require_independent(model.moments_, math.inf)  # raises an error that names the columns
        raise
    if checks_independence(model, solver):
        require_independent(model.moments_, solution.rounding)
    return order.restore_solution(solution), start
