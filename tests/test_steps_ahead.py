"""Many steps at a time, as a GPU takes them, here on the CPU: the same weights as step by step."""

import numpy as np
import pytest

from golem import Moments
from golem.likelihood import GaussianEV, GaussianNV
from golem.objective import Objective
from golem.simulate import simulate
from golem.solvers import Adam, Status, steps_ahead


@pytest.fixture
def replayed(monkeypatch):
    """Let the CPU pass for a GPU; returns the steps taken."""
    taken = []

    def replay(step):
        return lambda: (taken.append(1), step())

    monkeypatch.setattr(steps_ahead, "on_accelerator", lambda array: True)
    monkeypatch.setattr(steps_ahead, "Replay", replay)
    return taken


def problem(likelihood, stack, **settings):
    tables = [simulate(12, 300, "ER2", random_state=seed).data for seed in range(3 if stack else 1)]
    S = np.stack([Moments.from_rows(X).covariance for X in tables])
    return Objective(S if stack else S[0], likelihood, **settings)


@pytest.mark.parametrize("stack", [False, True])
@pytest.mark.parametrize(
    ("likelihood", "settings"),
    [
        (GaussianEV(), {"lambda_sparsity": 0.02, "lambda_dag": 5.0}),
        (GaussianNV(), {"lambda_sparsity": 0.002, "lambda_dag": 5.0}),
        (GaussianEV(), {"lambda_sparsity": 0.02}),
        (GaussianEV(), {}),
    ],
)
def test_the_weights_are_those_of_single_steps(stack, likelihood, settings, monkeypatch, replayed):
    objective = problem(likelihood, stack, **settings)
    many = Adam(max_iter=450).solve(objective)
    assert len(replayed) >= 300
    monkeypatch.setattr(steps_ahead, "on_accelerator", lambda array: False)
    single = Adam(max_iter=450).solve(objective)
    np.testing.assert_allclose(many.weights, single.weights, atol=1e-7)
    assert (many.status, many.iterations) == (single.status, single.iterations)
    assert [point.iteration for point in many.trace] == [point.iteration for point in single.trace]


def test_steps_that_the_plan_did_not_fit_are_taken_again(monkeypatch, replayed):
    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    many = Adam(max_iter=450).solve(objective)
    assert len(replayed) > 450
    monkeypatch.setattr(steps_ahead, "on_accelerator", lambda array: False)
    single = Adam(max_iter=450).solve(objective)
    np.testing.assert_allclose(many.weights, single.weights, atol=1e-7)


def test_steps_beyond_all_numbers_are_taken_with_care(replayed):
    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    solution = Adam(max_iter=300, learning_rate=0.5).solve(objective)
    assert np.isfinite(solution.weights).all()
    assert solution.status in (Status.COMPLETED, Status.NON_FINITE)


def test_a_short_solve_takes_exactly_its_steps(replayed):
    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    solution = Adam(max_iter=130).solve(objective)
    assert solution.iterations == 130
    assert len(replayed) >= 130


def test_polynomials_of_other_penalties_are_not_replayed():
    from golem.acyclicity import LogDet

    assert not steps_ahead.pays_to_replay(problem(GaussianEV(), False, acyclicity=LogDet(), lambda_dag=1.0))
