"""Greedy equivalence search on correlations, with the caches that make it fast (Chickering 2002, Ramsey et al. 2017).

The score of a graph (lower is better) is, in units of -2 log-likelihood and up to a constant,

    sum over nodes v of  n log r_v + penalty k_v,

where r_v is the variance of v given its k_v parents. It is the same for all members of an equivalence class. An edge
x -> y with the other parents P of y changes it by n log(1 - rho^2) + penalty, where rho is the partial correlation of x
and y given P. One inversion of the correlations within P gives this for all x.

An operator is (x, y, C), where C is the set of neighbours of y that become or are its parents. C is a clique, so all
operators into y come from the cliques among its neighbours, and all x of one clique share P = C + parents of y.
The operators of a node are computed again only after its parents, its neighbours or the edges among them have changed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.baselines.equivalence_class import EquivalenceClass
from golem.data.knowledge import Knowledge
from golem.graphs.dag import cpdag
from golem.graphs.pdag import bits_of, bits_to_columns, column_bits, members
from golem.runtime.types import BoolMatrix, Matrix, Vector

# Gain in score, source, clique.
Operator = tuple[float, int, int]
# Minus the gain, target, position in the list of operators of the target, and version of that list.
Entry = tuple[float, int, int, int]
# Nodes whose operators have changed (none if nothing was applied), and nodes that must change before a retry.
Outcome = tuple[int, int]
ANY_NODE = -1
# A standardized column with a smaller variance than this given others counts as their linear combination.
COLLINEAR = 1e-10


@dataclass
class EdgeScores:
    """The gain of an edge from the correlations R of shape (d, d), the number n of rows and the penalty per edge."""

    R: Matrix
    n: int
    penalty: float
    computed: int = 0

    def gains(self, y: int, given: list[int]) -> Vector:
        """Return by how much each x lowers the score of y as a parent in addition to the given ones, shape (d,).

        The gain is minus infinity if x or y is a linear combination of the given nodes.
        """
        self.computed += 1
        R = self.R
        residual, covariance = np.ones(len(R)), R[y]
        if given:
            factor = self._factor(given)
            if factor is None:
                return np.full(len(R), -np.inf)
            explained = np.linalg.inv(factor) @ R[given]
            residual = 1.0 - np.einsum("ij,ij->j", explained, explained)
            covariance = covariance - explained[:, y] @ explained
        possible = (residual > COLLINEAR) & (residual[y] > COLLINEAR)
        possible[y] = False
        rho2 = np.divide(covariance**2, residual * residual[y], out=np.zeros(len(R)), where=possible)
        return np.where(possible, self._gain_of(rho2), -np.inf)

    def gain(self, x: int, y: int, given: list[int]) -> float:
        """Return by how much x lowers the score of y as a parent in addition to the given ones."""
        self.computed += 1
        factor = self._factor([*given, x, y])
        if factor is None:
            return np.inf
        shared, own = factor[-1, -2] ** 2, factor[-1, -1] ** 2  # variance of y explained by x, and the rest
        return float(self._gain_of(shared / (shared + own)))

    def _gain_of(self, rho2: Any) -> Any:
        """Return the gain of an edge with a squared partial correlation."""
        return -self.n * np.log1p(-np.minimum(rho2, 1.0 - COLLINEAR)) - self.penalty

    def _factor(self, nodes: list[int]) -> Matrix | None:
        """Return the Cholesky factor of the correlations of some nodes; None if they are linearly dependent."""
        try:
            factor = np.linalg.cholesky(self.R[np.ix_(nodes, nodes)])
        except np.linalg.LinAlgError:
            return None
        return np.asarray(factor, dtype=float) if np.diagonal(factor).min() ** 2 > COLLINEAR else None


class GreedySearch:
    """Forward and backward phase over equivalence classes.

    No node gets more than `most_parents` parents. With knowledge, the search starts from the class of the required
    edges and visits only classes with a member that obeys the knowledge.
    """

    def __init__(self, scores: EdgeScores, most_parents: int, knowledge: Knowledge | None = None) -> None:
        d = len(scores.R)
        self.scores = scores
        self.most_parents = most_parents
        self.graph = EquivalenceClass(d)
        self.knowledge = None if knowledge is None or knowledge.is_empty else KnownEdges(knowledge)
        # cached[y]: for each present set of other parents of y, the sources with positive gains and these gains.
        self._cached: list[dict[int, tuple[NDArray[np.intp], Vector]]] = [{} for _ in range(d)]
        # The path that made an insertion impossible when it was last tried.
        self._paths: dict[tuple[int, int], list[int]] = {}
        if self.knowledge is not None:
            self.graph = self.knowledge.start()

    def run(self) -> EquivalenceClass:
        """Insert edges while that lowers the score, then delete edges while that does."""
        self._climb(self._insertions, self._insert)
        self._cached.clear()
        self._climb(self._deletions, self._delete)
        return self.graph

    def member(self) -> BoolMatrix:
        """Return a DAG of the present class that obeys the knowledge."""
        parents = self.graph.extension() if self.knowledge is None else self.knowledge.member(self.graph)
        assert parents is not None  # every visited class has one
        return bits_to_columns(parents)

    def _climb(
        self, operators_into: Callable[[int], list[Operator]], apply: Callable[[int, int, int], Outcome]
    ) -> None:
        """Apply the best valid operator until none lowers the score."""
        d = len(self.graph.adjacent)
        queues: list[list[Operator]] = [[] for _ in range(d)]
        version, queued = [0] * d, [0] * d
        heap: list[Entry] = []
        # Invalid operators: those at the nodes whose change may make them valid, and those to retry after any change.
        waiting: list[list[Entry]] = [[] for _ in range(d)]
        asleep: set[Entry] = set()
        aside: list[Entry] = []

        def enqueue_next(y: int) -> None:
            place = queued[y]
            if place < len(queues[y]):
                heapq.heappush(heap, (-queues[y][place][0], y, place, version[y]))
                queued[y] += 1

        changed = (1 << d) - 1
        while True:
            for y in members(changed):
                # An entry can be listed twice, or may have been retried through another node.
                aside += asleep.intersection(waiting[y])
                asleep.difference_update(waiting[y])
                waiting[y] = []
                queues[y], queued[y] = operators_into(y), 0
                version[y] += 1
                enqueue_next(y)
            for entry in aside:
                heapq.heappush(heap, entry)
            changed, aside = 0, []
            while not changed:
                if not heap:
                    return
                entry = heapq.heappop(heap)
                _, y, place, made = entry
                if made != version[y]:
                    continue
                if queued[y] == place + 1:
                    enqueue_next(y)
                _, x, clique = queues[y][place]
                changed, waits_for = apply(x, y, clique)
                if waits_for == ANY_NODE:
                    aside.append(entry)
                elif waits_for:
                    asleep.add(entry)
                    for v in members(waits_for):
                        waiting[v].append(entry)

    def _insertions(self, y: int) -> list[Operator]:
        """Return the insertions into y that lower the score, best first; `_insert` checks the paths."""
        graph, d = self.graph, len(self.graph.adjacent)
        around, parents = graph.neighbours[y], graph.parents[y]
        cached, self._cached[y] = self._cached[y], {}
        barred = graph.adjacent[y] | 1 << y | (0 if self.knowledge is None else self.knowledge.never[y])
        found: list[Operator] = []
        room = self.most_parents - 1 - parents.bit_count()  # in the clique, if x becomes a parent too
        if room < 0:
            return []
        for clique in graph.cliques(around, room):
            given = parents | clique
            if given not in cached:
                gains = self.scores.gains(y, list(members(given)))
                sources = np.nonzero(gains > 0)[0]
                cached[given] = sources, gains[sources]
            sources, gains = self._cached[y][given] = cached[given]
            excluded = barred
            for w in members(around & ~clique):
                excluded |= graph.adjacent[w]
            free = ~as_mask(excluded, d)[sources]
            found += zip(gains[free].tolist(), sources[free].tolist(), repeat(clique))
        return sorted(found, key=itemgetter(0), reverse=True)

    def _insert(self, x: int, y: int, clique: int) -> Outcome:
        """Apply Insert(x, y, clique) if it is valid."""
        graph, known = self.graph, self.knowledge
        if not graph.may_insert(x, y, clique):
            return 0, 0
        path = self._paths.get((y, x))
        if not path or not graph.is_open(path, clique):
            path = self._paths[y, x] = graph.open_path(y, x, clique)
        if path:
            return 0, bits_of(path)
        if known is None:
            return graph.insert(x, y, clique), 0
        if known.forbid_insertion(graph, x, y, clique):
            return 0, ANY_NODE
        return self._keep_if_obeyed(lambda: graph.insert(x, y, clique))

    def _deletions(self, y: int) -> list[Operator]:
        """Return the deletions of edges into y that lower the score, best first."""
        graph = self.graph
        found = []
        required = 0 if self.knowledge is None else self.knowledge.joined[y]
        for x in members((graph.parents[y] | graph.neighbours[y]) & ~required):
            for clique in graph.cliques(graph.neighbours[y] & graph.adjacent[x]):
                given = (graph.parents[y] | clique) & ~(1 << x)
                gain = -self.scores.gain(x, y, list(members(given)))
                if gain > 0:
                    found.append((gain, x, clique))
        return sorted(found, reverse=True)

    def _delete(self, x: int, y: int, clique: int) -> Outcome:
        """Apply Delete(x, y, clique), which is always valid."""
        if self.knowledge is None:
            return self.graph.delete(x, y, clique), 0
        return self._keep_if_obeyed(lambda: self.graph.delete(x, y, clique))

    def _keep_if_obeyed(self, apply: Callable[[], int]) -> Outcome:
        """Apply an operator, and undo it if no member of the new class obeys the knowledge."""
        assert self.knowledge is not None
        before = self.graph.copy()
        changed = apply()
        if self.knowledge.member(self.graph) is None:
            vars(self.graph).update(vars(before))
            return 0, ANY_NODE
        return changed, 0


class KnownEdges:
    """Knowledge as sets of bits, with a search for members of a class that obey it."""

    def __init__(self, knowledge: Knowledge) -> None:
        forbidden, required = knowledge.forbidden, knowledge.required
        self.required = required
        self.never = column_bits(forbidden & forbidden.T)
        self.joined = column_bits(required | required.T)
        # Sources of edges that are forbidden or required in the other direction.
        self.forbidden_into = column_bits(forbidden | required.T)

    def start(self) -> EquivalenceClass:
        """Return the class of the required edges."""
        return EquivalenceClass.from_matrix(cpdag(self.required))

    def forbid_insertion(self, graph: EquivalenceClass, x: int, y: int, clique: int) -> bool:
        """Return whether an insertion makes a collider with a forbidden arrow: a cheap test before `member`."""
        against = self.forbidden_into[y]
        turned = clique & ~graph.adjacent[x]
        met = (graph.parents[y] | clique) & ~graph.adjacent[x]
        return bool(turned & against or (met and against >> x & 1))

    def member(self, graph: EquivalenceClass) -> list[int] | None:
        """Return the parents in a member that obeys the knowledge, or None if there is none."""
        directed = graph.copy()
        for v, against in enumerate(self.forbidden_into):
            if graph.parents[v] & against:
                return None
            for u in members(graph.neighbours[v] & against):  # u -> v is not allowed, so v -> u
                if not directed.neighbours[v] >> u & 1:
                    return None
                directed.add_arrow(v, u)
        # The new directions must not make a collider that the class does not have.
        for v, parents in enumerate(directed.parents):
            new = parents & graph.neighbours[v]
            if any(parents & ~(graph.adjacent[u] | 1 << u) for u in members(new)):
                return None
        return directed.extension()


def as_mask(bits: int, d: int) -> BoolMatrix:
    """Return a set of nodes as a boolean array of shape (d,)."""
    packed = np.frombuffer(bits.to_bytes((d + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=d, bitorder="little").view(bool)
