"""R_sparse(B): the penalty per edge (paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from golem.runtime.arrays import sign, total_size
from golem.runtime.types import Array

Criterion = Literal["mbic", "ebic", "bic"]
# Expected number of false edges among independent categories.
_FALSE_EDGES = 0.05


@runtime_checkable
class Sparsity(Protocol):
    """A separable penalty on the entries of B, with a finite subgradient everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.score import L1, Sparsity
    >>> penalty: Sparsity = L1()
    >>> value, gradient = penalty.value_and_grad(np.array([[0.0, -0.5], [0.0, 0.0]]))
    """

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and a subgradient `(..., d, d)` at B."""


@dataclass(frozen=True)
class L1:
    """The sum of absolute weights, which the paper uses instead of the number of edges; its subgradient at 0 is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from golem.score import L1
    >>> float(L1().value_and_grad(np.array([[0.0, -0.5], [0.0, 0.0]]))[0])
    0.5
    """

    def value_and_grad(self, B: Array) -> tuple[Array, Array]:
        """Return the value `(...,)` and the subgradient sign(B)."""
        return total_size(B), sign(B)


@dataclass(frozen=True)
class L0:
    """A penalty on the number of parents of each node (section 3 of the paper counts edges).

    A node with k parents has this penalty, in units of the deviance 2 n L(B):

    - "bic": k log n. Consistent for a fixed number of variables; adds false edges if there are many variables.
    - "ebic": k log n + 2 gamma log C(d-1, k), which includes the choice of k among d - 1 candidates (Chen and Chen
      2008). Further parents become cheap for a node that already has about half of all others as parents.
    - "mbic": k (log n + 2 gamma log d), the modified BIC of Bogdan et al. (2004). It is the default, because it
      stays strict for nodes with many parents.
    - a number lambda: 2 n lambda k, so that S(B) = L(B) + lambda (number of edges).

    With categories, log n and 2 n lambda count once per free parameter; see also `choice_of_categories`.

    Parameters
    ----------
    criterion : {"mbic", "ebic", "bic"} or float
        The penalty.
    gamma : float
        Weight of the second term in "mbic" and "ebic".

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
                known = ", ".join(map(repr, CRITERIA))
                raise ValueError(f"Unknown penalty per edge {self.criterion!r}. Use {known} or a number.")
        elif not 0 <= self.criterion < np.inf:
            raise ValueError(f"The penalty per edge must be a finite number, at least 0; got {self.criterion}.")

    def penalties(self, n: float, d: int) -> NDArray[np.float64]:
        """Return the penalties of nodes with 0, 1, ..., d - 1 parents, shape (d,)."""
        k = np.arange(d, dtype=float)
        if not isinstance(self.criterion, str):
            return np.asarray(2 * n * self.criterion * k)
        return np.asarray(k * np.log(n) + self.gamma * CRITERIA[self.criterion](k, d))

    def graph_penalty(self, parents: NDArray[np.intp], n: int) -> float:
        """Return the penalty of a whole graph, given the number of parents of each node, to compare unlike graphs.

        Except for "mbic" it is the sum over the nodes. "mbic" adds 2 log d per edge, which is right when one edge of a
        sparse graph is added or removed, but too much for a dense graph: with 40 of 45 possible edges, naming them
        takes 28 rather than 184. So here the choice of E edges among P = d (d - 1) / 2 pairs adds 2 gamma log C(P, E).
        """
        d = len(parents)
        if self.criterion != "mbic":
            return float(self.penalties(n, d)[parents].sum())
        from scipy.special import gammaln

        edges, pairs = int(parents.sum()), d * (d - 1) / 2
        choice = gammaln(pairs + 1) - gammaln(edges + 1) - gammaln(pairs - edges + 1)
        return float(edges * np.log(n) + 2 * self.gamma * choice)


def _ebic(k: NDArray[np.float64], d: int) -> NDArray[np.float64]:
    """Return twice the logarithm of the number of sets of k among d - 1 nodes."""
    from scipy.special import gammaln

    return np.asarray(2 * (gammaln(d) - gammaln(k + 1) - gammaln(d - k)))


# What each criterion adds to k log n for the choice of k parents among d nodes; a new one is one more function here.
CRITERIA: dict[str, Callable[[NDArray[np.float64], int], NDArray[np.float64]]] = {
    "mbic": lambda k, d: 2 * k * np.log(d),
    "ebic": _ebic,
    "bic": lambda k, d: np.zeros_like(k),
}
# The penalties of gradient solvers that have a name.
SPARSITIES: dict[str, Sparsity] = {"l1": L1()}


def choice_of_categories(parameters: NDArray[np.float64], n: int, d: int) -> NDArray[np.float64]:
    """Return what "mbic" adds to log n per parameter, for edges between categories with these numbers of parameters.

    A false edge gains a chi-squared deviance with so many degrees of freedom. log n per parameter is more than enough
    if there are several parameters, but too little for one parameter and many categories. So both together are at least
    the quantile at which all pairs of d independent categories have 0.05 false edges on average.

    Examples
    --------
    >>> choice_of_categories(np.array([1.0, 2.0, 4.0]), n=500, d=50).round(1)
    array([10.6,  7.8,  0.6])
    """
    from scipy.special import chdtri

    enough = chdtri(np.maximum(parameters, 1.0), _FALSE_EDGES / max(d * (d - 1) / 2, 1.0))
    return np.asarray(np.maximum(enough - parameters * np.log(n), 0.0))
