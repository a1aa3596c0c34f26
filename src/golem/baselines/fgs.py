"""FGS: fast greedy equivalence search (Ramsey et al. 2017), after the GES of Chickering (2002)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from golem.baselines.base import COLLINEAR, Baseline
from golem.baselines.equivalence_class import EquivalenceClass
from golem.data.checks import most_parents
from golem.data.knowledge import Knowledge
from golem.data.moments import Moments
from golem.graphs.dag import cpdag
from golem.graphs.pdag import bits_of, bits_to_columns, column_bits, members
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.objective import graph_bic

# Gain in score, source, clique.
Operator = tuple[float, int, int]
# Minus the gain, target, position in the list of operators of the target, and version of that list.
Entry = tuple[float, int, int, int]
# Nodes whose operators have changed (none if nothing was applied), and nodes that must change before a retry.
Applied = tuple[int, int]
ANY_NODE = -1


@dataclass(eq=False, repr=False)
class FGS(Baseline):
    """Learn a Markov equivalence class by greedy search with the Gaussian BIC.

    Starting from the empty graph, the search inserts the edge that lowers the score most, among all edges that can be
    added to any member of the present class. When no insertion lowers the score, it deletes edges in the same way. With
    n rows, residual variances r_v and k_v parents of node v, the score is, up to a constant,

        sum over v of  n log r_v + k_v (penalty_discount log n + 2 log((d - 1 - q) / q)),   q = structure_prior,

    where the last term, the log odds against an edge if nodes have q parents on average, is used only if q > 0. All
    members of a class have the same score, so directions within a class stay open. With many rows the result is the
    class of the true graph, if the data are faithful to it (Chickering 2002).

    The paper used the FGS of Tetrad with its cg-bic-score. Without categorical columns this is the BIC with a structure
    prior of this form, by default with q = 1. `FGS(structure_prior=1)` is close to it, except for Tetrad's limits on
    the number of edges per node and its order of equally good steps. Versions of Tetrad count the prior once or twice;
    here it counts twice, as a log prior probability does in units of -2 log-likelihood.

    Parameters
    ----------
    penalty_discount : float
        Factor of log n in the penalty per edge; 1 is the BIC. Larger values give fewer edges.
    structure_prior : float
        Expected number of parents per node, below d - 1; 0 for no prior. With many columns the BIC alone adds false
        edges.
    max_parents : int, optional
        Largest number of parents per node; by default (n - 2) / 2, so that residual variances exist. A smaller value
        bounds the number of operators, which grows exponentially with the size of cliques.
    knowledge : Knowledge or NamedKnowledge, optional
        Required and forbidden edges. The search starts from the class of the required edges and visits only classes
        with a member that obeys the knowledge; `adjacency_` is such a member.

    Attributes
    ----------
    cpdag_ : ndarray of shape (d, d), bool
        The equivalence class; an edge in both directions is undirected. Knowledge directs none of its edges.
    adjacency_ : ndarray of shape (d, d), bool
        An arbitrary member of the class.
    bic_ : float
        BIC of the class, -2 log-likelihood + (edges + noise variances + intercepts) log n, for any penalty_discount.
    n_scores_ : int
        Number of regressions; each gives the gain of one edge or of all edges into a node.
    moments_, knowledge_, n_features_in_, feature_names_in_
        As for `golem.Golem`.
    seconds_ : float
        Wall-clock time of the learning, without reading and checking the data.

    Examples
    --------
    >>> from golem.metrics import shd_c
    >>> from golem.simulate import simulate
    >>> drawn = simulate(6, n=2000, graph="ER1", random_state=3)
    >>> model = FGS().fit(drawn.data)
    >>> shd_c(drawn.sem.adjacency, model.adjacency_)
    0.0
    """

    penalty_discount: float = 1.0
    _: KW_ONLY
    structure_prior: float = 0.0
    max_parents: int | None = None

    def _check_parameters(self) -> None:
        if not 0 <= self.penalty_discount < np.inf:
            raise ValueError(f"penalty_discount must be at least 0 and finite; got {self.penalty_discount}.")
        if not 0 <= self.structure_prior < np.inf:
            raise ValueError(f"structure_prior must be at least 0 and finite; got {self.structure_prior}.")
        if self.max_parents is not None and not self.max_parents >= 0:
            raise ValueError(f"max_parents must be at least 0; got {self.max_parents}.")

    def _learn(self, moments: Moments, rows: Matrix | None, knowledge: Knowledge) -> None:
        penalty = self._penalty(moments.n, moments.d)
        most = most_parents(moments.n) if self.max_parents is None else self.max_parents
        scores = EdgeScores(moments.standardized().covariance, moments.n, penalty)
        search = GreedySearch(scores, most, knowledge)
        self._set_class(search.run().matrix(), search.member())
        self.n_scores_ = scores.computed
        self.bic_ = graph_bic(self.adjacency_, moments.covariance, moments.n)

    def _penalty(self, n: int, d: int) -> float:
        """Return the penalty per edge in units of -2 log-likelihood."""
        penalty = self.penalty_discount * np.log(n)
        if self.structure_prior > 0:
            if self.structure_prior >= d - 1:
                raise ValueError(
                    f"structure_prior, the expected number of parents per node, must be below {d - 1} for {d} columns; "
                    f"got {self.structure_prior}."
                )
            penalty += 2 * np.log((d - 1 - self.structure_prior) / self.structure_prior)
        return float(penalty)


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
        self, operators_into: Callable[[int], list[Operator]], apply: Callable[[int, int, int], Applied]
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

    def _insert(self, x: int, y: int, clique: int) -> Applied:
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

    def _delete(self, x: int, y: int, clique: int) -> Applied:
        """Apply Delete(x, y, clique), which is always valid."""
        if self.knowledge is None:
            return self.graph.delete(x, y, clique), 0
        return self._keep_if_obeyed(lambda: self.graph.delete(x, y, clique))

    def _keep_if_obeyed(self, apply: Callable[[], int]) -> Applied:
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
