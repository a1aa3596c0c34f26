"""Rounding: the paper's removal by its definition, the gentle one by its properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem.gradient import rounding
from golem.gradient.rounding import round_to_dag
from golem.graphs.dag import is_dag
from golem.simulate import random_dag


def as_in_section_4_2(B, threshold, required):
    """One edge at a time from the smallest weight, until acyclic."""
    B = np.where((np.abs(B) >= threshold) | required, B, 0.0)
    while not is_dag(B):
        removable = np.argwhere((B != 0) & ~required)
        i, j = min(removable, key=lambda edge: abs(B[tuple(edge)]))
        B[i, j] = 0
    return B


@st.composite
def weights_and_required(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(2, 9))
    B = rng.normal(size=(d, d)) * (rng.random((d, d)) < draw(st.floats(0.1, 1.0)))
    np.fill_diagonal(B, 0)
    required = random_dag(d, "ER1", rng) & (rng.random((d, d)) < 0.3) & (B != 0)
    return B, required


@settings(max_examples=150, deadline=None)
@given(weights_and_required(), st.sampled_from([0.0, 0.3, 1.0]))
def test_paper_rounding_is_the_papers(case, threshold):
    B, required = case
    rounded = round_to_dag(B, threshold, required)
    np.testing.assert_array_equal(rounded.weights, as_in_section_4_2(B, threshold, required))


@settings(max_examples=150, deadline=None)
@given(weights_and_required(), st.sampled_from([0.0, 0.3]), st.sampled_from(["paper", "gentle"]))
def test_the_result_is_a_dag_idempotent_and_keeps_required_edges(case, threshold, cycles):
    B, required = case
    untouched = B.copy()
    rounded = round_to_dag(B, threshold, required, cycles)
    assert is_dag(rounded.weights)
    np.testing.assert_array_equal(rounded.weights[required], B[required])
    above = (np.abs(B) >= threshold) & (B != 0) | required
    assert rounded.cut == above.sum() - np.count_nonzero(rounded.weights)
    again = round_to_dag(rounded.weights, threshold, required, cycles)
    np.testing.assert_array_equal(again.weights, rounded.weights)
    np.testing.assert_array_equal(B, untouched)


@settings(max_examples=150, deadline=None)
@given(weights_and_required())
def test_gentle_rounding_cuts_only_what_closes_a_cycle(case):
    B, required = case
    paper, gentle = round_to_dag(B, 0.3, required), round_to_dag(B, 0.3, required, "gentle")
    assert gentle.cut <= paper.cut
    assert np.all(gentle.weights[paper.weights != 0] != 0)
    cut = (np.abs(B) >= 0.3) & (gentle.weights == 0)
    for i, j in np.argwhere(cut):
        restored = gentle.weights.copy()
        restored[i, j] = 1.0
        assert not is_dag(restored)


def test_far_fewer_graph_searches_than_edges(monkeypatch, rng):
    calls = []
    search = rounding.edges_are_acyclic
    monkeypatch.setattr(rounding, "edges_are_acyclic", lambda *a: calls.append(1) or search(*a))
    B = rng.normal(size=(60, 60))
    round_to_dag(B, 0.0)
    assert len(calls) <= 2 * np.log2(60 * 59) + 2


def test_none_leaves_cycles():
    B = np.array([[0, 1.0], [0.5, 0]])
    rounded = round_to_dag(B, 0.3, cycles="none")
    np.testing.assert_array_equal(rounded.weights, B)
    assert rounded.cut == 0


def test_a_weight_at_the_threshold_stays():
    assert round_to_dag(np.array([[0, 0.3], [0, 0]]), 0.3).weights[0, 1] == 0.3


def test_a_negative_threshold_is_refused():
    with pytest.raises(ValueError, match="at least 0"):
        round_to_dag(np.zeros((2, 2)), -1.0)
