"""Penalties on edges against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from golem.score.sparsity import L0, L1


def test_l0_penalties_are_the_textbooks():
    n, d = 500, 6
    k = np.arange(d)
    np.testing.assert_allclose(L0("bic").penalties(n, d), k * np.log(n))
    choices = np.array([np.log(float(len(list(itertools.combinations(range(d - 1), j))))) for j in k])
    np.testing.assert_allclose(L0("ebic", gamma=0.5).penalties(n, d), k * np.log(n) + choices)
    np.testing.assert_allclose(L0("mbic").penalties(n, d), k * (np.log(n) + 2 * np.log(d)))
    np.testing.assert_allclose(L0(0.25).penalties(n, d), 2 * n * 0.25 * k)


def test_the_penalty_of_a_graph_is_the_sum_over_its_nodes_but_for_mbic():
    parents, n = np.array([0, 1, 2, 2, 0]), 300
    for criterion in ("bic", "ebic", 0.1):
        assert L0(criterion).graph_penalty(parents, n) == pytest.approx(L0(criterion).penalties(n, 5)[parents].sum())
    choices = len(list(itertools.combinations(range(10), 5)))  # 5 edges among 10 pairs
    assert L0("mbic").graph_penalty(parents, n) == pytest.approx(5 * np.log(n) + 2 * np.log(choices))


@pytest.mark.parametrize("wrong", ["aic", -1.0, np.inf, np.nan])
def test_other_penalties_are_refused(wrong):
    with pytest.raises(ValueError, match="penalty per edge"):
        L0(wrong)


def test_l1_is_the_sum_of_absolute_weights_of_every_matrix_of_a_stack(rng):
    B = rng.normal(size=(3, 4, 4)) * (rng.random((3, 4, 4)) < 0.5)
    value, subgradient = L1().value_and_grad(B)
    np.testing.assert_allclose(value, [np.abs(b).sum() for b in B])
    np.testing.assert_array_equal(subgradient, np.sign(B))
