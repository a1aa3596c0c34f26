"""Determinants and inverses against NumPy, on arrays and torch tensors."""

from __future__ import annotations

import numpy as np
import pytest

from golem.runtime.expm import expm_nonnegative
from golem.runtime.linear_algebra import logabsdet_and_inverse_transpose


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
