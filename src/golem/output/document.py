"""The graph document of a fitted model: the content of graph.json, the report and the summary in the terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from golem.assessment.bootstrap_result import Bootstrap
from golem.assessment.diagnostics import Diagnosis
from golem.assessment.diagnostics.edges import listed_drop_losses
from golem.assessment.next_experiment import next_experiment
from golem.assessment.selection import Selection
from golem.data.missing import Missing
from golem.data.table_summary import TableSummary
from golem.estimator.golem import Golem
from golem.estimator.learned_graph import LearnedGraph, has_categories
from golem.estimator.settings import is_counted
from golem.gradient.paper_recipe import NOISE_MODELS
from golem.graphs.graph_document import (
    BootstrapRecord,
    CandidateRecord,
    CoefficientRecord,
    FindingRecord,
    GraphDocument,
    NoiseRecord,
    SelectionRecord,
    SourceRecord,
    StatusRecord,
    TableRecord,
    TraceRecord,
    VariableRecord,
    sparse,
)
from golem.output.environment_document import (
    FREE_NOISE,
    column_variances,
    data_fingerprint,
    environment_records,
    weight_errors,
)
from golem.output.settings_document import plain, settings, versions
from golem.runtime.messages import quoted
from golem.runtime.types import BoolVector
from golem.runtime.version import __version__
from golem.score.objective import graph_bic
from golem.score.regression import Regressions, weighted_edges
from golem.score.solution import Status, TracePoint

# Points of the trace in graph.json.
_MOST_POINTS = 200
# Rows of the ranking of experiments in graph.json.
_MOST_EXPERIMENTS = 20


@dataclasses.dataclass(frozen=True)
class Edge:
    """One edge of a fitted model; the last six fields are None without a bootstrap.

    An edge with a category at one of its ends has no weight. `edge_strength`, how much the deviance
    rises without the edge, is known for tables with categories.
    `standard_error` is that of least squares with the graph as given; None if the weights are not least squares.
    `direction_from` is what the direction rests on, a key of `DIRECTIONS`; None if the graph has a cycle. Its strength
    and p-value (`direction_error_rate`) are those of `golem.directions.decisions.EdgeRecord`.
    """

    source: str
    target: str
    weight: float | None
    standardized_weight: float | None
    standard_error: float | None
    undecided: bool
    by_variance: bool
    drop_loss: float | None
    direction_from: str | None
    direction_strength: float | None
    direction_error_rate: float | None
    edge_strength: float | None
    adjacency_frequency: float | None = None
    direction_frequency: float | None = None
    weight_low: float | None = None
    weight_high: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None


FROM_BOOTSTRAP = [field.name for field in dataclasses.fields(Edge) if field.default is None]
# What a direction can rest on, in the words of tables and pages.
DIRECTIONS = {
    "structure": "",
    "variances": "by variance",
    "shape": "by shape",
    "knowledge": "by knowledge",
    "interventions": "by intervention",
    "none": "undecided",
}


# What each score is, in the words of tables and pages.
SCORES = {
    "gaussian": "Gaussian score for numbers",
    "mixed": "score for mixed tables (degenerate Gaussian)",
    "bdeu": "BDeu score for categories, with an equivalent sample size of 1",
    "discrete-bic": "BIC for categories",
}


@dataclasses.dataclass(frozen=True)
class Supplement:
    """Optional results of a fit, to be written and shown with the model.

    Parameters
    ----------
    data : mapping, optional
        Which files were read and how, to repeat the run.
    table : TableSummary, optional
        A summary of the table.
    bootstrap : Bootstrap, optional
        What `golem.bootstrap` returned.
    diagnosis : Diagnosis, optional
        What `golem.diagnose` returned.

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> model = Golem().fit(drawn.data)
    >>> import golem
    >>> from golem.output import Supplement
    >>> Supplement(diagnosis=golem.diagnose(model)).bootstrap is None
    True
    """

    data: Mapping[str, Any] | None = None
    table: TableSummary | None = None
    bootstrap: Bootstrap | None = None
    diagnosis: Diagnosis | None = None


def list_edges(model: Golem, bootstrap: Bootstrap | None = None) -> list[Edge]:
    """List the edges of a fitted model, the strongest (by standardized weight or `edge_strength`) first.

    `drop_loss` is the loss of score without the edge, in units of the deviance (see `diagnostics.edge_loss`).

    Examples
    --------
    >>> from golem import Golem
    >>> from golem.simulate import simulate
    >>> drawn = simulate(4, 300, "ER1", random_state=0)
    >>> model = Golem().fit(drawn.data)
    >>> from golem.output import list_edges
    >>> [(edge.source, edge.target, round(edge.weight, 1)) for edge in list_edges(model)]
    [('x3', 'x2', 0.7), ('x1', 'x2', -1.5), ('x1', 'x0', -1.5), ('x0', 'x3', -0.7), ('x1', 'x3', 1.0)]
    """
    names = model.moments_.variables
    if bootstrap is not None and bootstrap.names != names:
        raise ValueError(
            f"The bootstrap has the columns {quoted(bootstrap.names)}, but the model has {quoted(names)}. Run "
            "golem.bootstrap(model, data) with the fitted model."
        )
    graph, scale = _graph(model), np.sqrt(column_variances(model))
    unknown = np.zeros(len(graph), dtype=bool)
    undecided = unknown if graph.undecided is None else graph.undecided
    by_variance = unknown if graph.by_variance is None else graph.by_variance
    # A cyclic graph has no model, and a baseline has no penalty per edge.
    losses = np.full(len(graph), np.nan) if graph.reversible is None else listed_drop_losses(model)
    standardized = graph.weights * scale[graph.causes] / scale[graph.children]
    errors = weight_errors(model, graph)
    by_ends = {(one.source, one.target): one for one in getattr(model, "edges_", ())}
    records = [by_ends.get((names[i], names[j])) for i, j in zip(graph.causes, graph.children, strict=True)]
    strengths = np.array([None if one is None else one.edge_strength for one in records], dtype=float)
    sizes = strengths if has_categories(model) else np.abs(standardized)
    found = []
    for k in np.lexsort((graph.children, graph.causes, -sizes)).tolist():
        i, j, record = int(graph.causes[k]), int(graph.children[k]), records[k]
        edge = Edge(
            source=names[i],
            target=names[j],
            weight=_number(graph.weights[k]),
            standardized_weight=_number(standardized[k]),
            standard_error=_number(errors[k]),
            undecided=bool(undecided[k]),
            by_variance=bool(by_variance[k]),
            drop_loss=_number(losses[k]),
            direction_from=None if record is None else record.direction_from,
            direction_strength=None if record is None else record.strength,
            direction_error_rate=None if record is None else record.error_rate,
            edge_strength=_number(strengths[k]),
        )
        found.append(edge if bootstrap is None else dataclasses.replace(edge, **_confidence(bootstrap, i, j)))
    return found


def _graph(model: Golem) -> LearnedGraph:
    """Return the edges of a model; those of a baseline are in its matrix of weights."""
    if hasattr(model, "graph_"):
        return model.graph_
    fit = weighted_edges(model.weights_, model.moments_.covariance)
    return LearnedGraph(fit.causes, fit.children, model.moments_.d, fit.weights, fit.residual_variances)


def _confidence(bootstrap: Bootstrap, i: int, j: int) -> dict[str, Any]:
    """Return the frequencies and intervals of the edge i -> j."""
    numbers = (
        bootstrap.adjacency_frequency[i, j],
        bootstrap.direction_frequency[i, j],
        *bootstrap.weight_interval[:, i, j],
        *bootstrap.effect_interval[:, i, j],
    )
    return dict(zip(FROM_BOOTSTRAP, map(_number, numbers), strict=True))


def _bic(model: Golem) -> float | None:
    """Return the BIC with least-squares weights and free noise variances, as `golem compare` reports it.

    A node with as many parents as rows has no residual variance, and environments have no common covariance.
    """
    graph, moments = model.adjacency_, model.moments_
    if model.environments_ is not None or graph.sum(axis=0).max() >= moments.n - 1:
        return None
    return _number(graph_bic(graph, moments.covariance, moments.n))


def describe(model: Golem, supplement: Supplement | None = None) -> GraphDocument:
    """Return the graph document of a fitted model."""
    supplement = supplement or Supplement()
    bootstrap, diagnosis, selection = supplement.bootstrap, supplement.diagnosis, getattr(model, "selection_", None)
    solution, moments, recorded = model.solution_, model.moments_, settings(model)
    sem, categories = getattr(model, "sem_", None), has_categories(model)
    gaps = model.missing_
    missing = None if gaps is None else dataclasses.asdict(gaps) | {"sentence": _missing_sentence(gaps, diagnosis)}
    noise_variances, intercepts = _parameters(model)
    graph, raw = model.graph_, solution.raw
    same = isinstance(raw, Regressions) or np.array_equal(raw, model.weights_)
    return GraphDocument(
        golem=__version__,
        n=moments.n,
        d=graph.d,
        edges=len(graph),
        undecided=_count(graph.undecided),
        by_variance=_count(graph.by_variance),
        by_shape=_count(graph.by_shape),
        by_intervention=_count(graph.by_intervention),
        shape_note=graph.shape_note or None,
        noise=None if categories else _noise(model),
        environments=environment_records(model),
        missing=missing,
        status=StatusRecord(name=solution.status.name.lower(), message=solution.status.value),
        interrupted=solution.status is Status.INTERRUPTED,
        objective=_numbers(solution.terms),
        bic=None if sem is None else _bic(model),
        cut_edges=solution.cut_edges,
        iterations=solution.iterations,
        seconds=solution.seconds,
        stationarity=_number(solution.stationarity),
        settings=recorded,
        used=used(model),
        selection=None if selection is None else _selection(selection),
        graph_scores=_numbers(solution.graph_scores or {}),
        knowledge=recorded["knowledge"],
        moments_hash=data_fingerprint(model),
        versions=versions(),
        data=None if supplement.data is None else SourceRecord(**supplement.data),
        table=msgspec.convert(supplement.table, TableRecord | None, from_attributes=True),
        bootstrap=None if bootstrap is None else _bootstrap(bootstrap),
        diagnostics=None if diagnosis is None else [FindingRecord(**row) for row in diagnosis.records()],
        next_experiment=_next_experiment(model),
        effective_rows=None if diagnosis is None else diagnosis.effective_rows,
        confidence_overstated=diagnosis is not None and diagnosis.effective_rows is not None,
        names=list(moments.variables),
        score=model.score_,
        variables=[VariableRecord(kind=v.kind, levels=[*v.levels]) for v in model.variables_] if categories else None,
        r2=[_number(1 - r) for r in graph.residual_variances / column_variances(model)],
        noise_variances=noise_variances,
        intercepts=intercepts,
        coefficients=[CoefficientRecord(**one._asdict()) for one in model.coefficients_] if categories else None,
        edge_table=[dataclasses.asdict(edge) for edge in list_edges(model, bootstrap)],
        raw_weights=None if same else sparse(raw),
        trace=_trace(solution.trace),
    )


def _missing_sentence(gaps: Missing, diagnosis: Diagnosis | None) -> str:
    """Return what was done about missing values, also in the checks."""
    checks = diagnosis is not None and gaps.method == "em" and gaps.cells
    return f"{gaps.sentence}{' Checks that need rows leave out those with missing values.' if checks else ''}"


def _parameters(model: Golem) -> tuple[list[float | None] | None, list[float | None] | None]:
    """Return the noise variances and intercepts of the variables, None for categories; None if the graph is cyclic."""
    if has_categories(model):
        intercepts = model.category_fit_.intercepts(model.graph_)
        residuals = model.graph_.residual_variances
        return [_number(value) for value in residuals], [_number(value) for value in intercepts]
    sem = getattr(model, "sem_", None)
    return (None, None) if sem is None else (sem.noise_variances.tolist(), sem.intercepts.tolist())


def _count(edges: BoolVector | None) -> int:
    """Count the edges of a kind; a cyclic graph has none."""
    return 0 if edges is None else int(edges.sum())


def _next_experiment(model: Golem) -> list[CandidateRecord] | None:
    """Describe the most useful experiments; None if all directions are decided."""
    if not _count(model.graph_.undecided):
        return None
    ranking = next_experiment(model).ranking[:_MOST_EXPERIMENTS]
    return [CandidateRecord(variable=row.variable, decided=row.decided, least=row.least) for row in ranking]


def _bootstrap(bootstrap: Bootstrap) -> BootstrapRecord:
    """Describe a bootstrap."""
    names = bootstrap.names
    return BootstrapRecord(
        replicates=bootstrap.replicates,
        requested=bootstrap.requested,
        unit=bootstrap.unit,
        seed=bootstrap.seed,
        level=bootstrap.level,
        em=bootstrap.em,
        edges=[
            {"source": names[i], "target": names[j], **_confidence(bootstrap, i, j)}
            for i, j in np.argwhere(bootstrap.direction_frequency > 0)
        ],
        consensus=[(names[i], names[j]) for i, j in np.argwhere(bootstrap.consensus)],
    )


def _noise(model: Golem) -> NoiseRecord:
    """Return the noise model used and, if it was chosen, why."""
    record, choice = NoiseRecord(model=plain(model.likelihood_)), model.noise_choice_
    if choice is None:
        return record if model.environments_ is None else msgspec.structs.replace(record, reason=FREE_NOISE)
    scores = _numbers(choice.scores)
    return msgspec.structs.replace(record, kind=choice.kind, tau=choice.tau, scores=scores, reason=choice.reason)


def used(model: Golem) -> dict[str, Any]:
    """Return the penalties of a fit, with the defaults filled in."""
    if is_counted(model):
        prior = {"equivalent_sample_size": 1.0} if has_categories(model) and model.score_ == "bdeu" else {}
        return {**prior, "edge_penalty": plain(model.edge_penalty_)}
    paper = NOISE_MODELS[model.noise]
    return {
        "lambda_sparsity": paper.lambda_sparsity if model.lambda_sparsity is None else plain(model.lambda_sparsity),
        "lambda_dag": paper.lambda_dag if model.lambda_dag is None else plain(model.lambda_dag),
        "threshold": _number(model.threshold_),
        "acyclicity": plain(model.acyclicity or "expm"),
        "cycles": model.cycles or ("gentle" if model.threshold == "lr" else "paper"),
    }


def _selection(selection: Selection) -> SelectionRecord:
    """Describe how the settings were chosen."""
    rows = [
        {name: _number(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in selection.path
    ]
    return SelectionRecord(method=selection.method, chosen=selection.chosen, path=rows)


def _trace(points: Sequence[TracePoint]) -> list[TraceRecord]:
    """Return the terms of the score during the solve, at evenly spaced points including the last."""
    kept = np.unique(np.linspace(0, len(points) - 1, min(_MOST_POINTS, len(points))).round().astype(int))
    chosen = [points[k] for k in kept]
    return [TraceRecord(iteration=p.iteration, seconds=p.seconds, terms=_numbers(p.terms)) for p in chosen]


def _numbers(values: Mapping[Any, Any]) -> dict[str, float | None]:
    """Return numbers by name; None for numbers that are not finite."""
    return {str(name): _number(value) for name, value in values.items()}


def _number(value: Any) -> float | None:
    """Return a float for JSON; None if it is not finite."""
    return float(value) if np.isfinite(value) else None
