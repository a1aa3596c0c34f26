"""The test of independence: calibrated where the linear model holds, powerful where it does not."""

import numpy as np
import pytest

from golem.directions.residual_tests import residual_dependence

NOISES = {
    "gaussian": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.uniform(-1, 1, size=n),
}


def residual_on(target, regressors):
    """Residual by another least-squares routine than that of the library."""
    design = np.column_stack([np.ones(len(target)), regressors])
    return target - design @ np.linalg.lstsq(design, target)[0]


def p_values(noise, pairs=200, n=300):
    """p-values along and against the direction of y = x + z + noise, for the regressor x."""
    forward, backward = [], []
    for seed in range(pairs):
        rng = np.random.default_rng(seed)
        x, z, e = (NOISES[noise](rng, n) for _ in range(3))
        y = x + z + e
        forward.append(
            residual_dependence(residual_on(y, np.column_stack([x, z])), np.column_stack([x, z])).p_values[0]
        )
        backward.append(
            residual_dependence(residual_on(x, np.column_stack([y, z])), np.column_stack([y, z])).p_values[0]
        )
    return np.array(forward), np.array(backward)


@pytest.mark.parametrize("noise", NOISES)
def test_level_and_power(noise):
    forward, backward = p_values(noise)
    # 200 tests at the level of 5 % reject 10 times, give or take 3; 22 is four standard deviations above.
    assert 1 <= (forward < 0.05).sum() <= 22
    if noise == "gaussian":  # neither direction can be told from the other
        assert 1 <= (backward < 0.05).sum() <= 22
    else:
        assert (backward < 0.05).mean() > 0.9


def test_nonlinear_effects_and_unequal_noise_are_found():
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 1000))
    for y in (np.tanh(2 * x) + e, x + 0.3 * x**2 + e, x + e * (1 + 0.5 * np.tanh(x))):
        found = residual_dependence(residual_on(y, x[:, None]), x[:, None])
        assert found.p_values[0] < 1e-4
        assert found.effects[0] > 0.1


def test_the_test_does_not_depend_on_units_or_the_order_of_rows():
    rng = np.random.default_rng(1)
    regressors, e = rng.laplace(size=(300, 2)), rng.exponential(size=300)
    residual = residual_on(regressors @ [1, 2] + e, regressors)
    plain = residual_dependence(residual, regressors)
    rows = rng.permutation(300)
    other = residual_dependence(1e6 * residual[rows], (regressors * [1e-5, 1e5] + 7)[rows])
    np.testing.assert_allclose(other.p_values, plain.p_values, rtol=1e-6)
    np.testing.assert_allclose(other.effects, plain.effects, atol=1e-6)


def test_constant_and_binary_regressors_have_fewer_functions():
    rng = np.random.default_rng(2)
    binary = np.column_stack([rng.integers(2, size=400), np.ones(400)]).astype(float)
    found = residual_dependence(residual_on(binary[:, 0] + rng.normal(size=400), binary), binary)
    assert 0.001 < found.p_values[0] < 1
    assert found.p_values[1] == 1
