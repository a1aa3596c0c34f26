"""The compiled exact search finds the minimum of the plain one, and no search over orders is better."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from golem import Golem, Moments
from golem.score import L0
from golem.score.gaussian_columns import GaussianColumns
from golem.score.regression import regressions
from golem.search.exact_columns import ExactColumns
from golem.search.exact_order import ExactOrders
from golem.simulate import simulate
from golem.solvers import Status


def problem(d: int, n: int, seed: int) -> tuple[ExactColumns, ExactOrders, Moments]:
    moments = Moments.from_rows(simulate(d, n, "ER2", "gaussian-nv", random_state=seed).data)
    penalties = L0().penalties(n, d)
    standard = GaussianColumns(moments.standardized().covariance, n, penalties)
    return ExactColumns(GaussianColumns(moments.covariance, n, penalties)), ExactOrders(standard), moments


@pytest.mark.parametrize("seed", range(8))
def test_the_minimum_is_that_of_the_plain_recursion(seed):
    rng = np.random.default_rng(seed)
    d, n = 3 + seed % 7, 20 + 10 * seed
    compiled, plain, moments = problem(d, n, seed)
    allowed = (rng.random((d, d)) < 0.8) & ~np.eye(d, dtype=bool)
    required = np.zeros((d, d), dtype=bool)
    required[0, d - 1] = allowed[0, d - 1] = True
    for masks in ((None, None, None), (allowed, required, 2)):
        graph, score = compiled.minimum(*masks)
        graphs, scores = plain.minima(*masks)
        np.testing.assert_array_equal(graph, graphs[0])
        assert score == pytest.approx(scores[0])
    graph, score = compiled.minimum(centre=0.3, spread=0.2)
    graphs, scores = plain.minima(centres=np.array([[0.3]]) - np.log(moments.variances), spreads=np.array([0.2]))
    np.testing.assert_array_equal(graph, graphs[0])
    assert score == pytest.approx(scores[0])


def test_the_score_is_that_of_the_graph():
    compiled, _, moments = problem(16, 200, 0)
    graph, score = compiled.minimum()
    r = regressions(graph, moments.standardized().covariance).residual_variances
    assert score == pytest.approx(200 * np.log(r).sum() + L0().penalties(200, 16)[graph.sum(axis=0)].sum())


def test_masks_that_no_graph_satisfies_are_refused():
    compiled, _, _ = problem(3, 100, 0)
    cycle = np.roll(np.eye(3, dtype=bool), 1, axis=1)
    with pytest.raises(ValueError, match="No acyclic graph"):
        compiled.minimum(required=cycle)


def test_up_to_20_columns_the_default_is_exact_and_not_worse_than_a_fast_search():
    for d in (13, 17, 20):
        X = simulate(d, 60, "ER2", "gaussian-nv", random_state=d, standardize=True).data
        exact, fast = (Golem("nv", shape="off", effort=effort).fit(X).solution_ for effort in (None, "fast"))
        assert exact.status is Status.EXACT
        assert fast.status is not Status.EXACT
        assert exact.terms["score"] <= fast.terms["score"] + 1e-9
    with pytest.warns(ConvergenceWarning):
        limited = Golem("nv", shape="off", time_limit=1e-3).fit(X)
    assert limited.solution_.status is not Status.EXACT
