"""Confidence: how much of a graph comes back when the data are drawn again.

The bootstrap for graphs (Friedman, Goldszmidt and Wyner 1999): draw the rows anew with replacement, learn a graph, and
do it over and over. Three things about it are ours, and docs/confidence.md has the measurements behind them.

- **A resample counts as half its rows.** An estimate from a resample varies around that of the data, which itself
  varies around the truth, each time by about 1/n: together as one from n/2 rows. A score that takes a resample for
  n rows fits the extra noise: it finds a tenth more edges than there are (the bias of Steck and Jaakkola 2003).
- **What a replicate cannot decide counts half for each direction.** Otherwise a tie-break, which is the same each
  time, would look like certainty.
- **Moments, not rows, are drawn.** Counts w of the rows turn into a covariance by one product, X' diag(w) X.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from golem.assessment.consensus import ranked_pairs
from golem.data.checks import DataWarning, require_learnable
from golem.data.inputs import read_knowledge
from golem.data.resampling import IncompleteRows, Sample, half_of, resampler
from golem.directions.equivalence_class import random_member, without_evidence
from golem.estimator.golem import Golem, is_counted, plain_model
from golem.estimator.settings import plain_number
from golem.runtime.machine import available_cores
from golem.runtime.progress import Counter
from golem.runtime.threads import interruptible_map
from golem.runtime.types import BoolMatrix, Matrix
from golem.score.likelihood import GaussianNV
from golem.score.regression import regressions
from golem.solvers import Status

# A resample that cannot be fitted, such as one in which a rare value is missing, is drawn again so often.
_MOST_DRAWS = 10
# Quantiles are taken of so many numbers at a time.
_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """How often edges came back, and between which bounds weights and effects lay.

    Parameters
    ----------
    names : tuple of str
        The variables.
    replicates, requested : int
        Graphs learned, and those asked for: fewer were learned where Ctrl-C came first.
    unit : {"rows", "shards"}
        What was drawn.
    seed : int
        The seed.
    level : float
        Share of the replicates between the bounds of an interval.
    adjacency_frequency : ndarray of shape (d, d)
        Share of the graphs that join i and j, in whatever direction. Symmetric.
    direction_frequency : ndarray of shape (d, d)
        Share of the graphs with i -> j, those that leave its direction undecided counted half: [i, j] and [j, i] add up
        to the adjacency's.
    weight_interval : ndarray of shape (2, d, d)
        Low and high percentile of the weight of i -> j over all graphs; it is 0 in a graph without that edge.
    effect_interval : ndarray of shape (2, d, d)
        The same of the total effect of i on j, (I - B)^-1: what j changes by when i is raised by 1.
    consensus : ndarray of shape (d, d), bool
        A directed acyclic graph of the adjacencies that most graphs have (`golem.assessment.consensus`).
    em : bool
        Whether rows that lack values were drawn with the others, and the moments of each resample estimated by EM.
    """

    names: tuple[str, ...]
    replicates: int
    requested: int
    unit: Literal["rows", "shards"]
    seed: int
    level: float
    adjacency_frequency: Matrix
    direction_frequency: Matrix
    weight_interval: Matrix
    effect_interval: Matrix
    consensus: BoolMatrix
    em: bool = False

    @property
    def interrupted(self) -> bool:
        """Whether it ended before all replicates were done."""
        return self.replicates < self.requested

    def __repr__(self) -> str:
        done = f"{self.replicates} of {self.requested}" if self.interrupted else str(self.replicates)
        sure = int((self.direction_frequency > 0.9).sum())
        return f"Bootstrap({done} replicates of {self.unit}; {sure} directed edges in more than 90% of them)"


@dataclass(frozen=True, eq=False)
class _Replicate:
    """What is kept of one graph."""

    graph: BoolMatrix
    undecided: BoolMatrix
    edges: tuple[NDArray[np.intp], ...]
    weights: NDArray[np.float64]
    effects: NDArray[np.float32]
    finished: bool


def bootstrap(
    model: Golem,
    data: Any,
    replicates: int = 100,
    *,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    callback: Counter | None = None,
) -> Bootstrap:
    """Learn graphs from resampled data, and tell what they agree on.

    Every replicate is a fit with the model's own settings: its noise model, chosen anew where it is "auto", its
    penalties and its knowledge. Searches over orders are made at effort="fast" where the model does not say
    otherwise, from a start of their own: the fitted graph would be a start in its own favour. A frequency says how
    stable an edge is under the sampling of rows; it cannot see what is wrong in each replicate alike, such as hidden
    common causes or a noise model that does not hold.

    Parameters
    ----------
    model : Golem or a fitted GolemCV
        Settings; a Golem need not be fitted, and is not changed. Of a GolemCV it is the model at its choice.
    data : array, DataFrame (pandas, Polars), PyArrow table, or list of Moments
        Rows; or the moments of shards of them (`golem.readers.shards_from_file`), which are then drawn as blocks.
        Columns are those of the fitted model by name; by place where either has no names.
        What is done about missing values is what the model says; with missing="em" incomplete rows are drawn as they
        are, and EM is run on each resample.
    replicates : int
        How many graphs.
    level : float
        Share of the replicates between the bounds of an interval.
    random_state : int, Generator or None
        Seed, 0 by default. The answer depends on it and not on `n_jobs`.
    n_jobs : int, optional
        Threads, by default one a core.
    callback : callable, optional
        Called with the number of replicates done and wanted.

    Raises
    ------
    ValueError
        If the data or the settings do not allow it.
    KeyboardInterrupt
        If Ctrl-C comes before the first replicate is done; later it ends the work, and what was done is returned.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, n=300, graph="ER1", random_state=1)
    >>> result = bootstrap(Golem(noise="ev"), drawn.data, replicates=20)
    >>> result.direction_frequency[drawn.sem.adjacency].min() > 0.9
    np.True_
    >>> bool((result.consensus == drawn.sem.adjacency).all())
    True
    """
    model = plain_model(model)
    _require_sensible(model, replicates, level, n_jobs)
    source = resampler(data, model.missing, model.moments_.names if hasattr(model, "moments_") else None)
    # Whoever fitted the model has had its warnings.
    with _without_warnings() if hasattr(model, "moments_") else contextlib.nullcontext():
        require_learnable(source.moments, uses_scale=False, stacklevel=3)
    seed = (
        int(random_state.integers(2**31)) if isinstance(random_state, np.random.Generator) else int(random_state or 0)
    )
    work = _Work(model, source, seed)
    with _without_warnings():
        done = work.run(replicates, n_jobs or available_cores(), callback)
    if not done:
        raise KeyboardInterrupt
    unfinished = sum(not one.finished for one in done)
    if unfinished:
        warnings.warn(
            f"{unfinished} of {len(done)} replicates ended at their time limit or iteration limit",
            ConvergenceWarning,
            stacklevel=2,
        )
    return _summary(done, source, int(replicates), seed, float(level))


def _require_sensible(model: Golem, replicates: int, level: float, n_jobs: int | None) -> None:
    """Raise where the numbers or the settings make no sense."""
    if replicates != int(replicates) or replicates < 1:
        raise ValueError(f"the number of replicates must be a positive integer; got {replicates}")
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval lies between 0 and 1; got {level}")
    if n_jobs is not None and n_jobs < 1:
        raise ValueError(f"n_jobs must be positive; got {n_jobs}")
    if model.cycles == "none":
        raise ValueError("cycles='none' may leave cycles, and their total effects mean nothing; choose another removal")
    model.check_settings()


class _Replica(Golem):
    """A fit of which the graph alone is wanted.

    Where a search over orders lets the noise variances decide directions, how sure they are shows in the replicates
    themselves. Where the variances are free, members of an equivalence class fit exactly alike, and the one shown is a
    tie-break; and a descent stays with the member that it comes to first.
    """

    def _explain(self, open_directions: BoolMatrix) -> None:
        if is_counted(self) and not isinstance(self.likelihood_, GaussianNV):
            self.undecided_ = np.zeros_like(open_directions)
        else:
            S, n = self.moments_.covariance, self.moments_.n
            self.undecided_ = without_evidence(self.adjacency_, S, n, self.likelihood_, open_directions)


class _Work:
    """The replicates, each from its own seed, over threads."""

    def __init__(self, model: Golem, source: Sample, seed: int) -> None:
        self.source, self.seed = source, seed
        self._stop = threading.Event()
        searched = model.solver == "order" and model.noise != "ev" and model.effort is None
        # Not a clone: that would copy masks and callbacks, and for each replicate. Names become masks once for all.
        known = read_knowledge(model.knowledge, source.moments.names)
        self._settings = model.get_params(deep=False) | {"callback": self._obey, "knowledge": known}
        if searched:
            self._settings["effort"] = "fast"
        penalty = plain_number(model.lambda_sparsity)
        if is_counted(model) and isinstance(penalty, int | float):
            # The penalty 2 n lambda of an edge stays that of the data, which a resample of n/2 rows would halve.
            n = source.moments.n
            self._settings["lambda_sparsity"] = penalty * n / half_of(n)

    def run(self, replicates: int, n_jobs: int, callback: Counter | None) -> list[_Replicate]:
        """Return the replicates that were done, in their order."""
        from threadpoolctl import threadpool_limits

        # Threads: the kernels let others run, and a process would first have to import and load them.
        done: dict[int, _Replicate] = {}
        with threadpool_limits(1), contextlib.suppress(KeyboardInterrupt):
            workers = [self._numbered] * min(n_jobs, replicates)
            with contextlib.closing(interruptible_map(workers, range(replicates), self._stop.set)) as arriving:
                for count, (k, replicate) in enumerate(arriving, start=1):
                    if replicate is not None:
                        done[k] = replicate
                    if callback is not None:
                        callback(count, replicates)
        return [done[k] for k in sorted(done)]

    def _numbered(self, k: int) -> tuple[int, _Replicate | None]:
        """Do a replicate, and say which."""
        return k, self._replicate(k)

    def _obey(self, _: Any) -> None:
        """End a search when the user wants it; solvers take it for a Ctrl-C of their own."""
        if self._stop.is_set():
            raise KeyboardInterrupt

    def _replicate(self, k: int) -> _Replicate | None:
        """Draw, fit and keep what is needed; None where it was interrupted."""
        rng = np.random.default_rng([self.seed, k])
        try:
            model = self._fit(rng)
        except KeyboardInterrupt:
            return None
        status = model.solution_.status
        if status is Status.INTERRUPTED:
            return None
        graph, undecided, B = model.adjacency_, model.undecided_, model.weights_
        if undecided.any():
            # Weights and effects of a tie-break that is always the same would look certain.
            member = random_member(graph, undecided, rng)
            B = np.where((member == graph).all(axis=0), B, regressions(member, model.moments_.covariance).matrix)
        edges = np.nonzero(B)
        effects = np.linalg.inv(np.eye(len(B)) - B)
        np.fill_diagonal(effects, 0.0)
        return _Replicate(graph, undecided, edges, B[edges], effects.astype(np.float32), status.is_final)

    def _fit(self, rng: np.random.Generator) -> Golem:
        """Fit a resample that can be fitted."""
        for draw in range(1, _MOST_DRAWS + 1):
            try:
                moments = self.source.draw(rng)
                settings = self._settings | {"random_state": int(rng.integers(2**31))}
                return _Replica(**settings).fit(moments)
            except ValueError as error:
                if draw == _MOST_DRAWS:
                    raise ValueError(
                        "resampled rows cannot be fitted, as happens where rows are few or a column hardly varies; in "
                        f"one of the resamples, {error}"
                    ) from None
        raise AssertionError


def _summary(done: Sequence[_Replicate], source: Sample, requested: int, seed: int, level: float) -> Bootstrap:
    """Turn replicates into frequencies, intervals and a consensus."""
    d, count = source.moments.d, len(done)
    shown, half = np.zeros((d, d)), np.zeros((d, d))
    for one in done:
        shown += one.graph
        half += one.undecided
    direction = (shown - half / 2 + half.T / 2) / count
    adjacency = (shown + shown.T) / count
    tails = (1 - level) / 2, (1 + level) / 2
    return Bootstrap(
        source.moments.names,
        count,
        requested,
        source.unit,
        seed,
        level,
        adjacency,
        direction,
        _weight_interval(done, d, tails),
        _effect_interval(done, d, tails),
        ranked_pairs(adjacency, direction, shown),
        isinstance(source, IncompleteRows),
    )


def _weight_interval(done: Sequence[_Replicate], d: int, tails: tuple[float, float]) -> Matrix:
    """Percentiles of the weights, of the pairs that are joined somewhere; those of all others are 0."""
    seen = np.zeros((d, d), dtype=bool)
    for one in done:
        seen[one.edges] = True
    place = np.cumsum(seen).reshape(d, d) - 1
    values = np.zeros((len(done), int(seen.sum())))
    for row, one in zip(values, done, strict=True):
        row[place[one.edges]] = one.weights
    interval = np.zeros((2, d, d))
    interval[:, seen] = np.quantile(values, tails, axis=0)
    return interval


def _effect_interval(done: Sequence[_Replicate], d: int, tails: tuple[float, float]) -> Matrix:
    """Percentiles of the total effects, a block of causes at a time."""
    interval = np.zeros((2, d, d))
    step = max(1, _BLOCK // (d * len(done)))
    for first in range(0, d, step):
        block = slice(first, first + step)
        values = np.stack([one.effects[block] for one in done]).astype(float)
        interval[:, block] = np.quantile(values, tails, axis=0)
    return interval


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence, around the threads, what has been said of the data as a whole and would be said of each resample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
