"""Tests of golem.data.factors."""

import numpy as np

from golem.data.factors import principal_factors


def test_equal_factors_are_all_found():
    """Five blocks of equal correlations: the largest value of the correlations occurs five times."""
    R = np.kron(np.eye(5), np.full((20, 20), 0.8)) + 0.2 * np.eye(100)
    assert principal_factors(R, 1000) == 5
    assert principal_factors(R[:80, :80], 1000) == 4
