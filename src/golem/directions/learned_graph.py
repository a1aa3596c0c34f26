"""The learned graph: a list of edges, with weights and what the direction of each rests on.

This is knowledge, the structure, interventions, noise variances, noise shapes, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from golem.directions.experiments import Hardness
from golem.graphs.edges import Edges
from golem.graphs.named_graph import LINK_SOURCES, DirectionSource
from golem.runtime.types import BoolMatrix, BoolVector, Vector

if TYPE_CHECKING:
    from golem.directions.experiments import ExperimentChecks
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from golem.directions.by_shape import Edge, ShapeEvidence
from golem.directions.equivalence_class import connected_edges
from golem.graphs.pdag import Pdag, members


@dataclass(frozen=True, eq=False)
class LearnedGraph(Edges):
    """A learned graph with e edges on d nodes; its size is O(d + e).

    Parameters
    ----------
    causes, children : ndarray of shape (e,)
        Edge k leads from `causes[k]` to `children[k]`. Edges are grouped by child.
    d : int
        Number of nodes.
    weights : ndarray of shape (e,)
        The weights of the edges; NaN where an end is a category.
    residual_variances : ndarray of shape (d,)
        The variances of the nodes given their parents; NaN for categories.
    reversible : ndarray of shape (e,), bool, or None
        Whether the equivalence class leaves the direction open. None if the graph has a cycle.
    sources : ndarray of shape (e,), str, or None
        What the direction rests on; see `golem.directions.learned_graph.EdgeRecord`. None if the graph has a cycle.
    strength, error_rate : ndarray of shape (e,), or None
        The evidence for each direction (see `golem.directions.learned_graph.EdgeRecord`); NaN if there is none.
    stability : ndarray of shape (e,), or None
        How often random halves of the rows give the direction (`golem.directions.by_structure`); NaN where another
        source gives it, None if this was not checked.
    conflicts : tuple of (int, int)
        Directions that the noise variances support and the noise shapes contradict.
    shape_note : str
        What the shapes of the noise give, and why not more; empty if they were not used.
    hardness : Hardness or None
        Whether targets of hard interventions depend on their parents; None if this was not tested.
    experiments : ExperimentChecks or None
        Tests of experiments that need their rows; None without rows.
    """

    weights: Vector
    residual_variances: Vector
    reversible: BoolVector | None = None
    sources: NDArray[np.str_] | None = None
    strength: Vector | None = None
    error_rate: Vector | None = None
    stability: Vector | None = None
    conflicts: tuple[tuple[int, int], ...] = ()
    shape_note: str = ""
    hardness: Hardness | None = None
    experiments: ExperimentChecks | None = None

    @property
    def undecided(self) -> BoolVector:
        """Whether the direction of each edge has no evidence."""
        return np.isin(known(self.sources), LINK_SOURCES)

    def directed_by(self, source: DirectionSource) -> BoolVector:
        """Return whether the direction of each edge rests on a source."""
        return np.asarray(known(self.sources) == source)

    def partially_directed(self, links: BoolVector) -> BoolMatrix:
        """Return the graph with some of its edges undirected, that is in both directions, shape (d, d)."""
        matrix: BoolMatrix = self.matrix()
        matrix[self.children[links], self.causes[links]] = True
        return matrix

    def directions(self) -> dict[tuple[int, int], DirectionSource]:
        """Return what the direction of each edge (cause, child) rests on; nothing for a graph with a cycle."""
        return {} if self.sources is None else dict(zip(self.pairs(), self.sources.tolist(), strict=True))

    @property
    def open_in_class(self) -> BoolVector:
        """The undecided edges that the equivalence class leaves open; others contradict the class of free variances."""
        return np.asarray(self.undecided & known(self.reversible))


def known(values: NDArray[Any] | None) -> NDArray[Any]:
    """Return the values; raise an AttributeError, as for an attribute that does not exist, if there are none."""
    if values is None:
        raise AttributeError(
            "The learned graph has a cycle (cycles='none'), so it has no equivalence class and no model."
        )
    return values


class EdgeRecord(NamedTuple):
    """One edge, and what its direction rests on; `pandas.DataFrame(model.edges_)` makes a table of them.

    Parameters
    ----------
    source, target : str
        The cause and the effect; of a link, its two ends.
    weight : float
        The coefficient; NaN if an end of the edge is a category.
    directed : bool
        Whether the direction has evidence or was given. If not, the edge is a link, and the weight belongs to one of
        the directions that are equally good.
    direction_from : str
        "knowledge": it was given. "follows": it follows from what was given, together with this graph. "time": the
        cause is in the past. "structure": all
        members of the equivalence class have this direction, also with free noise variances. "variances", "shape":
        only the noise variances (which depend on the units), or the shape of the noise, give it. "interventions":
        experiments give it. "unchecked": the class has this direction, but whether it is stable was not checked.
        "none": no evidence.
    direction_strength : float or None
        Of "shape", "interventions" and, with noise="ev", "variances": deviance by which the best member of the class
        with the other direction is worse. Of "variances" with noise="auto": twice the log odds of the direction.
        "interventions" has at most -2 log p of the tests of the rows.
    direction_error_rate : float or None
        Of "shape": a p-value. With Gaussian noise, evidence this strong would appear in at most this share of
        components.
    edge_strength : float or None
        In a table with categories: how much the deviance rises without the edge.
    standardized_weight, standard_error : float or None
        The weight in standard deviations of both ends, which the terminal calls its strength, and the error of the
        weight by least squares. None if an end is a category; the error also if the weights are not least squares.
    robustness_value : float or None
        Share of what the other parents leave of the variance of both ends that a hidden common cause would have to
        explain to remove the edge (Cinelli and Hazlett 2020).
    lag : int
        How many steps before the effect the cause lies; the source of a lagged edge is named `x@1`. 0 without lags.
    """

    source: str
    target: str
    weight: float
    directed: bool
    direction_from: DirectionSource
    direction_strength: float | None = None
    direction_error_rate: float | None = None
    edge_strength: float | None = None
    standardized_weight: float | None = None
    standard_error: float | None = None
    robustness_value: float | None = None
    lag: int = 0


@dataclass(frozen=True, eq=False)
class Decisions:
    """The directions to show, and the evidence for those that the class and knowledge leave open.

    Parameters
    ----------
    reversed : ndarray of shape (e,), bool
        The edges that point the other way in the member of the class that has all claimed directions.
    undecided, by_variance, by_shape : ndarray of shape (e,), bool
        For each edge: whether its direction has no evidence, or rests on the noise variances or shapes.
    conflicts : tuple of (int, int)
        Directions that the variances support and the shapes contradict. Neither is claimed.
    """

    reversed: BoolVector
    undecided: BoolVector
    by_variance: BoolVector
    by_shape: BoolVector
    conflicts: tuple[Edge, ...] = ()


def decide(edges: Edges, undirected: BoolVector, by_variance: Sequence[Edge], shape: ShapeEvidence) -> Decisions:
    """Combine the evidence for the directions that the equivalence class and knowledge leave open.

    Directions that follow from others by Meek's rules have the source of these. Where the variances and the shapes
    support the same direction, the shape counts, because it does not depend on the units. In a component where they
    contradict each other, neither is claimed. Edges that are not claimed keep their direction if the claims allow it.

    Parameters
    ----------
    edges : Edges
        The edges of a DAG.
    undirected : ndarray of shape (e,), bool
        For each edge: whether its direction is open.
    by_variance : sequence of (int, int)
        The directions of open edges that the noise variances have evidence for.
    shape : ShapeEvidence
        The evidence of the noise shapes.
    """
    nothing = np.zeros_like(undirected)
    if not (shape.claimed or by_variance):
        return Decisions(nothing, undirected, nothing, nothing)
    lines, given = edges.pairs(undirected), Pdag.from_edges(edges, undirected)
    variances = _directions(_closed(given, by_variance), lines)
    shapes = _directions(_closed(given, shape.claimed), lines)
    conflicts = tuple((i, j) for i, j in variances if (j, i) in shapes)
    variances, shapes = _consistent(given, edges, undirected, variances, shapes)
    pdag = _closed(given, [*variances, *shapes])
    claimed = _directions(pdag, lines)
    member = _nearest_member(pdag, lines)
    turned, decided, by_shape = nothing.copy(), nothing.copy(), nothing.copy()
    for k, (i, j) in zip(np.flatnonzero(undirected), lines, strict=True):
        turned[k] = bool(member.children[j] >> i & 1)
        decided[k] = (i, j) in claimed or (j, i) in claimed
        by_shape[k] = (i, j) in shapes or (j, i) in shapes
    return Decisions(turned, undirected & ~decided, decided & ~by_shape, by_shape, conflicts)


def _closed(given: Pdag, claims: Iterable[Edge]) -> Pdag:
    """Return the graph with the claims, and with the directions that follow from them (Meek 1995)."""
    graph = given.copy()
    for i, j in claims:
        if graph.neighbours[i] >> j & 1:
            graph.add_arrow(i, j)
    graph.close(fourth=True)
    return graph


def _directions(graph: Pdag, lines: list[Edge]) -> dict[Edge, None]:
    """Return the directions that a graph has for some edges, in their order."""
    both = (pair for i, j in lines for pair in ((i, j), (j, i)))
    return dict.fromkeys((i, j) for i, j in both if graph.children[i] >> j & 1)


def _consistent(
    given: Pdag, edges: Edges, undirected: BoolVector, variances: dict[Edge, None], shapes: dict[Edge, None]
) -> tuple[dict[Edge, None], dict[Edge, None]]:
    """Return the claims without those of components in which they contradict each other.

    Several claims can do so although no two of them are about the same edge: no member of the class has all of them.
    """
    possible = _has_member(_closed(given, [*variances, *shapes]), edges)
    dropped: set[Edge] = set()
    for pairs in connected_edges(edges.causes[undirected], edges.children[undirected], np.arange(edges.d)):
        both = {pair for i, j in pairs for pair in ((i, j), (j, i))}
        opposed = any((i, j) in both and (j, i) in shapes for i, j in variances)
        if opposed or not (possible or _has_member(_closed(given, both & {*variances, *shapes}), edges)):
            dropped |= both
    variances, shapes = ({edge: None for edge in claims if edge not in dropped} for claims in (variances, shapes))
    return variances, shapes


def _has_member(graph: Pdag, edges: Edges) -> bool:
    """Return whether directing the rest of a graph gives a member of the class of `edges`: the same colliders."""
    found = graph.extension()
    if found is None or graph.conflicts():
        return False
    given = Pdag.from_edges(edges, np.zeros(len(edges), dtype=bool)).parents
    adjacent = graph.adjacent
    return all(
        one == other or _unshielded(one, adjacent) == _unshielded(other, adjacent)
        for one, other in zip(found, given, strict=True)
    )


def _unshielded(parents: int, adjacent: list[int]) -> set[Edge]:
    """Return the pairs of parents that are not adjacent to each other."""
    return {(i, k) for i in members(parents) for k in members(parents & ~adjacent[i]) if i < k}


def _nearest_member(pdag: Pdag, lines: list[Edge]) -> Pdag:
    """Direct the undirected edges as given, one after the other, where the earlier ones allow it."""
    graph = pdag.copy()
    for i, j in lines:
        if graph.neighbours[i] >> j & 1:
            # Meek's fourth rule reads edges two steps away.
            near = graph.neighbours[i] & graph.adjacent[j]
            graph.add_arrow(i, j)
            graph.close(1 << i | 1 << j | near, fourth=True)
    return graph
