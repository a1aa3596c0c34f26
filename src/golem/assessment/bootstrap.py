"""The bootstrap for graphs (Friedman, Goldszmidt and Wyner 1999): resample the rows, learn a graph, and repeat.

Every replicate is an ordinary fit, with the same rule for claims of directions. Three things differ from the usual
bootstrap; benchmarks/confidence.md measures their effect.

- **A resample counts as half its rows.** An estimate from a resample varies around that of the data, which varies
  around the truth, each by about 1/n: together like an estimate from n/2 rows. A score that counts n rows fits the
  extra noise and finds a tenth too many edges (the bias of Steck and Jaakkola 2003).
- **An undecided edge counts half for each direction.** A tie-break, which is always the same, would look certain.
- **Moments, not rows, are drawn.** Counts w of the rows become a covariance by one product, X' diag(w) X.

Of tables with categories, random halves of the rows are drawn instead (`golem.data.resampling`).
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from golem.assessment.bootstrap_result import Bootstrap, Replicate, summarize
from golem.data.checks import DataWarning
from golem.data.inputs import table_knowledge
from golem.data.moments import Moments
from golem.data.resampling import half_of, row_sample
from golem.data.table import Table
from golem.data.table_checks import check_table
from golem.data.table_reading import Targets, read_table
from golem.directions.by_shape import standardized_rows, why_unusable
from golem.directions.equivalence_class import random_member
from golem.directions.learned_graph import known
from golem.estimator.direction_check import fitted_series
from golem.estimator.golem import Golem, plain_model
from golem.estimator.settings import is_counted, plain_number
from golem.graphs.edges import Edges
from golem.model.linear_sem import total_effects
from golem.runtime.machine import available_cores
from golem.runtime.messages import warn_user
from golem.runtime.problems import names_remedies
from golem.runtime.progress import Counter
from golem.runtime.threads import in_parallel
from golem.score.solution import Status
from golem.score.table_score import score_of

# A resample that cannot be fitted, for example because a rare value is missing, is drawn again up to this often.
_MOST_DRAWS = 10


@names_remedies
def bootstrap(
    model: Golem,
    data: Any,
    replicates: int = 100,
    *,
    environments: Any = None,
    targets: Targets | None = None,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    callback: Counter | None = None,
    partial: Callable[[Bootstrap], None] | None = None,
) -> Bootstrap:
    """Learn graphs from resampled data, and return how often they agree.

    Every replicate is a fit with the settings of the model: its penalties, its knowledge and its noise model, which is
    chosen anew for "auto". It claims directions as any fit does, from the resampled rows; a direction that it leaves
    undecided counts half. Searches over orders use effort="fast" unless the model has an effort of its own, and do not
    start from the fitted graph, which would favour it. A frequency says how stable an edge is when rows are resampled.
    It cannot show what is wrong in every replicate, such as hidden common causes or a wrong noise model.

    Parameters
    ----------
    model : Golem or a fitted GolemCV
        Settings. A Golem need not be fitted, and is not changed. Of a GolemCV, its chosen model is used.
    data : array, DataFrame (pandas, Polars), PyArrow table, or list of Moments
        Rows; or the moments of shards of rows (`golem.readers.shards_from_file`), which are then resampled as blocks.
        Columns are matched with the fitted model by name, or by position if either has no names.
        Missing values are treated as the model says; with missing="em" incomplete rows are resampled too, and EM runs
        on each resample.
    replicates : int
        Number of graphs.
    environments, targets
        As for `Golem.fit`; the rows of each environment are resampled by themselves. Targets are by default those of
        the fitted model.
    level : float
        Share of the replicates between the bounds of an interval.
    random_state : int, Generator or None
        Seed, 0 by default. The result does not depend on `n_jobs`.
    n_jobs : int, optional
        Threads, by default one per core.
    callback : callable, optional
        Called with the numbers of replicates done and requested.
    partial : callable, optional
        Called with the result so far whenever another tenth of the replicates is done.

    Raises
    ------
    ValueError
        If the data or the settings do not allow it.
    KeyboardInterrupt
        If Ctrl-C comes before the first replicate is done. Later, the replicates done so far are returned.

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
    # A fitted model has given its warnings already.
    with _without_warnings() if hasattr(model, "moments_") else contextlib.nullcontext():
        source = _source(model, data, environments, targets)
        check_table(source, uses_scale=False, bounded=False)
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    seed = int(random_state or 0)

    def arrived(done: Mapping[int, Replicate]) -> None:
        if callback is not None:
            callback(len(done), int(replicates))
        if partial is not None and len(done) % max(1, int(replicates) // 10) == 0:
            partial(summarize(_in_order(done), source, int(replicates), seed, float(level)))

    with _without_warnings():
        done = _replicated(model, source, seed, int(replicates), n_jobs or available_cores(), arrived)
    if not done:
        raise KeyboardInterrupt
    unfinished = sum(not one.finished for one in done)
    if unfinished:
        message = f"{unfinished} of {len(done)} replicates ended at their time limit or iteration limit"
        warn_user(message, ConvergenceWarning)
    return summarize(done, source, int(replicates), seed, float(level))


def _source(model: Golem, data: Any, environments: Any, targets: Targets | None) -> Table:
    """Return what to draw from, with the columns in the order of a fitted model."""
    if isinstance(data, Moments):
        raise ValueError(
            "bootstrap needs the rows; Moments contain only means and covariances. Pass the table, or a list of "
            "Moments of parts of the rows (golem.readers.shards_from_file)."
        )
    fitted: Table | None = getattr(model, "table_", None)
    names = None if fitted is None else fitted.names
    if fitted is not None and targets is None and not isinstance(data, Table):
        targets = {part.label: fitted.named_targets[part.label] for part in fitted.environments} or None
    robust = model.settings.robust_moments if fitted is None else "ranks" if fitted.is_ranked else "off"
    how: dict[str, Any] = {"missing": model.missing, "robust": robust, "names": names}
    how["series"] = fitted_series(model)
    table = read_table(data, environments=environments, targets=targets, **how)
    table.require_resampling()
    return table


def _require_sensible(model: Golem, replicates: int, level: float, n_jobs: int | None) -> None:
    """Raise a ValueError if a number or a setting does not allow a bootstrap."""
    if replicates != int(replicates) or replicates < 1:
        raise ValueError(f"The number of replicates must be a positive integer; got {replicates}.")
    if not 0 < level < 1:
        raise ValueError(f"The level of an interval must be between 0 and 1; got {level}.")
    if n_jobs is not None and n_jobs < 1:
        raise ValueError(f"n_jobs must be positive; got {n_jobs}.")
    if model.cycles == "none":
        raise ValueError("cycles='none' may leave cycles, which have no total effects. Use cycles='paper' or 'gentle'.")
    model.check_settings()


def _replicate_settings(model: Golem, source: Table) -> dict[str, Any]:
    """Return the settings that all replicates share; a clone per replicate would copy masks and callbacks."""
    masks = table_knowledge(model.knowledge, source)
    settings: dict[str, Any] = model.get_params(deep=False) | {"knowledge": masks, "robust": "off"}  # `source` has it
    del settings["random_state"]
    settings["evidence"] = "fast"  # replicates are themselves a check of the directions
    score = score_of(source, model.settings.score_settings)
    settings["score_function"] = score.name  # a half that lacks a level must not choose another one
    if model.solver == "order" and model.noise != "ev" and model.effort is None:
        settings["effort"] = "fast"
    units = source.parts[0].units
    by_shape = model.settings.uses_shape and "shape" in score.evidence()
    rows = units.rows(row_sample(len(units))) if by_shape else None
    if rows is not None and why_unusable(standardized_rows(rows), source.past):
        settings["shape"] = "off"  # a resample does not show that rows depend on each other
    penalty = plain_number(model.lambda_sparsity)
    if is_counted(model) and isinstance(penalty, int | float):
        # Keep the penalty per edge, 2 n lambda, of all rows; a resample of n/2 rows would halve it.
        n = source.n
        settings["lambda_sparsity"] = penalty * n / half_of(n)
    return settings


class _Stop:
    """Ends the searches of replicates after Ctrl-C: solvers treat it like their own KeyboardInterrupt.

    It reaches the threads of this process. A copy that is sent elsewhere ends nothing.
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """End the searches."""
        self._event.set()

    def __call__(self, _: Any) -> None:
        if self._event.is_set():
            raise KeyboardInterrupt

    def __reduce__(self) -> tuple[type[_Stop], tuple[()]]:
        return _Stop, ()


@dataclass(frozen=True, eq=False)
class _Replicates:
    """The replicates, each with its own seed."""

    source: Table
    settings: Mapping[str, Any]
    seed: int

    def __call__(self, k: int) -> Replicate | None:
        """Draw and fit replicate k; return None if it was interrupted."""
        rng = np.random.default_rng([self.seed, k])
        try:
            model = self._fit(rng)
        except KeyboardInterrupt:
            return None
        status, score = model.solution_.status, model.fit_.score
        if status is Status.INTERRUPTED:
            return None
        learned = model.graph_
        graph, B = learned.matrix(), learned.matrix(learned.weights)
        undecided = learned.matrix(learned.directed_by("none"))
        if undecided.any():
            # A tie-break that is always the same would make weights and effects look certain.
            member = random_member(graph, undecided & learned.partially_directed(known(learned.reversible)).T, rng)
            B = np.where((member == graph).all(axis=0), B, score.refit(Edges.from_matrix(member).by_child()).matrix)
        edges, effects = np.nonzero(B), total_effects(B)
        return Replicate(graph, undecided, edges, B[edges], effects.astype(np.float32), status.is_final)

    def _fit(self, rng: np.random.Generator) -> Golem:
        """Draw until a resample can be fitted, and fit it."""
        for _ in range(_MOST_DRAWS):
            try:
                table = self.source.draw(rng)
                return Golem(**self.settings, random_state=int(rng.integers(2**31))).fit(table)
            except ValueError as error:
                reason = error
        raise ValueError(
            "Resampled rows cannot be fitted, which happens if there are few rows or a column hardly varies. In one "
            f"resample: {reason}"
        )


def _replicated(
    model: Golem,
    source: Table,
    seed: int,
    replicates: int,
    n_jobs: int,
    arrived: Callable[[Mapping[int, Replicate]], None],
) -> list[Replicate]:
    """Return the replicates that were finished before Ctrl-C, in their order."""
    from threadpoolctl import threadpool_limits

    stop = _Stop()
    done: dict[int, Replicate] = {}
    task = _Replicates(source, _replicate_settings(model, source) | {"callback": stop}, seed)
    with threadpool_limits(1), contextlib.suppress(KeyboardInterrupt):
        arriving = in_parallel(task, range(replicates), min(n_jobs, replicates), stop.set)
        with contextlib.closing(arriving):
            for k, replicate in arriving:
                if replicate is not None:
                    done[k] = replicate
                    arrived(done)
    return _in_order(done)


def _in_order(done: Mapping[int, Replicate]) -> list[Replicate]:
    """Return replicates in the order of their numbers."""
    return [done[k] for k in sorted(done)]


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence warnings about all rows, which each resample would repeat; outside the threads, which share filters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
