"""The interventional equivalence class: which directions data from several environments can decide.

Environment e changes the mechanisms of its targets and of no other node. A hard intervention cuts its targets from
their parents; a soft one changes how they depend on them. Two DAGs are equivalent for a list of target sets if they
allow the same families of distributions, one distribution per environment. Hard: Hauser and Bühlmann (2012), theorem
10. Soft: Yang, Katcoff and Uhler (2018), theorems 3.9 and 3.14.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from golem.graphs.edges import Edges
from golem.runtime.types import BoolVector

Intervention = Literal["soft", "hard"]


def interventional_reversible(
    edges: Edges, targets: Sequence[Collection[int]], intervention: Intervention = "soft"
) -> BoolVector:
    """Return for each edge whether members of the interventional equivalence class disagree about its direction.

    Members have the same connected pairs and the same colliders, and they agree about every edge with exactly one end
    in one of the sets of `deciding_sets`. Each set becomes a node with an edge to each of its members: the edges of the
    new nodes are known, so the class of the larger graph is the interventional one (Yang et al. 2018). The cost is that
    of reading the edges and the targets.

    Parameters
    ----------
    edges : Edges
        The edges of a DAG.
    targets : sequence of collections of int
        The targets of each environment; empty for an observational one.
    intervention : {"soft", "hard"}
        Whether targets still depend on their parents.

    Examples
    --------
    An experiment on an end of a chain decides its first edge, and with it the second:

    >>> chain = Edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> interventional_reversible(chain, [(), (0,)]).tolist(), interventional_reversible(chain, [(), (2,)]).tolist()
    ([False, False], [True, False])
    """
    return _reversible(edges, [nodes for nodes in deciding_sets(targets, edges.d, intervention) if nodes])


def reversible_after(edges: Edges, past: Collection[int]) -> BoolVector:
    """Return for each edge whether the class leaves its direction open if some nodes are earlier than all others.

    Examples
    --------
    >>> reversible_after(Edges(np.array([0, 1]), np.array([1, 2]), 3), [0]).tolist()
    [False, False]
    """
    return _reversible(edges, [past] if len(past) else [])


def _reversible(edges: Edges, sets: Sequence[Collection[int]]) -> BoolVector:
    """Return which edges are open if every edge with exactly one end in one of the sets is decided."""
    if not sets or not len(edges):
        return edges.find_reversible()
    # Two more nodes that are not connected make a collider of each new node, which compels its edges.
    added = np.arange(edges.d, edges.d + len(sets))
    first, second = edges.d + len(sets), edges.d + len(sets) + 1
    members = np.array([node for nodes in sets for node in sorted(nodes)], dtype=np.intp)
    sizes = [len(nodes) for nodes in sets]
    causes = np.concatenate((edges.causes, np.repeat(added, sizes), np.repeat([first, second], len(sets))))
    children = np.concatenate((edges.children, members, added, added))
    return Edges(causes, children, second + 1).find_reversible()[: len(edges)]


def deciding_sets(targets: Sequence[Collection[int]], d: int, intervention: Intervention) -> list[frozenset[int]]:
    """Return sets of nodes such that an edge with exactly one end in a set is decided by the interventions.

    Hard: the targets of each environment. Soft: a comparison of two environments decides the edges between the nodes
    that are targets of either and the other nodes, which must be the same in both. So a node that is a target of all
    environments but one counts as a target of that one too. With an observational environment these rules agree.

    Examples
    --------
    >>> deciding_sets([(0,), (1,)], 2, "hard"), deciding_sets([(0,), (1,)], 2, "soft")
    ([frozenset({0}), frozenset({1})], [frozenset({0, 1})])
    """
    sets = [frozenset(int(node) for node in chosen) for chosen in targets]
    free = np.full(d, len(sets))
    for chosen in sets:
        if outside := [node for node in chosen if not 0 <= node < d]:
            raise ValueError(f"Targets are numbers of nodes from 0 to {d - 1}; got {outside[0]}.")
        free[list(chosen)] -= 1
    if sets and not free.all():
        raise ValueError(f"Node {int(np.argmin(free))} is a target in every environment, so its parents are unknown.")
    if intervention == "soft":
        rare = frozenset(np.flatnonzero(free == 1).tolist())
        sets = [chosen | rare for chosen in sets]
    return list(dict.fromkeys(sets))
