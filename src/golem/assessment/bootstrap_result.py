"""The result of a bootstrap: frequencies, intervals and a consensus of many graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from golem.assessment.edge_frequencies import edge_frequencies, ranked_pairs
from golem.data.resampling import Unit
from golem.data.table import Table
from golem.runtime.html_text import MOST_ROWS, html_table, paragraph
from golem.runtime.types import BoolMatrix, Matrix

# Quantiles are computed in blocks of this many numbers.
_BLOCK = 1 << 24
# What to keep in mind about frequencies in halves of the rows.
HALVES = "A half supports fewer edges than all rows, so some low frequencies are due to the smaller number of rows."


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Frequencies of edges, and intervals of weights and effects, over graphs from resampled data.

    Parameters
    ----------
    names : tuple of str
        The variables.
    replicates, requested : int
        Number of graphs learned, and the number requested: Ctrl-C leaves fewer.
    unit : {"rows", "shards", "halves"}
        What was resampled; "halves" if random halves of the rows were drawn, as of tables with categories.
    seed : int
        The seed.
    level : float
        Share of the replicates between the bounds of an interval.
    adjacency_frequency : ndarray of shape (d, d)
        Share of the graphs with an edge between i and j, in any direction. Symmetric.
    direction_frequency : ndarray of shape (d, d)
        Share of the graphs with i -> j; edges that a graph leaves undecided count half for each direction.
    weight_interval : ndarray of shape (2, d, d)
        Low and high percentile of the weight of i -> j over all graphs; it is 0 in a graph without that edge, and that
        of a random member of the class if directions are undecided. NaN if i or j is a category.
    effect_interval : ndarray of shape (2, d, d)
        The same of the total effect of i on j, (I - B)^-1; 1 if i = j. NaN if it passes through a category in some
        graph.
    consensus : ndarray of shape (d, d), bool
        A DAG of the adjacencies that most graphs have (`golem.assessment.edge_frequencies`).
    em : bool
        Whether incomplete rows were resampled too, and the moments of each resample estimated by EM.
    lagged : tuple of (edges, weights)
        Of a series, the edges and weights of each graph, from which `golem.impulse_responses` makes bands.
    """

    names: tuple[str, ...]
    replicates: int
    requested: int
    unit: Unit
    seed: int
    level: float
    adjacency_frequency: Matrix
    direction_frequency: Matrix
    weight_interval: Matrix
    effect_interval: Matrix
    consensus: BoolMatrix
    em: bool = False
    lagged: tuple[tuple[tuple[NDArray[np.intp], ...], NDArray[np.float64]], ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C came before all replicates were done."""
        return self.replicates < self.requested

    def _repr_html_(self) -> str:
        """Show the pairs that are connected most often in notebooks."""
        i, j = np.nonzero(np.triu(self.adjacency_frequency))
        order = np.argsort(-self.adjacency_frequency[i, j], kind="stable")[:MOST_ROWS]
        joined, directed = self.adjacency_frequency, self.direction_frequency
        rows = [
            [self.names[a], self.names[b], float(joined[a, b]), float(directed[a, b]), float(directed[b, a])]
            for a, b in zip(i[order], j[order], strict=True)
        ]
        return paragraph(repr(self)) + html_table(["one", "other", "connected", "one -> other", "other -> one"], rows)

    def __repr__(self) -> str:
        done = f"{self.replicates} of {self.requested}" if self.interrupted else str(self.replicates)
        sure = int((self.direction_frequency > 0.9).sum())
        return f"Bootstrap({done} replicates of {self.unit}; {sure} directed edges in more than 90% of them)"


@dataclass(frozen=True, eq=False)
class Replicate:
    """One learned graph: its adjacency, undecided edges, edges with weights, and total effects."""

    graph: BoolMatrix
    undecided: BoolMatrix
    edges: tuple[NDArray[np.intp], ...]
    weights: NDArray[np.float64]
    effects: NDArray[np.float32]
    finished: bool


def summarize(done: Sequence[Replicate], source: Table, requested: int, seed: int, level: float) -> Bootstrap:
    """Summarize replicates by frequencies, intervals and a consensus."""
    d, count = source.d, len(done)
    shown = np.sum([one.graph for one in done], axis=0, dtype=float)
    adjacency, direction = edge_frequencies([one.graph | one.undecided.T for one in done])
    tails = (1 - level) / 2, (1 + level) / 2
    weights, effects = _weight_interval(done, d, tails), _effect_interval(done, d, tails)
    categories = [variable.is_category for variable in source.coding.variables]
    weights[:, categories, :] = weights[:, :, categories] = np.nan
    consensus = ranked_pairs(adjacency, direction, shown)
    lagged = tuple((one.edges, one.weights) for one in done) if len(source.past) else ()
    found = (adjacency, direction, weights, effects, consensus, source.is_incomplete, lagged)
    return Bootstrap(source.names, count, requested, source.unit, seed, level, *found)


def _weight_interval(done: Sequence[Replicate], d: int, tails: tuple[float, float]) -> Matrix:
    """Return percentiles of the weights, (2, d, d); 0 for pairs that no replicate joins."""
    seen = np.zeros((d, d), dtype=bool)
    for one in done:
        seen[one.edges] = True
    place = np.cumsum(seen).reshape(d, d) - 1
    values = np.zeros((len(done), int(seen.sum())))
    for row, one in zip(values, done, strict=True):
        row[place[one.edges]] = one.weights
    interval = np.zeros((2, d, d))
    interval[:, seen] = percentiles(values, tails)
    return interval


def _effect_interval(done: Sequence[Replicate], d: int, tails: tuple[float, float]) -> Matrix:
    """Return percentiles of the total effects, (2, d, d), computed in blocks of causes."""
    interval = np.zeros((2, d, d))
    step = max(1, _BLOCK // (d * len(done)))
    for first in range(0, d, step):
        block = slice(first, first + step)
        values = np.stack([one.effects[block] for one in done]).astype(float)
        interval[:, block] = percentiles(values, tails)
    return interval


def percentiles(values: Matrix, tails: tuple[float, float]) -> Matrix:
    """Return percentiles over replicates, of which the k-th smallest of R is the one at k / (R + 1).

    Another value of the same distribution lies between the k-th smallest and the k-th largest of R values with
    probability 1 - 2 k / (R + 1). NumPy's default lies further inside: of 100 values, 93 % instead of 95 %.
    """
    return np.asarray(np.quantile(values, tails, axis=0, method="weibull"))
