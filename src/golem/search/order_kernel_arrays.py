"""The arrays that all engines of the search over orders share, and the names of their rows.

Vectors of the same kind are rows of one array, because numba takes longer to compile calls with many arrays. Engines
add arrays of their own. All have these:

- `Candidates`: the nodes that may become parents or children of node j are `slots[:, first[j] : first[j + 1]]`.
- `State`: an order (`nodes[ORDER]`, `nodes[POSITION]`), the cost of every node (`values[COST]`), and its parents, the
  first `nodes[COUNT, j]` of `parents[first[j] :]`, which are slots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# What is known about an edge from a candidate to the node, as bits of KIND.
ALLOWED, REQUIRED, LIKELY, REQUIRED_BACK = 1, 2, 4, 8
# Rows of `Candidates.slots`: the node in each slot, the slot of j among that node's candidates, slots by position.
NODE, BACK, RANKED, KIND = 0, 1, 2, 3
# Rows of `State.nodes`, and the first one of `State.values`.
ORDER, POSITION, COUNT = 0, 1, 2
COST = 0
# Rows of `Agenda.lists`: a queue of the nodes to visit, which is a ring, and the nodes that differ from the best state.
QUEUE, IS_ACTIVE, TOUCHED, IS_TOUCHED = 0, 1, 2, 3
# Entries of `Agenda.counts`: the first place and the number of nodes in the queue; the number of nodes that differ from
# the best state, and the part of the order that does; moves of a perturbation; whether the engine has no room left; and
# perturbations so far.
HEAD, WAITING, CHANGED, LOW, HIGH, KICKS, FULL, DONE = 0, 1, 2, 3, 4, 5, 6, 7
# Typed, because a literal would compile every kernel that takes it a second time.
NO_NODE: Any = np.int64(-1)
ONE: Any = np.int64(1)
TRY: Any = np.bool_(False)
DO: Any = np.bool_(True)
# Score differences below this are rounding errors: r may be 1e-9 of a column's variance, and n log r amplifies errors.
EPSILON = 1e-3
# A column is determined by others if they leave less than this share of its variance; the rest is rounding error.
COLLINEAR = 1e-10
# Odd and without a pattern: the increment of splitmix64, which also mixes hashes.
MIX = np.uint64(0x9E3779B97F4A7C15)


class Agenda(NamedTuple):
    """Nodes to visit, nodes that differ from the best state, and values that are kept from one test to the next."""

    lists: Any
    counts: Any
    # Nodes at which perturbations begin; those that occur several times are drawn more often.
    pool: Any
    random: Any
    # Change of the cost of all other nodes if the moving node has so many candidates before it.
    shift: Any
    # Cost of a node with or without a candidate, valid while the hash of its predecessors and parents is the key.
    key: Any
    cost: Any
