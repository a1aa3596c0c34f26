"""The matrix functions of a score, kept warm and by plan, against those on the spot."""

import numpy as np
import pytest

from golem.arrays import logabsdet_and_inverse_transpose
from golem.expm import expm_nonnegative
from golem.matrix_functions import Foreseen, Warm


def near_identity(rng, shape, size):
    d = shape[-1]
    return np.eye(d) - size * rng.normal(size=shape) / np.sqrt(d)


@pytest.mark.parametrize("stacked", [False, True])
def test_a_warm_inverse_is_the_inverse(stacked, rng):
    warm = Warm()
    M = near_identity(rng, (3, 20, 20) if stacked else (20, 20), 0.3)
    for k in range(60):
        _, inverse_transpose = warm.invert(M)
        np.testing.assert_allclose(inverse_transpose, logabsdet_and_inverse_transpose(M)[1], atol=1e-9)
        jump = 3.0 if k == 40 else 1e-4
        M = M + jump * rng.normal(size=M.shape)
    assert warm.calls == 60
    assert 2 <= warm.cold_starts <= 4  # the first call, and the jump


@pytest.mark.torch
def test_a_warm_inverse_of_tensors(rng):
    torch = pytest.importorskip("torch")
    warm, other = Warm(), Warm()
    M = near_identity(rng, (10, 10), 0.2)
    for _ in range(5):
        ours, theirs = warm.invert(M)[1], other.invert(torch.asarray(M))[1]
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-10, atol=1e-12)
        M = M + 1e-3 * rng.normal(size=M.shape)


def test_a_warm_inverse_survives_a_singular_matrix():
    warm = Warm()
    warm.invert(np.eye(3))
    assert not np.isfinite(warm.invert(np.zeros((3, 3)))[1]).all()
    np.testing.assert_allclose(warm.invert(2 * np.eye(3))[1], np.eye(3) / 2)


@pytest.mark.parametrize("stacked", [False, True])
def test_by_plan_both_functions_are_as_on_the_spot(stacked, rng):
    B = 0.3 * rng.normal(size=(3, 12, 12) if stacked else (12, 12))
    foreseen = Foreseen(np.eye(12) - B, B * B, 4)
    for _ in range(30):
        B = B + 1e-3 * rng.normal(size=B.shape)
        expected = logabsdet_and_inverse_transpose(np.eye(12) - B)[1]
        np.testing.assert_allclose(foreseen.invert(np.eye(12) - B)[1], expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(foreseen.exponentiate(B * B), expm_nonnegative(B * B), rtol=1e-13)
    enough, plan = foreseen.review()
    assert enough
    assert plan.newton_steps <= 4


def test_a_review_sees_where_newton_did_not_converge(rng):
    B = 0.3 * rng.normal(size=(12, 12))
    foreseen = Foreseen(np.eye(12) - B, B * B, 2)
    foreseen.invert(np.eye(12) - B - 0.1 * rng.normal(size=B.shape))
    foreseen.exponentiate(B * B)
    enough, plan = foreseen.review()
    assert not enough
    assert plan.newton_steps > 2


def test_a_review_sees_where_a_polynomial_does_not_suffice(rng):
    B = 0.1 * rng.normal(size=(12, 12))
    foreseen = Foreseen(np.eye(12) - B, B * B, 3)
    foreseen.invert(np.eye(12) - B)
    foreseen.exponentiate(900 * B * B)
    enough, plan = foreseen.review()
    assert not enough
    assert plan.expm.squarings > foreseen.plan.expm.squarings


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_review_sees_numbers_that_are_none(wrong):
    foreseen = Foreseen(np.eye(3), np.zeros((3, 3)), 3)
    with np.errstate(all="ignore"):
        foreseen.invert(np.full((3, 3), wrong))
    assert not foreseen.review()[0]
    with np.errstate(all="ignore"):
        foreseen.exponentiate(np.full((3, 3), wrong))
    assert not foreseen.review()[0]


def test_steps_that_were_not_needed_are_left_out():
    foreseen = Foreseen(np.eye(3), np.zeros((3, 3)), 5)
    foreseen.invert(np.eye(3) * (1 + 1e-9))
    assert foreseen.review()[1].newton_steps == 4
