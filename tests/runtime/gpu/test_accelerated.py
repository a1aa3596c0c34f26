"""Accelerated matrix functions against the exact ones, and where they are refused."""

import numpy as np
import pytest

from golem.runtime.expm import cheapest_plan, expm_nonnegative, power_norms
from golem.runtime.gpu.accelerated import LARGE, Accelerated, accelerated_functions
from golem.runtime.linear_algebra import EXACT
from golem.score.likelihood import GaussianNV
from golem.score.objective import Objective
from golem.simulate import simulate
from golem.solvers import Adam


@pytest.mark.torch
def test_an_accelerated_descent_is_the_exact_one(rng, monkeypatch):
    torch = pytest.importorskip("torch")
    S = torch.asarray(simulate(40, 500, "ER2", random_state=3).data)
    objective = Objective(S.T @ S / 500, GaussianNV(), lambda_sparsity=2e-3, lambda_dag=5.0)
    exact = Adam(max_iter=60).solve(objective)
    accelerated = Accelerated()
    monkeypatch.setattr("golem.gradient.adam.accelerated_functions", lambda B: accelerated)
    ours = Adam(max_iter=60, accelerate=True).solve(objective)
    np.testing.assert_allclose(ours.weights, exact.weights, atol=1e-7)
    assert accelerated.inverse.calls == 61
    assert accelerated.inverse.cold_starts <= 3


def test_an_accelerated_exponential_has_six_digits(rng):
    accelerated = Accelerated()
    for size in (0.1, 1.0, 3.0, 1.0, 0.1):  # more powers, and fewer, than the time before
        A = (size * rng.normal(size=(30, 30)) / 5) ** 2
        exact = expm_nonnegative(A)
        assert np.abs(accelerated.exponentiate(A) - exact).sum(axis=0).max() <= 1e-6 * exact.sum(axis=0).max()
    with np.errstate(all="ignore"):
        assert np.isnan(accelerated.exponentiate(np.full((3, 3), np.inf))).all()


def test_an_accelerated_exponential_takes_no_more_products_than_six_digits_need(rng, monkeypatch):
    taken = []
    monkeypatch.setattr(
        "golem.runtime.gpu.accelerated.expm_by_plan", lambda powers, plan: taken.append(plan.products) or 0
    )
    A = np.full((20, 20), 0.06)  # of norm 1.2
    accelerated = Accelerated()
    for _ in range(3):
        accelerated.exponentiate(A)
    assert taken == [4, 4, 4]
    assert cheapest_plan(power_norms(A, A @ A).tolist(), 2.2e-16).products == 6
    accelerated.exponentiate(A / 100)  # the plan of the step before is more than enough; the next takes fewer products
    accelerated.exponentiate(A / 100)
    assert taken[3:] == [4, 3]
    accelerated.exponentiate(10 * A)  # not enough, and taken again
    assert taken[5:] == [3, 7]


def test_acceleration_is_for_one_large_matrix_of_doubles_on_a_gpu(monkeypatch):
    large = np.zeros((LARGE, LARGE))
    with pytest.raises(ValueError, match="needs an NVIDIA GPU"):
        accelerated_functions(large)
    monkeypatch.setattr("golem.runtime.gpu.accelerated.supports_half_products", lambda array: True)
    assert isinstance(accelerated_functions(large), Accelerated)
    assert accelerated_functions(large[:50, :50]) is EXACT
    with pytest.raises(ValueError, match="one problem at a time"):
        accelerated_functions(large[None])
    with pytest.raises(ValueError, match="float64"):
        accelerated_functions(large.astype(np.float32))


@pytest.mark.gpu
def test_a_gpu_accelerates_only_where_it_is_asked_to(monkeypatch):
    torch = pytest.importorskip("torch")
    S = torch.eye(LARGE, dtype=torch.float64, device="cuda")
    objective = Objective(S, GaussianNV(), lambda_sparsity=2e-3, lambda_dag=5.0)
    used = []
    monkeypatch.setattr(Accelerated, "exponentiate", lambda self, A: used.append(self) or EXACT.exponentiate(A))
    Adam(max_iter=3).solve(objective)
    assert not used
    Adam(max_iter=3, accelerate=True).solve(objective)
    assert used
