"""Inverses by elimination of halves against LU."""

import numpy as np
import pytest

from golem.runtime.gpu import planned_functions
from golem.runtime.gpu.planned_functions import inverse_by_halves


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(planned_functions, "LARGEST_BLOCK", 4)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (5, 5), (23, 23), (3, 16, 16), (2, 3, 9, 9)])
def test_an_inverse_by_halves_is_that_by_lu(shape, rng):
    M = np.eye(shape[-1]) + 0.1 * rng.normal(size=shape)
    np.testing.assert_allclose(inverse_by_halves(M), np.linalg.inv(M), rtol=0, atol=1e-13)


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(23, 23), (3, 16, 16), (3, 17, 17)])
def test_tensors_have_the_same_inverse(shape, rng):
    torch = pytest.importorskip("torch")
    M = np.eye(shape[-1]) + 0.1 * rng.normal(size=shape)
    # The transpose of a tensor is a view.
    found = inverse_by_halves(torch.asarray(M).mT)
    np.testing.assert_allclose(found.numpy(), np.linalg.inv(M).mT, rtol=0, atol=1e-13)


def test_an_acyclic_matrix_in_any_order_needs_no_pivoting(rng):
    # Every leading block of I - B has determinant 1, also where entries are far larger than the pivots.
    d = 40
    B = np.triu(rng.normal(scale=3.0, size=(d, d)) * (rng.random((d, d)) < 0.1), k=1)
    order = rng.permutation(d)
    M = (np.eye(d) - B)[np.ix_(order, order)]
    exact = np.linalg.inv(np.eye(d) - B)[np.ix_(order, order)]
    np.testing.assert_allclose(inverse_by_halves(M), exact, rtol=1e-9, atol=1e-12 * np.abs(exact).max())


def test_a_singular_block_gives_a_residual_that_a_caller_sees():
    M = np.eye(8)[::-1].copy()  # the leading blocks are zero
    with np.errstate(all="ignore"):
        residual = np.linalg.norm(np.eye(8) - M @ inverse_by_halves(M))
    assert not residual < 1e-3


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(7, 7), (64, 64), (3, 50, 50), (3, 200, 200), (2, 2, 70, 70)])
def test_a_gpu_has_the_same_inverses(shape, rng, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.undo()  # the kernel needs its own size
    M = np.eye(shape[-1]) + 0.02 * rng.normal(size=shape)
    found = inverse_by_halves(torch.asarray(M, device="cuda").mT)
    np.testing.assert_allclose(found.cpu().numpy(), np.linalg.inv(M).mT, rtol=0, atol=1e-13)
