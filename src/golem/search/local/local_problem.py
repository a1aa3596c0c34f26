"""The arrays of a search with a local score: the problem, the candidates of every node, records, scratch space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from golem.data.checks import most_parents
from golem.runtime.types import BoolMatrix, Vector
from golem.score.node_scores import Counts, GaussianBlocks
from golem.score.sparsity import L0
from golem.search.free import order_kernel_arrays
from golem.search.free.candidates import markov_blankets
from golem.search.local import local_kernel_arrays as kernels
from golem.search.local.local_kernels import advance
from golem.search.masks import edge_kinds
from golem.search.shared_kernels import NO_NODE

# Up to this number of nodes, and of cells in a table of categories, all nodes are candidates of each other.
_FEW, _FEW_CELLS = 64, 1 << 18
# Candidates of each node by the cost with one parent.
_BEST_SINGLE = 20
# Records of a search per node, and at most. Memory is used only as far as it is filled.
_RECORDS_PER_NODE, _MOST_RECORDS = 1 << 11, 1 << 19
# Entries of the lists of a record, and values of sets of categories, on average.
_POOL_PER_RECORD, _VALUES_PER_RECORD = 32, 4
_FEW_RECORDS, _SHARED_VALUES = 1 << 12, 1 << 20
_NOT_CHOSEN = -2
# Sets of rows at most, and the words that they take, so that they stay in the cache.
_MOST_SETS, _WORDS_OF_SETS = 128, 1 << 16


class Values(NamedTuple):
    """A hash table for the values of sets of categories; see `local_kernels.Memo`."""

    key: NDArray[np.uint64]
    value: Vector
    used: NDArray[np.int64]

    def clear(self) -> None:
        """Forget all values."""
        self.key[:], self.used[:] = 0, 0


class LocalProblem:
    """A local score with knowledge, in the form that the kernels need."""

    def __init__(
        self,
        score: GaussianBlocks | Counts,
        limits: Vector,
        allowed: BoolMatrix | None,
        required: BoolMatrix | None,
    ) -> None:
        self.score, self.required, self.d = score, required, score.d
        self.known = edge_kinds(self.d, allowed, required)
        self.complete = self.d <= _FEW and (isinstance(score, GaussianBlocks) or score.codes.size <= _FEW_CELLS)
        self.keys = np.random.default_rng(0).integers(1, 2**63, size=(3, self.d), dtype=np.uint64)
        # Numbers of rows that the costs of the nodes rest on.
        self.rows = np.full(self.d, 0.0)
        # Values of sets do not depend on the candidates. Searches of few nodes run in one thread and share them.
        self._shared: Values | None = None
        self._work: kernels.Work | None = None  # of `choose`
        if isinstance(score, GaussianBlocks):
            self.arrays = _gaussian_arrays(score, limits)
            self.rows += [score.rows[list(own)].sum() for own in score.terms]
        else:
            self.arrays = _count_arrays(score, limits)
            self.rows += len(score.codes)

    def choose(
        self, j: int, parents: Sequence[int] | None, position: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], float, NDArray[np.int64]]:
        """Choose parents of j among all nodes at earlier positions, beginning with some, or with the required ones.

        Returns the parents, the cost, and the nodes that lower the cost of the first set most.
        """
        others = np.delete(np.arange(self.d), j)
        first = np.zeros(self.d + 1, dtype=np.int64)
        first[j + 1 :] = self.d - 1
        start = self.score.first[others] if isinstance(self.score, GaussianBlocks) else others
        zeros = np.zeros_like(others)
        slots = np.stack([others, zeros, start, self.known[j, others].astype(np.int64), np.arange(self.d - 1)])
        candidates = kernels.Candidates(first, slots, self.keys)
        values = self.values(1 << (512 * self.d).bit_length())
        if 2 * values.used[0] > len(values.key):
            values.clear()
        memo = empty_memo(_FEW_RECORDS, 2048 * self.d, values)
        given, number = np.zeros(self.d, dtype=np.int64), np.full(self.d, _NOT_CHOSEN)
        number[j] = NO_NODE
        if parents is not None:
            number[j] = len(parents)
            given[: len(parents)] = np.searchsorted(others, np.sort(np.asarray(parents, dtype=np.int64)))
        state = np.stack([position, position, position])
        if self._work is None:
            self._work = self.scratch(candidates)
        choose_parents(self.arrays, candidates, memo, self._work, state, number, given)
        record = state[kernels.RECORD, j]
        first_set, chosen = memo.records[0], memo.records[record]
        at = first_set[kernels.ADDITIONS]
        best = others[memo.pool[at : at + min(first_set[kernels.GAINS], _BEST_SINGLE)]]
        at = chosen[kernels.PARENTS]
        return others[memo.pool[at : at + chosen[kernels.COUNT]]], float(memo.cost[record]), best

    def values(self, number: int) -> Values:
        """Return a table for so many values of sets, a power of two; of few nodes, always the same table."""
        if isinstance(self.score, GaussianBlocks):
            return empty_values(1)
        if self.d > _FEW:
            return empty_values(number)
        if self._shared is None:
            self._shared = empty_values(_SHARED_VALUES)
        return self._shared

    def blankets(self) -> BoolMatrix:
        """Estimate which nodes c are in the Markov blanket of j, entry [j, c], from the matrix with the most rows.

        Backward elimination finds parents whose effects cancel, which adding one node at a time misses.
        """
        score = self.score
        if self.complete or not isinstance(score, GaussianBlocks):
            return np.zeros((self.d, self.d), dtype=bool)
        t = int(np.argmax(score.rows))
        n, p = int(score.rows[t]), int(score.first[-1])
        penalty = L0().penalties(n, p)
        likely, _ = markov_blankets(
            order_kernel_arrays.Problem(
                S=score.block(t, np.arange(p)),
                n=float(n),
                penalty=penalty,
                threshold=-np.expm1(-np.append(np.diff(penalty), np.inf) / n),
                centre=np.zeros(p),
                tightness=0.0,
                most_parents=min(most_parents(n), p - 1),
            )
        )
        starts = score.first[:-1]
        near = np.maximum.reduceat(np.maximum.reduceat(likely, starts, axis=0), starts, axis=1)
        np.fill_diagonal(near, False)
        return np.asarray(near & (self.known & kernels.ALLOWED != 0))

    def fitting(self, j: int, parents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the required parents of j and those of the given ones that are allowed and fit into the limit."""
        known, size, limit = self.known[j], self.arrays.values[kernels.SIZE], self.arrays.values[kernels.LIMIT, j]
        must = np.flatnonzero(known & kernels.REQUIRED)
        may = parents[known[parents] & (kernels.ALLOWED | kernels.REQUIRED) == kernels.ALLOWED]
        return np.concatenate([must, may[size[must].sum() + np.cumsum(size[may]) <= limit]])

    def candidate_lists(self, connected: BoolMatrix, likely: BoolMatrix) -> tuple[kernels.Problem, kernels.Candidates]:
        """Return the candidates of every node, those connected to it in either direction, and the problem for them.

        `likely[j, c]` is whether c is a likely parent of j.
        """
        near = np.ones((self.d, self.d), dtype=bool) if self.complete else connected | connected.T
        np.fill_diagonal(near, False)
        nodes, others = np.nonzero(near)
        first = np.append(0, np.cumsum(near.sum(axis=1)))
        # Pairs are sorted by node and candidate, so that the reverse of a pair is found by bisection.
        back = np.searchsorted(nodes * self.d + others, others * self.d + nodes) - first[others]
        kinds, ranked = self.known[nodes, others].astype(np.int64), np.arange(len(nodes)) - first[nodes]
        kinds[likely[nodes, others]] |= kernels.LIKELY
        arrays, start = self.arrays, np.zeros(len(nodes), dtype=np.int64)
        if isinstance(self.score, GaussianBlocks):
            start = self.score.first[others]
            if not self.complete:
                arrays, start = self._slice(first, others)
        slots = np.stack([others, back, start, kinds, ranked])
        return arrays, kernels.Candidates(first, slots, self.keys)

    def _slice(self, first: NDArray[np.int64], others: NDArray[np.int64]) -> tuple[kernels.Problem, NDArray[np.int64]]:
        """Return a problem with small blocks, of the columns of a node and its candidates, and where these begin."""
        score = self.score
        assert isinstance(score, GaussianBlocks)
        blocks, corner, start, stride = [], [], np.zeros(len(others), dtype=np.int64), np.zeros(self.d, dtype=np.int64)
        width, end = np.diff(score.first), 0
        for j in range(self.d):
            inside = others[first[j] : first[j + 1]]
            columns = score.columns([j, *inside.tolist()])
            start[first[j] : first[j + 1]] = width[j] + np.cumsum(width[inside]) - width[inside]
            stride[j] = len(columns)
            for t in score.terms[j]:
                blocks.append(score.matrices[t][np.ix_(columns, columns)].ravel())
                corner.append(end)
                end += len(columns) ** 2
        nodes = np.stack([width, np.zeros_like(width), stride, score.penalty.groups])
        arrays = self.arrays._replace(nodes=nodes, corner=np.array(corner), blocks=np.concatenate(blocks))
        return arrays, start

    def scratch(self, candidates: kernels.Candidates) -> kernels.Work:
        """Allocate scratch space for nodes with these candidates."""
        most = int(np.diff(candidates.first).max(initial=0))
        rows, table, columns, width, depth = 0, 0, most, 0, 0
        words = self.arrays.bits.shape[1]
        sets = min(_MOST_SETS, _WORDS_OF_SETS // words) if words else 0
        if isinstance(self.score, GaussianBlocks):
            width = int(self.score.sizes.max())
            columns = (most + 1) * width if not self.complete else int(self.score.first[-1])
            columns = min(columns, int(self.score.first[-1]))
            depth = min(columns, int(self.arrays.values[kernels.LIMIT].max())) + 1
        else:
            rows = self.arrays.codes.shape[1]
            table = max(len(self.score.codes), 256) * int(self.score.levels.max()) + 1
        return kernels.Work(
            slots=np.zeros((3, most + 2), dtype=np.int64),
            vectors=np.zeros((3 + width, max(columns, most, 2 * width) + 1)),
            V=np.zeros((depth, columns)),
            A=np.zeros((2 * width, 2 * width)),
            combination=np.zeros(rows, dtype=np.uint32),
            table=np.zeros(table, dtype=np.int32),
            tally=np.zeros((2, kernels.TALLIED), dtype=np.int64),
            sets=np.zeros((sets, words), dtype=np.uint64),
            sizes=np.zeros(sets, dtype=np.int64),
        )


def search_memo(problem: LocalProblem) -> kernels.Memo:
    """Allocate the records of one chain of a search."""
    records = min(1 << (_RECORDS_PER_NODE * problem.d).bit_length(), _MOST_RECORDS)
    values = problem.values(max(_VALUES_PER_RECORD * records, _SHARED_VALUES))
    return empty_memo(records, max(_POOL_PER_RECORD * records, 1 << 22), values)


def empty_values(number: int) -> Values:
    """Allocate a table of values."""
    return Values(np.zeros(number, dtype=np.uint64), np.zeros(number), np.zeros(1, dtype=np.int64))


def empty_memo(records: int, pool: int, values: Values) -> kernels.Memo:
    """Allocate a memo without records. The numbers of records and values are powers of two, as hash tables need."""
    return kernels.Memo(
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


def empty_agenda(d: int, seed: int) -> kernels.Agenda:
    """Allocate an empty queue."""
    return kernels.Agenda(
        lists=np.zeros((2, d), dtype=np.int64),
        counts=np.zeros(4, dtype=np.int64),
        random=np.full(1, seed, dtype=np.uint64),
    )


def choose_parents(
    arrays: kernels.Problem,
    candidates: kernels.Candidates,
    memo: kernels.Memo,
    work: kernels.Work,
    state: NDArray[np.int64],
    number: NDArray[np.int64],
    given: NDArray[np.int64],
) -> None:
    """Choose parents of some nodes in a state, beginning with the given ones; see `local_parent_kernels.choose`."""
    advance(arrays, candidates, memo, state, state, empty_agenda(0, 0), work, number, given, 0, 0, 0.0)


def _values(score: GaussianBlocks | Counts, limits: Vector) -> NDArray[np.float64]:
    """Return the penalties, sizes and limits of the nodes."""
    return np.stack([score.penalty.per_coefficient, score.sizes, limits, score.penalty.by_parents])


def _gaussian_arrays(score: GaussianBlocks, limits: Vector) -> kernels.Problem:
    """Return the problem with whole matrices as blocks."""
    p, width = int(score.first[-1]), np.diff(score.first)
    used = np.concatenate([np.array(own, dtype=np.int64) for own in score.terms])
    return kernels.Problem(
        kind=kernels.GAUSSIAN,
        nodes=np.stack([width, score.first[:-1], np.full_like(width, p), score.penalty.groups]),
        values=_values(score, limits),
        by_groups=score.penalty.by_groups,
        term_first=np.append(0, np.cumsum([len(own) for own in score.terms])),
        corner=used * p * p,
        rows=score.rows[used],
        blocks=np.ascontiguousarray(score.matrices).reshape(-1),
        codes=np.zeros((0, 0), dtype=np.uint32),
        weight=np.zeros(0, dtype=np.int32),
        bits=np.zeros((0, 0), dtype=np.uint64),
        prior=1.0,
    )


def _count_arrays(score: Counts, limits: Vector) -> kernels.Problem:
    """Return the problem of counts. Rows are merged if all combinations of levels are fewer than the rows."""
    codes, weight = score.codes, np.zeros(0, dtype=np.intp)
    levels, merged = score.levels.astype(np.int64), score.sizes.sum() < np.log(max(len(codes), 1))
    if merged:
        codes, weight = np.unique(codes, axis=0, return_counts=True)
    columns = np.ascontiguousarray(codes.T, dtype=np.uint32)
    return kernels.Problem(
        kind=kernels.BDEU if score.kind == "bdeu" else kernels.BIC,
        nodes=np.stack([levels, np.cumsum(levels) - levels, np.zeros_like(levels), score.penalty.groups]),
        values=_values(score, limits),
        by_groups=score.penalty.by_groups,
        term_first=np.zeros(0, dtype=np.int64),
        corner=np.zeros(0, dtype=np.int64),
        rows=np.zeros(0),
        blocks=np.zeros(0),
        codes=columns,
        weight=weight.astype(np.int32),
        bits=np.zeros((0, 0), dtype=np.uint64) if merged else _level_bits(columns, levels),
        prior=score.equivalent_sample_size,
    )


def _level_bits(columns: NDArray[np.uint32], levels: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the rows of every level of every node as bits of 64-bit words."""
    bits = np.zeros((levels.sum(), -(-columns.shape[1] // 64) * 8), dtype=np.uint8)
    rows = iter(bits)
    for column, number in zip(columns, levels.tolist(), strict=True):
        for level in range(number):
            packed = np.packbits(column == level)
            next(rows)[: len(packed)] = packed
    return bits.view(np.uint64)
