"""Fit by a search over orders in several environments: settings, data and knowledge of an estimator.

The columns are sorted by name for the search, as in `order_fit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from golem.data.checks import require_learnable
from golem.data.environment_input import Targets, read_environments_and_rows
from golem.data.environments import INTERCEPTS, INTERVENTIONS
from golem.data.inputs import read_knowledge
from golem.estimator.direction_evidence import RowSource, given_rows
from golem.estimator.learned_graph import has_categories
from golem.estimator.local_fit import run_local
from golem.estimator.name_order import NameOrder, name_order
from golem.estimator.settings import edge_penalty
from golem.gradient.adam import Adam
from golem.gradient.lbfgs import LBFGS
from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, Vector
from golem.score.environment_score import environment_score, regress_environments
from golem.score.node_scores import GaussianBlocks
from golem.score.regression import Regressions, regressions
from golem.score.solution import Solution
from golem.score.sparsity import L0
from golem.search.found_graph import FoundGraph
from golem.search.solver import Order

if TYPE_CHECKING:
    from golem.estimator.golem import Golem


def require_observational(model: Golem) -> None:
    """Raise a ValueError if settings for environments are given without environments."""
    for name, default in (("intervention", "soft"), ("intercepts", "separate")):
        if (value := getattr(model, name)) != default:
            raise ValueError(f"{name}={value!r} needs environments=... and targets=... Add both, or remove {name}=...")


def require_environment_settings(model: Golem, solver: Order | Adam | LBFGS) -> None:
    """Raise a ValueError for settings that have no meaning with environments."""
    for name, choices in (("intervention", INTERVENTIONS), ("intercepts", INTERCEPTS)):
        if getattr(model, name) not in choices:
            raise ValueError(f"{name} must be one of {choices}; got {getattr(model, name)!r}.")
    if not isinstance(solver, Order):
        raise ValueError(
            f"Environments need solver='order'; got solver={model.solver!r}, which supports only one environment."
        )
    if model.noise == "ev":
        raise ValueError(
            "noise='ev' cannot be used with environments: an intervention changes the noise variance of its targets. "
            "Use noise='nv', which gives each variable its own."
        )
    if model.score_function not in ("auto", "gaussian"):
        raise ValueError(
            f"score_function={model.score_function!r} cannot be used with environments, which need numbers. Use "
            "score_function='auto'."
        )
    if isinstance(model.init, str):
        raise ValueError(f"init={model.init!r} does not fit environments. Use an order or a graph.")


def run_environments(
    model: Golem, solver: Order | Adam | LBFGS, X: Any, environments: Any, targets: Targets | None, rows: Any
) -> tuple[Solution, None, RowSource]:
    """Read environments and search for the best graph; set what is known before the search on the model.

    Return the solution and the rows of each environment.
    """
    require_environment_settings(model, solver)
    assert isinstance(solver, Order)
    model.environments_, own = read_environments_and_rows(model, X, environments, targets)
    rows = given_rows(own, rows)
    model.environments_.require_learnable(model.intervention)
    model.moments_ = model.environments_.together(model.intercepts)
    model.missing_ = model.moments_.missing
    require_learnable(model.moments_, uses_scale=False)
    model.knowledge_ = read_knowledge(model.knowledge, model.moments_.names)
    model.edge_penalty_ = edge_penalty(model, solver)
    order = name_order(model.moments_.names)
    return order.restore_solution(_search(model, solver, order)), None, rows


def score_of(model: Golem, sparsity: L0 | None = None) -> GaussianBlocks:
    """Return the cost of every node of a fitted model given its parents; the penalty is that of the model by default.

    The nodes have the order of the columns. L0(0.0) leaves out the penalty.
    """
    assert model.environments_ is not None
    penalty = model.edge_penalty_ if sparsity is None else sparsity
    return environment_score(model.environments_, penalty, model.intervention, model.intercepts)


def refitted(model: Golem, graph: BoolMatrix) -> Regressions:
    """Return the least-squares weights of any graph for the data of a fitted model."""
    if has_categories(model):
        return model.category_fit_.weights(Edges.from_matrix(graph))[0]
    if model.environments_ is None:
        return regressions(graph, model.moments_.covariance)
    children, causes = np.nonzero(np.ascontiguousarray(graph.T))
    return regress_environments(model.environments_, children, causes, model.intercepts)


def _search(model: Golem, solver: Order, order: NameOrder) -> Solution:
    """Search over orders of the columns, sorted by name."""
    assert model.environments_ is not None
    environments = model.environments_.reordered(order.names)
    score = environment_score(environments, model.edge_penalty_, model.intervention, model.intercepts)

    def explain(found: FoundGraph) -> tuple[Regressions, float]:
        weights = regress_environments(environments, found.edges.children, found.edges.causes, model.intercepts)
        return weights, found.score - float(_penalties(score, found).sum())

    return run_local(model, solver, score, order, "order-nv", environments.n, explain)


def _penalties(score: GaussianBlocks, found: FoundGraph) -> Vector:
    """Return the penalty of every node, shape (d,)."""
    parents = np.bincount(found.edges.children, minlength=score.d)
    return np.asarray(score.penalty.per_coefficient * parents + score.penalty.by_parents[parents])
