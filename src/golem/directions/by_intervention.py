"""Directions by interventions: what experiments decide that the equivalence class leaves open.

The interventional class says which directions the targets can decide. Whether the data do decide them is a question of
evidence: an experiment without an effect leaves the two directions tied. So a direction counts only if

- every member of the Markov class with the other one has a worse score, by `LEAST_MARGIN`, and
- every such member has more mechanisms that change where no experiment targets them. These tests hold for noise of any
  shape (`mechanism_tests`), and the share of false changes among those found is at most `FALSE_CHANGES`.

A hard intervention is judged by the same changes as a soft one. That its targets do not depend on their parents is what
the user says, and an experiment that does nothing would look like strong evidence if it were believed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from golem.directions.best_members import rises_of_cost
from golem.directions.equivalence_class import open_after
from golem.directions.mechanism_tests import Rows, mechanism_p_values
from golem.directions.members import Component, Family
from golem.graphs.edges import Edges
from golem.graphs.interventional import Intervention, interventional_reversible
from golem.runtime.types import BoolVector, Matrix, Vector

LEAST_MARGIN = 8.0
FALSE_CHANGES = 0.05
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


@dataclass(frozen=True, eq=False)
class Experiments:
    """The rows and the targets of environments.

    Parameters
    ----------
    rows : sequence of ndarray of shape (n_e, d), or None
        The complete rows of each environment; None if only their moments are known.
    targets : sequence of collections of int
        The targets of each environment.
    intervention : {"soft", "hard"}
        Whether targets still depend on their parents.
    shared : bool
        Whether the intercepts of a mechanism are equal in all environments that do not target it.
    worth : float
        How many independent rows a row is worth.
    """

    rows: Sequence[Matrix] | None
    targets: Sequence[Collection[int]]
    intervention: Intervention = "soft"
    shared: bool = False
    worth: float = 1.0

    def compared(self, j: int, component: Collection[int]) -> tuple[list[int], list[int]]:
        """Return the environments that do not target a node, and which of them target others of its component.

        The second list has places in the first. Experiments on other components change no mechanism of this one.
        """
        assert self.rows is not None
        without = [e for e, own in enumerate(self.targets) if j not in own and len(self.rows[e]) > 1]
        changing = [k for k, e in enumerate(without) if not set(self.targets[e]).isdisjoint(component)]
        return (without, changing) if len(without) > 1 else ([], [])

    def p_values(self, family: Family, component: Collection[int]) -> Vector:
        """Return a p-value per environment that could change the mechanism of a node: that it does not."""
        assert self.rows is not None
        j, parents = family
        without, changing = self.compared(j, component)
        if not changing:
            return np.ones(0)
        rows = Rows.of([self.rows[e][:, [j, *parents]] for e in without])
        p = mechanism_p_values(rows, changing, self.shared, self.worth)
        return np.asarray(np.minimum(p.min(axis=1) * (2 if parents or self.shared else 1), 1.0))


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
        The rows and targets of the environments. Without rows no direction is decided.
    scores : sequence of callables
        Interventional scores of one node, `score(j, parents)`. All must support a direction: with penalties, and
        without them, because a model in which an experiment changes fewer coefficients has a lower penalty even if the
        experiment changed nothing.
    """
    strength, nothing = np.zeros(len(edges)), np.zeros(len(edges), dtype=bool)
    can_decide = undirected & ~interventional_reversible(edges, experiments.targets, experiments.intervention)
    if experiments.rows is None or not can_decide.any():
        return InterventionEvidence(nothing, strength)
    rises = [rises_of_cost(found, partial(_costs, score)) for score in scores]
    for k in np.flatnonzero(can_decide):
        i, j = int(edges.causes[k]), int(edges.children[k])
        strength[k] = max(min(known[j, i] - known[i, j] for known in rises), 0.0)
    decided = can_decide & (strength >= LEAST_MARGIN)
    decided &= _with_fewer_changes(edges, decided, found, experiments)
    return InterventionEvidence(undirected & ~open_after(edges, undirected, decided), strength)


def _with_fewer_changes(
    edges: Edges, candidates: BoolVector, found: list[Component], experiments: Experiments
) -> BoolVector:
    """Return which candidates have fewer changed mechanisms than every member with the other direction."""
    if not candidates.any():
        return candidates
    nodes = set(edges.causes[candidates].tolist())
    of_node = {j: component for component in found for j in component.nodes.tolist()}
    tested = {j for j, component in of_node.items() if not nodes.isdisjoint(component.nodes.tolist())}

    def changes(families: list[Family]) -> Vector:
        """Return for each family whether its mechanism changes in an experiment; 0 without a candidate."""
        p, number = [], 0
        for j, parents in families:
            component = of_node[j].nodes.tolist()
            # All tests count, so that those of other components are not chosen by their result.
            number += len(experiments.compared(j, component)[1])
            p.append(experiments.p_values((j, parents), component) if j in tested else np.ones(0))
        level = _largest_rejected(np.concatenate(p), number)
        return np.array([float((own <= level).any()) for own in p])

    rises = rises_of_cost(found, changes)
    fewer = np.zeros_like(candidates)
    for k in np.flatnonzero(candidates):
        i, j = int(edges.causes[k]), int(edges.children[k])
        fewer[k] = rises[j, i] - rises[i, j] > 0.5
    return fewer


def _largest_rejected(p: Vector, number: int) -> float:
    """Return the p-value up to which at most a share `FALSE_CHANGES` is false (Benjamini and Hochberg 1995); or -1."""
    ordered = np.sort(p)
    rejected = ordered[ordered <= FALSE_CHANGES * np.arange(1, len(p) + 1) / max(number, 1)]
    return float(rejected[-1]) if len(rejected) else -1.0


def _costs(score: LocalCost, families: list[Family]) -> Vector:
    """Return the costs of nodes given their parents."""
    return np.array([score(j, parents) for j, parents in families])
