"""One search over orders: chains from several starts, of which the best one takes over better parts of the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from golem.graphs.edges import Edges
from golem.runtime.machine import available_cores
from golem.runtime.types import BoolVector, Matrix
from golem.score.regression import Regressions, regress_edges
from golem.score.solution import Status
from golem.search.chain_run import ChainRun
from golem.search.free import order_kernel_arrays as kernels
from golem.search.free.better_parts import CostedGraph, differing_nodes, take_better_parts
from golem.search.free.candidates import choose_parents, scratch
from golem.search.free.order_kernels import advance
from golem.search.queue_kernels import HEAD, IS_ACTIVE, QUEUE, WAITING
from golem.search.search_clock import SearchClock
from golem.search.shared_kernels import EPSILON

if TYPE_CHECKING:
    from golem.search.free.order_search import OrderSearch

# Rounding errors of the scores in ill-conditioned problems.
_AGREEMENT = 1e-2
# Chains are checked after so many visits, or so many perturbations each.
_VISITS = 200
_BLOCK = 20
# Visits after a perturbation. More are needed only if rounding errors lead in circles.
_MOST_VISITS = 500
# Rounds in which candidates that were missed are added.
_MOST_EXTENSIONS = 4
# Share of the chains that go on after each of these rounds.
_GO_ON = 0.75
# Perturbations at least.
_LEAST = 60
# Perturbations per node at which starts differed, and the patience: beyond these, perturbations go on as long as so
# many of them bring at least the penalty of an edge.
_PER_CONTESTED, _PATIENCE = 20, 400
# From this number of nodes on, threads share the chains.
_THREADS_PAY_FROM = 50


class Start(NamedTuple):
    """An order, and edges to the parents with which the choice begins, grouped by child.

    The edges form a graph in this order, or they come from Markov blankets.
    """

    order: NDArray[np.int64]
    edges: Edges
    is_graph: bool = True


class Chain:
    """One start: the current state and the best one so far, with scratch space of their own."""

    def __init__(self, candidates: kernels.Candidates, most_parents: int, start: Start, seed: int) -> None:
        d, total = len(candidates.corner), candidates.slots.shape[1]
        self.start, self.begun, self.perturbations = start, False, 0
        # Slots by position are different in every chain.
        self.candidates = candidates._replace(slots=candidates.slots.copy())
        self.state, self.best = _empty_state(d, total), _empty_state(d, total)
        self.agenda = kernels.Agenda(
            lists=np.zeros((4, d), dtype=np.int64),
            counts=np.zeros(6, dtype=np.int64),
            pool=np.arange(d),
            random=np.full(1, seed, dtype=np.uint64),
            # No key is all ones. Zero is the key of the first node, which has no predecessors and no parents.
            key=np.full(total, ~np.uint64(0)),
            cost=np.zeros(total),
            shift=np.zeros(d + 1),
        )
        most = int(np.diff(candidates.first).max(initial=0))
        self.work, self.own = scratch(most, most_parents), scratch(most, most_parents)

    @property
    def score(self) -> float:
        """The score of the best state."""
        return float(self.best.values[kernels.COST].sum())

    def begin(self, problem: kernels.Problem) -> None:
        """Begin with the order of the start, and with those of its parents that are candidates."""
        (order, edges, _), nodes, (first, slots) = self.start, self.state.nodes, self.candidates[:2]
        d, owners = len(order), np.repeat(np.arange(len(order)), np.diff(first))
        self.state.hashes[:] = 0
        nodes[kernels.ORDER], nodes[kernels.POSITION, order] = order, np.arange(d)
        # Slots are sorted by node and candidate.
        keys = np.unique(edges.children * d + edges.causes)
        _, chosen, _ = np.intersect1d(owners * d + slots[kernels.NODE], keys, assume_unique=True, return_indices=True)
        children = owners[chosen]
        nodes[kernels.COUNT] = count = np.bincount(children, minlength=d)
        places = np.arange(len(chosen)) - (np.cumsum(count) - count)[children]
        self.state.parents[first[children] + places] = chosen - first[children]
        position, keys = nodes[kernels.POSITION], self.candidates.keys[0, slots[kernels.NODE]]
        precedes = position[slots[kernels.NODE]] < position[owners]
        np.add.at(self.state.hashes[kernels.BEFORE], owners[precedes], keys[precedes])
        self.advance(problem, 0, 0, 0.0)
        for source, target in zip(self.state, self.best, strict=True):
            target[:] = source
        self.agenda.lists[:] = 0
        self.agenda.counts[:] = 0
        self.agenda.counts[kernels.LOW], self.agenda.counts[kernels.HIGH] = d, -1
        self.begun = True

    def advance(self, problem: kernels.Problem, perturbations: int, visits: int, barrier: float) -> None:
        """Continue the search for a while; without perturbations, visit the nodes in the queue."""
        advance(
            problem,
            self.candidates,
            self.state,
            self.best,
            self.agenda,
            self.work,
            self.own,
            perturbations,
            visits,
            barrier,
        )
        self.perturbations += perturbations

    def follow(self, leader: Chain) -> None:
        """Continue from the best state of another chain."""
        for states in (self.state, self.best):
            for source, target in zip(leader.best, states, strict=True):
                target[:] = source

    def wake(self, nodes: NDArray[np.int64]) -> None:
        """Put some nodes into the queue, which is empty, in this order."""
        self.agenda.lists[QUEUE, : len(nodes)] = nodes
        self.agenda.lists[IS_ACTIVE, nodes] = 1
        self.agenda.counts[HEAD], self.agenda.counts[WAITING] = 0, len(nodes)

    @property
    def waiting(self) -> int:
        """Number of nodes in the queue."""
        return int(self.agenda.counts[WAITING])

    @property
    def edges(self) -> Edges:
        """The edges of the best state, sorted by child, then cause."""
        count, d = self.best.nodes[kernels.COUNT], len(self.candidates.corner)
        children = np.repeat(np.arange(d), count)
        corner = self.candidates.first[children]
        places = corner + np.arange(len(children)) - (np.cumsum(count) - count)[children]
        return Edges(self.candidates.slots[kernels.NODE, corner + self.best.parents[places]], children, d)

    @property
    def found(self) -> CostedGraph:
        """The best state as a graph."""
        return CostedGraph(self.best.nodes[kernels.ORDER], self.edges, self.best.values[kernels.COST])

    def regressions(self, S: Matrix) -> Regressions:
        """Fit the best state to a covariance."""
        edges = self.edges
        return regress_edges(edges.children, edges.causes, S)


class Run(ChainRun[Chain]):
    """One search: its chains, which threads share."""

    def __init__(
        self,
        owner: OrderSearch,
        problem: kernels.Problem,
        starts: Sequence[Start],
        wanted: int,
        rng: np.random.Generator,
        clock: SearchClock,
    ) -> None:
        self.owner, self.problem, self.starts, self.rng = owner, problem, starts, rng
        d, penalty = len(owner.S), problem.penalty
        self.edge_penalty = float(penalty[1] - penalty[0]) if d > 1 else 0.0
        # A walk that raises the score by the penalty of several edges seldom ends lower. Perturbations stop there.
        self.barrier = 6.0 * self.edge_penalty
        # Nodes that have different parents, at a different cost, in graphs from different starts.
        self.contested = np.zeros(d, dtype=bool)
        self.kept = wanted
        workers = min(available_cores(), len(starts)) if d >= _THREADS_PAY_FROM else 1
        super().__init__(clock, workers)

    def _search(self) -> Status:
        """Search from every start, then perturb all chains until they agree or have had their perturbations."""
        self._begin(self.starts)
        status = self._perturb(self.clock.planned)
        self._climb([self.leader()], [np.arange(len(self.owner.S))])
        return status

    def _begin(self, starts: Sequence[Start]) -> None:
        """Begin the chains, and let them climb until no candidates are missing; most of the best ones go on."""
        seeds = [int(seed) for seed in self.rng.integers(2**63, size=len(starts))]
        self._connect(starts)
        improved = iter(self._among_all([start for start in starts if not start.is_graph]))
        starts = [start if start.is_graph else next(improved) for start in starts]
        awake = [np.arange(len(self.owner.S))] * len(starts)
        for _ in range(_MOST_EXTENSIONS):
            complete = self._begin_round(starts, seeds, awake)
            best = sorted(zip(self.chains, seeds, strict=True), key=lambda pair: round(pair[0].score, 3))
            best = best[: max(self.kept, int(_GO_ON * len(best)))]
            self.chains, seeds = [chain for chain, _ in best], [seed for _, seed in best]
            if complete:
                break
            found = [Start(chain.best.nodes[kernels.ORDER], chain.edges) for chain in self.chains]
            starts = self._among_all(found)
            # Poor graphs have large families. Their candidates would make the search slow.
            new = self._connect(starts[: self.kept], families=True) | self._connect(starts)
            if not new.any():
                break
            moved = [differing_nodes(one.edges, other.edges) for one, other in zip(found, starts, strict=True)]
            awake = [np.union1d(np.flatnonzero(new), nodes) for nodes in moved]
        self._combine()
        self.chains = self.chains[: self.kept]

    def _begin_round(self, starts: Sequence[Start], seeds: Sequence[int], awake: Sequence[NDArray[np.int64]]) -> bool:
        """Begin the chains with the present candidates, and let them climb; return whether all nodes are candidates."""
        lists, most = self.owner.candidates(), self.problem.most_parents
        chains = [Chain(lists, most, start, seed) for start, seed in zip(starts, seeds, strict=True)]
        self._each(lambda chain: chain.begin(self.problem), chains)
        self.chains = chains
        self._climb(chains, awake)
        return bool(lists.slots.shape[1] == len(self.owner.S) ** 2)

    def _connect(self, starts: Sequence[Start], families: bool = False) -> BoolVector:
        """Add edges to the candidates, also between families if asked; return which nodes have new candidates.

        To reverse an edge w -> v, v must be able to take over the parents of w, and w the other parents of v.
        """
        new = np.zeros(len(self.owner.S), dtype=bool)
        for order, listed, _ in starts:
            d = len(order)
            edges = sparse.csr_array((np.ones(len(listed)), (listed.children, listed.causes)), shape=(d, d))
            linked = edges + edges @ edges + edges.T @ edges if families else edges
            new |= self.owner.connect(*linked.nonzero())
        return new

    def _among_all(self, starts: Sequence[Start]) -> list[Start]:
        """Improve the parents in some orders by a choice among all predecessors."""
        improved: dict[tuple[bytes, ...], Start] = {}
        keys = [tuple(part.tobytes() for part in (order, edges.causes, edges.children)) for order, edges, _ in starts]
        for key, (order, edges, _) in zip(keys, starts, strict=True):
            if key not in improved:  # starts can be equal
                chosen, _ = choose_parents(self.problem, edges, False, np.argsort(order), self.owner.known)
                improved[key] = Start(order.copy(), chosen)
        return [improved[key] for key in keys]

    def _combine(self) -> None:
        """Give the best chain the better parts of the others, which then follow it; note where they differed."""
        leader = self.leader()
        combined = leader.found
        for chain in self.chains:
            if chain is not leader:
                combined, differ = take_better_parts(combined, chain.found)
                self.contested |= differ
        if combined.costs.sum() < leader.score - _AGREEMENT:
            leader.start = Start(combined.order, combined.edges)
            leader.begin(self.problem)
        for chain in self.chains:
            if chain is not leader:
                chain.follow(leader)

    def _climb(self, chains: Sequence[Chain], awake: Sequence[NDArray[np.int64]]) -> None:
        """Reinsert some nodes of every chain, and then their neighbours, until none moves."""
        for chain, nodes in zip(chains, awake, strict=True):
            chain.wake(self.rng.permutation(nodes))
        # Rounding errors can lead in circles. So a chain ends that has not improved for two passes.
        least = {id(chain): (math.inf, 0) for chain in chains}
        while active := [chain for chain in chains if chain.waiting]:
            self._each(lambda chain: chain.advance(self.problem, 0, _VISITS, np.inf), active)
            for chain in active:
                score, idle = least[id(chain)]
                better = chain.score < score - EPSILON
                least[id(chain)] = (chain.score, 0) if better else (score, idle + _VISITS)
                if not better and idle > 2 * len(self.owner.S):
                    chain.agenda.counts[WAITING] = 0
                    chain.agenda.lists[IS_ACTIVE] = 0

    def _perturb(self, perturbations: int) -> Status:
        """Perturb all chains, mostly where they differed, until this has brought nothing for a while."""

        def block(chain: Chain) -> None:
            amount = min(_BLOCK, perturbations - chain.perturbations)
            chain.advance(self.problem, amount, _MOST_VISITS, self.barrier)

        d = len(self.owner.S)
        # The last gain that was worthwhile: the score then, and the number of perturbations.
        before, since = self.leader().score, -perturbations
        patience = min(_PATIENCE, d // 4)
        while (done := self.chains[0].perturbations) < perturbations:
            # Two starts can share a local optimum. So each must also survive some perturbations, and those of many
            # nodes must reach a good share of them.
            enough = done >= max(_LEAST, d // 4, _PER_CONTESTED * self.contested.sum())
            if len(self.chains) > 1 and enough and done >= since + patience:
                break
            nodes = np.flatnonzero(self.contested)
            pool = np.concatenate([np.arange(d), *[nodes] * (d // max(len(nodes), 1))])
            for chain in self.chains:
                chain.agenda = chain.agenda._replace(pool=pool)
            self._each(block, self.chains)
            self._combine()
            if (score := self.leader().score) < before - self.edge_penalty:
                before, since = score, self.chains[0].perturbations
        return Status.SEARCHED if self.contested.any() or len(self.chains) == 1 else Status.AGREED


def _empty_state(d: int, total: int) -> kernels.State:
    """Allocate a state."""
    return kernels.State(
        nodes=np.zeros((3, d), dtype=np.int64),
        values=np.zeros((2, d)),
        hashes=np.zeros((2, d), dtype=np.uint64),
        parents=np.zeros(total, dtype=np.int64),
        vectors=np.zeros((2, total)),
        marks=np.zeros(total, dtype=np.uint8),
    )
