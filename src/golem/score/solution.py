"""The result of every solver, and its progress reports."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from golem.runtime.arrays import to_numpy
from golem.runtime.types import Array
from golem.score.objective import Objective
from golem.score.regression import Regressions

if TYPE_CHECKING:
    from golem.score.noise_choice import NoiseChoice

# Relative differences between residual variances below this are rounding errors. They decide nothing: the order of the
# columns by name does.
TIE = 1e-9


class Status(Enum):
    """How a solve ended, as a sentence for the user; from good to bad.

    Examples
    --------
    >>> from golem.solvers import Status
    >>> Status.CONVERGED.is_final, Status.TIME_LIMIT.is_final
    (True, False)
    """

    CONVERGED = "Converged: the optimality conditions hold within the tolerance."
    ACYCLIC = "Converged: the weights are acyclic within the tolerance."
    COMPLETED = "Completed: all planned steps were taken."
    EXACT = "Completed: no graph has a lower score (exact search)."
    GRID = "Completed: exact search for each noise model that was tried. A better graph may exist for another one."
    AGREED = "Completed: independent starts of the search reached the same score."
    SEARCHED = "Completed: the search finished, but a better graph may exist."
    FACTORS = (
        "Completed: a short search only, because a few hidden common causes explain nearly all correlations. A better "
        "graph exists."
    )
    MAX_ITER = "Stopped: the iteration limit was reached before the tolerance. Increase max_iter."
    STALLED = "Stopped: no further step lowers the score, and the tolerance was not reached."
    NON_FINITE = "Stopped: further steps make the score infinite or undefined. The last finite weights are returned."
    TIME_LIMIT = "Stopped: the time limit was reached. The result so far is returned."
    INTERRUPTED = "Interrupted: the result so far is returned."

    @property
    def is_final(self) -> bool:
        """Whether the solver ended as planned."""
        return list(Status).index(self) <= list(Status).index(Status.FACTORS)

    @property
    def is_cut_short(self) -> bool:
        """Whether hidden factors, the time limit or the user ended the solve, so that no further stage may begin."""
        return self in (Status.FACTORS, Status.TIME_LIMIT, Status.INTERRUPTED)


@dataclass(frozen=True)
class TracePoint:
    """The score and its terms at one iteration.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> model = Golem("ev", solver="lbfgs").fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> sorted(model.solution_.trace[-1].terms)
    ['dag', 'h', 'l1', 'likelihood', 'score', 'sparsity']
    """

    iteration: int
    seconds: float
    terms: Mapping[str, float]


@dataclass(frozen=True)
class Progress:
    """The state of a running solve, for a progress bar.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> seen = []
    >>> _ = Golem(solver="lbfgs", callback=seen.append).fit(simulate(4, 300, "ER1", random_state=0).data)
    >>> type(seen[0]).__name__
    'Progress'
    """

    stage: str
    iteration: int
    max_iter: int
    seconds: float
    score: float
    h: float


Callback = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class Solution:
    """The outcome of a solve.

    Parameters
    ----------
    raw : array of shape (..., d, d), or Regressions
        Raw weights, before rounding, as matrices or as a list of edges.
    status : Status
        How the solve ended.
    terms : mapping of str to float
        The terms of the objective at the weights (see `Objective.terms`); arrays for a stack.
    trace : tuple of TracePoint
        The terms at earlier iterations and at the end. A search over orders records only the score on the way; with
        noise="auto", that of the search with the chosen noise model, if there was one.
    iterations : int
        Number of steps (Adam), iterations (L-BFGS) or perturbations (Order).
    seconds : float
        Wall-clock time.
    stationarity : float
        The largest violation of the optimality conditions at the weights; an array for a stack.
    statuses : tuple of Status, optional
        How each problem of a stack ended. `status` is then the worst of these.
    cut_edges : int, optional
        Number of edges that rounding removed because of cycles.
    graph_scores : mapping of str to float, optional
        Scores of the final graph that are comparable between solvers (see `golem.score.objective.graph_scores`).
    noise_choice : NoiseChoice, optional
        The noise variances that the solver chose, and why.
    rounding : float, optional
        The largest share of a variance given other columns that may be rounding error, if the solver factored the
        covariance.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> model = Golem().fit(drawn.data)
    >>> solution = model.solution_
    >>> solution.status.is_final, sorted(solution.terms)
    (True, ['dag', 'h', 'l1', 'likelihood', 'score', 'sparsity'])
    """

    raw: Array | Regressions
    status: Status
    terms: Mapping[str, float]
    trace: tuple[TracePoint, ...]
    iterations: int
    seconds: float
    stationarity: float
    statuses: tuple[Status, ...] | None = None
    cut_edges: int | None = None
    graph_scores: Mapping[str, float] | None = None
    noise_choice: NoiseChoice | None = None
    rounding: float | None = None

    @classmethod
    def of_search(
        cls,
        fit: Regressions,
        status: Status,
        terms: tuple[float, float],
        perturbations: int,
        began: float,
        trace: Sequence[TracePoint] = (),
        stage: str = "",
        callback: Callback | None = None,
        **more: Any,
    ) -> Solution:
        """Return the solution of a search over orders that `began` at a time, and report that it has ended.

        `terms` are the likelihood term and the whole score. Weights of edges with categories are NaN and count nothing.
        """
        seconds, (likelihood, score) = time.perf_counter() - began, terms
        found = {"likelihood": likelihood, "sparsity": score - likelihood, "dag": 0.0, "score": score}
        found |= {"l1": float(np.nansum(np.abs(fit.weights))), "h": 0.0}
        if callback is not None:
            try:
                callback(Progress(stage, 1, 1, seconds, score, 0.0))
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        points = (*trace, TracePoint(perturbations, seconds, found))
        # A combinatorial minimum has no gradient.
        return cls(fit, status, found, points, perturbations, seconds, stationarity=float("nan"), **more)

    @functools.cached_property
    def weights(self) -> Array:
        """Raw weights of shape (..., d, d)."""
        return self.raw.matrix if isinstance(self.raw, Regressions) else self.raw

    def split(self) -> list[Solution]:
        """Split the solution of a stack `(m, d, d)` into the solutions of its problems."""

        def part(value: Any, i: int) -> Any:
            return {name: float(values[i]) for name, values in value.items()}

        return [
            dataclasses.replace(
                self,
                raw=self.weights[i],
                status=self.status if self.statuses is None else self.statuses[i],
                statuses=None,
                terms=part(self.terms, i),
                trace=tuple(dataclasses.replace(point, terms=part(point.terms, i)) for point in self.trace),
                stationarity=float(np.asarray(self.stationarity)[i]),
            )
            for i in range(len(self.weights))
        ]


class Recorder:
    """Keeps the trace and the clock of a running solve, and reports progress.

    Trace points are at fixed iterations, so that equal runs have equal traces. Callbacks are made at most five times
    per second and take at most a few per cent of the time. `earlier` is the record of a call that was stopped.
    """

    def __init__(
        self,
        objective: Objective,
        max_iter: int,
        time_limit: float | None,
        callback: Callback | None = None,
        stage: str = "",
        points: int = 200,
        spacing: int = 100,
        earlier: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self._objective, self._max_iter, self._time_limit = objective, max_iter, time_limit
        self._callback, self._stage = callback, stage
        # A trace point costs as much as one or two steps. Adam checks its steps at multiples of the spacing.
        self._every = spacing * max(1, max_iter // (points * spacing))
        self._start = time.perf_counter()
        self._trace = _trace_from(earlier or {})
        self._before = float(earlier["seconds"]) if earlier else 0.0
        self._next_call = self._before

    @property
    def seconds(self) -> float:
        """Seconds that the solve has taken, also in earlier calls."""
        return self._before + time.perf_counter() - self._start

    def out_of_time(self) -> bool:
        """Return whether the time limit of this call has passed."""
        return self._time_limit is not None and self.seconds - self._before >= self._time_limit

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the trace and the clock as arrays, for the `earlier` of a recorder that continues this one."""
        return _trace_arrays(self._trace) | {"seconds": np.array(self.seconds)}

    def observe(self, iteration: int, B: Array) -> None:
        """Record the state at the start of an iteration, if it is due."""
        due = iteration % self._every == 0
        calling = self._callback is not None and self.seconds >= self._next_call
        if not (due or calling):
            return
        began = self.seconds
        terms = _as_numbers(self._objective.terms(B))
        if due:
            self._trace.append(TracePoint(iteration, began, terms))
        if calling:
            self._report(iteration, self._max_iter, began, terms)
            self._next_call = self.seconds + max(0.2, 20 * (self.seconds - began))

    def _report(self, iteration: int, max_iter: int, seconds: float, terms: Mapping[str, Any]) -> None:
        if self._callback is not None:
            score, h = float(np.mean(terms["score"])), float(np.max(terms["h"]))
            self._callback(Progress(self._stage, iteration, max_iter, seconds, score, h))

    def solution(self, B: Array, status: Status | Sequence[Status], iterations: int) -> Solution:
        """Return the solution at the final weights; a stack has one status per problem."""
        statuses = None
        if not isinstance(status, Status):
            statuses, status = tuple(status), max(status, key=list(Status).index)
        terms = _as_numbers(self._objective.terms(B))
        seconds = self.seconds
        self._trace.append(TracePoint(iterations, seconds, terms))
        try:
            self._report(iterations, max(iterations, 1), seconds, terms)
        except KeyboardInterrupt:  # in the last call: the weights are there, but no further stage may begin
            status, statuses = Status.INTERRUPTED, None
        residual = self._objective.stationarity(B, self._objective.smooth_value_and_grad(B)[1])
        return Solution(
            raw=to_numpy(B),
            status=status,
            statuses=statuses,
            terms=terms,
            trace=tuple(self._trace),
            iterations=iterations,
            seconds=seconds,
            stationarity=_as_numbers({"residual": residual})["residual"],
        )


def _as_numbers(terms: Mapping[str, Array]) -> dict[str, Any]:
    """Convert the terms to floats, or to NumPy arrays for a stack of problems."""
    return {name: _plain(to_numpy(value)) for name, value in terms.items()}


def _plain(value: NDArray[Any]) -> Any:
    """Return a number for one problem, an array for a stack."""
    return float(value) if value.ndim == 0 else value


def solution_arrays(solution: Solution) -> dict[str, NDArray[Any]]:
    """Return the solution of a gradient solver as plain arrays; `solution_from` is the inverse."""
    statuses = [one.name for one in solution.statuses or ()]
    return {
        "weights": solution.weights,
        "status": np.array(solution.status.name),
        "iterations": np.array(solution.iterations),
        "seconds": np.array(solution.seconds),
        "stationarity": np.asarray(solution.stationarity),
        **({"statuses": np.array(statuses)} if statuses else {}),
        **_trace_arrays(solution.trace),
    }


def solution_from(arrays: Mapping[str, NDArray[Any]]) -> Solution:
    """Return the solution that `solution_arrays` describes; its terms are the last of the trace."""
    trace, stationarity = tuple(_trace_from(arrays)), arrays["stationarity"]
    return Solution(
        raw=arrays["weights"],
        status=Status[str(arrays["status"])],
        statuses=tuple(Status[name] for name in arrays["statuses"].tolist()) if "statuses" in arrays else None,
        terms=trace[-1].terms,
        trace=trace,
        iterations=int(arrays["iterations"]),
        seconds=float(arrays["seconds"]),
        stationarity=_plain(stationarity),
    )


def _trace_arrays(trace: Sequence[TracePoint]) -> dict[str, NDArray[Any]]:
    """Return a trace as arrays, one per term with a row per point."""
    if not trace:
        return {}
    return {
        "trace.iteration": np.array([point.iteration for point in trace]),
        "trace.seconds": np.array([point.seconds for point in trace]),
        **{f"trace.terms.{name}": np.array([point.terms[name] for point in trace]) for name in trace[0].terms},
    }


def _trace_from(arrays: Mapping[str, NDArray[Any]]) -> list[TracePoint]:
    """Undo `_trace_arrays`."""
    start = "trace.terms."
    terms = {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}
    return [
        TracePoint(int(iteration), float(seconds), {name: _plain(values[k]) for name, values in terms.items()})
        for k, (iteration, seconds) in enumerate(
            zip(arrays.get("trace.iteration", ()), arrays.get("trace.seconds", ()), strict=True)
        )
    ]
