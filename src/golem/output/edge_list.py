"""The edge list of a fitted model: the rows of edges.csv, graph.json, the report, notebooks and the terminal."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from golem.assessment.bootstrap_result import Bootstrap
from golem.data.table import Table
from golem.directions.effect_ranges import open_signs
from golem.directions.learned_graph import LearnedGraph
from golem.estimator.fit import Fit
from golem.estimator.golem import Golem
from golem.graphs.graph_document import CandidateRecord, GraphDocument
from golem.graphs.named_graph import EDGE_COLUMNS, DirectionSource, EdgeRow
from golem.runtime.messages import counted, quoted
from golem.score.regression import weighted_edges
from golem.score.score_settings import ScoreSettings
from golem.score.solution import Solution, Status
from golem.score.table_score import score_of

# The columns of a bootstrap, which are the last ones.
FROM_BOOTSTRAP = [*EDGE_COLUMNS][-6:]
# What a direction can rest on, in the words of tables and pages.
DIRECTIONS: dict[DirectionSource | None, str] = {
    "knowledge": "given by you",
    "follows": "follows from what you gave",
    "time": "the past comes first",
    "structure": "from the structure",
    "variances": "from the noise variances",
    "shape": "from the shape of the noise",
    "interventions": "from experiments",
    "unchecked": "open (structure, unchecked)",
    "none": "open",
    None: "",
}


def edge_counts(directed: Iterable[bool]) -> str:
    """Return how many edges are arrows and links, in words.

    Examples
    --------
    >>> edge_counts([True, False, False]), edge_counts([False]), edge_counts([])
    ('1 arrow and 2 links', '1 link', '0 edges')
    """
    flags = [*directed]
    counts = {"arrow": sum(flags), "link": len(flags) - sum(flags)}
    return " and ".join(counted(count, word) for word, count in counts.items() if count) or "0 edges"


def proposed_experiments(document: GraphDocument) -> list[CandidateRecord]:
    """Return the ranking of experiments without the first tier: it has what nobody can change, such as age."""
    tiers = (document.knowledge or {}).get("tiers") or ()
    given = {*tiers[0]} if len(tiers) > 1 else set()
    return [one for one in document.next_experiment or () if one.variable not in given]


def edges_of_open_sign(document: GraphDocument) -> set[tuple[str, str]]:
    """Return the edges whose sign depends on open directions (`open_signs`)."""
    if document.noise_variances is None or document.variables is not None:
        return set()
    graph, names = document.graph(), document.names
    weights = graph.edge_columns.get("weight", np.full(len(graph.edges), np.nan))
    found = open_signs(graph.edges, graph.is_link, weights, np.array(document.noise_variances, dtype=float))
    return {(names[i], names[j]) for (i, j), is_open in zip(graph.edges.pairs(), found, strict=True) if is_open}


def strength_text(edge: EdgeRow, open_signs: Collection[tuple[str, str]]) -> str:
    """Return the standardized weight of an edge with its sign, ± if that is open; empty if it has none."""
    weight = edge.standardized_weight
    if weight is None:
        return ""
    return f"±{abs(weight):.2f}" if (edge.source, edge.target) in open_signs else f"{weight:+.2f}"


def fit_of(model: Any) -> Fit:
    """Return the fit of a Golem, or of a baseline with weights, whose score is Gaussian with free noise variances.

    Nothing says what the directions of a baseline rest on, nor what its edges cost.
    """
    if hasattr(model, "fit_"):
        getattr(model, "estimator_", model).check_if_kept()
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
    return [EdgeRow(**row) for row in edge_table(model, bootstrap)]


def edge_table(model: Golem, bootstrap: Bootstrap | None = None) -> list[dict[str, Any]]:
    """Return the rows of `list_edges` as dictionaries."""
    fit = fit_of(model)
    graph, names, lags = fit.graph, fit.table.names, fit.table.lags
    if bootstrap is not None and bootstrap.names != names:
        raise ValueError(
            f"The bootstrap has the columns {quoted(bootstrap.names)}, but the model has {quoted(names)}. Run "
            "golem.bootstrap(model, data) with the fitted model."
        )
    standardized, nothing = fit.standardized_weights, [None] * len(graph)
    sizes = np.where(np.isnan(fit.strengths), np.abs(standardized), fit.strengths)
    order = np.lexsort((graph.children, graph.causes, -sizes))
    ends = graph.causes[order], graph.children[order]
    columns: dict[str, Any] = dict.fromkeys(EDGE_COLUMNS, nothing)
    columns["source"], columns["target"] = ([names[j] for j in nodes.tolist()] for nodes in ends)
    columns["directed"] = [True] * len(graph)
    if graph.sources is not None:
        columns["direction_from"] = graph.sources[order].tolist()
        columns["directed"] = (~graph.undecided[order]).tolist()
    if lags.any():
        columns["lag"] = lags[ends[0]].tolist()
    numbers = {
        "weight": graph.weights,
        "standardized_weight": standardized,
        "standard_error": fit.standard_errors,
        # A cyclic graph has no model, and a baseline has no penalty per edge.
        "drop_loss": None if graph.sources is None else fit.score.losses(graph),
        "direction_strength": graph.strength,
        "direction_error_rate": graph.error_rate,
        "direction_stability": graph.stability,
        "robustness_value": None if graph.sources is None else fit.robustness,
        "edge_strength": fit.strengths,
    }
    columns |= {name: for_json(values[order]) for name, values in numbers.items() if values is not None}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if bootstrap is not None:
        for row, i, j in zip(rows, *(nodes.tolist() for nodes in ends), strict=True):
            row |= confidence(bootstrap, i, j, row["directed"])
    return rows


def confidence(bootstrap: Bootstrap, i: int, j: int, directed: bool = True) -> dict[str, Any]:
    """Return the frequencies and intervals of the edge i -> j; a link has no total effect."""
    numbers = (
        bootstrap.adjacency_frequency[i, j],
        bootstrap.direction_frequency[i, j],
        *bootstrap.weight_interval[:, i, j],
        *(bootstrap.effect_interval[:, i, j] if directed else (np.nan, np.nan)),
    )
    return dict(zip(FROM_BOOTSTRAP, map(for_json, numbers), strict=True))


def for_json(value: Any, digits: int = 17) -> Any:
    """Return plain values for JSON: numbers to some digits, all by default, and None for those that are not finite.

    Examples
    --------
    >>> for_json({"a": np.array([1 / 3, np.nan]), "b": [True, "x", 12345678]}, digits=3)
    {'a': [0.333, None], 'b': [True, 'x', 12345678]}
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and digits >= 17:  # 17 digits are all
        plain = value.astype(object)
        plain[~np.isfinite(value)] = None
        return plain.tolist()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return value if digits >= 17 else float(f"{value:.{digits}g}")
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: for_json(part, digits) for key, part in value.items()}
    return [for_json(part, digits) for part in value]
