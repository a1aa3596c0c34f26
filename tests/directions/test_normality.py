"""The test of normality, and its moments against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kurtosis, skew

from golem.directions.normality import normality_test, standardized_moments


@pytest.mark.parametrize("n", [20, 47, 1000])
def test_the_moments_agree_with_scipy(n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.normal(size=(n, 20)), rng.gamma(3, size=(n, 20)), rng.uniform(size=(n, 20))])
    skewness, excess = standardized_moments(X)
    assert skewness == pytest.approx(skew(X))
    assert excess == pytest.approx(kurtosis(X))


def test_the_level_is_right_and_other_shapes_are_found(rng):
    p = normality_test(rng.normal(size=(200, 2000)))
    assert 0.03 < (p < 0.05).mean() < 0.07
    assert (normality_test(rng.exponential(size=(200, 50))) < 1e-4).all()


def test_a_constant_column_has_no_p_value(rng):
    X = rng.normal(size=(30, 4)) + 1e9
    X[:, 1], X[:, 2] = 0.1, 0.0
    assert np.isnan(normality_test(X)).tolist() == [False, True, True, False]
