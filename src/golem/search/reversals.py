"""How much worse the best graph with the reverse of an edge is: exactly for few nodes, otherwise by local searches.

A direction that all members of the best class have can still be weak: another class may be nearly as good and have the
reverse. A search from the best graph, with the reverse required, finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, Indices
from golem.score.solution import TIE
from golem.search.chain import MOST_VISITS, VISITS, Chain, Start
from golem.search.engines.engine import Engine
from golem.search.exact_order import LARGEST_EXACT, Subsets
from golem.search.order_kernel_arrays import KIND, NODE, REQUIRED, REQUIRED_BACK
from golem.search.order_problem import checked_masks
from golem.search.search_order import LONGEST_EXACT, NodeCosts, compile_engine, engine_of, size_limits

# Perturbations of each local search, all of them near the reversed edge.
_PERTURBATIONS = 20
# Problems that an exact search solves at a time.
_AT_ONCE = 16

Pair = tuple[int, int]


class BestGraph(NamedTuple):
    """The best graph that was found, and its score."""

    edges: Edges
    score: float


class Reversals:
    """The best graph of a score, and the best ones that have the reverse of an edge.

    Parameters
    ----------
    costs : NodeCosts
        The costs of nodes given their parents.
    allowed, required : array of shape (d, d), bool, or None
        Masks of the edges that are allowed, and that are required.
    start : Edges
        A good graph, where the search begins.
    random_state : int
        Random seed.

    Examples
    --------
    >>> from golem.score.gaussian_columns import GaussianColumns
    >>> S = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
    >>> empty = Edges.from_matrix(np.zeros((3, 3), dtype=bool))
    >>> found = Reversals(GaussianColumns(S, 1000, np.arange(3) * 7.0), None, None, empty)
    >>> sorted(found.best.edges.pairs())
    [(0, 2), (1, 2)]
    >>> [round(other.score - found.best.score) for other in found.reversed([(0, 2)])]  # with one more edge
    [7]
    """

    def __init__(
        self,
        costs: NodeCosts,
        allowed: BoolMatrix | None,
        required: BoolMatrix | None,
        start: Edges,
        random_state: int = 0,
    ) -> None:
        may, must = checked_masks(costs.d, allowed, required)
        self._search: _Exact | _Local
        if costs.d <= LARGEST_EXACT and costs.table_seconds <= LONGEST_EXACT:
            self._search = _Exact(costs, may, must)
        else:
            compile_engine(type(costs))
            self._search = _Local(engine_of(costs, may, must), start, random_state)

    @property
    def best(self) -> BestGraph:
        """The best graph."""
        return self._search.best

    def reversed(self, pairs: Sequence[Pair]) -> Iterator[BestGraph]:
        """Yield the best graph with j -> i for each pair (i, j)."""
        return self._search.reversed(pairs)


class _Exact:
    """Dynamic programming over all sets of nodes."""

    def __init__(self, costs: NodeCosts, allowed: BoolMatrix | None, required: BoolMatrix | None) -> None:
        self._subsets = Subsets(costs.d)
        self._costs = costs.cost_table(self._subsets.members)
        self._tolerance = TIE * float(np.abs(self._costs[0]).max(initial=1.0))
        self._subsets.forbid(self._costs, allowed, required)
        too_large = (self._subsets.members @ costs.sizes)[:, None] > size_limits(costs, required)
        self._costs[too_large] = np.inf
        (self.best,) = self._minima([None])

    def reversed(self, pairs: Sequence[Pair]) -> Iterator[BestGraph]:
        """Yield the best graph with j -> i for each pair (i, j)."""
        for begin in range(0, len(pairs), _AT_ONCE):
            yield from self._minima(pairs[begin : begin + _AT_ONCE])

    def _minima(self, pairs: Sequence[Pair | None]) -> Iterator[BestGraph]:
        """Return the best graph for each pair; of all graphs for None."""
        cost = np.repeat(self._costs[:, :, None], len(pairs), axis=2)
        for k, pair in enumerate(pairs):
            if pair is not None:
                cost[~self._subsets.members[:, pair[1]], pair[0], k] = np.inf
        graphs, scores = self._subsets.best_dags(cost, self._tolerance)
        return (BestGraph(Edges.from_matrix(g).by_child(), float(s)) for g, s in zip(graphs, scores, strict=True))


class _Local:
    """Local searches of an engine, from the best graph."""

    def __init__(self, engine: Engine, start: Edges, random_state: int) -> None:
        from golem.search.order_search import OrderSearch, SearchClock  # imports numba

        rng = np.random.default_rng(random_state)
        found = OrderSearch(engine, (start.matrix(),), "fast", rng, SearchClock(None, None)).run()
        self.best, self._order = BestGraph(found.edges, found.score), found.order
        self._engine, self._seed = engine, random_state
        self._barrier = 6.0 * engine.edge_penalty

    def reversed(self, pairs: Sequence[Pair]) -> Iterator[BestGraph]:
        """Yield the best graph with j -> i for each pair (i, j)."""
        return map(self._climbed, pairs)

    def _climbed(self, pair: Pair) -> BestGraph:
        """Return the best graph near the present one with the reverse of an edge."""
        i, j = pair
        start = self._engine.first_parents(_reversed_start(self._order, self.best.edges, i, j))
        (chain,) = self._engine.chains(self._engine.lists(), [start], [self._seed])
        _require(chain, i, j)
        chain.begin(start)
        near = self._near(pair)
        chain.wake(near)
        while chain.waiting:
            chain.advance(0, VISITS, np.inf)
        chain.set_pool(near)
        chain.advance(_PERTURBATIONS, MOST_VISITS, self._barrier)
        return BestGraph(chain.found.edges, chain.score)

    def _near(self, pair: Pair) -> Indices:
        """Return two nodes and their neighbours, the two first."""
        edges = self.best.edges
        touching = np.isin(edges.causes, pair) | np.isin(edges.children, pair)
        others = np.setdiff1d(np.append(edges.causes[touching], edges.children[touching]), pair)
        return np.append(np.array(pair, dtype=np.int64), others)


def _reversed_start(order: Indices, edges: Edges, i: int, j: int) -> Start:
    """Return the graph with j -> i instead of i -> j, without the edges that the new order does not allow.

    Either j moves before i or i after j, whichever keeps more edges.
    """
    places: list[Callable[[list[int]], int]] = [lambda rest: rest.index(i), lambda rest: rest.index(j) + 1]
    best: Start | None = None
    for moved, place in zip((j, i), places, strict=True):
        rest = [int(node) for node in order if node != moved]
        rest.insert(place(rest), moved)
        rank = np.argsort(rest)
        keeps = rank[edges.causes] < rank[edges.children]
        if best is None or keeps.sum() > len(best.edges) - 1:
            causes, children = np.append(edges.causes[keeps], j), np.append(edges.children[keeps], i)
            best = Start(np.array(rest, dtype=np.int64), Edges(causes, children, edges.d).by_child())
    assert best is not None
    return best


def _require(chain: Chain, i: int, j: int) -> None:
    """Require the edge j -> i in a chain, which has slots of its own."""
    candidates = chain.arrays.candidates
    for node, other, kind in ((i, j, REQUIRED), (j, i, REQUIRED_BACK)):
        begin, end = candidates.first[node : node + 2]
        candidates.slots[KIND, begin + np.searchsorted(candidates.slots[NODE, begin:end], other)] |= kind
