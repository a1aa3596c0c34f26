"""One chain of the search with local scores: its states, and the records that chains can share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import Vector
from golem.search.local import local_kernel_arrays as kernels
from golem.search.local.local_kernels import advance
from golem.search.local.local_problem import LocalProblem, choose_parents, empty_agenda, search_memo
from golem.search.masks import obeying
from golem.search.queue_kernels import HEAD, IS_ACTIVE, QUEUE, WAITING
from golem.search.shared_kernels import EPSILON

# Chains are checked after so many visits.
VISITS = 100
# Visits after a perturbation.
MOST_VISITS = 500


class Start(NamedTuple):
    """An order, and the parents of every node with which the choice begins."""

    order: NDArray[np.int64]
    parents: Sequence[NDArray[np.int64]]


class Given(NamedTuple):
    """Parents with which a choice begins: their children, in ascending order, and their slots and numbers."""

    children: NDArray[np.int64]
    slots: NDArray[np.int64]
    nodes: NDArray[np.int64]


class Records:
    """The records of one or several chains, with scratch space. Chains that share them must not run at a time."""

    def __init__(self, problem: LocalProblem, arrays: kernels.Problem, candidates: kernels.Candidates) -> None:
        self.problem, self.arrays, self.candidates = problem, arrays, candidates
        self.memo, self.work = search_memo(problem), problem.scratch(candidates)
        self.chains: list[Chain] = []
        self.no_parents = self.given([np.zeros(0, dtype=np.int64)] * problem.d)
        self._forgotten = 0

    @property
    def count(self) -> int:
        """Number of records that were made."""
        return self._forgotten + int(self.memo.used[kernels.RECORDS])

    def given(self, parents: Sequence[NDArray[np.int64]]) -> Given:
        """Return those of some parents that are candidates and fit into the limits, and the required ones."""
        d, first = self.problem.d, self.candidates.first
        own = [self.problem.fitting(j, some) for j, some in enumerate(parents)]
        wanted = np.repeat(np.arange(d), [len(some) for some in own]) * d + np.concatenate(own)
        # Candidates are sorted by node.
        listed = np.repeat(np.arange(d), np.diff(first)) * d + self.candidates.slots[kernels.NODE]
        at = np.flatnonzero(np.isin(listed, wanted))
        children = listed[at] // d
        return Given(children, at - first[children], listed[at] % d)

    def forget(self) -> None:
        """Forget all records but those of the states of the chains."""
        kept = [
            (chain, state, state[kernels.ORDER].copy(), self.given(chain.parents(state)))
            for chain in self.chains
            if chain.begun
            for state in (chain.state, chain.near, chain.best)
        ]
        self._forgotten += int(self.memo.used[kernels.RECORDS])
        for used in (self.memo.key, self.memo.used, self.memo.value_key, self.memo.value_used):
            used[:] = 0
        for chain, state, order, given in kept:
            chain.set_state(state, order, given)


class Chain:
    """One start: the current state and the best one so far."""

    def __init__(self, records: Records, start: Start, seed: int) -> None:
        self.records, self.problem, self.begun = records, records.problem, False
        # Slots by position are different in every chain.
        self.candidates = records.candidates._replace(slots=records.candidates.slots.copy())
        d = self.problem.d
        self.order, self.first_parents = start.order, records.given(start.parents)
        # The current state, the best one since the last restart, and the best one of all.
        self.state, self.near, self.best = (np.zeros((3, d), dtype=np.int64) for _ in range(3))
        self.agenda, self.rng = empty_agenda(d, seed), np.random.default_rng(seed)
        self.ends: list[float] = []  # scores that the restarts have reached
        records.chains.append(self)

    @property
    def score(self) -> float:
        """The score of the best state."""
        return self._score(self.best)

    def _score(self, state: NDArray[np.int64]) -> float:
        """Return the score of a state."""
        return float(self.costs(state).sum())

    def costs(self, state: NDArray[np.int64]) -> Vector:
        """Return the costs of all nodes in a state."""
        return np.asarray(self.records.memo.cost[state[kernels.RECORD]])

    @property
    def perturbations(self) -> int:
        """Number of perturbations so far."""
        return int(self.agenda.counts[kernels.DONE])

    @property
    def waiting(self) -> int:
        """Number of nodes in the queue."""
        return int(self.agenda.counts[WAITING])

    def begin(self) -> None:
        """Begin with the order of the start, and with those of its parents that are candidates."""
        self.set_state(self.state, self.order, self.first_parents)
        self.near[:] = self.best[:] = self.state
        self.begun = True

    def set_state(self, state: NDArray[np.int64], order: NDArray[np.int64], given: Given) -> None:
        """Give a state an order, and parents that begin with those of some that precede their children."""
        d, first, records = len(order), self.candidates.first, self.records
        position = state[kernels.POSITION]
        state[kernels.ORDER], position[order] = order, np.arange(d)
        before = position[given.nodes] < position[given.children]
        children = given.children[before]
        number = np.bincount(children, minlength=d)
        place = np.arange(len(children)) - (np.cumsum(number) - number)[children]
        slots = np.zeros(self.candidates.slots.shape[1], dtype=np.int64)
        slots[first[children] + place] = given.slots[before]
        choose_parents(records.arrays, self.candidates, records.memo, records.work, state, number, slots)

    def advance(self, perturbations: int, visits: int, barrier: float) -> None:
        """Continue the search for a while; without perturbations, visit the nodes in the queue."""
        nothing, records = np.zeros(0, dtype=np.int64), self.records
        arguments = records.arrays, self.candidates, records.memo, self.state, self.near, self.agenda, records.work
        goal = self.perturbations + perturbations
        while True:
            advance(*arguments, nothing, nothing, goal - self.perturbations, visits, barrier)
            if not self.agenda.counts[kernels.FULL]:
                break
            self.agenda.counts[kernels.FULL] = 0
            records.forget()
            if self.perturbations == goal:
                break
        if self._score(self.near) < self.score + EPSILON:
            self.best[:] = self.near

    def restart(self, perturbations: int, barrier: float) -> None:
        """Climb from a random order, and perturb what is found; the first time, only perturb."""
        d = self.problem.d
        if self.ends:
            given = self.first_parents if len(self.ends) % 2 else self.records.no_parents
            self.set_state(self.state, obeying(self.rng.permutation(d), self.problem.required), given)
            self.near[:] = self.state
            self.wake(self.rng.permutation(d))
            while self.waiting:
                self.advance(0, VISITS, np.inf)
        self.advance(perturbations, MOST_VISITS, barrier)
        self.ends.append(self._score(self.near))

    def follow(self, leader: Chain) -> None:
        """Continue from the best state of another chain."""
        given = self.records.given(leader.parents(leader.best))
        self.set_state(self.state, leader.best[kernels.ORDER].copy(), given)
        self.near[:] = self.best[:] = self.state

    def wake(self, nodes: NDArray[np.int64]) -> None:
        """Put all nodes into the queue, in this order."""
        self.agenda.lists[QUEUE] = nodes
        self.agenda.lists[IS_ACTIVE] = 1
        self.agenda.counts[HEAD], self.agenda.counts[WAITING] = 0, len(nodes)

    def parents(self, state: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the parents of every node in a state, sorted."""
        found, first, memo = [], self.candidates.first, self.records.memo
        for j, record in enumerate(state[kernels.RECORD]):
            at, k = memo.records[record, : kernels.COUNT + 1]
            found.append(self.candidates.slots[kernels.NODE, first[j] + memo.pool[at : at + k]])
        return found
