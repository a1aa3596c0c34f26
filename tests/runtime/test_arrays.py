"""In-place arithmetic: the same sums on NumPy arrays and tensors."""

from __future__ import annotations

import numpy as np
import pytest

from golem.runtime import arrays


@pytest.mark.torch
def test_in_place_sums_are_the_sums(rng):
    torch = pytest.importorskip("torch")
    A, B, C = rng.normal(size=(3, 2, 4, 4)) + 3.0
    expected = {
        "identity_minus": (np.eye(4) - A, lambda a, b, c: arrays.identity_minus(a)),
        "plus_scaled": (A + 2 * B, lambda a, b, c: arrays.plus_scaled(a, b, 2.0)),
        "minus_scaled": (A - B * C, arrays.minus_scaled),
        "minus_ratio": (A - 2 * B / C, lambda a, b, c: arrays.minus_ratio(a, b, c, 2.0)),
        "product": (3 * B @ C, lambda a, b, c: arrays.product(b, c, 3.0)),
        "inner_product": ((A * B).sum(axis=(-2, -1)), lambda a, b, c: arrays.inner_product(a, b)),
        "total_size": (np.abs(A - 3).sum(axis=(-2, -1)), lambda a, b, c: arrays.total_size(a - 3)),
        "sign": (np.sign(A - 3), lambda a, b, c: arrays.sign(a - 3)),
    }
    changed = {
        "add_scaled": (A + 2 * B, lambda a, b, c: arrays.add_scaled(a, b, 2.0)),
        "absorb": (A + 2 * B, lambda a, b, c: arrays.absorb(a, b, 2.0)),
        "add_squares": (A + 2 * B**2, lambda a, b, c: arrays.add_squares(a, b, 2.0)),
        "add_entrywise": (A + 2 * B * C, lambda a, b, c: arrays.add_entrywise(a, b, c, 2.0)),
        "move_towards": (0.9 * A + 0.1 * B, lambda a, b, c: arrays.move_towards(a, b, 0.1)),
        "add_product": (A + B @ C, arrays.add_product),
        "add_product, scaled": (2 * A + 3 * B @ C, lambda a, b, c: arrays.add_product(a, b, c, 2.0, 3.0)),
        "add_to_diagonal": (A + 2 * np.eye(4), lambda a, b, c: arrays.add_to_diagonal(a, 2.0)),
        "clear_diagonal": (A * (1 - np.eye(4)), lambda a, b, c: arrays.clear_diagonal(a)),
    }
    for make in (np.array, torch.asarray):
        for part in (slice(None), 0):  # a stack, and a matrix
            for name, (result, function) in (expected | changed).items():
                a, b, c = (make(X[part].copy()) for X in (A, B, C))
                found = function(a, b, c)
                np.testing.assert_allclose(a if name in changed else found, result[part], rtol=1e-13, err_msg=name)


def test_no_kind_of_nan_gives_a_warning():
    assert np.isnan(arrays.as_floats(np.array([0x7F800001], dtype="u4").view("f4")))
