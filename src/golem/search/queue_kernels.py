"""The compiled queue of nodes to visit. It is a ring, and each node is in it at most once.

Both searches over orders have it in the first rows of `Agenda.lists` and the first entries of `Agenda.counts`.
"""

from __future__ import annotations

from typing import Any

from golem.search.jit import kernel

# Rows of the lists.
QUEUE, IS_ACTIVE = 0, 1
# Entries of the counts: the place of the first node, and the number of nodes.
HEAD, WAITING = 0, 1


@kernel
def activate(lists: Any, counts: Any, v: int) -> None:
    """Put v into the queue of nodes to visit."""
    if lists[IS_ACTIVE, v] == 0:
        lists[IS_ACTIVE, v] = 1
        lists[QUEUE, (counts[HEAD] + counts[WAITING]) % lists.shape[1]] = v
        counts[WAITING] += 1


@kernel
def take_first(lists: Any, counts: Any) -> Any:
    """Remove the first node from the queue, and return it."""
    v = lists[QUEUE, counts[HEAD]]
    counts[HEAD] = (counts[HEAD] + 1) % lists.shape[1]
    counts[WAITING] -= 1
    lists[IS_ACTIVE, v] = 0
    return v


@kernel
def shorten_queue(lists: Any, counts: Any, length: int) -> None:
    """Remove the last nodes of the queue."""
    while counts[WAITING] > length:
        counts[WAITING] -= 1
        lists[IS_ACTIVE, lists[QUEUE, (counts[HEAD] + counts[WAITING]) % lists.shape[1]]] = 0
