"""Minimize a sum of costs of nodes given their parents: exactly for few nodes, otherwise by a search over orders."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from golem.graphs.dag import topological_order
from golem.graphs.edges import Edges
from golem.runtime.interrupts import losing_interrupts
from golem.runtime.types import BoolMatrix, Matrix, Vector
from golem.score.node_scores import Counts, GaussianBlocks
from golem.score.solution import TIE, Callback, Status
from golem.search.engines import ENGINES
from golem.search.exact_order import LARGEST_EXACT, Subsets
from golem.search.order_problem import Effort, FoundGraph, checked_masks

if TYPE_CHECKING:
    from golem.search.engines.engine import Engine

# Many levels or rows make the exact search slow, while the search over orders takes a fraction of a second for so few
# nodes. An exact search that would take longer than this is not begun.
LONGEST_EXACT = 1.0  # seconds
# Where a search begins: nodes by the share of their variance that all others explain, and at random.
STARTS = ("r2", "random")
_COMPILING = (
    "Compiling the search. This takes up to half a minute and happens once: later programs read the compiled code from "
    "numba's cache."
)


class NodeCosts(Protocol):
    """What a search needs from a score; an engine is registered for its type in `golem.search.engines`."""

    @property
    def d(self) -> int:
        """Number of nodes."""

    @property
    def sizes(self) -> Vector:
        """Sizes of the nodes as parents."""

    @property
    def limits(self) -> Vector:
        """The largest total size of the parents of every node."""

    @property
    def table_seconds(self) -> float:
        """About how long `cost_table` takes."""

    def cost_table(self, members: BoolMatrix) -> Matrix:
        """Return the cost of all nodes with all sets of parents, given as rows."""


def search_order(
    score: NodeCosts,
    *,
    allowed: ArrayLike | None = None,
    required: ArrayLike | None = None,
    starts: Sequence[str | ArrayLike] = STARTS,
    effort: Effort = "default",
    time_limit: float | None = None,
    random_state: int | np.random.Generator = 0,
    on_progress: Callback | None = None,
) -> FoundGraph:
    """Find a DAG with a low sum of costs; up to 12 nodes the lowest, if that takes about a second at most.

    Parameters
    ----------
    score : GaussianColumns, GaussianBlocks or Counts
        The costs.
    allowed, required : array of shape (d, d), bool, optional
        Masks of the edges i -> j that are allowed, and that are required.
    starts : sequence
        Orders or graphs, or the names "r2" (nodes by the share of their variance that all others explain) and
        "random". Random starts are added if the effort asks for more. An exact search ignores them.
    effort, time_limit, random_state, on_progress
        As for `golem.solvers.Order`.

    Examples
    --------
    >>> from golem.score.node_scores import gaussian_blocks
    >>> S = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
    >>> search_order(gaussian_blocks([S], [1000])).graph.astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    may, must = checked_masks(score.d, allowed, required)
    longest = LONGEST_EXACT if time_limit is None else min(time_limit, LONGEST_EXACT)
    if score.d <= LARGEST_EXACT and score.table_seconds <= longest:
        return _search_exactly(score, may, must)
    compile_engine(type(score))  # once, and before the clock starts
    return search_with_engine(engine_of(score, may, must), starts, effort, time_limit, random_state, on_progress)


def engine_of(score: NodeCosts, allowed: BoolMatrix | None, required: BoolMatrix | None) -> Engine:
    """Return the engine that is registered for a score."""
    return _engine_class(type(score))(score, allowed, required)


def _engine_class(kind: type) -> type[Engine]:
    """Import the engine of a type of score."""
    module, name = ENGINES[kind].split(":")
    found: type[Engine] = getattr(importlib.import_module(module), name)
    return found


def search_with_engine(
    engine: Engine,
    starts: Sequence[str | ArrayLike] = STARTS,
    effort: Effort = "default",
    time_limit: float | None = None,
    random_state: int | np.random.Generator = 0,
    on_progress: Callback | None = None,
) -> FoundGraph:
    """Search over orders; see `search_order`."""
    from golem.search.order_search import OrderSearch, SearchClock  # imports numba

    clock = SearchClock(time_limit, on_progress)
    return OrderSearch(engine, starts, effort, np.random.default_rng(random_state), clock).run()


@contextlib.contextmanager
def compiling(announce: bool) -> Iterator[None]:
    """Compile kernels in a block that solves a tiny problem, or load them; `announce`: a line in the log says so."""
    from golem.search import jit  # imports numba

    with losing_interrupts(), jit.logged_if_compiled(_COMPILING) if announce else contextlib.nullcontext():
        yield


@functools.cache
def compile_engine(kind: type, announce: bool = False) -> None:
    """Compile the kernels of an engine, once per process."""
    with compiling(announce):
        search_with_engine(engine_of(_engine_class(kind).tiny_score(), None, None))


def compile_node_scores() -> None:
    """Compile the engines for environments and categories."""
    for kind in (GaussianBlocks, Counts):
        compile_engine(kind)


def _search_exactly(score: NodeCosts, allowed: BoolMatrix | None, required: BoolMatrix | None) -> FoundGraph:
    """Return the graph with the lowest score."""
    subsets, limits = Subsets(score.d), size_limits(score, required)
    cost = score.cost_table(subsets.members)
    scale = float(np.abs(cost[0]).max(initial=1.0))
    subsets.forbid(cost, allowed, required)
    cost[(subsets.members @ score.sizes)[:, None] > limits] = np.inf
    graphs, _ = subsets.best_dags(cost[:, :, None].copy(), TIE * scale)
    others = score.sizes.sum() - score.sizes
    status = Status.EXACT if np.all(limits >= others) else Status.SEARCHED
    edges, rows = Edges.from_matrix(graphs[0]).by_child(), graphs[0].T @ subsets.bits
    return FoundGraph(topological_order(graphs[0]), edges, cost[rows, np.arange(score.d)], status)


def size_limits(score: NodeCosts, required: BoolMatrix | None) -> Vector:
    """Return the largest total size of the parents of every node, at least that of the required ones."""
    needed = np.zeros(score.d) if required is None else score.sizes @ required
    return np.maximum(score.limits, needed + 1e-9)
