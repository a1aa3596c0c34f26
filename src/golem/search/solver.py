"""Order: minimize the likelihood with a penalty per edge, by searching over orders of the nodes.

Given an order, the graph is acyclic by construction: log|det(I - B)| and h(B) vanish, and likelihood + l0 becomes one
small regression per node. Only the order remains to be found: with equal noise variances by a Cholesky factorization
(`variance_order`), with free ones by search (`free_order`). By default the data decide between equal, tied and free
noise variances (`tied_order`).
"""

from __future__ import annotations

import dataclasses
import functools
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from golem.data.moments import Moments
from golem.graphs.dag import is_dag, topological_order
from golem.runtime.devices import Placement
from golem.runtime.types import BoolMatrix, Indices
from golem.score.gaussian_columns import GaussianColumns
from golem.score.likelihood import GaussianEV, GaussianTied, Likelihood
from golem.score.node_score import Correlation
from golem.score.noise_choice import NoiseChoice, NoiseScores
from golem.score.regression import Regressions, unsupported_edges
from golem.score.solution import Callback, Solution
from golem.score.sparsity import L0
from golem.score.wide_score import WideColumns
from golem.search.equal.variance_order import precedence
from golem.search.exact_order import LARGEST_EXACT, LARGEST_EXACT_COLUMNS
from golem.search.free_order import find_free_order
from golem.search.order_problem import EFFORTS, Effort, FittedGraph, OrderProblem
from golem.search.search_order import compile_engine, compiling
from golem.search.tied_order import choose_and_search

# Searches after EM, each without more pairs of columns. More were needed only where EM itself took far longer.
_MOST_SEARCHES = 20


@dataclass(frozen=True)
class Order:
    """Search over orders of the nodes for the minimum of L(B) + the penalty on the edges.

    Parameters
    ----------
    effort : {"fast", "default", "thorough"}
        Number of starts and perturbations in the search with free noise variances. The search ends early when
        independent starts agree. Up to 12 nodes it is exact for every effort, up to 20 for all but "fast": with free
        variances over all graphs, with tied ones at each point of a grid of priors (one prior with more than 12).
        Equal variances need no search.
    time_limit : float, optional
        Seconds after which the best graph so far is returned.
    placement : Placement
        Device and number type for the order and the screening with equal variances. All else runs on the CPU.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> from golem.solvers import Order
    >>> model = Golem("nv", solver=Order(effort="thorough")).fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> model.solution_.status.name
    'EXACT'
    """

    counts_edges: ClassVar[bool] = True
    effort: Effort = "default"
    time_limit: float | None = None
    placement: Placement = field(default_factory=Placement)

    @property
    def peak_matrices(self) -> int:
        """Largest number of (d, d) matrices that a solve holds (measured, rounded up)."""
        return 4 if self.placement.device == "cpu" else 6

    def __post_init__(self) -> None:
        if self.effort not in tuple(EFFORTS):  # not a lookup, as lists cannot be hashed
            raise ValueError(f"Unknown effort {self.effort!r}. Use {', '.join(map(repr, EFFORTS))}.")

    def solve(
        self,
        moments: Moments,
        likelihood: Likelihood,
        sparsity: L0,
        init: NDArray[Any] | None = None,
        *,
        allowed: BoolMatrix | None = None,
        required: BoolMatrix | None = None,
        random_state: int | np.random.Generator | None = None,
        callback: Callback | None = None,
        stage: str = "",
    ) -> Solution:
        """Find a graph and its least-squares weights.

        Parameters
        ----------
        moments : Moments
            The data.
        likelihood : GaussianEV, GaussianNV or GaussianTied
            The noise model. With GaussianTied the data decide between all three (`Solution.noise_choice`).
        sparsity : L0
            The penalty per edge.
        init : array of shape (d,) or (d, d), optional
            Start of the search: an order of the nodes, causes first, or a graph. It may be based on the scales of the
            columns, which the search itself does not use. If it contradicts required edges or tiers, it is changed as
            far as necessary.
        allowed, required : array of shape (d, d), bool, optional
            Masks of the edges that are allowed, and that are required.
        random_state : int, Generator or None
            Random seed. None means 0, so that the same data give the same graph.
        callback, stage
            For a progress bar.
        """
        start = None if init is None else as_order(init, moments.d)
        if start is not None and (before := precedence(moments.d, allowed, required)) is not None:
            start = topological_order(before, start)
        compile_search(likelihood, moments.d, announce=True)  # before the clock starts
        began = time.perf_counter()
        seed = 0 if random_state is None else random_state
        penalties = sparsity.penalties(moments.n, moments.d)
        problem = OrderProblem(moments, penalties, allowed, required, seed, callback)
        found, choice = self._search_supported(problem, likelihood, sparsity, start, stage)
        likelihood = likelihood if choice is None else choice.likelihood
        fit = found.regressions
        L = float(likelihood.on_dag(fit.residual_variances))
        score = L + float(penalties[fit.number_of_parents].sum()) / (2 * moments.n)
        return Solution.of_search(
            fit,
            found.status,
            (L, score),
            found.perturbations,
            began,
            found.trace,
            stage,
            callback,
            noise_choice=choice,
            rounding=found.rounding,
        )

    def _search_supported(
        self, problem: OrderProblem, likelihood: Likelihood, sparsity: L0, start: NDArray[np.intp] | None, stage: str
    ) -> tuple[FittedGraph, NoiseChoice | None]:
        """Search; after EM, again without the pairs of columns whose edge too few rows support."""
        deadline = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
        found, choice = self._search(problem, likelihood, sparsity, start, stage)
        for _ in range(_MOST_SEARCHES):
            chosen = likelihood if choice is None else choice.likelihood
            weak = unsupported_edges(found.regressions, problem.moments, chosen, sparsity, problem.required)
            if found.status.is_cut_short or not len(weak):
                break
            problem = _without_pairs(problem, found.regressions, weak)
            left = None if self.time_limit is None else max(deadline - time.perf_counter(), 0.0)
            rest = dataclasses.replace(self, time_limit=left)
            found, choice = rest._search(problem, likelihood, sparsity, start, stage)
        return found, choice

    def _search(
        self, problem: OrderProblem, likelihood: Likelihood, sparsity: L0, start: NDArray[np.intp] | None, stage: str
    ) -> tuple[FittedGraph, NoiseChoice | None]:
        """Search with the algorithm of the noise model; also return which one the data chose, if it was open."""
        if isinstance(likelihood, GaussianEV):
            from golem.search.equal.equal_variances import learn_equal_variances

            deadline = time.perf_counter() + (np.inf if self.time_limit is None else self.time_limit)
            return learn_equal_variances(problem, deadline, start, self.placement), None
        if isinstance(likelihood, GaussianTied):
            scores = NoiseScores(problem.moments, sparsity, likelihood)
            return choose_and_search(problem, scores, start, self.effort, self.time_limit, stage)
        return find_free_order(problem, start, self.effort, self.time_limit, stage), None


def compile_search(likelihood: Likelihood, d: int, announce: bool = False) -> None:
    """Compile the kernels that a search needs, or load them from numba's cache, by solving tiny problems.

    This happens once per process. With `announce`, a line in the log says so if they are compiled.
    """
    if isinstance(likelihood, GaussianEV):
        _compile_equal_variances(announce)
    elif d > LARGEST_EXACT:
        compile_engine(GaussianColumns, announce)
        if d <= LARGEST_EXACT_COLUMNS:
            _compile_exact_columns(announce)


@functools.cache
def _compile_exact_columns(announce: bool) -> None:
    """Compile the exact search of up to 20 nodes."""
    with compiling(announce):
        from golem.search.exact_columns import ExactColumns  # imports numba

        ExactColumns(GaussianColumns(np.eye(4) + 0.5, 50, np.arange(4.0))).minimum()


@functools.cache
def _compile_equal_variances(announce: bool) -> None:
    """Compile the kernels of equal variances."""
    with compiling(announce):
        from golem.search.equal.equal_variances import fit_equal_variances  # imports numba

        fit_equal_variances(np.eye(4) + 0.5, 50, np.arange(4.0))


@functools.singledispatch
def compile_kernels_of(engine: Any) -> None:
    """Compile what the search of a score needs, given what its `engine()` returns."""
    if engine.d > LARGEST_EXACT:
        compile_engine(type(engine))  # type: ignore[arg-type]


@compile_kernels_of.register
def _(engine: Correlation) -> None:
    compile_search(engine.likelihood, engine.table.d)


@compile_kernels_of.register
def _(engine: WideColumns) -> None:
    """Compile nothing: the stages of the search do."""


def as_order(init: NDArray[Any], d: int) -> NDArray[np.intp]:
    """Convert an order of d nodes, or an acyclic graph on them, to an order."""
    given = np.asarray(init)
    if given.shape == (d, d):
        if not is_dag(given):
            raise ValueError("The start graph 'init' has a directed cycle. Use an acyclic graph or an order.")
        return topological_order(given)
    if given.shape != (d,) or not np.array_equal(np.sort(given), np.arange(d)):
        raise ValueError(
            f"'init' must list each of the nodes 0 to {d - 1} once or be a ({d}, {d}) graph; got shape {given.shape}."
        )
    return given.astype(np.intp)


def _without_pairs(problem: OrderProblem, fit: Regressions, edges: Indices) -> OrderProblem:
    """Return the problem without some edges of a graph, in either direction: missing values must not direct edges."""
    d, i, j = problem.moments.d, fit.causes[edges], fit.children[edges]
    allowed = ~np.eye(d, dtype=bool) if problem.allowed is None else problem.allowed.copy()
    allowed[i, j] = allowed[j, i] = False
    return dataclasses.replace(problem, allowed=allowed)
