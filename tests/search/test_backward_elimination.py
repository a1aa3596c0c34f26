"""Parents by elimination: least-squares weights, and a graph from which no edge should be dropped."""

from __future__ import annotations

import math

import numpy as np
import pytest

from golem import Moments
from golem.score.regression import regressions
from golem.score.sparsity import L0
from golem.search.equal import backward_elimination
from golem.search.equal.backward_elimination import eliminate_parents
from golem.search.equal.variance_order import inverse_factor, variance_order
from golem.simulate import simulate


@pytest.fixture(params=[300, 3])
def drawn(request, monkeypatch):
    monkeypatch.setattr(backward_elimination, "_SCREENED_FROM", request.param)
    return [simulate(12, 400, "ER2", random_state=seed) for seed in range(5)]


def eliminated(moments, allowed=None, required=None):
    order, factor = variance_order(moments.covariance)
    penalties = L0().penalties(moments.n, moments.d)
    return eliminate_parents(inverse_factor(factor), order, moments.n, penalties, allowed, required, math.inf)


def test_weights_and_variances_are_those_of_least_squares(drawn):
    for one in drawn:
        moments = Moments.from_rows(one.data)
        found = eliminated(moments)
        expected = regressions(found.graph, moments.covariance)
        np.testing.assert_allclose(found.weights, expected.matrix, atol=1e-9)
        np.testing.assert_allclose(found.regressions.residual_variances, expected.residual_variances, rtol=1e-9)


def test_the_graph_is_that_of_the_data_and_dropping_any_edge_raises_the_score(drawn):
    for one in drawn:
        moments = Moments.from_rows(one.data)
        n, d, penalties = moments.n, moments.d, L0().penalties(moments.n, moments.d)

        def score(graph, S=moments.covariance, n=n, d=d, penalties=penalties):
            r = regressions(graph, S).residual_variances
            return n * d * math.log(r.mean()) + penalties[graph.sum(axis=0)].sum()

        found = eliminated(moments)
        assert found.score == pytest.approx(score(found.graph))
        assert (found.graph != one.sem.adjacency).sum() <= 1
        for i, j in np.argwhere(found.graph):
            dropped = found.graph.copy()
            dropped[i, j] = False
            assert score(dropped) > found.score


def test_masks_are_obeyed(drawn):
    for one in drawn:
        moments = Moments.from_rows(one.data)
        order = variance_order(moments.covariance)[0]
        free = eliminated(moments).graph
        allowed, required = np.ones_like(free), np.zeros_like(free)
        allowed[tuple(np.argwhere(free)[0])] = False
        required[order[0], order[-1]] = True
        graph = eliminated(moments, allowed, required).graph
        assert graph[order[0], order[-1]]
        assert not graph[~allowed].any()
