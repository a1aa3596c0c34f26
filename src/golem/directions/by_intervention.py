"""Directions by interventions: what experiments decide that the equivalence class leaves open.

The interventional class says which directions the targets can decide. Whether the data do decide them is a question of
the score: an experiment without an effect leaves the two directions tied. So a direction counts only if every member of
the Markov class with the other one has a worse score.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from golem.directions.equivalence_class import open_after
from golem.directions.members import Component
from golem.graphs.edges import Edges
from golem.graphs.interventional import Intervention, interventional_reversible
from golem.runtime.types import BoolVector, Vector

# Margins of experiments without an effect on covariances, such as pure shifts of means, reach this in 9 of 100 edges
# (docs/benchmarks/interventions.md). They would reach `LEAST_EVIDENCE`, which noise variances need, in half of them.
LEAST_MARGIN = 8.0
# The cost of a node given its parents, in units of the deviance.
LocalCost = Callable[[int, Iterable[int]], float]


@dataclass(frozen=True, eq=False)
class InterventionEvidence:
    """What interventions say about the directions of the edges of a graph.

    Parameters
    ----------
    decided : ndarray of shape (e,), bool
        The edges whose direction interventions decide and neither the Markov class nor knowledge does.
    strength : ndarray of shape (e,)
        Deviance by which the best member of the Markov class with the other direction is worse; 0 for edges that the
        interventional class leaves open.
    """

    decided: BoolVector
    strength: Vector


def directions_by_intervention(
    edges: Edges,
    undirected: BoolVector,
    found: list[Component],
    targets: Sequence[Collection[int]],
    intervention: Intervention,
    scores: Sequence[LocalCost],
) -> InterventionEvidence:
    """Return the directions that interventions decide, and the evidence for them.

    Parameters
    ----------
    edges : Edges
        The edges of a DAG.
    undirected : ndarray of shape (e,), bool
        The edges that its Markov class and knowledge leave open; see `open_edges`.
    found : list of Component
        The components of its CPDAG.
    targets : sequence of collections of int
        The targets of each environment.
    intervention : {"soft", "hard"}
        Whether targets still depend on their parents.
    scores : sequence of callables
        Interventional scores of one node, `score(j, parents)`. All must support a direction: with penalties, and
        without them, because a model in which an experiment changes fewer coefficients has a lower penalty even if the
        experiment changed nothing.
    """
    strength = np.zeros(len(edges))
    can_decide = undirected & ~interventional_reversible(edges, targets, intervention)
    if not can_decide.any():
        return InterventionEvidence(can_decide, strength)
    margins: list[dict[tuple[int, int], float]] = [{} for _ in scores]
    for component in found:
        for known, score in zip(margins, scores, strict=True):
            known |= _margins(component, score)
    for k in np.flatnonzero(can_decide):
        edge = int(edges.causes[k]), int(edges.children[k])
        strength[k] = max(min(known[edge] for known in margins), 0.0)
    decided = can_decide & (strength >= LEAST_MARGIN)
    return InterventionEvidence(undirected & ~open_after(edges, undirected, decided), strength)


def _margins(component: Component, cost: LocalCost) -> dict[tuple[int, int], float]:
    """Return for each direction of each edge of a component how much worse the best member with the other one is.

    Of a large component only the best members are visited. If none of them has a direction, the worst of them counts.
    """
    nodes, outside = component.nodes.tolist(), component.outside.tolist()
    costs: dict[tuple[int, int], float] = {}

    def score(j: int, parents: int) -> float:
        if (j, parents) not in costs:
            inside = [nodes[i] for i in range(len(nodes)) if parents >> i & 1]
            costs[j, parents] = -cost(nodes[j], [*outside, *inside])
        return costs[j, parents]

    visited = component.members(score)
    totals = [-sum(score(j, parents) for j, parents in enumerate(member)) for member in visited]
    worst = max(totals, default=0.0)
    best: dict[tuple[int, int], float] = {}
    for a, b in component.edges.tolist():
        for i, j in ((a, b), (b, a)):
            having = (total for total, member in zip(totals, visited, strict=True) if member[j] >> i & 1)
            best[nodes[i], nodes[j]] = min(having, default=worst)
    return {(i, j): best[j, i] - value for (i, j), value in best.items()}
