"""The edge list of a fitted model: the rows of edges.csv, graph.json, the report, notebooks and the terminal."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from golem.assessment.bootstrap_result import Bootstrap
from golem.data.table import Table
from golem.directions.learned_graph import LearnedGraph
from golem.estimator.fit import Fit
from golem.estimator.golem import Golem
from golem.graphs.named_graph import EDGE_COLUMNS, EdgeRow
from golem.runtime.messages import quoted
from golem.runtime.types import Vector
from golem.score.regression import weighted_edges
from golem.score.score_settings import ScoreSettings
from golem.score.solution import Solution, Status
from golem.score.table_score import score_of

# The columns of a bootstrap, which are the last ones.
FROM_BOOTSTRAP = [*EDGE_COLUMNS][-6:]
# What a direction can rest on, in the words of tables and pages.
DIRECTIONS = {
    "structure": "",
    "variances": "by variance",
    "shape": "by shape",
    "knowledge": "by knowledge",
    "interventions": "by intervention",
    "none": "undecided",
}


def fit_of(model: Any) -> Fit:
    """Return the fit of a Golem, or of a baseline with weights, whose score is Gaussian with free noise variances.

    Nothing says what the directions of a baseline rest on, nor what its edges cost.
    """
    if hasattr(model, "fit_"):
        known: Fit = model.fit_
        return known
    table, fit = Table.single(model.moments_), weighted_edges(model.weights_, model.moments_.covariance)
    edges = LearnedGraph(fit.causes, fit.children, table.d, fit.weights, fit.residual_variances)
    graph = dataclasses.replace(edges, reversible=edges.find_reversible())
    solution = Solution(fit, Status.COMPLETED, {}, (), 1, model.seconds_, np.nan)
    return Fit(score_of(table, ScoreSettings(noise="nv")), solution, graph, model.knowledge_)


def list_edges(model: Golem, bootstrap: Bootstrap | None = None) -> list[EdgeRow]:
    """List the edges of a fitted model, the strongest (by standardized weight or `edge_strength`) first.

    The columns are explained in docs/reading.md; those of the bootstrap are None without one.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.output import list_edges
    >>> from golem.simulate import simulate
    >>> model = Golem().fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> [(edge.source, edge.target, round(edge.weight, 1)) for edge in list_edges(model)]
    [('x3', 'x2', 0.7), ('x1', 'x2', -1.5), ('x1', 'x0', -1.5), ('x0', 'x3', -0.7), ('x1', 'x3', 1.0)]
    """
    fit = fit_of(model)
    graph, names = fit.graph, fit.table.names
    if bootstrap is not None and bootstrap.names != names:
        raise ValueError(
            f"The bootstrap has the columns {quoted(bootstrap.names)}, but the model has {quoted(names)}. Run "
            "golem.bootstrap(model, data) with the fitted model."
        )
    standardized, sources = standardized_weights(fit), graph.directions()
    sizes = np.where(np.isnan(fit.strengths), np.abs(standardized), fit.strengths)
    numbers = {
        "weight": graph.weights,
        "standardized_weight": standardized,
        "standard_error": _standard_errors(fit),
        # A cyclic graph has no model, and a baseline has no penalty per edge.
        "drop_loss": None if graph.sources is None else fit.score.losses(graph),
        "direction_strength": graph.strength,
        "direction_error_rate": graph.error_rate,
        "edge_strength": fit.strengths,
    }
    found = []
    for k in np.lexsort((graph.children, graph.causes, -sizes)).tolist():
        i, j = int(graph.causes[k]), int(graph.children[k])
        source = sources.get((i, j))
        row = {name: None if values is None else finite(values[k]) for name, values in numbers.items()}
        found.append(
            EdgeRow(
                source=names[i],
                target=names[j],
                undecided=source == "none",
                by_variance=source == "variances",
                direction_from=source,
                **row,
                **({} if bootstrap is None else confidence(bootstrap, i, j)),
            )
        )
    return found


def standardized_weights(fit: Fit) -> Vector:
    """Return the weights in standard deviations of the columns; NaN where an end is a category."""
    scale = np.sqrt(fit.score.regression.variances())
    return np.asarray(fit.graph.weights * scale[fit.graph.causes] / scale[fit.graph.children])


def _standard_errors(fit: Fit) -> Vector | None:
    """Return the standard errors of the weights, NaN if there is no weight; None if they are not least squares."""
    refit = fit.score.refit(fit.graph)
    if not np.allclose(refit.weights, fit.graph.weights, rtol=1e-6, atol=0, equal_nan=True):
        return None
    return fit.score.regression.standard_errors(refit)


def confidence(bootstrap: Bootstrap, i: int, j: int) -> dict[str, Any]:
    """Return the frequencies and intervals of the edge i -> j."""
    numbers = (
        bootstrap.adjacency_frequency[i, j],
        bootstrap.direction_frequency[i, j],
        *bootstrap.weight_interval[:, i, j],
        *bootstrap.effect_interval[:, i, j],
    )
    return dict(zip(FROM_BOOTSTRAP, map(finite, numbers), strict=True))


def finite(value: Any) -> float | None:
    """Return a float for JSON; None if it is not finite."""
    return float(value) if np.isfinite(value) else None
