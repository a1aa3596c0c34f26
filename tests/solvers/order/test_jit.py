"""Kernels are compiled once each: what the first call costs rests on that."""

import numpy as np
import pytest

from golem.data.moments import Moments
from golem.score.likelihood import GaussianEV, GaussianNV
from golem.score.sparsity import L0
from golem.simulate import simulate
from golem.solvers import Order
from golem.solvers.order import order_kernels, variance_kernels


def dispatchers(module):
    return {name: value for name, value in vars(module).items() if hasattr(value, "overloads")}


@pytest.mark.parametrize(
    ("likelihood", "module"), [(GaussianEV(), variance_kernels), (GaussianNV(), order_kernels)], ids=["ev", "nv"]
)
def test_every_kernel_is_compiled_for_one_signature(likelihood, module):
    d = 14
    rows = simulate(d, 200, random_state=0).data
    allowed, required = np.ones((d, d), dtype=bool), np.zeros((d, d), dtype=bool)
    required[0, 1] = True
    for moments in (Moments.from_rows(rows), Moments.from_rows(np.asfortranarray(rows)[:10])):
        Order("fast").solve(moments, likelihood, L0())
        Order("fast").solve(moments, likelihood, L0(), np.arange(d)[::-1])
        Order("fast").solve(moments, likelihood, L0(), allowed=allowed.T, required=np.asfortranarray(required))
    compiled = dispatchers(module)
    assert compiled
    # With the code in numba's cache, kernels that others call are not compiled at all.
    assert {name: len(kernel.overloads) for name, kernel in compiled.items() if len(kernel.overloads) > 1} == {}
