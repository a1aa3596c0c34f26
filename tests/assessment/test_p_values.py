"""Corrections of p-values for their number."""

from __future__ import annotations

import numpy as np

from golem.assessment.p_values import holm


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
