"""Search over orders of the nodes: likelihood-NV with a penalty per edge (paper, section 3, with l0 instead of l1).

Given an order of the nodes, log|det(I - B)| = 0 and the score is a sum of one regression per node,

    sum_j  n log r_j(parents of j) + penalty[number of parents of j],

where r_j is the residual variance of node j. From several starts, the search moves one node at a time to its best
position, then perturbs the order and searches again. It uses the correlation matrix, so that only a start given by the
user can depend on the units of the columns. The compiled part is `order_kernels`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from golem.graphs.dag import is_dag, topological_order
from golem.runtime.types import Matrix, Vector
from golem.score.regression import regress_lists
from golem.solvers.order import order_kernels as kernels
from golem.solvers.order.found_graph import FoundGraph
from golem.solvers.order.free_order import EFFORTS, Effort
from golem.solvers.solution import Callback, Progress, Status

# Rounding errors of the scores in ill-conditioned problems.
_AGREEMENT = 1e-2
# Up to this number of nodes a compiled inverse is faster than waking the threads of a busy BLAS.
_SMALL = 300


def search_orders(
    covariance: ArrayLike,
    n: int,
    penalty: ArrayLike,
    *,
    allowed: ArrayLike | None = None,
    required: ArrayLike | None = None,
    starts: Sequence[str | ArrayLike] = ("r2", "random"),
    effort: Effort = "default",
    time_limit: float | None = None,
    centre: float = 0.0,
    spread: float = np.inf,
    random_state: int | np.random.Generator = 0,
    on_progress: Callback | None = None,
) -> FoundGraph:
    """Minimize sum_j n log(r_j / S_jj) + penalty over orders and parents: the score of the standardized columns.

    Parameters
    ----------
    covariance, n : array of shape (d, d), int
        Covariance, and the number of rows it was computed from.
    penalty : array of shape (d,)
        `penalty[k]` is the penalty of k parents; see `golem.score.sparsity.L0.penalties`.
    allowed, required : array of shape (d, d), bool, optional
        Masks of the edges i -> j that are allowed, and that are required.
    starts : sequence
        Orders or graphs, or the names "r2" (nodes by the share of their variance that all others explain) and
        "random". Random starts are added if the effort asks for more.
    centre, spread : float
        A prior on the noise variances adds (log r - centre)^2 / spread per node, r in the units of the covariance.
    effort, time_limit, random_state, on_progress
        As for `golem.solvers.Order`.

    Examples
    --------
    >>> S = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.6], [0.6, 0.6, 1.0]])  # a collider
    >>> search_orders(S, 1000, np.arange(3) * 7.0).weights.round(2) + 0.0
    array([[0. , 0. , 0.6],
           [0. , 0. , 0.6],
           [0. , 0. , 0. ]])
    """
    began = time.perf_counter()
    S = np.array(covariance, dtype=float)
    search = _Search(S, n, penalty, allowed, required, centre, spread, random_state)
    wanted, base, factor = EFFORTS[effort]
    perturbations = base + int(factor * np.sqrt(len(S)))
    search.watch(began, time_limit, wanted * perturbations, on_progress)
    orders = [search.start(start) for start in (*starts, *["random"] * (wanted - len(starts)))]
    try:
        status = search.run(orders[:1] if effort == "fast" else orders, perturbations)
    except TimeoutError:
        status = Status.TIME_LIMIT
    except KeyboardInterrupt:
        if not search.runs:
            raise
        status = Status.INTERRUPTED
    best = search.leader().best
    return FoundGraph(
        order=best.order.astype(np.intp),
        regressions=regress_lists(best.parents, best.count, S),
        score=float(best.cost.sum()),
        status=status,
        perturbations=search.perturbations,
    )


class _Run:
    """One start: the current state and the best one so far."""

    def __init__(self, d: int, most: int) -> None:
        self.state, self.best, self.perturbations = _empty_state(d, most), _empty_state(d, most), 0

    @property
    def score(self) -> float:
        return float(self.best.cost.sum())


class _Search:
    """The problem in the form that the kernels use, and the search strategy."""

    def __init__(
        self,
        S: Matrix,
        n: int,
        penalty: ArrayLike,
        allowed: ArrayLike | None,
        required: ArrayLike | None,
        centre: float,
        spread: float,
        random_state: int | np.random.Generator,
    ) -> None:
        d = len(S)
        penalties = np.asarray(penalty, dtype=float)
        off_diagonal = ~np.eye(d, dtype=bool)
        may = off_diagonal if allowed is None else np.asarray(allowed, dtype=bool) & off_diagonal
        must = np.zeros((d, d), dtype=bool) if required is None else np.asarray(required, dtype=bool)
        if np.any(must & ~may) or (must.any() and not is_dag(must)):
            raise ValueError("Required edges must be allowed and must not form a cycle.")
        variances = np.diagonal(S)
        variances = np.where(variances > 0, variances, 1.0)
        R = S / np.sqrt(np.outer(variances, variances))
        R = (R + R.T) / 2
        np.fill_diagonal(R, 1.0)
        # Near n parents the likelihood is unbounded.
        most = max(min(max(1, (n - 2) // 2), d - 1), int(must.sum(axis=0).max(initial=0)))
        self.d, self.most, self.required = d, most, must
        self.rng = np.random.default_rng(random_state)
        self.problem = kernels.Problem(
            S=np.ascontiguousarray(R),
            n=float(n),
            penalty=penalties,
            threshold=-np.expm1(-np.append(np.diff(penalties), np.inf) / n),
            allowed=np.ascontiguousarray(may.T),
            required=np.ascontiguousarray(must.T),
            centre=centre - np.log(variances),
            tightness=0.0 if np.isinf(spread) else 1.0 / spread,
            most_parents=most,
            blanket=np.zeros((d, d), dtype=bool),
            keys=np.random.default_rng(0).integers(1, 2**63, size=(2, d), dtype=np.uint64),
        )
        self.cache = kernels.Cache(
            shift=np.zeros(d),
            # No key is all ones. Zero is the key of the first node, which has no predecessors and no parents.
            key=np.full((d, d), ~np.uint64(0)),
            cost=np.zeros((d, d)),
            pool=np.zeros(2 * d * d),
            pool_end=np.zeros(1, dtype=np.int64),
            pool_start=np.zeros(d, dtype=np.int64),
            pool_room=np.zeros(d, dtype=np.int64),
            pool_key=np.zeros(d, dtype=np.uint64),
        )
        self.work, self.own = _scratch(d, most), _scratch(d, most)
        # A walk that raises the score by the penalty of several edges seldom ends lower. Perturbations stop there.
        self.barrier = 6.0 * float(penalties[1] - penalties[0]) if d > 1 else 0.0
        self.runs: list[_Run] = []
        self.perturbations = 0
        self.r2 = self._fill_blankets()

    def watch(self, began: float, limit: float | None, planned: int, on_progress: Callback | None) -> None:
        """Start the clock."""
        self._began, self._limit, self._planned, self._on_progress = began, limit, planned, on_progress
        self._next_report = 0.0

    def _fill_blankets(self) -> Vector:
        """Find the Markov blankets by backward elimination; return the R2 of each node given all others."""
        d, n, R = self.d, self.problem.n, self.problem.S
        # Full regressions need more rows than columns. With few rows, a ridge is enough to rank the nodes.
        enough = n >= 1.2 * d + 10
        if enough and d <= min(_SMALL, self.most + 1):
            precision = np.empty((d, d))
            kernels.invert(R, np.arange(d), d, precision, self.work.W, self.work.t)
        else:
            precision = np.linalg.inv(R + (1e-12 if enough else 0.3) * np.eye(d))
        diagonal = np.diagonal(precision)
        if enough:
            rho2 = np.minimum(precision**2 / np.outer(diagonal, diagonal), 1 - 1e-12)
            t2 = (n - d) * rho2 / (1 - rho2) * ~np.eye(d, dtype=bool)
            kernels.find_blankets(self.problem, self.work, t2, np.argsort(-t2, axis=1))
        return np.asarray(1 - 1 / diagonal)

    def start(self, start: str | ArrayLike) -> NDArray[np.int64]:
        """Convert a start to an order that the required edges allow."""
        if isinstance(start, str):
            order = np.argsort(self.r2.round(9), kind="stable") if start == "r2" else self.rng.permutation(self.d)
        else:
            given = np.asarray(start)
            order = topological_order(given) if given.ndim == 2 else given
        return self._compatible(order.astype(np.int64))

    def _compatible(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the order, changed only as far as required edges demand."""
        rank = np.argsort(order)
        if not np.any(self.required & (rank[:, None] > rank)):
            return order
        return topological_order(self.required, order).astype(np.int64)

    def run(self, orders: Sequence[NDArray[np.int64]], perturbations: int) -> Status:
        """Search from every order, then perturb the worst run until all agree or each has had its perturbations."""
        for order in orders:
            run = _Run(self.d, self.most)
            kernels.rearrange(self.problem, run.state, self.work, 0, order, True)
            kernels.copy_touched(run.state, run.best, np.ones(self.d, dtype=bool))
            self.runs.append(run)
            # Short walks, which are faster, make most of the progress. So the first pass has a barrier.
            self._climb(run, (5 * self.barrier, np.inf))
        # Two starts can share a local optimum. So each must also survive some perturbations, more if they are cheap.
        least = min(perturbations, max(10, min(40, 2000 // self.d)))
        status = Status.SEARCHED
        while any(run.perturbations < perturbations for run in self.runs):
            scores = [run.score for run in self.runs]
            fresh = min(self.runs, key=lambda run: run.perturbations)
            agreed = len(scores) > 1 and max(scores) - min(scores) < _AGREEMENT
            if agreed and fresh.perturbations >= least:
                status = Status.AGREED
                break
            able = [run for run in self.runs if run.perturbations < perturbations]
            chosen = fresh if agreed else _first(able, max(run.score for run in able) - kernels.EPSILON, np.inf)
            for _ in range(min(5, perturbations - chosen.perturbations)):
                self._perturb(chosen)
        self._climb(self.leader(), (np.inf,))
        return status

    def leader(self) -> _Run:
        """Return the run with the lowest score."""
        return _first(self.runs, -np.inf, min(run.score for run in self.runs) + kernels.EPSILON)

    def _climb(self, run: _Run, barriers: Sequence[float]) -> None:
        """Reinsert nodes until none moves; update `best`, so that the search can stop at any time."""
        state, chunk = run.state, max(1, 30_000 // self.d)
        for barrier in barriers:
            deep = bool(np.isinf(barrier))
            state.active[:] = True
            before = np.inf
            while state.active.any() and run.score < before - kernels.EPSILON:
                before = run.score
                nodes = self.rng.permutation(np.nonzero(state.active)[0])
                for k in range(0, len(nodes), chunk):
                    state.touched[:] = False
                    part = nodes[k : k + chunk]
                    kernels.visit(self.problem, state, self.cache, self.work, self.own, part, deep, barrier)
                    self._keep_better(run)
                    self._check()

    def _keep_better(self, run: _Run) -> None:
        """Copy the state to `best`, or restore the state from `best` if its score rose.

        Moves are evaluated with updated inverses and carried out with fresh regressions. The two differ in
        ill-conditioned problems, so that a move can raise the score. Equal scores are kept: the search may move through
        an equivalence class.
        """
        better = float(run.state.cost.sum()) < run.score + kernels.EPSILON
        source, target = (run.state, run.best) if better else (run.best, run.state)
        kernels.copy_touched(source, target, run.state.touched)

    def _perturb(self, run: _Run) -> None:
        """Perturb the order, search again, and set_parents the better state."""
        run.perturbations += 1
        self.perturbations += 1
        order = self._compatible(self._perturbed(run.state))
        changed = np.nonzero(order != run.state.order)[0]
        if len(changed):
            segment = order[changed[0] : changed[-1] + 1]
            state = run.state
            state.touched[:] = False
            kernels.rearrange(self.problem, state, self.work, int(changed[0]), segment, False)
            score, before = float(state.cost.sum()), np.inf
            while score < before - kernels.EPSILON:
                nodes = state.order.copy()
                kernels.visit(self.problem, state, self.cache, self.work, self.own, nodes, False, self.barrier)
                before, score = score, float(state.cost.sum())
            self._keep_better(run)
        self._check()

    def _perturbed(self, state: kernels.State) -> NDArray[np.int64]:
        """Reverse one edge by moving one of its nodes past the other, or move a few neighbouring nodes."""
        rng, d, order = self.rng, self.d, list(state.order)
        child = parent = int(rng.integers(d))
        if state.count[child] and rng.random() < 0.5:
            parent = int(state.parents[child, rng.integers(state.count[child])])
        low, high = int(state.position[parent]), int(state.position[child])
        # Moving a node past hundreds of others costs more than it gains.
        if 0 < high - low <= 100:
            if rng.random() < 0.5:
                order.insert(low, order.pop(high))
            else:
                order.insert(high, order.pop(low))
        else:
            middle = int(rng.integers(d))
            for _ in range(int(rng.integers(2, 5))):
                source, target = np.clip(middle + rng.integers(-10, 11, size=2), 0, d - 1)
                order.insert(int(target), order.pop(int(source)))
        return np.array(order, dtype=np.int64)

    def _check(self) -> None:
        """Raise TimeoutError after the time limit, and report progress a few times per second."""
        seconds = time.perf_counter() - self._began
        if self._on_progress is not None and seconds >= self._next_report:
            score = min(run.score for run in self.runs)
            self._on_progress(Progress("", self.perturbations, self._planned, seconds, score, 0.0))
            self._next_report = seconds + 0.2
        if self._limit is not None and seconds >= self._limit:
            raise TimeoutError


def _first(runs: Sequence[_Run], low: float, high: float) -> _Run:
    """Return the first run with a score in a range: rounding, which depends on the units, must not decide."""
    return next(run for run in runs if low <= run.score <= high)


def _empty_state(d: int, most: int) -> kernels.State:
    """Allocate a state."""
    return kernels.State(
        order=np.arange(d),
        position=np.arange(d),
        parents=np.zeros((d, most), dtype=np.int64),
        count=np.zeros(d, dtype=np.int64),
        cost=np.zeros(d),
        G=np.zeros((d, d)),
        H=np.zeros((d, d)),
        r=np.ones(d),
        before=np.zeros(d, dtype=np.uint64),
        hashed=np.zeros(d, dtype=np.uint64),
        touched=np.ones(d, dtype=bool),
        active=np.ones(d, dtype=bool),
    )


def _scratch(d: int, most: int) -> kernels.Work:
    """Allocate scratch space."""
    nodes, floats = np.zeros((2, most + 1), dtype=np.int64), np.zeros((3, most + 1))
    z, g, h = np.zeros((3, d))
    return kernels.Work(
        P=nodes[0],
        size=np.zeros(1, dtype=np.int64),
        inside=np.zeros(d, dtype=bool),
        K=np.zeros((most + 1, most + 1)),
        b=floats[0],
        r=np.ones(1),
        g=g,
        h=h,
        t=floats[1],
        residual=floats[2],
        z=z,
        W=np.zeros((most + 1, d)),
        best=nodes[1],
    )
