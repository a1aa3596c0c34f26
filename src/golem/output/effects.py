"""What drives a variable: total effects on it, ranked, as ranges where directions are open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from golem.assessment.bootstrap_result import Bootstrap
from golem.directions.effect_ranges import EffectRanges, implied_covariance
from golem.graphs.dag import edges_are_acyclic
from golem.graphs.named_graph import LAG, NamedGraph
from golem.output.export import named_graph
from golem.runtime.messages import suggestion
from golem.runtime.records import Records
from golem.runtime.types import Vector

# Bounds that differ by less, in standard deviations, are equal.
_EQUAL = 1e-9


class Effect(NamedTuple):
    """The total effect of one variable on another; `pandas.DataFrame(model.effects_on("y"))` makes a table.

    Parameters
    ----------
    source, target : str
        The cause and the effect.
    low, high : float
        The change of the target if the source is set one unit higher: the lowest and the highest over all graphs that
        agree with the directions that have evidence. NaN if there are too many such graphs. For a category, the change
        is from its first level to `source_level`, or of the probability of `target_level`.
    standardized_low, standardized_high : float
        The same in standard deviations of both; those of a category are not used.
    says : {"known", "range", "may be zero", "sign open", "unknown"}
        What the range tells: one value, values of one sign, values of one sign or zero, of both signs, or nothing.
    interval_low, interval_high : float or None
        The interval of a bootstrap, if there is one, over resampled rows and the directions found in them.
    source_level, target_level : str or None
        The levels that the effect is about; None for numbers.
    """

    source: str
    target: str
    low: float
    high: float
    standardized_low: float
    standardized_high: float
    says: str
    interval_low: float | None = None
    interval_high: float | None = None
    source_level: str | None = None
    target_level: str | None = None

    @property
    def is_zero(self) -> bool:
        """Whether no graph gives an effect."""
        return max(abs(self.standardized_low), abs(self.standardized_high)) <= _EQUAL


def effects_on(model: Any, target: str, bootstrap: Bootstrap | None = None) -> Records[Effect]:
    """Return the total effects of all variables on one, those that are surely large first.

    Parameters
    ----------
    model : fitted Golem, LinearSEM, NamedGraph or what `golem.load` returns
        The graph. A table with categories needs a fitted Golem, because files do not have its covariances.
    target : str
        The variable.
    bootstrap : Bootstrap, optional
        What `golem.bootstrap` returned for the model.

    Examples
    --------
    >>> import golem
    >>> sem = golem.LinearSEM([[0, 2.0, 0], [0, 0, 1.5], [0, 0, 0]], [1.0, 1.0, 1.0], names=["a", "b", "y"])
    >>> [(effect.source, round(effect.low, 6), effect.says) for effect in effects_on(sem, "y")]
    [('b', 1.5, 'known'), ('a', 3.0, 'known')]
    """
    graph = _acyclic(model)
    j = _place(graph, target)
    ranges = _ranges(model, graph, j)
    found = [effect for i in ranges[0].reaching(j) for effect in _between(model, bootstrap, graph, ranges, i, j)]
    return Records(sorted((effect for effect in found if not effect.is_zero), key=_rank))


def effects_of(model: Any, source: str, bootstrap: Bootstrap | None = None) -> Records[Effect]:
    """Return the total effects of one variable on all others, those that are surely large first; see `effects_on`.

    Examples
    --------
    >>> import golem
    >>> sem = golem.LinearSEM([[0, 2.0, 0], [0, 0, 1.5], [0, 0, 0]], [1.0, 1.0, 1.0], names=["a", "b", "y"])
    >>> [(effect.target, round(effect.low, 6)) for effect in effects_of(sem, "a")]
    [('b', 2.0), ('y', 3.0)]
    """
    graph = _acyclic(model)
    i = _place(graph, source)
    ranges = _ranges(model, graph)
    reached = [j for j in range(len(graph.names)) if i in ranges[0].reaching(j)]
    found = [effect for j in reached for effect in _between(model, bootstrap, graph, ranges, i, j)]
    return Records(sorted((effect for effect in found if not effect.is_zero), key=_rank))


def _acyclic(model: Any) -> NamedGraph:
    """Return the graph of a model; raise a ValueError if it has no total effects."""
    graph = named_graph(model)
    if graph.has_categories and not hasattr(model, "fit_"):
        raise ValueError(
            "The graph has categories. Their effects need the covariances of the table, which graph.json does not "
            "have: use effects_on of the fitted model in Python."
        )
    if LAG in graph.edge_columns:
        raise ValueError(
            "Effects in a series take time. Use golem.impulse_responses(model), or `golem effects` with a horizon."
        )
    if not edges_are_acyclic(graph.edges.causes, graph.edges.children, len(graph.names)):
        raise ValueError("The graph has a cycle or undirected edges, so it has no total effects.")
    return graph


# The ranges of effects; the columns of each variable, and their scales and levels.
_Ranges = tuple[EffectRanges, Sequence[Any], Vector, list[str | None]]


def _ranges(model: Any, graph: NamedGraph, target: int | None = None) -> _Ranges:
    """Return the ranges of effects, on one variable or on all."""
    return _coded(model, graph) if graph.has_categories else _numbers(graph, target)


def _between(
    model: Any, bootstrap: Bootstrap | None, graph: NamedGraph, known: _Ranges, i: int, j: int
) -> list[Effect]:
    """Return the effects of a variable on another, one per pair of their levels."""
    ranges, columns, scale, levels = known
    low, high = ranges.of(i, j)
    ends = graph.names[i], graph.names[j]
    interval = _interval(model, bootstrap, *ends)
    found = []
    for a, b in np.ndindex(low.shape):
        factor = scale[columns[i][a]] / scale[columns[j][b]]
        found.append(
            _effect(ends, float(low[a, b]), float(high[a, b]), float(factor))._replace(
                source_level=levels[columns[i][a]],
                target_level=levels[columns[j][b]],
                interval_low=interval[0],
                interval_high=interval[1],
            )
        )
    return found


def _numbers(graph: NamedGraph, target: int | None) -> _Ranges:
    """Return the ranges of effects on a number, or on all, in the model of a graph, and the scales of its variables."""
    graph.require_model()
    links, edges, d = graph.is_link, graph.edges, len(graph.names)
    # Effects on the target need only the variables that may lead to it, so wide tables need no large matrix.
    nodes = [*range(d)]
    if target is not None:
        nodes = [*EffectRanges(edges, links, np.zeros((0, 0))).reaching(target), target]
    variances = np.asarray(graph.noise_variances)
    with np.errstate(all="ignore"):
        S = implied_covariance(edges, graph.edge_columns["weight"], variances, nodes)
    if variances.min(initial=0.0) < 0 or not (np.isfinite(S).all() and (np.diagonal(S) > 0).all()):
        raise ValueError("The weights and noise variances of the graph imply variances that are not positive numbers.")
    place = np.full(d, -1)
    place[nodes] = np.arange(len(nodes))
    columns = list(place[:, None])
    return EffectRanges(edges, links, S, columns), columns, np.asarray(np.sqrt(np.diagonal(S))), [None] * len(nodes)


def _coded(model: Any, graph: NamedGraph) -> _Ranges:
    """Return the ranges of effects in a table with categories, whose levels but the first have a column each."""
    table = model.table_
    if table.has_environments:
        raise ValueError("Effects with categories and environments are not available. Fit only the numeric columns.")
    moments, first = table.moments(), table.coding.first
    columns = [np.arange(first[k], first[k + 1]) for k in range(table.d)]
    levels = [level for one in table.coding.variables for level in (one.levels[1:] if one.is_category else [None])]
    scale = np.where([level is None for level in levels], np.sqrt(moments.variances), 1.0)
    return EffectRanges(graph.edges, graph.is_link, moments.covariance, columns), columns, scale, levels


def _effect(ends: tuple[str, str], low: float, high: float, factor: float) -> Effect:
    """Return an effect with what its range tells."""
    small, large = sorted((low * factor, high * factor))
    if np.isnan(low):
        says = "unknown"
    elif large - small <= _EQUAL:
        says = "known"
    elif small < -_EQUAL and large > _EQUAL:
        says = "sign open"
    else:
        says = "may be zero" if min(abs(small), abs(large)) <= _EQUAL else "range"
    return Effect(*ends, low, high, small, large, says)


def _rank(effect: Effect) -> tuple[float, float]:
    """Return the least and the largest size of an effect, negative, so that sorting puts large ones first."""
    ends = abs(effect.standardized_low), abs(effect.standardized_high)
    least = min(ends) if effect.says in ("known", "range") else 0.0
    return -least, -np.nan_to_num(max(ends))


def _interval(
    model: Any, bootstrap: Bootstrap | None, source: str, target: str
) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of an effect in a bootstrap, or in that of a loaded model, if it has one."""
    if bootstrap is None:
        saved: dict[tuple[str, str], tuple[float, float]] = getattr(model, "effect_intervals", {})
        return saved.get((source, target), (None, None))
    low, high = bootstrap.effect_interval[:, bootstrap.names.index(source), bootstrap.names.index(target)].tolist()
    return (None, None) if np.isnan([low, high]).any() else (low, high)


def parents(model: Any, variable: str) -> tuple[str, ...]:
    """Return the causes of a variable: the arrows into it. Links, which may point either way, do not count."""
    graph = named_graph(model)
    j = _place(graph, variable)
    into = (graph.edges.children == j) & ~graph.is_link
    return tuple(graph.names[i] for i in np.sort(graph.edges.causes[into]))


def markov_blanket(model: Any, variable: str) -> tuple[str, ...]:
    """Return the variables that make all others irrelevant for predicting one: neighbours, and causes of its effects.

    All graphs of an equivalence class have the same Markov blankets, so directions need no evidence.
    """
    graph = named_graph(model)
    j, edges = _place(graph, variable), graph.edges
    children = edges.children[edges.causes == j]
    found = {*children.tolist(), *edges.causes[np.isin(edges.children, [j, *children])].tolist()} - {j}
    return tuple(graph.names[i] for i in sorted(found))


def _place(graph: NamedGraph, variable: str) -> int:
    """Return the number of a variable."""
    if variable not in graph.names:
        raise ValueError(f"There is no variable {variable!r}. {suggestion(variable, graph.names, 'variables')}")
    return graph.names.index(variable)
