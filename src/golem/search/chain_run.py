"""A search over orders by several chains: the threads that share them, and the ways in which the search ends.

A chain has a state of its own, so that threads only decide which core computes it. Chains are compared at fixed points,
and the answer does not depend on the number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Generic, Protocol, TypeVar

from golem.score.solution import Status
from golem.search.search_clock import SearchClock
from golem.search.shared_kernels import EPSILON


class AnyChain(Protocol):
    """What a run needs to know of its chains."""

    @property
    def begun(self) -> bool:
        """Whether there is a best state."""

    @property
    def score(self) -> float:
        """The score of the best state."""

    @property
    def perturbations(self) -> int:
        """Number of perturbations so far."""


ChainType = TypeVar("ChainType", bound=AnyChain)


class ChainRun(ABC, Generic[ChainType]):
    """One search: its chains, which threads share."""

    def __init__(self, clock: SearchClock, workers: int) -> None:
        self.clock = clock
        self.chains: list[ChainType] = []
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None

    def run(self) -> Status:
        """Search to the end, the time limit or Ctrl-C; Ctrl-C is raised if no chain has begun."""
        try:
            return self._search()
        except TimeoutError:
            return Status.TIME_LIMIT
        except KeyboardInterrupt:
            if not any(chain.begun for chain in self.chains):
                raise
            return Status.INTERRUPTED
        finally:
            if self._pool is not None:
                self._pool.shutdown()

    @abstractmethod
    def _search(self) -> Status:
        """Search to the end; raise TimeoutError at the time limit."""

    def leader(self) -> ChainType:
        """Return the chain with the lowest score; rounding, which depends on the units, must not decide."""
        begun = [chain for chain in self.chains if chain.begun]
        limit = min(chain.score for chain in begun) + EPSILON
        return next(chain for chain in begun if chain.score <= limit)

    @property
    def perturbations(self) -> int:
        """Number of perturbations of all chains."""
        return sum(chain.perturbations for chain in self.chains)

    def _each(self, task: Callable[[ChainType], None], chains: Sequence[ChainType]) -> None:
        """Do something with every chain, in threads; then check the time limit."""
        if self._pool is None or len(chains) == 1:
            for chain in chains:
                task(chain)
        else:
            futures = [self._pool.submit(task, chain) for chain in chains]
            try:
                for future in futures:
                    future.result()
            finally:
                wait(futures)
        if self.chains:
            self.clock.check(self.perturbations, lambda: self.leader().score)
