"""Inverses from the one before, against those by LU."""

import numpy as np
import pytest
import scipy.linalg

from golem.runtime.gpu.accelerated import WarmInverse, _sum_of_powers, half, half_of_product, half_product, in_halves
from golem.runtime.gpu.cuda_graphs import HostCopy
from golem.runtime.linear_algebra import orthonormal


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


def orthogonal(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def test_directions_follow_the_smallest_singular_values(rng):
    # Twelve small singular values change by any factor at each step, and their directions turn.
    inverse, left, right = WarmInverse(), orthogonal(rng, 150), orthogonal(rng, 150)
    skew = 0.03 * rng.normal(size=(150, 150)) / np.sqrt(150)
    turn = scipy.linalg.expm(skew - skew.T)
    for _ in range(40):
        M = left @ np.diag(np.r_[rng.uniform(5e-4, 5e-3, 12), np.full(138, 1.0)]) @ right
        assert residual(M, inverse.follow(M)) < 1e-5
        right = right @ turn
    assert inverse.cold_starts == 1
    assert inverse.checks <= 2 * inverse.calls


@pytest.mark.parametrize("size", [1e-8, 1e-6, 1e-5])
def test_small_steps_take_one_check_however_small(size, rng):
    M, inverse = near_identity(rng, 150, 0.5), WarmInverse()
    M -= np.linalg.eigvals(M).real.min() * np.eye(150)  # singular
    for _ in range(20):
        M = M + size * rng.normal(size=M.shape)
        assert residual(M + 1e-3 * np.eye(150), inverse.follow(M + 1e-3 * np.eye(150))) < 1e-5
    assert (inverse.cold_starts, inverse.checks) == (1, 19)


def test_inverses_far_beyond_half_precision_are_followed(rng):
    inverse = WarmInverse()
    M = orthogonal(rng, 150) @ np.diag(np.r_[1 / 2e5, rng.uniform(0.5, 2.0, 149)]) @ orthogonal(rng, 150)
    for _ in range(10):
        Y = inverse.follow(M)
        assert residual(M, Y) < 1e-3
        M = M + 1e-8 * rng.normal(size=M.shape)
    assert np.linalg.norm(Y, 2) > 65504
    assert inverse.cold_starts <= 2


def test_the_sum_of_powers(rng):
    X = 0.3 * rng.normal(size=(40, 40)) / np.sqrt(40)
    expected = sum(np.linalg.matrix_power(X, k) for k in range(1, 6))
    found = _sum_of_powers((X * 64).astype(np.float32), 1 / 64)
    np.testing.assert_allclose(found, expected, atol=3e-4)
    assert np.abs(found - expected).max() < np.abs(np.linalg.matrix_power(X, 3)).max() / 10


def test_a_residual_in_one_entry_stays_finite():
    inverse, Y = WarmInverse(), np.eye(300)
    Y[0, 1] = 0.0142
    np.testing.assert_allclose(inverse._corrected(np.eye(300), Y), np.eye(300), atol=1e-5)
    assert inverse.checks == 1  # with its square taken off, no second one is needed
    Y[0, 1] = 0.4
    np.testing.assert_allclose(inverse._corrected(np.eye(300), Y), np.eye(300), atol=1e-5)


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
    assert inverse.cold_starts >= 4


def test_two_halves_hold_twice_the_bits(rng):
    A, B = rng.normal(size=(2, 50, 50))
    exact = A @ half(B).astype(float)
    assert np.abs(half_product(half(A), half(B)) - exact).max() > 1e-4
    np.testing.assert_allclose(half_product(in_halves(A), half(B)), exact, atol=1e-5)


@pytest.mark.torch
def test_halves_of_tensors_are_those_of_arrays(rng):
    torch = pytest.importorskip("torch")
    A = rng.normal(size=(20, 20))
    for ours, theirs in zip(in_halves(A), in_halves(torch.asarray(A)), strict=True):
        np.testing.assert_array_equal(theirs.numpy(), ours)
    np.testing.assert_array_equal(half_of_product(torch.asarray(A), 7.0).numpy(), half_of_product(A, 7.0))


@pytest.mark.gpu
def test_a_gpu_follows_inverses_and_sends_messages(rng):
    torch = pytest.importorskip("torch")
    M = torch.asarray(near_identity(rng, 1100, 0.3), device="cuda")
    inverse = WarmInverse()
    for _ in range(20):
        assert residual(M.cpu().numpy(), inverse.follow(M).cpu().numpy()) < 1e-5
        M = M + 1e-3 * torch.randn_like(M)
    assert inverse.cold_starts <= 2
    for _ in range(50):
        M = M @ M / torch.linalg.vector_norm(M)
    message = HostCopy(torch.linalg.vector_norm(M))
    assert message.read() == float(torch.linalg.vector_norm(M))


@pytest.mark.torch
def test_orthonormal_columns_span_the_same(rng):
    torch = pytest.importorskip("torch")
    W = rng.normal(size=(50, 7)) * np.logspace(0, 4, 7)
    for V in (orthonormal(W), orthonormal(torch.asarray(W)).numpy()):
        np.testing.assert_allclose(V.T @ V, np.eye(7), atol=1e-9)
        np.testing.assert_allclose(V @ (V.T @ W), W, atol=1e-5)
