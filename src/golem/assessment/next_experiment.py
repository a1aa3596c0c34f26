"""Which experiment next? A ranking of variables by the open directions that an experiment would settle.

An intervention on a variable shows the directions of all its edges, and with them all that follow by Meek's rules. How
many these are depends on the graph behind the data, of which only the class is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from golem.directions.equivalence_class import connected_edges
from golem.estimator.golem import plain_model
from golem.graphs.edges import Edges
from golem.graphs.pdag import Pdag, members
from golem.runtime.messages import counted
from golem.runtime.types import BoolVector, Indices, Vector

_MOST_ROWS = 10


class CandidateExperiment(NamedTuple):
    """What an intervention on one variable would show.

    Parameters
    ----------
    variable : str
        The target of the intervention.
    decided : float
        How many open directions it would settle, averaged over the members of the class.
    least : int
        The number in the worst case.
    """

    variable: str
    decided: float
    least: int


@dataclass(frozen=True)
class NextExperiment:
    """Variables to intervene on, the most useful one first; `pandas.DataFrame(result.ranking)` makes a table.

    Parameters
    ----------
    ranking : tuple of CandidateExperiment
        The variables with a link. If there are none, no experiment is needed for the directions.
    undecided : int
        Number of open directions.
    sampled : bool
        Whether the averages come from random members of the class, because there are very many.
    """

    ranking: tuple[CandidateExperiment, ...]
    undecided: int
    sampled: bool = False

    def __iter__(self) -> Iterator[CandidateExperiment]:
        return iter(self.ranking)

    def __len__(self) -> int:
        return len(self.ranking)

    @property
    def sentence(self) -> str:
        """What the best experiment would settle, in one sentence."""
        if not self.ranking:
            return "No direction is open."
        best = self.ranking[0]
        return (
            f"An experiment on {best.variable!r} would settle {best.decided:.3g} of the "
            f"{counted(self.undecided, 'open direction')} on average, at least {best.least}."
        )

    def __str__(self) -> str:
        """Return the table of the most useful experiments."""
        if not self.ranking:
            return self.sentence
        width = max(len("variable"), *(len(row.variable) for row in self.ranking[:_MOST_ROWS]))
        lines = [f"{'variable':<{width}}  on average  at least"]
        lines += [f"{row.variable:<{width}}  {row.decided:>10.2f}  {row.least:>8}" for row in self.ranking[:_MOST_ROWS]]
        more = len(self.ranking) - _MOST_ROWS
        return "\n".join([self.sentence, *lines, *([f"... and {more} more"] if more > 0 else [])])

    __repr__ = __str__


def next_experiment(model: Any, *, random_state: int | np.random.Generator = 0) -> NextExperiment:
    """Rank the variables by how many open directions an experiment on each would settle.

    An intervention on a variable shows which of its neighbours are its causes. Directions that follow from these count
    too. The number depends on the graph behind the data, so it is averaged over all graphs that the data allow: the
    members of the equivalence class with all directions that have evidence. If the class has directions without
    evidence, only the links of each variable are counted. The experiment must change the variable enough for the
    directions to be seen.

    Parameters
    ----------
    model : Golem or GolemCV
        A fitted model.
    random_state : int or Generator
        Random seed, used only where the class has very many members.

    Examples
    --------
    In a chain, the middle is the best target:

    >>> from golem import Golem, Moments
    >>> S = [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]
    >>> model = Golem("nv").fit(Moments.from_covariance(S, 1000, names=["rain", "river", "flood"]))
    >>> next_experiment(model)
    An experiment on 'river' would settle 2 of the 2 open directions on average, at least 2.
    variable  on average  at least
    river           2.00         2
    flood           1.33         1
    rain            1.33         1
    """
    fitted = plain_model(model)
    check_is_fitted(fitted, "graph_")
    graph, names = fitted.graph_, fitted.table_.names
    undecided = graph.open_in_class  # an error if the graph has a cycle
    if (graph.undecided & ~undecided).any():
        # The class has directions that are not claimed, so that nothing may be concluded from them.
        undecided, sampled = graph.undecided, False
        least = np.bincount(np.r_[graph.causes[undecided], graph.children[undecided]], minlength=graph.d)
        mean = least.astype(float)
    else:
        mean, least, sampled = expected_decisions(graph, undecided, random_state)
    order = sorted(np.flatnonzero(mean).tolist(), key=lambda j: (-round(float(mean[j]), 9), -int(least[j]), names[j]))
    ranking = tuple(CandidateExperiment(names[j], float(mean[j]), int(least[j])) for j in order)
    return NextExperiment(ranking, int(undecided.sum()), sampled)


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
    for cause, child in edges.pairs(chosen):
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
