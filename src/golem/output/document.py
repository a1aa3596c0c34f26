"""The graph document of a fitted model: the content of graph.json, the report and the summary in the terminal."""

from __future__ import annotations

import dataclasses
from collections import Counter
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
from golem.data.table import Table
from golem.data.table_summary import TableSummary
from golem.directions.learned_graph import LearnedGraph
from golem.estimator.golem import Golem
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
from golem.output.environment_document import environment_records
from golem.output.settings_document import plain, settings, versions
from golem.runtime.messages import quoted
from golem.runtime.types import Vector
from golem.runtime.version import __version__
from golem.score.regression import Regressions, weighted_edges
from golem.score.score_settings import ScoreSettings
from golem.score.solution import Status, TracePoint
from golem.score.table_score import NodeScore, score_of

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
    graph, score = _graph(model), model_score(model)
    scale = np.sqrt(score.regression.variances())
    # A cyclic graph has no model, and a baseline has no penalty per edge.
    losses = np.full(len(graph), np.nan) if graph.reversible is None else listed_drop_losses(model)
    standardized = graph.weights * scale[graph.causes] / scale[graph.children]
    errors = _weight_errors(score, graph)
    by_ends = {(one.source, one.target): one for one in getattr(model, "edges_", ())}
    records = [by_ends.get((names[i], names[j])) for i, j in zip(graph.causes, graph.children, strict=True)]
    strengths = np.array([None if one is None else one.edge_strength for one in records], dtype=float)
    sizes = np.where(np.isnan(strengths), np.abs(standardized), strengths)
    found = []
    for k in np.lexsort((graph.children, graph.causes, -sizes)).tolist():
        i, j, record = int(graph.causes[k]), int(graph.children[k]), records[k]
        edge = Edge(
            source=names[i],
            target=names[j],
            weight=_number(graph.weights[k]),
            standardized_weight=_number(standardized[k]),
            standard_error=_number(errors[k]),
            undecided=record is not None and record.direction_from == "none",
            by_variance=record is not None and record.direction_from == "variances",
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


def model_score(model: Golem) -> NodeScore:
    """Return the score of a model; that of a baseline is Gaussian."""
    if hasattr(model, "fit_"):
        return model.fit_.score
    return score_of(Table.single(model.moments_), ScoreSettings(noise="nv"))


def _weight_errors(score: NodeScore, graph: LearnedGraph) -> Vector:
    """Return the standard errors of the weights; NaN if there is no weight, or if it is not that of least squares."""
    fit = score.refit(graph)
    if not np.allclose(fit.weights, graph.weights, rtol=1e-6, atol=0, equal_nan=True):
        return np.full(len(graph), np.nan)
    return score.regression.standard_errors(fit)


def _confidence(bootstrap: Bootstrap, i: int, j: int) -> dict[str, Any]:
    """Return the frequencies and intervals of the edge i -> j."""
    numbers = (
        bootstrap.adjacency_frequency[i, j],
        bootstrap.direction_frequency[i, j],
        *bootstrap.weight_interval[:, i, j],
        *bootstrap.effect_interval[:, i, j],
    )
    return dict(zip(FROM_BOOTSTRAP, map(_number, numbers), strict=True))


def describe(model: Golem, supplement: Supplement | None = None) -> GraphDocument:
    """Return the graph document of a fitted model."""
    supplement = supplement or Supplement()
    bootstrap, diagnosis, selection = supplement.bootstrap, supplement.diagnosis, getattr(model, "selection_", None)
    solution, moments, recorded = model.solution_, model.moments_, settings(model)
    score, categories = model.fit_.score, model.table_.coding.categories
    gaps = model.missing_
    missing = None if gaps is None else dataclasses.asdict(gaps) | {"sentence": _missing_sentence(gaps, diagnosis)}
    noise_variances, intercepts = _parameters(model)
    graph, raw = model.graph_, solution.raw
    sources = Counter(graph.directions().values())
    same = isinstance(raw, Regressions) or np.array_equal(raw, model.weights_)
    return GraphDocument(
        golem=__version__,
        n=moments.n,
        d=graph.d,
        edges=len(graph),
        undecided=sources["none"],
        by_variance=sources["variances"],
        by_shape=sources["shape"],
        by_intervention=sources["interventions"],
        shape_note=graph.shape_note or None,
        noise=_noise(model) if score.name == "gaussian" else None,
        environments=environment_records(model),
        missing=missing,
        status=StatusRecord(name=solution.status.name.lower(), message=solution.status.value),
        interrupted=solution.status is Status.INTERRUPTED,
        objective=_numbers(solution.terms),
        bic=None if graph.reversible is None else _optional(score.bic(graph)),
        cut_edges=solution.cut_edges,
        iterations=solution.iterations,
        seconds=solution.seconds,
        stationarity=_number(solution.stationarity),
        settings=recorded,
        used=used(model),
        selection=None if selection is None else _selection(selection),
        graph_scores=_numbers(solution.graph_scores or {}),
        knowledge=recorded["knowledge"],
        moments_hash=model.table_.fingerprint,
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
        r2=[_number(1 - r) for r in graph.residual_variances / score.regression.variances()],
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
    graph, sem = model.graph_, getattr(model, "sem_", None)
    if sem is not None:
        return sem.noise_variances.tolist(), sem.intercepts.tolist()
    if graph.reversible is None:
        return None, None
    intercepts = model.fit_.score.regression.means_given_zero(graph)
    return [_number(value) for value in graph.residual_variances], [_number(value) for value in intercepts]


def _next_experiment(model: Golem) -> list[CandidateRecord] | None:
    """Describe the most useful experiments; None if all directions are decided."""
    if "none" not in model.graph_.directions().values():
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
        reason = model.fit_.score.why_free()
        return msgspec.structs.replace(record, reason=reason) if reason else record
    scores = _numbers(choice.scores)
    return msgspec.structs.replace(record, kind=choice.kind, tau=choice.tau, scores=scores, reason=choice.reason)


def used(model: Golem) -> dict[str, Any]:
    """Return the penalties of a fit, with the defaults filled in."""
    if is_counted(model):
        prior = {"equivalent_sample_size": 1.0} if model.score_ == "bdeu" else {}
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


def _optional(value: float | None) -> float | None:
    """Return a number for JSON, if there is one."""
    return None if value is None else _number(value)


def _numbers(values: Mapping[Any, Any]) -> dict[str, float | None]:
    """Return numbers by name; None for numbers that are not finite."""
    return {str(name): _number(value) for name, value in values.items()}


def _number(value: Any) -> float | None:
    """Return a float for JSON; None if it is not finite."""
    return float(value) if np.isfinite(value) else None
