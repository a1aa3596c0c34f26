"""The test of normality against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kurtosis, normaltest, skew

from golem.directions.residual_tests import normality_test, standardized_moments


@pytest.mark.parametrize("n", [20, 47, 1000])
def test_it_agrees_with_scipy(n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.normal(size=(n, 20)), rng.gamma(3, size=(n, 20)), rng.uniform(size=(n, 20))])
    assert normality_test(X) == pytest.approx(normaltest(X).pvalue, rel=1e-9)
    skewness, excess = standardized_moments(X)
    assert skewness == pytest.approx(skew(X))
    assert excess == pytest.approx(kurtosis(X))
