"""Directions by interventions: what experiments decide that the equivalence class leaves open.

The interventional class says which directions the targets can decide. Whether the data do decide them is a question of
the score: an experiment without an effect leaves the two directions tied. So a direction counts only if every member of
the Markov class with the other one has a worse score.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from golem.directions.best_members import rises_of_cost
from golem.directions.equivalence_class import open_after
from golem.directions.members import Component, Family
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
    rises = [rises_of_cost(found, partial(_costs, score)) for score in scores]
    for k in np.flatnonzero(can_decide):
        i, j = int(edges.causes[k]), int(edges.children[k])
        strength[k] = max(min(known[j, i] - known[i, j] for known in rises), 0.0)
    decided = can_decide & (strength >= LEAST_MARGIN)
    return InterventionEvidence(undirected & ~open_after(edges, undirected, decided), strength)


def _costs(score: LocalCost, families: list[Family]) -> Vector:
    """Return the costs of nodes given their parents."""
    return np.array([score(j, parents) for j, parents in families])
