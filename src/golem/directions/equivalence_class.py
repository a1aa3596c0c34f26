"""Edge directions that the equivalence class leaves open: evidence in the noise variances, and other members."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections.abc import Callable

import numpy as np

from golem.data.knowledge import Knowledge
from golem.graphs.dag import member_of_class
from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag
from golem.runtime.types import BoolMatrix, BoolVector, Indices, Matrix, Vector
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied, Likelihood
from golem.score.regression import Regressions, residual_variance

# A direction has evidence if all members with the other one have a deviance higher by this (odds of e to 1).
LEAST_EVIDENCE = 2.0
_MOST_MEMBERS = 100


def known_edges(edges: Edges, knowledge: Knowledge) -> BoolVector:
    """Return for each edge whether it is required or its reverse is forbidden."""
    if knowledge.is_empty:
        return np.zeros(len(edges), dtype=bool)
    causes, children = edges.causes, edges.children
    return np.asarray(knowledge.required[causes, children] | knowledge.forbidden[children, causes])


def open_edges(edges: Edges, reversible: BoolVector, knowledge: Knowledge) -> BoolVector:
    """Return for each edge whether its direction is decided neither by the equivalence class nor by knowledge."""
    if knowledge.is_empty:
        return reversible
    return open_after(edges, reversible, known_edges(edges, knowledge))


def open_after(edges: Edges, undirected: BoolVector, decided: BoolVector) -> BoolVector:
    """Return which undirected edges stay so if some are decided, with all directions that follow (Meek 1995)."""
    graph = Pdag.from_edges(edges, undirected & ~decided)
    graph.close(fourth=True)
    ends = zip(edges.causes.tolist(), edges.children.tolist(), strict=True)
    return np.array([bool(graph.neighbours[i] >> j & 1) for i, j in ends], dtype=bool)


def evidence_in_variances(
    fit: Regressions, S: Matrix, n: int, likelihood: Likelihood, undirected: BoolVector, rank: Indices | None = None
) -> Vector:
    """Return the evidence of the noise model for the direction of each `undirected` edge, shape (e,).

    Free noise variances have no evidence for any direction. With equal or tied ones, the evidence is the deviance by
    which the best member of the equivalence class with the other direction is worse; at least 0. Each connected
    component of undirected edges is searched separately, by reversing covered edges, lowest deviance first. The number
    of members visited is limited: if none of those of a large component has the other direction, the evidence is that
    against the worst of them.

    Parameters
    ----------
    fit : Regressions
        The edges, and the residual variances at the least-squares weights.
    S : ndarray of shape (d, d)
        The covariance.
    n : int
        Number of rows.
    likelihood : Likelihood
        The noise model.
    undirected : ndarray of shape (e,), bool
        The edges to judge; see `open_edges`.
    rank : ndarray of shape (d,), optional
        The order of the nodes in which members are visited; by default the given one.
    """
    evidence = np.zeros(len(undirected))
    if isinstance(likelihood, GaussianNV) or not undirected.any():
        return evidence
    parents: dict[int, frozenset[int]] = {}
    for j in np.unique([fit.causes[undirected], fit.children[undirected]]).tolist():
        first, last = np.searchsorted(fit.children, [j, j + 1])
        parents[j] = frozenset(fit.causes[first:last].tolist())
    places = np.arange(len(S)) if rank is None else rank
    losses: dict[tuple[int, int], float] = {}
    for pairs in connected_edges(fit.causes[undirected], fit.children[undirected], places):
        nodes = sorted({node for pair in pairs for node in pair}, key=places.__getitem__)
        deviance = local_deviance(nodes, fit.residual_variances, n, likelihood)
        start = {j: parents[j] for j in nodes}
        losses |= _losses_of_reversal(start, pairs, S, fit.residual_variances, deviance)
    ends = zip(fit.causes[undirected].tolist(), fit.children[undirected].tolist(), strict=True)
    evidence[undirected] = [max(losses[end], 0.0) for end in ends]
    return evidence


def connected_edges(causes: Indices, children: Indices, rank: Indices) -> list[list[tuple[int, int]]]:
    """Return the edges of each connected component, sorted by the ranks of their ends."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(causes):
        return []
    graph = coo_array((np.ones(len(causes), dtype=bool), (causes, children)), shape=(len(rank), len(rank)))
    _, labels = connected_components(graph, directed=False)
    order = np.lexsort((rank[children], rank[causes], labels[causes]))
    begins = np.flatnonzero(np.diff(labels[causes[order]])) + 1
    pairs = list(zip(causes[order].tolist(), children[order].tolist(), strict=True))
    return [pairs[i:j] for i, j in itertools.pairwise([0, *begins.tolist(), len(pairs)])]


def local_deviance(nodes: list[int], r: Vector, n: int, likelihood: Likelihood) -> Callable[[Vector], float]:
    """Return the deviance, up to a constant, as a function of the residual variances of some nodes.

    Where the noise model allows it, the cost does not depend on the number of other nodes.
    """
    if isinstance(likelihood, GaussianEV):
        rest = float(r.sum() - r[nodes].sum())
        return lambda some: n * len(r) * math.log(rest + float(some.sum()))
    if isinstance(likelihood, GaussianNV) or (isinstance(likelihood, GaussianTied) and likelihood.is_fixed):
        return lambda some: 2 * n * float(likelihood.on_dag(some))

    def of_all_nodes(some: Vector) -> float:
        changed = r.copy()
        changed[nodes] = some
        return 2 * n * float(likelihood.on_dag(changed))

    return of_all_nodes


def _losses_of_reversal(
    graph: dict[int, frozenset[int]],
    pairs: list[tuple[int, int]],
    S: Matrix,
    r: Vector,
    deviance: Callable[[Vector], float],
) -> dict[tuple[int, int], float]:
    """Return how much higher the deviance is if an edge of one component points the other way.

    `graph` has the parents of each node of the component, `pairs` the edges that may be reversed.
    """
    nodes = list(graph)
    place = {j: k for k, j in enumerate(nodes)}
    variance = functools.cache(lambda j, parents: residual_variance(S, j, np.array(sorted(parents), dtype=np.intp)))
    losses = dict.fromkeys(pairs, math.inf)
    first = tuple(graph.values())
    waiting = [(deviance(r[nodes]), 0, first, r[nodes])]
    lowest, worst, seen = waiting[0][0], 0.0, {first}
    for _ in range(_MOST_MEMBERS):
        if not waiting:
            break
        value, _, member, variances = heapq.heappop(waiting)
        worst = max(worst, value - lowest)
        for i, j in pairs:
            if i not in member[place[j]]:
                losses[i, j] = min(losses[i, j], value - lowest)
        arrows = [(place[i], place[j]) if i in member[place[j]] else (place[j], place[i]) for i, j in pairs]
        for i, j in sorted(arrows):
            if member[j] != member[i] | {nodes[i]}:
                continue  # not covered
            turned, changed = list(member), variances.copy()
            turned[j], turned[i] = member[i], member[i] | {nodes[j]}
            if tuple(turned) in seen:
                continue
            seen.add(tuple(turned))
            # Reversing a covered edge keeps the product of the two residual variances.
            changed[j] = variance(nodes[j], member[i])
            changed[i] = variances[i] * variances[j] / changed[j]
            # Rounded, because rounding errors must not decide which members are visited.
            heapq.heappush(waiting, (round(deviance(changed), 6), len(seen), tuple(turned), changed))
    return {pair: min(loss, worst) for pair, loss in losses.items()}


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
