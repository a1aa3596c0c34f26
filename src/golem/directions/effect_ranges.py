"""Ranges of total effects over all graphs that agree with the directions that have evidence.

A link can point either way, so an effect along it is a range. For every set of parents that a cause has in some graph,
the effect is the coefficient of the cause in the regression of the target on the cause and these parents (IDA:
Maathuis, Kalisch and Bühlmann 2009). Which sets occur is found by directing the links at the cause and all that
follows from them (Perković, Kalisch and Maathuis 2017), so that the range is exact without listing the graphs.

A link that the equivalence class directs, or that follows from other directions, is in doubt if it is given as a link
nevertheless: the structure that directs it has no evidence. Then it counts as open, the triples of nodes with this link
may be colliders or not, and the range is over more graphs than the class has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from golem.graphs.dag import edges_are_acyclic
from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag, members, reached
from golem.runtime.types import BoolVector, Indices, Matrix, Vector

# Sets of parents per cause; with more of them, the effects of the cause are unknown. Signs are found for every screen,
# in a part of a second, and only of graphs with at most so many nodes.
MOST_SETS, _MOST_FOR_SIGNS, _MOST_NODES = 4096, 256, 50
# Smaller standardized weights are zero.
_ZERO = 1e-9


class EffectRanges:
    """The range of every total effect in a graph with arrows and links.

    Parameters
    ----------
    edges : Edges
        The edges of a DAG that agrees with the directions that have evidence.
    links : ndarray of shape (e,), bool
        For each edge: whether its direction has no evidence.
    covariance : array of shape (d, d)
        The covariance of the variables. With the one that a model over the graph implies, the effects are those of the
        model in all members of the equivalence class.
    columns : sequence of arrays, optional
        The columns of the covariance that belong to each node, if there are several; by default the column of the same
        number.
    most_sets : int, optional
        Sets of parents per node; with more of them, nothing is known about it.

    Examples
    --------
    >>> chain = Edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> S = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> low, high = EffectRanges(chain, np.array([True, True]), S).of(0, 2)
    >>> low.item(), high.item()
    (0.0, 0.25)
    """

    def __init__(
        self,
        edges: Edges,
        links: BoolVector,
        covariance: ArrayLike,
        columns: Sequence[Indices] | None = None,
        most_sets: int | None = None,
    ) -> None:
        self._most_sets = MOST_SETS if most_sets is None else most_sets
        self.covariance = np.asarray(covariance, dtype=float)
        self._columns = np.arange(edges.d)[:, None] if columns is None else columns
        self._in_doubt = _triples_in_doubt(edges, links)
        self._graph = Pdag.from_edges(edges, links)
        self._graph.close(ambiguous=self._in_doubt, fourth=True)
        self._found: dict[int, list[Pdag] | None] = {}

    def of(self, source: int, target: int) -> tuple[Matrix, Matrix]:
        """Return the lowest and the highest effect of a source on a target, per column of both; NaN if unknown."""
        source, target = int(source), int(target)  # integers of NumPy have no bits beyond 64
        a, y = self._columns[source], self._columns[target]
        ways = self._ways(source)
        if ways is None:
            unknown = np.full((len(a), len(y)), np.nan)
            return unknown, unknown
        effects = np.stack([effect for way in ways for effect in self._effects(way, source, target)])
        return effects.min(axis=0), effects.max(axis=0)

    def weights(self, source: int, target: int) -> list[float] | None:
        """Return the weights of an edge between numbers in the graphs that direct it so; None if there are too many."""
        source, target = int(source), int(target)
        ways = self._ways(target)
        if ways is None:
            return None
        sets = {way.parents[target] for way in ways}
        causes = [[source, *members(own & ~(1 << source))] for own in sets if own >> source & 1]
        S = self.covariance
        return [np.linalg.lstsq(S[np.ix_(own, own)], S[own, target], rcond=None)[0][0] for own in causes]

    def reaching(self, target: int) -> list[int]:
        """Return the nodes that may have an effect on a target, in increasing order."""
        graph = self._graph
        near = [parents | lines for parents, lines in zip(graph.parents, graph.neighbours, strict=True)]
        return list(members(reached(near, int(target)) & ~(1 << int(target))))

    def _ways(self, source: int) -> list[Pdag] | None:
        """Return a graph for every set of parents that a node can have; None if there are too many."""
        if source not in self._found:
            sets = self._parent_sets(source)
            found = None if sets is None else [way for own in sets if (way := self._directed(source, own)) is not None]
            # No way is left only if the given directions contradict each other; then nothing is known.
            self._found[source] = found or None
        return self._found[source]

    def _parent_sets(self, x: int) -> list[int] | None:
        """Return the sets of linked neighbours that can be parents together: without a new collider at the node."""
        graph, sets = self._graph, [0]
        for a in members(graph.neighbours[x]):
            joined = graph.adjacent[a] | self._in_doubt.get((x, a), 0) | 1 << a
            sets += [own | 1 << a for own in sets if not (own | graph.parents[x]) & ~joined]
            if len(sets) > self._most_sets:
                return None
        return sets

    def _directed(self, x: int, own: int) -> Pdag | None:
        """Return the graph in which exactly these linked neighbours of x are its parents; None if there is none."""
        lines = self._graph.neighbours[x]
        if not lines:
            return self._graph
        graph = self._graph.copy()
        for a in members(lines):
            graph.add_arrow(*((a, x) if own >> a & 1 else (x, a)))
        near = lines | 1 << x
        for a in members(lines):  # Meek's fourth rule reads edges two steps away
            near |= graph.neighbours[a]
        graph.close(near, self._in_doubt, fourth=True)
        is_new = len(graph.conflicts()) > len(self._graph.conflicts())
        return None if is_new or graph.parents[x] & reached(graph.children, x) else graph

    def _effects(self, graph: Pdag, source: int, target: int) -> list[Matrix]:
        """Return the effects given the parents of the source, per column of source and target: one, and perhaps none.

        Along links in doubt, some graph may have no path to the target, although the covariance suggests an effect.
        """
        a, y = self._columns[source], self._columns[target]
        ahead = [children | lines for children, lines in zip(graph.children, graph.neighbours, strict=True)]
        possible, none = reached(ahead, source), np.zeros((len(a), len(y)))
        if graph.parents[source] >> target & 1 or not possible >> target & 1:
            return [none]
        used = np.concatenate([a, *(self._columns[i] for i in members(graph.parents[source]))])
        S = self.covariance
        found: Matrix = np.linalg.lstsq(S[np.ix_(used, used)], S[np.ix_(used, y)], rcond=None)[0]
        in_doubt = any((possible | 1 << source) >> j & 1 for j, _ in self._in_doubt)
        is_sure = not in_doubt or reached(graph.children, source) >> target & 1
        return [found[: len(a)], *([] if is_sure else [none])]


def open_signs(edges: Edges, links: BoolVector, weights: Vector, variances: Vector) -> BoolVector:
    """Return which edges are positive in some graphs that agree with the known directions, and negative in others.

    Where there are too many such graphs or nodes, or categories, no sign is called open.

    Examples
    --------
    The weight from 1 to 2 is negative given 0, but the two are positively correlated:

    >>> edges = Edges(np.array([0, 0, 1]), np.array([1, 2, 2]), 3)
    >>> open_signs(edges, np.array([True, True, True]), np.array([1.0, 1.0, -0.3]), np.ones(3)).tolist()
    [False, False, True]
    """
    found = np.zeros(len(edges), dtype=bool)
    if not links.any() or edges.d > _MOST_NODES or not np.isfinite([*weights, *variances]).all():
        return found
    if not edges_are_acyclic(edges.causes, edges.children, edges.d):
        return found
    with np.errstate(all="ignore"):
        covariance = implied_covariance(edges, weights, variances, range(edges.d))
        scale = np.sqrt(np.diagonal(covariance))
        correlations = covariance / np.outer(scale, scale)
    if not np.isfinite(correlations).all():  # as those of variances that are not positive
        return found
    ranges = EffectRanges(edges, links, correlations, most_sets=_MOST_FOR_SIGNS)
    for k, ((i, j), is_link) in enumerate(zip(edges.pairs(), links.tolist(), strict=True)):
        ways = [ranges.weights(i, j), *([ranges.weights(j, i)] if is_link else [])]
        values = [weight for way in ways for weight in way or ()]
        found[k] = min(values, default=0.0) < -_ZERO and max(values, default=0.0) > _ZERO
    return found


def implied_covariance(edges: Edges, weights: Vector, variances: Vector, nodes: Sequence[int]) -> Matrix:
    """Return the covariance that a model implies for some nodes that include all their parents, in their order."""
    place = np.full(edges.d, -1)
    place[nodes] = np.arange(len(nodes))
    inside = place[edges.children] >= 0
    B = np.zeros((len(nodes), len(nodes)))
    B[place[edges.causes[inside]], place[edges.children[inside]]] = weights[inside]
    effects = np.linalg.inv(np.eye(len(nodes)) - B)
    return np.asarray(effects.T * variances[nodes] @ effects)


def _triples_in_doubt(edges: Edges, links: BoolVector) -> dict[tuple[int, int], int]:
    """Return the unshielded triples that need not be colliders or not, as shown: by the middle and an end, other ends.

    These have a link that the class and the other directions would direct.
    """
    graph = Pdag.from_edges(edges, links & edges.find_reversible())
    graph.close(fourth=True)
    doubted = [0] * edges.d
    for (i, j), is_link in zip(edges.pairs(), links.tolist(), strict=True):
        if is_link and not graph.neighbours[i] >> j & 1:
            doubted[i] |= 1 << j
            doubted[j] |= 1 << i
    found: dict[tuple[int, int], int] = {}
    for j in (j for j, own in enumerate(doubted) if own):
        for a in members(graph.adjacent[j]):
            others = graph.adjacent[j] if doubted[j] >> a & 1 else doubted[j]
            if apart := others & ~(graph.adjacent[a] | 1 << a):
                found[j, a] = apart
    return found
