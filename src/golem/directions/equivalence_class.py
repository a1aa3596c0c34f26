"""Edge directions that the equivalence class leaves open: evidence in the noise variances, and other members."""

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
    """Return the edges whose direction neither the equivalence class nor knowledge decides."""
    graph = equivalence_class
    if not knowledge.is_empty:
        known = adjacency & (knowledge.required | knowledge.forbidden.T)
        graph = meek_closure(graph & ~(graph & graph.T & known.T))
    return adjacency & graph & graph.T


def without_evidence(
    adjacency: BoolMatrix, S: Matrix, n: int, likelihood: Likelihood, undirected: BoolMatrix
) -> BoolMatrix:
    """Return the edges among the `undirected` ones for whose direction the noise model has no evidence.

    Free noise variances have no evidence for any direction. With equal or tied ones, an edge lacks evidence if it
    points the other way in a member of the equivalence class whose deviance is less than 2 higher (odds of e to 1).
    Each connected component of undirected edges is searched separately, by reversing covered edges, lowest deviance
    first. The number of members visited is limited, so that some undecided edges of a large component can be missed.
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
    """Return the edges within one component that point the other way in a member with a similar score."""
    graph = adjacency[np.ix_(nodes, nodes)]
    elsewhere = adjacency[:, nodes].T
    elsewhere[:, nodes] = False
    outside = [np.nonzero(parents)[0] for parents in elsewhere]

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
                # Rounded, because rounding errors must not decide which members are visited.
                heapq.heappush(waiting, (round(cost(changed), 6), len(seen), turned, changed))
    return weak


def random_member(adjacency: BoolMatrix, undecided: BoolMatrix, rng: np.random.Generator) -> BoolMatrix:
    """Return a random member of the equivalence class: undecided edges point away from a random root.

    If the undecided edges form a tree, all members are equally likely. Otherwise every member can still be drawn.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> members = {random_member(chain, chain, np.random.default_rng(k)).tobytes() for k in range(20)}
    >>> len(members)
    3
    """
    graph = adjacency | undecided.T
    distance = _steps_from_random_roots(undecided | undecided.T, rng)
    # `member_of_class` removes sinks first, the one with the lowest index first: distant nodes get low indices.
    order = np.lexsort((rng.random(len(graph)), -distance))
    block = np.ix_(order, order)
    member = np.zeros_like(graph)
    member[block] = member_of_class(graph[block])
    return member


def _steps_from_random_roots(undirected: BoolMatrix, rng: np.random.Generator) -> Vector:
    """Return the distance of every node to a random root of its component, shape (d,)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    graph, nodes = csr_array(undirected), rng.permutation(len(undirected))
    _, labels = connected_components(graph, directed=False)
    _, first = np.unique(labels[nodes], return_index=True)
    return np.asarray(dijkstra(graph, indices=nodes[first], unweighted=True, min_only=True))
