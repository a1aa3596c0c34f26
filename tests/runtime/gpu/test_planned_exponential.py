"""exp by plan against exp on the spot, and what a review of the plan sees."""

import numpy as np
import pytest

from golem.runtime.expm import expm_nonnegative
from golem.runtime.gpu.planned_functions import PATIENCE, PlannedExponential


@pytest.mark.parametrize("stacked", [False, True])
def test_an_exponential_by_plan_is_that_on_the_spot(stacked, rng):
    B = 0.3 * rng.normal(size=(3, 12, 12) if stacked else (12, 12))
    planned = PlannedExponential(B * B)
    for _ in range(30):
        B = B + 1e-3 * rng.normal(size=B.shape)
        np.testing.assert_allclose(planned.exponentiate(B * B), expm_nonnegative(B * B), rtol=1e-13)
    assert planned.review() == (True, False)


def test_a_review_sees_where_a_polynomial_does_not_suffice(rng):
    B = 0.1 * rng.normal(size=(12, 12))
    planned = PlannedExponential(B * B)
    planned.exponentiate(900 * B * B)
    squarings = planned.plan.squarings
    assert planned.review() == (False, True)
    assert planned.plan.squarings > squarings
    planned.exponentiate(900 * B * B)
    assert planned.review().exact


def test_a_plan_has_room_for_norms_that_grow(rng):
    B = 0.2 * rng.normal(size=(12, 12))
    planned = PlannedExponential(B * B)
    for growth in np.linspace(1.0, 1.15, 10):  # its 13th power is 6
        planned.exponentiate(growth * B * B)
    assert planned.review().exact


def test_a_review_sees_where_fewer_products_would_do(rng):
    B = rng.normal(size=(12, 12))
    planned = PlannedExponential(B * B)
    products = planned.plan.products
    for _ in range(PATIENCE):
        planned.exponentiate(1e-3 * B * B)
        review = planned.review()
        assert review.exact
    assert review.replanned
    assert planned.plan.products < products


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_review_sees_numbers_that_are_none(wrong):
    planned = PlannedExponential(np.zeros((3, 3)))
    with np.errstate(all="ignore"):
        planned.exponentiate(np.full((3, 3), wrong))
    planned.exponentiate(np.zeros((3, 3)))
    assert not planned.review().exact
