"""R_sparse(B): the penalty per edge (paper, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from golem.runtime.in_place import sign, total_size
from golem.runtime.types import Array

Criterion = Literal["mbic", "ebic", "bic"]
CRITERIA: tuple[Criterion, ...] = ("mbic", "ebic", "bic")


class Sparsity(Protocol):
    """A separable penalty on the entries of B, with finite slopes: solvers look at those of the other terms."""

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and a subgradient `(..., d, d)` at B."""


@dataclass(frozen=True)
class L1:
    """The sum of absolute weights, the paper's stand-in for the number of edges; its subgradient at 0 is 0."""

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the subgradient sign(B)."""
        return total_size(B), sign(B)


@dataclass(frozen=True)
class L0:
    """The number of edges, as the paper's theory counts them (section 3), penalized node by node.

    A node with k parents costs penalty(k), in units of the deviance 2 n L(B):

    - "bic": k log n. Consistent for a fixed number of variables; adds false edges where there are many.
    - "ebic": k log n + 2 gamma log C(d-1, k), which also pays for the choice of the k among d - 1 (Chen and Chen
      2008). It becomes cheap for nodes with about half of all others as parents.
    - "mbic": k (log n + 2 gamma log d), the same edge by edge, as the modified BIC of Bogdan et al. (2004): the
      default, as it stays strict for nodes with many parents.
    - a number lambda: 2 n lambda k, so that S(B) = L(B) + lambda (number of edges).

    Parameters
    ----------
    criterion : {"mbic", "ebic", "bic"} or float
        The penalty.
    gamma : float
        Weight of the choice among candidates in "mbic" and "ebic".

    Examples
    --------
    >>> L0("bic").penalties(n=100, d=4).round(2)
    array([ 0.  ,  4.61,  9.21, 13.82])
    """

    criterion: Criterion | float = "mbic"
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.criterion, str):
            if self.criterion not in CRITERIA:
                raise ValueError(
                    f"the penalty per edge is one of {', '.join(CRITERIA)} or a number; got {self.criterion!r}"
                )
        elif not 0 <= self.criterion < np.inf:
            raise ValueError(f"the penalty per edge must be at least 0 and finite; got {self.criterion}")

    def penalties(self, n: int, d: int) -> NDArray[np.float64]:
        """Penalty of 0, 1, ..., d - 1 parents of a node."""
        k = np.arange(d, dtype=float)
        if not isinstance(self.criterion, str):
            return np.asarray(2 * n * self.criterion * k)
        penalty = k * np.log(n)
        if self.criterion == "mbic":
            penalty += 2 * self.gamma * k * np.log(d)
        elif self.criterion == "ebic":
            from scipy.special import gammaln

            penalty += 2 * self.gamma * (gammaln(d) - gammaln(k + 1) - gammaln(d - k))
        return np.asarray(penalty)

    def graph_penalty(self, parents: NDArray[np.intp], n: int) -> float:
        """Penalty of a whole graph whose nodes have these numbers of parents, to compare graphs that differ widely.

        It is the sum of the nodes' penalties but for "mbic". That charges 2 log d an edge, which is right for one edge
        more or less in a sparse graph, and far too much for a dense one as a whole: with 40 of 45 possible edges it
        takes 28 and not 184 to say which they are. So here the choice of E edges among the P = d (d - 1) / 2 pairs
        costs 2 gamma log C(P, E).
        """
        d = len(parents)
        if self.criterion != "mbic":
            return float(self.penalties(n, d)[parents].sum())
        from scipy.special import gammaln

        edges, pairs = int(parents.sum()), d * (d - 1) / 2
        choice = gammaln(pairs + 1) - gammaln(edges + 1) - gammaln(pairs - edges + 1)
        return float(edges * np.log(n) + 2 * self.gamma * choice)
