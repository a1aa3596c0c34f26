"""The weighted sum: masks, names of terms, stationarity."""

from __future__ import annotations

import numpy as np
import pytest

from golem.score.likelihood import GaussianEV, GaussianNV
from golem.score.objective import Objective


@pytest.fixture
def objective(rng):
    X = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    allowed = np.ones((4, 4), dtype=bool)
    allowed[2, 1] = False
    unpenalized = np.zeros((4, 4), dtype=bool)
    unpenalized[0, 3] = True
    return Objective(
        X.T @ X / 50, GaussianEV(), lambda_sparsity=0.1, lambda_dag=3.0, allowed=allowed, unpenalized=unpenalized
    )


def test_score_is_the_sum_of_its_terms(objective, rng):
    B = rng.normal(size=(4, 4)) * 0.3 * objective.free
    terms = objective.terms(B)
    assert terms["score"] == pytest.approx(terms["likelihood"] + terms["sparsity"] + terms["dag"])
    assert terms["score"] == pytest.approx(objective.value_and_grad(B)[0])
    assert terms["dag"] == pytest.approx(3 * terms["h"])
    assert terms["l1"] == pytest.approx(np.abs(B).sum())
    assert terms["sparsity"] == pytest.approx(0.1 * (np.abs(B).sum() - abs(B[0, 3])))


def test_gradient_is_zero_on_the_diagonal_and_on_forbidden_edges(objective, rng):
    B = rng.normal(size=(4, 4)) * 0.3 * objective.free
    _, grad = objective.value_and_grad(B)
    assert not np.diagonal(grad).any()
    assert grad[2, 1] == 0
    assert np.count_nonzero(grad) == 11


def test_a_required_edge_bears_no_penalty(objective, rng):
    B = rng.normal(size=(4, 4)) * 0.3 * objective.free
    difference = objective.value_and_grad(B)[1] - objective.smooth_value_and_grad(B)[1]
    assert difference[0, 3] == 0
    assert abs(difference[0, 1]) == pytest.approx(0.1)


def test_stationarity_vanishes_at_the_optimum_of_a_lasso():
    """With S = I and B = 0 the EV gradient is zero: stationary, though sign(B) is not continuous there."""
    objective = Objective(np.eye(3), GaussianEV(), lambda_sparsity=0.5, lambda_dag=1.0)
    B = np.zeros((3, 3))
    assert objective.stationarity(B, objective.smooth_value_and_grad(B)[1]) == 0
    B[0, 1] = 1e-9  # as good as zero, and judged so; the subgradient has size 0.5 here
    assert objective.stationarity(B, objective.smooth_value_and_grad(B)[1]) < 1e-8
    assert np.abs(objective.value_and_grad(B)[1]).max() > 0.4


def test_a_covariance_can_be_replaced_for_one_evaluation(objective, rng):
    B = np.zeros((4, 4))
    value, _ = objective.smooth_value_and_grad(B, np.eye(4))
    assert value == pytest.approx(2 * np.log(4))


@pytest.mark.parametrize("likelihood", [GaussianEV(), GaussianNV()])
def test_a_non_finite_score_is_a_value_and_no_warning(likelihood):
    objective = Objective(np.eye(2), likelihood, lambda_dag=5.0)
    assert not np.isfinite(objective.value_and_grad(np.array([[0, 1.0], [1.0, 0]]))[0])  # I - B is singular
    assert not np.isfinite(objective.value_and_grad(np.array([[0, 1e160], [1e160, 0]]))[0])
