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
