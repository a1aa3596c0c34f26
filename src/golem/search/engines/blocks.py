"""The engine of `GaussianBlocks`: nodes of one or more columns, scored on one or more covariances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from golem.data.checks import most_parents
from golem.runtime.types import BoolMatrix
from golem.score.node_scores import GaussianBlocks, gaussian_blocks
from golem.score.sparsity import L0
from golem.search.engines import block_kernels  # noqa: F401  registers the kernels
from golem.search.engines import record_kernel_arrays as arrays
from golem.search.engines.correlation import correlation_problem
from golem.search.engines.correlation_candidates import markov_blankets
from golem.search.engines.records import FEW, RecordEngine, Values, empty_values
from golem.search.order_kernel_arrays import ALLOWED
from golem.search.search_order import size_limits


class BlockEngine(RecordEngine):
    """Costs are log determinants of residual blocks. A node has a block of the columns of its candidates."""

    engine_arrays = arrays.BlockArrays

    def __init__(self, score: GaussianBlocks, allowed: BoolMatrix | None, required: BoolMatrix | None) -> None:
        p, width, penalty = int(score.first[-1]), np.diff(score.first), score.penalty
        used = np.concatenate([np.array(own, dtype=np.int64) for own in score.terms])
        limits = size_limits(score, required)
        problem = arrays.BlockProblem(
            nodes=np.stack([width, score.first[:-1], np.full_like(width, p), penalty.groups]),
            values=np.stack([penalty.per_coefficient, score.sizes, limits, penalty.by_parents]),
            by_groups=penalty.by_groups,
            term_first=np.append(0, np.cumsum([len(own) for own in score.terms])),
            corner=used * p * p,
            rows=score.rows[used],
            blocks=np.ascontiguousarray(score.matrices).reshape(-1),
        )
        rows = np.array([score.rows[list(own)].sum() for own in score.terms])
        super().__init__(score, allowed, required, problem, rows, score.d <= FEW)
        if not self.complete:
            self.likely = self._blankets()

    @staticmethod
    def tiny_score() -> GaussianBlocks:
        """Return a score of few nodes."""
        return gaussian_blocks([np.eye(4) + 0.5], [50])

    def _blankets(self) -> BoolMatrix:
        """Estimate which nodes c are in the Markov blanket of j, entry [j, c], from the matrix with the most rows.

        Backward elimination finds parents whose effects cancel, which adding one node at a time misses.
        """
        score, t = self.score, int(np.argmax(self.score.rows))
        n, p = int(score.rows[t]), int(score.first[-1])
        most, R = min(most_parents(n), p - 1), score.block(t, np.arange(p))
        likely, _ = markov_blankets(correlation_problem(R, n, L0().penalties(n, p), most))
        starts, likely = score.first[:-1], np.pad(likely, (0, 1))  # the last node may have no columns
        near = np.maximum.reduceat(np.maximum.reduceat(likely, starts, axis=0), starts, axis=1)
        near &= np.outer(score.sizes > 0, score.sizes > 0)
        np.fill_diagonal(near, False)
        return np.asarray(near & (self.kinds & ALLOWED != 0))

    def values(self, number: int) -> Values:
        """Return no table, as only counts have values of sets."""
        return empty_values(1)

    def first_columns(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first column of some nodes."""
        return np.asarray(self.score.first[nodes])

    def blocks_of(
        self, first: NDArray[np.int64], others: NDArray[np.int64]
    ) -> tuple[arrays.BlockProblem, NDArray[np.int64]]:
        """Return a problem with small blocks, of the columns of a node and its candidates, and where these begin."""
        score = self.score
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
        problem = self.problem._replace(nodes=nodes, corner=np.array(corner), blocks=np.concatenate(blocks))
        return problem, start

    def scratch(self, most: int, memo: arrays.Memo) -> arrays.Work:
        """Allocate scratch space for nodes with at most so many candidates."""
        width, p = int(self.score.sizes.max()), int(self.score.first[-1])
        columns = p if self.complete else min((most + 1) * width, p)
        depth = min(columns, int(self.problem.values[arrays.LIMIT].max())) + 1
        return arrays.Work(
            memo=memo,
            slots=np.zeros((3, most + 2), dtype=np.int64),
            vectors=np.zeros((3 + width, max(columns, most, 2 * width) + 1)),
            V=np.zeros((depth, columns)),
            A=np.zeros((2 * width, 2 * width)),
            combination=np.zeros(0, dtype=np.uint32),
            table=np.zeros(0, dtype=np.int32),
            tally=np.zeros((2, 0), dtype=np.int64),
            sets=np.zeros((0, 0), dtype=np.uint64),
            sizes=np.zeros(0, dtype=np.int64),
        )
