"""Stability selection: how often edges come back in complementary halves of the rows.

Two things are counted apart, over all halves: how often two nodes are joined (adjacency), and how often the edge goes
from one to the other in the graph found (direction). A fit to half of the rows sees less than one to all of them, so
the halves are the judges, and the graph is learned from all rows: at the penalty at which they confirm it best.

It is not enough that the halves agree among themselves. At a high penalty they do: none of them can pay for more than
the strongest edges, and all of them have these. The graph of all rows, whose edges weigh twice as much, then has edges
that no half confirms, and that tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from golem.runtime.types import BoolMatrix, Matrix

# What edges of noise reach. One that passes on all rows, z^2 above the penalty, has z / sqrt(2) with variance 1/2 on
# half of them: it passes there about every second time at the lowest penalties, and less often at others.
CONFIRMED = 0.5
# Agreements that differ by less, as a share of what is missing to full agreement, are taken for equal. Over 25 pairs
# the standard error of the difference between neighbours on the path is 0.04 to 0.09 of it (docs/selection.md).
NO_DIFFERENCE = 0.05


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Shares of the halves in which edges were found, at one setting.

    Parameters
    ----------
    direction : ndarray of shape (d, d)
        [i, j]: share of graphs with i -> j.

    Examples
    --------
    >>> found = Frequencies.of([np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]]), np.zeros((2, 2))])
    >>> found.adjacency.round(2)
    array([[0.  , 0.67],
           [0.67, 0.  ]])
    """

    direction: Matrix

    @classmethod
    def of(cls, graphs: Iterable[BoolMatrix]) -> Frequencies:
        """Count the edges of graphs."""
        stack = np.stack(list(graphs)) != 0
        return cls(stack.mean(axis=0))

    @property
    def adjacency(self) -> Matrix:
        """[i, j]: share of graphs that join i and j."""
        return self.direction + self.direction.T

    def agreement(self, graph: BoolMatrix) -> float:
        """How much a graph and those of the halves agree on adjacencies, beyond chance: 1 where all are the same.

        Cohen's (1960) kappa over all pairs of nodes and all halves, (o - e) / (1 - e): with f the frequency of a pair
        and g whether the graph joins it, o is the mean of g f + (1 - g)(1 - f), and e what o would be if the same
        numbers of edges were drawn at random. It is minus infinity where all graphs are empty or all complete: these
        agree whatever the data.
        """
        f, g = self._pairs, (graph | graph.T)[np.triu_indices(len(graph), 1)]
        expected = float(f.mean() * g.mean() + (1 - f.mean()) * (1 - g.mean()))
        if expected == 1:
            return -np.inf
        return (float(np.where(g, f, 1 - f).mean()) - expected) / (1 - expected)

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
