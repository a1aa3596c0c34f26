"""Learn the graph of very many columns, and check its directions: candidates, search, halves of the rows, reversals."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from golem.data.checks import most_parents
from golem.data.wide_columns import WideMoments
from golem.graphs.edges import Edges
from golem.runtime.types import BoolVector, Indices, Vector
from golem.score.solution import Callback, Progress, Status
from golem.score.sparsity import L0
from golem.search.order_kernel_arrays import COST, POSITION
from golem.search.wide.candidates import WideCandidates, find_candidates, missed_pairs, simple_problem
from golem.search.wide.class_kernels import label_edges, sort_nodes
from golem.search.wide.search import WideLists, WideSearch

# Perturbations per node.
_PERTURBATIONS = {"fast": 2, "default": 6, "thorough": 40}
# Rounds in which candidates that were missed are added, if the last one added more than this number per node.
_MOST_EXTENSIONS, _FEW_MISSED = 10, 0.3
# Rounds of perturbations that bring little before the search ends, and how many penalties per node are little.
_PATIENCE, _LITTLE = 2, 2e-4


class WideGraph(NamedTuple):
    """A graph, what its nodes cost, and how it was found."""

    edges: Edges
    costs: Vector
    status: Status
    perturbations: int


class WideClock:
    """Reports of progress, by stage, and the time limit."""

    def __init__(self, limit: float | None, callback: Callback | None) -> None:
        self._began, self._limit, self._callback = time.perf_counter(), limit, callback
        self._next, self._stage = 0.0, ""

    def __call__(self, stage: str, share: float) -> None:
        """Report a share of a stage; raise TimeoutError after the time limit."""
        seconds = time.perf_counter() - self._began
        if self._callback is not None and (stage != self._stage or share >= 1 or seconds >= self._next):
            self._callback(Progress(stage, round(1000 * max(share, 0.0)), 1000, seconds, np.nan, 0.0))
            self._next, self._stage = seconds + 0.2, stage
        if self._limit is not None and seconds > self._limit:
            raise TimeoutError


@dataclass(frozen=True)
class WideEffort:
    """How long to search."""

    effort: str = "default"
    time_limit: float | None = None
    device: str = "cpu"
    random_state: int = 0


def learn_wide(moments: WideMoments, sparsity: L0, how: WideEffort, callback: Callback | None = None) -> WideGraph:
    """Search for the graph with the lowest score, with free noise variances."""
    clock = WideClock(how.time_limit, callback)
    Z, d, n = moments.standardized_columns, moments.d, moments.n
    penalty = edge_penalty(sparsity, n, d)
    search, status, rounds = None, Status.SEARCHED, 0
    try:
        found = candidates_of(moments, Z, penalty, how.device, clock)
        problem = simple_problem(n, d, penalty, most_parents(n))
        order = np.argsort(found.explained.round(9), kind="stable")
        search = WideSearch(Z, np.arange(n), WideLists.of(found.one, found.other, found.likely, d), problem, clock)
        search.begin(order)
        search.climb()
        search = _extended(search, Z, problem, how.device, clock, moments)
        rounds = _perturb(search, _PERTURBATIONS[how.effort])
    except TimeoutError:
        status = Status.TIME_LIMIT
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        if search is None:
            raise
    if search is None:
        none = np.zeros(0, dtype=np.intp)
        return WideGraph(Edges(none, none, d), np.zeros(d), status, 0)
    return WideGraph(search.edges, search.shared.values[COST].copy(), status, rounds * d)


def candidates_of(
    moments: WideMoments, Z: NDArray[np.float32], penalty: float, device: str, clock: Any
) -> WideCandidates:
    """Return the candidates, which are kept for later searches of the same columns."""
    if "candidates" not in moments.memory:
        moments.memory["candidates"] = find_candidates(
            Z, moments.names, penalty, most_parents(moments.n), device, clock
        )
    found: WideCandidates = moments.memory["candidates"]
    return found


def _perturb(search: WideSearch, times: int) -> int:
    """Perturb all nodes some times, or until this brings little."""
    idle, everyone = 0, np.arange(search.d)
    for done in range(times):
        before = search.score
        search.perturb(everyone, 1)
        idle = idle + 1 if before - search.score < max(1.0, _LITTLE * search.d) * search.edge_penalty else 0
        if idle == _PATIENCE:
            return done + 1
    return times


def _extended(
    search: WideSearch, Z: NDArray[np.float32], problem: Any, device: str, clock: WideClock, moments: WideMoments
) -> WideSearch:
    """Add candidates that the graph calls for, and go on from it, until it calls for few."""
    d = search.d
    for _ in range(_MOST_EXTENSIONS):
        found: WideCandidates = moments.memory["candidates"]
        edges, before = search.edges, found.one * d + found.other
        missed = missed_pairs(Z, edges, device, clock)
        keys = missed.one * d + missed.other
        union = np.unique(np.concatenate([before, keys, _family_pairs(edges)]))
        likely = np.zeros(len(union), dtype=bool)
        likely[np.searchsorted(union, before)] = found.likely
        likely[np.searchsorted(union, keys)] = True
        moments.memory["candidates"] = WideCandidates(union // d, union % d, likely, found.explained)
        order = np.argsort(search.shared.nodes[POSITION], kind="stable")
        lists = WideLists.of(union // d, union % d, likely, d)
        search = WideSearch(Z, np.arange(Z.shape[1]), lists, problem, clock)
        search.begin_with(edges, order)
        search.climb()
        # A screening takes most of the time of a sparse graph. It is repeated where the last one has found much.
        if np.isin(keys, before, invert=True).sum() < _FEW_MISSED * d:
            break
    return search


def _family_pairs(edges: Edges) -> Indices:
    """Return pairs with a common child or parent, or two steps apart: to reverse an edge, ends exchange parents."""
    d = edges.d
    graph = sparse.csr_array((np.ones(len(edges), dtype=np.int32), (edges.children, edges.causes)), shape=(d, d))
    one, other = sparse.coo_array(graph @ graph + graph.T @ graph).coords
    new = one != other
    return np.asarray(np.minimum(one, other)[new].astype(np.int64) * d + np.maximum(one, other)[new])


def edge_penalty(sparsity: L0, n: int, d: int) -> float:
    """Return the penalty of an edge."""
    return float(sparsity.penalties(n, d)[1]) if d > 1 else 0.0


def topological_order(edges: Edges) -> Indices:
    """Return an order of the nodes of a DAG in which every edge points forward."""
    d, order = edges.d, np.empty(edges.d, dtype=np.int64)
    children = edges.children[np.argsort(edges.causes, kind="stable")]
    first = np.append(0, np.cumsum(np.bincount(edges.causes, minlength=d)))
    size = sort_nodes(first, children, np.bincount(edges.children, minlength=d), order)
    assert size == d, "The graph has a cycle."
    return order


def class_directions(edges: Edges) -> BoolVector:
    """Return which edges of a DAG all members of its equivalence class direct alike; they are grouped by child."""
    order, first = topological_order(edges), np.searchsorted(edges.children, np.arange(edges.d + 1))
    place = np.empty(edges.d, dtype=np.int64)
    place[order] = np.arange(edges.d)
    compelled = np.zeros(len(edges), dtype=np.uint8)
    label_edges(order, place, first, edges.causes, compelled, np.full(edges.d, -1))
    return compelled > 0


class ArrowChecks:
    """Checks of arrows of a graph by searches of halves of the rows and of graphs with the reverse.

    All share the candidates. A search begins with the graph: for half of the rows, this leads to better scores than a
    search from the start with perturbations, and takes a quarter of its time.
    """

    def __init__(self, moments: WideMoments, Z: NDArray[np.float32], graph: Edges, sparsity: L0, clock: Any) -> None:
        self._sparsity, self._clock, self._graph, d = sparsity, clock, graph, len(Z)
        self._found = candidates_of(moments, Z, edge_penalty(sparsity, moments.n, d), "cpu", clock)
        self._lists = WideLists.of(self._found.one, self._found.other, self._found.likely, d)
        self._order = topological_order(graph)

    def near(self, columns: BoolVector) -> BoolVector:
        """Return which columns are among some, or have one of them as a candidate."""
        one, other, near = self._found.one, self._found.other, columns.copy()
        near[one[columns[other]]] = near[other[columns[one]]] = True
        return near

    def _search(self, Z: NDArray[np.float32], rows: Indices, counted: int) -> WideSearch:
        """Return a search of some rows, which count as so many, that has begun with the graph."""
        penalty = edge_penalty(self._sparsity, counted, len(Z))
        problem = simple_problem(counted, len(Z), penalty, most_parents(len(rows)))
        search = WideSearch(Z, rows, self._lists, problem, self._clock)
        search.begin_with(self._graph, self._order)
        search.climb()
        return search

    def in_class(
        self, Z: NDArray[np.float32], rows: Indices, counted: int, arrows: tuple[Indices, Indices]
    ) -> BoolVector:
        """Return which of some arrows the class of the best graph of some rows has."""
        d, search = len(Z), self._search(Z, rows, counted)
        edges = search.edges
        directed = class_directions(edges)
        return np.isin(arrows[0] * d + arrows[1], edges.causes[directed] * d + edges.children[directed])

    def margins(self, Z: NDArray[np.float32], counted: int, arrows: tuple[Indices, Indices]) -> Vector:
        """Return how much worse the best graphs with the reverse of each of some arrows are."""
        return self._search(Z, np.arange(Z.shape[1]), counted).reversal_losses(*arrows)
