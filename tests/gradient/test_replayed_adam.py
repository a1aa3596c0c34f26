"""Many steps at a time, as a GPU takes them, here on the CPU: the same weights as step by step."""

import gc
import time
import weakref

import numpy as np
import pytest

from golem import Moments
from golem.gradient import checkpoint, replayed_adam
from golem.gradient.adam import Adam
from golem.runtime.gpu import planned_functions
from golem.score.acyclicity import Expm, LogDet, Polynomial
from golem.score.likelihood import GaussianEV, GaussianNV
from golem.score.objective import Objective
from golem.score.solution import Recorder, Status
from golem.simulate import simulate


@pytest.fixture
def replayed(monkeypatch):
    """Let the CPU pass for a GPU; returns the steps taken."""
    taken = []

    def replay(step, device):
        return lambda: (taken.append(1), step())

    monkeypatch.setattr(replayed_adam, "can_replay", lambda array: True)
    monkeypatch.setattr(replayed_adam, "ReplayedStep", replay)
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
    monkeypatch.setattr(replayed_adam, "can_replay", lambda array: False)
    single = Adam(max_iter=450).solve(objective)
    np.testing.assert_allclose(many.weights, single.weights, atol=1e-7)
    assert (many.status, many.iterations) == (single.status, single.iterations)
    assert [point.iteration for point in many.trace] == [point.iteration for point in single.trace]


def test_replayed_steps_continue_from_a_checkpoint(monkeypatch, replayed, tmp_path):
    objective = problem(GaussianEV(), True, lambda_sparsity=0.02, lambda_dag=5.0)
    whole = Adam(max_iter=450).solve(objective)
    monkeypatch.setattr(checkpoint, "_COPY_INTERVAL", 0.0)

    observe = Recorder.observe

    def interrupted(self, iteration, B):
        if iteration >= stop:
            raise KeyboardInterrupt
        observe(self, iteration, B)

    monkeypatch.setattr(Recorder, "observe", interrupted)
    for stop in (120, 330, 10_000):
        file = checkpoint.Checkpoint(tmp_path / "run", {}, tuple(objective.S.shape))
        solution = Adam(max_iter=450).solve(objective, checkpoint=file)
        assert (solution.status is Status.INTERRUPTED) is (stop < 450)
    np.testing.assert_allclose(solution.weights, whole.weights, atol=1e-7)
    assert [point.iteration for point in solution.trace] == [point.iteration for point in whole.trace]


def test_steps_that_the_plan_did_not_fit_are_taken_again(monkeypatch, replayed):
    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    many = Adam(max_iter=450).solve(objective)
    assert len(replayed) > 450
    monkeypatch.setattr(replayed_adam, "can_replay", lambda array: False)
    single = Adam(max_iter=450).solve(objective)
    np.testing.assert_allclose(many.weights, single.weights, atol=1e-7)


@pytest.mark.parametrize(("learning_rate", "steps"), [(10.0, 250), (1e3, 1)])
def test_steps_beyond_all_numbers_are_taken_with_care(learning_rate, steps, monkeypatch, replayed):
    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    refused = []
    take = replayed_adam.ReplayedAdam.take

    def noting(self, *arguments):
        taken = take(self, *arguments)
        refused.append(taken is None)
        return taken

    monkeypatch.setattr(replayed_adam.ReplayedAdam, "take", noting)
    many = Adam(max_iter=steps, learning_rate=learning_rate).solve(objective)
    assert any(refused) or steps == 1
    # After a refusal there is a pause: not every step is tried ahead and taken again.
    assert len(replayed) < 3 * steps + 100
    monkeypatch.setattr(replayed_adam, "can_replay", lambda array: False)
    single = Adam(max_iter=steps, learning_rate=learning_rate).solve(objective)
    assert np.isfinite(many.weights).all()
    assert np.isfinite(many.terms["score"])
    assert many.status is single.status


def test_a_short_solve_takes_exactly_its_steps(replayed):
    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    solution = Adam(max_iter=130).solve(objective)
    assert solution.iterations == 130
    assert len(replayed) >= 130


@pytest.mark.parametrize(
    ("acyclicity", "weight", "pays"),
    [(Expm(), 1.0, True), (LogDet(), 1.0, False), (Polynomial(), 1.0, False), (LogDet(), 0.0, True)],
)
def test_only_exponentials_are_planned(acyclicity, weight, pays, replayed):
    objective = problem(GaussianEV(), False, acyclicity=acyclicity, lambda_dag=weight)
    assert replayed_adam.pays_to_replay(objective) == pays


def test_a_time_limit_is_kept(monkeypatch, replayed):
    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    advance = replayed_adam.ReplayedAdam._advance

    def slowly(self, functions):
        time.sleep(0.01)
        advance(self, functions)

    monkeypatch.setattr(replayed_adam.ReplayedAdam, "_advance", slowly)
    solution = Adam(max_iter=100_000, time_limit=0.5).solve(objective)
    assert solution.status is Status.TIME_LIMIT
    assert solution.seconds < 2.5


def test_what_cannot_be_recorded_is_taken_step_by_step(monkeypatch):
    def refusing(step, device):
        def replay():
            raise RuntimeError("operation not permitted when stream is capturing")

        return replay

    objective = problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0)
    single = Adam(max_iter=150).solve(objective)
    monkeypatch.setattr(replayed_adam, "can_replay", lambda array: True)
    monkeypatch.setattr(replayed_adam, "ReplayedStep", refusing)
    np.testing.assert_array_equal(Adam(max_iter=150).solve(objective).weights, single.weights)


def test_nothing_is_held_after_a_solve(replayed, monkeypatch):
    made = []
    begin = replayed_adam.ReplayedAdam.__init__

    def noting(self, *arguments):
        begin(self, *arguments)
        made.append(weakref.ref(self))

    monkeypatch.setattr(replayed_adam.ReplayedAdam, "__init__", noting)
    gc.disable()
    try:
        Adam(max_iter=200).solve(problem(GaussianEV(), False, lambda_sparsity=0.02, lambda_dag=5.0))
        assert made[0]() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("acyclicity", [Expm(), Polynomial()])
@pytest.mark.parametrize("lambda_dag", [0.0, 5.0])
@pytest.mark.parametrize("d", [10, 30])
def test_memory_is_asked_for_by_the_rule_that_decides_on_replaying(acyclicity, lambda_dag, d, monkeypatch):
    monkeypatch.setattr(replayed_adam, "can_replay", lambda array: True)
    monkeypatch.setattr(replayed_adam, "_LARGEST", 20)
    objective = Objective(np.eye(d), GaussianEV(), acyclicity=acyclicity, lambda_dag=lambda_dag)
    asked = Adam().peak_matrices(acyclicity, lambda_dag, d)
    assert asked == (48 if replayed_adam.pays_to_replay(objective) else 24)
    assert Adam(batch_size=5).peak_matrices(acyclicity, lambda_dag, d) == 24


def test_accelerated_steps_are_not_replayed_and_need_less_memory():
    assert Adam().peak_matrices(Expm(), 5.0, 3000) == 48
    assert Adam(accelerate=True).peak_matrices(Expm(), 5.0, 3000) == 24
    assert Adam(accelerate=True).peak_matrices(Expm(), 5.0, 500) == 48  # small problems use the exact functions


def test_inverses_by_halves_lead_to_the_weights_of_single_steps(monkeypatch, replayed):
    monkeypatch.setattr(planned_functions, "LARGEST_BLOCK", 2)
    objective = problem(GaussianEV(), True, lambda_sparsity=0.02, lambda_dag=5.0)
    many = Adam(max_iter=450).solve(objective)
    assert 450 <= len(replayed) < 900  # fewer steps are repeated than taken
    monkeypatch.setattr(replayed_adam, "can_replay", lambda array: False)
    np.testing.assert_allclose(many.weights, Adam(max_iter=450).solve(objective).weights, atol=1e-7)
