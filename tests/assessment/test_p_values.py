"""Corrections of p-values for their number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import combine_pvalues

from golem.assessment.p_values import holm, smallest_of_independent


def test_holms_correction():
    """Against the step-down procedure, p-value by p-value: adjusted p <= a exactly where the procedure rejects at a."""
    rng = np.random.default_rng(3)
    p = rng.uniform(size=7) ** 3
    adjusted = holm(p)
    for level in np.linspace(0.01, 0.99, 50):
        rejected, order = np.zeros(7, dtype=bool), np.argsort(p)
        for step, k in enumerate(order):
            if p[k] > level / (7 - step):
                break
            rejected[k] = True
        np.testing.assert_array_equal(adjusted <= level, rejected)


def test_the_smallest_of_independent_p_values_is_corrected_as_in_scipy():
    p = np.random.default_rng(0).uniform(size=9)
    assert smallest_of_independent(p) == pytest.approx(combine_pvalues(p, method="tippett").pvalue)
    assert smallest_of_independent(np.ones(3)) == 1
    assert smallest_of_independent(np.array([1e-30, 0.5])) == pytest.approx(2e-30)
    assert np.isnan(smallest_of_independent(np.empty(0)))
