"""Inverses from the one before, against those by LU."""

import numpy as np
import pytest

from golem.arrays import orthonormal
from golem.rough import half, in_halves, rough_product, rough_products_pay
from golem.warm_inverse import WarmInverse


def near_identity(rng, d, size):
    return np.eye(d) - size * rng.normal(size=(d, d)) / np.sqrt(d)


def residual(M, Y):
    return np.linalg.norm(M.T @ Y - np.eye(len(M)))


def test_a_warm_inverse_is_the_inverse(rng):
    inverse, M = WarmInverse(), near_identity(rng, 60, 0.3)
    for k in range(60):
        assert residual(M, inverse.follow(M)) < 1e-5
        M = M + (3.0 if k == 40 else 1e-3) * rng.normal(size=M.shape)
    assert inverse.calls == 60
    assert 2 <= inverse.cold_starts <= 4  # the first call, and the jump


def test_steps_through_singular_matrices_are_small_in_all_but_few_directions(rng):
    # An eigenvalue crosses zero: the last inverse says nothing about the next one in that direction.
    inverse, A = WarmInverse(), near_identity(rng, 80, 0.5)
    A = A - np.linalg.eigvals(A).real.min() * np.eye(80)
    for shift in np.linspace(-0.02, 0.021, 60):
        M = A + shift * np.eye(80) + 1e-4 * rng.normal(size=A.shape)
        assert residual(M, inverse.follow(M)) < 1e-5
    assert inverse.cold_starts <= 5


@pytest.mark.torch
def test_a_warm_inverse_of_tensors(rng):
    torch = pytest.importorskip("torch")
    ours, theirs, M = WarmInverse(), WarmInverse(), near_identity(rng, 30, 0.2)
    for _ in range(10):
        np.testing.assert_allclose(theirs.follow(torch.asarray(M)).numpy(), ours.follow(M), atol=1e-6)
        M = M + 1e-3 * rng.normal(size=M.shape)
    assert theirs.cold_starts == 1


def test_the_fallback_is_lu(rng):
    inverse = WarmInverse()
    inverse.follow(np.eye(40))
    M = near_identity(rng, 40, 3.0)
    np.testing.assert_allclose(inverse.follow(M), np.linalg.inv(M).T, rtol=1e-9)
    assert inverse.cold_starts == 2


def test_a_warm_inverse_survives_singular_matrices_and_other_sizes():
    inverse = WarmInverse()
    inverse.follow(np.eye(3))
    assert not np.isfinite(inverse.follow(np.zeros((3, 3)))).all()
    np.testing.assert_allclose(inverse.follow(2 * np.eye(3)), np.eye(3) / 2)
    np.testing.assert_allclose(inverse.follow(2 * np.eye(4)), np.eye(4) / 2)


def test_numbers_beyond_half_precision_are_left_to_lu(rng):
    inverse, M = WarmInverse(), near_identity(rng, 20, 0.2)
    for scale in (1.0, 1e-6, 1e-6, 1e6, 1e6):
        assert residual(scale * M, inverse.follow(scale * M)) < 1e-5


def test_two_halves_hold_twice_the_bits(rng):
    A, B = rng.normal(size=(2, 50, 50))
    exact = A @ half(B).astype(float)
    assert np.abs(rough_product(half(A), half(B)) - exact).max() > 1e-4
    np.testing.assert_allclose(rough_product(in_halves(A), half(B)), exact, atol=1e-5)


def test_rough_products_do_not_pay_on_the_cpu():
    assert not rough_products_pay(np.eye(2))


@pytest.mark.torch
def test_orthonormal_columns_span_the_same(rng):
    torch = pytest.importorskip("torch")
    W = rng.normal(size=(50, 7)) * np.logspace(0, 4, 7)
    for V in (orthonormal(W), orthonormal(torch.asarray(W)).numpy()):
        np.testing.assert_allclose(V.T @ V, np.eye(7), atol=1e-9)
        np.testing.assert_allclose(V @ (V.T @ W), W, atol=1e-5)
