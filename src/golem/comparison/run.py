"""Run several methods on one table."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from golem.comparison.method_process import MethodProcess, Outcome
from golem.comparison.other_packages import OTHER_PACKAGES, Estimate
from golem.comparison.registry import (
    CATEGORY_SCORES,
    INTERVENTIONAL,
    METHODS,
    OF_SERIES,
    PAPER_RECIPE,
    USE_CATEGORIES,
    USE_LAGS,
    complete_rows,
    needs_rows,
    require_known,
)
from golem.comparison.result import Comparison, Row, Step
from golem.data.coded_tables import counts_in_moments
from golem.data.files.table_files import Paths, listed
from golem.data.inputs import check_knowledge, read_knowledge, require_shape, table_knowledge
from golem.data.knowledge import Knowledge, NamedKnowledge, as_knowledge
from golem.data.levels import warn_of_single_rows
from golem.data.missing import MissingChoice
from golem.data.reading import Reading
from golem.data.series import LagChoice
from golem.data.series_reading import SeriesChoice
from golem.data.source import Source, open_table
from golem.data.table import Table
from golem.data.table_checks import check_table
from golem.data.table_reading import read_table
from golem.data.targets import read_targets
from golem.graphs import metrics
from golem.graphs.dag import as_adjacency
from golem.graphs.edges import Edges
from golem.graphs.formats import read_graph
from golem.graphs.named_graph import NamedGraph
from golem.output.run_record import versions
from golem.runtime.messages import quoted
from golem.runtime.problems import Parameter, ProblemError, Set, Text, message_of, names_remedies
from golem.runtime.progress import ProgressDisplay
from golem.runtime.threads import in_parallel
from golem.runtime.types import BoolMatrix
from golem.runtime.version import __version__
from golem.score.node_score import NodeScore
from golem.score.objective import graph_scores
from golem.score.regression import residual_variances
from golem.score.score_settings import ScoreSettings
from golem.score.table_score import score_of

TIME_LIMIT = 120.0


@names_remedies
def compare(
    X: Any,
    methods: str | Sequence[str] | None = None,
    *,
    truth: ArrayLike | NamedGraph | None = None,
    environments: Any = None,
    targets: Mapping[Any, Any] | None = None,
    knowledge: Knowledge | NamedKnowledge | None = None,
    missing: MissingChoice = "error",
    lags: LagChoice | None = None,
    time: Any = None,
    unit: Any = None,
    time_limit: float | None = TIME_LIMIT,
    callback: Callable[[Step], None] | None = None,
) -> Comparison:
    """Run several methods on one table and compare their graphs.

    The methods run one after the other in a child process; under `joblib.parallel_config` they run where it says, such
    as on a Dask cluster. If one fails, crashes or exceeds its time limit, its row says so, and the others still run.
    Ctrl-C ends the comparison and keeps the results so far.

    Parameters
    ----------
    X : array, DataFrame (pandas, Polars), PyArrow table or Moments
        Data of shape (n, d). Methods that need rows cannot use Moments. A table with categories is for `order` and the
        scores of golem (order-mixed, order-bdeu, order-discrete-bic). All its graphs are compared by the score that
        `order` chooses.
    methods : str or sequence of str, optional
        Names of methods (docs/compare.md lists them); by default all that are installed and can use the table, except
        the paper's recipe ("golem-ev", "golem-nv"), which takes minutes.
    truth : array of shape (d, d), NamedGraph or DataFrame, optional
        The true graph, as edges or weights [i, j] for i -> j. Columns that it does not name are isolated in it; it must
        not name other variables.
    environments : str or sequence of n labels, optional
        The experiment that each row comes from, or the name of the column of X with these labels; see `Golem.fit`. Only
        the methods for experiments (docs/interventions.md), which then run by default, and `order`, which is then
        order-soft, can use them.
    targets : mapping of label to columns, optional
        The columns that each experiment changed; [] for observational data.
    knowledge : Knowledge or NamedKnowledge, optional
        Forbidden and required edges and tiers. Methods that cannot use them do not run, and their rows say so.
    missing : {"error", "drop", "em"}
        Treatment of missing values, for all methods. With "em", methods that need rows do not run.
    time_limit : float, optional
        Time limit per method, in seconds; None for no limit.
    callback : callable, optional
        Called with a `Step` a few times per second, while a method runs in this process or its threads.

    Raises
    ------
    ValueError
        If no graph can be learned from the data, the truth is not a DAG over the columns, the knowledge names an
        unknown column, or a method is unknown.

    Examples
    --------
    >>> from golem.simulate import simulate
    >>> drawn = simulate(5, n=500, graph="ER1", random_state=1)
    >>> comparison = compare(drawn.data, ["sort-regress-var", "notears-l1"], truth=drawn.sem.adjacency)
    >>> [(row.method, row.edges, row.shd) for row in comparison.rows]
    [('sort-regress-var', 6, 0.0), ('notears-l1', 6, 0.0)]
    """
    chosen = [methods] if isinstance(methods, str) else methods
    names = [] if chosen is None else list(dict.fromkeys(chosen))
    require_known(names)
    if time_limit is not None and not time_limit > 0:
        raise ProblemError(Parameter("time_limit"), f" must be positive; got {time_limit}.")
    if isinstance(X, str | Path):
        raise ValueError(f"X must be a table or Moments; got the path {str(X)!r}. Use compare_file for files.")
    series = SeriesChoice(lags, time, unit)
    table, warned = _read(X, environments, targets, missing, series)
    variables, score = table.names, score_of(table, ScoreSettings(missing=missing))
    left_out: dict[str, tuple[str, ...]] = {}
    if chosen is None:
        names, left_out = _suited(table, score)
    true_graph = None if truth is None else _true_graph(truth, variables)
    unnamed = [name for name in variables if name not in truth.names] if isinstance(truth, NamedGraph) else []
    if unnamed:
        warned[f"The truth does not name the columns {quoted(unnamed)}; they count as isolated there."] = ()
    masks = read_knowledge(None, variables) if knowledge is None else table_knowledge(knowledge, table)
    found: list[Row] = []
    estimates: dict[str, Estimate] = {}
    with MethodProcess((table, masks), names, time_limit, callback) as process:
        outcomes = _outcomes(process, names)
    for name in names:
        outcome = outcomes[name]
        for warning in outcome.warnings:
            warned[warning] = (*warned.get(warning, ()), name)
        row = _row(name, outcome, true_graph, classes=not table.lags.any())
        if outcome.estimate is not None:
            estimates[name] = outcome.estimate
            row = _with_scores(row, outcome.estimate, score, true_graph)
        found.append(row)
    # Knowledge by name keeps its tiers.
    known = as_knowledge(knowledge)
    by_name = known.expanded(variables) if isinstance(known, NamedKnowledge) else masks.by_name(variables)
    settings = {
        "n": table.moments().rows,
        "missing": missing,
        "targets": table.named_targets if table.environments else None,
        "score": None if score.name == "gaussian" else score.name,
        "time_limit": None if time_limit is None else float(time_limit),
        "knowledge": None if masks.is_empty else by_name.document(),
        "versions": {"golem": __version__} | versions() | _package_versions(names),
    }
    return Comparison(variables, tuple(found), estimates, true_graph, warned, settings, left_out)


def compare_file(
    path: Paths,
    methods: str | Sequence[str] | None = None,
    *,
    truth: str | Path | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    na: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    covariance: bool = False,
    rows: int | None = None,
    drop_dependent: bool = False,
    environment: str | None = None,
    targets: Mapping[Any, Any] | str | Path | None = None,
    lags: LagChoice | None = None,
    time: str | None = None,
    unit: str | None = None,
    progress: ProgressDisplay | None = None,
    **options: Any,
) -> Comparison:
    """Run several methods on a table in a file, with the truth in another file; see `compare` and `golem.fit_file`.

    `environment` is the column that says from which experiment each row comes, and `targets` are the columns that each
    experiment changed, or a JSON file with them. `progress` gets a summary of the table.

    Raises
    ------
    ValueError
        If a file cannot be read, or the truth or the knowledge names variables that are not in the table.

    Examples
    --------
    >>> from golem.comparison import compare_file
    >>> result = compare_file("data.csv", ["order", "fgs"], truth="truth.csv")  # doctest: +SKIP
    >>> [(row.method, row.shd) for row in result.rows]  # doctest: +SKIP
    [('order', 0.0), ('fgs', 0.0)]
    """
    known = read_targets(targets) if isinstance(targets, str | Path) else targets
    reading = Reading(columns, drop, header, na, categorical, numeric, covariance, rows, environment)
    series, progress = SeriesChoice(lags, time, unit), progress or ProgressDisplay()
    series.check()
    paths = [str(one) for one in listed(path)]
    source = open_table(paths, reading, drop_dependent, options.get("missing", "error"), progress, known, series)
    return compare_source(source, methods, truth, progress, **options)


def compare_source(
    source: Source,
    methods: str | Sequence[str] | None,
    truth: str | Path | None,
    progress: ProgressDisplay,
    **options: Any,
) -> Comparison:
    """Run several methods on the table of opened files; see `compare_file`."""
    missing = options.get("missing", "error")
    if not source.series:
        check_knowledge(options.get("knowledge"), source.names)
    graph = None
    if truth is not None:
        graph = read_graph(truth)
        try:
            if not source.series:
                graph.aligned(source.names)
        except ValueError as error:
            found = str(error).removesuffix(".")
            raise ValueError(f"{truth} does not match the table: {found}. Remove them from the truth.") from None
    table = source.read(missing, progress)
    warn_of_single_rows(counts_in_moments([part.moments for part in table.parts]))
    if source.summary is not None:
        source.summary.show(progress)
    return compare(table, methods, truth=graph, **options)


def _suited(table: Table, score: NodeScore) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the methods that can use a table, and the others by the reason why they cannot."""
    names, left_out = default_methods(bool(table.environments), bool(table.lags.any())), {}
    if table.coding.categories:
        left_out["they need numbers, and this table has categories"] = [n for n in names if n not in USE_CATEGORIES]
        usable = [name for name in CATEGORY_SCORES if table.coding.is_discrete or name == "mixed"]
        # `order` stands for the score that it chooses.
        names = ["order", *(f"order-{name}" for name in usable if name != score.name and not table.environments)]
    if complete_rows(table) is None and not table.environments:
        complete = Text("they need complete rows (use ", Set("missing", "drop"), ")")
        need = complete if table.is_incomplete else "they need rows"
        left_out[need] = [name for name in names if needs_rows(name)]
        names = [name for name in names if not needs_rows(name)]
    return names, {reason: tuple(found) for reason, found in left_out.items() if found}


def default_methods(with_environments: bool = False, with_lags: bool = False) -> list[str]:
    """Return the installed methods for tables of numbers, without the paper's recipe, which takes minutes."""
    if with_lags:
        return [name for name in USE_LAGS if name not in OTHER_PACKAGES or OTHER_PACKAGES[name].is_installed]
    by_score = [f"order-{score}" for score in CATEGORY_SCORES]
    installed = [*METHODS, *(name for name, other in OTHER_PACKAGES.items() if other.is_installed)]
    suited = [name for name in installed if (name in INTERVENTIONAL) == with_environments]
    return [name for name in suited if name not in (*PAPER_RECIPE, *by_score, *OF_SERIES)]


def packages_not_installed(with_environments: bool = False, with_lags: bool = False) -> dict[str, str]:
    """Return the methods for the data that are not installed, with the command that installs them."""
    missing = {name: other.install for name, other in OTHER_PACKAGES.items() if not other.is_installed}
    missing = {name: command for name, command in missing.items() if (name in OF_SERIES) == with_lags}
    return {name: command for name, command in missing.items() if (name in INTERVENTIONAL) == with_environments}


def _read(
    X: Any, environments: Any, targets: Mapping[Any, Any] | None, missing: MissingChoice, series: SeriesChoice
) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """Return the table, and the warnings about it; raise a ValueError if no graph can be learned from it."""
    series.check()
    table = read_table(X, environments=environments, targets=targets, missing=missing, series=series)
    rows = complete_rows(table)
    table = table.without_rows()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # A hard target may be constant in its environment; a soft method then says so itself.
        check_table(table, uses_scale=False, bounded=False, intervention="hard")
    found = [message_of(warning.message) for warning in caught]
    if table.missing is not None and table.missing.cells:
        found.append(table.missing.sentence)
    if rows is not None:  # methods run in another process, which cannot read files again
        table = replace(table, parts=tuple(replace(p, rows=own) for p, own in zip(table.parts, rows, strict=True)))
    return table, dict.fromkeys(found, ())


def _package_versions(methods: Sequence[str]) -> dict[str, str]:
    """Return the versions of the other packages that the methods use."""
    found = {}
    for package in sorted({OTHER_PACKAGES[name].package for name in methods if name in OTHER_PACKAGES}):
        # A package that is not installed, or only on the path, has no version.
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def _outcomes(process: MethodProcess, names: Sequence[str]) -> dict[str, Outcome]:
    """Run the methods, one after the other or where `joblib.parallel_config` says, up to Ctrl-C."""
    found: dict[str, Outcome] = {}
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(in_parallel(process.run, names)) as arriving:
        for name, outcome in arriving:
            found[name] = outcome
    left = [name for name in names if name not in found]
    return found | {name: Outcome("interrupted" if name == left[0] else "not run") for name in left}


def _true_graph(truth: Any, names: tuple[str, ...]) -> BoolMatrix:
    """Return the true graph over these columns, matched by name if it has names."""
    if isinstance(truth, NamedGraph):
        truth = truth.aligned(names)
    elif hasattr(truth, "columns") and hasattr(truth, "reindex"):  # a pandas table of weights
        labels = tuple(map(str, truth.columns))
        if labels != tuple(map(str, truth.index)):
            raise ValueError("The rows and columns of the true graph have different labels.")
        if labels != tuple(map(str, range(len(labels)))):
            truth = NamedGraph.from_weights(np.asarray(truth, dtype=float), labels).aligned(names)
    require_shape(as_adjacency(truth), len(names), "the true graph")
    return metrics.as_truth(truth, names)


def _row(name: str, outcome: Outcome, truth: BoolMatrix | None, classes: bool = True) -> Row:
    """Return the row of a method, with the number of edges and the distances to the truth, and of `classes`."""
    row = Row(name, seconds=outcome.seconds, status=outcome.status, message=outcome.message)
    estimate = outcome.estimate
    if estimate is None:
        return row
    graph = estimate.graph
    row = replace(row, edges=int(np.sum(np.triu(graph | graph.T)) if estimate.is_class else graph.sum()))
    if truth is None:
        return row
    scored = metrics.evaluate(truth, graph, cpdag=estimate.is_class)
    kinds = ("shd", "shd_c", "sid", "tpr") if classes else ("shd", "tpr")
    numbers: dict[str, Any] = {key: getattr(scored, key) for key in kinds}
    numbers = {key: None if math.isnan(value) else value for key, value in numbers.items()}
    return replace(row, **numbers)


def _with_scores(row: Row, estimate: Estimate, score: NodeScore, truth: BoolMatrix | None) -> Row:
    """Add the score of a table with categories, or the BIC and the scores of the paper, as far as they exist."""
    member = estimate.member
    if member is None:
        return row
    if score.table.environments and truth is not None:
        # Classes are compared also if experiments direct further edges of an estimated class.
        row = replace(row, shd_c=metrics.shd_c(truth, member))
    if score.name != "gaussian":
        return replace(row, score=score.total(member))
    bic = score.bic(Edges.from_matrix(member).by_child())
    if bic is None or estimate.weights is None:
        return replace(row, bic=bic)
    moments = score.table.moments()
    scores = graph_scores(estimate.weights, residual_variances(estimate.weights, moments.covariance), moments.n)
    return replace(row, bic=bic, score_ev=scores["paper_score_ev"], score_nv=scores["paper_score_nv"])
