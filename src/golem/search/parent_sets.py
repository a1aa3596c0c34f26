"""Recombination: the best graph whose nodes all have the parents that they have in one of several graphs.

The graphs are what chains have found. Each is good in other places, and the places overlap, so that the search chooses
an order, in which every node has the cheapest of its sets that the order allows.
"""

from __future__ import annotations

import numpy as np

from golem.graphs.edges import Edges
from golem.search import parent_set_kernels
from golem.search.graph_combination import CostedGraph

# How many orders are tried: so many, but fewer if there are many nodes to move.
_TRIES, _MOVES = 10, 1000


class ParentSets:
    """The distinct sets of parents that d nodes have had, and what they cost."""

    def __init__(self, d: int) -> None:
        self.d = d
        self._keys = np.random.default_rng(0).integers(1, 2**63, size=(2, d), dtype=np.uint64)
        self._hashes, self._costs = np.zeros(0, dtype=np.uint64), np.zeros(0)
        self._nodes, self._sizes, self._parents = (np.zeros(0, dtype=np.int64) for _ in range(3))
        self._random, self._solved = np.zeros(1, dtype=np.uint64), 0

    def add(self, graph: CostedGraph) -> None:
        """Add the sets of a graph, whose edges are grouped by child."""
        causes, children = graph.edges.causes, graph.edges.children
        hashes = self._keys[0].copy()
        np.add.at(hashes, children, self._keys[1, causes])
        new = ~np.isin(hashes, self._hashes)
        self._hashes = np.append(self._hashes, hashes[new])
        self._costs = np.append(self._costs, graph.costs[new])
        self._nodes = np.append(self._nodes, np.flatnonzero(new))
        self._sizes = np.append(self._sizes, np.bincount(children, minlength=self.d)[new])
        self._parents = np.append(self._parents, causes[new[children]])

    def improve(self, graph: CostedGraph) -> CostedGraph:
        """Return a better graph, or the same one: also if no sets were added since the last call.

        Parameters
        ----------
        graph : CostedGraph
            A graph whose sets were added.
        """
        d = self.d
        if self._solved == len(self._nodes):
            return graph
        self._solved = len(self._nodes)
        by_cost = np.lexsort((self._costs, self._nodes))
        nodes, sizes, costs = self._nodes[by_cost], self._sizes[by_cost], self._costs[by_cost]
        first, start = (np.append(0, np.cumsum(number)) for number in (np.bincount(nodes, minlength=d), sizes))
        places = np.repeat((np.cumsum(self._sizes) - self._sizes)[by_cost] - start[:-1], sizes)
        parents, children = self._parents[places + np.arange(start[-1])], np.repeat(nodes, sizes)
        is_open = np.diff(first) > 1
        moving = np.union1d(np.flatnonzero(is_open), parents[is_open[children]])
        tries = min(_TRIES, 1 + _MOVES // len(moving)) if len(moving) else 1
        pairs = np.unique(parents * d + children)
        kin_first = np.append(0, np.cumsum(np.bincount(pairs // d, minlength=d)))
        orders, chosen = np.stack([graph.order] * 3), np.zeros(d, dtype=np.int64)
        none = 1 + 2 * np.abs(costs).sum()
        parent_set_kernels.choose_sets(
            orders,
            first,
            start,
            parents,
            np.append(costs, none),
            kin_first,
            pairs % d,
            np.zeros(d),
            moving,
            tries,
            self._random,
            chosen,
        )
        if costs[chosen].sum() >= graph.costs.sum():
            return graph
        number = sizes[chosen]
        places = np.repeat(start[chosen] - (np.cumsum(number) - number), number) + np.arange(number.sum())
        edges = Edges(parents[places], np.repeat(np.arange(d), number), d)
        return CostedGraph(orders[0], edges, costs[chosen])
