"""Moves within an equivalence class: they stay in it, lower the total variance, and obey knowledge."""

from __future__ import annotations

import numpy as np
import pytest

from golem import Moments
from golem.graphs.dag import cpdag
from golem.score.regression import regressions
from golem.search.free_order import prefer_equal_variances
from golem.simulate import simulate


def test_the_member_shown_stays_in_the_class_and_lowers_the_total_variance():
    for seed in range(20):
        drawn = simulate(8, 300, "ER2", "gaussian-ev", random_state=seed)
        S = Moments.from_rows(drawn.data).covariance
        start = drawn.sem.adjacency
        shown = prefer_equal_variances(start, S)
        np.testing.assert_array_equal(cpdag(shown), cpdag(start))
        total = [regressions(graph, S).residual_variances.sum() for graph in (start, shown)]
        assert total[1] <= total[0] + 1e-12
        logs = [np.log(regressions(graph, S).residual_variances).sum() for graph in (start, shown)]
        assert logs[0] == pytest.approx(logs[1])  # the NV likelihood cannot tell them apart


def test_the_member_shown_finds_the_best_member_of_small_classes(all_dags, members):
    """Exhaustively: with equal noise variances and much data it is the truth itself."""
    for dag in all_dags(4)[::11]:
        B = dag * 1.0
        effects = np.linalg.inv(np.eye(4) - B)
        S = effects.T @ effects
        for member in members(dag)[:4]:
            np.testing.assert_array_equal(prefer_equal_variances(member, S), dag)


def test_the_member_shown_obeys_knowledge():
    S = np.array([[1.0, 1.0], [1.0, 2.0]])
    backwards = np.array([[False, False], [True, False]])
    allowed = np.array([[False, False], [True, False]])
    np.testing.assert_array_equal(prefer_equal_variances(backwards, S, allowed=allowed), backwards)
    np.testing.assert_array_equal(prefer_equal_variances(backwards, S, required=backwards), backwards)


def test_the_member_shown_depends_only_on_the_class(all_dags, members):
    """In standardized columns many members have the same total variance, so that the order of the nodes decides."""
    for dag in all_dags(4)[::23]:
        effects = np.linalg.inv(np.eye(4) - dag * 0.8)
        S = effects.T @ effects
        S /= np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))
        shown = {prefer_equal_variances(member, S).tobytes() for member in members(dag)}
        assert len(shown) == 1
        for required in np.argwhere(dag):
            mask = np.zeros_like(dag)
            mask[tuple(required)] = True
            able = [member for member in members(dag) if member[mask].all()]
            shown = {prefer_equal_variances(member, S, required=mask).tobytes() for member in able}
            assert len(shown) == 1
            assert np.frombuffer(shown.pop(), dtype=bool).reshape(4, 4)[mask].all()
