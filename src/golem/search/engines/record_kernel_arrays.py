"""The arrays of engines that remember every set of parents, and the names of their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.search.order_kernel_arrays import Agenda

# Typed, because a literal would compile every kernel that takes it a second time.
INTEGER: Any = np.int64
# As an index, an unsigned integer is faster, because a negative one would count from the end.
UNSIGNED: Any = np.uint64
WITH_MORE: Any = np.bool_(True)
ALONE: Any = np.bool_(False)
# Kinds of scores of counts.
BDEU, BIC = 0, 1
# Rows of `BlockProblem.nodes` and `CountProblem.nodes`: columns or levels, the first of a node's own columns in its
# block (or of its levels), the size of the block, the group in `by_groups`.
WIDTH, OWN, STRIDE, GROUP = 0, 1, 2, 3
# Rows of `values`.
PER_COEFFICIENT, SIZE, LIMIT, BY_PARENTS = 0, 1, 2, 3
# The row of `Candidates.slots` after those of all engines: the first column of the candidate in the block of the node.
START = 4
# Columns of `Memo.records`: where its parents begin in the pool, and how many there are; where its additions begin, and
# how many there are; the slot to remove, and the record without it.
PARENTS, NUMBER, ADDITIONS, GAINS, REMOVAL, WITHOUT = 0, 1, 2, 3, 4, 5
NOTHING, UNKNOWN = -1, -2
# Cells of a table with a count below this are counted by their count, as logarithms are slow.
TALLIED = 64
# Entries of `Memo.used`.
RECORDS, POOL = 0, 1
# What may be left over at the end of each, so that a step of a walk fits.
ROOM = 1024
# Rows of `Work.slots` and of `Work.vectors`, and entries of `Own.record`.
SET, OTHER, SORTED = 0, 1, 2
COSTS, VARIANCE, FIRST_COVARIANCE = 0, 1, 2
PRESENT, BEST = 0, 1


class BlockProblem(NamedTuple):
    """The score of Gaussian blocks."""

    nodes: Any
    values: Any
    # The penalty per edge between nodes of two groups.
    by_groups: Any
    # The terms of node j are term_first[j], ..., the block of each begins at its corner of `blocks`.
    term_first: Any
    corner: Any
    rows: Any
    blocks: Any


class CountProblem(NamedTuple):
    """The score of categories."""

    nodes: Any
    values: Any
    by_groups: Any
    kind: int
    # Codes of shape (d, n); how often each row occurs, empty if all occur once; the rows of each level as bits, from
    # those of the first level of node j at OWN; the equivalent sample size.
    codes: Any
    weight: Any
    bits: Any
    prior: float


class Candidates(NamedTuple):
    """The candidates of every node; see `order_kernel_arrays`."""

    first: Any
    slots: Any
    # Random 64-bit keys of the nodes as parents, as children, and as members of sets.
    keys: Any


class State(NamedTuple):
    """An order with its parents (as slots), costs, and the record of every node."""

    nodes: Any
    values: Any
    parents: Any
    record: Any


class Own(NamedTuple):
    """The records of the moving node."""

    record: Any


class Memo(NamedTuple):
    """All records, with hash tables to find them, and the values of sets of categories."""

    records: Any
    cost: Any
    pool: Any
    key: Any
    place: Any
    used: Any
    value_key: Any
    value: Any
    value_used: Any


class Work(NamedTuple):
    """Records, and scratch space: lists of slots, vectors along slots and columns, whitened parents V, A, tables.

    `tally` counts the cells of a table by their counts, those of the table and those of its margin. `sets` are sets of
    rows, as bits, and `sizes` their numbers of rows.
    """

    memo: Memo
    slots: Any
    vectors: Any
    V: Any
    A: Any
    combination: Any
    table: Any
    tally: Any
    sets: Any
    sizes: Any


class BlockArrays(NamedTuple):
    """The engine of Gaussian blocks: the score, the states, and scratch space."""

    problem: BlockProblem
    candidates: Candidates
    state: State
    agenda: Agenda
    work: Work
    own: Own


class CountArrays(NamedTuple):
    """The engine of categories."""

    problem: CountProblem
    candidates: Candidates
    state: State
    agenda: Agenda
    work: Work
    own: Own
