"""What the rows of experiments say about the learned graph. A model keeps this for its checks, as it keeps no rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from golem.directions.experiments import Experiments, Shift
from golem.directions.members import parent_lists
from golem.directions.normality import normality_test
from golem.runtime.types import Matrix

if TYPE_CHECKING:
    from golem.directions.learned_graph import LearnedGraph
    from golem.graphs.edges import Edges

# The test of normality needs about so many rows.
_FEWEST_ROWS = 20
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
