"""Dependence on the search: whether it finds the same graph with the columns in reverse order."""

from __future__ import annotations

import numpy as np

from golem.assessment.diagnostics.finding import Finding
from golem.assessment.second_search import LARGEST, SecondSearch, links, second_search
from golem.estimator.golem import Golem
from golem.estimator.settings import is_counted
from golem.runtime.messages import counted, shortened
from golem.runtime.problems import Set, Text
from golem.score.solution import Status

_MANY = 0.2


def find_search(model: Golem, refit: bool | None) -> Finding:
    """Search once more with the columns in reverse order, and name the edges that differ."""
    name, d = "search", model.graph_.d
    if not is_counted(model):
        return Finding(name, "ok", "The solver does not search over orders of the columns.")
    if model.solution_.status in (Status.EXACT, Status.GRID):
        return Finding(name, "ok", "Every search was exact, so the order of the columns has no effect.")
    if refit is False or (refit is None and d > LARGEST):
        reason = "refit=False" if refit is False else f"there are {d} columns"
        sentence = f"Not checked, because {reason}: whether a second search finds the same graph."
        return Finding(name, "note", sentence, "Check it in Python: golem.diagnose(model, X, refit=True).")
    again = second_search(model)
    ours, other = links(model), again.links
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
        f"The graph shown has {counted(total, 'edge')}. {_compared(again)}",
        _remedy(model),
    )


def _remedy(model: Golem) -> str:
    """Return what to do about edges that differ; equal variances have no effort, and a thorough one is the longest."""
    if model.effort == "thorough" or model.noise == "ev":
        return "Do not rely on the edges that differ."
    return Text("Search longer with ", Set("effort", "thorough"), ", and do not rely on edges that still differ.")


def _compared(other: SecondSearch) -> str:
    """Say which of two graphs has the better score."""
    if not other.excess:
        return "Both graphs have the same score."
    better, worse = ("graph shown", "other one") if other.excess > 0 else ("other graph", "graph shown")
    difference = f"{abs(other.excess):.1f} (deviance plus penalty; lower is better)"
    return f"The {better} is better than the {worse}, by a score difference of {difference}."
