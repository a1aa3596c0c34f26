"""Determinants and inverses against NumPy, on arrays and torch tensors."""

from __future__ import annotations

import numpy as np
import pytest

from golem.runtime import linear_algebra
from golem.runtime.expm import expm_nonnegative
from golem.runtime.linear_algebra import gram, logabsdet_and_inverse_transpose


@pytest.mark.parametrize("shape", [(5, 5), (3, 5, 5)])
def test_logabsdet_and_inverse(shape, rng):
    M = rng.normal(size=shape)
    untouched = M.copy()
    logabsdet, inverse_transpose = logabsdet_and_inverse_transpose(M)
    np.testing.assert_allclose(logabsdet, np.linalg.slogdet(M)[1])
    np.testing.assert_allclose(
        np.swapaxes(inverse_transpose, -1, -2) @ M, np.broadcast_to(np.eye(5), shape), atol=1e-10
    )
    np.testing.assert_array_equal(M, untouched)


@pytest.mark.parametrize("stacked", [False, True])
def test_a_singular_matrix_is_marked_not_raised(stacked):
    M = np.ones((2, 2))
    M = np.stack([np.eye(2), M]) if stacked else M
    logabsdet, inverse = logabsdet_and_inverse_transpose(M)
    assert np.ravel(logabsdet)[-1] == -np.inf
    assert np.isnan(inverse if not stacked else inverse[1]).all()
    if stacked:
        np.testing.assert_array_equal(inverse[0], np.eye(2))


@pytest.mark.torch
def test_torch_tensors_give_the_same_numbers(rng):
    torch = pytest.importorskip("torch")
    A = rng.random((3, 7, 7))
    np.testing.assert_allclose(expm_nonnegative(torch.asarray(A)).numpy(), expm_nonnegative(A), rtol=1e-13)
    for ours, theirs in zip(
        logabsdet_and_inverse_transpose(A),
        logabsdet_and_inverse_transpose(torch.asarray(A)),
        strict=True,
    ):
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-9)
    logabsdet, inverse = logabsdet_and_inverse_transpose(torch.ones((2, 2), dtype=torch.float64))
    assert logabsdet == -torch.inf
    assert not torch.isfinite(inverse).all()


@pytest.mark.parametrize("d", [1, 3, 4, 11])
def test_products_in_blocks_of_columns(d, rng, monkeypatch):
    monkeypatch.setattr(linear_algebra, "_WIDEST", 3)
    X, out = rng.normal(size=(7, d)), np.empty((d, d))
    found = gram(X)
    np.testing.assert_allclose(found, X.T @ X, rtol=1e-13)
    np.testing.assert_array_equal(found, found.T)
    assert gram(X, out=out) is out
    np.testing.assert_array_equal(out, found)


@pytest.mark.slow
def test_many_columns_do_not_crash_openblas(rng):
    assert np.isfinite(gram(rng.normal(size=(300, 20_000)))[-1, -1])  # X.T @ X crashes with several threads
