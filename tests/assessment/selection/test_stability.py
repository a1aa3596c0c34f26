"""The measure of agreement: its known values, and Cohen's kappa from counts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from golem.assessment.selection.path_scores import Frequencies
from golem.simulate import random_dag


def test_identical_graphs_agree_and_random_ones_do_not():
    rng = np.random.default_rng(0)
    graph = random_dag(10, "ER2", rng)
    assert Frequencies.of([graph] * 5).agreement(graph) == 1
    assert Frequencies.of([graph] * 5).agreement(graph.T) == 1  # directions do not count
    independent = Frequencies.of([random_dag(10, "ER2", rng) for _ in range(300)])
    assert abs(independent.agreement(graph)) < 0.02


def test_empty_and_complete_graphs_say_nothing():
    complete = np.triu(np.ones((4, 4), dtype=bool), 1)
    empty = np.zeros((4, 4), dtype=bool)
    for graph in (complete, empty):
        assert Frequencies.of([graph] * 3).agreement(graph) == -np.inf
    assert Frequencies.of([complete] * 3).agreement(empty) == 0


def test_halves_that_agree_among_themselves_alone_do_not_count():
    few, more = np.zeros((2, 5, 5), dtype=bool)
    few[0, 1] = True
    more[0, 1:] = True
    found = Frequencies.of([few] * 10)
    assert found.agreement(few) == 1
    assert found.agreement(more) < 0.4


def test_agreement_is_the_kappa_of_all_pairs_and_halves():
    rng = np.random.default_rng(1)
    graph, halves = random_dag(7, "ER2", rng), [random_dag(7, "ER1", rng) for _ in range(6)]
    above = np.triu_indices(7, 1)
    joined = [(one | one.T)[above] for one in (graph, *halves)]
    expected = cohen_kappa_score(np.tile(joined[0], 6), np.concatenate(joined[1:]))
    assert Frequencies.of(halves).agreement(graph) == pytest.approx(expected)
