"""How many undecided directions an experiment would decide, averaged over the members of a class.

An intervention on a variable shows the directions of all its edges, and with them all that follow by Meek's rules. How
many these are depends on the graph behind the data, of which only the class is known.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from golem.directions.equivalence_class import connected_edges
from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag, members
from golem.runtime.types import BoolVector, Indices, Vector

# Components with more members are sampled.
MOST_MEMBERS, SAMPLES = 1000, 1000


def expected_decisions(
    edges: Edges, undecided: BoolVector, random_state: int | np.random.Generator = 0
) -> tuple[Vector, Indices, bool]:
    """Return how many undecided directions an intervention on each node decides: mean and minimum over the class.

    All members of the class count equally. The components of undecided edges are independent of each other. The members
    of a component are enumerated, or drawn if there are more than `MOST_MEMBERS`.

    Parameters
    ----------
    edges : Edges
        The edges of a DAG.
    undecided : ndarray of shape (e,), bool
        The edges whose direction is not known. All directions that follow from others must be known.
    random_state : int or Generator
        Random seed, for components with many members.

    Returns
    -------
    mean : ndarray of shape (d,)
        The mean over the members.
    least : ndarray of shape (d,)
        The smallest number of any member that was visited.
    sampled : bool
        Whether members were drawn.

    Examples
    --------
    An intervention on the middle of a chain decides both edges, and one on an end usually fewer:

    >>> chain = Edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> mean, least, sampled = expected_decisions(chain, np.array([True, True]))
    >>> mean.round(2).tolist(), least.tolist(), sampled
    ([1.33, 2.0, 1.33], [1, 2, 1], False)
    """
    rng = np.random.default_rng(random_state)
    mean, least, sampled = np.zeros(edges.d), np.zeros(edges.d, dtype=np.intp), False
    arrows = _children(edges, ~undecided)
    for pairs in connected_edges(edges.causes[undecided], edges.children[undecided], np.arange(edges.d)):
        nodes = sorted({node for pair in pairs for node in pair})
        component = _component(nodes, pairs, arrows)
        found = _enumerated(component)
        if found is None:
            found, sampled = _drawn(component, rng), True
        for v, node in enumerate(nodes):
            counts = _decided(component, v, [member for member, _ in found])
            mean[node] = np.average(counts, weights=[weight for _, weight in found])
            least[node] = min(counts)
    return mean, least, sampled


def _children(edges: Edges, chosen: BoolVector) -> dict[int, list[int]]:
    """Return the children of nodes along some edges."""
    found: dict[int, list[int]] = {}
    for cause, child in zip(edges.causes[chosen].tolist(), edges.children[chosen].tolist(), strict=True):
        found.setdefault(cause, []).append(child)
    return found


def _component(nodes: list[int], pairs: list[tuple[int, int]], arrows: dict[int, list[int]]) -> Pdag:
    """Return the graph among the nodes of a component; no other edge matters for what follows from its directions."""
    place = {node: k for k, node in enumerate(nodes)}
    graph = Pdag(len(nodes))
    for i, j in pairs:
        graph.add_line(place[i], place[j])
    for i in nodes:
        for j in arrows.get(i, ()):
            if j in place:
                graph.add_arrow(place[i], place[j])
    return graph


def _first_line(graph: Pdag) -> tuple[int, int] | None:
    """Return an undirected edge."""
    for i, neighbours in enumerate(graph.neighbours):
        if neighbours:
            return i, next(members(neighbours))
    return None


def _directed(graph: Pdag, *arrows: tuple[int, int]) -> Pdag:
    """Return a graph with more directions, and all that follow from them."""
    turned = graph.copy()
    dirty = 0
    for i, j in arrows:
        # Meek's fourth rule reads edges two steps away.
        dirty |= 1 << i | 1 << j | turned.neighbours[i] & turned.adjacent[j]
        turned.add_arrow(i, j)
    turned.close(dirty, fourth=True)
    return turned


def _enumerated(graph: Pdag) -> list[tuple[Pdag, float]] | None:
    """Return all members with equal weights; None if there are too many.

    Each direction of an undirected edge is possible (Meek 1995), so the leaves of this tree of choices are the members.
    """
    found: list[tuple[Pdag, float]] = []
    waiting = [graph]
    while waiting:
        if len(found) + len(waiting) > MOST_MEMBERS:
            return None
        graph = waiting.pop()
        line = _first_line(graph)
        if line is None:
            found.append((graph, 1.0))
        else:
            waiting += [_directed(graph, line), _directed(graph, line[::-1])]
    return found


def _drawn(graph: Pdag, rng: np.random.Generator) -> list[tuple[Pdag, float]]:
    """Return random members with weights inverse to their probabilities (Knuth 1975), so that all count equally."""
    found, depths = [], []
    for _ in range(SAMPLES):
        member, depth = graph, 0
        while line := _first_line(member):
            member, depth = _directed(member, line if rng.random() < 0.5 else line[::-1]), depth + 1
        found.append(member)
        depths.append(depth)
    return [(member, 2.0 ** (depth - max(depths))) for member, depth in zip(found, depths, strict=True)]


def _decided(graph: Pdag, v: int, found: list[Pdag]) -> list[int]:
    """Return how many directions of a component are known after an intervention on v, for each member."""
    known: dict[int, int] = {}
    counts = []
    for member in found:
        into = member.parents[v] & graph.neighbours[v]
        if into not in known:
            after = _directed(graph, *_arrows(v, into, graph.neighbours[v]))
            known[into] = _lines(graph) - _lines(after)
        counts.append(known[into])
    return counts


def _arrows(v: int, into: int, neighbours: int) -> Iterator[tuple[int, int]]:
    """Yield the directions of the edges of v, given those of its neighbours that are parents."""
    for u in members(neighbours):
        yield (u, v) if into >> u & 1 else (v, u)


def _lines(graph: Pdag) -> int:
    """Return the number of undirected edges."""
    return sum(neighbours.bit_count() for neighbours in graph.neighbours) // 2
