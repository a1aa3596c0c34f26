"""What the rows of experiments say about a mechanism: whether it changes where it must not.

A DAG claims that the mechanism of each node, its regression on its parents, is the same in all environments that do not
target the node. With hard interventions it also claims that targets do not depend on their parents.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from golem.data.inputs import numpy_rows
from golem.directions.equivalence_class import Family, parent_lists
from golem.directions.mechanism_tests import GroupedRows, dependence_p_value, mechanism_p_values
from golem.directions.residual_tests import normality_test
from golem.graphs.interventional import Intervention
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.node_score import NodeScore

if TYPE_CHECKING:
    from golem.directions.learned_graph import LearnedGraph
    from golem.graphs.edges import Edges

# With fewer rows and heavy tails, the tests of an environment reject too often; that of normality needs about as many.
_FEWEST_ROWS = 20
# Level at which hard interventions are found not to be hard, for all targets together.
LEVEL_OF_DEPENDENCE = 0.01


class Shift(NamedTuple):
    """How the mechanism of a variable in one environment differs from that in others.

    Parameters
    ----------
    environment, node : int
        Numbers of the environment and of the variable.
    is_target : bool
        Whether the environment targets the variable.
    p_values : tuple of float
        Of the tests of the intercept (or of intercept and slopes together), the slopes and the variance; NaN where
        there is nothing to test.
    """

    environment: int
    node: int
    is_target: bool
    p_values: tuple[float, float, float]


class DependentTarget(NamedTuple):
    """A target of a hard intervention that still depends on its parents, and the share of its variance they explain."""

    environment: int
    node: int
    r2: float


@dataclass(frozen=True)
class Hardness:
    """Whether targets of hard interventions depend on parents whose direction does not follow from hardness.

    Parameters
    ----------
    tested : int
        Number of targets with such parents.
    dependent : tuple of DependentTarget
        Those that depend on them, the most dependent first.
    """

    tested: int = 0
    dependent: tuple[DependentTarget, ...] = ()

    @property
    def is_refuted(self) -> bool:
        """Whether half of the targets are dependent; a few can be, because some parents are wrong."""
        return self.tested > 0 and 2 * len(self.dependent) >= self.tested

    @property
    def is_supported(self) -> bool:
        """Whether it was tested and not refuted."""
        return self.tested > 0 and not self.is_refuted

    @property
    def doubtful(self) -> set[int]:
        """The nodes that are dependent where they are targets."""
        return {one.node for one in self.dependent}


@dataclass(frozen=True, eq=False)
class Experiments:
    """The complete rows and the targets of environments.

    Parameters
    ----------
    rows : sequence of ndarray of shape (n_e, d)
        The rows of each environment.
    targets : sequence of collections of int
        The targets of each environment.
    intervention : {"soft", "hard"}
        Whether targets still depend on their parents.
    shared : bool
        Whether the intercepts of a mechanism are equal in all environments that do not target it.
    worth : float
        How many independent rows a row is worth.
    first : ndarray of shape (d + 1,), optional
        Node j has the columns first[j], ..., first[j + 1] - 1; by default one column each.
    untested : frozenset of int
        Nodes whose mechanism is not tested: categories, whose probabilities are not linear in their parents.
    """

    rows: Sequence[Matrix]
    targets: Sequence[Collection[int]]
    intervention: Intervention = "soft"
    shared: bool = False
    worth: float = 1.0
    first: Indices | None = None
    untested: frozenset[int] = frozenset()

    def sampled(self, most: int) -> Experiments:
        """Return the experiments with at most so many rows per environment, chosen whatever their order is."""
        return replace(self, rows=[_sample(rows, most) for rows in self.rows])

    def changes(self, family: Family, component: Collection[int]) -> Vector:
        """Return the p-values of no change in the environments that do not target a node but others of its component.

        Each is compared with all others that do not target the node. Experiments on other components change nothing.
        """
        without = self._usable(family[0])
        if family[0] in self.untested:
            return np.ones(0)
        changing = [
            k
            for k, e in enumerate(without)
            if len(self.rows[e]) >= _FEWEST_ROWS and not set(self.targets[e]).isdisjoint(component)
        ]
        return self._compared(family, without, changing) if changing and len(without) > 1 else np.ones(0)

    def contradictions(self, family: Family) -> Vector:
        """Return the p-values of a node that, where a hard intervention targets it, depends on its parents and changes.

        Without the change, an experiment that did nothing would be strong evidence that the node has no parents.
        """
        j, parents = family
        without, found = self._usable(j), []
        if not (parents and without) or j in self.untested:
            return np.ones(0)
        for e in self._targeting(j):
            if len(self.rows[e]) < _FEWEST_ROWS:
                continue
            p = dependence_p_value(self._columns(e, j, parents), self.worth)
            found.append(max(p, float(self._compared(family, [e, *without], [0])[0])))
        return np.array(found)

    def hardness(self, parents: Sequence[Sequence[int]]) -> Hardness:
        """Test whether targets depend on the given parents."""
        cases, p = [], []
        for j, own in enumerate(parents):
            for e in self._targeting(j) if own and j not in self.untested else []:
                rows = self._columns(e, j, own)
                cases.append(DependentTarget(e, j, _share_explained(rows)))
                p.append(dependence_p_value(rows, self.worth))
        wrong = [case for case, one in zip(cases, p, strict=True) if one * len(p) < LEVEL_OF_DEPENDENCE]
        return Hardness(len(cases), tuple(sorted(wrong, key=lambda case: -case.r2)))

    def effects(self, parents: Sequence[Sequence[int]]) -> list[Shift]:
        """Compare the mechanism of every target with that in the observational environments, or in all others.

        The first p-value is that of the intercept and the slopes together.
        """
        observational = [e for e, own in enumerate(self.targets) if not own and len(self.rows[e]) > 1]
        found = []
        for j, own in enumerate(parents):
            for e in self._targeting(j) if j not in self.untested else []:
                if others := observational or self._usable(j):
                    rows = GroupedRows.of([self._columns(k, j, own) for k in (e, *others)])
                    slopes, scale = mechanism_p_values(rows, [0], worth=self.worth)[0]
                    both = mechanism_p_values(rows, [0], shared=True, worth=self.worth)[0, 0]
                    found.append(Shift(e, j, True, (both, slopes if own else math.nan, scale)))
        return found

    def _compared(self, family: Family, environments: Sequence[int], places: Sequence[int]) -> Vector:
        """Return the p-values of no change of a mechanism, for some of the environments against all others."""
        j, parents = family
        rows = GroupedRows.of([self._columns(e, j, parents) for e in environments])
        p = mechanism_p_values(rows, places, self.shared, self.worth)
        return np.asarray(np.minimum(p.min(axis=1) * (2 if parents or self.shared else 1), 1.0))

    def _columns(self, e: int, j: int, parents: Sequence[int]) -> Matrix:
        """Return the columns of a node and of its parents in one environment."""
        nodes = [j, *parents]
        if self.first is not None:
            nodes = [column for i in nodes for column in range(self.first[i], self.first[i + 1])]
        return self.rows[e][:, nodes]

    def _usable(self, j: int) -> list[int]:
        """Return the environments with rows that do not target a node."""
        return [e for e, own in enumerate(self.targets) if j not in own and len(self.rows[e]) > 1]

    def _targeting(self, j: int) -> list[int]:
        """Return the environments with rows that target a node."""
        return [e for e, own in enumerate(self.targets) if j in own and len(self.rows[e]) > 1]


def experiments_of(score: NodeScore) -> Experiments | None:
    """Return the experiments of a table with the complete rows of each environment; None if there are none."""
    if "interventions" not in score.evidence():
        return None
    table, coding = score.table, score.table.coding
    found = [part.read_rows() for part in table.parts]
    if any(rows is None for rows in found):
        return None
    rows = [numpy_rows(own) for own in found if own is not None]
    complete = [own[~np.isnan(own).any(axis=1)] for own in rows]
    # Rows of a bootstrap resample are worth fewer independent ones. After EM, incomplete rows count too.
    worth = 1.0
    for part, own, whole in zip(table.parts, complete, rows, strict=True):
        moments = part.moments
        known, given = (moments.n, own) if moments.patterns is None else (moments.patterns.counts.sum(), whole)
        worth = min(worth, float(known) / max(len(given), 1))
    return Experiments(
        [coding.expand(own) for own in complete],
        table.targets,
        score.intervention,
        score.intercepts == "shared",
        worth,
        coding.first,
        frozenset(np.flatnonzero(coding.levels).tolist()),
    )


def _sample(rows: Matrix, most: int) -> Matrix:
    """Return the rows with the smallest hashes; these depend neither on the order of rows nor on that of columns."""
    if len(rows) <= most:
        return rows
    bits = np.ascontiguousarray(rows).view(np.uint64)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):  # those of splitmix64
        bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(factor)
    return np.asarray(rows[np.argsort(bits.sum(axis=1), kind="stable")[:most]])


def _share_explained(rows: Matrix) -> float:
    """Return the share of the variance of the first column that the others explain."""
    centred = rows - rows.mean(axis=0)
    total = float(centred[:, 0] @ centred[:, 0])
    left = centred[:, 0] - centred[:, 1:] @ np.linalg.lstsq(centred[:, 1:], centred[:, 0])[0]
    return 1 - float(left @ left) / total if total > 0 else 0.0


# More targets are not compared with their mechanisms elsewhere.
_MOST_TARGETS = 1000


@dataclass(frozen=True, eq=False)
class ExperimentChecks:
    """Tests of experiments that need rows.

    Parameters
    ----------
    effects : tuple of Shift
        How the mechanisms of the targets differ from those in other environments, for noise of any shape; empty if
        there are more than 1000 targets.
    normality : ndarray of shape (environments, d)
        P-values of normal residuals in each environment; NaN for its targets and for environments with few rows.
    """

    effects: tuple[Shift, ...]
    normality: Matrix


def check_experiments(experiments: Experiments, graph: LearnedGraph) -> ExperimentChecks:
    """Return the tests of the experiments of a learned graph."""
    few = sum(map(len, experiments.targets)) <= _MOST_TARGETS
    effects = experiments.effects(parent_lists(graph)) if few else []
    return ExperimentChecks(tuple(effects), _normality(experiments, graph, graph.weights))


def _normality(experiments: Experiments, edges: Edges, weights: Matrix) -> Matrix:
    """Return the p-values of normal residuals in each environment."""
    from scipy.sparse import csr_array

    # Categories have no normal noise, and their effects are not weights.
    unknown = [*experiments.untested, *edges.children[np.isnan(weights)]]
    columns = np.arange(edges.d) if experiments.first is None else experiments.first[:-1]
    explain = csr_array((np.nan_to_num(weights), (edges.children, edges.causes)), shape=(edges.d, edges.d))  # B'
    p = np.full((len(experiments.rows), edges.d), np.nan)
    for e, (rows, targets) in enumerate(zip(experiments.rows, experiments.targets, strict=True)):
        if len(rows) >= _FEWEST_ROWS:
            centred = rows[:, columns] - rows[:, columns].mean(axis=0)
            p[e] = normality_test(centred - (explain @ centred.T).T)
            p[e, [*targets, *unknown]] = np.nan
    return p
