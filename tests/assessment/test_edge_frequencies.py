"""The consensus: acyclic whatever the votes, and unanimous where they are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from golem.assessment.edge_frequencies import ranked_pairs
from golem.graphs.dag import is_dag
from golem.simulate import random_dag


def votes(seed: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies of adjacencies and directions that no DAG need have."""
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((d, d)).round(1), k=1)
    adjacency += adjacency.T
    share = np.triu(rng.random((d, d)).round(1), k=1)
    direction = adjacency * (share + np.tril(1 - share.T, k=-1))
    return adjacency, direction


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_acyclic_and_the_majority_of_adjacencies(seed, d):
    adjacency, direction = votes(seed, d)
    graph = ranked_pairs(adjacency, direction)
    assert is_dag(graph)
    # No direction is impossible here unless its frequency is 0.
    both = (direction > 0) & (direction.T > 0)
    np.testing.assert_array_equal(((graph | graph.T) & both), (adjacency > 0.5) & both)
    assert not (graph & (adjacency <= 0.5)).any()
    assert (direction[graph] > 0).all()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_majority_that_is_acyclic_is_the_consensus(seed):
    rng = np.random.default_rng(seed)
    truth = random_dag(8, "ER2", rng)
    direction = np.where(truth, rng.uniform(0.51, 1.0, truth.shape), 0)
    direction += np.where(truth.T, 1 - direction.T, 0) * rng.random()
    np.testing.assert_array_equal(ranked_pairs(direction + direction.T, direction), truth)


def test_ties_go_the_way_that_is_shown_and_forbidden_ways_are_not_taken():
    half = np.array([[0, 0.5], [0.5, 0]])
    assert ranked_pairs(2 * half, half)[0, 1]
    assert ranked_pairs(2 * half, half, np.array([[0, 10], [90, 0]]))[1, 0]
    # 0 -> 1 -> 2 outweigh 2 -> 0, whose other way no graph has.
    direction = np.array([[0, 0.95, 0], [0.01, 0, 0.95], [0.6, 0.01, 0]])
    adjacency = direction + direction.T
    expected = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    np.testing.assert_array_equal(ranked_pairs(adjacency, direction), expected)
