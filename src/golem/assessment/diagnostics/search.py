"""Dependence on the search: whether it finds the same graph with the columns in reverse order."""

from __future__ import annotations

import dataclasses

import numpy as np
from sklearn.base import clone

from golem.assessment.diagnostics.finding import Finding
from golem.assessment.diagnostics.units import fit_quietly
from golem.data.variables import Coding
from golem.estimator.golem import Golem
from golem.estimator.name_order import NameOrder
from golem.estimator.settings import is_counted
from golem.runtime.messages import counted, shortened
from golem.solvers import Status
from golem.solvers.order.local.local_scores import Counts

# With more columns a second search takes too long for a check.
_LARGEST = 200
_MANY = 0.2


def find_search(model: Golem, refit: bool | None) -> Finding:
    """Search once more with the columns in reverse order, and name the edges that differ."""
    name, d = "search", model.graph_.d
    if not is_counted(model):
        return Finding(name, "ok", "The solver does not search over orders of the columns.")
    if model.solution_.status in (Status.EXACT, Status.GRID):
        return Finding(name, "ok", "Every search was exact, so the order of the columns has no effect.")
    if refit is False or (refit is None and d > _LARGEST):
        reason = "refit=False" if refit is False else f"there are {d} columns"
        sentence = f"Not checked, because {reason}: whether a second search finds the same graph."
        return Finding(name, "note", sentence, "Check it in Python: golem.diagnose(model, X, refit=True).")
    again = reversed_refit(model)
    # Both directions are set for an edge that is undecided without the rows, which the second search does not have.
    ours, other = (fit.adjacency_ | (fit.undecided_ | fit.by_shape_).T for fit in (model, again))
    pairs = np.argwhere(np.triu((ours != other) | (ours != other).T))
    if not len(pairs):
        return Finding(name, "ok", "A second search, with the columns in reverse order, found the same graph.")
    names, total = model.moments_.variables, int(model.adjacency_.sum())
    examples = shortened([f"{names[i]!r} - {names[j]!r}" for i, j in pairs], 4)
    return Finding(
        name,
        "warning" if len(pairs) > _MANY * total else "note",
        f"A second search, with the columns in reverse order, found a graph that differs in "
        f"{counted(len(pairs), 'edge')} ({examples}). "
        f"The graph shown has {counted(total, 'edge')}. {_compared(model, again)}",
        _remedy(model),
    )


def _remedy(model: Golem) -> str:
    """Return what to do about edges that differ; equal variances have no effort, and a thorough one is the longest."""
    if model.effort == "thorough" or model.noise == "ev":
        return "Do not rely on the edges that differ."
    return "Search longer with effort='thorough', and do not rely on edges that still differ."


def reversed_refit(model: Golem) -> Golem:
    """Fit the same settings to the same columns, renamed so that their order by name is reversed."""
    moments, coding = model.moments_, model.moments_.coding
    place = {name: position for position, name in enumerate(NameOrder(moments.variables).names)}
    names = tuple(f"x{len(place) - 1 - place[name]}" for name in moments.variables)
    refit: Golem = clone(model).set_params(callback=None, knowledge=model.knowledge_)
    if (known := model.environments_) is not None:
        parts = tuple(dataclasses.replace(part, names=names) for part in known.moments)
        return fit_quietly(refit, dataclasses.replace(known, moments=parts))
    if coding is None:
        return fit_quietly(refit, dataclasses.replace(moments, names=names))
    renamed = Coding(tuple(dataclasses.replace(one, name=x) for one, x in zip(coding.variables, names, strict=True)))
    moments = dataclasses.replace(moments, names=renamed.column_names, coding=renamed)
    score = model.category_fit_.score
    return fit_quietly(refit, moments, score.codes.astype(float) if isinstance(score, Counts) else None)


def _compared(model: Golem, again: Golem) -> str:
    """Say which of two fits has the better score."""
    first, second = (_deviance(fit) for fit in (model, again))
    if abs(second - first) < 0.05:
        return "Both graphs have the same score."
    better, other = ("graph shown", "other one") if first < second else ("other graph", "graph shown")
    difference = f"{abs(second - first):.1f} (deviance plus penalty; lower is better)"
    return f"The {better} is better than the {other}, by a score difference of {difference}."


def _deviance(model: Golem) -> float:
    """Return the score in units of the deviance."""
    choice = model.noise_choice_
    if choice is not None:
        return choice.scores[choice.kind]
    return 2 * model.moments_.n * model.solution_.terms["score"]
