"""The exponential of nonnegative matrices, against SciPy and extended precision."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.special

from golem.runtime import expm
from golem.runtime.expm import expm_nonnegative


def expm_in_extended_precision(A):
    """Taylor series in long double with so much scaling that its error is below that of double precision."""
    X = A.astype(np.longdouble) / 2**14
    E = term = np.eye(len(A), dtype=np.longdouble)
    for k in range(1, 25):
        term = term @ X / k
        E = E + term
    for _ in range(14):
        E = E @ E
    return E


@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 0.1, 1.0])
def test_expm_agrees_with_scipy(d, scale, rng):
    A = rng.random((d, d)) * scale * (rng.random((d, d)) < 0.5)
    expected = scipy.linalg.expm(A)
    assert np.max(np.abs(expm_nonnegative(A) - expected)) <= 1e-12 * np.max(np.abs(expected))


@pytest.fixture(params=["small", "large"])
def as_if(request, monkeypatch):
    """Use the schemes of small, and those of large matrices."""
    if request.param == "large":
        monkeypatch.setattr(expm, "_NESTED_FROM", 1)
        monkeypatch.setattr(expm, "_SUMS_AT_ONCE_UP_TO", 0)
    return request.param


# SciPy's own error reaches 3e-12 where the norm is large; extended precision is the better oracle there.
@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is no longer than double here")
@pytest.mark.parametrize("d", [3, 30, 120])
@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("nearly_acyclic", [False, True])
def test_expm_is_accurate_to_rounding(d, scale, nearly_acyclic, rng, as_if):
    A = rng.random((d, d)) * scale
    if nearly_acyclic:
        A = np.triu(A * (rng.random((d, d)) < 4 / d), 1) * 4 + A * 1e-6
    expected = expm_in_extended_precision(A)
    assert np.max(np.abs(expm_nonnegative(A) - expected)) < 1e-13 * np.max(expected)


def test_expm_of_a_stack_is_the_stack_of_expms(rng, as_if):
    A = rng.random((2, 3, 6, 6)) * np.array([0.01, 1.0, 5.0])[:, None, None]
    stacked = expm_nonnegative(A)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(stacked[index], expm_nonnegative(A[index]), rtol=1e-12)


def test_expm_of_a_dag_has_an_exact_unit_diagonal(rng, as_if):
    A = np.triu(rng.random((40, 40)) * 9, 1)
    order = rng.permutation(40)
    assert np.all(np.diagonal(expm_nonnegative(A[np.ix_(order, order)])) == 1.0)


def test_the_nested_scheme_saves_a_product(rng, as_if):
    A = rng.random((30, 30)) * 0.028  # a norm at which degree 12 is not enough
    plan = expm.cheapest_plan(expm.power_norms(A, A @ A).tolist(), 2.2e-16)
    assert (plan.scheme.degree, plan.products) == {"small": (12, 5), "large": (14, 4)}[as_if]


@pytest.mark.parametrize("squarings", [0, 1, 3])
def test_schemes_are_taylor_polynomials(squarings):
    # Of a shift matrix the exponential holds the coefficients themselves.
    for scheme in (*expm._TAYLOR_SCHEMES, expm._NESTED_SCHEME):
        A = np.eye(18, k=1)
        powers = [np.linalg.matrix_power(A, k + 1) for k in range(scheme.powers)]
        found = scheme.evaluate(powers, squarings)[0] * 2.0 ** (squarings * np.arange(18))
        series = 1 / scipy.special.factorial(np.arange(18))
        np.testing.assert_allclose(found[: scheme.degree + 1], series[: scheme.degree + 1], rtol=1e-13)
        assert np.all((found >= 0) & (found <= series * (1 + 1e-13)))


def test_expm_overflow_is_not_finite_and_no_crash():
    with np.errstate(all="ignore"):
        assert not np.isfinite(expm_nonnegative(np.full((3, 3), 1e200))).all()
        pair = expm_nonnegative(np.stack([np.full((3, 3), 1e200), np.full((3, 3), 0.1)]))
    assert np.isnan(pair[0]).all()
    np.testing.assert_allclose(pair[1], expm_nonnegative(np.full((3, 3), 0.1)), rtol=1e-14)


def test_expm_of_a_huge_matrix_is_not_finite_and_no_crash():
    with np.errstate(all="ignore"):
        for size in (1e20, 1e100, 1e300):
            assert not np.isfinite(expm_nonnegative(np.full((3, 3), size))).all()
