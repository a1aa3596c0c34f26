"""The seam for matrix functions: exact by default, replaced inside a block, only in one thread."""

import threading

import numpy as np
import pytest

from golem.runtime.linear_algebra import MatrixFunctions, exponentiate, invert, using
from golem.score.acyclicity import Expm
from golem.score.likelihood import GaussianEV, GaussianNV, GaussianTied


class Counting(MatrixFunctions):
    """Exact functions that count their calls."""

    def __init__(self):
        self.calls = []

    def invert(self, M):
        """Count, then invert."""
        self.calls.append("invert")
        return super().invert(M)

    def exponentiate(self, A):
        """Count, then exponentiate."""
        self.calls.append("exponentiate")
        return super().exponentiate(A)


@pytest.mark.parametrize("likelihood", [GaussianEV(), GaussianNV(), GaussianTied(100)])
def test_likelihoods_and_the_penalty_on_cycles_use_the_functions_of_the_block(likelihood, rng):
    B, S, functions = 0.1 * rng.normal(size=(4, 4)), np.eye(4), Counting()
    with using(functions):
        likelihood.value_and_grad(B, S)
        Expm().value_and_grad(B)
    assert functions.calls == ["invert", "exponentiate"]
    likelihood.value_and_grad(B, S)
    assert len(functions.calls) == 2


def test_other_threads_keep_the_exact_functions():
    functions = Counting()
    with using(functions):
        thread = threading.Thread(target=lambda: (invert(np.eye(2)), exponentiate(np.eye(2))))
        thread.start()
        thread.join()
    assert not functions.calls


def test_blocks_nest_and_end_with_an_error():
    outer, inner = Counting(), Counting()
    with using(outer):
        with pytest.raises(RuntimeError), using(inner):
            raise RuntimeError
        invert(np.eye(2))
    assert (outer.calls, inner.calls) == (["invert"], [])
