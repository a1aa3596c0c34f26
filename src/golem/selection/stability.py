"""Stability selection: how often edges come back in complementary halves of the rows.

Two things are counted apart, over all halves: how often two nodes are joined (adjacency), and how often the edge goes
from one to the other in the graph found (direction). A fit to half of the rows sees less than one to all of them, so
the frequencies choose the penalty, and the graph at that penalty is learned from all rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from golem.graph import BoolMatrix
from golem.moments import Matrix


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Shares of the halves in which edges were found, at one setting.

    Parameters
    ----------
    direction : ndarray of shape (d, d)
        [i, j]: share of graphs with i -> j.
    halves : int
        Number of graphs.

    Examples
    --------
    >>> found = Frequencies.of([np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]]), np.zeros((2, 2))])
    >>> found.adjacency.round(2)
    array([[0.  , 0.67],
           [0.67, 0.  ]])
    """

    direction: Matrix
    halves: int

    @classmethod
    def of(cls, graphs: Iterable[BoolMatrix]) -> Frequencies:
        """Count the edges of graphs."""
        stack = np.stack(list(graphs)) != 0
        return cls(stack.mean(axis=0), len(stack))

    @property
    def adjacency(self) -> Matrix:
        """[i, j]: share of graphs that join i and j."""
        return self.direction + self.direction.T

    @property
    def stability(self) -> float:
        """How much the graphs agree on adjacencies, beyond chance: 1 for identical graphs, about 0 for random ones.

        With f the frequency of a pair, q / p the share of pairs joined on average and m graphs, the measure of
        Nogueira, Sechidis and Brown (2018), 1 - mean of m / (m - 1) f (1 - f) over the pairs / (q/p (1 - q/p)). It is
        minus infinity for empty and complete graphs, on which all halves agree whatever the data.
        """
        f = self._pairs
        share = float(f.mean())
        if not 0 < share < 1:
            return -np.inf
        variance = self.halves / (self.halves - 1) * float((f * (1 - f)).mean())
        return 1 - variance / (share * (1 - share))

    def stable(self, least: float) -> int:
        """Count the pairs joined in at least this share of the graphs."""
        return int((self._pairs >= least).sum())

    def expected_false(self, least: float) -> float:
        """Bound on the expected number of stable pairs that halves join no more often than the average pair.

        q^2 / ((2 least - 1) p) with q the mean number of edges and p the number of pairs: Shah and Samworth (2013,
        theorem 1) for complementary halves, whatever the method; the bound of Meinshausen and Buehlmann (2010). It
        is informative where p is far above q^2, which graphs of few nodes are not.
        """
        f = self._pairs
        return float(f.sum()) ** 2 / ((2 * least - 1) * len(f))

    @property
    def _pairs(self) -> Matrix:
        return np.asarray(self.adjacency[np.triu_indices(len(self.direction), 1)])
