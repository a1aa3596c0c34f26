"""What the search over orders needs from an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, BoolVector, Vector
from golem.search.chain import Chain, Lists, Start
from golem.search.order_problem import Effort, edge_kinds


class Restarts(NamedTuple):
    """How often a search restarts at most, and what ends it earlier: so many with the lowest score, so much work."""

    most: int
    enough: int
    work: int


class Engine(ABC):
    """A score with knowledge, in the form that the compiled search needs."""

    # The penalty of a usual edge.
    edge_penalty: float
    # How much every node is explained by the others, shape (d,), and its likely neighbours.
    explained: Vector
    blankets: Edges

    def __init__(self, score: Any, allowed: BoolMatrix | None, required: BoolMatrix | None) -> None:
        d: int = score.d
        self.d, self.required = d, required
        self.known = None if allowed is None and required is None else edge_kinds(d, allowed, required)
        # Pairs of candidates. Every search adds those that it missed, so that later ones begin with them.
        self.connected = np.zeros((d, d), dtype=bool) if required is None else required.copy()
        self._lists: Lists | None = None
        self._is_stale = True

    @staticmethod
    @abstractmethod
    def tiny_score() -> Any:
        """Return a score of few nodes, for which the kernels are compiled."""

    @abstractmethod
    def prepare(self, check: Callable[[], None]) -> None:
        """Find the likely neighbours of every node; `check` raises TimeoutError after the time limit."""

    @property
    @abstractmethod
    def tries(self) -> int:
        """How often a named start is tried, as much depends on the order of the visits."""

    def restarts(self, effort: Effort) -> Restarts:
        """Return how often the search restarts; with 0 restarts, its chains are perturbed together."""
        return Restarts(0, 0, 0)

    def connect(self, one: NDArray[Any], other: NDArray[Any]) -> BoolVector:
        """Make pairs of nodes candidates of each other; return which nodes have new ones, shape (d,)."""
        added = (one != other) & ~self.connected[one, other] & ~self.connected[other, one]
        self.connected[one[added], other[added]] = True
        new = np.zeros(self.d, dtype=bool)
        new[one[added]] = new[other[added]] = True
        self._is_stale = self._is_stale or bool(new.any())
        return new

    def lists(self) -> Lists:
        """Return the candidates of every node, and the problem for them."""
        if self._lists is None or self._is_stale:
            self._lists, self._is_stale = self.new_lists(self._lists), False
        return self._lists

    @abstractmethod
    def new_lists(self, before: Lists | None) -> Lists:
        """Return the candidates that the connected pairs imply; `before` are earlier ones."""

    @abstractmethod
    def first_parents(self, start: Start) -> Start:
        """Return a start with parents that a state can have."""

    @abstractmethod
    def choose_among_all(self, start: Start, check: Callable[[], None]) -> Start:
        """Improve the parents in an order by a choice among all predecessors."""

    @abstractmethod
    def chains(self, lists: Lists, starts: Sequence[Start], seeds: Sequence[int]) -> list[Chain]:
        """Return one chain per start."""

    def imitates_factors(self, edges: Edges) -> bool:
        """Return whether a graph only imitates a few hidden factors, at such a cost that the search should end."""
        return False

    def work(self, chains: Sequence[Chain]) -> int:
        """Return how much work chains have done, in units of `Restarts.work`."""
        return 0

    @abstractmethod
    def costs(self, edges: Edges) -> Vector:
        """Return the cost of every node of a graph."""
