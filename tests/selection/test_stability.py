"""The measure of stability: its known values, and the mean agreement of pairs of graphs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from golem.selection.stability import Frequencies
from golem.simulate import random_dag


def test_identical_graphs_are_stable_and_random_ones_are_not():
    rng = np.random.default_rng(0)
    graph = random_dag(10, "ER2", rng)
    assert Frequencies.of([graph] * 5).stability == 1
    independent = Frequencies.of([random_dag(10, "ER2", rng) for _ in range(300)])
    assert abs(independent.stability) < 0.02


def test_empty_and_complete_graphs_say_nothing():
    complete = np.triu(np.ones((4, 4), dtype=bool), 1)
    for graph in (complete, np.zeros((4, 4), dtype=bool)):
        assert Frequencies.of([graph] * 3).stability == -np.inf


def test_stability_is_the_mean_agreement_beyond_chance():
    """Graphs with k edges each: the mean over pairs of graphs of (common - k^2/p) / (k - k^2/p) (Kuncheva 2007)."""
    rng = np.random.default_rng(1)
    p, k, graphs = 15, 4, []
    for _ in range(7):
        graph = np.zeros((6, 6), dtype=bool)
        chosen = rng.choice(p, k, replace=False)
        i, j = (index[chosen] for index in np.triu_indices(6, 1))
        turned = rng.random(k) < 0.5  # directions do not count
        graph[np.where(turned, i, j), np.where(turned, j, i)] = True
        graphs.append(graph)
    skeletons = [graph | graph.T for graph in graphs]
    common = [np.triu(a & b).sum() for a, b in itertools.combinations(skeletons, 2)]
    expected = np.mean([(r - k**2 / p) / (k - k**2 / p) for r in common])
    assert Frequencies.of(graphs).stability == pytest.approx(expected)
