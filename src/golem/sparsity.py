"""R_sparse(B): the price of edges (paper, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from golem.arrays import Array, namespace


class Sparsity(Protocol):
    """A separable penalty on the entries of B."""

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and a subgradient `(..., d, d)` at B."""


@dataclass(frozen=True)
class L1:
    """The sum of absolute weights, the paper's stand-in for the number of edges; its subgradient at 0 is 0."""

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the subgradient sign(B)."""
        xp = namespace(B)
        return xp.sum(xp.abs(B), axis=(-2, -1)), xp.sign(B)
