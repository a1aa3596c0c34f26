"""Drawings: causes above effects, nothing on top of anything, the same every time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from golem.graphs.dag import topological_order
from golem.graphs.edges import Edges
from golem.output.layout import causal_order, edge_curves, layered_layout, tiered_layout
from golem.simulate import random_dag


def overlaps(layout, widths, height=30.0):
    """Count pairs of nodes whose boxes meet."""
    x, y = layout.positions.T
    wide = (np.asarray(widths)[:, None] + np.asarray(widths)[None, :]) / 2
    touching = (np.abs(x[:, None] - x) < wide) & (np.abs(y[:, None] - y) < height)
    return int(np.triu(touching, k=1).sum())


@pytest.mark.parametrize("graph", ["ER1", "ER2", "SF2"])
@pytest.mark.parametrize("seed", range(3))
def test_parents_stand_above_children_and_boxes_do_not_meet(graph, seed):
    adjacency = random_dag(40, graph, seed)
    widths = np.random.default_rng(seed).uniform(40, 160, size=40)
    layout = layered_layout(adjacency, widths)
    for i, j in np.argwhere(adjacency):
        assert layout.positions[i, 1] < layout.positions[j, 1]
    assert overlaps(layout, widths) == 0
    width, height = layout.size
    assert np.all(layout.positions[:, 0] - widths / 2 >= 0)
    assert np.all(layout.positions[:, 0] + widths / 2 <= width)
    assert np.all((layout.positions[:, 1] > 0) & (layout.positions[:, 1] < height))


def test_a_long_edge_bends_around_the_nodes_between():
    adjacency = random_dag(30, "ER2", 4)
    widths = [60.0] * 30
    layout = layered_layout(adjacency, widths, layer_height=100)
    rows = np.unique(layout.positions[:, 1])
    for i, j in np.argwhere(adjacency):
        layers = np.searchsorted(rows, layout.positions[j, 1]) - np.searchsorted(rows, layout.positions[i, 1])
        points = layout.bends.get((i, j), np.zeros((0, 2)))
        assert len(points) == layers - 1
        assert np.all(np.diff(points[:, 1]) > 0)
        for x, y in points:
            same_row = np.abs(layout.positions[:, 1] - y) < 1
            assert not np.any(np.abs(layout.positions[same_row, 0] - x) < 30)


def test_curves_go_from_box_to_box_side_by_side():
    adjacency = random_dag(20, "ER2", 1)
    widths = [80.0] * 20
    layout = layered_layout(adjacency, widths)
    curves = edge_curves(layout, widths, adjacency, node_height=30)
    assert set(curves) == set(map(tuple, np.argwhere(adjacency).tolist()))
    ends = [(tuple(curve[0]), tuple(curve[-1])) for curve in curves.values()]
    assert len(set(ends)) == len({start for start, _ in ends}) == len(ends)
    for (i, j), curve in curves.items():
        assert curve[0, 1] == layout.positions[i, 1] + 15
        assert curve[-1, 1] == layout.positions[j, 1] - 15
        assert abs(curve[-1, 0] - layout.positions[j, 0]) <= 40
        assert len(curve) == 3 * (len(layout.bends.get((i, j), ())) + 1) + 1


def test_the_same_graph_has_the_same_drawing():
    adjacency = random_dag(50, "ER2", 0)
    first, second = (layered_layout(adjacency, [50.0] * 50) for _ in range(2))
    np.testing.assert_array_equal(first.positions, second.positions)


@pytest.mark.parametrize("adjacency", [np.zeros((0, 0)), np.zeros((1, 1)), np.zeros((7, 7)), np.eye(4, k=1)])
def test_small_and_empty_graphs(adjacency):
    layout = layered_layout(adjacency, [40.0] * len(adjacency))
    assert layout.positions.shape == (len(adjacency), 2)
    assert overlaps(layout, [40.0] * len(adjacency)) == 0


def test_isolated_nodes_stand_below_the_rest():
    adjacency = np.zeros((6, 6), dtype=bool)
    adjacency[0, 1] = adjacency[4, 5] = True
    y = layered_layout(adjacency, [40.0] * 6).positions[:, 1]
    assert min(y[[2, 3]]) > max(y[[0, 1, 4, 5]])


@pytest.mark.parametrize("seed", range(10))
def test_cycles_are_drawn_all_the_same(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 14))
    adjacency = rng.uniform(size=(d, d)) < 0.3
    np.fill_diagonal(adjacency, False)
    layout = layered_layout(adjacency, [40.0] * d)
    assert overlaps(layout, [40.0] * d) == 0
    place = np.argsort(causal_order(Edges.from_matrix(adjacency)))
    back = sum(place[i] > place[j] for i, j in np.argwhere(adjacency))
    assert back <= adjacency.sum() / 2


def test_one_edge_of_a_ring_points_back():
    ring = np.roll(np.eye(5, dtype=bool), 1, axis=1)
    place = np.argsort(causal_order(Edges.from_matrix(ring)))
    assert sum(place[i] > place[j] for i, j in np.argwhere(ring)) == 1


def test_causal_order_is_topological():
    adjacency = random_dag(20, "ER2", 1)
    np.testing.assert_array_equal(causal_order(Edges.from_matrix(adjacency)), topological_order(adjacency))


def test_three_hundred_nodes_take_seconds():
    adjacency = random_dag(300, "ER2", 0)
    layered_layout(adjacency[:10, :10], [46.0] * 10)  # imports
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        layered_layout(adjacency, [46.0] * 300)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 10  # less than 2 s on a quiet machine


@pytest.mark.parametrize("seed", range(5))
def test_tiers_are_below_each_other(seed):
    graph = random_dag(15, "ER2", seed)
    order = causal_order(Edges.from_matrix(graph))
    tiers = [order[:4].tolist(), order[4:9].tolist(), order[9:13].tolist()]  # two nodes have no tier
    layout, begin = tiered_layout(graph, [46.0] * 15, tiers)
    assert layout.positions.shape == (15, 2)
    assert set(layout.bends) <= set(map(tuple, np.argwhere(graph).tolist()))
    for tier, top, bottom in zip(tiers, begin, [*begin[1:], layout.size[1]], strict=True):
        y = layout.positions[tier, 1]
        assert top < y.min()
        assert y.max() < bottom
    plain, nowhere = tiered_layout(graph, [46.0] * 15, [])
    np.testing.assert_array_equal(plain.positions, layered_layout(graph, [46.0] * 15).positions)
    assert nowhere == [0.0]
