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
    """One start: the current state and the best one so far, with scratch space.

    Parameters
    ----------
    lists : Lists
        The candidates.
    states : tuple of two states
        Arrays of the engine for the current and the best state.
    work, own : named tuples of arrays
        Scratch space of the engine for the nodes that a moving node passes, and for that node.
    start : Start
        Where the chain begins.
    seed : int
        Random seed.
    """

    def __init__(self, lists: Lists, states: tuple[Any, Any], work: Any, own: Any, start: Start, seed: int) -> None:
        d, total = len(start.order), lists.candidates.slots.shape[1]
        self.start, self.begun, self.problem = start, False, lists.problem
        # Slots by position are different in every chain.
        self.candidates = lists.candidates._replace(slots=lists.candidates.slots.copy())
        (self.state, self.best), self.work, self.own = states, work, own
        self.agenda = empty_agenda(d, total, seed)
        self.rng = np.random.default_rng(seed)
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
        return int(self.agenda.counts[kernels.DONE])

    @property
    def waiting(self) -> int:
        """Number of nodes in the queue."""
        return int(self.agenda.counts[kernels.WAITING])

    def begin(self, start: Start) -> None:
        """Begin with an order, and with those of its parents that are candidates."""
        (order, edges, _), nodes, (first, slots) = start, self.state.nodes, self.candidates[:2]
        d, owners = len(order), np.repeat(np.arange(len(order)), np.diff(first))
        nodes[kernels.ORDER], nodes[kernels.POSITION, order] = order, np.arange(d)
        # Slots are sorted by node and candidate.
        keys = np.unique(edges.children * d + edges.causes)
        _, chosen, _ = np.intersect1d(owners * d + slots[kernels.NODE], keys, assume_unique=True, return_indices=True)
        children = owners[chosen]
        nodes[kernels.COUNT] = count = np.bincount(children, minlength=d)
        places = np.arange(len(chosen)) - (np.cumsum(count) - count)[children]
        self.state.parents[first[children] + places] = chosen - first[children]
        self.begin_state(owners)
        for source, target in zip(self.state, self.best, strict=True):
            target[:] = source
        self.agenda.lists[:] = 0
        self.agenda.counts[: kernels.DONE] = 0
        self.agenda.counts[kernels.LOW], self.agenda.counts[kernels.HIGH] = d, -1
        self.begun = True

    def begin_state(self, owners: NDArray[np.int64]) -> None:
        """Compute what the engine needs to know about the state; `owners` are the nodes of all slots."""
        self.agenda = self.agenda._replace(pool=np.arange(len(self.best.nodes[0])))
        self.advance(0, 0, 0.0)

    def advance(self, perturbations: int, visits: int, barrier: float) -> None:
        """Continue the search for a while; without perturbations, visit the nodes in the queue."""
        arrays = self.state, self.best, self.agenda, self.work, self.own
        advance(self.problem, self.candidates, *arrays, perturbations, visits, barrier)

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
        for states in (self.state, self.best):
            for source, target in zip(leader.best, states, strict=True):
                target[:] = source

    def wake(self, nodes: NDArray[np.int64]) -> None:
        """Put some nodes into the queue, which is empty, in this order."""
        self.agenda.lists[kernels.QUEUE, : len(nodes)] = nodes
        self.agenda.lists[kernels.IS_ACTIVE, nodes] = 1
        self.agenda.counts[kernels.HEAD], self.agenda.counts[kernels.WAITING] = 0, len(nodes)

    def sleep(self) -> None:
        """Empty the queue."""
        self.agenda.counts[kernels.WAITING] = 0
        self.agenda.lists[kernels.IS_ACTIVE] = 0

    @property
    def present(self) -> CostedGraph:
        """The best state since the last restart, as a graph; edges are sorted by child, then cause."""
        count, d = self.best.nodes[kernels.COUNT], len(self.candidates.first) - 1
        children = np.repeat(np.arange(d), count)
        corner = self.candidates.first[children]
        places = corner + np.arange(len(children)) - (np.cumsum(count) - count)[children]
        edges = Edges(self.candidates.slots[kernels.NODE, corner + self.best.parents[places]], children, d)
        return CostedGraph(self.best.nodes[kernels.ORDER].copy(), edges, self.best.values[kernels.COST].copy())

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
