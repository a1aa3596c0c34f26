"""One search over orders, for every score that is a sum of costs of nodes given their parents.

Chains begin at several starts. Each moves one node at a time to its best position, then perturbs the order and searches
again. The worse half of the chains ends again and again, until few are left. The best of these takes over the parents
that are better in all others; or, if restarts are cheap, the chains restart many times. A thorough search contains the
default one. A chain has a state of its own, so that threads only determine which core computes it. Chains are compared
at fixed points, and the answer does not depend on the number of threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from golem.graphs.edges import Edges
from golem.runtime.machine import available_cores
from golem.runtime.types import BoolVector
from golem.score.solution import Callback, Progress, Status
from golem.search.chain import MOST_VISITS, VISITS, Chain, Start
from golem.search.engines.engine import Engine, Restarts
from golem.search.graph_combination import CostedGraph, differing_nodes, take_better_components
from golem.search.order_kernel_arrays import EPSILON
from golem.search.order_problem import EFFORTS, Effort, FoundGraph, obeying
from golem.search.parent_sets import ParentSets

# Rounding errors of the scores in ill-conditioned problems.
_AGREEMENT = 1e-2
# Chains are checked after so many perturbations each.
_BLOCK = 20
# Rounds in which candidates that were missed are added.
_MOST_EXTENSIONS = 4
# Share of the chains that go on after each of these rounds.
_GO_ON = 0.75
# Perturbations of every chain before the worse half of the chains ends.
_TRIAL = 40
# Perturbations at least.
_LEAST = 60
# Perturbations per node at which starts differed, and the patience: beyond these, perturbations go on as long as so
# many of them bring at least the penalty of an edge.
_PER_CONTESTED, _PATIENCE = 20, 400
# Perturbations after a restart. Half of the restarts are enough if nearly all of them have the lowest score. Fewer
# nodes have more restarts.
_AFTER_RESTART, _NEARLY_ALL, _NODES = 80, 0.9, 40
# A walk ends if it raises the score by the penalty of so many edges, as it seldom ends lower: from a start, and after a
# perturbation.
_FAR, _NEAR = 6.0, 2.0
# From this number of nodes on, threads share the chains.
_THREADS_PAY_FROM = 50


class SearchClock:
    """The time limit and the reports of progress."""

    def __init__(self, limit: float | None, on_progress: Callback | None) -> None:
        self._began, self._limit, self._on_progress = time.perf_counter(), limit, on_progress
        self._next_report, self.planned = 0.0, 0

    def check(self, perturbations: int, score: Callable[[], float]) -> None:
        """Raise TimeoutError after the time limit, and report progress a few times per second."""
        seconds = time.perf_counter() - self._began
        if self._on_progress is not None and seconds >= self._next_report:
            self._on_progress(Progress("", perturbations, self.planned, seconds, score(), 0.0))
            self._next_report = seconds + 0.2
        if self._limit is not None and seconds >= self._limit:
            raise TimeoutError


class OrderSearch:
    """One search of an engine: its chains, which threads share; see `golem.search.search_order.search_order`."""

    def __init__(
        self,
        engine: Engine,
        starts: Sequence[str | ArrayLike],
        effort: Effort,
        rng: np.random.Generator,
        clock: SearchClock,
    ) -> None:
        self.engine, self.given, self.effort, self.rng, self.clock = engine, starts, effort, rng, clock
        d = engine.d
        self.barrier = _NEAR * engine.edge_penalty
        # Nodes that have different parents, at a different cost, in graphs from different starts.
        self.contested = np.zeros(d, dtype=bool)
        self.chains: list[Chain] = []
        self.sets = ParentSets(d)
        self._earlier = 0  # perturbations of chains that have ended
        # Chains that restart share the engine's records.
        workers = min(available_cores(), 8) if d >= _THREADS_PAY_FROM and not engine.restarts(effort).most else 1
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None

    def run(self) -> FoundGraph:
        """Search to the end, the time limit or Ctrl-C; Ctrl-C is raised if no chain has begun."""
        try:
            status = self._search()
        except TimeoutError:
            status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            if not any(chain.begun for chain in self.chains):
                raise
            status = Status.INTERRUPTED
        finally:
            if self._pool is not None:
                self._pool.shutdown()
        order, edges, costs = self._result()
        return FoundGraph(order.astype(np.intp), edges, costs, status, self.perturbations)

    def leader(self) -> Chain:
        """Return the chain with the lowest score; rounding, which depends on the units, must not decide."""
        begun = [chain for chain in self.chains if chain.begun]
        limit = min(chain.score for chain in begun) + EPSILON
        return next(chain for chain in begun if chain.score <= limit)

    @property
    def perturbations(self) -> int:
        """Number of perturbations of all chains."""
        return self._earlier + sum(chain.perturbations for chain in self.chains)

    def _result(self) -> CostedGraph:
        """Return the best graph; the required edges if no chain has begun."""
        if any(chain.begun for chain in self.chains):
            return self.leader().found
        d, required = self.engine.d, self.engine.required
        edges = Edges.from_matrix(np.zeros((d, d), dtype=bool) if required is None else required).by_child()
        return CostedGraph(edges.order().astype(np.int64), edges, self.engine.costs(edges))

    def _check(self) -> None:
        """Check the time limit before there are chains, or between them."""
        begun = any(chain.begun for chain in self.chains)
        self.clock.check(self.perturbations, lambda: self.leader().score if begun else math.inf)

    def _each(self, task: Callable[[Chain], None], chains: Sequence[Chain]) -> None:
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
            self._check()

    def _search(self) -> Status:
        """Search; a thorough search begins with a default one and continues from its graph, so that it is not worse."""
        self.engine.prepare(self._check)
        if self.effort != "thorough":
            return self._search_with(self.effort, [])
        if (status := self._search_with("default", [])) is Status.FACTORS:
            return status
        return self._search_with("thorough", [Start(*self.leader().found[:2])])

    def _search_with(self, effort: Effort, starts: list[Start]) -> Status:
        """Search from every start, then restart or perturb all chains until they agree or have had their share."""
        (kept, base, factor), d, restarts = EFFORTS[effort], self.engine.d, self.engine.restarts(effort)
        self.clock.planned = restarts.most * _AFTER_RESTART or base + int(factor * max(np.sqrt(d), d / 20))
        tried = list(self.given[:1])
        if effort != "fast":
            tried = [*self.given, *["random"] * (kept - len(self.given))]
            tried += [start for start in tried if isinstance(start, str)] * (self.engine.tries - 1)
        starts = [*starts, *(self._start(start) for start in tried)]
        self._begin(starts, half := max(kept, len(starts) // 2))
        if self._imitates_factors():
            return Status.FACTORS
        if restarts.most:
            self._end_all_but(kept)
            status = self._restart(restarts)
        else:
            self._end_all_but(half)
            self._choose(kept)
            status = self._perturb(self.clock.planned)
        self._climb_best()
        return status

    def _imitates_factors(self) -> bool:
        """Return whether the best graph only imitates a few hidden factors: a better one is not worth its time."""
        return self.engine.imitates_factors(self.leader().present.edges)

    def _end_all_but(self, number: int) -> None:
        """End all chains but the best ones; what they found is kept for a combination."""
        for chain in self.chains:
            self.sets.add(chain.present)
        self.chains.sort(key=lambda chain: round(chain.score, 3))
        self._earlier += sum(chain.perturbations for chain in self.chains[number:])
        del self.chains[number:]

    def _choose(self, kept: int) -> None:
        """Perturb the chains, and end the worse half of them, until few are left; combine these."""
        while len(self.chains) > kept:
            self._each(lambda chain: chain.advance(_TRIAL, MOST_VISITS, self.barrier), self.chains)
            self._recombine()
            self._end_all_but(max(kept, len(self.chains) // 2))
        self._combine()

    def _start(self, start: str | ArrayLike) -> Start:
        """Convert a start to an order that the required edges allow."""
        engine = self.engine
        edges, is_graph = engine.blankets, False
        if isinstance(start, str):
            by_r2 = start == "r2"
            order = np.argsort(engine.explained.round(9), kind="stable") if by_r2 else self.rng.permutation(engine.d)
        else:
            order = np.asarray(start)
            is_graph = order.ndim == 2
            if is_graph:
                edges = Edges.from_matrix(order != 0).by_child()
                order = edges.order()
        return self._obeying(order, edges, is_graph)

    def _obeying(self, order: NDArray[np.int64], edges: Edges, is_graph: bool) -> Start:
        """Return a start whose order obeys the required edges, which come first."""
        required = self.engine.required
        order = obeying(order, required)
        if required is not None:
            must = Edges.from_matrix(required)
            causes, children = np.append(must.causes, edges.causes), np.append(must.children, edges.children)
            edges = Edges(causes, children, edges.d).by_child()
        return Start(order.astype(np.int64), edges, is_graph)

    def _begin(self, starts: Sequence[Start], kept: int) -> None:
        """Begin the chains, and let them climb until no candidates are missing; most of the best ones go on."""
        seeds = [int(seed) for seed in self.rng.integers(2**63, size=len(starts))]
        self._connect(starts)
        starts = self._improved(starts, self.engine.first_parents)
        awake = [np.arange(self.engine.d)] * len(starts)
        for _ in range(_MOST_EXTENSIONS):
            complete = self._begin_round(starts, seeds, awake)
            best = sorted(zip(self.chains, seeds, strict=True), key=lambda pair: round(pair[0].score, 3))
            best = best[: max(kept, int(_GO_ON * len(best)))]
            self.chains, seeds = [chain for chain, _ in best], [seed for _, seed in best]
            if complete or self._imitates_factors():
                break
            found = [Start(*chain.present[:2]) for chain in self.chains]
            starts = self._improved(found, lambda start: self.engine.choose_among_all(start, self._check))
            # Poor graphs have large families. Their candidates would make the search slow.
            new = self._connect(starts[:kept], families=True) | self._connect(starts)
            if not new.any():
                break
            moved = [differing_nodes(one.edges, other.edges) for one, other in zip(found, starts, strict=True)]
            awake = [np.union1d(np.flatnonzero(new), nodes) for nodes in moved]

    def _begin_round(self, starts: Sequence[Start], seeds: Sequence[int], awake: Sequence[NDArray[np.int64]]) -> bool:
        """Begin the chains with the present candidates, and let them climb; return whether all nodes are candidates."""
        lists = self.engine.lists()
        chains = self.engine.chains(lists, starts, seeds)
        self._each(lambda chain: chain.begin(chain.start), chains)
        self._earlier, self.chains = self.perturbations, chains
        self._climb(chains, awake)
        return lists.complete

    def _connect(self, starts: Sequence[Start], families: bool = False) -> BoolVector:
        """Add edges to the candidates, also between families if asked; return which nodes have new candidates.

        To reverse an edge w -> v, v must be able to take over the parents of w, and w the other parents of v.
        """
        d = self.engine.d
        new = np.zeros(d, dtype=bool)
        for _, listed, _ in starts:
            pairs = listed.children, listed.causes
            if families:
                edges = sparse.csr_array((np.ones(len(listed)), pairs), shape=(d, d))
                pairs = (edges + edges @ edges + edges.T @ edges).nonzero()
            new |= self.engine.connect(*pairs)
        return new

    def _improved(self, starts: Sequence[Start], improve: Callable[[Start], Start]) -> list[Start]:
        """Improve the parents of some starts, which can be equal."""
        improved: dict[tuple[bytes, ...], Start] = {}
        keys = [tuple(part.tobytes() for part in (order, edges.causes, edges.children)) for order, edges, _ in starts]
        for key, start in zip(keys, starts, strict=True):
            if key not in improved:
                improved[key] = improve(start)
        return [improved[key] for key in keys]

    def _recombine(self) -> None:
        """Give the best chain what is better in others, or in those that have ended."""
        leader = self.leader()
        combined = leader.found
        for chain in self.chains:
            self.sets.add(chain.present)
            if chain is not leader:
                combined, _ = take_better_components(combined, chain.found)
        combined = self.sets.improve(combined)
        if combined.costs.sum() < leader.score - _AGREEMENT:
            leader.begin(Start(*combined[:2]))

    def _combine(self) -> None:
        """Note where the chains differ, and combine them; all follow the best one."""
        best = self.leader().found
        for chain in self.chains:
            self.contested |= take_better_components(best, chain.found)[1]
        self._recombine()
        leader = self.leader()
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
            self._each(lambda chain: chain.advance(0, VISITS, _FAR * self.engine.edge_penalty), active)
            for chain in active:
                score, idle = least[id(chain)]
                better = chain.score < score - EPSILON
                least[id(chain)] = (chain.score, 0) if better else (score, idle + VISITS)
                if not better and idle > 2 * self.engine.d:
                    chain.sleep()

    def _climb_best(self) -> None:
        """Reinsert all nodes of the best graph once more."""
        leader = self.leader()
        if leader.kept is not None:
            leader.begin(Start(*leader.found[:2]))
        self._climb([leader], [np.arange(self.engine.d)])

    def _restart(self, restarts: Restarts) -> Status:
        """Restart all chains; stop early if enough restarts reached the lowest score, unless restarts are cheap."""
        engine, (most, enough, work) = self.engine, restarts
        most = max(most, most * _NODES // engine.d)

        def restart(chain: Chain) -> None:
            edges = engine.blankets if len(chain.ends) % 2 else Edges.from_matrix(np.zeros((0, 0), dtype=bool))
            start = self._obeying(chain.rng.permutation(engine.d), Edges(edges.causes, edges.children, engine.d), False)
            chain.restart(engine.first_parents(start), _AFTER_RESTART, self.barrier)

        while True:
            ends = np.array([end for chain in self.chains for end in chain.ends])
            lowest = np.sum(ends < ends.min(initial=np.inf) + _AGREEMENT)
            agreed, share = lowest >= enough, 0.5 if lowest >= _NEARLY_ALL * len(ends) else 1.0
            if len(ends) >= share * most or (agreed and engine.work(self.chains) >= share * work):
                return Status.AGREED if agreed else Status.SEARCHED
            self._each(restart, self.chains)

    def _perturb(self, perturbations: int) -> Status:
        """Perturb all chains, mostly where they differed, until this has brought nothing for a while."""

        def block(chain: Chain) -> None:
            chain.advance(min(_BLOCK, perturbations - chain.perturbations), MOST_VISITS, self.barrier)

        d = self.engine.d
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
                chain.set_pool(pool)
            self._each(block, self.chains)
            self._combine()
            if (score := self.leader().score) < before - self.engine.edge_penalty:
                before, since = score, self.chains[0].perturbations
        return Status.SEARCHED if self.contested.any() or len(self.chains) == 1 else Status.AGREED
