"""Random tables with categories: mixed ones by thresholds or logistic regressions, discrete ones by random tables."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from golem.data.variables import Coding, Variable
from golem.graphs.dag import topological_order
from golem.model.simulation import RandomState, random_dag
from golem.runtime.messages import quoted
from golem.runtime.names import column_names
from golem.runtime.problems import Parameter, ProblemError
from golem.runtime.types import BoolMatrix, Matrix, Vector

__all__ = ["SimulatedTable", "simulate_table"]

Mechanism = Literal["threshold", "logistic", "discrete"]
MECHANISMS: tuple[Mechanism, ...] = ("threshold", "logistic", "discrete")
_LETTERS = string.ascii_lowercase
# Parameter of the Dirichlet distribution of the rows of conditional probability tables.
_CONCENTRATION = 0.5
# The smallest probability of a level in such a table, relative to equal ones, so that hardly any column is constant.
_SMALLEST_PROBABILITY = 0.1
# The smallest share of a level, relative to equal shares, if a latent number is cut into levels.
_SMALLEST_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class SimulatedTable:
    """A random graph and rows with categories drawn from it.

    Parameters
    ----------
    adjacency : ndarray of bool, shape (d, d)
        The graph; `adjacency[i, j]` means i -> j.
    coding : Coding
        The variables. Levels have the letters a, b, ...
    rows : ndarray of shape (n, d)
        Coded rows: numbers, and positions of levels.

    Examples
    --------
    >>> from golem.simulate import simulate_table
    >>> simulate_table(4, n=50, random_state=0).table.num_rows
    50
    """

    adjacency: BoolMatrix
    coding: Coding
    rows: Matrix

    @property
    def table(self) -> Any:
        """The rows as a PyArrow table, with categories as text, for `Golem.fit`."""
        import pyarrow as pa

        return pa.table({name: column.tolist() for name, column in self.columns().items()})

    def columns(self) -> dict[str, Any]:
        """Return one array per column: floats, or the names of levels."""
        found = {}
        for variable, column in zip(self.coding.variables, self.rows.T, strict=True):
            is_number = not variable.is_category
            found[variable.name] = column if is_number else np.array(variable.levels)[column.astype(np.intp)]
        return found


def simulate_table(
    d: int,
    n: int = 1000,
    graph: str = "ER2",
    mechanism: Mechanism = "threshold",
    *,
    levels: tuple[int, int] = (2, 4),
    random_state: RandomState = None,
) -> SimulatedTable:
    """Draw a random graph and a table with categories.

    Each node depends on the observed values of its parents. A number contributes its standardized value times a weight,
    a category a random effect per level; weights are 0.5 to 2 in size, of either sign, and noise is N(0, 1).

    Parameters
    ----------
    d, n : int
        Number of variables and of rows.
    graph : str
        "ER2", "SF4", ...; see `random_dag`.
    mechanism : {"threshold", "logistic", "discrete"}
        Half of the nodes, drawn at random, are categories. "threshold": the sum of contributions and noise is cut into
        levels. "logistic": levels are drawn with probabilities of a multinomial logistic regression on the parents.
        "discrete": all nodes are categories, with a random table of probabilities given the parents, whose rows are
        drawn from a Dirichlet distribution with parameter 0.5 (nine tenths) and from the uniform one.
    levels : (int, int)
        The smallest and the largest number of levels.
    random_state : int, Generator or None
        Random seed.

    Examples
    --------
    >>> drawn = simulate_table(6, n=100, mechanism="logistic", random_state=0)
    >>> [len(variable.levels) for variable in drawn.coding.variables]
    [2, 0, 4, 0, 3, 0]
    """
    low, high = levels
    if mechanism not in MECHANISMS:
        raise ValueError(f"mechanism must be one of {quoted(MECHANISMS)}; got {mechanism!r}.")
    if not 2 <= low <= high <= len(_LETTERS):
        raise ProblemError(
            Parameter("levels"), f" must be a range (low, high) from 2 to {len(_LETTERS)}; got {levels}."
        )
    if n < 1:
        raise ValueError(f"The number of rows must be positive; got n={n}.")
    rng = np.random.default_rng(random_state)
    adjacency = random_dag(d, graph, rng)
    is_category = np.ones(d, dtype=bool)
    if mechanism != "discrete":
        is_category[rng.permutation(d)[: d - d // 2]] = False
    counts = np.where(is_category, rng.integers(low, high + 1, d), 0)
    rows = np.empty((n, d))
    for j in topological_order(adjacency):
        parents = np.nonzero(adjacency[:, j])[0]
        rows[:, j] = _draw(rows[:, parents], counts[parents], int(counts[j]), mechanism, rng)
    variables = [
        Variable(name, "category", tuple(_LETTERS[:count])) if count else Variable(name)
        for name, count in zip(column_names(None, d), counts.tolist(), strict=True)
    ]
    return SimulatedTable(adjacency, Coding(tuple(variables)), rows)


def _draw(parents: Matrix, counts: Vector, levels: int, mechanism: Mechanism, rng: np.random.Generator) -> Vector:
    """Draw the values of a node given those of its parents; `counts` and `levels` are numbers of levels, 0 if none."""
    if mechanism == "discrete":
        return _from_tables(parents, levels, rng)
    if levels and mechanism == "logistic":
        scores = np.column_stack([_contributions(parents, counts, rng) for _ in range(levels)])
        # The largest of independent Gumbel variables, shifted by the scores, has the logistic probabilities.
        return np.asarray((scores + rng.gumbel(size=scores.shape)).argmax(axis=1), dtype=float)
    total = _contributions(parents, counts, rng) + rng.normal(size=len(parents))
    if not levels:
        return total
    shares = _SMALLEST_SHARE / levels + (1 - _SMALLEST_SHARE) * rng.dirichlet(np.ones(levels))
    cuts = np.quantile(total, np.cumsum(shares)[:-1])
    return np.searchsorted(cuts, total).astype(float)


def _contributions(parents: Matrix, counts: Vector, rng: np.random.Generator) -> Vector:
    """Return the sum of the contributions of all parents, each with mean 0 and a random weight."""
    total = np.zeros(len(parents))
    for column, count in zip(parents.T, counts.tolist(), strict=True):
        effect = rng.normal(size=int(count))[column.astype(np.intp)] if count else column
        spread = effect.std()
        weight = rng.uniform(0.5, 2.0) * rng.choice([-1.0, 1.0])
        total += weight * (effect - effect.mean()) / spread if spread else 0.0
    return total


def _from_tables(parents: Matrix, levels: int, rng: np.random.Generator) -> Vector:
    """Draw levels from one random distribution per combination of the parents' levels that occurs."""
    which = np.zeros(len(parents), dtype=np.intp)
    if parents.shape[1]:
        which = np.unique(parents, axis=0, return_inverse=True)[1]
    tables = rng.dirichlet(np.full(levels, _CONCENTRATION), size=int(which.max()) + 1)
    tables = _SMALLEST_PROBABILITY / levels + (1 - _SMALLEST_PROBABILITY) * tables
    cumulative = np.cumsum(tables[which.ravel()], axis=1)
    drawn = (rng.random((len(parents), 1)) * cumulative[:, -1:] > cumulative).sum(axis=1)
    return np.asarray(drawn, dtype=float)
