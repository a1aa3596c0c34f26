"""The matrix functions of a score, kept warm and by plan, against those on the spot."""

import numpy as np
import pytest

from golem.runtime.expm import cheapest_plan, expm_nonnegative, power_norms
from golem.runtime.matrix_functions import Foreseen, Warm
from golem.score.likelihood import GaussianNV
from golem.score.objective import Objective
from golem.simulate import simulate
from golem.solvers import Adam


@pytest.mark.torch
def test_a_descent_by_warm_functions_is_that_by_direct_ones(rng, monkeypatch):
    torch = pytest.importorskip("torch")
    S = torch.asarray(simulate(40, 500, "ER2", random_state=3).data)
    objective = Objective(S.T @ S / 500, GaussianNV(), lambda_sparsity=2e-3, lambda_dag=5.0)
    direct = Adam(max_iter=60).solve(objective)
    warm = Warm()
    monkeypatch.setattr("golem.solvers.adam.functions_for", lambda B: warm)
    ours = Adam(max_iter=60).solve(objective)
    np.testing.assert_allclose(ours.weights, direct.weights, atol=1e-7)
    assert warm.inverse.calls == 61
    assert warm.inverse.cold_starts <= 3


def test_a_warm_exponential_has_six_digits(rng):
    warm = Warm()
    for size in (0.1, 1.0, 3.0, 1.0, 0.1):  # more powers, and fewer, than the time before
        A = (size * rng.normal(size=(30, 30)) / 5) ** 2
        exact = expm_nonnegative(A)
        assert np.abs(warm.exponentiate(A) - exact).sum(axis=0).max() <= 1e-6 * exact.sum(axis=0).max()
    with np.errstate(all="ignore"):
        assert np.isnan(warm.exponentiate(np.full((3, 3), np.inf))).all()


def test_a_warm_exponential_takes_no_more_products_than_six_digits_need(rng, monkeypatch):
    taken = []
    monkeypatch.setattr(
        "golem.runtime.matrix_functions.expm_by_plan", lambda powers, plan: taken.append(plan.products) or 0
    )
    A = np.full((20, 20), 0.06)  # of norm 1.2
    warm = Warm()
    for _ in range(3):
        warm.exponentiate(A)
    assert taken == [4, 4, 4]
    assert cheapest_plan(power_norms(A, A @ A).tolist(), 2.2e-16).products == 6
    warm.exponentiate(A / 100)  # the plan of the step before is more than enough; the next takes fewer products
    warm.exponentiate(A / 100)
    assert taken[3:] == [4, 3]
    warm.exponentiate(10 * A)  # not enough, and taken again
    assert taken[5:] == [3, 7]


@pytest.mark.parametrize("stacked", [False, True])
def test_an_exponential_by_plan_is_that_on_the_spot(stacked, rng):
    B = 0.3 * rng.normal(size=(3, 12, 12) if stacked else (12, 12))
    foreseen = Foreseen(B * B)
    for _ in range(30):
        B = B + 1e-3 * rng.normal(size=B.shape)
        np.testing.assert_allclose(foreseen.exponentiate(B * B), expm_nonnegative(B * B), rtol=1e-13)
    assert foreseen.review() == (True, foreseen.plan)


def test_a_review_sees_where_a_polynomial_does_not_suffice(rng):
    B = 0.1 * rng.normal(size=(12, 12))
    foreseen = Foreseen(B * B)
    foreseen.exponentiate(900 * B * B)
    enough, plan = foreseen.review()
    assert not enough
    assert plan.squarings > foreseen.plan.squarings
    foreseen.plan = plan
    foreseen.exponentiate(900 * B * B)
    assert foreseen.review()[0]


def test_a_plan_has_room_for_norms_that_grow(rng):
    B = 0.2 * rng.normal(size=(12, 12))
    foreseen = Foreseen(B * B)
    for growth in np.linspace(1.0, 1.15, 10):  # its 13th power is 6
        foreseen.exponentiate(growth * B * B)
    assert foreseen.review()[0]


def test_a_review_sees_where_fewer_products_would_do(rng):
    B = rng.normal(size=(12, 12))
    foreseen = Foreseen(B * B)
    foreseen.exponentiate(1e-3 * B * B)
    enough, plan = foreseen.review()
    assert enough
    assert plan.products < foreseen.plan.products


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_review_sees_numbers_that_are_none(wrong):
    foreseen = Foreseen(np.zeros((3, 3)))
    with np.errstate(all="ignore"):
        foreseen.exponentiate(np.full((3, 3), wrong))
    foreseen.exponentiate(np.zeros((3, 3)))
    assert not foreseen.review()[0]
