"""The arrays that kernels of the search with local scores share, and the names of their rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from golem.search import shared_kernel_arrays as shared

# A column is determined by others if they leave less than this share of its variance; the rest is rounding error. As a
# parent it is skipped, and as a child this is its residual variance, so that scores are finite.
COLLINEAR = 1e-10
# Typed, because a literal would compile every kernel that takes it a second time.
INTEGER: Any = np.int64
# As an index, an unsigned integer is faster, because a negative one would count from the end.
UNSIGNED: Any = np.uint64
WITH_MORE: Any = np.bool_(True)
ALONE: Any = np.bool_(False)
# Kinds of scores.
GAUSSIAN, BDEU, BIC = 0, 1, 2
# Rows of `Problem.nodes`: columns or levels, the first of a node's own columns in its block (or of its levels), the
# size of the block, the group in `Problem.by_groups`.
WIDTH, OWN, STRIDE, GROUP = 0, 1, 2, 3
# Rows of `Problem.values`.
PER_COEFFICIENT, SIZE, LIMIT, BY_PARENTS = 0, 1, 2, 3
# Rows of `Candidates.slots`, and bits of its kinds.
NODE, BACK, START, KIND, RANKED = 0, 1, 2, 3, 4
ALLOWED, REQUIRED, LIKELY = shared.ALLOWED, shared.REQUIRED, shared.LIKELY
# Columns of `Memo.records`: where its parents begin in the pool, and how many there are; where its additions begin, and
# how many there are; the slot to remove, and the record without it.
PARENTS, COUNT, ADDITIONS, GAINS, REMOVAL, WITHOUT = 0, 1, 2, 3, 4, 5
NOTHING, UNKNOWN = -1, -2
# Cells of a table with a count below this are counted by their count, as logarithms are slow.
TALLIED = 64
# Entries of `Memo.used`.
RECORDS, POOL = 0, 1
# What may be left over at the end of each, so that a step of a walk fits.
ROOM = 1024
# Rows of `State`, and entries of `Agenda.counts` after those of `queue_kernels`.
ORDER, POSITION, RECORD = 0, 1, 2
FULL, DONE = 2, 3
# Rows of `Work.slots` and of `Work.vectors`.
SET, OTHER, SORTED = 0, 1, 2
COSTS, VARIANCE, FIRST_COVARIANCE = 0, 1, 2


class Problem(NamedTuple):
    """The score; what one of its kinds does not need is empty."""

    kind: int
    nodes: Any
    values: Any
    # The penalty per edge between nodes of two groups.
    by_groups: Any
    # Gaussian: the terms of node j are term_first[j], ..., the block of each begins at its corner of `blocks`.
    term_first: Any
    corner: Any
    rows: Any
    blocks: Any
    # Counts: codes of shape (d, n); how often each row occurs, empty if all occur once; the rows of each level as bits,
    # from those of the first level of node j at OWN; the equivalent sample size.
    codes: Any
    weight: Any
    bits: Any
    prior: float


class Candidates(NamedTuple):
    """The candidates of node j are `slots[:, first[j] : first[j + 1]]`; see the names of the rows above.

    BACK is the slot of j among the candidates of the candidate, START its first column in the block of j, KIND whether
    the edge to j is allowed and required. RANKED are the slots by position.
    """

    first: Any
    slots: Any
    # Random 64-bit keys of the nodes as parents, as children, and as members of sets.
    keys: Any


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
    """Scratch space: lists of slots, vectors along slots and columns, whitened parents V, a small matrix A, tables.

    `tally` counts the cells of a table by their counts, those of the table and those of its margin. `sets` are sets of
    rows, as bits, and `sizes` their numbers of rows.
    """

    slots: Any
    vectors: Any
    V: Any
    A: Any
    combination: Any
    table: Any
    tally: Any
    sets: Any
    sizes: Any


class Agenda(NamedTuple):
    """Nodes to visit, counts, and the state of the random numbers."""

    lists: Any
    counts: Any
    random: Any
