"""Regressions of nodes on their parents, against least squares on the rows."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Moments
from golem.score import regression
from golem.score.regression import (
    family_variances,
    regress_lists,
    regressions,
    residual_variance,
    residual_variances,
    variances_without_each,
)
from golem.simulate import simulate


def variance_on_rows(X, j, parents):
    """Residual variance of column j by least squares on the rows."""
    return np.var(X[:, j] - X[:, parents] @ np.linalg.lstsq(X[:, parents], X[:, j], rcond=None)[0])


@pytest.mark.parametrize("graph", ["ER1", "ER4", "SF4"])
def test_weights_and_residual_variances_are_those_of_least_squares_on_the_rows(graph):
    drawn = simulate(20, 200, graph, "gaussian-nv", random_state=3)
    X, adjacency = drawn.data - drawn.data.mean(axis=0), drawn.sem.adjacency
    S = Moments.from_rows(X).covariance
    found = regressions(adjacency, S)
    B, r = found.matrix, found.residual_variances
    for j in range(20):
        parents = np.nonzero(adjacency[:, j])[0]
        b = np.linalg.lstsq(X[:, parents], X[:, j], rcond=None)[0]
        np.testing.assert_allclose(B[parents, j], b, rtol=1e-8)
        assert r[j] == pytest.approx(np.var(X[:, j] - X[:, parents] @ b), rel=1e-8)
        assert residual_variance(S, j, parents) == pytest.approx(r[j], rel=1e-8)
        without = [variance_on_rows(X, j, np.delete(parents, i)) for i in range(len(parents))]
        np.testing.assert_allclose(variances_without_each(S, j, parents), without, rtol=1e-8)
    np.testing.assert_array_equal(found.graph, adjacency)
    np.testing.assert_array_equal(found.number_of_parents, adjacency.sum(axis=0))


def test_lists_of_parents_give_the_regressions_of_their_graph():
    drawn = simulate(12, 200, "ER4", random_state=0)
    S, graph = np.cov(drawn.data.T), drawn.sem.adjacency
    number = graph.sum(axis=0)
    lists = np.full((12, 12), 11)
    for j in range(12):
        lists[j, : number[j]] = np.nonzero(graph[:, j])[0][::-1]
    np.testing.assert_allclose(regress_lists(lists, number, S).matrix, regressions(graph, S).matrix, atol=1e-10)


@pytest.mark.parametrize("sparse_from", [0, 500])
def test_residual_variances_of_any_weights_are_those_of_the_rows(sparse_from, monkeypatch, rng):
    monkeypatch.setattr(regression, "_SPARSE_FROM", sparse_from)
    X = rng.normal(size=(100, 8)) @ rng.normal(size=(8, 8))
    B = rng.normal(size=(8, 8)) * (rng.random((8, 8)) < 0.4)
    np.testing.assert_allclose(residual_variances(B, np.cov(X.T, bias=True)), np.var(X - X @ B, axis=0))


def test_collinear_parents_share_the_weight_and_leave_the_others_alone(rng):
    # Whole numbers and a power of two of rows: the copy of column 0 is exact in the covariance too.
    X = rng.integers(-8, 9, size=(64, 5)).astype(float)
    X[:, 1] = X[:, 0]
    X = np.vstack([X, -X])
    S = X.T @ X / len(X)
    graph = np.zeros((5, 5), dtype=bool)
    graph[[0, 1], 2] = graph[[2, 3], 4] = True
    found = regressions(graph, S)
    alone = graph.copy()
    alone[1, 2] = False
    expected = regressions(alone, S)
    np.testing.assert_allclose(found.matrix[:2, 2], expected.matrix[0, 2] / 2)
    np.testing.assert_allclose(found.residual_variances, expected.residual_variances)
    np.testing.assert_array_equal(found.matrix[:, 4], expected.matrix[:, 4])
    without = variances_without_each(S, 2, np.array([0, 1, 3]))
    np.testing.assert_allclose(without, [variance_on_rows(X, 2, rest) for rest in ([1, 3], [0, 3], [0, 1])])


@pytest.mark.parametrize("numbers", [1 << 22, 5])
def test_variances_of_families_are_those_of_the_rows(numbers, monkeypatch, rng):
    monkeypatch.setattr(regression, "_STACK_NUMBERS", numbers)  # a small number: one regression at a time
    X = rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5))
    X -= X.mean(axis=0)
    families = [(0, (1, 2)), (3, ()), (0, (4,)), (2, (1, 3)), (1, (0, 2, 3, 4)), (4, ())]
    expected = [variance_on_rows(X, j, list(parents)) for j, parents in families]
    np.testing.assert_allclose(family_variances(np.cov(X.T, bias=True), families), expected)
    assert not len(family_variances(np.eye(2), []))


def test_weights_of_an_empty_graph_are_zero():
    assert not regressions(np.zeros((3, 3), dtype=bool), np.eye(3)).matrix.any()
    assert residual_variance(np.eye(3), 1, np.array([], dtype=int)) == 1.0
