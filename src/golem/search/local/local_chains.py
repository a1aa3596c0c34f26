"""Chains of the search with local scores: from several starts, reinsert nodes, then perturb the order and repeat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.graphs.dag import topological_order
from golem.runtime.machine import available_cores
from golem.runtime.types import Vector
from golem.score.solution import Status
from golem.search.chain_run import ChainRun
from golem.search.local import local_kernel_arrays as kernels
from golem.search.local.local_chain import MOST_VISITS, VISITS, Chain, Records, Start
from golem.search.local.local_problem import LocalProblem
from golem.search.masks import obeying
from golem.search.order_problem import EFFORTS, Effort
from golem.search.search_clock import SearchClock

# Rounding errors of the scores.
_AGREEMENT = 1e-2
# Chains are checked after so many perturbations each.
_BLOCK = 20
# Rounds in which candidates that were missed are added.
_MOST_EXTENSIONS = 4
# How often a start is tried, as much depends on the order of the visits. More nodes have more local optima.
_TRIES, _TRIES_OF_MANY, _MANY_NODES = 2, 4, 150
# Up to this number of nodes the search restarts many times, as perturbing one local optimum for longer seldom leads to
# another. Perturbations after each restart.
_FEW_NODES, _AFTER_RESTART = 64, 80
# Restarts at most, and what ends the search earlier: so many of them with the lowest score, and so many records. Half
# of the restarts or records are enough if nearly all restarts have the lowest score. Fewer nodes have more restarts.
_RESTARTS: dict[Effort, tuple[int, int, int]] = {
    "fast": (0, 0, 0),
    "default": (40, 6, 20_000),  # about 0.5 s
    "thorough": (160, 24, 80_000),
}
_NEARLY_ALL, _NODES = 0.9, 40
# Counting so many rows of a table of categories is worth a record.
_ROWS_PER_RECORD = 10_000
# From this number of nodes on, threads share the chains, unless the chains share their records, which saves as much.
_THREADS_PAY_FROM = 30


class Run(ChainRun[Chain]):
    """One search: its chains, which threads share."""

    def __init__(
        self,
        problem: LocalProblem,
        starts: Sequence[ArrayLike],
        effort: Effort,
        rng: np.random.Generator,
        clock: SearchClock,
    ) -> None:
        self.problem, self.rng, self.given, self.effort = problem, rng, starts, effort
        d = problem.d
        self.kept, base, factor = EFFORTS[effort]
        self.restarts = _RESTARTS[effort] if d <= _FEW_NODES else _RESTARTS["fast"]
        clock.planned = self.restarts[0] * _AFTER_RESTART or base + int(factor * max(np.sqrt(d), d / 20))
        # A walk that raises the score by the penalty of several edges seldom ends lower. Perturbations stop there.
        self.barrier = 6.0 * float(np.log(problem.rows.max() + 2.0))
        threads_pay = d >= _THREADS_PAY_FROM and not self.restarts[0]
        workers = min(available_cores(), 4) if threads_pay else 1
        super().__init__(clock, workers)

    @property
    def records(self) -> int:
        """Number of records that all chains have made, and the rows that they have counted, in units of records."""
        made = {chain.records for chain in self.chains}
        values = max((int(records.memo.value_used[0]) for records in made), default=0)  # shared
        return sum(records.count for records in made) + int(values * self.problem.rows.max()) // _ROWS_PER_RECORD

    def result(self) -> tuple[NDArray[np.int64], list[NDArray[np.int64]], Vector]:
        """Return the best order, the parents of every node, and the costs; the required edges if none has begun."""
        problem = self.problem
        if any(chain.begun for chain in self.chains):
            best = self.leader().best
            return best[kernels.ORDER], self.leader().parents(best), self.leader().costs(best)
        required = np.zeros((problem.d, problem.d), dtype=bool) if problem.required is None else problem.required
        parents = [np.flatnonzero(column) for column in required.T]
        costs = [problem.score.cost(j, own.tolist()) for j, own in enumerate(parents)]
        return topological_order(required), parents, np.array(costs)

    def _search(self) -> Status:
        """Search from every start, then perturb all chains until they agree or have had their perturbations."""
        self._begin(self._starts())
        self.chains = sorted(self.chains, key=lambda chain: round(chain.score, 3))[: self.kept]
        for chain in self.chains:
            chain.records.chains = [other for other in self.chains if other.records is chain.records]
        status = self._restart(*self.restarts) if self.restarts[0] else self._perturb(self.clock.planned)
        self._climb([self.leader()])
        return status

    def _starts(self) -> list[Start]:
        """Find likely neighbours of every node, and return the starts."""
        problem, d = self.problem, self.problem.d
        self.connected = np.zeros((d, d), dtype=bool) if problem.required is None else problem.required.copy()
        self.likely, explained = problem.blankets(), np.zeros(d)
        nowhere = np.full(d, -1)
        for j in range(d):
            everyone = nowhere.copy()
            everyone[j] = 0
            blanket, cost, best = problem.choose(j, None, everyone)
            alone = problem.score.cost(j, [])
            explained[j] = (alone - cost) / problem.rows[j]
            self.connected[j, blanket] = self.connected[j, best] = True
            self.connected[j] |= self.likely[j]
            likely = problem.fitting(j, np.union1d(blanket, np.flatnonzero(self.likely[j])))
            self.likely[j] = False
            self.likely[j, likely] = True
            self.clock.check(0, lambda: np.inf)
        named = [np.argsort(explained.round(9), kind="stable")]
        if self.effort != "fast":
            named += [self.rng.permutation(d) for _ in range(max(1, self.kept - 1 - len(self.given)))]
            named *= _TRIES if d < _MANY_NODES else _TRIES_OF_MANY
        starts = [self._start(given) for given in self.given[: 1 if self.effort == "fast" else None]]
        if not (starts and self.effort == "fast"):
            blankets = [np.flatnonzero(row) for row in self.likely]
            starts += [Start(obeying(order, self.problem.required), blankets) for order in named]
        return starts

    def _start(self, start: ArrayLike) -> Start:
        """Convert an order or a graph."""
        given = np.asarray(start)
        if given.ndim == 1:
            return Start(obeying(given, self.problem.required), [np.zeros(0, dtype=np.int64)] * len(given))
        order = obeying(topological_order(given), self.problem.required)
        return Start(order, [np.flatnonzero(column) for column in given.T])

    def _begin(self, starts: Sequence[Start]) -> None:
        """Begin the chains, and let them climb until no candidates are missing."""
        problem = self.problem
        seeds = [int(seed) for seed in self.rng.integers(2**63, size=len(starts))]
        self._connect(starts)
        for _ in range(_MOST_EXTENSIONS):
            arrays, lists = problem.candidate_lists(self.connected, self.likely)
            shared = Records(problem, arrays, lists) if self.restarts[0] else None
            chains = [
                Chain(shared or Records(problem, arrays, lists), start, seed)
                for start, seed in zip(starts, seeds, strict=True)
            ]
            self._each(Chain.begin, chains)
            self.chains = chains
            self._climb(chains)
            if lists.slots.shape[1] == problem.d * (problem.d - 1):
                break
            starts = [self._among_all(chain) for chain in chains]
            if not self._connect(starts):
                break

    def _connect(self, starts: Sequence[Start]) -> bool:
        """Add edges to the candidates; return whether there are new ones."""
        before = self.connected | self.connected.T
        for start in starts:
            for j, parents in enumerate(start.parents):
                self.connected[j, parents] = True
        return bool(np.any(self.connected & ~before))

    def _among_all(self, chain: Chain) -> Start:
        """Improve the parents in the best order of a chain by a choice among all predecessors."""
        order, position = chain.best[kernels.ORDER].copy(), chain.best[kernels.POSITION]
        parents = []
        for j, own in enumerate(chain.parents(chain.best)):
            parents.append(self.problem.choose(j, own.tolist(), position)[0])
            self.clock.check(0, lambda: self.leader().score)
        return Start(order, parents)

    def _climb(self, chains: Sequence[Chain]) -> None:
        """Reinsert nodes until none moves."""
        for chain in chains:
            chain.wake(self.rng.permutation(self.problem.d))
        while active := [chain for chain in chains if chain.waiting]:
            self._each(lambda chain: chain.advance(0, VISITS, np.inf), active)

    def _restart(self, most: int, enough: int, records: int) -> Status:
        """Restart all chains; stop early if enough restarts reached the lowest score, unless restarts are cheap."""
        most = max(most, most * _NODES // self.problem.d)
        while True:
            ends = np.array([end for chain in self.chains for end in chain.ends])
            lowest = np.sum(ends < ends.min(initial=np.inf) + _AGREEMENT)
            agreed, share = lowest >= enough, 0.5 if lowest >= _NEARLY_ALL * len(ends) else 1.0
            if len(ends) >= share * most or (agreed and self.records >= share * records):
                return Status.AGREED if agreed else Status.SEARCHED
            self._each(lambda chain: chain.restart(_AFTER_RESTART, self.barrier), self.chains)

    def _perturb(self, perturbations: int) -> Status:
        """Perturb all chains until they agree or have had their perturbations."""
        # Two starts can share a local optimum. So each must also survive some perturbations, more if they are cheap.
        least = min(perturbations, max(10, min(80, 2000 // self.problem.d)))

        def block(chain: Chain) -> None:
            chain.advance(min(_BLOCK, perturbations - chain.perturbations), MOST_VISITS, self.barrier)

        together = False
        while (done := self.chains[0].perturbations) < perturbations:
            scores = [chain.score for chain in self.chains]
            agreed = len(scores) > 1 and max(scores) - min(scores) < _AGREEMENT
            if agreed and not together and done >= least:
                return Status.AGREED
            if not together and 2 * done >= perturbations:
                # The rest of the perturbations are better spent near the best state.
                together, leader = True, self.leader()
                for chain in self.chains:
                    if chain is not leader:
                        chain.follow(leader)
            self._each(block, self.chains)
        return Status.SEARCHED
