"""Combined graphs: acyclic, never worse, and the best of every block if the blocks are separate, or of all orders."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest

from golem.graphs.edges import Edges
from golem.search.graph_combination import CostedGraph, take_better_components
from golem.search.parent_sets import ParentSets


def cost(j, parents):
    """Return an arbitrary number that depends on the node and the set of its parents."""
    return zlib.crc32(repr((j, sorted(map(int, parents)))).encode()) / 2**32


def edges(parents):
    children = np.repeat(np.arange(len(parents)), [len(nodes) for nodes in parents])
    return Edges(np.concatenate(parents), children, len(parents))


def parents_of(graph):
    return [graph.edges.causes[graph.edges.children == j] for j in range(len(graph.order))]


def costed(order, parents):
    return CostedGraph(order, edges(parents), np.array([cost(j, nodes) for j, nodes in enumerate(parents)]))


def random_graph(d, rng, density=0.3):
    order = rng.permutation(d)
    rank = np.argsort(order)
    parents = [np.flatnonzero((rank < rank[j]) & (rng.random(d) < density)) for j in range(d)]
    return costed(order, parents)


def similar_graph(graph, rng):
    """Choose other parents for some nodes, and another order that allows them."""
    d = len(graph.order)
    other = random_graph(d, rng)
    rank = np.argsort(graph.order)
    kept = rng.random(d) < 0.6
    chosen = [old if keep else new for old, new, keep in zip(parents_of(graph), parents_of(other), kept, strict=True)]
    return costed(graph.order, [nodes[rank[nodes] < rank[j]] for j, nodes in enumerate(chosen)])


def is_forward(graph):
    rank = np.argsort(graph.order)
    return all(np.all(rank[nodes] < rank[j]) for j, nodes in enumerate(parents_of(graph)))


@pytest.mark.parametrize("draw", ["similar", "unrelated"])
def test_a_combined_graph_is_acyclic_and_never_worse(draw):
    rng = np.random.default_rng(0)
    gained = []
    for _ in range(60):
        own = random_graph(12, rng)
        other = similar_graph(own, rng) if draw == "similar" else random_graph(12, rng)
        combined, _ = take_better_components(own, other)
        assert is_forward(combined)
        np.testing.assert_array_equal(combined.costs, costed(combined.order, parents_of(combined)).costs)
        assert combined.costs.sum() <= own.costs.sum()
        gained.append(combined.costs.sum() < own.costs.sum())
    assert any(gained)


def test_separate_blocks_get_the_better_graph_of_each():
    rng = np.random.default_rng(1)
    for _ in range(30):
        pairs = [(random_graph(5, rng), random_graph(5, rng)) for _ in range(4)]
        own, other = (
            costed(
                np.concatenate([pair[side].order + 5 * b for b, pair in enumerate(pairs)]),
                [nodes + 5 * b for b, pair in enumerate(pairs) for nodes in parents_of(pair[side])],
            )
            for side in (0, 1)
        )
        combined, _ = take_better_components(own, other)
        for b in range(4):
            block = slice(5 * b, 5 * b + 5)
            costs = [graph.costs[block].sum() for graph in (own, other)]
            # A block can consist of several parts, so that it may be better than both.
            assert combined.costs[block].sum() <= min(costs) + 1e-2 * 5


def test_a_part_that_would_close_a_cycle_is_not_taken():
    none, zero, one, two, three = (np.array(nodes, dtype=np.int64) for nodes in ([], [0], [1], [2], [3]))
    # Both have 3 -> 0 and 1 -> 2. One also has 2 -> 3, the other one 0 -> 1, which costs less.
    own = CostedGraph(np.array([1, 2, 3, 0]), edges([three, none, one, two]), np.array([0.0, 0.0, 0.0, -9.0]))
    other = CostedGraph(np.array([3, 0, 1, 2]), edges([three, zero, one, none]), np.array([0.0, -5.0, 0.0, 0.0]))
    combined, differ = take_better_components(own, other)
    assert combined is own
    assert differ.tolist() == [False, True, False, True]


def test_equal_graphs_differ_nowhere():
    graph = random_graph(8, np.random.default_rng(2))
    shuffled = CostedGraph(graph.order, edges([nodes[::-1] for nodes in parents_of(graph)]), graph.costs)
    combined, differ = take_better_components(graph, shuffled)
    assert combined is graph
    assert not differ.any()


def best_cost(graphs):
    """Return the lowest cost over all orders of the nodes."""
    d = len(graphs[0].order)
    sets = [[(graph.costs[j], parents_of(graph)[j]) for graph in graphs] for j in range(d)]
    least = np.inf
    for order in itertools.permutations(range(d)):
        rank = np.argsort(order)
        options = [[cost for cost, nodes in sets[j] if np.all(rank[nodes] < rank[j])] for j in range(d)]
        least = min(least, sum(min(some, default=np.inf) for some in options))
    return least


def test_sets_of_several_graphs_are_recombined():
    rng = np.random.default_rng(0)
    optimal = better = 0
    for _ in range(10):
        graphs = [random_graph(5, rng, 0.5) for _ in range(4)]
        sets = ParentSets(5)
        for graph in graphs:
            sets.add(graph)
        own = min(graphs, key=lambda graph: graph.costs.sum())
        found = sets.improve(own)
        assert is_forward(found)
        for j, nodes in enumerate(parents_of(found)):
            same = [graph for graph in graphs if set(parents_of(graph)[j]) == set(nodes)]
            assert same
            assert found.costs[j] == same[0].costs[j]
        better += found.costs.sum() < own.costs.sum()
        optimal += found.costs.sum() < best_cost(graphs) + 1e-2
        assert sets.improve(found) is found  # nothing was added
    assert better > 3
    assert optimal > 7


def test_sets_of_equal_graphs_change_nothing():
    graph = random_graph(8, np.random.default_rng(1))
    sets = ParentSets(8)
    sets.add(graph)
    sets.add(graph)
    assert sets.improve(graph) is graph
