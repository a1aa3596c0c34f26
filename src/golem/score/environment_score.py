"""The score of a graph in several environments, and the regressions of its nodes.

Environment e changes the mechanisms of its targets T_e. A node j is scored on the environments that do not target it,
pooled: n_j log r_j + penalty, with r_j the residual variance of j given its parents. This is exact for hard
interventions, which cut the influence of the parents (Hauser and Buhlmann 2012). A soft intervention keeps the parents
but changes how j depends on them: every environment that targets j adds n_e log r_je, from a regression of its own,
with its own coefficients in the penalty. Without this term the wrong arrow can win, because an environment that is left
out for j but not for its neighbour makes them look less dependent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from golem.data.moments import Moments
from golem.data.table import Intercepts, Intervention, Table
from golem.runtime.types import Indices, Matrix, Vector
from golem.score.node_scores import GaussianBlocks, gaussian_blocks
from golem.score.regression import Regressions, regress_edges, standard_errors
from golem.score.sparsity import L0


def environment_score(
    environments: Table,
    sparsity: L0 | None = None,
    intervention: Intervention = "soft",
    intercepts: Intercepts = "separate",
) -> GaussianBlocks:
    """Return the cost of every node given its parents, in units of the deviance.

    There is one matrix per set of environments that do not target a node and, for soft interventions, one per
    environment with targets.

    Examples
    --------
    >>> from golem.data.moments import Moments
    >>> def example(noise):  # x -> y with slope 1
    ...     return Moments.from_covariance([[1.0, 1.0], [1.0, 1.0 + noise]], 1000, names=["x", "y"])
    >>> both = Table.of({"control": example(1.0), "louder": example(1.2)}, {"control": [], "louder": ["y"]})
    >>> for kind in ("soft", "hard"):
    ...     score = environment_score(both, L0(0.0), kind)  # without a penalty
    ...     right, wrong = score.cost(0, []) + score.cost(1, [0]), score.cost(1, []) + score.cost(0, [1])
    ...     print(kind, round(wrong - right))
    soft 6
    hard -600
    """
    matrices: list[Matrix] = []
    rows: list[int] = []
    terms: list[list[int]] = [[] for _ in range(environments.d)]

    def add(which: tuple[int, ...], nodes: list[int]) -> None:
        pool = environments.pooled(which, intercepts)
        for j in nodes:
            terms[j].append(len(matrices))
        matrices.append(pool.covariance)
        rows.append(pool.n)

    for which, nodes in environments.groups().items():
        add(which, nodes)
    if intervention == "soft":
        for e, targets in enumerate(environments.targets):
            if targets:
                add((e,), list(targets))
    return gaussian_blocks(matrices, rows, terms=terms, sparsity=sparsity)


def regress_environments(
    environments: Table, children: Indices, causes: Indices, intercepts: Intercepts = "separate"
) -> Regressions:
    """Regress every node on its parents, given as edges grouped by child, in the environments that do not target it."""
    weights, r = np.zeros(len(children)), np.empty(environments.d)
    for part in _groups(environments, children, causes, intercepts):
        found = regress_edges(part.children, part.causes, part.pool.covariance)
        weights[part.edges], r[part.nodes] = found.weights, found.residual_variances[part.places]
    return Regressions(children, causes, weights, r)


def environment_standard_errors(environments: Table, fit: Regressions, intercepts: Intercepts = "separate") -> Vector:
    """Return the standard error of every weight of `regress_environments`."""
    errors = np.full(len(fit.weights), np.nan)
    for part in _groups(environments, fit.children, fit.causes, intercepts):
        r = np.ones(part.pool.d)
        r[part.places] = fit.residual_variances[part.nodes]
        own = Regressions(part.children, part.causes, fit.weights[part.edges], r)
        # The means are subtracted from n already.
        errors[part.edges] = standard_errors(own, part.pool.covariance, part.pool.n + 1)
    return errors


class _Group(NamedTuple):
    """Nodes that are scored on the same environments, and the edges into them.

    `pool` has only the columns of these nodes and of their parents. `places`, `children` and `causes` count these.
    """

    nodes: list[int]
    edges: Indices
    pool: Moments
    places: Indices
    children: Indices
    causes: Indices


def _groups(environments: Table, children: Indices, causes: Indices, intercepts: Intercepts) -> Iterator[_Group]:
    """Yield the nodes and edges by the set of environments that do not target the child."""
    for which, nodes in environments.groups().items():
        edges = np.flatnonzero(np.isin(children, nodes))
        columns = np.union1d(nodes, causes[edges]).astype(np.intp)
        places = [np.searchsorted(columns, some) for some in (nodes, children[edges], causes[edges])]
        yield _Group(nodes, edges, environments.pooled(which, intercepts, columns), *places)
