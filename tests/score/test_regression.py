"""Regressions of nodes on their parents, against least squares on the rows."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Moments
from golem.score.objective import residual_variances
from golem.score.regression import least_squares_weights, regress_on_parents, regressions, residual_variance
from golem.simulate import simulate


@pytest.mark.parametrize("graph", ["ER1", "ER4", "SF4"])
def test_weights_and_residual_variances_are_those_of_least_squares_on_the_rows(graph):
    drawn = simulate(20, 200, graph, "gaussian-nv", random_state=3)
    X, adjacency = drawn.data - drawn.data.mean(axis=0), drawn.sem.adjacency
    S = Moments.from_rows(X).covariance
    B, r = regress_on_parents(adjacency, S)
    for j in range(20):
        parents = np.nonzero(adjacency[:, j])[0]
        b = np.linalg.lstsq(X[:, parents], X[:, j], rcond=None)[0]
        np.testing.assert_allclose(B[parents, j], b, rtol=1e-8)
        assert r[j] == pytest.approx(np.var(X[:, j] - X[:, parents] @ b), rel=1e-8)
        assert residual_variance(S, j, adjacency[:, j]) == pytest.approx(r[j], rel=1e-8)
    np.testing.assert_allclose(residual_variances(B, S), r, rtol=1e-8)
    found = regressions(adjacency, S)
    np.testing.assert_array_equal(found.graph, adjacency)
    np.testing.assert_array_equal(found.number_of_parents, adjacency.sum(axis=0))


def test_least_squares_weights_of_an_empty_graph_are_zero():
    assert not least_squares_weights(np.zeros((3, 3), dtype=bool), np.eye(3)).any()
