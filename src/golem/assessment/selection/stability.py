"""Stability selection: how often edges are found in complementary halves of the rows.

The graph is learned from all rows, at the penalty at which the halves confirm it best. It is not enough that the halves
agree with each other: at a high penalty all of them have the strongest edges and no others, but the graph of all rows,
which has twice the evidence per edge, then has edges that no half confirms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from golem.assessment.edge_frequencies import edge_frequencies
from golem.runtime.types import BoolMatrix, Matrix

# The agreement that edges of pure noise reach. If one passes on all rows, with z^2 above the penalty, then half of them
# have z / sqrt(2) with variance 1/2, which passes about every second time at the lowest penalties, else less often.
CONFIRMED = 0.5
# Agreements that differ by less, as a share of the distance to full agreement, count as equal
# (docs/benchmarks/selection.md has other tolerances).
NO_DIFFERENCE = 0.05


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Frequencies of edges in the halves, at one setting; see `golem.assessment.edge_frequencies`.

    Examples
    --------
    >>> forward, none = np.array([[0, 1], [0, 0]], dtype=bool), np.zeros((2, 2), dtype=bool)
    >>> found = Frequencies.of([forward, forward.T, none])
    >>> found.adjacency.round(2)
    array([[0.  , 0.67],
           [0.67, 0.  ]])
    """

    adjacency: Matrix
    direction: Matrix

    @classmethod
    def of(cls, graphs: Sequence[BoolMatrix]) -> Frequencies:
        """Count the edges of PDAGs."""
        return cls(*edge_frequencies(graphs))

    def agreement(self, graph: BoolMatrix) -> float:
        """Return how far a graph agrees with those of the halves on adjacencies, beyond chance; 1 if all are the same.

        This is Cohen's (1960) kappa over all pairs of nodes and all halves, (o - e) / (1 - e): with f the frequency of
        a pair and g whether the graph joins it, o is the mean of g f + (1 - g)(1 - f), and e its value for the same
        numbers of edges placed at random. Minus infinity if all graphs are empty or all complete.
        """
        f, g = self._pairs, (graph | graph.T)[np.triu_indices(len(graph), 1)]
        expected = float(f.mean() * g.mean() + (1 - f.mean()) * (1 - g.mean()))
        if expected == 1:
            return -np.inf
        return (float(np.where(g, f, 1 - f).mean()) - expected) / (1 - expected)

    def stable(self, least: float) -> int:
        """Return the number of pairs joined in at least this share of the graphs."""
        return int((self._pairs >= least).sum())

    def expected_false(self, least: float) -> float:
        """Return a bound on the expected number of stable pairs that halves join no more often than the average pair.

        q^2 / ((2 least - 1) p), with q the mean number of edges and p the number of pairs (Meinshausen and Buehlmann
        2010; Shah and Samworth 2013, theorem 1). It is informative if p is far above q^2, not for graphs of few nodes.
        """
        f = self._pairs
        return float(f.sum()) ** 2 / ((2 * least - 1) * len(f))

    @property
    def _pairs(self) -> Matrix:
        return np.asarray(self.adjacency[np.triu_indices(len(self.direction), 1)])
