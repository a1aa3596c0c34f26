"""The engine of `Counts`: categories, scored by how often their levels occur together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.runtime.types import BoolMatrix
from golem.score.node_scores import Counts
from golem.search.engines import count_kernels  # noqa: F401  registers the kernels
from golem.search.engines import record_kernel_arrays as arrays
from golem.search.engines.records import FEW, SHARED_VALUES, RecordEngine, Values, empty_values
from golem.search.search_order import size_limits

# Up to this number of cells of a table, all of few nodes are candidates of each other.
_FEW_CELLS = 1 << 18
# Sets of rows at most, and the words that they take, so that they stay in the cache.
_MOST_SETS, _WORDS_OF_SETS = 128, 1 << 16


class CountEngine(RecordEngine):
    """Costs are differences of values of sets of categories, which are remembered."""

    engine_arrays = arrays.CountArrays

    def __init__(self, score: Counts, allowed: BoolMatrix | None, required: BoolMatrix | None) -> None:
        rows = np.full(score.d, float(len(score.codes)))
        problem = _count_problem(score, required)
        super().__init__(score, allowed, required, problem, rows, score.d <= FEW and score.codes.size <= _FEW_CELLS)
        # Values of sets do not depend on the candidates. Searches of few nodes run in one thread and share them.
        self._shared: Values | None = None

    @staticmethod
    def tiny_score() -> Counts:
        """Return a score of few nodes."""
        return Counts(np.arange(32).reshape(8, 4) % 7 % 2, np.full(4, 2))

    def values(self, number: int) -> Values:
        """Return a table for so many values of sets, a power of two; of few nodes, always the same table."""
        if self.d > FEW:
            return empty_values(number)
        if self._shared is None:
            self._shared = empty_values(SHARED_VALUES)
        return self._shared

    def first_columns(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return zeros, as categories have no blocks."""
        return np.zeros_like(nodes)

    def blocks_of(
        self, first: NDArray[np.int64], others: NDArray[np.int64]
    ) -> tuple[arrays.CountProblem, NDArray[np.int64]]:
        """Return the problem, which is the same for all candidates."""
        return self.problem, self.first_columns(others)

    def scratch(self, most: int, memo: arrays.Memo) -> arrays.Work:
        """Allocate scratch space for nodes with at most so many candidates."""
        words = self.problem.bits.shape[1]
        sets = min(_MOST_SETS, _WORDS_OF_SETS // words) if words else 0
        cells = max(len(self.score.codes), 256) * int(self.score.levels.max()) + 1
        return arrays.Work(
            memo=memo,
            slots=np.zeros((3, most + 2), dtype=np.int64),
            vectors=np.zeros((3, most + 1)),
            V=np.zeros((0, most)),
            A=np.zeros((0, 0)),
            combination=np.zeros(self.problem.codes.shape[1], dtype=np.uint32),
            table=np.zeros(cells, dtype=np.int32),
            tally=np.zeros((2, arrays.TALLIED), dtype=np.int64),
            sets=np.zeros((sets, words), dtype=np.uint64),
            sizes=np.zeros(sets, dtype=np.int64),
        )


def _count_problem(score: Counts, required: BoolMatrix | None) -> arrays.CountProblem:
    """Return the problem of counts. Rows are merged if all combinations of levels are fewer than the rows."""
    codes, weight, penalty = score.codes, np.zeros(0, dtype=np.intp), score.penalty
    levels, merged = score.levels.astype(np.int64), score.sizes.sum() < np.log(max(len(codes), 1))
    if merged:
        codes, weight = np.unique(codes, axis=0, return_counts=True)
    columns = np.ascontiguousarray(codes.T, dtype=np.uint32)
    limits = size_limits(score, required)
    return arrays.CountProblem(
        nodes=np.stack([levels, np.cumsum(levels) - levels, np.zeros_like(levels), penalty.groups]),
        values=np.stack([penalty.per_coefficient, score.sizes, limits, penalty.by_parents]),
        by_groups=penalty.by_groups,
        kind=arrays.BDEU if score.kind == "bdeu" else arrays.BIC,
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
