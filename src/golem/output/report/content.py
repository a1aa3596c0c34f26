"""The content of a page: a graph document with its drawing, as plain data for the script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from golem.assessment.diagnostics import EdgeScatter
from golem.data.series import split_lag
from golem.data.table_summary import TableSummary
from golem.graphs.edges import Edges
from golem.graphs.graph_document import GraphDocument
from golem.graphs.metrics import as_estimate, as_truth
from golem.graphs.named_graph import EDGE_COLUMNS, LINK_SOURCES, NamedGraph
from golem.output.document import note_on_weights
from golem.output.drawing import layouts, node_label, node_widths
from golem.output.edge_list import DIRECTIONS, edges_of_open_sign, for_json
from golem.output.layout import causal_order
from golem.output.run_record import fit_words
from golem.runtime.dialects import SHELL
from golem.runtime.problems import told
from golem.runtime.types import BoolMatrix, Matrix

# A drawing of a larger graph is illegible: the page opens with the matrix and a neighbourhood instead.
LARGEST_DRAWN_GRAPH, MOST_DRAWN_EDGES = 300, 1500
# A larger graph opens with its strongest edges; with a neighbourhood if it has no weights, or has hubs and groups.
LARGEST_OPENED_GRAPH, MOST_OPENED_EDGES, STRONGEST_EDGES = 80, 200, 60
WHOLE, STRONGEST, NEIGHBOURHOOD = 0, -1, 1
# From so many variables on the page lists hubs and groups; smaller groups are not worth a line.
SMALLEST_GROUPED_GRAPH, SMALLEST_GROUP, MOST_GROUPS = 100, 3, 10
rounded = partial(for_json, digits=6)
# Raw weights below the threshold that the slider can show.
MOST_CANDIDATES = 2000
# Names of the terms of the score.
TERMS = {
    "score": "score per row",
    "likelihood": "likelihood term",
    "sparsity": "penalty on edges",
    "dag": "penalty on cycles",
    "l1": "sum of absolute weights",
    "h": "cycle measure h (0 for a DAG)",
}


def model_content(
    document: GraphDocument, truth: NamedGraph | None = None, other: tuple[str, NamedGraph] | None = None
) -> dict[str, Any]:
    """Return the data of a page about one model; the arguments are those of `golem.output.report.report_document`."""
    names, edges = tuple(document.names), document.graph().edges
    graphs = [graph_entry("learned", document.edge_table, names)]
    references = [] if truth is None else [("truth", as_truth(truth.aligned(names), names))]
    if other is not None:
        references.append((other[0], as_estimate(other[1].aligned(names), names, other[0])))
    if references:
        as_estimate(edges.matrix(), names, "The learned graph")
    graphs += [graph_entry(label, plain_rows(graph, names), names) for label, graph in references]
    if document.bootstrap is not None and document.bootstrap.consensus is not None:
        rows = [{"source": source, "target": target} for source, target in document.bootstrap.consensus]
        graphs.append(graph_entry("consensus of the bootstrap", rows, names))
    used, shown = document.used or {}, document.plain()
    return (
        drawing(names, edges, document.knowledge, graphs[0], _steps(document))
        | numbered_knowledge(document.knowledge, names)
        | {
            "kind": "model",
            "graphs": graphs,
            "truth": 1 if truth is not None else None,
            "compared_with": len(references),
            "unnamed": _unnamed(names, truth, other),
            "candidates": _candidates(document, edges),
            "chosen": used.get("threshold", 0.0),
            # The threshold of a fit applies to the weights; otherwise standardized weights avoid the units.
            "measure": "weight"
            if "threshold" in used
            else "standardized_weight"
            if document.variables is None
            else "edge_strength",
            **_categories(document, names),
            **_column_summaries(document, names),
            "r2": rounded(document.r2),
            "noise_variances": rounded(document.noise_variances),
            "intercepts": rounded(document.intercepts),
            "terms": TERMS,
            "trace": rounded(shown["trace"]) if len(shown["trace"] or []) > 1 else [],
            "selection": rounded(shown["selection"]),
            "effective_rows": document.effective_rows,
            "command": fit_words(document),
            "weights_note": note_on_weights(document),
            "findings": _finding_edges(document, names),
            "open_signs": [[names.index(name) for name in pair] for pair in sorted(edges_of_open_sign(document))],
            "overstated": document.effective_rows is not None,
        }
    )


def _finding_edges(document: GraphDocument, names: tuple[str, ...]) -> dict[str, list[list[int]]]:
    """Return the edges that each finding is about, by the numbers of the variables."""
    place = {name: k for k, name in enumerate(names)}
    return {
        one.name: [[place[a], place[b]] for a, b in one.edges if a in place and b in place]
        for one in document.diagnostics or ()
        if one.edges
    }


def _categories(document: GraphDocument, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the types of the variables and the coefficients per level, with variables by number."""
    if document.variables is None:
        return {"variables": None, "coefficients": None}
    place = {name: k for k, name in enumerate(names)}
    rows = [
        [place[one.source], place[one.target], one.source_level, one.target_level, one.coefficient, one.standard_error]
        for one in document.coefficients or ()
    ]
    variables = [{"kind": one.kind, "levels": one.levels} for one in document.variables]
    return {"variables": variables, "coefficients": rounded(rows)}


def _column_summaries(document: GraphDocument, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the summary of each column, in the order of the names, and sentences about columns that may be codes."""
    if document.table is None:
        return {"table": None, "choices": []}
    summary = msgspec.convert(document.table, TableSummary, from_attributes=True)
    found = {
        one.name: {"missing": one.missing, "values": one.values, "content": one.content} for one in summary.columns
    }
    sentences = [told(sentence, SHELL) for sentence in summary.choices]
    return {"table": [found.get(name) for name in names], "choices": sentences}


def _unnamed(
    names: tuple[str, ...], truth: NamedGraph | None, other: tuple[str, NamedGraph] | None
) -> dict[str, list[str]]:
    """Return the variables that the truth or the other graph does not name, so that they count as isolated there."""
    compared = ([] if truth is None else [("truth", truth)]) + ([] if other is None else [other])
    return {label: [name for name in names if name not in set(graph.names)] for label, graph in compared}


def numbered_knowledge(knowledge: Mapping[str, Any] | None, names: tuple[str, ...]) -> dict[str, Any]:
    """Return knowledge by the numbers of the variables; those that the graph does not have are left out."""
    index = {name: k for k, name in enumerate(names)}
    groups = {
        key: [[index[name] for name in group if name in index] for group in (knowledge or {}).get(key) or []]
        for key in ("required", "forbidden", "tiers")
    }
    return {"tiers": groups.pop("tiers"), "knowledge": {key: [e for e in groups[key] if len(e) == 2] for key in groups}}


def worst_first(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sort findings: warnings, notes, then what is fine."""
    levels = ("warning", "note", "ok")
    return sorted(findings, key=lambda finding: levels.index(finding["level"]) if finding["level"] in levels else 1)


def drawing(
    names: tuple[str, ...],
    edges: Edges,
    knowledge: Mapping[str, Any] | None = None,
    graph: Mapping[str, Any] | None = None,
    steps: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return names, labels, causal order, the first view and, unless the graph is large, the places of its nodes.

    Tiers of the knowledge are below each other, or the steps in time of a series. With a graph, the result of
    `graph_entry`, the page of a graph with many edges opens with its strongest ones.
    """
    labels = [node_label(name) for name in names]
    large = len(names) > LARGEST_DRAWN_GRAPH or len(edges) > MOST_DRAWN_EDGES
    many = len(names) > LARGEST_OPENED_GRAPH or len(edges) > MOST_OPENED_EDGES
    shown: dict[str, Any] = {
        "names": names,
        "labels": labels,
        "order": causal_order(edges).tolist(),
        "groups": _groups(edges) if len(names) >= SMALLEST_GROUPED_GRAPH else [],
        "directions": {source: word for source, word in DIRECTIONS.items() if source},
        "link_sources": LINK_SOURCES,
    }
    if large:  # neighbourhoods are laid out in the page
        return shown | {"widths": node_widths(labels), "layouts": [], "large": True} | _opening(NEIGHBOURHOOD)
    tiers, adjacency = [*steps.values()] or numbered_knowledge(knowledge, names)["tiers"], edges.matrix()
    widths = node_widths(labels, adjacency)
    strong = _strong_drawing(labels, graph, tiers) if many and graph is not None else None
    around_hub = strong is None or len(names) >= SMALLEST_GROUPED_GRAPH
    opening = WHOLE if not many else NEIGHBOURHOOD if around_hub else STRONGEST
    return (
        shown
        | {"widths": widths, "layouts": layouts(adjacency, widths, tiers, labels=[*steps]), "large": False}
        | _opening(opening, strong)
    )


def _steps(document: GraphDocument) -> dict[str, list[int]]:
    """Return the columns of a series by their step in time, the earliest first."""
    if not document.lags:
        return {}
    known = set(document.names)
    found: dict[int, list[int]] = {lag: [] for lag in range(document.lags, -1, -1)}
    for k, name in enumerate(document.names):
        found[split_lag(name, known)[1]].append(k)
    words = {0: "now"}
    return {words.get(lag, f"{lag} back"): columns for lag, columns in found.items()}


def _opening(view: int, strong: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what the page shows first."""
    return {"opening": view, "strong": strong}


def _groups(edges: Edges) -> list[list[int]]:
    """Return groups of variables that are mostly connected among themselves, the largest first, hubs first in each."""
    import networkx as nx

    graph = nx.Graph(edges.pairs())
    found = nx.community.louvain_communities(graph, seed=0)
    groups = [
        sorted(group, key=lambda node: (-graph.degree[node], node)) for group in found if len(group) >= SMALLEST_GROUP
    ]
    return sorted(groups, key=lambda group: (-len(group), group[0]))[:MOST_GROUPS]


def _strong_drawing(
    labels: Sequence[str], graph: Mapping[str, Any], tiers: Sequence[Sequence[int]]
) -> dict[str, Any] | None:
    """Return a drawing of the strongest edges alone, with nodes by number; None if the edges have no weights."""
    measures = ("edge_strength", "standardized_weight", "weight")
    measure = next((name for name in measures if name in graph["columns"]), None)
    if measure is None:
        return None
    column = graph["columns"].index(measure)
    edges = sorted(graph["rows"], key=lambda row: -abs(row[column] or 0.0))[:STRONGEST_EDGES]
    nodes = sorted({node for row in edges for node in row[:2]})
    place = {node: k for k, node in enumerate(nodes)}
    adjacency = np.zeros((len(nodes), len(nodes)), dtype=bool)
    for source, target, *_ in edges:
        adjacency[place[source], place[target]] = True
    widths = node_widths([labels[node] for node in nodes], adjacency)
    drawn = layouts(adjacency, widths, [[place[node] for node in tier if node in place] for tier in tiers])
    for layout in drawn:
        layout["bends"] = [[nodes[i], nodes[j], points] for i, j, points in layout["bends"]]
    return {"nodes": nodes, "edges": [row[:2] for row in edges], "widths": widths, "layouts": drawn}


def plain_rows(
    graph: BoolMatrix,
    names: tuple[str, ...],
    weights: Matrix | None = None,
    direction_from: Mapping[tuple[int, int], str] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """Return the edges of a matrix; edges in both directions appear once, and links have no direction."""
    pairs = np.argwhere(graph & ~np.tril(graph & graph.T, -1)).tolist()
    rows = [
        {"source": names[i], "target": names[j], "direction_from": direction_from.get((i, j))}
        | {"directed": not graph[j, i] and direction_from.get((i, j)) not in LINK_SOURCES}
        for i, j in pairs
    ]
    if weights is None:
        return rows
    return [row | {"weight": float(weights[i, j])} for row, (i, j) in zip(rows, pairs, strict=True)]


def graph_entry(name: str, rows: Sequence[Mapping[str, Any]], names: tuple[str, ...]) -> dict[str, Any]:
    """Return a table of edges with the columns that have values."""
    index = {variable: k for k, variable in enumerate(names)}
    rows = [{**row, "undirected": True if row.get("directed") is False else None} for row in rows]
    columns = [
        column
        for column in ("undirected", *(name for name in [*EDGE_COLUMNS][2:] if name != "directed"))
        if any(row.get(column) is not None for row in rows)
    ]
    packed = [
        [index[row["source"]], index[row["target"]], *(rounded(row.get(column)) for column in columns)] for row in rows
    ]
    return {"name": name, "columns": ["source", "target", *columns], "rows": packed}


def _candidates(document: GraphDocument, edges: Edges) -> list[list[Any]]:
    """Return the largest raw weights that are not edges: below the threshold, or removed to break a cycle."""
    kept = set(edges.pairs())
    left = [entry for entry in document.raw_weights or () if entry[:2] not in kept]
    largest = max((abs(weight) for *_, weight in left), default=0.0)
    strongest = sorted((entry for entry in left if abs(entry[2]) > 1e-3 * largest), key=lambda entry: -abs(entry[2]))
    most = min(MOST_CANDIDATES, 3 * len(edges) + 20)
    return [[i, j, rounded(weight)] for i, j, weight in strongest[:most]]


def scatter_plots(scatters: Sequence[EdgeScatter]) -> dict[str, Any] | None:
    """Return lines by edge, values by source and residuals by target, which edges share; None without plots."""
    if not scatters:
        return None
    short = partial(for_json, digits=4)  # more than a plot shows
    return {
        "lines": [[one.source, one.target, short(one.slope), short(one.intercept)] for one in scatters],
        "values": {one.source: short(one.x) for one in scatters},
        "residuals": {one.target: short(one.residuals) for one in scatters},
    }
