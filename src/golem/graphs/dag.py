"""Directed graphs as boolean matrices: acyclicity, orders, the equivalence class of a DAG, and adjustment sets.

`adjacency[i, j]` is True when there is an edge i -> j. In a CPDAG (the graph of a Markov equivalence class) an
edge with both directions set is undirected: the members of the class disagree about its direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag, bits_to_columns
from golem.runtime.types import BoolMatrix

AdjustmentKind = Literal["optimal", "minimal", "parents"]
_NodeSet = NDArray[np.bool_]


def as_adjacency(matrix: ArrayLike) -> BoolMatrix:
    """Return a matrix of edges or weights as a boolean matrix; refuse one that is not square or contains NaN."""
    array = np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"A graph must be a square matrix of edges or weights; got shape {array.shape}.")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError("The matrix of a graph contains NaN. Set absent edges to 0.")
    return np.asarray(array != 0, dtype=bool)


def edges_are_acyclic(sources: NDArray[Any], targets: NDArray[Any], d: int) -> bool:
    """Return whether an edge list over the nodes 0 .. d-1 has no directed cycle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if np.any(sources == targets):
        return False
    edges = coo_array((np.ones(len(sources), dtype=np.int8), (sources, targets)), shape=(d, d))
    # A graph is acyclic exactly if every node is a strongly connected component of its own.
    count, _ = connected_components(edges.tocsr(), directed=True, connection="strong")
    return bool(count == d)


def is_dag(matrix: ArrayLike) -> bool:
    """Return whether the nonzero entries of a matrix form a directed acyclic graph.

    Examples
    --------
    >>> is_dag([[0, 1], [0, 0]]), is_dag([[0, 1], [1, 0]])
    (True, False)
    """
    adjacency = as_adjacency(matrix)
    sources, targets = np.nonzero(adjacency)
    return edges_are_acyclic(sources, targets, len(adjacency))


def find_cycle(matrix: ArrayLike) -> list[int]:
    """Return the nodes of a directed cycle in the order of its edges, or an empty list if there is none.

    Examples
    --------
    >>> find_cycle([[0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    [0, 1, 2]
    """
    from scipy.sparse.csgraph import connected_components

    adjacency = as_adjacency(matrix)
    if is_dag(adjacency):
        return []
    # In a strongly connected component every node has a successor, so every walk returns to a node it has visited.
    _, labels = connected_components(adjacency, directed=True, connection="strong")
    inside = adjacency & (labels[:, None] == labels[None, :])
    walk = [int(inside.any(axis=1).argmax())]
    while (following := int(inside[walk[-1]].argmax())) not in walk:
        walk.append(following)
    return walk[walk.index(following) :]


def cycle_text(cycle: Sequence[int], names: Sequence[str] | None = None, most: int = 8) -> str:
    """Return a cycle as text for a message, with names or numbers of the nodes; a long one is cut after `most`.

    Examples
    --------
    >>> cycle_text([0, 2]), cycle_text([0, 2], ["a", "b", "c"])
    ('0 -> 2 -> 0', "'a' -> 'c' -> 'a'")
    """
    nodes = [str(i) if names is None else repr(names[i]) for i in cycle]
    return " -> ".join([*nodes[:most], *(["..."] if len(nodes) > most else []), nodes[0]])


def topological_order(matrix: ArrayLike, preferred: NDArray[np.integer] | None = None) -> NDArray[np.intp]:
    """Return an order of the nodes, shape (d,), in which every edge points forward; refuse a graph with a cycle.

    Of the nodes that can come next, the first one in the `preferred` order does; by default the one with the lowest
    index.

    Examples
    --------
    >>> edge_from_2_to_1 = np.eye(4, k=-1) * [0, 1, 0, 0]
    >>> topological_order(edge_from_2_to_1, np.array([3, 1, 2, 0])).tolist()
    [3, 2, 1, 0]
    """
    return Edges.from_matrix(as_adjacency(matrix)).order(preferred)


def cpdag(matrix: ArrayLike) -> BoolMatrix:
    """Return the CPDAG of a DAG: edges in both directions where the members of its equivalence class disagree.

    `golem.graphs.edges.Edges.find_reversible` has the algorithm. A graph with a cycle is refused.

    Examples
    --------
    The class leaves the directions of a chain open, and decides those of a collider:

    >>> cpdag([[0, 1, 0], [0, 0, 1], [0, 0, 0]]).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    >>> cpdag([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    adjacency = as_adjacency(matrix)
    edges = Edges.from_matrix(adjacency)
    reversible, graph = edges.find_reversible(), adjacency.copy()
    graph[edges.children[reversible], edges.causes[reversible]] = True
    return graph


def member_of_class(pdag: BoolMatrix) -> BoolMatrix:
    """Direct the undirected edges of a CPDAG without a cycle or a new collider (Dor and Tarsi 1992).

    A graph for which this is impossible is not a CPDAG and is refused.

    Examples
    --------
    >>> member_of_class(np.array([[False, True], [True, False]])).astype(int)
    array([[0, 0],
           [1, 0]])
    """
    parents = Pdag.from_matrix(np.asarray(pdag, dtype=bool)).extension()
    if parents is None:
        raise ValueError("The graph is not a CPDAG: directing its undirected edges makes a cycle or a new collider.")
    return bits_to_columns(parents)


def adjustment_set(adjacency: BoolMatrix, cause: int, effect: int, kind: AdjustmentKind = "optimal") -> list[int]:
    """Return a valid adjustment set for the total effect of one node on another.

    The total effect is the coefficient of the cause when the effect is regressed on the cause and this set. Let cn be
    the nodes on directed paths from cause to effect without the cause, and forb the cause and all descendants of cn.

    - "optimal": O = pa(cn) - forb. It gives the smallest asymptotic variance of all valid sets (Henckel, Perković and
      Maathuis 2022, theorem 3.10).
    - "minimal": O without the nodes that are not needed, so that no proper subset is valid. It needs fewer columns and
      has a larger variance.
    - "parents": the parents of the cause (Pearl 2009, theorem 3.2.5).

    `adjacency` is a DAG, a boolean matrix of shape (d, d). A ValueError is raised if no directed path leads from cause
    to effect.

    Examples
    --------
    Edges 0 -> 1, 0 -> 2, 1 -> 2 and 3 -> 2:

    >>> graph = np.zeros((4, 4), dtype=bool)
    >>> graph[[0, 0, 1, 3], [1, 2, 2, 2]] = True
    >>> [adjustment_set(graph, 1, 2, kind) for kind in ("optimal", "minimal", "parents")]
    [[0, 3], [0], [0]]
    """
    if kind not in get_args(AdjustmentKind):
        raise ValueError(f"kind must be one of {', '.join(map(repr, get_args(AdjustmentKind)))}; got {kind!r}.")
    if cause == effect:
        raise ValueError("Cause and effect are the same variable. Name two.")
    below = _reached(adjacency, [cause])
    if not below[effect]:
        raise ValueError("No directed path leads from the cause to the effect, so the total effect is 0.")
    if kind == "parents":
        return np.nonzero(adjacency[:, cause])[0].tolist()
    between = below & _reached(adjacency.T, [effect])
    between[cause] = False
    forbidden = _reached(adjacency, np.nonzero(between)[0].tolist())
    forbidden[cause] = True
    optimal = np.nonzero(adjacency[:, between].any(axis=1) & ~forbidden)[0].tolist()
    return _minimal(adjacency, cause, effect, between, optimal) if kind == "minimal" else optimal


def _reached(adjacency: BoolMatrix, start: list[int]) -> _NodeSet:
    """Mark the nodes that directed paths from the start lead to, including the start."""
    seen = np.zeros(len(adjacency), dtype=bool)
    seen[start] = True
    waiting = list(start)
    while waiting:
        new = np.nonzero(adjacency[waiting.pop()] & ~seen)[0]
        seen[new] = True
        waiting.extend(new.tolist())
    return seen


def _minimal(adjacency: BoolMatrix, cause: int, effect: int, between: _NodeSet, chosen: list[int]) -> list[int]:
    """Drop nodes that are not needed from a valid set of ancestors of cause and effect.

    A set is valid if it separates cause and effect after the first edges of the directed paths are cut (van der Zander,
    Liśkiewicz and Textor 2014). For ancestors of the two this is separation in their moral graph, where a node that is
    not needed stays so when others are dropped.
    """
    cut = adjacency.copy()
    cut[cause, between] = False
    ancestors = _reached(cut.T, [cause, effect])
    parents = cut & ancestors & ancestors[:, None]
    married = (parents.astype(np.float32) @ parents.T.astype(np.float32)) > 0
    moral = parents | parents.T | married
    needed = list(chosen)
    for node in chosen:
        rest = [other for other in needed if other != node]
        open_graph = moral.copy()
        open_graph[:, rest] = False
        if not _reached(open_graph, [cause])[effect]:
            needed = rest
    return needed
