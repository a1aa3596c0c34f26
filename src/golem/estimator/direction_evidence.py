"""The evidence for the directions of a fitted graph, independent of the order of the columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from golem.data.inputs import numpy_rows
from golem.data.row_blocks import row_sample
from golem.directions.best_members import cheapest_member
from golem.directions.by_intervention import InterventionEvidence, LocalCost, directions_by_intervention
from golem.directions.by_shape import ShapeEvidence, directions_by_shape
from golem.directions.by_variance import LEAST_EVIDENCE, evidence_in_variances
from golem.directions.decisions import Decisions, decide
from golem.directions.equivalence_class import known_edges, open_edges
from golem.directions.experiments import Experiments
from golem.directions.members import Component, Family, components
from golem.directions.variance_odds import LEAST_LOG_ODDS, CandidateClass, direction_odds
from golem.estimator.experiment_checks import check_experiments
from golem.estimator.learned_graph import LearnedGraph
from golem.estimator.name_order import name_order
from golem.estimator.settings import is_counted
from golem.graphs.edges import Edges
from golem.runtime.messages import counted, quoted
from golem.runtime.types import Array, BoolVector, Matrix, Vector
from golem.score.environment_score import environment_score
from golem.score.node_scores import GaussianBlocks, node_penalty
from golem.score.regression import Regressions, family_variances, regress_edges
from golem.score.sparsity import L0

if TYPE_CHECKING:
    from golem.estimator.golem import Golem

# Rows, or a function that reads them if they are needed; of environments, a mapping from labels to rows.
RowSource = Array | Callable[[], Array | None] | None
_ENVIRONMENTS = "interventions change it"
_NO_ROWS = "it has only means and covariances, not the rows"


def given_rows(own: Array | None, rows: RowSource) -> RowSource:
    """Return the rows of a table, or those given with its moments; raise a ValueError if there are both."""
    if own is not None and rows is not None:
        raise ValueError("X has rows of its own. Give rows only if X is Moments.")
    return rows if own is None else own


def with_directions(model: Golem, fit: Regressions, rows: RowSource) -> LearnedGraph:
    """Return the graph of a model with the directions that have evidence, and with what they rest on.

    `fit` has the edges with the weights of the model.
    """
    graph, S = model.graph_, model.moments_.covariance
    assert graph.reversible is not None  # a cyclic graph has no directions to judge
    undirected = open_edges(graph, graph.reversible, model.knowledge_)
    known = known_edges(graph, model.knowledge_) | (graph.reversible & ~undirected)
    tests = experiments_of(model, rows)
    experiments = _intervention_evidence(model, undirected, tests)
    undirected = undirected & ~experiments.decided
    decided = graph.reversible & ~undirected
    rank = name_order(model.moments_.names).place
    found = components(graph, graph.reversible, decided, rank)
    variances = _variance_evidence(model, fit, found)
    shape = _shape_evidence(model, undirected, found, rows)
    edges, turned = _most_similar_noise(model, found)
    decisions = decide(edges, undirected, list(variances), shape)
    unsupported = _without_support(model, undirected | known)
    by_variance = np.array([edge in variances for edge in _ends(edges)], dtype=bool)
    note = _note(decisions, shape)
    decisions = dataclasses.replace(
        decisions,
        reversed=decisions.reversed ^ turned,
        undecided=decisions.undecided | (unsupported & ~by_variance),
        by_variance=decisions.by_variance | (unsupported & by_variance),
    )
    explained = _explained(graph, decisions, known, experiments, variances, shape, S)
    checks = None if tests is None else check_experiments(tests, explained)
    return dataclasses.replace(explained, shape_note=note, hardness=experiments.hardness, experiments=checks)


def _most_similar_noise(model: Golem, found: list[Component]) -> tuple[Edges, BoolVector]:
    """Return the member of the class to show, and which edges of the graph it reverses.

    If the noise variances are equal or tied, it is the member in which they are most similar. A search need not end
    there, and the graph must not depend on how it went.
    """
    graph, S, choice = model.graph_, model.moments_.covariance, model.noise_choice_
    turned = np.zeros(len(graph), dtype=bool)
    if choice is None or choice.kind == "free":
        return graph, turned
    mean = np.log(graph.residual_variances).mean()

    def costs(families: list[Family]) -> Vector:
        r = family_variances(S, families)
        return r if choice.kind == "equal" else np.asarray((np.log(r) - mean) ** 2)

    place = {edge: k for k, edge in enumerate(_ends(graph))}
    for component in found:
        for i, j in cheapest_member(component, costs):
            if (j, i) in place:
                turned[place[j, i]] = True
    causes, children = np.where(turned, [graph.children, graph.causes], [graph.causes, graph.children])
    return Edges(causes, children, graph.d), turned


def _ends(edges: Edges) -> list[tuple[int, int]]:
    """Return the edges as pairs of cause and child."""
    return list(zip(edges.causes.tolist(), edges.children.tolist(), strict=True))


def _variance_evidence(model: Golem, fit: Regressions, found: list[Component]) -> dict[tuple[int, int], float]:
    """Return the directions that the noise variances support, with the strength of the evidence."""
    S, n, choice = model.moments_.covariance, model.moments_.n, model.noise_choice_
    if choice is None:
        least_squares = fit if is_counted(model) else regress_edges(fit.children, fit.causes, S)
        strength = evidence_in_variances(least_squares, S, n, model.likelihood_, found)
        pairs = zip(_ends(fit.edges), strength.tolist(), strict=True)
        return {edge: size for edge, size in pairs if size >= LEAST_EVIDENCE}
    assert model.graph_.reversible is not None
    classes = {_arrows(model.graph_, model.graph_.reversible): _candidate(model, model.graph_, found)}
    for graph in choice.graphs.values():
        edges = Edges.from_matrix(graph)
        reversible = edges.find_reversible()
        if (key := _arrows(edges, reversible)) not in classes:
            given = reversible & ~open_edges(edges, reversible, model.knowledge_)
            others = components(edges, reversible, given, name_order(model.moments_.names).place)
            classes[key] = _candidate(model, edges, others)
    odds = direction_odds(list(classes.values()), S, n)
    both = ((way, size) for (i, j), value in odds.items() for way, size in (((i, j), value), ((j, i), -value)))
    return {way: 2 * size for way, size in both if size >= LEAST_LOG_ODDS}


def _candidate(model: Golem, edges: Edges, found: list[Component]) -> CandidateClass:
    """Return a class with its prior: the penalty on its edges without log n per edge, which the volume has."""
    n = model.moments_.n
    penalty = model.edge_penalty_.graph_penalty(np.bincount(edges.children, minlength=edges.d), n)
    return CandidateClass(edges, found, -(penalty - len(edges) * np.log(n)) / 2)


def _arrows(edges: Edges, reversible: BoolVector) -> frozenset[tuple[int, int]]:
    """Return the edges of the CPDAG, those that are reversible in both directions."""
    return frozenset((*_ends(edges), *_ends(Edges(edges.children[reversible], edges.causes[reversible], edges.d))))


def _without_support(model: Golem, settled: BoolVector) -> BoolVector:
    """Return which edges are directed by the class shown, but not by that with free noise variances.

    `settled` edges are open or known. The class itself was chosen with the help of the scales of the columns, so a
    direction that only this class has depends on the units.
    """
    graph, choice = model.graph_, model.noise_choice_
    if choice is None or choice.kind == "free" or "free" not in choice.graphs:
        return np.zeros_like(settled)
    free = Edges.from_matrix(choice.graphs["free"])
    directed = ~open_edges(free, free.find_reversible(), model.knowledge_)
    arrows = {edge for edge, is_directed in zip(_ends(free), directed, strict=True) if is_directed}
    return np.asarray(~settled & np.array([edge not in arrows for edge in _ends(graph)], dtype=bool))


def _intervention_evidence(
    model: Golem, undirected: BoolVector, experiments: Experiments | None
) -> InterventionEvidence:
    """Return the evidence of experiments for the directions that are open; there is none without rows."""
    graph = model.graph_
    if experiments is None or not (undirected.any() or model.intervention == "hard"):
        return InterventionEvidence(np.zeros_like(undirected), np.zeros(len(graph)))
    assert graph.reversible is not None
    known, rank = known_edges(graph, model.knowledge_), name_order(model.moments_.names).place
    found = components(graph, graph.reversible, known, rank)
    return directions_by_intervention(graph, undirected, found, experiments, _node_costs(model, found))


def _node_costs(model: Golem, found: list[Component]) -> list[LocalCost]:
    """Return the costs of the nodes of some components given their parents, without and with penalties."""
    # There is a matrix per set of environments, so of many columns only those in question are taken.
    nodes = sorted({int(j) for one in found for j in (*one.nodes, *one.outside)})
    if not nodes or model.environments_ is None:
        return []
    place, few = {j: k for k, j in enumerate(nodes)}, model.environments_.selected(nodes)
    scores = [environment_score(few, L0(0.0), model.intervention, model.intercepts)]
    freedom = [[scores[0].rows[t] for t in own] for own in scores[0].terms]
    scores.append(dataclasses.replace(scores[0], penalty=node_penalty(model.edge_penalty_, freedom)))
    return [partial(_cost, score, place) for score in scores]


def experiments_of(model: Golem, rows: RowSource) -> Experiments | None:
    """Return the experiments of a model with the complete rows of each environment; None without rows."""
    environments = model.environments_
    found = rows() if callable(rows) and environments is not None else rows
    if environments is None or found is None:
        return None
    if not isinstance(found, Mapping) or sorted(found) != sorted(environments.labels):
        labels = quoted(environments.labels)
        raise ValueError(f"The rows of environments must be a dictionary with an array per label, {labels}.")
    tables = [numpy_rows(found[label]) for label in environments.labels]
    if wrong := [table.shape for table in tables if table.ndim != 2 or table.shape[1] != environments.d]:
        raise ValueError(f"The rows must have shape (rows, {environments.d}), as their moments do; got {wrong[0]}.")
    complete = [table[~np.isnan(table).any(axis=1)] for table in tables]
    # Rows of a bootstrap resample are worth fewer independent ones. After EM, incomplete rows count too.
    worth = 1.0
    for part, table, own in zip(environments.parts, tables, complete, strict=True):
        moments = part.moments
        known, given = (moments.n, own) if moments.patterns is None else (moments.patterns.counts.sum(), table)
        worth = min(worth, float(known) / max(len(given), 1))
    return Experiments(complete, environments.targets, model.intervention, model.intercepts == "shared", worth)


def _cost(score: GaussianBlocks, place: Mapping[int, int], j: int, parents: Iterable[int]) -> float:
    """Return the cost of a node, with nodes by their numbers in the whole graph."""
    return score.cost(place[j], [place[i] for i in parents])


def uses_shape(model: Golem) -> bool:
    """Return whether the settings allow directions by the shape of the noise.

    With noise="ev" the assumption of equal variances decides the directions, and the graphs of Adam and L-BFGS are
    those of the paper. Interventions change the noise of their targets, so environments have no common shape.
    """
    usable = is_counted(model) and model.noise != "ev" and getattr(model, "environments_", None) is None
    return model.shape == "auto" and usable


def _shape_evidence(model: Golem, undirected: BoolVector, found: list[Component], rows: RowSource) -> ShapeEvidence:
    """Return the evidence of the noise shapes for the directions that are open."""
    graph, moments = model.graph_, model.moments_
    if not (uses_shape(model) and undirected.any()):
        unused = model.shape == "auto" and model.environments_ is not None and undirected.any()
        return ShapeEvidence(reason=_ENVIRONMENTS) if unused else ShapeEvidence()
    table = _table(rows, moments.d)
    if table is None:
        return ShapeEvidence(reason=_NO_ROWS)
    return directions_by_shape(table, graph, found, name_order(moments.names).place, moments.n)


def _table(rows: RowSource, d: int) -> Matrix | None:
    """Return the rows, or a sample of many, as floats; None if there are none."""
    found = rows() if callable(rows) else rows
    if found is None:
        return None
    if found.ndim != 2 or found.shape[1] != d:
        raise ValueError(f"The rows must have shape (rows, {d}), as their moments do; got {tuple(found.shape)}.")
    return numpy_rows(found[row_sample(len(found))])


def _explained(
    graph: LearnedGraph,
    decisions: Decisions,
    known: BoolVector,
    experiments: InterventionEvidence,
    variances: Mapping[tuple[int, int], float],
    shape: ShapeEvidence,
    S: Matrix,
) -> LearnedGraph:
    """Return the graph with its directions and their evidence; the edges are sorted by child, then cause."""
    turned = decisions.reversed
    causes, children = np.where(turned, [graph.children, graph.causes], [graph.causes, graph.children])
    ends = _ends(Edges(causes, children, graph.d))
    supports = [shape.evidence.get(edge) for edge in ends]
    error_rate = np.full(len(graph), np.nan)
    strength = np.array([variances.get(edge, np.nan) for edge in ends])
    strength[~decisions.by_variance] = np.nan
    strength[experiments.decided] = experiments.strength[experiments.decided]
    for k in np.flatnonzero(decisions.by_shape):
        if (support := supports[k]) is not None:
            strength[k], error_rate[k] = support
    per_edge: dict[str, Any] = {
        "undecided": decisions.undecided,
        "by_variance": decisions.by_variance,
        "by_shape": decisions.by_shape,
        "by_intervention": experiments.decided,
        "by_knowledge": known,
        "strength": strength,
        "error_rate": error_rate,
    }
    if not turned.any():
        return dataclasses.replace(graph, conflicts=decisions.conflicts, **per_edge)
    order = np.lexsort((causes, children))
    fit = regress_edges(children[order], causes[order], S)
    per_edge |= {"reversible": graph.reversible}
    return dataclasses.replace(
        graph,
        causes=fit.causes,
        children=fit.children,
        weights=fit.weights,
        residual_variances=fit.residual_variances,
        conflicts=decisions.conflicts,
        **{name: values[order] for name, values in per_edge.items() if values is not None},
    )


def _note(decisions: Decisions, shape: ShapeEvidence) -> str:
    """Return what the shapes of the noise give, and why not more; empty if they were not used."""
    if not (shape.rows or shape.reason):
        return ""
    if shape.reason:
        return f"golem cannot use the shape of the noise to find directions, because {shape.reason}."
    left_open = int((decisions.undecided | decisions.by_variance | decisions.by_shape).sum())
    given = int(decisions.by_shape.sum())
    decides = f"decides {given or 'none'} of the {left_open} directions"
    if left_open == 1:
        decides = f"{'decides' if given else 'does not decide'} the one direction"
    note = f"The shape of the noise {decides} that the equivalence class leaves open (from {shape.rows} complete rows)."
    if decisions.conflicts:
        edges = counted(len(decisions.conflicts), "edge")
        note += f" It contradicts the noise variances at {edges}, so neither counts there."
    return note
