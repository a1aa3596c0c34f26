"""Inverses by plan against LU, and what a review of the plan sees."""

import numpy as np
import pytest

from golem.runtime.gpu.planned_inverse import PlannedInverse


def matrices(rng, stacked):
    shape = (3, 20, 20) if stacked else (20, 20)
    return np.eye(20) + 0.1 * rng.normal(size=shape)


@pytest.mark.parametrize("stacked", [False, True])
def test_an_inverse_by_plan_is_that_by_lu(stacked, rng):
    M = matrices(rng, stacked)
    planned = PlannedInverse(M)
    planned.start(M)
    for _ in range(30):
        M = M + 1e-4 * rng.normal(size=M.shape)
        np.testing.assert_allclose(planned.follow(M), np.linalg.inv(M).mT, rtol=0, atol=1e-13)
    assert planned.review().exact
    assert 0 < planned.iterations <= 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_review_sees_steps_that_are_too_large(dtype, rng):
    M = matrices(rng, False).astype(dtype)
    step = (0.02 * rng.normal(size=M.shape)).astype(dtype)
    planned = PlannedInverse(M)
    planned.iterations = 1
    planned.start(M)
    planned.follow(M + step)
    assert planned.review() == (False, True)
    assert planned.iterations > 1
    planned.start(M)
    rounding = 50 * np.finfo(dtype).eps
    np.testing.assert_allclose(planned.follow(M + step), np.linalg.inv(M + step).T, rtol=0, atol=rounding)
    assert planned.review().exact


@pytest.mark.parametrize("wrong", [1.0, np.nan])
def test_lu_is_planned_for_steps_of_any_size_and_left_again(wrong, rng):
    M = matrices(rng, True)
    planned = PlannedInverse(M)
    planned.start(M)
    with np.errstate(all="ignore"):
        planned.follow(M + wrong * rng.normal(size=M.shape))
    assert planned.review() == (False, True)
    assert planned.iterations == 0
    N = M + rng.normal(size=M.shape)
    np.testing.assert_allclose(planned.follow(N), np.linalg.inv(N).mT, rtol=1e-10)
    assert planned.review() == (True, True)
    assert planned.iterations > 0


def test_a_step_past_a_singular_matrix_needs_no_lu(rng):
    M = np.eye(20)
    planned = PlannedInverse(M)
    planned.start(np.diag([1e-3] + [1.0] * 19))
    M[0, 0] = -1e-3
    M += 1e-5 * rng.normal(size=M.shape)
    np.testing.assert_allclose(planned.follow(M), np.linalg.inv(M).T, rtol=1e-9)
    assert planned.review().exact
