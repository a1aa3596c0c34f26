"""What the graph document says about the environments of a fit, and numbers that differ between kinds of fits."""

from __future__ import annotations

import numpy as np

from golem.estimator.golem import Golem
from golem.estimator.learned_graph import LearnedGraph, has_categories
from golem.graphs.graph_document import EnvironmentRecord, GraphDocument
from golem.runtime.types import Vector
from golem.score.environment_score import environment_standard_errors
from golem.score.incomplete import edge_rows
from golem.score.regression import Regressions, regress_edges, standard_errors

# Columns whose means shift most, per environment.
_MOST_SHIFTS = 5
# Shifts below this many standard deviations are not listed, except those of targets.
_LEAST_SHIFT = 0.1
FREE_NOISE = "With environments, every variable has its own noise variance."
_SOFT_WEIGHTS = (
    "A weight describes the environments that do not change the effect. If it is near 0, the edge may act only in "
    "those that do."
)


def environment_records(model: Golem) -> list[EnvironmentRecord] | None:
    """Describe the environments of a fit; None if there are none."""
    found = getattr(model, "environments_", None)
    if found is None:
        return None
    records = []
    for part, shifts in zip(found.parts, found.shifts(), strict=True):
        targets = part.targets
        largest = np.argsort(-np.abs(shifts), kind="stable")[:_MOST_SHIFTS].tolist()
        listed = [*targets, *(j for j in largest if j not in targets and abs(shifts[j]) >= _LEAST_SHIFT)]
        records.append(
            EnvironmentRecord(
                label=part.label,
                rows=part.moments.n,
                targets=[found.names[j] for j in targets],
                shifts={found.names[j]: float(shifts[j]) for j in listed} if len(found.labels) > 1 else {},
            )
        )
    return records


def note_on_weights(document: GraphDocument) -> str:
    """Return what weights describe if an effect depends on its causes in other ways where a soft intervention is."""
    is_soft = (document.settings or {}).get("intervention") == "soft"
    changed = {name for one in document.environments or () for name in one.targets}
    return _SOFT_WEIGHTS if is_soft and any(edge["target"] in changed for edge in document.edge_table) else ""


def data_fingerprint(model: Golem) -> str:
    """Return the hash of the data of a fit."""
    found = getattr(model, "environments_", None)
    return model.moments_.fingerprint if found is None else found.fingerprint


def column_variances(model: Golem) -> Vector:
    """Return the variance of every variable, NaN for categories; with environments, in those that do not target it."""
    if not (coding := model.moments_.coding).is_numeric:
        return np.where(coding.levels == 0, model.moments_.variances[coding.first[:-1]], np.nan)
    found = getattr(model, "environments_", None)
    if found is None:
        return model.moments_.variances
    variances = np.empty(found.d)
    for which, nodes in found.groups().items():
        variances[nodes] = found.variances(which, model.intercepts)[nodes]
    return variances


def weight_errors(model: Golem, graph: LearnedGraph) -> Vector:
    """Return the standard errors of the weights; NaN if there is no weight, or if it is not that of least squares."""
    if has_categories(model):
        return model.category_fit_.weights(graph)[1]
    found = getattr(model, "environments_", None)
    if found is not None:
        fit = Regressions(graph.children, graph.causes, graph.weights, graph.residual_variances)
        return environment_standard_errors(found, fit, model.intercepts)
    S, patterns = model.moments_.covariance, model.moments_.patterns
    fit = regress_edges(graph.children, graph.causes, S)
    if not np.allclose(fit.weights, graph.weights, rtol=1e-6, atol=0):
        return np.full(len(graph), np.nan)
    n = model.moments_.n if patterns is None else edge_rows(fit.children, fit.causes, S, patterns).weights
    return standard_errors(fit, S, n)
