"""Directions that the equivalence class leaves open: whether the noise variances decide them, and other members."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from golem.data.knowledge import Knowledge
from golem.graphs.dag import meek_closure, member_of_class
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.likelihood import GaussianNV, Likelihood
from golem.score.regression import regressions, residual_variance

_LEAST_EVIDENCE = 2.0
_MOST_MEMBERS = 100


def open_directions(adjacency: BoolMatrix, equivalence_class: BoolMatrix, knowledge: Knowledge) -> BoolMatrix:
    """Return the edges that the equivalence class leaves undirected, less those that knowledge directs."""
    graph = equivalence_class
    if not knowledge.is_empty:
        known = adjacency & (knowledge.required | knowledge.forbidden.T)
        graph = meek_closure(graph & ~(graph & graph.T & known.T))
    return adjacency & graph & graph.T


def without_evidence(
    adjacency: BoolMatrix, S: Matrix, n: int, likelihood: Likelihood, undirected: BoolMatrix
) -> BoolMatrix:
    """Edges for whose direction, where the equivalence class leaves it open, the noise model has no evidence either.

    Free variances have none for any edge. Under equal and tied ones these are the edges that point the other way in
    some member of the class whose deviance is less than 2 higher, odds of e to 1. Members are visited from the cheapest
    on, along reversals of covered edges, component by component of the open edges, up to a limit: in a dense component,
    which can have very many members, an edge may pass as decided that is not.

    Parameters
    ----------
    adjacency, undirected : ndarray of shape (d, d), bool
        The graph, and its edges whose direction is open.
    S, n : ndarray of shape (d, d), int
        Covariance and number of rows.
    likelihood : Likelihood
        The noise model.
    """
    if isinstance(likelihood, GaussianNV) or not undirected.any():
        return undirected.copy()
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    weak = np.zeros_like(adjacency)
    r = regressions(adjacency, S).residual_variances
    _, labels = connected_components(csr_array(undirected), directed=False)
    for label in np.nonzero(np.bincount(labels) > 1)[0]:
        nodes = np.nonzero(labels == label)[0]
        block = np.ix_(nodes, nodes)
        weak[block] |= _undecided_within(nodes, adjacency, undirected[block], S, n, likelihood, r)
    return weak


def _undecided_within(
    nodes: NDArray[np.intp],
    adjacency: BoolMatrix,
    undirected: BoolMatrix,
    S: Matrix,
    n: int,
    likelihood: Likelihood,
    r: Vector,
) -> BoolMatrix:
    """Edges among some nodes that point the other way in a member of the class that costs little more."""
    graph = adjacency[np.ix_(nodes, nodes)]
    beyond = adjacency[:, nodes].T
    beyond[:, nodes] = False
    outside = [np.nonzero(parents)[0] for parents in beyond]

    def variance(j: int, parents: BoolMatrix) -> float:
        where = np.concatenate([outside[j], nodes[parents]])
        return residual_variance(S, nodes[j], where)

    def cost(r: Vector) -> float:
        return 2 * n * float(likelihood.on_dag(r))

    weak = np.zeros_like(graph)
    waiting = [(cost(r), 0, graph, r)]
    limit, seen = cost(r) + _LEAST_EVIDENCE, {graph.tobytes()}
    for _ in range(_MOST_MEMBERS):
        if not waiting:
            break
        deviance, _, member, variances = heapq.heappop(waiting)
        if deviance < limit:
            weak |= graph & ~member
        for i, j in np.argwhere(member & (undirected | undirected.T)):
            parents = member[:, i].copy()
            parents[i] = True
            if not (np.array_equal(parents, member[:, j]) and np.array_equal(outside[i], outside[j])):
                continue  # not covered
            parents[i] = False
            turned, changed = member.copy(), variances.copy()
            turned[:, j] = parents
            changed[nodes[j]] = variance(j, parents)
            parents[j] = True
            turned[:, i] = parents
            changed[nodes[i]] = variance(i, parents)
            if turned.tobytes() not in seen:
                seen.add(turned.tobytes())
                heapq.heappush(waiting, (cost(changed), len(seen), turned, changed))
    return weak


def random_member(adjacency: BoolMatrix, undecided: BoolMatrix, rng: np.random.Generator) -> BoolMatrix:
    """Direct the undecided edges anew, away from a node drawn at random: no new collider, no cycle.

    In a tree of undecided edges every member of the class has one root and each is as likely; in denser ones none is
    excluded.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> members = {random_member(chain, chain, np.random.default_rng(k)).tobytes() for k in range(20)}
    >>> len(members)
    3
    """
    graph = adjacency | undecided.T
    distance = _steps_from_random_roots(undecided | undecided.T, rng)
    # Sinks are taken away first, the lowest number first: so far-off nodes get low numbers.
    order = np.lexsort((rng.random(len(graph)), -distance))
    block = np.ix_(order, order)
    member = np.zeros_like(graph)
    member[block] = member_of_class(graph[block])
    return member


def _steps_from_random_roots(undirected: BoolMatrix, rng: np.random.Generator) -> Vector:
    """Count the steps of every node from a root drawn in its component."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    graph, nodes = csr_array(undirected), rng.permutation(len(undirected))
    _, labels = connected_components(graph, directed=False)
    _, first = np.unique(labels[nodes], return_index=True)
    return np.asarray(dijkstra(graph, indices=nodes[first], unweighted=True, min_only=True))
