"""Metrics: definitions by brute force, published examples, conventions of the paper."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem import metrics
from golem.graphs.dag import cpdag
from golem.simulate import random_dag

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def shortest_edit(truth, estimate):
    """SHD by its definition: fewest additions, deletions and reversals, pair by pair."""
    total = 0
    for i, j in itertools.combinations(range(len(truth)), 2):
        total += (truth[i, j], truth[j, i]) != (estimate[i, j], estimate[j, i])
    return total


def sid_by_definition(truth, estimate):
    """Count pairs (i, j) whose effect is wrong when the estimate's parents of i are adjusted for.

    The parents Z of i in the estimate are a valid adjustment set in the truth when no member of Z lies on, or
    descends from, a causal path from i to j, and Z blocks every other path; if j is in Z, the effect must be zero.
    """
    G = nx.from_numpy_array(truth.astype(int), create_using=nx.DiGraph)
    wrong = 0
    for i, j in itertools.permutations(range(len(truth)), 2):
        Z = set(np.nonzero(estimate[:, i])[0].tolist())
        if j in Z:
            wrong += j in nx.descendants(G, i)
            continue
        causal = {k for path in nx.all_simple_paths(G, i, j) for k in path[1:]}
        forbidden = causal | {k for c in causal for k in nx.descendants(G, c)}
        if Z & forbidden:
            wrong += 1
            continue
        proper = G.copy()
        proper.remove_edges_from([(i, k) for k in list(G.successors(i)) if k in causal])
        wrong += not nx.is_d_separator(proper, {i}, {j}, Z)
    return wrong


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["ER1", "ER2"]))
def test_counts_of_edges_by_definition(seed, graph):
    """Pair by pair, as drawn and with undirected edges, which are right in either direction."""
    truth, drawn = random_dag(6, graph, seed), random_dag(6, graph, seed + 1)
    for estimate, is_class in ((drawn, False), (cpdag(drawn), True)):
        expected = dict.fromkeys(("true", "reversed", "extra", "missing"), 0)
        for i, j in itertools.combinations(range(6), 2):
            here, there = (estimate[i, j], estimate[j, i]), (truth[i, j], truth[j, i])
            if any(here) and any(there):
                expected["true" if here == there or all(here) else "reversed"] += 1
            elif any(here) or any(there):
                expected["extra" if any(here) else "missing"] += 1
        counts = metrics.count_edges(truth, estimate, cpdag=is_class)
        assert vars(counts) == expected
        assert counts.reversed + counts.extra + counts.missing == metrics.shd(truth, estimate, cpdag=is_class)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["ER1", "ER2"]))
def test_shd_and_sid_by_definition(seed, graph):
    truth, estimate = random_dag(6, graph, seed), random_dag(6, graph, seed + 1)
    assert metrics.shd(truth, estimate) == shortest_edit(truth, estimate)
    assert metrics.sid(truth, estimate) == sid_by_definition(truth, estimate)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_a_graph_is_at_distance_zero_from_itself_and_its_class(seed):
    truth = random_dag(7, "ER2", seed)
    assert metrics.shd(truth, truth) == metrics.sid(truth, truth) == metrics.shd_c(truth, truth) == 0
    assert metrics.shd(truth, cpdag(truth), cpdag=True) == 0
    assert metrics.shd_c(truth, cpdag(truth), cpdag=True) == 0
    if truth.any():
        assert metrics.tpr(truth, truth) == metrics.f1(truth, truth) == 1
        assert metrics.tpr(truth, cpdag(truth), cpdag=True) == 1
        assert metrics.fdr(truth, truth) == 0


def test_sid_is_asymmetric():
    truth, estimate = CHAIN, np.zeros((3, 3))
    assert metrics.sid(truth, estimate) != metrics.sid(estimate, truth)


def test_a_reversal_counts_once_and_weights_count_as_edges():
    assert metrics.shd(CHAIN, CHAIN.T * 0.3) == 2
    assert metrics.shd(CHAIN, CHAIN * -0.7) == 0


def test_normalization_divides_by_the_nodes():
    assert metrics.shd(CHAIN, CHAIN.T, normalize=True) == pytest.approx(2 / 3)
    scores = metrics.evaluate(CHAIN, CHAIN.T, normalize=True)
    assert scores.sid == metrics.sid(CHAIN, CHAIN.T) / 3


def test_rates_of_a_mixed_estimate():
    truth = np.zeros((4, 4))
    truth[0, 1] = truth[1, 2] = truth[2, 3] = 1
    estimate = np.zeros((4, 4))
    estimate[0, 1] = estimate[2, 1] = estimate[0, 3] = 1  # right, reversed, extra
    scores = metrics.evaluate(truth, estimate)
    assert (scores.edges, scores.shd) == (3, 3)
    assert scores.tpr == scores.precision == scores.f1 == pytest.approx(1 / 3)
    assert scores.fdr == pytest.approx(2 / 3)


def test_undirected_edges_of_a_cpdag_are_favoured_only_where_the_truth_has_one():
    truth = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    estimate = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    scores = metrics.evaluate(truth, estimate, cpdag=True)
    assert (scores.edges, scores.shd, scores.tpr) == (2, 1, 1)
    assert scores.precision == scores.fdr == 0.5
    assert np.isnan(scores.sid)


def test_a_cyclic_estimate_has_no_class_and_no_sid():
    cyclic = CHAIN.copy()
    cyclic[2, 0] = 1
    scores = metrics.evaluate(CHAIN, cyclic)
    assert scores.shd == 1
    assert np.isnan(scores.shd_c)
    assert np.isnan(scores.sid)


def test_an_empty_truth_has_no_rate():
    empty = np.zeros((3, 3))
    assert np.isnan(metrics.tpr(empty, CHAIN))
    assert np.isnan(metrics.f1(empty, empty))


@pytest.mark.parametrize(
    ("truth", "estimate", "message"),
    [
        (CHAIN, np.zeros((2, 2)), "same nodes"),
        (CHAIN + CHAIN.T, CHAIN, "truth must be .* has a cycle: 0 -> 1 -> 0"),
        (CHAIN[:2], CHAIN, "square"),
        (CHAIN, CHAIN + np.diag([0, 1, 0]), "The estimate has an edge from a variable to itself, 1 -> 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(truth, estimate, message):
    with pytest.raises(ValueError, match=message):
        metrics.shd(truth, estimate)


def test_tables_are_compared_by_their_labels():
    graph = pd.DataFrame(np.eye(3, k=1), index=list("abc"), columns=list("abc"))
    turned = graph.loc[list("cab"), list("cab")]
    assert metrics.shd(graph, turned) == metrics.sid(turned, graph) == 0
    assert metrics.evaluate(graph, turned).f1 == 1
    with pytest.raises(ValueError, match=r"the estimate has .'x', 'b', 'c'."):
        metrics.shd(graph, graph.rename(index={"a": "x"}, columns={"a": "x"}))


def test_one_node_has_no_pairs():
    assert metrics.sid([[0]], [[0]]) == 0
    assert metrics.evaluate([[0]], [[0]], normalize=True).sid == 0
