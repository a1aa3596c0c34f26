"""From a fitted model to its graph document, which graph.json, the terminal and the report show."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from golem.assessment.bootstrap import Bootstrap
from golem.assessment.diagnostics import Diagnosis, drop_losses
from golem.assessment.selection import Selection
from golem.estimator.golem import Golem, is_counted
from golem.graphs.graph_document import (
    BootstrapRecord,
    FindingRecord,
    GraphDocument,
    NoiseRecord,
    SelectionRecord,
    SourceRecord,
    StatusRecord,
    TraceRecord,
    sparse,
)
from golem.output.settings_document import plain, settings, versions
from golem.runtime.messages import quoted
from golem.runtime.types import BoolMatrix
from golem.runtime.version import __version__
from golem.score.likelihood import GaussianEV
from golem.solvers import Status, TracePoint
from golem.solvers.paper_recipe import NOISE_MODELS

# Points of the solve that graph.json keeps.
_MOST_POINTS = 200


@dataclasses.dataclass(frozen=True)
class Edge:
    """One edge of a fitted model; the last six are from a bootstrap, and None without one."""

    source: str
    target: str
    weight: float
    standardized_weight: float
    undecided: bool
    by_variance: bool
    drop_loss: float | None
    adjacency_frequency: float | None = None
    direction_frequency: float | None = None
    weight_low: float | None = None
    weight_high: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None


FROM_BOOTSTRAP = [field.name for field in dataclasses.fields(Edge) if field.default is None]


@dataclasses.dataclass(frozen=True)
class Supplement:
    """What goes into the files of a fit beside the model: all of it optional.

    Parameters
    ----------
    data : mapping, optional
        Which files were read and how, to repeat the run.
    bootstrap : Bootstrap, optional
        How much of the graph comes back from resampled data.
    diagnosis : Diagnosis, optional
        What the graph rests on.
    """

    data: Mapping[str, Any] | None = None
    bootstrap: Bootstrap | None = None
    diagnosis: Diagnosis | None = None


def list_edges(model: Golem, bootstrap: Bootstrap | None = None) -> list[Edge]:
    """List the edges of a fitted model, the strongest (by standardized weight) first.

    `drop_loss` is what the score loses without the edge, in units of the deviance (see `diagnostics.edge_loss`).
    """
    names = model.moments_.names
    if bootstrap is not None and bootstrap.names != names:
        raise ValueError(
            f"the bootstrap is of columns {quoted(bootstrap.names)}, and the model of {quoted(names)}; run "
            "golem.bootstrap(model, data) with the fitted model"
        )
    scale = np.sqrt(model.moments_.variances)
    undecided, by_variance = _directions(model, "undecided_"), _directions(model, "by_variance_")
    # A cyclic graph has no model, and a baseline no score of ours.
    scored = hasattr(model, "sem_") and hasattr(model, "edge_penalty_")
    losses = drop_losses(model) if scored else np.full_like(model.weights_, np.nan)
    found = [
        Edge(
            names[i],
            names[j],
            float(model.weights_[i, j]),
            float(model.weights_[i, j] * scale[i] / scale[j]),
            bool(undecided[i, j]),
            bool(by_variance[i, j]),
            _number(losses[i, j]),
            **({} if bootstrap is None else _confidence(bootstrap, i, j)),
        )
        for i, j in np.argwhere(model.adjacency_)
    ]
    return sorted(found, key=lambda edge: -abs(edge.standardized_weight))


def _directions(model: Golem, name: str) -> BoolMatrix:
    """Return the edges whose direction is undecided or rests on variances; a cyclic graph has neither."""
    return np.asarray(getattr(model, name, model.adjacency_ & False))


def _confidence(bootstrap: Bootstrap, i: int, j: int) -> dict[str, float]:
    """Return what a bootstrap says of the edge i -> j."""
    numbers = (
        bootstrap.adjacency_frequency[i, j],
        bootstrap.direction_frequency[i, j],
        *bootstrap.weight_interval[:, i, j],
        *bootstrap.effect_interval[:, i, j],
    )
    return dict(zip(FROM_BOOTSTRAP, map(float, numbers), strict=True))


def describe(model: Golem, supplement: Supplement | None = None) -> GraphDocument:
    """Describe a fitted model: everything that graph.json, the report and the terminal show."""
    supplement = supplement or Supplement()
    bootstrap, diagnosis, selection = supplement.bootstrap, supplement.diagnosis, getattr(model, "selection_", None)
    solution, moments, recorded = model.solution_, model.moments_, settings(model)
    sem = getattr(model, "sem_", None)
    equal = isinstance(model.likelihood_, GaussianEV)
    same = model.raw_weights_ is model.weights_ or np.array_equal(model.raw_weights_, model.weights_)
    return GraphDocument(
        golem=__version__,
        n=moments.n,
        d=moments.d,
        edges=int(model.adjacency_.sum()),
        undecided=int(_directions(model, "undecided_").sum()),
        by_variance=int(_directions(model, "by_variance_").sum()),
        noise=_noise(model),
        missing=_missing(model),
        status=StatusRecord(name=solution.status.name.lower(), message=solution.status.value),
        interrupted=solution.status is Status.INTERRUPTED,
        objective=_numbers(solution.terms),
        bic=None if sem is None else _number(sem.bic(moments, equal_variances=equal)),
        cut_edges=solution.cut_edges,
        iterations=solution.iterations,
        seconds=solution.seconds,
        stationarity=_number(solution.stationarity),
        settings=recorded,
        used=used(model),
        selection=None if selection is None else _selection(selection),
        graph_scores=_numbers(solution.graph_scores or {}),
        knowledge=recorded["knowledge"],
        moments_hash=moments.fingerprint,
        versions=versions(),
        data=None if supplement.data is None else SourceRecord(**supplement.data),
        bootstrap=None if bootstrap is None else _bootstrap(bootstrap),
        diagnostics=None if diagnosis is None else [FindingRecord(**row) for row in diagnosis.records()],
        names=list(moments.names),
        noise_variances=None if sem is None else sem.noise_variances.tolist(),
        intercepts=None if sem is None else sem.intercepts.tolist(),
        edge_table=[dataclasses.asdict(edge) for edge in list_edges(model, bootstrap)],
        raw_weights=None if same else sparse(model.raw_weights_),
        trace=_trace(solution.trace),
    )


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


def _missing(model: Golem) -> dict[str, Any] | None:
    """Return what was done about missing values; None where nothing was."""
    record = model.missing_
    return None if record is None else dataclasses.asdict(record) | {"sentence": record.sentence}


def _noise(model: Golem) -> NoiseRecord:
    """Return the noise model used and, where it was chosen, why."""
    choice = model.noise_choice_
    used = NoiseRecord(model=plain(model.likelihood_))
    if choice is None:
        return used
    scores = _numbers(choice.scores)
    return msgspec.structs.replace(used, kind=choice.kind, tau=choice.tau, scores=scores, reason=choice.reason)


def used(model: Golem) -> dict[str, Any]:
    """Return the penalties that a fit used, with the defaults filled in."""
    if is_counted(model):
        return {"edge_penalty": plain(model.edge_penalty_)}
    paper = NOISE_MODELS[model.noise]
    return {
        "lambda_sparsity": paper.lambda_sparsity if model.lambda_sparsity is None else plain(model.lambda_sparsity),
        "lambda_dag": paper.lambda_dag if model.lambda_dag is None else plain(model.lambda_dag),
        "threshold": _number(model.threshold_),
        "acyclicity": plain(model.acyclicity or "expm"),
        "cycles": model.cycles or ("gentle" if model.threshold == "lr" else "paper"),
    }


def _selection(selection: Selection) -> SelectionRecord:
    """Return how the settings were chosen."""
    rows = [
        {name: _number(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in selection.path
    ]
    return SelectionRecord(method=selection.method, chosen=selection.chosen, path=rows)


def _trace(points: Sequence[TracePoint]) -> list[TraceRecord]:
    """Return the terms of the objective along the solve, at evenly spaced points, the last among them."""
    kept = np.unique(np.linspace(0, len(points) - 1, min(_MOST_POINTS, len(points))).round().astype(int))
    return [
        TraceRecord(iteration=points[k].iteration, seconds=points[k].seconds, terms=_numbers(points[k].terms))
        for k in kept
    ]


def _numbers(values: Mapping[Any, Any]) -> dict[str, float | None]:
    """Return numbers by name, None for what is not finite."""
    return {str(name): _number(value) for name, value in values.items()}


def _number(value: Any) -> float | None:
    """Return a float that JSON can hold; None for what is not finite."""
    return float(value) if np.isfinite(value) else None
