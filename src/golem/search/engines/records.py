"""The Python part of engines that remember every set of parents: candidates, records, chains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.graphs.edges import Edges
from golem.runtime.types import BoolMatrix, Vector
from golem.search import order_kernel_arrays as kernels
from golem.search.chain import Chain, Lists, Start, empty_agenda
from golem.search.engines import record_kernel_arrays as arrays
from golem.search.engines import record_kernels  # noqa: F401  registers the kernels
from golem.search.engines.engine import Engine, Restarts
from golem.search.order_kernels import advance
from golem.search.order_problem import Effort, edge_kinds

# Up to this number of nodes all nodes are candidates of each other, and the search restarts many times, as perturbing
# one local optimum for longer seldom leads to another.
FEW = 64
_RESTARTS: dict[Effort, Restarts] = {
    "fast": Restarts(0, 0, 0),
    "default": Restarts(40, 6, 20_000),  # about 0.5 s
    "thorough": Restarts(160, 24, 80_000),
}
# How often a start is tried. More nodes have more local optima.
_TRIES, _TRIES_OF_MANY, _MANY_NODES = 2, 4, 150
# Counting so many rows of a table of categories is as much work as a record.
_ROWS_PER_RECORD = 10_000
# Candidates of each node by the cost with one parent.
_BEST_SINGLE = 20
# Records of a search per node, and at most. Memory is used only as far as it is filled.
_RECORDS_PER_NODE, _MOST_RECORDS = 1 << 11, 1 << 19
# Entries of the lists of a record, and values of sets of categories, on average.
_POOL_PER_RECORD, _VALUES_PER_RECORD = 32, 4
_FEW_RECORDS, SHARED_VALUES = 1 << 12, 1 << 20


class Values(NamedTuple):
    """A hash table for the values of sets of categories; see `record_kernel_arrays.Memo`."""

    key: NDArray[np.uint64]
    value: Vector
    used: NDArray[np.int64]


class RecordEngine(Engine):
    """A score that is expensive to compute, so that the cost of every set of parents is remembered.

    Parameters
    ----------
    score : GaussianBlocks or Counts
        The costs.
    allowed, required : array of shape (d, d), bool, optional
        Masks of the edges.
    problem : BlockProblem or CountProblem
        The score as arrays.
    rows : array of shape (d,)
        Numbers of rows from which the costs of the nodes are computed.
    complete : bool
        Whether all nodes are candidates of each other.
    """

    def __init__(
        self,
        score: Any,
        allowed: BoolMatrix | None,
        required: BoolMatrix | None,
        problem: Any,
        rows: Vector,
        complete: bool,
    ) -> None:
        super().__init__(score, allowed, required)
        self.score, self.problem, self.rows, self.complete = score, problem, rows, complete
        self.kinds = edge_kinds(self.d, allowed, required)
        self.keys = np.random.default_rng(0).integers(1, 2**63, size=(3, self.d), dtype=np.uint64)
        self.edge_penalty = float(np.log(rows.max() + 2.0))
        self.likely = np.zeros((self.d, self.d), dtype=bool)
        self._work: arrays.Work | None = None  # of `choose`

    @property
    def tries(self) -> int:
        """How often a named start is tried."""
        return _TRIES if self.d < _MANY_NODES else _TRIES_OF_MANY

    def restarts(self, effort: Effort) -> Restarts:
        """Return how often the search restarts."""
        return _RESTARTS[effort if self.d <= FEW else "fast"]

    def work(self, chains: Sequence[Chain]) -> int:
        """Return the number of records that chains have made, and of the rows counted, in units of records."""
        made = {id(chain.records): chain.records for chain in chains if isinstance(chain, RecordChain)}.values()
        values = max((int(records.work.memo.value_used[0]) for records in made), default=0)  # shared
        return sum(records.count for records in made) + int(values * self.rows.max()) // _ROWS_PER_RECORD

    def costs(self, edges: Edges) -> Vector:
        """Return the cost of every node of a graph."""
        return np.array([self.score.cost(j, edges.causes[edges.children == j].tolist()) for j in range(self.d)])

    # The named tuple of all arrays, whose type chooses the kernels.
    engine_arrays: type[Any]

    @abstractmethod
    def values(self, number: int) -> Values:
        """Return a table for so many values of sets, a power of two."""

    @abstractmethod
    def first_columns(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first column of some nodes in the block of any other node."""

    @abstractmethod
    def blocks_of(self, first: NDArray[np.int64], others: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
        """Return the problem for some candidates, and the first column of each in the block of its node."""

    @abstractmethod
    def scratch(self, most: int, memo: arrays.Memo) -> arrays.Work:
        """Allocate scratch space for nodes with at most so many candidates."""

    def prepare(self, check: Callable[[], None]) -> None:
        """Find the likely neighbours of every node, by a choice of parents among all nodes."""
        self.explained, nowhere = np.zeros(self.d), np.full(self.d, -1)
        for j in range(self.d):
            everyone = nowhere.copy()
            everyone[j] = 0
            blanket, cost, best = self.choose(j, self.fitting(j, np.zeros(0, dtype=np.int64)), everyone)
            self.explained[j] = (self.score.cost(j, []) - cost) / self.rows[j]
            self.connected[j, blanket] = self.connected[j, best] = True
            self.connected[j] |= self.likely[j]
            likely = self.fitting(j, np.union1d(blanket, np.flatnonzero(self.likely[j])))
            self.likely[j] = False
            self.likely[j, likely] = True
            check()
        children, causes = np.nonzero(self.likely)
        self.blankets = Edges(causes, children, self.d)

    def choose(
        self, j: int, parents: NDArray[np.int64], position: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], float, NDArray[np.int64]]:
        """Choose parents of j among all nodes at earlier positions, beginning with some.

        Returns the parents, the cost, and the nodes that lower the cost of the first set most.
        """
        others = np.delete(np.arange(self.d), j)
        first = np.zeros(self.d + 1, dtype=np.int64)
        first[j + 1 :] = self.d - 1
        zeros, slots = np.zeros_like(others), np.arange(self.d - 1)
        listed = np.stack([others, zeros, slots, self.kinds[j, others].astype(np.int64), self.first_columns(others)])
        values = self.values(1 << (512 * self.d).bit_length())
        if 2 * values.used[0] > len(values.key):
            values.key[:], values.used[:] = 0, 0
        memo = empty_memo(_FEW_RECORDS, 2048 * self.d, values)
        if self._work is None:
            self._work = self.scratch(self.d - 1, memo)
        state = empty_state(self.d, self.d - 1)
        state.nodes[kernels.POSITION], state.nodes[kernels.COUNT, j] = position, len(parents)
        state.parents[: len(parents)] = np.searchsorted(others, np.sort(parents))
        agenda = empty_agenda(self.d, 0, 0)._replace(pool=np.array([j]))
        work, own = self._work._replace(memo=memo), _own()
        lists = arrays.Candidates(first, listed, self.keys)
        advance(self.engine_arrays(self.problem, lists, state, agenda, work, own), state, 0, 0, 0.0)
        record, start = state.record[j], memo.records[0]
        at = start[arrays.ADDITIONS]
        best = others[memo.pool[at : at + min(start[arrays.GAINS], _BEST_SINGLE)]]
        return others[state.parents[: state.nodes[kernels.COUNT, j]]], float(memo.cost[record]), best

    def fitting(self, j: int, parents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the required parents of j and those of the given ones that are allowed and fit into the limit."""
        known, size, limit = self.kinds[j], self.problem.values[arrays.SIZE], self.problem.values[arrays.LIMIT, j]
        must = np.flatnonzero(known & kernels.REQUIRED)
        may = parents[known[parents] & (kernels.ALLOWED | kernels.REQUIRED) == kernels.ALLOWED]
        return np.concatenate([must, may[size[must].sum() + np.cumsum(size[may]) <= limit]])

    def new_lists(self, before: Lists | None) -> Lists:
        """Return the candidates of every node: those connected to it, in either direction."""
        near = np.ones((self.d, self.d), dtype=bool) if self.complete else self.connected | self.connected.T
        np.fill_diagonal(near, False)
        nodes, others = np.nonzero(near)
        first = np.append(0, np.cumsum(near.sum(axis=1)))
        # Pairs are sorted by node and candidate, so that the reverse of a pair is found by bisection.
        back = np.searchsorted(nodes * self.d + others, others * self.d + nodes) - first[others]
        kinds, ranked = self.kinds[nodes, others].astype(np.int64), np.arange(len(nodes)) - first[nodes]
        kinds[self.likely[nodes, others]] |= kernels.LIKELY
        kinds[self.kinds[others, nodes] & kernels.REQUIRED > 0] |= kernels.REQUIRED_BACK
        problem, start = self.problem, self.first_columns(others)
        if not self.complete:
            problem, start = self.blocks_of(first, others)
        lists = arrays.Candidates(first, np.stack([others, back, ranked, kinds, start]), self.keys)
        return Lists(problem, lists, len(others) == self.d * (self.d - 1))

    def first_parents(self, start: Start) -> Start:
        """Return those parents that precede their children and fit into the limits; a chain chooses among them."""
        rank, (order, edges, _) = np.argsort(start.order), start
        forward = rank[edges.causes] < rank[edges.children]
        return self._with_parents(order, lambda j: self.fitting(j, edges.causes[forward & (edges.children == j)]))

    def choose_among_all(self, start: Start, check: Callable[[], None]) -> Start:
        """Improve the parents in an order by a choice among all predecessors."""
        position, edges = np.argsort(start.order), start.edges

        def choose(j: int) -> NDArray[np.int64]:
            check()
            return self.choose(j, edges.causes[edges.children == j], position)[0]

        return self._with_parents(start.order.copy(), choose)

    def _with_parents(self, order: NDArray[np.int64], parents: Callable[[int], NDArray[np.int64]]) -> Start:
        own = [parents(j) for j in range(self.d)]
        children = np.repeat(np.arange(self.d), [len(some) for some in own])
        return Start(order, Edges(np.concatenate(own), children, self.d))

    def chains(self, lists: Lists, starts: Sequence[Start], seeds: Sequence[int]) -> list[Chain]:
        """Return one chain per start; those that restart share their records."""
        shared = SharedRecords(self, lists) if self.d <= FEW else None
        return [
            RecordChain(self, shared or SharedRecords(self, lists), lists, start, seed)
            for start, seed in zip(starts, seeds, strict=True)
        ]


class SharedRecords:
    """The records of one or several chains, with scratch space. Chains that share them must not run at a time."""

    def __init__(self, engine: RecordEngine, lists: Lists) -> None:
        most = int(np.diff(lists.candidates.first).max(initial=0))
        self.work = engine.scratch(most, search_memo(engine))
        self.chains: list[RecordChain] = []
        self._forgotten = 0

    @property
    def count(self) -> int:
        """Number of records that were made."""
        return self._forgotten + int(self.work.memo.used[arrays.RECORDS])

    def forget(self) -> None:
        """Forget all records but those of the states of the chains."""
        memo = self.work.memo
        self._forgotten += int(memo.used[arrays.RECORDS])
        for used in (memo.key, memo.used, memo.value_key, memo.value_used):
            used[:] = 0
        for chain in self.chains:
            if chain.begun:
                chain.make_records()


class RecordChain(Chain):
    """A chain that asks for more room when its records fill the memory."""

    def __init__(self, engine: RecordEngine, records: SharedRecords, lists: Lists, start: Start, seed: int) -> None:
        total, d = lists.candidates.slots.shape[1], len(start.order)
        given = lists.problem, lists.candidates, empty_state(d, total), empty_agenda(0, 0, 0)
        super().__init__(engine.engine_arrays(*given, records.work, _own()), start, seed)
        self.records = records
        records.chains.append(self)

    def make_records(self) -> None:
        """Make the records of both states again."""
        for state in (self.arrays.state, self.best):
            agenda = empty_agenda(state.nodes.shape[1], 0, 0)
            advance(self.arrays._replace(state=state, agenda=agenda), state, 0, 0, 0.0)

    def advance(self, perturbations: int, visits: int, barrier: float) -> None:
        """Continue the search for a while."""
        goal = self.perturbations + perturbations
        while True:
            super().advance(goal - self.perturbations, visits, barrier)
            if not self.arrays.agenda.counts[kernels.FULL]:
                break
            self.arrays.agenda.counts[kernels.FULL] = 0
            self.records.forget()
            if self.perturbations == goal:
                break

    def follow(self, leader: Chain) -> None:
        """Continue from the best state of another chain."""
        super().follow(leader)
        if isinstance(leader, RecordChain) and leader.records is not self.records:
            self.make_records()


def search_memo(engine: RecordEngine) -> arrays.Memo:
    """Allocate the records of one chain of a search."""
    records = min(1 << (_RECORDS_PER_NODE * engine.d).bit_length(), _MOST_RECORDS)
    values = engine.values(max(_VALUES_PER_RECORD * records, SHARED_VALUES))
    return empty_memo(records, max(_POOL_PER_RECORD * records, 1 << 22), values)


def empty_values(number: int) -> Values:
    """Allocate a table of values."""
    return Values(np.zeros(number, dtype=np.uint64), np.zeros(number), np.zeros(1, dtype=np.int64))


def empty_memo(records: int, pool: int, values: Values) -> arrays.Memo:
    """Allocate a memo without records. The numbers of records and values are powers of two, as hash tables need."""
    return arrays.Memo(
        records=np.zeros((records, 6), dtype=np.int32),
        cost=np.zeros(records),
        pool=np.zeros(pool, dtype=np.int32),
        key=np.zeros(2 * records, dtype=np.uint64),
        place=np.zeros(2 * records, dtype=np.int32),
        used=np.zeros(2, dtype=np.int64),
        value_key=values.key,
        value=values.value,
        value_used=values.used,
    )


def empty_state(d: int, total: int) -> arrays.State:
    """Allocate a state."""
    return arrays.State(
        nodes=np.zeros((3, d), dtype=np.int64),
        values=np.zeros((1, d)),
        parents=np.zeros(total, dtype=np.int64),
        record=np.zeros(d, dtype=np.int64),
    )


def _own() -> arrays.Own:
    """Allocate the records of the moving node."""
    return arrays.Own(np.zeros(2, dtype=np.int64))
