"""A second search of a fitted table, with the columns in reverse order: which of the two graphs is better."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from golem.data.moments import Moments
from golem.data.table import Table
from golem.directions.learned_graph import known
from golem.estimator.fit import conclude, learn_scored
from golem.estimator.golem import Golem
from golem.estimator.search_fit import NameOrder
from golem.estimator.settings import is_counted
from golem.runtime.types import BoolMatrix
from golem.score.solution import Status

# With more columns a second search takes too long.
LARGEST = 200
_NOT_BY_CLASS = ("none", "shape", "interventions")
# Scores that differ by less are equal.
_EQUAL = 0.05


@dataclass(frozen=True, eq=False)
class SecondSearch:
    """The graph that is not shown, of two that were found.

    Parameters
    ----------
    links : ndarray of shape (d, d), bool
        Its edges, with both directions where they are undecided without the rows.
    excess : float
        How much worse its score is than that of the graph shown, in units of the deviance; 0 if they are equal.
    """

    links: BoolMatrix
    excess: float


def is_repeatable(model: Golem) -> bool:
    """Return whether a second search may find another graph, and is short enough."""
    status = model.solution_.status
    done = status in (Status.EXACT, Status.GRID) or status.is_cut_short
    return is_counted(model) and not done and model.graph_.d <= LARGEST


def second_search(model: Golem) -> SecondSearch:
    """Search again, unless that was done, and compare."""
    known: SecondSearch | None = getattr(model, "second_search_", None)
    return known or _compared(model, reversed_refit(model))


def keep_better(model: Golem, table: Table | None = None) -> None:
    """Search again, let the model show the better of the two graphs, and keep how the other one differs.

    `table` is that of the fit with its rows, for directions by the shape of the noise and by interventions.
    """
    again = reversed_refit(model)
    other = _compared(model, again)
    if other.excess < 0:
        other = _compared(again, model)
        if table is not None and model.table_.is_ranked:
            table = table.with_ranks()
        score = model.fit_.score if table is None else model.fit_.score.with_table(table)
        model.adopt(conclude(score, model.settings, model.knowledge_, again.solution_, again.start_solution_))
    model.remember(second_search=other)


def _compared(shown: Golem, other: Golem) -> SecondSearch:
    """Compare two fits of the same columns."""
    excess = deviance(other) - deviance(shown)
    return SecondSearch(links(other), excess if abs(excess) >= _EQUAL else 0.0)


def links(model: Golem) -> BoolMatrix:
    """Return the edges of a model, with both directions where they are undecided without the rows, shape (d, d).

    A direction of the class counts whether or not it survived a check: only one of two fits was checked.
    """
    graph = model.graph_
    is_open = np.isin(known(graph.sources), _NOT_BY_CLASS)
    return graph.partially_directed(is_open if graph.stability is None else is_open & np.isnan(graph.stability))


def deviance(model: Golem) -> float:
    """Return the score in units of the deviance."""
    choice = model.noise_choice_
    if choice is not None:
        return choice.scores[choice.kind]
    return 2 * model.moments_.n * model.solution_.terms["score"]


def reversed_refit(model: Golem) -> Golem:
    """Fit the same settings to the same columns, renamed so that their order by name is reversed."""
    names = model.table_.names
    place = {name: position for position, name in enumerate(NameOrder(names).names)}
    renamed = model.table_.renamed([f"x{len(place) - 1 - place[name]}" for name in names])
    settings = dataclasses.replace(model.settings, callback=None)
    with warnings.catch_warnings():  # those of the first fit
        warnings.simplefilter("ignore")
        again: Golem = clone(model).adopt(
            learn_scored(model.fit_.score.with_table(renamed), model.knowledge_, settings)
        )
    if again.solution_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return again


def fit_quietly(model: Golem, data: Moments | Table) -> Golem:
    """Fit a model again, without the warnings of the first fit: equal scales, few rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data)
    if model.solution_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return model
