"""The evidence for the directions of a learned graph, independent of the order of the columns.

The score of the table names the sources that it has: "variances", "shape", "interventions". Knowledge and the structure
of the equivalence class come first.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.data.inputs import numpy_rows
from golem.data.knowledge import Knowledge
from golem.data.resampling import row_sample
from golem.directions.by_intervention import InterventionEvidence, LocalCost, directions_by_intervention
from golem.directions.by_shape import ShapeEvidence, directions_by_shape
from golem.directions.by_variance import (
    LEAST_EVIDENCE,
    CandidateClass,
    direction_odds,
    evidence_in_variances,
    least_log_odds,
)
from golem.directions.equivalence_class import Component, Family, components, known_edges, open_edges
from golem.directions.experiments import Experiments, check_experiments, experiments_of
from golem.directions.factors import hidden_factors
from golem.directions.learned_graph import Decisions, LearnedGraph, decide, known
from golem.directions.member_scores import cheapest_member
from golem.graphs.edges import Edges
from golem.runtime.messages import counted
from golem.runtime.types import BoolVector, Indices, Matrix, Vector
from golem.score.node_score import NodeScore
from golem.score.noise_choice import NoiseChoice
from golem.score.regression import family_variances
from golem.score.wide_score import WideScore

_NO_ROWS = "it has only means and covariances, not the rows"


@dataclass(frozen=True, eq=False)
class DirectionProblem:
    """A graph whose directions are to be judged.

    Parameters
    ----------
    graph : LearnedGraph
        The graph, with what its equivalence class leaves open (`reversible`).
    score : NodeScore
        The score of its table.
    knowledge : Knowledge
        What is known about the edges.
    rank : ndarray of shape (d,)
        The places of the nodes in an order that does not depend on how the table lists them.
    choice : NoiseChoice or None
        The noise models that were compared, and their graphs.
    uses_shape : bool
        Whether the shape of the noise may give directions.
    """

    graph: LearnedGraph
    score: NodeScore
    knowledge: Knowledge
    rank: Indices
    choice: NoiseChoice | None = None
    uses_shape: bool = True

    @functools.cached_property
    def covariance(self) -> Matrix:
        """The covariance of the columns."""
        return self.score.table.moments(self.score.intercepts).covariance

    @property
    def reversible(self) -> BoolVector:
        """The edges that the equivalence class leaves open; a cyclic graph has no directions to judge."""
        return np.asarray(known(self.graph.reversible), dtype=bool)

    def components(self, decided: BoolVector) -> list[Component]:
        """Return the components of the class, with the directions of some edges."""
        return components(self.graph, self.reversible, decided, self.rank)


def with_directions(problem: DirectionProblem) -> LearnedGraph:
    """Return the graph with the directions that have evidence, and with what they rest on."""
    graph = problem.graph
    undirected = open_edges(graph, problem.reversible, problem.knowledge)
    if isinstance(problem.score, WideScore):
        return _of_class(graph, undirected)
    given = known_edges(graph, problem.knowledge) | (problem.reversible & ~undirected)
    tests = experiments_of(problem.score)
    experiments = _intervention_evidence(problem, undirected, tests)
    undirected = undirected & ~experiments.decided
    found = problem.components(problem.reversible & ~undirected)
    variances = _variance_evidence(problem, found)
    shape = _shape_evidence(problem, undirected, found)
    edges, turned = _most_similar_noise(problem, found)
    decisions = decide(edges, undirected, list(variances), shape)
    unsupported = _without_support(problem, undirected | given)
    by_variance = np.array([edge in variances for edge in edges.pairs()], dtype=bool)
    note = _note(decisions, shape)
    decisions = dataclasses.replace(
        decisions,
        reversed=decisions.reversed ^ turned,
        undecided=decisions.undecided | (unsupported & ~by_variance),
        by_variance=decisions.by_variance | (unsupported & by_variance),
    )
    explained = _explained(problem, decisions, given, experiments, variances, shape)
    checks = None if tests is None else check_experiments(tests, explained)
    return dataclasses.replace(explained, shape_note=note, hardness=experiments.hardness, experiments=checks)


def _of_class(graph: LearnedGraph, undirected: BoolVector) -> LearnedGraph:
    """Return a graph whose directions only the class gives, and which are yet to be checked."""
    nothing = np.full(len(graph), np.nan)
    sources = np.where(undirected, "none", "unchecked").astype("<U13")
    return dataclasses.replace(graph, sources=sources, strength=nothing, error_rate=nothing)


def _most_similar_noise(problem: DirectionProblem, found: list[Component]) -> tuple[Edges, BoolVector]:
    """Return the member of the class to show, and which edges of the graph it reverses.

    If the noise variances are equal or tied, it is the member in which they are most similar. A search need not end
    there, and the graph must not depend on how it went.
    """
    graph, choice = problem.graph, problem.choice
    turned = np.zeros(len(graph), dtype=bool)
    if choice is None or choice.kind == "free":
        return graph, turned
    mean = np.log(graph.residual_variances).mean()

    def costs(families: list[Family]) -> Vector:
        r = family_variances(problem.covariance, families)
        return r if choice.kind == "equal" else np.asarray((np.log(r) - mean) ** 2)

    place = {edge: k for k, edge in enumerate(graph.pairs())}
    for component in found:
        for i, j in cheapest_member(component, costs):
            if (j, i) in place:
                turned[place[j, i]] = True
    causes, children = np.where(turned, [graph.children, graph.causes], [graph.causes, graph.children])
    return Edges(causes, children, graph.d), turned


def _variance_evidence(problem: DirectionProblem, found: list[Component]) -> dict[tuple[int, int], float]:
    """Return the directions that the noise variances support, with the strength of the evidence."""
    graph, choice = problem.graph, problem.choice
    if "variances" not in problem.score.evidence():
        return {}
    if choice is None:
        strength = evidence_in_variances(problem.score, problem.score.refit(graph), found)
        pairs = zip(graph.pairs(), strength.tolist(), strict=True)
        return {edge: size for edge, size in pairs if size >= LEAST_EVIDENCE}
    classes = {_arrows(graph, problem.reversible): _candidate(problem, graph, found)}
    for adjacency in choice.graphs.values():
        edges = Edges.from_matrix(adjacency)
        reversible = edges.find_reversible()
        if (key := _arrows(edges, reversible)) not in classes:
            given = reversible & ~open_edges(edges, reversible, problem.knowledge)
            classes[key] = _candidate(problem, edges, components(edges, reversible, given, problem.rank))
    n = problem.score.table.n
    odds = direction_odds(list(classes.values()), problem.covariance, n)
    both = ((way, size) for (i, j), value in odds.items() for way, size in (((i, j), value), ((j, i), -value)))
    supported = {way: 2 * size for way, size in both if size >= least_log_odds(n)}
    if supported and hidden_factors(problem.score.table, problem.score.intercepts, graph):
        return {}
    return supported


def _candidate(problem: DirectionProblem, edges: Edges, found: list[Component]) -> CandidateClass:
    """Return a class with its prior: the penalty on its edges without log n per edge, which the volume has."""
    n = problem.score.table.n
    penalty = problem.score.sparsity.graph_penalty(np.bincount(edges.children, minlength=edges.d), n)
    return CandidateClass(edges, found, -(penalty - len(edges) * np.log(n)) / 2)


def _arrows(edges: Edges, reversible: BoolVector) -> frozenset[tuple[int, int]]:
    """Return the edges of the CPDAG, those that are reversible in both directions."""
    turned = Edges(edges.children[reversible], edges.causes[reversible], edges.d)
    return frozenset((*edges.pairs(), *turned.pairs()))


def _without_support(problem: DirectionProblem, settled: BoolVector) -> BoolVector:
    """Return which edges are directed by the class shown, but not by that with free noise variances.

    `settled` edges are open or known. The class itself was chosen with the help of the scales of the columns, so a
    direction that only this class has depends on the units.
    """
    choice = problem.choice
    if choice is None or choice.kind == "free" or "free" not in choice.graphs:
        return np.zeros_like(settled)
    free = Edges.from_matrix(choice.graphs["free"])
    directed = ~open_edges(free, free.find_reversible(), problem.knowledge)
    arrows = {edge for edge, is_directed in zip(free.pairs(), directed, strict=True) if is_directed}
    return np.asarray(~settled & np.array([edge not in arrows for edge in problem.graph.pairs()], dtype=bool))


def _intervention_evidence(
    problem: DirectionProblem, undirected: BoolVector, experiments: Experiments | None
) -> InterventionEvidence:
    """Return the evidence of experiments for the directions that are open; there is none without rows."""
    graph = problem.graph
    if experiments is None or not (undirected.any() or experiments.intervention == "hard"):
        return InterventionEvidence(np.zeros_like(undirected), np.zeros(len(graph)))
    found = problem.components(known_edges(graph, problem.knowledge))
    return directions_by_intervention(graph, undirected, found, experiments, _node_costs(problem.score, found))


def _node_costs(score: NodeScore, found: list[Component]) -> list[LocalCost]:
    """Return the costs of the nodes of some components given their parents, without and with penalties."""
    # There is a matrix per set of environments, so of many columns only those in question are taken.
    nodes = sorted({int(j) for one in found for j in (*one.nodes, *one.outside)})
    if not nodes:
        return []
    place, few = {j: k for k, j in enumerate(nodes)}, score.selected(nodes)
    return [partial(_cost, one, place) for one in (few.deviance(), few)]


def _cost(score: NodeScore, place: Mapping[int, int], j: int, parents: Iterable[int]) -> float:
    """Return the cost of a node, with nodes by their numbers in the whole graph."""
    return score.cost(place[j], [place[i] for i in parents])


def _shape_evidence(problem: DirectionProblem, undirected: BoolVector, found: list[Component]) -> ShapeEvidence:
    """Return the evidence of the noise shapes for the directions that are open."""
    score = problem.score
    if not (problem.uses_shape and undirected.any()):
        return ShapeEvidence()
    if "shape" not in score.evidence():
        return ShapeEvidence(reason=score.no_shape)
    rows = score.table.parts[0].read_rows()
    if rows is None:
        return ShapeEvidence(reason=_NO_ROWS)
    sample = numpy_rows(rows[row_sample(len(rows))])
    return directions_by_shape(sample, problem.graph, found, problem.rank, score.table.n, score.table.past)


def _explained(
    problem: DirectionProblem,
    decisions: Decisions,
    given: BoolVector,
    experiments: InterventionEvidence,
    variances: Mapping[tuple[int, int], float],
    shape: ShapeEvidence,
) -> LearnedGraph:
    """Return the graph with its directions and their evidence; the edges are sorted by child, then cause."""
    graph, turned = problem.graph, decisions.reversed
    causes, children = np.where(turned, [graph.children, graph.causes], [graph.causes, graph.children])
    ends = Edges(causes, children, graph.d).pairs()
    supports = [shape.evidence.get(edge) for edge in ends]
    error_rate = np.full(len(graph), np.nan)
    strength = np.array([variances.get(edge, np.nan) for edge in ends])
    strength[~decisions.by_variance] = np.nan
    strength[experiments.decided] = experiments.strength[experiments.decided]
    for k in np.flatnonzero(decisions.by_shape):
        if (support := supports[k]) is not None:
            strength[k], error_rate[k] = support
    per_edge: dict[str, Any] = {
        "sources": _sources(
            decisions,
            given,
            known_edges(graph, problem.knowledge),
            experiments.decided,
            problem.score.table.lags[graph.causes] > 0,
        ),
        "strength": strength,
        "error_rate": error_rate,
        "reversible": problem.reversible,
    }
    if not turned.any():
        return dataclasses.replace(graph, conflicts=decisions.conflicts, **per_edge)
    order = np.lexsort((causes, children))
    fit = problem.score.refit(Edges(causes[order], children[order], graph.d))
    return dataclasses.replace(
        graph,
        causes=fit.causes,
        children=fit.children,
        weights=fit.weights,
        residual_variances=fit.residual_variances,
        conflicts=decisions.conflicts,
        **{name: values[order] for name, values in per_edge.items()},
    )


def _sources(
    decisions: Decisions, settled: BoolVector, given: BoolVector, by_intervention: BoolVector, by_time: BoolVector
) -> NDArray[np.str_]:
    """Return what the direction of each edge rests on; where several do, the last of these.

    What the class gives, or knowledge together with the class, is yet to be checked (`golem.directions.by_structure`).
    """
    sources = np.full(len(settled), "unchecked", dtype="<U13")
    for source, edges in (
        ("none", decisions.undecided),
        ("variances", decisions.by_variance),
        ("shape", decisions.by_shape),
        ("interventions", by_intervention),
        ("unchecked", settled),
        ("knowledge", given),
        ("time", by_time),
    ):
        sources[edges] = source
    return sources


def _note(decisions: Decisions, shape: ShapeEvidence) -> str:
    """Return what the shapes of the noise give, and why not more; empty if they were not used."""
    if not (shape.rows or shape.reason):
        return ""
    if shape.reason:
        return f"golem cannot use the shape of the noise to find directions, because {shape.reason}."
    left_open = int((decisions.undecided | decisions.by_variance | decisions.by_shape).sum())
    given = int(decisions.by_shape.sum())
    settles = f"settles {given or 'none'} of the {left_open} open directions"
    if left_open == 1:
        settles = f"{'settles' if given else 'does not settle'} the one open direction"
    note = f"The shape of the noise {settles} (from {shape.rows} complete rows)."
    if decisions.conflicts:
        edges = counted(len(decisions.conflicts), "edge")
        note += f" It contradicts the noise variances at {edges}, so neither counts there."
    return note
