"""One chain of a search over orders: its states, and what it does from one check to the next."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.graphs.edges import Edges
from golem.search import order_kernel_arrays as kernels
from golem.search.graph_combination import CostedGraph
from golem.search.order_kernels import advance

# Chains are checked after so many visits, or so many perturbations each.
VISITS = 200
# Visits after a perturbation. More are needed only if rounding errors lead in circles.
MOST_VISITS = 500


class Start(NamedTuple):
    """An order, and edges to the parents with which the choice begins, grouped by child.

    The edges form a graph in this order, or they come from Markov blankets.
    """

    order: NDArray[np.int64]
    edges: Edges
    is_graph: bool = True


class Lists(NamedTuple):
    """The problem and the candidates of an engine, named tuples of arrays; see `order_kernel_arrays`."""

    problem: Any
    candidates: Any
    # Whether all nodes are candidates of each other.
    complete: bool


class Chain:
    """One start: the current state, with all other `arrays` of the engine, and the best state so far."""

    def __init__(self, arrays: Any, start: Start, seed: int) -> None:
        # Slots by position are different in every chain.
        candidates = arrays.candidates._replace(slots=arrays.candidates.slots.copy())
        agenda = empty_agenda(len(start.order), candidates.slots.shape[1], seed)
        self.arrays = arrays._replace(candidates=candidates, agenda=agenda)
        self.best = arrays.state._make(part.copy() for part in arrays.state)
        self.start, self.begun, self.rng = start, False, np.random.default_rng(seed)
        # The best graph of all restarts, and the scores that they have reached.
        self.kept: CostedGraph | None = None
        self.ends: list[float] = []

    @property
    def score(self) -> float:
        """The score of the best graph."""
        score = float(self.best.values[kernels.COST].sum())
        return score if self.kept is None else min(score, float(self.kept.costs.sum()))

    @property
    def perturbations(self) -> int:
        """Number of perturbations so far."""
        return int(self.arrays.agenda.counts[kernels.DONE])

    @property
    def waiting(self) -> int:
        """Number of nodes in the queue."""
        return int(self.arrays.agenda.counts[kernels.WAITING])

    def begin(self, start: Start) -> None:
        """Begin with an order, and with those of its parents that are candidates."""
        (order, edges, _), state, (first, slots) = start, self.arrays.state, self.arrays.candidates[:2]
        nodes, agenda = state.nodes, self.arrays.agenda
        d, owners = len(order), np.repeat(np.arange(len(order)), np.diff(first))
        nodes[kernels.ORDER], nodes[kernels.POSITION, order] = order, np.arange(d)
        # Slots are sorted by node and candidate.
        keys = np.unique(edges.children * d + edges.causes)
        _, chosen, _ = np.intersect1d(owners * d + slots[kernels.NODE], keys, assume_unique=True, return_indices=True)
        children = owners[chosen]
        nodes[kernels.COUNT] = count = np.bincount(children, minlength=d)
        places = np.arange(len(chosen)) - (np.cumsum(count) - count)[children]
        state.parents[first[children] + places] = chosen - first[children]
        self.begin_state(owners)
        for source, target in zip(state, self.best, strict=True):
            target[:] = source
        agenda.lists[:] = 0
        agenda.counts[: kernels.DONE] = 0
        agenda.counts[kernels.LOW], agenda.counts[kernels.HIGH] = d, -1
        self.begun = True

    def begin_state(self, owners: NDArray[np.int64]) -> None:
        """Compute what the engine needs to know about the state; `owners` are the nodes of all slots."""
        self.set_pool(np.arange(self.arrays.state.nodes.shape[1]))
        self.advance(0, 0, 0.0)

    def set_pool(self, nodes: NDArray[np.int64]) -> None:
        """Choose the nodes at which perturbations begin."""
        self.arrays = self.arrays._replace(agenda=self.arrays.agenda._replace(pool=nodes))

    def advance(self, perturbations: int, visits: int, barrier: float) -> None:
        """Continue the search for a while; without perturbations, visit the nodes in the queue."""
        advance(self.arrays, self.best, perturbations, visits, barrier)

    def restart(self, start: Start, perturbations: int, barrier: float) -> None:
        """Climb from a start, and perturb what is found; the first time, only perturb."""
        if self.ends:
            self.begin(start)
            self.wake(self.rng.permutation(len(start.order)))
            while self.waiting:
                self.advance(0, VISITS, np.inf)
        self.advance(perturbations, MOST_VISITS, barrier)
        found = self.present
        self.ends.append(float(found.costs.sum()))
        if self.kept is None or self.ends[-1] < self.kept.costs.sum():
            self.kept = found

    def follow(self, leader: Chain) -> None:
        """Continue from the best state of another chain."""
        for states in (self.arrays.state, self.best):
            for source, target in zip(leader.best, states, strict=True):
                target[:] = source

    def wake(self, nodes: NDArray[np.int64]) -> None:
        """Put some nodes into the queue, which is empty, in this order."""
        lists = self.arrays.agenda.lists
        lists[kernels.QUEUE, : len(nodes)] = nodes
        lists[kernels.IS_ACTIVE, nodes] = 1
        self.arrays.agenda.counts[kernels.HEAD], self.arrays.agenda.counts[kernels.WAITING] = 0, len(nodes)

    def sleep(self) -> None:
        """Empty the queue."""
        self.arrays.agenda.counts[kernels.WAITING] = 0
        self.arrays.agenda.lists[kernels.IS_ACTIVE] = 0

    @property
    def present(self) -> CostedGraph:
        """The best state since the last restart, as a graph; edges are sorted by child, then cause."""
        candidates, best = self.arrays.candidates, self.best
        count, d = best.nodes[kernels.COUNT], len(candidates.first) - 1
        children = np.repeat(np.arange(d), count)
        corner = candidates.first[children]
        places = corner + np.arange(len(children)) - (np.cumsum(count) - count)[children]
        edges = Edges(candidates.slots[kernels.NODE, corner + best.parents[places]], children, d)
        return CostedGraph(best.nodes[kernels.ORDER].copy(), edges, best.values[kernels.COST].copy())

    @property
    def found(self) -> CostedGraph:
        """The best graph."""
        present = self.present
        return present if self.kept is None or self.kept.costs.sum() > present.costs.sum() else self.kept


def empty_agenda(d: int, slots: int, seed: int) -> kernels.Agenda:
    """Allocate an empty queue."""
    return kernels.Agenda(
        lists=np.zeros((4, d), dtype=np.int64),
        counts=np.zeros(8, dtype=np.int64),
        pool=np.arange(d),
        random=np.full(1, seed, dtype=np.uint64),
        shift=np.zeros(d + 1),
        # No key is all ones. Zero is the key of the first node, which has no predecessors and no parents.
        key=np.full(slots, ~np.uint64(0)),
        cost=np.zeros(slots),
    )
