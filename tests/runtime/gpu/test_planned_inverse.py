"""Inverses by plan against LU, and what a review of the plan sees."""

import numpy as np
import pytest

from golem.runtime.gpu import planned_functions
from golem.runtime.gpu.planned_functions import PlannedInverse, _iterations_for


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(planned_functions, "LARGEST_BLOCK", 4)


def matrices(rng, stacked):
    shape = (3, 20, 20) if stacked else (20, 20)
    return np.eye(20) + 0.1 * rng.normal(size=shape)


def nearly_singular_block(rng, size):
    """Return a well-conditioned matrix whose leading half is nearly singular."""
    A, D = rng.normal(size=(2, 10, 10))
    B, C = (np.linalg.qr(one)[0] for one in rng.normal(size=(2, 10, 10)))
    return np.block([[size * A, B], [C, size * D]])


@pytest.mark.parametrize("stacked", [False, True])
def test_an_inverse_by_plan_is_that_by_lu(stacked, rng):
    M = matrices(rng, stacked)
    planned = PlannedInverse(M)
    for _ in range(30):
        M = M + 1e-2 * rng.normal(size=M.shape)
        np.testing.assert_allclose(planned.transposed_inverse(M), np.linalg.inv(M).mT, rtol=0, atol=1e-13)
    assert planned.review().exact
    assert planned.iterations == 2


def test_a_plan_is_shortened_only_after_many_reviews(rng):
    M = matrices(rng, False)
    planned = PlannedInverse(M)
    seen = []
    for _ in range(20):
        planned.transposed_inverse(M)
        seen.append((*planned.review(), planned.iterations))
    assert seen == [(True, False, 2)] * 19 + [(True, True, 1)]


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 3e-3), (np.float64, 1e-10)])
def test_a_review_sees_a_plan_that_is_too_short(dtype, size, rng):
    M = nearly_singular_block(rng, size).astype(dtype)
    planned = PlannedInverse(M)
    planned.iterations = 1
    planned.transposed_inverse(M)
    assert planned.review() == (False, True)
    assert planned.iterations > 1
    rounding = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(planned.transposed_inverse(M), np.linalg.inv(M).T, rtol=0, atol=rounding)
    assert planned.review().exact


def test_lu_is_planned_for_a_singular_block_and_left_again(rng):
    M = nearly_singular_block(rng, 0.0)
    planned = PlannedInverse(M)
    with np.errstate(all="ignore"):
        planned.transposed_inverse(M)
    assert planned.review() == (False, True)
    assert planned.iterations == 0
    np.testing.assert_allclose(planned.transposed_inverse(M), np.linalg.inv(M).T, rtol=0, atol=1e-14)
    assert planned.review() == (True, True)
    assert planned.iterations > 0


@pytest.mark.parametrize("residuals", [[1e6, 1e12], [np.nan, np.nan], [np.inf, np.inf], [1.0, 1.0]])
def test_residuals_that_no_iteration_makes_smaller_lead_to_lu(residuals):
    assert _iterations_for(residuals, 1e-10) == 0
