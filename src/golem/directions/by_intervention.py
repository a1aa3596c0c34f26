"""Directions by interventions: what experiments decide that the equivalence class leaves open.

The interventional class says which directions the targets can decide. Whether the data do decide them is a question of
evidence: an experiment without an effect leaves the two directions tied. So a direction counts only if

- every member of the Markov class with the other one has a worse score, by `LEAST_MARGIN`, and
- mechanisms of every such member change although no experiment targets them, by the same margin in -2 log p. These
  tests hold for noise of any shape (`mechanism_tests`). Of the changes found, at most a share `FALSE_CHANGES` is false,
  and others do not count.

With hard interventions, a member is also wrong about a target that changes and still depends on its parents. This
counts only if hardness passes a test: targets do not depend on the parents that they have by the structure, by
knowledge or by changes alone. Edges of targets that do depend are not decided. If these are half of the targets, the
assumption of the score is wrong, and no direction is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from golem.directions.equivalence_class import Component, Family, open_after
from golem.directions.experiments import Experiments, Hardness
from golem.directions.member_scores import rises_of_cost
from golem.graphs.edges import Edges
from golem.graphs.interventional import interventional_reversible
from golem.runtime.types import BoolVector, Vector

LEAST_MARGIN = 8.0
FALSE_CHANGES = 0.02
_SMALLEST_P = 1e-300
# Rows of all tests together, which take some seconds, but at least so many per environment.
_MOST_ROWS_TESTED, _FEWEST_ROWS = 10_000_000, 5000
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
        Deviance by which the best member of the Markov class with the other direction is worse, or -2 log p of its
        changes if this is smaller; 0 for edges that the interventional class leaves open.
    hardness : Hardness or None
        Whether hard interventions are hard.
    """

    decided: BoolVector
    strength: Vector
    hardness: Hardness | None = None


def directions_by_intervention(
    edges: Edges,
    undirected: BoolVector,
    found: list[Component],
    experiments: Experiments,
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
    experiments : Experiments
        The rows and targets of the environments.
    scores : sequence of callables
        Interventional scores of one node, `score(j, parents)`. All must support a direction: with penalties, and
        without them, because a model in which an experiment changes fewer coefficients has a lower penalty even if the
        experiment changed nothing.
    """
    can_decide = undirected & ~interventional_reversible(edges, experiments.targets, experiments.intervention)
    ends = set(edges.causes[can_decide].tolist())
    found = [component for component in found if not ends.isdisjoint(component.nodes.tolist())]
    tests = _Tests(found, experiments)
    changes, hardness = _margins(edges, rises_of_cost(found, tests.changes)), None
    if experiments.intervention == "hard":
        hardness = experiments.hardness(_certain_parents(edges, undirected, can_decide, changes))
        doubtful = list(range(edges.d)) if hardness.is_refuted else list(hardness.doubtful)
        can_decide = can_decide & ~np.isin(edges.causes, doubtful) & ~np.isin(edges.children, doubtful)
        if hardness.is_supported:
            contradictions = partial(tests.changes_and_contradictions, hardness.doubtful)
            changes = _margins(edges, rises_of_cost(found, contradictions))
    margins = [_margins(edges, rises_of_cost(found, partial(_costs, score))) for score in scores]
    strength = np.where(can_decide, np.maximum(np.min([changes, *margins], axis=0), 0.0), 0.0)
    decided = can_decide & (strength >= LEAST_MARGIN)
    return InterventionEvidence(undirected & ~open_after(edges, undirected, decided), strength, hardness)


class _Tests:
    """The tests of all mechanisms of the members of some components, as costs: -2 log p of what is false, else 0."""

    def __init__(self, found: list[Component], experiments: Experiments) -> None:
        self._experiments = experiments
        self._component = {j: component.nodes.tolist() for component in found for j in component.nodes.tolist()}
        self._found: list[Vector] = []

    def changes(self, families: list[Family]) -> Vector:
        """Return the evidence that mechanisms change in an environment that does not target them."""
        most = _MOST_ROWS_TESTED // max(len(families) * len(self._experiments.rows), 1)
        self._experiments = self._experiments.sampled(max(most, _FEWEST_ROWS))
        self._found = [self._experiments.changes(one, self._component[one[0]]) for one in families]
        return _evidence(self._found)

    def changes_and_contradictions(self, doubtful: set[int], families: list[Family]) -> Vector:
        """Return the evidence that they change, or depend on their parents in an environment that targets them.

        Dependence does not count for doubtful nodes, on which interventions are not hard.
        """
        found = list(self._found)
        for k, one in enumerate(families):
            if one[0] not in doubtful:
                found[k] = np.append(found[k], self._experiments.contradictions(one))
        return _evidence(found)


def _evidence(found: list[Vector]) -> Vector:
    """Return -2 log of the smallest of each list of p-values, or 0 if it is not small (Benjamini and Hochberg 1995)."""
    p = np.sort(np.concatenate([np.ones(0), *found]))
    small = p[p <= FALSE_CHANGES * np.arange(1, len(p) + 1) / max(len(p), 1)]
    level = small[-1] if len(small) else -1.0
    smallest = np.array([own.min(initial=1.0) for own in found])
    return np.asarray(np.where(smallest <= level, -2 * np.log(np.maximum(smallest, _SMALLEST_P)), 0.0))


def _margins(edges: Edges, rises: Mapping[tuple[int, int], float]) -> Vector:
    """Return by how much the best member with the other direction of each edge is worse; 0 where none is known."""
    return np.array([rises[j, i] - rises[i, j] if (i, j) in rises else 0.0 for i, j in edges.pairs()])


def _certain_parents(edges: Edges, undirected: BoolVector, can_decide: BoolVector, changes: Vector) -> list[list[int]]:
    """Return the parents of every node by the class, by knowledge or by changes, whatever direction is shown."""
    parents: list[list[int]] = [[] for _ in range(edges.d)]
    for k, (i, j) in enumerate(edges.pairs()):
        if not undirected[k] or (can_decide[k] and changes[k] >= LEAST_MARGIN):
            parents[j].append(i)
        elif can_decide[k] and changes[k] <= -LEAST_MARGIN:
            parents[i].append(j)
    return parents


def _costs(score: LocalCost, families: list[Family]) -> Vector:
    """Return the costs of nodes given their parents."""
    return np.array([score(j, parents) for j, parents in families])
